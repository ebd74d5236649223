import Glibc
import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogStore

/// A process that is stopped or killed in the middle of a transaction, and what others can still do.
@Suite("A transaction that another process holds")
struct HeldTransactionTests {
    @Test("While a writer is stopped, a store is opened and read")
    func stoppedWriter() async throws {
        let (told, isSound) = try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            _ = try EventLog(path: scratch("store"), create: true).appendOne()
            let writer = try CrashChild(["hold-write", scratch("store")])
            var told = [writer.readLine()]
            let reader = try CrashChild(["read", scratch("store")])
            told.append(reader.readLine())
            for child in [reader, writer] {
                child.kill()
                child.waitForEnd()
            }
            let log = try EventLog(path: scratch("store"))
            _ = try log.appendOne()
            return (told, try log.check().isSound)
        }
        #expect(told == ["holds", "open 2"] && isSound)
    }

    @Test("A read during which the lock file is emptied ends as usual, and the next one is refused")
    func emptiedLock() async throws {
        let (told, code, isSound) = try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            _ = try EventLog(path: scratch("store"), create: true).appendOne()
            let reader = try CrashChild(["end-read", scratch("store")])
            var told = [reader.readLine()]
            let isEmpty = truncate(scratch("store/lock.mdb"), 0) == 0
            reader.send("")
            while let line = reader.readLine() { told.append(line) }
            let code = reader.waitForEnd()
            return (told, isEmpty ? code : -1, try EventLog(path: scratch("store")).check().isSound)
        }
        #expect(told == ["holds", "ended", "refused"] && code == 0 && isSound, "\(told), \(code)")
    }

    @Test("Pages that a killed reader saw are used again, a minute later")
    func killedReader() async throws {
        let (told, kept, reused) = try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let log = try EventLog(path: scratch("store"), create: true)
            /// Returns the bytes by which the file grows during 200 commits.
            func growth() throws -> UInt64 {
                let before = log.environment.usedBytes
                for _ in 0..<200 { _ = try log.appendOne() }
                return log.environment.usedBytes - before
            }
            _ = try growth()
            let reader = try CrashChild(["hold-read", scratch("store")])
            let told = reader.readLine()
            reader.kill()
            reader.waitForEnd()
            let kept = try growth()
            log.environment.readersChecked.withLock { $0 -= .seconds(60) }
            _ = try log.appendOne()
            return (told, kept, try growth())
        }
        #expect(told == "holds")
        #expect(kept > 8 * reused, "\(kept) bytes with the dead reader, \(reused) without it")
    }
}

extension EventLog {
    /// Appends one small event.
    fileprivate func appendOne() throws -> Position {
        try append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana")).first
    }
}
