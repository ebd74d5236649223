import Foundation
import ProfileLog
import TestSupport
import Testing

/// `traits`, and computed traits in other commands.
@Suite("profilecli traits")
struct TraitsTests {
    private let cli: CLI
    private let guide: String

    init() throws {
        cli = try CLI()
        guide = try Repository.text("docs/traits.md")
        let yaml = try #require(guide.firstMatch(of: /```yaml\n([^`]+)```/)).1
        _ = try cli.write(String(yaml), as: "workspace.yaml")
        let log = try EventLog(path: cli.store, create: true)
        let context = EventContext(source: .rest)
        let song = CustomEvent(name: "played song", properties: [.init("genre", .string("jazz"))])
        let shoes = Purchase(product: "shoes", currency: "EUR", price: 9.5, quantity: 2)
        _ = try log.append(
            [.customEventLogged(song), .purchaseLogged(shoes)], to: .externalID("ana"), context: context)
        _ = try log.append([.customEventLogged(song)], to: .externalID("bo"), context: context)
    }

    @Test("Every command in docs/traits.md works")
    func documented() throws {
        let commands = guide.split(separator: "\n").filter { $0.hasPrefix("profilecli ") }
        #expect(commands.count == 5)
        for command in commands where !command.contains("--as-of") {
            let outcome = try cli.shell("profilecli() { \"$0\" \"$@\"; }; \(command)")
            #expect(outcome.status == 0 && !outcome.output.isEmpty, "\(command): \(outcome.errors)")
        }
    }

    @Test("The values of a user, in a table and in JSON; the file may be named by the environment")
    func values() throws {
        let environment = ["PROFILELOG_WORKSPACE": "workspace.yaml"]
        let table = try cli.run(["traits", "ana"], environment: environment).output
        #expect(table.contains(/orders_30d +2 +count +all purchases +30d/), "\(table)")
        #expect(table.contains(/favourite_genre +jazz +most_frequent +event played song, genre/), "\(table)")
        let json = try cli.run(["traits", "ana", "--format", "json"], environment: environment).output
        #expect(
            json.contains(#""name":"spent","property":"revenue","purchases":"all","skipped":0,"value":19.0"#), "\(json)"
        )
        #expect(try cli.run(["profile", "ana"], environment: environment).output.contains(/spent +19.0/))
        let before = try cli.run(["traits", "ana", "--as-of", "2"], environment: environment).output
        #expect(before.contains(/orders_30d +0/), "\(before)")
        let users = ["users", "--count", "--where"]
        #expect(try cli.run(users + ["traits.orders_30d >= 2"], environment: environment).lines == ["1"])
        #expect(try cli.run(users + [#"traits.favourite_genre = "jazz""#], environment: environment).lines == ["2"])
        #expect(try cli.succeed("traits").errors.contains("No computed traits are declared"))
    }

    @Test(
        "A mistake is refused with line, column and the nearest word",
        arguments: [
            ("functoin: count\n    event: e", "3:5: `traits[0].functoin` is not known.", "Did you mean `function`?"),
            ("function: conut\n    event: e", "3:5: `traits[0].function` is no function.", "Did you mean `count`?"),
            ("function: sum\n    event: e", "has no `property`, which sum needs.", "Add `property`."),
            ("function: count", "must have exactly one of event, purchase, purchases, app.", "Add one of them."),
            ("function: count\n    event: e\n    within: -3d", "5:5: `traits[0].within` must be a span", "as in 30d."),
            ("function: count\n    event: e\n    within: 30", "5:5: `traits[0].within` must be", "Write"),
            ("function: count\n    app: sesions", "4:5: `traits[0].app` must be", "Did you mean `sessions`?"),
            (
                "function: count\n    event: e\n  - name: a\n    function: count\n    event: e", "5:5",
                "a name of its own."
            ),
        ])
    func mistakes(text: String, message: String, remedy: String) throws {
        _ = try cli.write("traits:\n  - name: a\n    \(text)\n", as: "wrong.yaml")
        let outcome = try cli.run("traits", "--workspace", "wrong.yaml")
        #expect(outcome.status == 64, "\(outcome)")
        #expect(outcome.errors.contains(message) && outcome.errors.contains(remedy), "\(outcome.errors)")
    }

    @Test("A name that the store has never seen is a note, with the nearest one; the command goes on")
    func unseen() throws {
        let yaml = """
            traits:
              - {name: looks, function: count, event: playd song}
              - {name: genres, function: unique, event: played song, property: gener}
              - {name: bought, function: count, purchase: boots}
              - {name: paid, function: sum, purchases: all, property: revenue}
              - {name: starts, function: count, app: launches}
            """
        _ = try cli.write(yaml, as: "unseen.yaml")
        let outcome = try cli.succeed("traits", "ana", "--workspace", "unseen.yaml")
        #expect(outcome.output.contains(/looks +0/))
        #expect(
            outcome.errors == """
                The trait looks reads the event playd song, which this store has never seen. Did you mean played song?
                The trait genres reads the property gener, which this store has never seen. Did you mean genre?
                The trait bought reads the product boots, which this store has never seen.

                """, "\(outcome.errors)")
        try cli.succeed("log", "purchase", "ana", "boots", "--price", "1", "--currency", "EUR")
        let later = try cli.succeed("users", "--where", "traits.looks > 0", "--workspace", "unseen.yaml")
        #expect(later.errors.contains("playd song") && !later.errors.contains("boots"), "\(later.errors)")
    }

    @Test("A segment and a condition name only traits that are declared")
    func unknown() throws {
        let yaml = """
            traits:
              - {name: seen, function: count, event: e}
            segments:
              - {id: s, name: S, any: [{trait: sene, exists: true}]}
            """
        _ = try cli.write(yaml, as: "wrong.yaml")
        let segment = try cli.run("traits", "--workspace", "wrong.yaml")
        #expect(segment.status == 64 && segment.errors.contains("is no trait of this file"), "\(segment.errors)")
        #expect(segment.errors.contains("wrong.yaml:4:") && segment.errors.contains("Did you mean `seen`?"))
        let condition = try cli.run(
            "users", "--where", "traits.spnt > 1", "--workspace", "workspace.yaml")
        #expect(condition.status == 64, "\(condition.errors)")
        #expect(condition.errors.contains("names a trait that is not declared (column 8)"), "\(condition.errors)")
        #expect(condition.errors.contains("Did you mean `spent`?"), "\(condition.errors)")
        let service = try cli.run("traits", "--workspace", "workspace.yaml", "--url", "http://127.0.0.1:1")
        #expect(service.status == 64 && service.errors.contains("has a workspace file of its own"))
    }
}
