import ProfileLog
import TestSupport
import Testing

@Suite("A writer that is left without being closed")
struct LeftWriterTests {
    @Test("The thread of a writer that is left ends, and lets go of the log", .timeLimit(.minutes(1)))
    func ends() async throws {
        let folder = TemporaryFolder()
        weak var left: EventLog?
        do {
            let log = try EventLog(path: folder.path, create: true)
            let writer = LogWriter(log)
            var builder = log.prepare()
            try builder.add(.customEventLogged(CustomEvent(name: "a")), .test, to: .externalID("ana"))
            _ = try await writer.commit(builder.finish())
            left = log
        }
        while left != nil { try await Task.sleep(for: .milliseconds(2)) }
        #expect(try EventLog(path: folder.path).reader.statistics().extent.indexed.rawValue == 2)
    }
}
