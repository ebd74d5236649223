import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

@Suite("The backup of the service")
struct BackupTests {
    /// The metrics, as soon as they have `line`.
    private func metrics(_ service: Service, with line: String) async throws -> String {
        var text = ""
        for _ in 0..<3_000 {
            text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
            if text.contains(line) { return text }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("the metrics never have \(line): \(text)")
        return text
    }

    @Test("What is stored is in the backup without a command, and what is erased leaves it")
    func standing() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let backup = folder("backup")
        let service = try await Service(in: folder, arguments: ["--backup", backup, "--backup-every", "1s"])
        _ = try await service.post(
            "/v1/log/event", #"{"user":"ana","name":"canary-4711","properties":{"p":"canary-4711"}}"#)
        let text = try await metrics(service, with: "profilelog_backup_last_position 2\n")
        #expect(!text.contains("profilelog_backup_last_success_timestamp_seconds 0\n"))
        #expect(text.contains("# TYPE profilelog_backup_failures_total counter"))
        let answer = try await service.post("/v1/erase", #"{"user":"ana","reason":"asked to"}"#)
        #expect(answer.status == 200)
        let erased = try await metrics(service, with: "profilelog_backup_last_position 3\n")
        #expect(!erased.contains("profilelog_backup_verified_timestamp_seconds 0\n"))
        #expect(try await service.stop() == 0)
        let report = try BackupVerifier(path: backup).verify(absent: ["canary-4711"])
        #expect(report.isSound && report.manifest.position == 3)
        #expect(report.manifest.verified != nil)
        #expect(service.messages.contains("on the file system of the store"))
    }

    @Test("A backup that fails is logged with its next step, counted by its reason, and tried again")
    func failure() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let backup = folder("backup")
        try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: backup + "/notes.txt"))
        let service = try await Service(in: folder, arguments: ["--backup", backup, "--backup-every", "1s"])
        _ = try await metrics(service, with: #"profilelog_backup_failures_total{reason="folder"}"#)
        #expect(service.messages.contains("another program's file notes.txt"))
        #expect(service.messages.contains("Name an empty folder, or one that does not exist yet."))
        try FileManager.default.removeItem(atPath: backup + "/notes.txt")
        _ = try await service.post("/v1/log/event", #"{"user":"ana","name":"played"}"#)
        _ = try await metrics(service, with: "profilelog_backup_last_position 2\n")
        #expect(try await service.stop() == 0)
    }

    @Test("Without --backup there is no metric of one, and a store for tests has none")
    func none() async throws {
        try await withService { service in
            let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
            #expect(!text.contains("profilelog_backup"))
        }
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let process = try Service.launch(["--ephemeral", "--backup", folder("backup")], in: folder.url)
        #expect(try await Service.exitCode(of: process) == 64)
    }
}
