import ProfileLog
import TestSupport
import Testing

@Suite("Copies and proofs during erasures")
struct ErasedCopyTests {
    let folder = TemporaryFolder()
    let copy = TemporaryFolder()
    let clock = TestClock()

    private func filled() throws -> EventLog {
        let log = try folder.open(options: .small(clock))
        for user in ["bo", "ana"] {
            for index in 0..<3 {
                _ = try log.append(
                    [.customEventLogged(CustomEvent(name: Name("\(user)-\(index)")))], to: .externalID(user))
            }
        }
        return log
    }

    private func erase(_ user: String, _ log: EventLog) throws {
        _ = try log.erase([.externalID(user)], actor: "a test", reason: "asked to")
    }

    @Test("A copy of the log's beginning knows no name that is used after it")
    func names() throws {
        let log = try filled()
        _ = try log.replay(into: copy.path, until: Position(rawValue: 4))
        var target = try EventLog(path: copy.path)
        #expect(try target.rows(.names).count == 3)
        try target.expectSound()
        _ = try log.replay(into: copy.path)
        target = try EventLog(path: copy.path)
        #expect(try target.rows(.names) == log.rows(.names))
    }

    @Test("A copy that was begun after an erasure goes on; one that holds what was erased since does not")
    func resumed() throws {
        let log = try filled()
        try erase("ana", log)
        _ = try log.replay(into: copy.path, until: Position(rawValue: 6))
        #expect(try log.replay(into: copy.path).isEqual)
        #expect(try EventLog(path: copy.path).rows(.log) == log.rows(.log))
        let other = TemporaryFolder()
        _ = try log.replay(into: other.path, until: Position(rawValue: 3))
        try erase("bo", log)
        #expect(throws: AppendError.self) { try log.replay(into: other.path) }
    }

    @Test("A replay gives up where a user is erased in each of its runs")
    func endless() throws {
        let log = try filled()
        #expect(throws: AppendError.self) {
            try log.replay { progress in
                _ = try? log.append([.customEventLogged(CustomEvent(name: "e"))], to: .externalID("ana"))
                try? erase("ana", log)
                return true
            }
        }
    }

    @Test(
        "Who is erased while a replay runs is no difference, and its digest is that of a state that was",
        arguments: [true, false])
    func proof(verify: Bool) throws {
        let log = try filled()
        var isErased = false
        let report = try log.replay(verify: verify) { progress in
            if !isErased {
                isErased = true
                try? erase("ana", log)
            }
            return true
        }
        #expect(try log.find(.externalID("ana")) == nil)
        #expect(report.isEqual, "\(report.differences)")
        #expect(try report.digest == log.replay().digest)
    }
}
