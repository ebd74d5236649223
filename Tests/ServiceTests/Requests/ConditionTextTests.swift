import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("The text of each part of a condition")
struct ConditionTextTests {
    private let names = WhereNames(knows: { _, _ in true }, all: { _ in [] })

    private func texts(_ text: String) throws -> [String] {
        let condition = try WrittenCondition(where: text, names)
        func pieces(_ part: WrittenCondition.Part) -> [String] {
            [String(Array(text)[part.range])] + part.parts.flatMap(pieces)
        }
        return pieces(condition.whole)
    }

    @Test("A part is the text from its first word to its last, without the parentheses around it")
    func ranges() throws {
        #expect(try texts("custom.a = 1") == ["custom.a = 1"])
        #expect(try texts(" ( custom.a  = 1 ) ") == ["custom.a  = 1"])
        #expect(
            try texts(#"not (country = "DE" or exists( custom."ä ö" )) and events.e.count > 2 in 3d"#) == [
                #"not (country = "DE" or exists( custom."ä ö" )) and events.e.count > 2 in 3d"#,
                #"not (country = "DE" or exists( custom."ä ö" ))"#, #"country = "DE" or exists( custom."ä ö" )"#,
                #"country = "DE""#, #"exists( custom."ä ö" )"#, "events.e.count > 2 in 3d",
            ])
        #expect(
            try texts(#"custom.a not in (1, 2) or last_seen < 3d ago"#) == [
                "custom.a not in (1, 2) or last_seen < 3d ago", "custom.a not in (1, 2)", "last_seen < 3d ago",
            ])
        #expect(
            try texts(#"not not custom.c[].b matches "x" "#) == [
                #"not not custom.c[].b matches "x""#, #"not custom.c[].b matches "x""#, #"custom.c[].b matches "x""#,
            ])
    }

    static let written: [(rule: String, text: String)] = [
        ("users: all", "everybody"),
        ("all: [{attribute: country, equals: Germany}]", #"country = "DE""#),
        ("any: [{attribute: dob, less: '2000-01-01'}]", #"dob < "2000-01-01T00:00:00.000Z""#),
        ("all: [{custom_attribute: level, greater: 2}]", "custom.level > 2"),
        ("all: [{custom_attribute: my level, exists: false}]", #"not exists(custom."my level")"#),
        ("all: [{custom_attribute: plan, equals: 'a \"b\"'}]", #"custom.plan = "a \"b\"""#),
        ("all: [{custom_attribute: tags, contains: a}]", #"custom.tags[] = "a""#),
        ("all: [{custom_attribute: vip, equals: true}]", "custom.vip = true"),
        ("all: [{event: seen}]", "events.seen.count >= 1"),
        (
            "all: [{event: seen, at_least: 2, at_most: 5}, {purchase: p, at_most: 1}]",
            "(events.seen.count >= 2 and events.seen.count <= 5) and "
                + "(purchases.p.count >= 0 and purchases.p.count <= 1)"
        ),
        (
            "any: [{all: [{event: a}, {event: b}]}, {event: c}]",
            "(events.a.count >= 1 and events.b.count >= 1) or events.c.count >= 1"
        ),
    ]

    @Test("A segment of the workspace file is written in the language of conditions", arguments: written)
    func segments(rule: String, text: String) throws {
        let workspace = try Workspace(yaml: "segments:\n  - {id: s, name: S, \(rule)}\n")
        let condition = WrittenCondition(writing: try #require(workspace.segment("s")).rule)
        #expect(condition.text == text)
        if text == "everybody" { return }
        // The language knows it: what it reads is written so again.
        let read = try WrittenCondition(where: text, names).condition
        let joins = [" and ", " or "].contains { text.contains($0) }
        if !joins { #expect(WrittenCondition(writing: read).text == text) }
    }

    @Test("Windows, times, spans and negations are written as they are read")
    func forms() throws {
        for text in [
            "events.seen.count >= 3 in 36h", "last_seen < 7d ago", "created_at > 90s ago", "total_revenue >= 1.5",
            "purchases.\"a b\".revenue > 0", "external_id != \"x\"", "traits.t = 1", "not exists(sessions.last)",
            "exists(custom.a) and (version > 1 or pending = 0)", "not (version > 1 or pending = 0)",
            "custom.a.\"b c\"[].d = 1",
        ] {
            let condition = try Condition(where: text, names)
            #expect(WrittenCondition(writing: condition).text == text)
        }
    }
}
