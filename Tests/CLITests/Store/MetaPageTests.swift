import Foundation
import TestSupport
import Testing

/// The two first pages of a store's file take turns to say where everything is.
@Suite("A broken meta page: a sentence, never a crash")
struct MetaPageTests {
    private let cli: CLI

    init() throws { cli = try CLI(after: ["a", "b", "c"].map { ["log", "event", "jane", $0] }, .damaged) }

    /// A field of a meta page, by its offset, after 16 bytes of header and 24 of constants.
    enum Field: Int {
        case pageBytes = 40
        case rootOfFreePages = 80
        case rootOfTables = 128
        case lastPage = 136
        case commit = 144
    }

    /// Writes `value` over a field of the page that was written last.
    private func put(_ value: UInt64, in field: Field) throws {
        var data = try Data(contentsOf: cli.file)
        func commit(_ page: Int) -> UInt64 {
            data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: page + Field.commit.rawValue, as: UInt64.self) }
        }
        let begin = (commit(0) > commit(PageOwners.pageBytes) ? 0 : PageOwners.pageBytes) + field.rawValue
        let bytes = withUnsafeBytes(of: value) { Data($0.prefix(field == .pageBytes ? 4 : 8)) }
        data.replaceSubrange(begin..<begin + bytes.count, with: bytes)
        try data.write(to: cli.file)
    }

    static let damages: [(Field, UInt64)] = [
        (.lastPage, 1 << 30), (.lastPage, 1 << 50), (.lastPage, 1 << 62), (.lastPage, 1 << 63 - 1),
        (.lastPage, 1 << 63), (.lastPage, .max),
        (.rootOfTables, 0), (.rootOfTables, 1), (.rootOfTables, 1 << 40), (.pageBytes, 0),
    ]

    @Test("Every command calls it damage, with LMDB's lock file and without", arguments: damages)
    func verdict(field: Field, value: UInt64) throws {
        try put(value, in: field)
        let commands = [["check"], ["profile", "jane"], ["stats"], ["log", "event", "jane", "d"], ["compact"]]
        for (number, command) in commands.enumerated() {
            // The short form takes turns.
            for isAlone in Thoroughness.isFull ? [true, false] : [(number + field.rawValue / 8).isMultiple(of: 2)] {
                if isAlone { try? FileManager.default.removeItem(atPath: cli.store + "/lock.mdb") }
                let outcome = try cli.run(command)
                #expect(outcome.status == 2, "\(command): \(outcome)")
                #expect(outcome.errors.contains("from a backup"), "\(command): \(outcome)")
                for word in ["Backtrace", "Signal", "Assertion", "mdb.c", "Fatal"] {
                    #expect(!outcome.errors.contains(word), "\(command): \(outcome)")
                }
            }
        }
    }

    @Test("A wrong root of the free pages is named by a write", arguments: [0, 1] as [UInt64])
    func freePages(root: UInt64) throws {
        try put(root, in: .rootOfFreePages)
        for command in [["check"], ["log", "event", "jane", "d"]] {
            let outcome = try cli.run(command)
            #expect(outcome.status == 2 && outcome.errors.contains("from a backup"), "\(command): \(outcome)")
        }
    }
}
