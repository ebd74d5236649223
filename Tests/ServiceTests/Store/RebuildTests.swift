import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("States of another program, while the service runs")
struct RebuildTests {
    /// The store that `Service(in: folder)` opens: 40 events of one user, with a state of another revision that counts
    /// only 4 of the first 31.
    private func fill(_ folder: TemporaryFolder, revision: UInt32? = nil) throws -> EventLog {
        let path = folder.file("store").path
        let log = try EventLog(path: path, create: true, projections: RequestStore.projections)
        for _ in 0..<40 {
            _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: .externalID("ana"))
        }
        guard let revision else { return log }
        let wrong = try log.withView { try log.states.state(ProfileProjection.self, 1, version: 5, $0) }
        try log.environment.withWriteTransaction { transaction in
            try transaction.put(
                log.environment.tables.snapshots, KeyCoding.snapshot(ProfileProjection.name, user: 1, version: 32),
                SnapshotRow.bytes(revision: revision, state: ProfileProjection.encode(wrong)))
        }
        return log
    }

    @Test("States of an older program are folded again and swapped in, and answers are right all the time")
    func older() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let log = try fill(folder, revision: ProfileProjection.revision - 1)
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
        #expect(try log.shadow.projections(withStatesOf: .otherPrograms) == [])
        #expect(try log.withView { try log.states.snapshot(ProfileProjection.self, 1, upTo: 41, $0)?.version } == 41)
    }

    @Test("A shadow that was begun before a restart is finished, also if no state is seen to be old")
    func begun() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let log = try fill(folder)
        #expect(try !log.replayIntoShadow { _ in false }.isComplete)
        #expect(try log.shadow.projections(withStatesOf: .otherPrograms) == [])
        let service = try await Service(in: folder)
        try await waitUntil { try log.shadow.current() == nil }
        #expect(try log.shadow.current() == nil)
        #expect(try log.withView { $0.storedNames[Name(ProfileProjection.name)] } != nil)
        #expect(try await service.stop() == 0)
    }

    @Test("States of a newer program stay")
    func newer() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let log = try fill(folder, revision: ProfileProjection.revision + 1)
        #expect(try log.shadow.projections(withStatesOf: .olderPrograms) == [])
        let service = try await Service(in: folder)
        #expect(try await service.get("/v1/stats").json.at("outdated_states") == .array(["profile"]))
        #expect(try await service.stop() == 0)
        #expect(service.messages.contains("states of a newer program are not used"))
        let tables = log.environment.tables
        #expect(try log.environment.withReadTransaction { try Generations.read(tables, $0) } == Generations())
    }
}
