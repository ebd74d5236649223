import Foundation
import ProfileLog
import TestSupport
import Testing

/// `users --where` and `stats --plot`.
@Suite("profilecli users --where")
struct WhereTests {
    private let cli: CLI

    init() throws {
        cli = try CLI()
        let log = try EventLog(path: cli.store, create: true)
        let context = EventContext(source: .rest)
        for (index, user) in ["ana", "ben", "cem"].enumerated() {
            let level = AttributeChange("level", .set(.int(Int64(index))))
            let shoes = Purchase(product: "shoes", currency: "EUR", price: 9.5, quantity: 1)
            _ = try log.append(
                [
                    .customAttributesChanged([level]), .customEventLogged(CustomEvent(name: "purchase")),
                    .purchaseLogged(shoes), .userAttributesChanged([UserAttributeChange(.country, .string("DE"))]),
                ], to: .externalID(user), context: context)
        }
    }

    @Test("Users, their number and the past")
    func users() throws {
        let found = try cli.succeed("users", "--where", "custom.level >= 1", "--format", "json").lines
        #expect(found.count == 2 && found[0].contains(#""id":"ben""#), "\(found)")
        #expect(try cli.succeed("users", "--where", "custom.level >= 1", "--count").lines == ["2"])
        #expect(try cli.succeed("users", "--where", "custom.level >= 1", "--as-of", "10", "--count").lines == ["1"])
        #expect(try cli.succeed("users", "--where", "custom.level >= 0", "-n", "1").output.contains("ana"))
        #expect(try cli.run("users", "--where", "custom.level > 9").errors.contains("No users match `where`."))
    }

    @Test("Users by the beginning of an ID or an address, in its order, forwards and backwards")
    func prefix() throws {
        try cli.succeed("log", "user-attribute", "ben", "email", "Bert@X.example")
        let rows = try cli.succeed("users", "--prefix", "be").lines.dropFirst()
        #expect(rows.map { row in row.prefix { $0 != " " } } == ["ben", "email:Bert@X.example"])
        let found = try cli.succeed("users", "--prefix", "", "--reverse", "-n", "3", "--format", "json").lines
        #expect(found.count == 3 && found[0].contains(#""matched":"cem""#), "\(found)")
        #expect(found[1].contains(#""kind":"email""#) && found[2].contains(#""id":"ben""#), "\(found)")
        #expect(try cli.run("users", "--prefix", "zz").errors.contains("No users match `prefix`."))
        for others in [["--where", "custom.level > 1"], ["--count"], ["--as-of", "1"], ["--after", "1"]] {
            #expect(try cli.run(["users", "--prefix", "a"] + others).status == 64, "\(others)")
        }
        #expect(try cli.run("users", "--reverse").status == 64)
    }

    @Test("Every user is listed by the beginning of their IDs, in as many pages as that takes")
    func pages() throws {
        let log = try EventLog(path: cli.store)
        try log.append { append in
            for number in 0..<2_100 {
                try append.add(.customEventLogged(CustomEvent(name: "e")), to: .externalID("page \(number)"))
            }
        }
        let lines = try cli.succeed("users", "--prefix", "page ", "--format", "json").lines
        #expect(lines.count == 2_100 && Set(lines).count == 2_100)
    }

    @Test("Names complete what is typed, and the key says that none is needed")
    func names() throws {
        #expect(try cli.succeed("names", "le").lines.dropFirst() == ["level  attribute"])
        let found = try cli.succeed("names", "--kind", "event", "--kind", "product", "--format", "json").lines
        #expect(found.count == 2 && found[0].contains("purchase") && found[1].contains("shoes"), "\(found)")
        #expect(try cli.run("names", "p", "--kind", "evnt").errors.contains("Did you mean event?"))
        #expect(try cli.run("names", "-n", "1").errors.contains("There are more"))
        let key = try cli.succeed("key")
        #expect(key.output.contains("mode") && key.output.contains("kept") && key.errors.contains("No key is needed"))
    }

