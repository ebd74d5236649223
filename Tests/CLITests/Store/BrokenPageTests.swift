import Foundation
import TestSupport
import Testing

@Suite("A broken page of the file: a sentence, never a crash")
struct BrokenPageTests {
    private static let pageBytes = PageOwners.pageBytes
    private let cli: CLI
    private let whole: Data
    private let owners: PageOwners

    /// The file of a store with all caches and a list of free pages, whose longer tables have several pages.
    private static let sample = Result {
        let cli = try CLI()
        try cli.succeed("simulate", "--devices", "30", "--days", "40")
        for _ in 0..<2 { try cli.succeed("log", "event", "jane", "a") }
        return try Data(contentsOf: cli.file)
    }

    init() throws {
        whole = try Self.sample.get()
        cli = try CLI(whole, .damaged)
        owners = PageOwners(whole)
    }

    /// Writes the file with other bytes in `page`.
    private func fill(_ page: Int, with garbage: Garbage) throws {
        var broken = whole
        let begin = page * Self.pageBytes
        broken.replaceSubrange(begin..<begin + Self.pageBytes, with: garbage.bytes(page, of: whole))
        try broken.write(to: cli.file)
    }

    /// The content of a page after a fault of the disk.
    enum Garbage: CaseIterable {
        case zeros, ones, random
        /// Random bytes that call themselves a leaf with some rows: LMDB believes them.
        case leaf
        /// The content of the page before it: a write that went to the wrong place.
        case neighbour

