import Foundation
import ProfileLog
import TestSupport
import Testing

/// Long work that Ctrl-C stops at a good place. Each script waits until the work has begun: a file of it is there.
@Suite("Ctrl-C")
struct InterruptTests {
    /// The file of a store that is large enough for its copy to take a while.
    private static let large = Result {
        let folder = TemporaryFolder()
        let log = try EventLog(path: folder.path, create: true)
        for round in 0..<100 {
            var builder = log.prepare(capacity: 500)
            for user in 0..<500 {
                let event = CustomEvent(name: "walked", properties: [.init("round", .int(Int64(round)))])
                try builder.add(.customEventLogged(event), EventContext(source: .app), to: .externalID("u\(user)"))
            }
            _ = try log.commit(builder.finish())
        }
        try log.writeIndex()
        return try Data(contentsOf: folder.file("data.mdb"))
    }

    /// Runs `profilecli` with `arguments`, and presses Ctrl-C when `file` is there.
    private func interrupt(_ cli: CLI, _ arguments: [String], when file: String) throws -> CLI.Outcome {
        let script = """
            "$0" "$@" & until [ -s \(file) ] || ! kill -0 $!; do sleep 0.01; done; kill -INT $!; wait $!
            """
        return try cli.shell(script, arguments)
    }

    @Test("A stopped copy is resumed by the same command")
    func copy() throws {
        let cli = try CLI(Self.large.get())
        let stopped = try interrupt(cli, ["replay", "--into", "copy"], when: "copy/data.mdb")
        #expect(stopped.status == 130, "\(stopped.errors)")
        #expect(stopped.errors.contains("the copy goes on where it stopped"))
        #expect(stopped.errors.hasPrefix("Error: Stopped by Ctrl-C after "), "\(stopped.errors)")
        try cli.succeed("replay", "--into", "copy")
        let (log, copy) = (try EventLog(path: cli.store), try EventLog(path: cli.folder.appending(path: "copy").path))
        var next = Position(rawValue: 1)
        while next <= (try log.lastPosition()) {
            let events = try log.events(from: next, limit: 10_000).events
            #expect(try copy.events(from: next, limit: 10_000).events == events)
            next = Position(rawValue: next.rawValue + 10_000)
        }
        #expect(try copy.lastPosition() == log.lastPosition())
    }

    @Test("A stopped compaction leaves the store unchanged")
    func compact() throws {
        let cli = try CLI(Self.large.get())
        let stopped = try interrupt(cli, ["compact"], when: "store/compact/data.mdb")
        #expect(stopped.status == 130, "\(stopped.errors)")
        #expect(stopped.errors.contains("is unchanged"))
        let files = try FileManager.default.contentsOfDirectory(atPath: cli.store)
        #expect(Set(files) == ["data.mdb", "lock.mdb"])
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("An import that is stopped while it skips stored lines says how many it knows of")
    func skipping() throws {
        let cli = try CLI()
        let lines = (1...2_500).map { #"{"kind":"custom_event","user":"u","name":"e\#($0)"}"# }
        let file = try cli.write(lines.joined(separator: "\n") + "\n", as: "events.jsonl")
        try cli.succeed("import", file, "--name", "n")
        var stopped = try interruptSkipping(cli, after: 1)
        for seconds in [4, 16, 64] where stopped.errors.contains("nothing was stored") {
            // A busy machine has not come to the end of the first chunk.
            stopped = try interruptSkipping(cli, after: seconds)
        }
        #expect(
            stopped.errors.contains(/Stopped by Ctrl-C; the first [12],000 events of pipe are stored\./),
            "\(stopped.errors)")
    }

    /// Imports `events.jsonl` again, from a pipe that does not end, and stops that some seconds after all is written.
    private func interruptSkipping(_ cli: CLI, after seconds: Int) throws -> CLI.Outcome {
        // More than a pipe holds: when all is written, the program reads.
        let script = """
            rm -f pipe; mkfifo pipe; "$0" import pipe --name n & program=$!
            exec 3<> pipe; cat events.jsonl >&3; sleep \(seconds); kill -INT $program; wait $program
            """
        let stopped = try cli.shell(script)
        #expect(stopped.status == 130, "\(stopped.errors)")
        return stopped
    }

    @Test("A stopped simulation keeps what it made so far")
    func simulate() throws {
        let cli = try CLI()
        let stopped = try interrupt(cli, ["simulate", "--devices", "300", "--days", "60"], when: "store/data.mdb")
        #expect(stopped.status == 130, "\(stopped.errors)")
        #expect(stopped.errors.contains("stopped by Ctrl-C"))
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }
}
