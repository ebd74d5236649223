import Foundation
import TestSupport
import Testing

@Suite("What a program needs before it reads its arguments")
struct ProgramStartTests {
    @Test(
        "Without /proc neither program starts: it would see no arguments, and serve or make a store that was not named",
        .enabled(if: SmallDisk.canMount), arguments: ["profilecli", "profiled"],
        ["--version", "--store named --port 0", ""])
    func hiddenArguments(name: String, arguments: String) throws {
        let cli = try CLI()
        let script = "mount -t tmpfs none /proc && exec \"$0\" \(arguments)"
        let outcome = try cli.run(
            ["-m", "sh", "-c", script, ChildProcess.built(name).path], command: SmallDisk.unshare)
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.contains("There is no /proc here, so the program cannot see its arguments."))
        #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: cli.folder.path)
        #expect(!names.contains { ["named", "store", "profilelog"].contains($0) }, "\(names)")
    }
}
