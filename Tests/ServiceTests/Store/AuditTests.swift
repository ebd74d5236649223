import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("The audit of the service")
struct AuditTests {
    /// The last answer of `GET /v1/status`, after a round of the audit has ended.
    private func audited(_ service: Service) async throws -> AttributeValue {
        for _ in 0..<3_000 {
            let status = try await service.get("/v1/status").json
            if status.at("audit.at") != .null { return status }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("no round of the audit has ended")
        return .null
    }

    @Test("A sound store is proven to its end")
    func sound() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        try fill(folder)
        let service = try await Service(in: folder)
        let status = try await audited(service)
        #expect(status.at("audit.position") == status.at("last_position"))
        #expect(status.at("audit.differences") == .array([]))
        #expect(status.at("audit.took_s").asNumber.map { $0 >= 0 } == true, "\(status.json)")
        #expect(try await service.get("/health").json.at("status").text == "ok")
        let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
        #expect(metrics.contains("profilelog_audit_differences 0\n"))
        #expect(try await service.stop() == 0)
    }

    @Test("A difference is named by user and field, degrades the health, and is not repaired")
    func difference() async throws {
        let folder = try TemporaryFolder.made(.damaged, prefix: "profiled")
        let log = try fill(folder)
        let user = try #require(try log.find(.externalID("ana")))
        let key = KeyCoding.snapshot(ProfileProjection.name, user: user.number.rawValue, version: user.version.rawValue)
        let none = SnapshotRow.bytes(
            revision: ProfileProjection.revision, state: ProfileProjection.encode(ProfileProjection.initial))
        try log.environment.withWriteTransaction {
            try $0.put(WritableTable(log.environment.tables[.snapshots]), key, none)
        }
        let service = try await Service(in: folder)
        let difference = try await audited(service).at("audit.differences")
        #expect(difference.at("0.user_number") == 1 && difference.at("0.place").text == "custom event played")
        #expect(difference.at("1") == .null)
        let health = try await service.get("/health/ready")
        #expect(health.status == 200 && health.json.at("status").text == "degraded")
        let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
        #expect(metrics.contains("profilelog_audit_differences 1\n"))
        #expect(try await service.stop() == 0)
        let row = try log.environment.withReadTransaction { transaction -> [UInt8]? in
            try transaction.get(log.environment.tables[.snapshots], key).map(Array.init)
        }
        #expect(row == none)
    }

    /// The store that `Service(in: folder)` opens, with a snapshot of one user.
    @discardableResult
    private func fill(_ folder: TemporaryFolder) throws -> EventLog {
        let path = folder.file("store").path
        let log = try EventLog(path: path, create: true, projections: [ProfileProjection.self])
        for _ in 0..<log.options.snapshotInterval {
            _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: .externalID("ana"))
        }
        try log.writeIndex()
        return log
    }
}
