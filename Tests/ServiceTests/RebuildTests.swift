import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

@testable import ProfileLogLog

@Suite("States of another program, while the service runs")
struct RebuildTests {
    private static let key = KeyCoding.snapshot(UsageProjection.name, user: 1, version: 32)

    /// The store that `Service(in: folder)` opens, with a state of another revision.
    private func fill(_ folder: URL, revision: UInt32) throws -> EventLog {
        let path = folder.appendingPathComponent("store").path
        let log = try EventLog(path: path, create: true, projections: RequestStore.projections)
        for _ in 0..<40 {
            _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: .externalID("ana"))
        }
        try log.environment.withWriteTransaction { transaction in
            try transaction.put(
                log.environment.tables.snapshots, Self.key, SnapshotRow.bytes(revision: revision, state: []))
        }
        return log
    }

    @Test("Those of an older one are folded again and swapped in, and answers are right all the time")
    func older() async throws {
        let folder = try Service.newFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = try fill(folder, revision: UsageProjection.revision - 1)
        let service = try await Service(in: folder)
        var isRebuilt = false
        for _ in 0..<3_000 where !isRebuilt {
            #expect(try await service.get("/v1/profile?user=ana").json.at("custom_events.0.count") == 40)
            isRebuilt = try await service.get("/v1/stats").json.at("outdated_states") == .null
            if !isRebuilt { try await Task.sleep(for: .milliseconds(20)) }
        }
        #expect(isRebuilt)
        #expect(try await service.get("/v1/replay").json.at("shadow") == .null)
        #expect(try await service.stop() == 0)
        #expect(service.messages.contains("the states of an older program were folded again"))
        #expect(try log.shadow.outdated() == [])
        #expect(try log.withView { try log.states.snapshot(UsageProjection.self, 1, upTo: 41, $0)?.version } == 41)
        #expect(try log.check().isSound)
    }

    @Test("Those of a newer one stay")
    func newer() async throws {
        let folder = try Service.newFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = try fill(folder, revision: UsageProjection.revision + 1)
        let service = try await Service(in: folder)
        #expect(try await service.get("/v1/stats").json.at("outdated_states") == .array(["usage"]))
        #expect(try await service.stop() == 0)
        #expect(service.messages.contains("states of a newer program are not used"))
        let tables = log.environment.tables
        #expect(try log.environment.withReadTransaction { try Generations.read(tables, $0) } == Generations())
    }
}
