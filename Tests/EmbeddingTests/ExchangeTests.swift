import ProfileLog
import TestSupport
import Testing

@Suite("Events as lines, as an embedder exports and imports them")
struct ExchangeTests {
    let folder = TemporaryFolder()
    let copies = TemporaryFolder()
    private let bo = UserID.alias(label: "crm", name: "7:a")

    /// The answers of a profile, without the places of its events.
    private struct Answer: Equatable {
        var attributes: [Name: AttributeValue]
        var times: [Name: Timestamp]
        var events: [Name: UInt64]
        var revenue: [String: Double]

        init(_ log: EventLog, _ user: UserID) throws {
            let profile = try log.profile(of: user)
            let fields = profile.attributes + profile.customAttributes
            attributes = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
            times = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.setAt) })
            events = Dictionary(uniqueKeysWithValues: profile.customEvents.map { ($0.name, $0.count) })
            revenue = [:]
            for entry in profile.purchases.flatMap(\.revenue) { revenue[entry.currency, default: 0] += entry.amount }
        }
    }

    private func expectEqual(_ log: EventLog, _ copy: EventLog, _ user: UserID) throws {
        let (answer, other) = (try Answer(log, user), try Answer(copy, user))
        #expect(answer.attributes == other.attributes)
        #expect(answer.times == other.times)
        #expect(answer.events == other.events)
        #expect(answer.revenue == other.revenue)
    }

    private static let pet: [AttributeValue.Member] = [.init("id", 1), .init("name", "Bello")]

    private func fill(_ log: EventLog) throws {
        var monday = EventContext.server
        monday.occurredAt = OccurredAt(iso8601: "2026-03-02T12:00:00.5+01:00")
        let time = AttributeValue.date(OccurredAt(Timestamp(rawValue: 0)))
        let properties: [AttributeValue.Member] = [
            .init("genre", "jäzz\n\""), .init("minutes", 3.5), .init("tags", .array(["a", 1, time])),
        ]
        try log.append(
            [
                .customEventLogged(CustomEvent(name: "song", properties: properties)),
                .customAttributesChanged([AttributeChange("level", .set(7)), AttributeChange("since", .set(time))]),
            ], to: .ana, context: monday, idempotencyKey: "request 1")
        for operation: AttributeOperation in [
            .arrayAdd(["x", "y"]), .arrayRemove(["x"]), .set(.array([])), .arrayAdd([2]),
        ] {
            try log.append([.customAttributesChanged([AttributeChange("list", operation)])], to: .ana, context: .server)
        }
        for operation: AttributeOperation in [
            .objectsAdd([.object(Self.pet)]),
            .objectsUpdate([.init(match: .init("id", 1), object: [.init("name", "Rex")])], merging: true),
        ] {
            try log.append([.customAttributesChanged([AttributeChange("pets", operation)])], to: .ana, context: .server)
        }
        try log.append(
            [
                .customAttributesChanged([AttributeChange("level", .increment(-2)), AttributeChange("old", .unset)]),
                .purchaseLogged(Purchase(product: "pen", currency: "EUR", price: 0.1, quantity: 3)),
                .purchaseLogged(Purchase(product: "pen", currency: "EUR", price: -0.1)),
            ], to: .ana, context: .server)
        let email = ProfileEvent.userAttributesChanged([UserAttributeChange(.email, "ana@example.com")])
        try log.append([email], to: .ana)
        try log.append(Array(repeating: .happened("seen"), count: 1_200), to: bo, context: .server)
        let void = try log.append([.happened("song"), .happened("mistake")], to: .ana, context: .server)
        try log.void(void.last, actor: "a test", reason: "a test")
        try log.append([.happened("gone")], to: "eve", context: .server)
        try log.erase(["eve"], actor: "a test", reason: "a test")
    }

    private func lines(of log: EventLog, where filter: EventFilter = EventFilter()) throws -> [String] {
        var lines: [String] = []
        try log.exportEvents(where: filter) { lines.append($0) }
        return lines
    }

    @Test("An export, imported into an empty log, gives the same answers, and imported again it changes nothing")
    func roundTrip() throws {
        let (log, other) = (try folder.open(), try copies.open())
        try fill(log)
        let lines = try self.lines(of: log)
        #expect(lines.allSatisfy { !$0.contains("\n") && !$0.contains("mistake") && !$0.contains("gone") })
        let counts = try other.importEvents(lines, named: "all")
        #expect(counts.stored == UInt64(lines.count) && counts.skipped == 0)
        for user in [UserID.ana, bo] { try expectEqual(log, other, user) }
        #expect(try Answer(other, .ana).attributes["level"] == 5)
        #expect(try Answer(other, bo).events == ["seen": 1_200])
        #expect(try other.find("eve") == nil)
        let genre = UserTrait.last(.event("song"), property: "genre")
        #expect(try other.value(of: genre, for: .ana) == log.value(of: genre, for: .ana))
        let last = try other.lastPosition()
        let again = try other.importEvents(lines.joined(separator: "\n\n").split(separator: "\n"), named: "all")
        #expect(again.stored == 0 && again.skipped == UInt64(lines.count))
        #expect(try other.lastPosition() == last)
        // A second export says the same of the same users.
        let third = try folder.open("third")
        try third.importEvents(self.lines(of: other), named: "all")
        for user in [UserID.ana, bo] { try expectEqual(log, third, user) }
    }

    @Test("A write that a client sends again to the log with the copies is stored once")
    func keys() throws {
        let (log, other) = (try folder.open(), try copies.open())
        let events: [ProfileEvent] = [.happened("a"), .happened("b")]
        try log.append(events, to: .ana, context: .server, idempotencyKey: "request")
        try other.importEvents(lines(of: log), named: "all")
        let last = try other.lastPosition()
        #expect(try other.append(events, to: .ana, context: .server, idempotencyKey: "request").isRepetition)
        // The log that exported them has the key too.
        #expect(try log.importEvents(lines(of: log), named: "all").skipped == 2)
        #expect(try other.lastPosition() == last)
    }

    @Test("What was saved waits again in the other log, and a filter chooses the lines")
    func saved() throws {
        let (log, other) = (try folder.open(), try copies.open())
        try log.append([.saved("game")], to: .ana, context: .push(on: "phone"))
        try log.append([.happened("seen")], to: .ana, context: .server)
        try log.launch(device: "phone")
        #expect(try lines(of: log).count == 2)
        let lines = try self.lines(of: log, where: EventFilter(kinds: [.customEventSaved, .appLaunched]))
        #expect(lines.count == 1)
        try other.importEvents(lines, named: "saved")
        let waiting = try other.waiting(on: "phone")
        #expect(waiting.map(\.event) == [.saved("game")])
        try other.launch(device: "phone")
        #expect(try other.profile(of: .ana).customEvents.map(\.name) == ["game"])
    }

    @Test("The first line that cannot be stored is named, and what comes before it is stored")
    func refused() throws {
        let log = try folder.open()
        try log.append([.happened("seen")], to: .ana, context: .server)
        let line = try #require(try lines(of: log).first)
        let bad = [
            ("{", "it is no valid JSON"), ("[]", "it is no JSON object"), ("{}", "it has no \"kind\""),
            (#"{"kind":"appLaunched","position":1,"user":"ana"}"#, "are made by the log alone"),
            (#"{"kind":"customEventLogged","user":"ana","name":"x"}"#, "it has no \"position\""),
            (line.replacing("\"ana\"", with: "\"braze:0123456789abcdef01234567\""), "no user has this ID"),
            (line.replacing("\"seen\"", with: "\"\""), "name"),
        ]
        for (number, (text, reason)) in bad.enumerated() {
            let other = try folder.open("other \(number)")
            let error = try #require(throws: AppendError.self) {
                try other.importEvents(["", line, text, line], named: "bad")
            }
            #expect(error.description.hasPrefix("Line 3 cannot be imported: "), "\(error.description)")
            #expect(error.description.contains(reason), "\(error.description)")
            #expect(try other.profile(of: .ana).customEvents.map(\.count) == [1], "\(text)")
            // After a correction it goes on.
            let counts = try other.importEvents(["", line, line], named: "bad")
            #expect(counts.stored == 1 && counts.skipped == 1, "\(text)")
        }
        #expect(throws: AppendError.self) { try log.importEvents([line], named: "") }
    }
}
