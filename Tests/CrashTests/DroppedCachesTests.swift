import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("Another process may drop and rebuild the caches at any time")
struct DroppedCachesTests {
    @Test("Reads and appends go on", .timeLimit(.minutes(15)), arguments: [false, true])
    func dropped(rebuilt: Bool) async throws {
        let versions = try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let log = try EventLog(path: scratch("store"), create: true)
            for _ in 0..<10 {
                _ = try log.append([.customEventLogged(CustomEvent(name: "Opened"))], to: .externalID("ana"))
            }
            try log.writeIndex()
            _ = try log.append([.customEventLogged(CustomEvent(name: "Opened"))], to: .externalID("ana"))
            // As another process does it: this one's tail hears nothing of it.
            try log.environment.withWriteTransaction { transaction in
                try transaction.clearCaches(log.environment.tables)
            }
            if rebuilt { _ = try log.append([.customEventLogged(CustomEvent(name: "Opened"))], to: .externalID("ana")) }
            return [try log.find(.externalID("ana"))?.version.rawValue, UInt64(try StoreAudit(log).problems.count)]
        }
        #expect(versions == [rebuilt ? 13 : 12, 0])
    }
}
