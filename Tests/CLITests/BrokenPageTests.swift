import Foundation
import Testing

@Suite("A broken page of the file: a sentence, never a crash")
struct BrokenPageTests {
    private static let pageBytes = PageOwners.pageBytes
    private let cli: CLI
    private let file: URL
    private let lines: String
    private let whole: Data
    private let owners: PageOwners

    /// A store whose tables have several pages each, snapshots and a list of free pages among them.
    init() throws {
        cli = try CLI()
        lines = try cli.succeed("generate", "--events", "3000", "--users", "40").output
        #expect(try cli.run("import", "-", input: lines).status == 0)
        file = URL(filePath: cli.store).appending(path: "data.mdb")
        whole = try Data(contentsOf: file)
        owners = PageOwners(whole)
    }

    /// Writes the file with other bytes in `page`.
    private func fill(_ page: Int, with garbage: Garbage, seed: UInt64? = nil) throws {
        var broken = whole
        let begin = page * Self.pageBytes
        broken.replaceSubrange(begin..<begin + Self.pageBytes, with: garbage.bytes(seed: seed ?? UInt64(page)))
        try broken.write(to: file)
    }

    /// What a page may hold after a fault of the disk.
    enum Garbage: CaseIterable {
        case zeros, ones, random

        func bytes(seed: UInt64) -> Data {
            var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
            func next() -> UInt8 {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return UInt8(truncatingIfNeeded: state)
            }
            return switch self {
            case .zeros: Data(repeating: 0, count: pageBytes)
            case .ones: Data(repeating: 0xFF, count: pageBytes)
            case .random: Data((0..<pageBytes).map { _ in next() })
            }
        }
    }

    @Test(
        "check gives a verdict whichever page is broken, and reads and writes end with a sentence",
        arguments: Garbage.allCases)
    func verdict(garbage: Garbage) throws {
        var damaged = 0
        // The two first pages say where everything is; a store without them is no store.
        for page in stride(from: 2, to: whole.count / Self.pageBytes, by: 5) {
            try fill(page, with: garbage)
            let outcome = try cli.run("check")
            let owner = owners.owners[page]
            // A free page may hold anything.
            #expect(
                outcome.status == 2 || owner == nil && outcome.status == 0,
                "page \(page) of \(owner ?? "none"): \(outcome)")
            try expectSentences(outcome, page)
            if outcome.status == 2 {
                damaged += 1
                #expect((outcome.output + outcome.errors).lowercased().contains("damaged"), "page \(page)")
                #expect(outcome.errors.contains("from a backup"), "page \(page): \(outcome.errors)")
            }
            for command in [["replay"], ["export"], ["log", "event", "jane", "a"]] where page % 4 == 0 {
                let outcome = try cli.run(command)
                #expect([0, 2].contains(outcome.status), "page \(page), \(command): \(outcome.errors)")
                try expectSentences(outcome, page)
                if outcome.status == 2 { #expect(outcome.errors.contains("from a backup"), "\(outcome.errors)") }
            }
        }
        #expect(damaged > 10)
    }

    private func expectSentences(_ outcome: CLI.Outcome, _ page: Int) throws {
        for word in ["Backtrace", "Signal", "Assertion", "mdb.c", "Fatal"] {
            #expect(!outcome.errors.contains(word), "page \(page): \(outcome.errors)")
        }
        #expect(outcome.errors.split(separator: "\n").count <= 3, "page \(page): \(outcome.errors)")
    }

    @Test("A broken page is told with its table, and to programs as JSON", arguments: Garbage.allCases)
    func place(garbage: Garbage) throws {
        for table in Set(owners.owners.values).sorted() {
            let pages = owners.pages(of: table)
            for page in Set([pages.first, pages[pages.count / 2], pages.last].compactMap(\.self)) {
                try fill(page, with: garbage)
                let (text, json) = (try cli.run("check").output, try cli.run("check", "--format", "json").lines)
                let place =
                    switch table {
                    case PageOwners.tables: "which is read when the store is opened"
                    case PageOwners.freePages: "in the list of free pages"
                    default: "in table \(table)"
                    }
                let head = "Damaged: a page of \(cli.store)/data.mdb is broken, \(place)"
                #expect(text.hasPrefix(head), "page \(page) of \(table): \(text)")
                #expect(
                    json.first?.hasPrefix(#"{"place":"data.mdb","what":"a page is broken, \#(place)"#) == true,
                    "\(json)")
                #expect(json.last == #"{"sound":false,"problems":1}"#)
            }
        }
    }

    @Test("A broken page in the middle of the log is told with the position before it", arguments: Garbage.allCases)
    func position(garbage: Garbage) throws {
        let pages = owners.pages(of: "log")
        try fill(pages[pages.count / 2], with: garbage)
        let text = try cli.run("check").output
        let position = try #require(text.firstMatch(of: /in table log behind position ([0-9,]+)\./)).output.1
        #expect((1..<3_000).contains(Int(position.replacing(",", with: "")) ?? 0), "\(text)")
    }

    @Test("No broken page makes a second user of a person, or a second write of a retry", arguments: Garbage.allCases)
    func identities(garbage: Garbage) throws {
        try whole.write(to: file)
        let users = try cli.succeed("users", "--limit", "6", "--format", "json").lines.compactMap {
            $0.firstMatch(of: /"id":"([^"]+)"/)?.output.1
        }
        for page in owners.pages(of: "identifiers") {
            for user in users {
                try fill(page, with: garbage)
                let outcome = try cli.run("log", "event", "\(user)", "a")
                #expect(
                    outcome.status == 2 || outcome.status == 0 && !outcome.output.contains("new user"), "\(outcome)")
            }
        }
        for page in owners.pages(of: "keys") {
            try fill(page, with: garbage)
            let outcome = try cli.run("import", "-", input: lines)
            #expect(outcome.status == 2 || outcome.output.contains("skipped 3,000 that"), "\(outcome)")
        }
    }

    @Test(
        "No broken page of the streams hides a part of a history", arguments: Garbage.allCases, [1, 2, 3] as [UInt64])
    func streams(garbage: Garbage, seed: UInt64) throws {
        let users = try cli.succeed("users", "--limit", "6", "--format", "json").lines.compactMap {
            $0.firstMatch(of: /"id":"([^"]+)"/)?.output.1
        }
        #expect(users.count == 6)
        let questions = users.flatMap {
            [["history", "\($0)", "--format", "json"], ["profile", "\($0)", "--as-of", "2000", "--format", "json"]]
        }
        let answers = try questions.map { try cli.run($0) }
        for page in owners.pages(of: "streams") {
            try fill(page, with: garbage, seed: seed)
            for (question, answer) in zip(questions, answers) {
                let outcome = try cli.run(question)
                let isSame = outcome.status == answer.status && outcome.output == answer.output
                #expect(isSame || outcome.status == 2, "\(page) \(question): \(outcome.status) \(outcome.errors)")
            }
        }
    }
}