        func bytes(_ page: Int, of file: Data) -> Data {
            let begin = page * pageBytes
            var state = UInt64(page) &* 0x9E37_79B9_7F4A_7C15 | 1
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
            // After the number of the page: padding, the flags, and the end of the offsets of 20 rows.
            case .leaf: Data(file[begin..<begin + 8] + [0, 0, 2, 0, 56, 0] + (14..<pageBytes).map { _ in next() })
            case .neighbour: file[begin - pageBytes..<begin]
            }
        }
    }

    @Test(
        "check gives a verdict whichever page is broken, and reads and writes end with a sentence",
        arguments: Garbage.allCases)
    func verdict(garbage: Garbage) throws {
        var damaged = 0
        // The two first pages say where everything is; a store without them is no store.
        for page in stride(from: 2, to: whole.count / Self.pageBytes, by: Thoroughness.count(short: 25, full: 5)) {
            try fill(page, with: garbage)
            let outcome = try cli.run("check")
            let owner = owners.owners[page]
            // A free page may hold anything; without the tree of tables it may be any program's file.
            let isForeign = owner == PageOwners.tables && outcome.errors.contains("not a ProfileLog store")
            let isAccepted = outcome.status == 0 && owner == nil || isForeign
            #expect(outcome.status == 2 || isAccepted, "page \(page) of \(owner ?? "none"): \(outcome)")
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
        #expect(damaged > Thoroughness.count(short: 2, full: 10))
    }

    private func expectSentences(_ outcome: CLI.Outcome, _ page: Int) throws {
        for word in ["Backtrace", "Signal", "Assertion", "mdb.c", "Fatal"] {
            #expect(!outcome.errors.contains(word), "page \(page): \(outcome.errors)")
        }
        #expect(outcome.errors.split(separator: "\n").count <= 3, "page \(page): \(outcome.errors)")
    }

    @Test("A broken page is named with its table, also in JSON", arguments: [Garbage.zeros, .leaf])
    func place(garbage: Garbage) throws {
        for table in Set(owners.owners.values).sorted() {
            let pages = owners.pages(of: table)
            for page in Set([pages[0], pages[pages.count / 2]]) {
                try fill(page, with: garbage)
                let check = try cli.run("check")
                if table == PageOwners.tables, check.errors.contains("not a ProfileLog store") { continue }
                let place =
                    switch table {
                    case PageOwners.tables: "which is read when the store is opened"
                    case PageOwners.freePages: "in the list of free pages"
                    default: "in table \(table)"
                    }
                let head = "Damaged: a page of \(cli.store)/data.mdb is broken, \(place)"
                #expect(check.output.hasPrefix(head), "page \(page) of \(table): \(check)")
                guard page == pages.first else { continue }
                let json = try cli.run("check", "--format", "json").lines
                let problem = #"{"place":"data.mdb","what":"a page is broken, \#(place)"#
                #expect(json.first?.hasPrefix(problem) == true, "\(json)")
                #expect(json.last == #"{"sound":false,"problems":1}"#)
            }
        }
    }

    @Test("A broken page in the middle of the log is named with the position before it", arguments: Garbage.allCases)
    func position(garbage: Garbage) throws {
        let pages = owners.pages(of: "log")
        try fill(pages[pages.count / 2], with: garbage)
        let text = try cli.run("check").output
        let position = try #require(text.firstMatch(of: /in table log after position ([0-9,]+)\./)).output.1
        #expect((1..<4_500).contains(Int(position.replacing(",", with: "")) ?? 0), "\(text)")
    }

    /// The pages to break with `garbage`: in the short form each page is broken in one way, in turn.
    private static func some(_ pages: [Int], for garbage: Garbage) -> [Int] {
        if Thoroughness.isFull { return pages }
        let (turns, turn) = (min(pages.count, Garbage.allCases.count), Garbage.allCases.firstIndex(of: garbage) ?? 0)
        return pages.enumerated().filter { $0.offset % turns == turn % turns }.map(\.element)
    }

    @Test(
        "A broken page stops a backup, whose folder stays as it is, unless it holds nothing of the log",
        arguments: [Garbage.zeros, .leaf, .neighbour])
    func backup(garbage: Garbage) throws {
        try cli.succeed("backup", "copy")
        let before = try cli.contents(of: "copy")
        let first = 2 + (Garbage.allCases.firstIndex(of: garbage) ?? 0)
        var stopped = 0
        for page in stride(
            from: first, to: whole.count / Self.pageBytes, by: Thoroughness.count(short: 25, full: 5))
        {
            try fill(page, with: garbage)
            for name in ["copy", "new"] {
                let outcome = try cli.run("backup", name)
                let after = try cli.contents(of: name)
                if outcome.status == 0 {
                    // The page is of a cache, or free: the backup is right.
                    let isSame = after.filter { $0.key.hasSuffix(".seg") } == before.filter { $0.key.hasSuffix(".seg") }
                    #expect(isSame, "page \(page) of \(owners.owners[page] ?? "none")")
                    try FileManager.default.removeItem(at: cli.folder.appending(path: name))
                    if name == "copy" { try cli.restore(before, as: "copy") }
                    continue
                }
                stopped += 1
                #expect([1, 2].contains(outcome.status), "page \(page): \(outcome)")
                #expect(name == "copy" ? after == before : after.isEmpty, "page \(page): \(outcome)")
                try expectSentences(outcome, page)
            }
        }
        #expect(stopped > Thoroughness.count(short: 2, full: 10))
    }

    /// Some users' IDs.
    private func users() throws -> [String] {
        let count = Thoroughness.count(short: 2, full: 6)
        let users = try cli.succeed("users", "--limit", "\(count)", "--format", "json").lines
        return users.compactMap { $0.firstMatch(of: /"id":"([^"]+)"/).map { String($0.output.1) } }
    }

    @Test("No broken page makes a second user of a person", arguments: Garbage.allCases)
    func identities(garbage: Garbage) throws {
        let (users, pages) = (try users(), owners.pages(of: "identifiers"))
        #expect(!users.isEmpty && !pages.isEmpty)
        for page in Self.some(pages, for: garbage) {
            for user in users {
                try fill(page, with: garbage)
                let outcome = try cli.run("log", "event", user, "a")
                let isKnown = outcome.status == 0 && !outcome.output.contains("new user")
                #expect(outcome.status == 2 || isKnown, "\(outcome)")
            }
        }
    }

    @Test("No broken page of the streams hides a part of a history", arguments: Garbage.allCases)
    func streams(garbage: Garbage) throws {
        let questions = try users().flatMap {
            [["history", $0, "--format", "json"], ["profile", $0, "--as-of", "2000", "--format", "json"]]
        }
        let answers = try questions.map { try cli.run($0) }
        let pages = owners.pages(of: "streams")
        #expect(pages.count > 2)
        for page in Self.some(pages, for: garbage) {
            try fill(page, with: garbage)
            for (question, answer) in zip(questions, answers) {
                let outcome = try cli.run(question)
                let isSame = outcome.status == answer.status && outcome.output == answer.output
                #expect(isSame || outcome.status == 2, "\(page) \(question): \(outcome.status) \(outcome.errors)")
            }
        }
    }
}
