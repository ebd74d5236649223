import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Degraded health")
struct DegradedTests {
    @Test("A backup that is found damaged degrades the health until it was found sound again")
    func damagedBackup() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let backup = folder("backup")
        let service = try await Service(
            in: folder,
            arguments: ["--backup", backup, "--backup-every", "1s", "--backup-verify-every", "1s"])
        let manifest = URL(filePath: backup + "/manifest.json")
        try await waitUntil { FileManager.default.fileExists(atPath: manifest.path) }
        let sound = try Data(contentsOf: manifest)
        func hasReason() async throws -> Bool {
            let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
            return text.contains("profiled_degraded{reason=\"damaged_backup\"} 1\n")
        }
        try await waitUntil(turns: 1_500) {
            // A run that is on its way may replace it.
            try Data("x".utf8).write(to: manifest)
            return try await hasReason()
        }
        let health = try await service.get("/health")
        #expect(health.status == 200 && health.json.at("status").text == "degraded", "\(health.json.json)")
        #expect(health.json.json.contains("damaged_backup"), "\(health.json.json)")
        try sound.write(to: manifest)
        try await waitUntil(turns: 1_500) { try await !hasReason() }
        #expect(try await !hasReason())
        #expect(try await service.stop() == 0)
    }

    @Test("A backup that fails for three intervals degrades the health, and one that succeeds ends that")
    func backup() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let backup = folder("backup")
        let service = try await Service(in: folder, arguments: ["--backup", backup, "--backup-every", "1s"])
        func metrics() async throws -> String {
            String(decoding: try await service.get("/metrics").body, as: UTF8.self)
        }
        let manifest = URL(filePath: backup + "/manifest.json")
        try await waitUntil { FileManager.default.fileExists(atPath: manifest.path) }
        try await waitUntil { try await service.get("/health").json.at("status").text == "ok" }
        // A file in place of the folder: nothing of it is written over.
        try FileManager.default.moveItem(atPath: backup, toPath: folder("moved"))
        try Data("in the way".utf8).write(to: URL(filePath: backup))
        try await waitUntil(turns: 1_500) { try await service.get("/health").json.at("status").text == "degraded" }
        let health = try await service.get("/health/ready")
        #expect(health.status == 200)
        #expect(health.json.at("reasons.0.reason").text == "backup", "\(health.json.json)")
        #expect(health.json.at("reasons.1") == .null)
        #expect(health.json.at("error") == health.json.at("reasons.0.error"))
        #expect(health.json.at("remedy") == health.json.at("reasons.0.remedy"))
        #expect(!health.json.json.contains(folder.path))
        #expect(try await metrics().contains("profiled_degraded{reason=\"backup\"} 1\n"))
        try FileManager.default.removeItem(atPath: backup)
        try FileManager.default.moveItem(atPath: folder("moved"), toPath: backup)
        try await waitUntil(turns: 1_500) { try await service.get("/health").json.at("status").text == "ok" }
        #expect(try await metrics().contains("profiled_degraded{reason=\"backup\"} 0\n"))
        #expect(try await service.stop() == 0)
    }
}
