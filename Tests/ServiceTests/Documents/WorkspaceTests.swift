import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("The workspace file")
struct WorkspaceTests {
    static let example = """
        apps:
          - id: app-ios
            name: Shop for iOS
            platform: ios
        subscription_groups:
          - id: news
            name: Newsletter
            channel: email
          - {id: offers, name: Offers, channel: sms}
        segments:
          - id: everybody
            name: Everybody
            users: all
          - id: loyal
            name: Loyal
            any:
              - custom_attribute: level
                greater: 3
              - all:
                  - attribute: country
                    equals: DE
                  - event: order
                    at_least: 2
                  - purchase: shoe
                    at_most: 0
        blocklist:
          attributes: [iban]
          events:
            - debug
        attribute_types:
          size: number
          tags: array
        limits:
          objects_per_request: 50
          array_elements: 25
        """

    @Test("Everything in a workspace file is read")
    func whole() throws {
        func number(_ relation: ValueTest.Relation, _ bound: AttributeValue) -> ValueTest {
            .compares(relation, bound) ?? .any([])
        }
        let workspace = try Workspace(yaml: Self.example)
        #expect(workspace.apps == [.init(id: "app-ios", name: "Shop for iOS", platform: "ios")])
        #expect(workspace.subscriptionGroups.map(\.id) == ["news", "offers"])
        #expect(workspace.subscriptionGroup("offers")?.channel == "sms")
        #expect(workspace.subscriptionGroup("Offers") == nil)
        #expect(workspace.segment("everybody")?.rule == .everybody)
        #expect(
            workspace.segment("loyal")?.rule
                == .any([
                    .holds(.customAttribute("level"), number(.greater, 3)),
                    .all([
                        .holds(.attribute(.country), .any([.text("DE")])),
                        .holds(.count(.event("order")), .all([number(.greaterOrEqual, 2)])),
                        .holds(
                            .count(.product("shoe")), .all([number(.greaterOrEqual, 0), number(.lessOrEqual, 0)])),
                    ]),
                ]))
        #expect(workspace.blockedAttributes == ["iban"])
        #expect(workspace.blockedEvents == ["debug"])
        #expect(workspace.forcedTypes == ["size": .number, "tags": .array])
        var limits = TrackLimits()
        limits.objectsPerRequest = 50
        limits.arrayElements = 25
        #expect(workspace.limits == limits)
    }

    @Test("A file without content is the workspace without a file", arguments: ["", "\n", "# nothing yet\n", "{}"])
    func empty(yaml: String) throws {
        let workspace = try Workspace(yaml: yaml)
        #expect(workspace.subscriptionGroups.isEmpty && workspace.segments.isEmpty)
        #expect(workspace.limits == TrackLimits())
    }

    @Test("A value is text, a number or a truth value as YAML 1.2 reads it")
    func values() throws {
        let pairs: [(String, AttributeValue)] = [
            ("7", 7), ("-1.5", .double(-1.5)), ("1e3", .double(1000)), ("true", true), ("yes", "yes"), ("'7'", "7"),
            ("\"true\"", "true"), ("2026-01-01", "2026-01-01"), ("e", "e"), ("0x10", "0x10"), (".inf", ".inf"),
            ("!!str 7", "7"), ("! true", "true"), ("!!str null", "null"),
        ]
        for (text, value) in pairs {
            let workspace = try Workspace(
                yaml: "segments: [{id: s, name: S, all: [{custom_attribute: a, equals: \(text)}]}]")
            #expect(
                workspace.segment("s")?.rule
                    == .all([.holds(.customAttribute("a"), try #require(.compares(.equal, value)))]), "\(text)")
        }
    }

    private static func condition(_ text: String) -> String {
        "segments:\n  - {id: a, name: A, all: [{\(text)}]}"
    }

    /// A file, the line and key that its error names, and a part of what it says.
    static let wrong: [(String, Int, String, String)] = [
        ("- a", 1, "", "mapping"),
        ("segmets: []", 1, "segmets", "`segments`"),
        ("something_else: 1", 1, "something_else", "The keys here are apps"),
        ("apps:\n  - id: a\n    nmae: A", 3, "apps[0].nmae", "Did you mean `name`?"),
        ("apps:\n  - id: a", 2, "apps[0]", "no `name`"),
        ("apps: 7", 1, "apps", "must be a list"),
        ("apps: [7]", 1, "apps[0]", "must be a mapping"),
        ("apps:\n  - id:\n    name: A", 2, "apps[0].id", "must be text"),
        ("apps:\n  - id: [a]\n    name: A", 2, "apps[0].id", "must be text"),
        ("apps:\n  - {id: a, name: A}\n  - {id: a, name: B}", 3, "apps[1].id", "another"),
        ("apps:\n  - {id: a, name: A, id: b}", 2, "id", "is given twice"),
        ("limits:\n  depth: 3\n  depth: 4", 2, "depth", "is given twice"),
        ("subscription_groups:\n  - {id: a, name: A, channel: e-mail}", 2, "subscription_groups[0].channel", "email"),
        ("messages: all", 1, "messages", "must be a list"),
        ("messages:\n  - {id: a}", 2, "messages[0].trigger_conditions", "is empty"),
        (
            "messages:\n  - id: a\n    trigger_conditions:\n      - type: opne", 4,
            "messages[0].trigger_conditions[0].type", "open"
        ),
        (
            "messages:\n  - id: a\n    trigger_conditions: [{type: open}]\n    re_eligibility: 1w", 4,
            "messages[0].re_eligibility", "90s"
        ),
        (
            "messages:\n  - {id: a, trigger_conditions: [{type: open}]}\n  - {id: a, trigger_conditions: [{type: "
                + "open}]}",
            3, "messages[1].id", "is the ID of messages[0]"
        ),
        ("segments:\n  - {id: a, name: A}", 2, "segments[0]", "exactly one of users, all, any"),
        ("segments:\n  - {id: a, name: A, users: all, any: []}", 2, "segments[0]", "Keep one of users, any"),
        ("segments:\n  - {id: a, name: A, users: some}", 2, "segments[0].users", "must be `all`"),
        ("segments:\n  - {id: a, name: A, all: []}", 2, "segments[0].all", "no condition"),
        ("segments:\n  - {id: a, name: A, all: [{exists: true}]}", 2, "segments[0].all[0]", "exactly one of attribute"),
        (
            "segments:\n  - {id: a, name: A, all: [{attribute: contry, equals: DE}]}", 2,
            "segments[0].all[0].attribute", "`country`"
        ),
        (
            "segments:\n  - {id: a, name: A, all: [{attribute: shoe, equals: 1}]}", 2, "segments[0].all[0].attribute",
            "custom_attribute"
        ),
        (
            "segments:\n  - {id: a, name: A, all: [{custom_attribute: a}]}", 2, "segments[0].all[0]",
            "exactly one of exists"
        ),
        (
            "segments:\n  - id: a\n    name: A\n    all:\n      - custom_attribute: a\n        greater: many", 6,
            "segments[0].all[0].greater", "number or a time"
        ),
        (
            "segments:\n  - {id: a, name: A, all: [{custom_attribute: a, exists: maybe}]}", 2,
            "segments[0].all[0].exists", "true or false"
        ),
        (
            "segments:\n  - {id: a, name: A, all: [{event: e, equals: 1}]}", 2, "segments[0].all[0].equals",
            "combined with `event`"
        ),
        (
            "segments:\n  - {id: a, name: A, all: [{custom_attribute: a, exists: true, at_least: 1}]}", 2,
            "segments[0].all[0].at_least", "combined with `custom_attribute`"
        ),
        (
            "segments:\n  - {id: a, name: A, all: [{event: e, at_least: 3, at_most: 2}]}", 2,
            "segments[0].all[0].event", "above"
        ),
        // What no profile can hold is no condition.
        (condition("attribute: gender, equals: female"), 2, "segments[0].all[0].equals", "none of M, F"),
        (condition("attribute: country, equals: Atlantis"), 2, "segments[0].all[0].equals", "no country"),
        (condition("attribute: email, equals: nobody"), 2, "segments[0].all[0].equals", "e-mail"),
        (condition("attribute: phone, equals: none"), 2, "segments[0].all[0].equals", "phone number"),
        (condition("attribute: dob, less: soon"), 2, "segments[0].all[0].less", "no day"),
        (condition("attribute: dob, less: 3"), 2, "segments[0].all[0].less", "no day"),
        (condition("attribute: date_of_first_session, greater: soon"), 2, "segments[0].all[0].greater", "no time"),
        (condition("attribute: email_open_tracking_disabled, equals: 1"), 2, "segments[0].all[0].equals", "true nor"),
        (condition("attribute: email_subscribe, exists: false"), 2, "segments[0].all[0].exists", "`subscribed`"),
        (condition("attribute: push_subscribe, exists: false"), 2, "segments[0].all[0].exists", "`subscribed`"),
        (condition("attribute: first_name, greater: 3"), 2, "segments[0].all[0].greater", "cannot hold"),
        (condition("attribute: email, contains: x"), 2, "segments[0].all[0].contains", "cannot hold"),
        (condition("attribute: subscription_groups, contains: news"), 2, "segments[0].all[0].contains", "`exists`"),
        (condition("attribute: current_location, equals: here"), 2, "segments[0].all[0].equals", "`exists`"),
        ("blocklist: {attributes: [email]}", 1, "blocklist.attributes[0]", "standard attribute"),
        ("attribute_types: {email: number}", 1, "attribute_types.email", "standard attribute"),
        ("attribute_types:\n  1: number\n  \"1\": string", 3, "attribute_types.1", "is given twice"),
        ("blocklist: {attributes: a}", 1, "blocklist.attributes", "must be a list"),
        ("blocklist: {atributes: [a]}", 1, "blocklist.atributes", "`attributes`"),
        (
            "blocklist:\n  events: [\((0...300).map { "e\($0)" }.joined(separator: ", "))]", 2, "blocklist.events",
            "more than 300"
        ),
        ("attribute_policies:\n  plan: last_ocurred", 2, "attribute_policies.plan", "`last_occurred`"),
        ("attribute_policies: {email: first}", 1, "attribute_policies.email", "cannot have the policy first"),
        ("attribute_policies: [plan]", 1, "attribute_policies", "must be a mapping"),
        ("attribute_types: {size: int}", 1, "attribute_types.size", "boolean, number"),
        ("limits: {objects_per_arry: 7}", 1, "limits.objects_per_arry", "`objects_per_array`"),
        ("limits:\n  array_elements: 0", 2, "limits.array_elements", "from 1 to 10000"),
        ("limits:\n  array_elements: 1.5", 2, "limits.array_elements", "whole number"),
        ("limits:\n  array_elements: '25'", 2, "limits.array_elements", "whole number"),
        ("apps:\n\t- id: a", 2, "", "is no YAML"),
        ("apps: [", 2, "", "is no YAML"),
        ("apps: []\n---\napps: []", 2, "", "is no YAML"),
    ]

    @Test("A mistake is named by line and key, with what to do", arguments: wrong)
    func mistake(yaml: String, line: Int, place: String, says: String) throws {
        let error = try #require(throws: YAMLFileError.self) { try Workspace(yaml: yaml) }
        #expect(error.line == line, "\(error)")
        #expect(error.place == place, "\(error)")
        #expect("\(error) \(error.remedy)".contains(says), "\(error) \(error.remedy)")
        #expect(!error.remedy.isEmpty)
    }

    @Test("The file in the documentation is one, and the documentation has every limit with its standard")
    func documentation() throws {
        let text = try Repository.text("docs/workspace.md")
        let yaml = try #require(text.components(separatedBy: "```yaml\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        let workspace = try Workspace(yaml: yaml)
        #expect(workspace.segments.map(\.id) == ["everybody", "loyal"])
        #expect(workspace.subscriptionGroups.count == 1 && workspace.apps.count == 1)
        let limits = try #require(text.components(separatedBy: "## Limits").last).split(separator: "\n").filter {
            $0.hasPrefix("| `")
        }
        for key in TrackLimits.keys {
            let row = try #require(limits.first { $0.contains("`\(key.name)`") }, "\(key.name)")
            let cells = row.split(separator: "|").map { $0.replacing(",", with: "") }
            #expect(cells[1].contains("\(TrackLimits()[keyPath: key.path])"), "\(key.name)")
            #expect(cells[2].contains("\(key.most)"), "\(key.name)")
        }
    }

    @Test("Conditions within conditions end somewhere")
    func depth() throws {
        func file(_ depth: Int) -> String {
            let open = String(repeating: "{all: [", count: depth)
            let close = String(repeating: "]}", count: depth)
            return "segments: [{id: a, name: A, any: [\(open){event: e}\(close)]}]"
        }
        _ = try Workspace(yaml: file(15))
        let error = try #require(throws: YAMLFileError.self) { try Workspace(yaml: file(16)) }
        #expect(error.reason.contains("deeper than 16"))
    }

    @Test("A file cut or changed at any byte is read or refused with its line", arguments: UInt64(0)..<4)
    func damaged(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var bytes = Array(Self.example.utf8)
            let place = Int.random(in: bytes.indices, using: &random)
            if Bool.random(using: &random) {
                bytes.removeLast(bytes.count - place)
            } else {
                bytes[place] = UInt8.random(in: 9...126, using: &random)
            }
            do {
                _ = try Workspace(yaml: String(decoding: bytes, as: UTF8.self))
            } catch {
                #expect((1...50).contains(error.line), "\(error)")
            }
        }
    }
}
