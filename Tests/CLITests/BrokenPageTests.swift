import Foundation
import Testing

@Suite("A broken page of the file: a sentence, never a crash")
struct BrokenPageTests {
    private static let pageBytes = 4_096
    private let cli: CLI
    private let file: URL

    /// A store whose tables have several pages each, snapshots and a list of free pages among them.
    init() throws {
        cli = try CLI()
        let lines = try cli.succeed("generate", "--events", "3000", "--users", "40").output
        #expect(try cli.run("import", "-", input: lines).status == 0)
        file = URL(filePath: cli.store).appending(path: "data.mdb")
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
        let whole = try Data(contentsOf: file)
        var damaged = 0
        // The two first pages say where everything is; a store without them is no store.
        for page in stride(from: 2, to: whole.count / Self.pageBytes, by: 5) {
            var broken = whole
            let begin = page * Self.pageBytes
            broken.replaceSubrange(begin..<begin + Self.pageBytes, with: garbage.bytes(seed: UInt64(page)))
            try broken.write(to: file)
            let outcome = try cli.run("check")
            #expect([0, 2].contains(outcome.status), "page \(page): \(outcome.status) \(outcome.errors)")
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

    @Test("A broken page is told with its table, and to programs as JSON")
    func place() throws {
        let whole = try Data(contentsOf: file)
        var page = whole.count / Self.pageBytes - 1
        var text = ""
        while page > 2, !text.contains("in table log behind position") {
            var broken = whole
            let begin = page * Self.pageBytes
            broken.replaceSubrange(begin..<begin + Self.pageBytes, with: Data(count: Self.pageBytes))
            try broken.write(to: file)
            text = try cli.run("check").output
            page -= 1
        }
        #expect(text.contains("Damaged: a page of \(cli.store)/data.mdb is broken, in table log behind position "))
        let json = try cli.run("check", "--format", "json")
        #expect(json.status == 2)
        #expect(json.lines.first?.hasPrefix(#"{"place":"data.mdb","what":"a page is broken, in table log"#) == true)
        #expect(json.lines.last == #"{"sound":false,"problems":1}"#)
    }
}
