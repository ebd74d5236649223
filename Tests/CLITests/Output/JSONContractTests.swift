import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@testable import ProfileLogNativeAPI

/// Holds docs/json.md: the shape of each line that `--format json` prints.
///
/// The shapes of the API's answers come from the endpoints, which OpenAPI is made of. With `PROFILELOG_WRITE_DOCS=1`
/// the test writes that part of the page; without it, the test compares.
@Suite("JSON output")
struct JSONContractTests {
    private static let page = Repository.file("docs/json.md")
    private static let border = "<!-- From here on the page is written by JSONContractTests. -->\n"

    /// A row of the table: what a line of a command is.
    private struct Row {
        let commands: [String]
        /// As in `GET /v1/users`; nil if the command makes the line itself.
        let endpoint: String?
        /// The part of the answer, or the shape itself.
        let line: String
    }

    private static func rows(_ text: String) -> [Row] {
        text.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3 else { return nil }
            let endpoint = cells[1].replacing("`", with: "")
            return Row(
                commands: cells[0].replacing("`", with: "").components(separatedBy: ", "),
                endpoint: endpoint.contains("/v1/") ? endpoint : nil, line: cells[2].replacing("`", with: ""))
        }
    }

    private static let answers = Dictionary(
        uniqueKeysWithValues: NativeAPI.endpoints.map { ("\($0.method.rawValue) \($0.path)", $0.answer) })

    private static let names = answers.values.flatMap(\.named).reduce(into: [String: AnswerShape]()) { names, named in
        names[named.name] = named.shape
    }

    private static func shape(_ row: Row) throws -> AnswerShape {
        guard let endpoint = row.endpoint else {
            return try ShapeParser.parse(row.line, names: names.mapValues { $0 })
        }
        let answer = try #require(answers[endpoint], "\(endpoint) is no endpoint")
        if row.line == "the answer" { return answer }
        return try #require(answer.part(row.line), "\(endpoint) has no \(row.line)")
    }

    // MARK: - The page

    @Test("The page has the shapes that the endpoints declare")
    func page() throws {
        let text = try Repository.text("docs/json.md")
        let parts = text.components(separatedBy: Self.border)
        let written = parts[0] + Self.border + Self.written(Self.rows(parts[0]))
        if ProcessInfo.processInfo.environment["PROFILELOG_WRITE_DOCS"] != nil {
            try written.write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            #expect(text == written, "PROFILELOG_WRITE_DOCS=1 swift test --filter JSONContractTests/page writes it.")
        }
    }

    private static func written(_ rows: [Row]) -> String {
        let endpoints = Set(rows.compactMap(\.endpoint)).sorted { one, other in
            (one.drop { $0 != "/" }, one) < (other.drop { $0 != "/" }, other)
        }
        var text = "\n## Answers of the API\n"
        for endpoint in endpoints {
            guard let answer = answers[endpoint] else { continue }
            text += "\n`\(endpoint)`\n\n\(block(answer.notation))"
        }
        let used = Set(endpoints.flatMap { answers[$0]?.named.map(\.name) ?? [] })
        text += "\n## Shapes with a name\n"
        for name in used.sorted() {
            guard let shape = names[name] else { continue }
            text += "\n`\(name)`\n\n\(block(shape.notation))"
        }
        return text
    }

    /// The notation as a block of Markdown, in lines of at most 120 columns.
    private static func block(_ notation: String) -> String {
        var (lines, depth): ([String], Int) = (["    "], 0)
        for member in notation.replacing(", ", with: ",\n").split(separator: "\n") {
            let last = lines[lines.count - 1]
            let isFirst = last.allSatisfy { $0 == " " }
            if !isFirst, last.count + member.count >= 120 {
                lines.append(String(repeating: " ", count: 4 + 2 * depth) + member)
            } else {
                lines[lines.count - 1] += (isFirst ? "" : " ") + member
            }
            depth += member.count { "{[".contains($0) } - member.count { "}]".contains($0) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test("The table has each command with --format json, and no other")
    func commands() throws {
        let text = try Repository.text("docs/json.md")
        let listed = Set(
            Self.rows(text).flatMap(\.commands).map {
                $0.components(separatedBy: " --")[0].replacing(" with an option", with: "")
            })
        #expect(listed == Set(try HelpTests.commands(withOption: "json, one whole object a line")))
    }

    @Test("Members that may be missing are explained")
    func optionalMembers() throws {
        let text = try Repository.text("docs/json.md")
        let rows = Self.rows(text)
        var names = try rows.reduce(into: Set<String>()) { names, row in
            names.formUnion(try Self.shape(row).optionalMembers)
            for endpoint in [row.endpoint].compactMap(\.self) {
                for (name, shape) in Self.answers[endpoint]?.named ?? [] where name != "Event" {
                    names.formUnion(shape.optionalMembers)
                }
            }
        }
        // The content of an event is in docs/api.md.
        names.subtract(EventJSON.shape.inside.optionalMembers)
        let explained = Set(
            text.components(separatedBy: "## Members that may be missing\n").last?.components(separatedBy: "\n## ")[0]
                .matches(of: /`(\w+)`/).map { String($0.1) } ?? [])
        #expect(names.subtracting(explained).sorted() == [])
    }

    // MARK: - The commands

    @Test("Each command prints lines of the declared shape")
    func story() throws {
        let cli = try CLI(.damaged)
        let rows = Self.rows(try Repository.text("docs/json.md"))
        let shapes = try rows.map { try Self.shape($0) }
        var met: Set<Int> = []

        /// Runs a command of the table.
        @discardableResult
        func run(_ command: String, _ arguments: String..., status: Int32 = 0) throws -> [AttributeValue] {
            let words = command.replacing(" with an option", with: "").split(separator: " ").map(String.init)
            let outcome = try cli.run(words + arguments + ["--format", "json"])
            #expect(outcome.status == status, "\(command): \(outcome.errors)")
            return try outcome.lines.map { line in
                let value = try JSON.parse(Array(line.utf8), maxDepth: 100)
                let candidates = rows.indices.filter { rows[$0].commands.contains(command) }
                let differences = candidates.map { shapes[$0].difference(in: value) }
                if let index = differences.firstIndex(of: nil) {
                    met.insert(candidates[index])
                } else {
                    Issue.record("\(command): \(differences.compactMap(\.self)) in \(line)")
                }
                return value
            }
        }

        let scenarios = Repository.file("docs/scenarios").path
        let messages = try cli.write(
            """
            - {id: own, form: {type: custom}, buttons: [more], trigger_conditions: [{type: open}]}
            - {id: one, trigger_conditions: [{type: custom_event, event_name: opened}]}
            - {id: two, buttons: [ok], trigger_conditions: [{type: push_click}]}
            """, as: "messages.yaml")
        try run("messages declare", messages)
        try run("messages list")

        // Devices: what is saved, launched and logged there.
        try run("change-user", "jane")
        try run("messages settings with an option", "--minimum-interval", "0s")
        try run("messages settings")
        try run("save event", "jane", "played", "-p", "Score=10")
        try run("save attribute", "jane", "level=7")
        try run("save user-attribute", "jane", "email", "jane@example.com")
        try run("pending list")
        try run("launch")
        try run("tag", "\(scenarios)/containers/songs.yaml", "played song", "-p", "genre=pop")
        try run("log event", "jane", "opened", "--device", "phone")
        let purchase = try run("log purchase", "jane", "book", "--price", "9.5", "--currency", "EUR")
        try run("log attribute", "jane", "plan=a-value-to-damage")
        try run("log user-attribute", "jane", "country", "DE")
        try run("messages show")
        for action in ["log-impression", "log-click", "close", "next", "click"] { try run("messages \(action)") }
        try run("messages present", "--message", "two")
        try run("messages close")
        try run("messages time-passed")
        try run("messages explain", "jane", "own")
        try run("device list")
        try run("device show")
        try run("device settings with an option", "--offline")
        try run("device settings")
        try run("device settings with an option", "--online")
        try run("device leave")
        try run("device send")
        let captured = try String(contentsOfFile: "\(scenarios)/push-information-capture.yaml", encoding: .utf8)
        let sent = try cli.write(captured.components(separatedBy: "  - push: deliver")[0], as: "send.yaml")
        try run("scenario run", sent, "--store", cli.store)
        try run("sends")
        try run("push deliver")
        try run("push expand")
        try run("push input", "--text", "jane@example.com")
        try run("push act", "--button", "REGISTER")
        try run("push dismiss")
        for action in ["open", "initialize", "force-quit"] {
            try run("push receive", "--payload", #"{"aps": {"alert": "Hi"}}"#)
            try run("push \(action)")
        }
        try run("push list")
        try run("device send")
        try run("push compare", "jane", "played")

        // What waits for ever, and what was refused.
        try run("save event", "jane", "hidden", "--private", "--process", "PushContent")
        try run("pending discard", "--device", "phone", "--storage", "private:PushContent", "--reason", "test")
        let preferences = "\(Repository.root.path)/Tests/Fixtures/user-defaults/group.com.company.xml.plist"
        try run("import --user-defaults", preferences)
        let items = try cli.write(
            #"{"kind":"customEventSaved","user":"ben","device":"phone","storage":"group.app","#
                + #""process":"Push","name":"$b"}"# + "\n",
            as: "items.jsonl")
        try run("import", items)
        try run("launch")
        let rejected = try run("rejected").first { $0["kind"] == .string("pending_custom_events") }
        let item = try #require(rejected?["position"]?.integer)
        try run("pending retry", "\(item)", "good")

        // Users and the past.
        try run("profile", "jane")
        try run("profile", "jane", "--at-launch", "1")
        try run("history", "jane")
        try run("history --times", "jane")
        try run("tail", "--no-follow")
        try run("users")
        try run("users --count")
        try run("users --prefix", "ja")
        try run("names")
        try run("key")
        try run("blame", "jane")
        try run("explain", "jane", "--where", "custom.level > 7 or pending = 0")
        try run("diff", "jane", "version:2", "now")
        try run("diff --all", "1", "now")
        try run("diff --all --count", "1", "now")
        let position = try #require(purchase.first?["position"]?.integer)
        try run("void", "\(position)", "--reason", "test")
        try run("unvoid", "\(position)", "--reason", "test")
        try run("rules set", try cli.write("attribute_policies: {visits: counter}\n", as: "rules.yaml"))
        try run("rules show")
        let workspace = try cli.write(
            "traits: [{name: songs, function: count, event: played song}]\n", as: "workspace.yaml")
        try run("traits", "--workspace", workspace)
        try run("traits", "jane", "--workspace", workspace)

        // The whole store.
        try run("stats")
        try run("stats --audit")
        try run("stats --growth")
        try run("doctor")
        try run("stats --plot", "purchases")
        try run("whatif")
        try run("whatif --without", "name:level", "--sample", "2")
        try run("replay", "--verify")
        try run("replay --shadow")
        try run("replay --swap")
        try run("replay --discard")
        let events = try cli.write(
            #"{"user":"bo","kind":"customEventLogged","name":"seen","source":"import"}"# + "\n", as: "events.jsonl")
        try run("import", events)
        try run("scenario run", "\(scenarios)/like.yaml")
        for action in ["log-out", "wipe", "remove-app"] { try run("device \(action)") }
        try run("erase", "bo", "--reason", "test", "--yes")
        try run("check")
        try run("compact")
        try run("backup run", "to-restore")
        try run("backup verify", "to-restore")
        try run("backup list", "to-restore")
        try run("backup scrub", "to-restore", "--from-store", cli.store)
        try run("restore", "to-restore", "--store", "restored", "--to", "5")
        // A cluster, of nodes that answer as the service does.
        let nodes = try FakeNodes(cli, "a", "b")
        try nodes.setSound()
        try run("cluster status", "--url", nodes.url("a"))
        try run("cluster verify", "--url", nodes.url("a"))
        try run("cluster stream", "--max-age", "7d", "--url", nodes.url("a"))
        try run("cluster rebuild", "--yes", "--url", nodes.url("a"))
        try nodes.set("b", [:])
        try run("cluster verify", "--url", nodes.url("a"), status: 1)
        var file = try Data(contentsOf: cli.file)
        while let place = file.range(of: Data("a-value-to-damage".utf8)) { file[place.lowerBound] = 0x41 }
        try file.write(to: cli.file)
        try run("check", status: 2)

        let missed = rows.indices.filter { !met.contains($0) }.map { "\(rows[$0].commands): \(rows[$0].line)" }
        #expect(missed == [])
    }
}

extension AnswerShape {
    /// The shape without its name.
    fileprivate var inside: AnswerShape { if case .named(_, let shape) = self { shape } else { self } }
}

extension AttributeValue {
    fileprivate var integer: Int64? { if case .int(let number) = self { number } else { nil } }
}