    @Test("A mistake is told with its column, as docs/where.md shows it")
    func mistake() throws {
        let outcome = try cli.run("users", "--where", "exists(custom.levl)")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("--where names an attribute that the store has never seen (column 15)"))
        #expect(outcome.errors.contains("Did you mean `level`?"))
    }

    @Test("Bars fit the terminal, and the longest takes what is left", arguments: [30, 60, 200])
    func bars(width: Int) throws {
        let lines = try cli.run(
            "stats", "--plot", "purchase", "--length", "3", environment: ["COLUMNS": "\(width)"]
        ).lines
        #expect(lines.count == 3)
        #expect(lines.map(\.count).max() == width, "\(lines)")
        #expect(lines[2].contains("  3  █") && !lines[0].contains("█"))
    }

    @Test("Revenue is drawn by currency, and JSON has the numbers")
    func revenue() throws {
        let lines = try cli.succeed("stats", "--plot", "revenue", "--length", "1").lines
        #expect(lines.count == 2 && lines[0] == "EUR" && lines[1].contains("28.50"), "\(lines)")
        let json = try cli.succeed("stats", "--plot", "purchases:shoes", "--length", "1", "--format", "json").output
        #expect(json.contains(#""count":3"#), "\(json)")
        for (slip, meant) in [("purchas", "event:purchase"), ("revenue:shoos", "revenue:shoes")] {
            let outcome = try cli.run("stats", "--plot", slip)
            #expect(outcome.status == 1 && outcome.errors.contains("Did you mean `\(meant)`?"), "\(outcome.errors)")
        }
    }

    @Test("Why a user passes or does not is a sentence, then each part with the value and the event that set it")
    func explain() throws {
        let condition = #"country = "DE" and custom.level >= 3"#
        let lines = try cli.succeed("explain", "ana", "--where", condition).lines
        #expect(lines.first == "The user does not pass: `custom.level >= 3` does not hold (the value is 0).")
        #expect(lines.contains { $0.hasPrefix("and ") && $0.hasSuffix(" no") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix(#"  country = "DE"  "#) && $0.contains(" yes ") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("  custom.level >= 3  no ") && $0.hasSuffix("  rest") }, "\(lines)")
        let json = try cli.succeed("explain", "ana", "--where", condition, "--format", "json").output
        #expect(json.hasPrefix(#"{"holds":false,"#) && json.contains(#""reason":"The user does not pass"#), "\(json)")
        let early = try cli.succeed("explain", "ana", "--where", "exists(country)", "--as-of", "2").output
        #expect(early.contains("does not hold (there is no value)") && early.contains("no event set it"), "\(early)")
    }

    @Test("A segment of the workspace file is explained, and a question without a condition is refused")
    func explainSegment() throws {
        let workspace = try cli.write(
            "segments:\n  - {id: fans, name: Fans, all: [{event: purchase, at_least: 2}]}\n", as: "workspace.yaml")
        let output = try cli.succeed("explain", "ben", "--segment", "Fans", "--workspace", workspace).output
        #expect(output.contains("does not pass: `events.purchase.count >= 2` does not hold (the value is 1)."))
        let slip = try cli.run("explain", "ben", "--segment", "fan", "--workspace", workspace)
        #expect(slip.status != 0 && slip.errors.contains("Did you mean `fans`?"), "\(slip.errors)")
        for wrong in [[], ["--where", "version > 0", "--segment", "fans"]] {
            let outcome = try cli.run(["explain", "ben"] + wrong)
            #expect(outcome.status == 64 && outcome.errors.contains("--segment"), "\(outcome.errors)")
        }
    }

    @Test("Every command in docs/where.md works")
    func documented() throws {
        let text = try Repository.text("docs/where.md")
        let commands = text.split(separator: "\n").filter { $0.hasPrefix("profilecli ") }
        #expect(commands.count >= 6)
        for command in commands {
            // Words are separated by blanks, but not in quotes.
            let parts = command.split(separator: "'", omittingEmptySubsequences: false)
            let words = parts.enumerated().flatMap { index, part in
                index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
            }
            let outcome = try cli.run(Array(words.dropFirst()))
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        }
    }
}
