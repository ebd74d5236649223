import Foundation
import ProfileLog
import TestSupport
import Testing

/// Refused, lost, queued, waiting and dropped items are named to people as they are to programs.
@Suite("Every human line says what JSON says")
struct SameWordsTests {
    /// Commands that set a store up, and the tested command.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var before: [[String]] = []
        let command: [String]
        /// Words that the line for people must have, besides those of the JSON.
        var words: [String] = []
        var input: String?

        var testDescription: String { name }
    }

    private static let lost = "lost: the app logged it before the SDK existed"
    private static let noInstance: [[String]] = [
        ["device", "settings", "--startup", #"{"prepared": "in_time"}"#], ["launch"],
    ]
    private static let offline: [[String]] = [["launch"], ["device", "settings", "--offline"]]

    static let cases: [Case] = [
        Case(
            name: "an event is lost without an instance", before: noInstance,
            command: ["log", "event", "jane", "hello", "--device", "phone"], words: [lost]),
        Case(
            name: "an attribute is lost without an instance", before: noInstance,
            command: ["log", "attribute", "jane", "level=1", "--device", "phone"], words: [lost]),
        Case(
            name: "a user attribute is lost without an instance", before: noInstance,
            command: ["log", "user-attribute", "jane", "first_name", "Jane", "--device", "phone"], words: [lost]),
        Case(
            name: "a purchase is lost without an instance", before: noInstance,
            command: ["log", "purchase", "jane", "p", "--price", "1", "--currency", "EUR", "--device", "phone"],
            words: [lost]),
        Case(
            name: "an event is queued", before: offline, command: ["log", "event", "device:phone", "hello"],
            words: ["queued"]),
        Case(
            name: "an operation has no effect", before: [["log", "attribute", "jane", "t=x"]],
            command: ["log", "attribute", "jane", #"t={"inc":1}"#], words: ["without effect"]),
        Case(
            name: "a launch is not sent offline", before: offline + [["save", "event", "device:phone", "a"]],
            command: ["launch"], words: ["1 queued"]),
        Case(
            name: "a launch leaves what waits for the instance",
            before: noInstance + [["save", "event", "device:phone", "a"]], command: ["launch"], words: ["1 left"]),
        Case(
            name: "a launch with a disabled SDK",
            before: [["launch"], ["device", "settings", "--disable-sdk"], ["save", "event", "device:phone", "a"]],
            command: ["launch"], words: ["1 left"]),
        Case(
            name: "a launch before the first unlock", before: [["save", "event", "device:phone", "a"]],
            command: ["launch", "--kind", "locked"], words: ["1 left", "not unlocked"]),
        Case(
            name: "a launch dies", before: [["save", "event", "device:phone", "a"]],
            command: ["launch", "--die-after", "handed"], words: ["1 queued"]),
        Case(
            name: "what lies in private storage is left",
            before: [["save", "event", "device:phone", "a", "--private", "--process", "Push"]], command: ["launch"],
            words: ["1 left", "private to Push"]),
        Case(
            name: "an item is rejected", before: [["import", "item.jsonl"]], command: ["launch"],
            words: ["1 rejected"]),
        Case(
            name: "a log-out discards", before: offline + [["log", "event", "device:phone", "a"]],
            command: ["device", "log-out"], words: ["1 item", "discarded"]),
        Case(
            name: "a wipe discards", before: offline + [["log", "event", "device:phone", "a"]],
            command: ["device", "wipe"], words: ["1 item", "discarded"]),
        Case(
            name: "a removed app discards",
            before: offline + [["log", "event", "device:phone", "a"], ["save", "event", "device:phone", "b"]],
            command: ["device", "remove-app"], words: ["2 items discarded"]),
        Case(
            name: "a removed app takes nothing", before: [["launch"], ["device", "remove-app"]],
            command: ["save", "event", "jane", "a"]),
        Case(
            name: "a disabled SDK refuses", before: [["launch"], ["device", "settings", "--disable-sdk"]],
            command: ["log", "event", "device:phone", "a"]),
        Case(
            name: "a send cannot be done offline", before: offline + [["log", "event", "device:phone", "a"]],
            command: ["device", "send"], words: ["1 queued"]),
        Case(
            name: "a change of settings sends nothing",
            before: offline + [["log", "event", "device:phone", "a"]],
            command: ["device", "settings", "--request-policy", "manual", "--online"], words: ["1 queued", "manual"]),
        Case(
            name: "a silent push is not a server event", before: [["launch"]],
            command: [
                "push", "receive", "--payload",
                #"{"aps":{"content-available":1},"ab":{},"IS_SERVER_EVENT":true,"CAMPAIGN_NAME":"C"}"#,
            ], words: ["IS_SERVER_EVENT is not a text"]),
        Case(
            name: "a badge is no banner", before: [["launch"]],
            command: ["push", "receive", "--payload", #"{"aps":{"badge":1}}"#], words: ["only a badge"]),
        Case(
            name: "a push is not received", before: [["launch"], ["device", "settings", "--permission", "denied"]],
            command: ["push", "receive", "--payload", #"{"aps":{"alert":"Hi"}}"#]),
        Case(
            name: "a push from a file", before: [["launch"]], command: ["push", "receive", "--payload", "@push.json"]),
        Case(
            name: "a push from standard input", before: [["launch"]], command: ["push", "receive", "--payload", "-"],
            input: #"{"aps":{"alert":"Hi"}}"#),
        Case(
            name: "nothing can be opened",
            before: [["launch"], ["push", "receive", "--payload", #"{"aps":{"sound":"x"}}"#]],
            command: ["push", "open"]),
        Case(
            name: "a message is impossible", before: [["messages", "declare", "messages.json"], ["launch"]],
            command: ["messages", "click"]),
        Case(
            name: "an item is given up", before: [["save", "event", "device:phone", "a"]],
            command: ["pending", "discard", "--device", "phone", "--reason", "a test"], words: ["1"]),
        Case(
            name: "a blamed field waits", before: [["save", "attribute", "ana", "iban=x", "--process", "Push"]],
            command: ["blame", "ana", "iban"], words: ["waits on phone"]),
        Case(
            name: "what was refused is listed", before: [["import", "item.jsonl"], ["launch"]], command: ["rejected"],
            words: ["1 item to be repaired"]),
        Case(
            name: "what is lost is listed", before: noInstance + [["log", "event", "jane", "e", "--device", "phone"]],
            command: ["rejected"]),
        Case(
            name: "what waits is listed", before: offline + [["log", "event", "device:phone", "a"]],
            command: ["pending"], words: ["offline"]),
        Case(
            name: "a device shows what it keeps", before: offline + [["log", "event", "device:phone", "a"]],
            command: ["device", "show"], words: ["1 queued", "offline"]),
        Case(
            name: "a line of an import is refused", command: ["import", "bad.jsonl"]),
        Case(
            name: "an identified device is not anonymous again",
            before: [["log", "event", "device:d2", "a"], ["change-user", "jane"]],
            command: ["change-user", "device:d2"]),
        Case(name: "a void is refused", command: ["void", "999", "--reason", "a test"]),
        Case(
            name: "a repair is refused", before: [["import", "item.jsonl"], ["launch"]],
            command: ["pending", "retry", "5", "email", "none"]),
        Case(
            name: "events are not found", before: [["save", "event", "device:phone", "played"]],
            command: ["history", "device:phone", "--name", "playd"], words: ["Did you mean played?"]),
        Case(
            name: "a message was not triggered",
            before: [
                ["messages", "declare", "messages.json"], ["change-user", "zoe"], ["launch"],
                ["log", "purchase", "zoe", "p", "--price", "1", "--currency", "EUR"],
            ], command: ["messages", "explain", "zoe", "w"], words: ["no event triggered it"]),
        Case(
            name: "a message is not known", before: [["messages", "declare", "messages.json"]],
            command: ["messages", "explain", "zoe", "ww"], words: ["Did you mean w?"]),
        Case(
            name: "sends are told with what hinders them",
            before: [["scenario", "run", "send.yaml", "--store", "sent"]],
            command: ["sends", "ben"], words: ["the user has no e-mail address"]),
        Case(
            name: "a tag is lost without an instance", before: noInstance,
            command: ["tag", "container.yaml", "played song", "--device", "phone"], words: ["lost"]),
    ]

    @Test("The sentence of a table has the reasons of the JSON, and the same end", arguments: cases)
    func sentence(_ one: Case) throws {
        let (table, json) = (try play(one, "table"), try play(one, "json"))
        #expect(table.status == json.status)
        if json.status != 0 {
            #expect(table.errors == json.errors)
            for word in one.words { #expect(table.errors.contains(word), "\(table.errors)") }
            return
        }
        let said = flat(table.output + table.errors)
        for word in one.words { #expect(said.contains(flat(word)), "\(word): \(table.output)") }
        for line in json.lines {
            let answer = try JSON.parse(Array(line.utf8))
            for reason in Self.reasons(answer) { #expect(said.contains(flat(reason)), "\(reason): \(table.output)") }
            if case .bool(true)? = answer["lost"] { #expect(!said.contains("effectiveatonce")) }
            if case .bool(true)? = answer["queued"] { #expect(!said.contains("effectiveatonce")) }
        }
    }

    private static let files = [
        "push.json": #"{"aps":{"alert":"Hi"},"ab":{}}"#,
        "messages.json": #"[{"id":"w","trigger_conditions":[{"type":"purchase"}],"message":"x"}]"#,
        "item.jsonl": #"{"kind":"userAttributeSaved","user":"zoe","device":"phone","storage":"group.app","#
            + #""attribute":"email","value":"none"}"#,
        "container.yaml":
            """
        triggers: [{name: t, event: played song}]
        tags:
          - name: g
            class: BrazeGTMTagManager
            triggers: t
            parameters: {actionType: logEvent, eventName: played song}
        """,
        "bad.jsonl": "{\"kind\":\"customEventLogged\",\"user\":\"a\"}\n",
        "send.yaml":
            """
        steps:
          - log-event: {user: ben, name: known}
          - request:
              path: /messages/send
              body: {external_user_ids: [ben], messages: {email: {from: a@example.com, subject: s, body: b}}}
              status: 201
        """,
    ]

    private func play(_ one: Case, _ format: String) throws -> CLI.Outcome {
        let cli = try CLI(after: [["log", "event", "zoe", "hello"]] + one.before, files: Self.files)
        return try cli.run(one.command + ["--format", format], input: one.input)
    }

    /// Every `reason` in an answer, at any depth.
    private static func reasons(_ value: AttributeValue) -> [String] {
        switch value {
        case .array(let values): values.flatMap(reasons)
        case .object(let members):
            members.flatMap { member -> [String] in
                if member.key == "reason", case .string(let text) = member.value { return [text] }
                // Of what goes on waiting, the queue's reason stands in the summary.
                return reasons(member.value)
            }
        default: []
        }
    }

    /// Returns the text without the parts that a table breaks: spaces and ends of lines.
    private func flat(_ text: String) -> String { String(text.filter { !$0.isWhitespace && $0 != "…" }) }
}
