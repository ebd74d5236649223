import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Text of clients on its way to a terminal: marks are planted in every field that a client can send, every command is
/// run, and no byte of them reaches standard output, standard error or the log of the service.
@Suite("Text that a client chose on a terminal")
struct ClientTextTests {
    /// Sets a title, clears the screen, colours, rings, goes back to the start of the line, turns the direction of
    /// text, joins nothing, and is not to be seen.
    private static let marks =
        "\u{1B}]0;t\u{7}\u{1B}[2J\u{1B}[35m\r\u{9B}31m\u{85}\u{7F}\u{8}\u{202E}\u{2067}\u{200F}\u{200B}\u{200D}\u{FEFF}"
        + "\u{2028}\u{FE0F}\u{E0041}\u{AD}"
        + String(String.UnicodeScalarView([0xFDD0].compactMap { Unicode.Scalar($0 as UInt32) })) + "\n"

    private static func planted(_ word: String) -> String { word + marks + "Z" }

    /// The first mark in `text` that was not made visible; nil if there is none. On a terminal the program's own
    /// sequences, for colours and for the bar, are not looked at.
    private static func leak(_ text: String, isTerminal: Bool = false) -> String? {
        var text = text
        if isTerminal {
            text = text.replacing(/\u{1B}\[(0|1|31|32|33)m/, with: "").replacing(/\r([^\r\n\u{1B}]*)\u{1B}\[K/) {
                $0.output.1
            }
            .replacing("\r\n", with: "\n")
        }
        let marks = Set(marks.unicodeScalars).filter { !$0.isASCII || $0.properties.generalCategory == .control }
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let scalar = line.unicodeScalars.first { marks.contains($0) || $0.value < 0x20 }
            if let scalar {
                return "U+\(String(scalar.value, radix: 16)) in line \(number + 1): \(line.debugDescription)"
            }
            if line.hasPrefix("Z") { return "a line feed before line \(number + 1): \(line.debugDescription)" }
        }
        return nil
    }

    /// JSON text.
    private static func json(_ text: String) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: text, options: .fragmentsAllowed), as: UTF8.self)
    }

    /// YAML text: characters that YAML does not take are escaped.
    private static func yaml(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            let isPlain = (0x20...0x7E).contains(scalar.value) && scalar != "\"" && scalar != "\\"
            return isPlain
                ? String(scalar) : "\\U" + String(UInt64(scalar.value) + 0x1_0000_0000, radix: 16).dropFirst()
        }
        return "\"\(escaped.joined())\""
    }

    private static func workspace() -> String {
        """
        apps: [{id: \(yaml(planted("app"))), name: \(yaml(planted("shop"))), platform: ios}]
        campaigns:
          - id: \(yaml(planted("spring")))
            name: \(yaml(planted("Spring")))
            messages: [{apple_push: {alert: \(yaml(planted("Hi {{${first_name}}}"))), message_variation_id: v1}}]
        traits: [{name: \(yaml(planted("trait"))), function: count, event: \(yaml(planted("event")))}]
        messages:
          - id: \(yaml(planted("message")))
            message: \(yaml(planted("text")))
            trigger_conditions: [{type: custom_event, event_name: \(yaml(planted("event")))}]

        """
    }

    /// Every command that can be typed, or several of it, with what may follow `profilecli`.
    private static func commands(_ cli: CLI) throws -> [[String]] {
        let (user, device) = (planted("user"), planted("device"))
        let container = try cli.write(
            """
            triggers: [{name: \(yaml(planted("trigger"))), event: opened}]
            tags:
              - {name: \(yaml(planted("tag"))), class: A, triggers: [\(yaml(planted("trigger")))], parameters: {
                  actionType: logEvent, eventName: \(yaml(planted("event"))), p: \(yaml(planted("value")))}}
              - {name: none, class: A, triggers: [\(yaml(planted("trigger")))], parameters: {actionType: x}}
            """, as: "container.yaml")
        let scenario = try cli.write(
            """
            name: \(yaml(planted("scenario")))
            steps:
              - log event: {user: \(yaml(user)), name: \(yaml(planted("event")))}
              - expect profile: {user: \(yaml(user)), is: {custom_attributes: {x: \(yaml(planted("value")))}}}
            """, as: "scenario.yaml")
        let lines = try cli.write(
            #"{"kind":"custom_event","user":\#(try json(user)),"name":\#(try json(planted("bad"))),"oops":1}"# + "\n",
            as: "bad.jsonl")
        let messages = try cli.write(
            "messages: [{id: \(yaml(planted("m"))), message: a, trigger_conditions: [{type: session_start}]}]",
            as: "messages.yaml")
        let rules = try cli.write(#"{"\#("rule")":"counter"}"#, as: "rules.json")
        let copy = cli.folder.appending(path: "copy").path
        let backup = cli.folder.appending(path: planted("backup")).path
        let restored = cli.folder.appending(path: planted("restored")).path
        let nowhere = planted("http://127.0.0.1:1/")
        return [
            [
                "save", "event", user, planted("event"), "-p", "\(planted("key"))=\(planted("value"))", "--device",
                device,
            ],
            ["save", "attribute", user, "\(planted("attribute"))=\(planted("value"))", "--device", device],
            ["save", "event", user, "e", "--device", device, "--process", planted("push"), "--private"],
            ["save", "user-attribute", user, "first_name", planted("Ana"), "--device", device],
            [
                "log", "event", user, planted("event"), "-p", "\(planted("key"))=\(planted("value"))", "--device",
                device,
            ],
            ["log", "event", user, "twice", "--key", planted("key")], ["log", "event", user, "twice", "--key", "k2"],
            ["log", "event", user, "twice", "--expect", "99"],
            ["log", "event", user, planted(String(repeating: "n", count: 300))],
            ["log", "attribute", user, "\(planted("attribute"))=[\"a\"]"], ["log", "attribute", user, "rule=1"],
            ["log", "user-attribute", user, "email", planted("e@x")],
            ["log", "user-attribute", user, "last_name", planted("Li")],
            ["log", "purchase", user, planted("product"), "--price", "1", "--currency", "EUR"],
            ["log", "purchase", user, "p", "--price", "1", "--currency", planted("X")],
            ["tag", container, "opened", "--device", device], ["tag", container, planted("none")],
            ["launch", device], ["launch", planted("new")], ["launch", device, "--only", planted("x")],
            ["device"], ["device", "list"], ["device", "show", device], ["device", "settings", device, "--offline"],
            ["device", "settings", device], ["device", "send", device], ["device", "leave", device],
            ["device", "settings", device, "--online"], ["push"], ["push", "list", device],
            ["push", "deliver", device],
            ["push", "receive", device, "--payload", #"{"aps":{"alert":\#(try json(planted("alert")))}}"#],
            ["push", "expand", device], ["push", "input", device, planted("text")],
            ["push", "act", device, planted("a")],
            ["push", "open", device], ["push", "dismiss", device], ["push", "initialize", device],
            ["push", "force-quit", device], ["push", "compare", user, planted("event")],
            ["pending"], ["pending", "list"], ["pending", "list", "--device", planted("x")],
            ["pending", "discard", device, "--reason", planted("why")], ["pending", "retry", "1"], ["rejected"],
            ["profile", user], ["profile", user, "--as-of", "2"], ["profile", planted("nobody")],
            ["profile", "device:\(device)"], ["profile", "alias:\(planted("label")):\(planted("name"))"],
            ["history", user], ["history", user, "--timeline"], ["history", user, "--name", planted("x")],
            ["diff", user, "--a", "3", "--b", "now"], ["diff", "--all", "--a", "3", "--b", "now"],
            ["blame", user], ["blame", user, planted("attribute")], ["blame", user, planted("none")],
            ["blame", user, "--log"], ["void", "4", "--by", planted("me"), "--reason", planted("why")],
            ["unvoid", "4", "--by", planted("me"), "--reason", planted("why")], ["rules", "show"],
            ["rules", "set", rules], ["tail", "--no-follow"], ["users"], ["users", "--where", planted("x")],
            ["explain", user, "--where", "custom.\"\(planted("attribute"))\" = \"\(planted("x"))\""],
            ["users", "--where", "custom.\"\(planted("attribute"))\" = 1"], ["users", "--prefix", ""],
            ["users", "--prefix", planted("x")], ["names"], ["names", planted("x")], ["key"], ["traits"],
            ["traits", user],
            ["change-user", planted("other"), "--device", device],
            ["change-user", planted("other"), "--device", device],
            ["import", lines], ["import", planted("file")], ["export"], ["export", "--events"],
            ["export", "--profiles"], ["check"], ["doctor"], ["doctor", "--backup", planted("folder")], ["stats"],
            ["stats", "--growth"], ["stats", "--plot", "events:\(planted("event"))"],
            ["stats", "--audit"], ["stats", "--plot", "revenue:\(planted("product"))"], ["replay"],
            ["replay", "--verify"],
            ["replay", "--into", copy], ["whatif"], ["whatif", "--without", "4"], ["whatif", "--quirk", "swift"],
            ["generate", "--events", "2"], ["scenario", "run", scenario], ["scenario", "check", scenario],
            ["scenario", "new", cli.folder.appending(path: planted("new")).path], ["scenario", "schema"], ["sends"],
            ["messages", "declare", messages], ["messages", "list"], ["messages", "show", device],
            ["messages", "explain", user, planted("message")], ["messages", "explain", user, planted("none")],
            ["fold"], ["simulate", "--store", cli.folder.appending(path: planted("made")).path, "--people", "2"],
            ["messages", "settings", device], ["messages", "present", device, "--message", planted("message")],
            ["messages", "click", device], ["messages", "close", device], ["messages", "next", device],
            ["messages", "log-click", device], ["messages", "log-impression", device],
            ["messages", "time-passed", device], ["device", "remove-app", planted("gone")],
            [planted("command")], ["profile", "--\(planted("option"))"], ["profile", user, planted("more")],
            ["device", "log-out", device], ["device", "wipe", device], ["erase", planted("nobody"), "--yes"],
            ["erase", planted("other"), "--yes"], ["compact"], ["profile", user],
            ["backup", "run", backup, "--workspace", scenario], ["backup", "verify", backup, "--absent", planted("x")],
            ["backup", "list", backup], ["backup", "list", backup, "--segments"],
            ["backup", "scrub", backup, "--from-store", cli.store], ["backup", "list", planted("none")],
            ["erasures", "export"], ["restore", backup, "--store", restored, "--dry-run"],
            ["restore", backup, "--store", restored], ["restore", backup, "--store", restored],
            ["restore", backup, "--store", restored, "--to", planted("soon")],
            ["restore", planted("none"), "--store", restored], ["restore", backup, "--store", backup],
            ["cluster", "leave", "--store", planted("none")], ["cluster", "status", "--url", nowhere],
            ["cluster", "verify", "--url", nowhere], ["cluster", "rebuild", "--url", nowhere],
            ["cluster", "stream", "--url", nowhere, "--max-age", "7d"],
        ]
    }

    /// A store that holds what clients sent to a service, and the service's log, in both forms.
    private static let filled = Task { () throws -> (store: Data, logs: String) in
        let cli = try CLI()
        let logs = try await fill(cli)
        return (try Data(contentsOf: cli.file), logs)
    }

    private static func fill(_ cli: CLI) async throws -> String {
        let workspace = try cli.write(workspace(), as: "workspace.yaml")
        var logs = ""
        for form in ["text", "json"] {
            let service = try RemoteTests.Service(
                cli, "--workspace", workspace, "--log-format", form, "--log-level", "debug")
            let (user, alias) = (try json(planted("user")), try json(planted("name")))
            let event =
                #""app_id":\#(try json(planted("app"))),"time":"2026-01-01T00:00:00Z","properties":"#
                + #"{\#(try json(planted("key"))):\#(try json(planted("value"))),"#
                + #""n":[{\#(try json(planted("deep"))):1}]}"#
            let bodies = [
                (
                    "/users/track",
                    #"""
                    {"attributes":[{"external_id":\#(user),"email":"u@example.com",
                    "first_name":\#(try json(planted("Ana"))),
                    \#(try json(planted("attribute"))):\#(try json(planted("value"))),
                    "list":[\#(try json(planted("value")))],
                    "push_tokens":[{"app_id":\#(try json(planted("app"))),"token":\#(try json(planted("t"))),
                    "device_id":\#(try json(planted("device")))}]},
                    {"external_id":\#(user),"gender":\#(try json(planted("X")))},
                    {"user_alias":{"alias_label":\#(try json(planted("label"))),"alias_name":\#(alias)},"a":1}],
                    "events":[{"external_id":\#(user),"name":\#(try json(planted("event"))),\#(event)},
                    {"external_id":\#(user),"name":\#(try json(planted("bad")))}],
                    "purchases":[{"external_id":\#(user),"product_id":\#(try json(planted("product"))),"currency":"EUR",
                    "price":1,\#(event)},
                    {"external_id":\#(user),"product_id":"p","currency":\#(try json(planted("X"))),
                    "price":1,\#(event)}]}
                    """#
                ),
                (
                    "/campaigns/trigger/send",
                    #"""
                    {"campaign_id":\#(try json(planted("spring"))),"recipients":[{"external_user_id":\#(user)},
                    {"external_user_id":\#(try json(planted("nobody")))}]}
                    """#
                ),
                ("/campaigns/trigger/send", #"{"campaign_id":\#(try json(planted("none"))),"recipients":[]}"#),
                ("/v1/log/event", #"{"user":\#(user),"name":"a","source":\#(try json(planted("x")))}"#),
            ]
            for (path, body) in bodies {
                var request = URLRequest(url: try #require(URL(string: service.url + path)))
                request.httpMethod = "POST"
                request.httpBody = Data(body.utf8)
                request.setValue("application/json", forHTTPHeaderField: "Content-Type")
                request.setValue(try json(planted("id")), forHTTPHeaderField: "X-Request-Id")
                let (_, response) = try await URLSession.shared.data(for: request)
                #expect((response as? HTTPURLResponse)?.statusCode != nil)
            }
            for path in ["/%1b%5d0;t%07%0d%c2%9b%e2%80%ae", "/v1/profile?user=%1b%5b2J", "/v1/%e2%80%8b"] {
                _ = try await URLSession.shared.data(from: try #require(URL(string: service.url + path)))
            }
            #expect(service.end() == 0)
            logs += service.log
        }
        return logs
    }

    @Test("Every command prints planted marks visibly, in tables and as JSON; so does the service in its log")
    func everything() async throws {
        let (store, logs) = try await Self.filled.value
        let cli = try CLI(store)
        #expect(logs.contains("request"))
        #expect(Self.leak(logs) == nil)
        let workspace = try cli.write(Self.workspace(), as: "workspace.yaml")
        var run: Set<String> = []
        for command in try Self.commands(cli) {
            run.insert(
                command.prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } && !$0.hasPrefix("-") }.joined(
                    separator: " "))
            // Tables are on the terminal of the next test; the long form has them here too.
            let forms = ["fold", "generate"].contains(command[0]) || Thoroughness.isFull ? ["table"] : []
            for form in forms + (["fold", "generate"].contains(command[0]) ? [] : ["json"]) {
                let place =
                    command[0] == "import" || command[0] == "generate" || command[0] == "fold"
                    ? [] : ["--format", form]
                let outcome = try cli.run(command + place, environment: ["PROFILELOG_WORKSPACE": workspace])
                let (output, errors) = (Self.leak(outcome.output), Self.leak(outcome.errors))
                #expect(output == nil, "\(command.map(\.debugDescription)) --format \(form)")
                #expect(errors == nil, "\(command.map(\.debugDescription)) --format \(form)")
            }
        }
        for command in try HelpTests.commands() {
            #expect(
                run.contains { $0.hasPrefix(command.joined(separator: " ")) }, "no marks were planted for \(command)")
        }
    }

    @Test("On a terminal no command prints a planted mark, CSV included")
    func terminal() async throws {
        let cli = try CLI(try await Self.filled.value.store)
        let workspace = try cli.write(Self.workspace(), as: "workspace.yaml")
        let commands = try Self.commands(cli) + [["export", "--events", "--format", "csv"]]
        // All in one terminal, each after a line of its own.
        let lines = commands.map { command in
            "'\(CLI.program.path)' "
                + command.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
                + (command == ["fold"] ? " < /dev/null" : "")
        }
        let script = try cli.write(lines.map { "echo; echo =====; \($0)\n" }.joined(), as: "commands.sh")
        let said = try PseudoTerminal.output(of: "--version; . \(script)", cli, ["PROFILELOG_WORKSPACE": workspace])
        let outputs = said.components(separatedBy: "\r\n=====\r\n").dropFirst()
        try #require(outputs.count == commands.count)
        for (command, output) in zip(commands, outputs) {
            // A cell of CSV keeps its line feeds.
            let leak = Self.leak(
                command.contains("csv") ? output.replacing("\r\nZ", with: "Z") : output, isTerminal: true)
            #expect(leak == nil, "\(command.map(\.debugDescription))")
        }
    }

    @Test("JSON has the exact text of a client, by escapes")
    func exact() throws {
        let cli = try CLI()
        let user = Self.planted("user")
        try cli.succeed(
            "log", "event", user, Self.planted("event"), "-p", "\(Self.planted("key"))=\(Self.planted("v"))")
        let output = try cli.succeed("history", user, "--format", "json").output
        let line = try #require(output.split(separator: "\n").last)
        let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(event["name"] as? String == Self.planted("event"))
        #expect(event["properties"] as? [String: String] == [Self.planted("key"): Self.planted("v")])
        #expect(line.contains(#"\u202e"#) && line.contains(#"\udb40\udc41"#))
        let exported = try cli.succeed("export").output
        let other = try CLI()
        #expect(try other.run(["import", "-", "--name", "x"], input: exported).status == 0)
        #expect(try other.run(["history", user, "--format", "json"]).output.contains(#""name":"event\u001b]0;t"#))
    }

    /// Names that a shell or the program would read as something else.
    private static let oddNames = [
        "jane", "$HOME", "$(touch pwned)", "`touch pwned`", "it's", "a b", "a\"b", "a\\b", "-x", "--help", "x --help",
        "a;touch pwned", "a\nb", "\u{1B}[31mred", "a\u{202E}b", "\u{200B}", "=ls", "~root", "!!", "*", "a&b|c>d", "#x",
        "{a,b}", "a\tb", "%s%n", "\\033", "花子", "می\u{200C}خواهم", "id:x", "email:y", "a`\u{7}`b", "'", "\u{3164}",
    ]

    @Test("A next command can be pasted into sh and bash, and means the same user and device")
    func pasted() throws {
        let cli = try CLI()
        let spaced = cli.folder.appending(path: "a $(touch pwned) store").path
        // What `log` and `save` suggest of names, in stores of both kinds: both of each name, in the short form one.
        var (hints, asked) = ([String](), [(name: String, isUser: Bool)]())
        for (index, name) in Self.oddNames.enumerated() {
            // As it is typed where it could be read as another form.
            let user = name.hasPrefix("-") || name.contains(/^(id|email):/) ? "id:\(name)" : name
            let place = index % 2 == 0 ? [] : ["--store", spaced]
            for isUser in [true, false] where Thoroughness.isFull || isUser == (index / 2 % 2 == 0) {
                let command = isUser ? ["log", "event", user, "a"] : ["save", "event", user, "b", "--device=\(name)"]
                let outcome = try cli.run(command + place)
                asked.append((name, isUser))
                let text = outcome.output + outcome.errors
                let hint = text.firstMatch(of: /(?:Next: |`)profilecli ([^\n]*?)`?\n/)
                hints.append(String(try #require(hint?.output.1, "\(text)")))
            }
        }
        let script =
            "profilecli() { printf '%s\\0' \"$@\" --format json END; }\n"
            + hints.map { "profilecli \($0)\n" }.joined()
        let read = try ["/bin/sh", "/bin/bash"].map { shell in
            try cli.run(["-c", script], command: URL(filePath: shell)).output.split(separator: "END\0").map {
                $0.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
            }
        }
        #expect(read[0] == read[1] && read[0].count == hints.count)
        for (index, arguments) in read[0].enumerated() {
            let (name, isUser) = asked[index]
            let outcome = try cli.run(arguments)
            #expect(outcome.status == 0, "\(hints[index]): \(outcome.errors)")
            let shown = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
            if isUser {
                let id = (shown?["user"] as? [String: Any])?["id"] as? String
                #expect(id == name || id == "id:\(name)", "\(hints[index])")
            } else {
                #expect(shown?["device"] as? String == name, "\(hints[index])")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: cli.folder.appending(path: "pwned").path))
    }
}
