import Foundation
import TestSupport
import Testing

@Suite("A disk that is full while a copy of a store is written")
struct CopyDiskFullTests {
    private let cli: CLI
    private let faults: Shim

    init() throws {
        cli = try CLI()
        faults = try Shim.faults()
        let lines = try cli.succeed("generate", "--events", "1000", "--users", "20").output
        #expect(try cli.run("import", "-", input: lines).status == 0)
    }

    @Test(
        "The folder and the next step are named, the store is as it was, and with space the same command does it",
        arguments: [["replay", "--into", "copy"], ["compact"]])
    func copy(command: [String]) throws {
        let events = try cli.succeed("export").output
        var refused = 0
        // The copy meets the full disk at its making, in the middle, or not at all. The first call syncs the store
        // itself.
        for call in stride(from: 2, through: 25, by: 4) {
            let outcome = try cli.run(command, environment: faults.environment(["FAULT": "enospc-from:\(call)"]))
            if outcome.status == 0 { continue }
            refused += 1
            #expect(outcome.status == 1)
            let folder = command.count > 1 ? "copy" : cli.store
            #expect(outcome.errors.contains("The disk of \(folder) is full"), "call \(call): \(outcome.errors)")
            #expect(outcome.errors.contains("Free some space there and run the same command again"))
            #expect(!outcome.errors.contains("append"), "\(outcome.errors)")
            #expect(try cli.succeed("export").output == events)
        }
        #expect(refused > 1)
        let done = try cli.run(command)
        #expect(done.status == 0, "\(done.errors)")
        #expect(try cli.succeed("export").output == events)
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }
}
