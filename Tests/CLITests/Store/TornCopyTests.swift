import Foundation
import ProfileLog
import TestSupport
import Testing

/// A copy that `cp` made while a program wrote: pages of several moments.
@Suite("A torn copy of a store")
struct TornCopyTests {
    /// The file of a store at two moments.
    private static let moments = Result {
        let cli = try CLI()
        try cli.succeed("generate", "--events", "300", "--users", "20", "-o", "events.jsonl")
        try cli.succeed("import", "events.jsonl")
        let older = try Data(contentsOf: cli.file)
        for number in 0..<8 { try cli.succeed("log", "attribute", "jane", "a=\(number)") }
        return (older, try Data(contentsOf: cli.file))
    }

    @Test("A torn copy is damaged, whatever page is wrong, and never another program's file", arguments: 0..<24)
    func torn(seed: Int) throws {
        let (older, newer) = try Self.moments.get()
        // The first pages of one moment, the rest of another; or a hole, as of a page that was not there yet.
        let pages = newer.count / 4096
        let cut = (2 + seed * 5 % (pages - 2)) * 4096
        var torn = seed % 2 == 0 ? newer.prefix(cut) + older.dropFirst(cut) : older.prefix(cut) + newer.dropFirst(cut)
        if seed % 3 == 0 { torn.replaceSubrange(cut..<min(cut + 8192, torn.count), with: Data(count: 8192)) }
        let copy = try CLI(torn, .damaged)
        let outcome = try copy.run("check")
        #expect([0, 2].contains(outcome.status), "seed \(seed): \(outcome.status) \(outcome.errors)")
        #expect(!outcome.errors.contains("not a ProfileLog store"), "seed \(seed): \(outcome.errors)")
        if outcome.status == 2 {
            let said = outcome.output + outcome.errors
            #expect(said.contains("damaged") || said.contains("broken") || said.contains("end is missing"), "\(said)")
        }
    }

    @Test("A file that was overwritten while a program wrote is found, and takes no writes")
    func mixed() throws {
        let cli = try CLI()
        for number in 0..<3 { try cli.succeed("log", "attribute", "jane", "a=\(number)") }
        let older = try Data(contentsOf: cli.file)
        for number in 0..<8 { try cli.succeed("log", "attribute", "jane", "a=\(number)") }
        let newer = try Data(contentsOf: cli.file)
        let last = newer.commit(ofPage: 0) > newer.commit(ofPage: 1) ? 0 : 4096
        // The older page belongs to the backup, the newer one was written after it.
        var mixed = newer
        mixed.replaceSubrange(4096 - last..<8192 - last, with: older[4096 - last..<8192 - last])
        let copy = try CLI(mixed, .damaged)
        let check = try copy.run("check")
        #expect(
            check.status == 2 && (check.output + check.errors).contains("overwritten while it was in use"), "\(check)")
        #expect(try copy.run("profile", "jane").status == 0)
        let refused = try copy.run("log", "attribute", "jane", "a=9")
        #expect(refused.status == 1 && refused.errors.contains("overwritten"), "\(refused)")
        #expect(try Data(contentsOf: copy.file).prefix(8192) == mixed.prefix(8192))
    }

    @Test("A store without its tables is damaged; another program's file is not a store")
    func tables() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a")
        var data = try Data(contentsOf: cli.file)
        // The root page of the table of tables, by the newest meta page.
        let meta = data.commit(ofPage: 0) > data.commit(ofPage: 1) ? 0 : 4096
        let root = Int(data.number(meta + 128))
        data.replaceSubrange(root * 4096 + 12..<root * 4096 + 16, with: [16, 0, 0, 16])
        let torn = try CLI(data, .damaged)
        for command in [["check"], ["profile", "jane"], ["log", "event", "jane", "b"]] {
            let outcome = try torn.run(command)
            #expect(outcome.status == 2, "\(command) \(outcome.errors)")
            #expect(outcome.errors.contains("copy that was made while a program wrote"), "\(outcome.errors)")
        }
    }
}

extension Data {
    fileprivate func number(_ offset: Int) -> UInt64 {
        withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    fileprivate func commit(ofPage page: Int) -> UInt64 { number(page * 4096 + 144) }
}
