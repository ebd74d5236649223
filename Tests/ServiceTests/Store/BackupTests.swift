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
        for reason in ["disk_full", "missing", "damaged_backup", "damaged_store", "other"] {
            #expect(text.contains("profilelog_backup_failures_total{reason=\"\(reason)\"} 0\n"), "\(reason)")
        }
        #expect(text.contains("profilelog_backup_interval_seconds 1"))
        #expect(text.contains("profilelog_backup_verify_interval_seconds 86400"))
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

    /// The file of settings `name` in the backup; nil if there is none, or while it is replaced.
    private func settings(_ name: String, of backup: String) -> String? {
        guard let reader = try? BackupReader(path: backup),
            let file = reader.manifest.settings.first(where: { $0.name == name })?.file,
            let content = try? reader.content(of: file)
        else { return nil }
        return String(decoding: content, as: UTF8.self)
    }

    @Test("The backup has the configuration that counts: that of the start, then that of each good reload")
    func configuration() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let (backup, file) = (folder("backup"), folder.file("profiled.yaml"))
        func yaml(_ level: String) -> String {
            "# The service of the shop.\nbackup:\n  folder: \(backup)\n  every: 1s\nlog:\n  level: \(level)\n"
        }
        try Data(yaml("notice").utf8).write(to: file)
        let service = try await Service(in: folder, arguments: ["--config", file.path])
        func hasConfiguration(_ level: String) -> Bool { settings("profiled.yaml", of: backup) == yaml(level) }
        try await waitUntil(turns: 3_000) { hasConfiguration("notice") }
        #expect(hasConfiguration("notice"))
        // What was not read again does not count.
        try Data(yaml("info").utf8).write(to: file)
        _ = try await service.post("/v1/log/event", #"{"user":"ana","name":"played"}"#)
        _ = try await metrics(service, with: "profilelog_backup_last_position 2\n")
        #expect(hasConfiguration("notice"))
        service.signal(SIGHUP)
        try await waitUntil(turns: 3_000) { hasConfiguration("info") }
        #expect(hasConfiguration("info"))
        // Nor does one that was refused.
        try Data(yaml("loud").utf8).write(to: file)
        service.signal(SIGHUP)
        try await waitUntil(turns: 3_000) { service.messages.contains("the old one holds") }
        #expect(service.messages.contains("the old one holds"), "\(service.messages)")
        _ = try await service.post("/v1/log/event", #"{"user":"ana","name":"played"}"#)
        _ = try await metrics(service, with: "profilelog_backup_last_position 3\n")
        #expect(hasConfiguration("info"))
        #expect(try await service.stop() == 0)
    }

    @Test("Keys, workspace and configuration of a service come back with a restore, and are good")
    func restoredSettings() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let (backup, file, workspace) = (folder("backup"), folder.file("profiled.yaml"), folder.file("shop.yaml"))
        let yaml = "workspace: \(workspace.path)\nbackup:\n  folder: \(backup)\n  every: 1s\n"
        let segments = "segments:\n  - id: all\n    name: All\n    users: all\n"
        try Data(yaml.utf8).write(to: file)
        try Data(segments.utf8).write(to: workspace)
        let added = try await run(["keys", "add", "--name", "app", "--store", folder("store")], in: folder)
        #expect(added.code == 0, "\(added)")
        let key = added.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let service = try await Service(in: folder, arguments: ["--config", file.path])
        try await waitUntil(turns: 3_000) { settings("profiled.yaml", of: backup) != nil }
        #expect(try await service.stop() == 0)
        // The secret that `keys add` printed is in no byte of it.
        let secret = try #require(key.split(separator: "_").last.map(String.init))
        let report = try BackupVerifier(path: backup).verify(absent: [secret])
        #expect(
            report.isSound
                && report.manifest.settings.map(\.name).sorted() == [
                    "keys.json", "profiled.yaml", "workspace.yaml",
                ])
        let restored = folder("restored")
        let outcome = try await run(
            program: ChildProcess.built("profilecli"), ["restore", backup, "--store", restored], in: folder)
        #expect(outcome.code == 0, "\(outcome)")
        let names = "Settings, in \(restored): keys.json, profiled.yaml, workspace.yaml."
        #expect(outcome.output.contains(names), "\(outcome)")
        #expect(outcome.output.contains("copy profiled.yaml and workspace.yaml to where"), "\(outcome)")
        let contents = try ["profiled.yaml", "workspace.yaml"].map {
            try String(contentsOfFile: restored + "/" + $0, encoding: .utf8)
        }
        #expect(contents == [yaml, segments])
        let before = try Data(contentsOf: folder.file("store/keys.json"))
        #expect(try Data(contentsOf: folder.file("restored/keys.json")) == before)
        let check = try await run(
            [
                "config", "check", "--config", restored + "/profiled.yaml", "--store", restored, "--backup",
                folder("backup-2"),
            ], in: folder)
        #expect(check.code == 0, "\(check)")
    }

    @Test("A backup of a service without a configuration file keeps the one that it has")
    func withoutConfiguration() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let (backup, file) = (folder("backup"), folder.file("profiled.yaml"))
        let yaml = "backup:\n  every: 1s\n"
        try Data(yaml.utf8).write(to: file)
        let first = try await Service(in: folder, arguments: ["--config", file.path, "--backup", backup])
        try await waitUntil(turns: 3_000) { settings("profiled.yaml", of: backup) == yaml }
        #expect(try await first.stop() == 0)
        let second = try await Service(
            in: folder, arguments: ["--config", "/dev/null", "--backup", backup, "--backup-every", "1s"])
        _ = try await second.post("/v1/log/event", #"{"user":"ana","name":"played"}"#)
        _ = try await metrics(second, with: "profilelog_backup_last_position 2\n")
        #expect(settings("profiled.yaml", of: backup) == yaml)
        #expect(try await second.stop() == 0)
    }

    @Test("A backup that fails is logged with its next step, counted by its reason, and tried again")
    func failure() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let backup = folder("backup")
        try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: backup + "/notes.txt"))
        let service = try await Service(in: folder, arguments: ["--backup", backup, "--backup-every", "1s"])
        _ = try await metrics(service, with: #"profilelog_backup_failures_total{reason="folder"} 1"#)
        try await waitUntil { service.messages.contains("another program's file notes.txt") }
        #expect(service.messages.contains("another program's file notes.txt"))
        #expect(service.messages.contains("Name an empty folder, or one that does not exist yet."))
        try FileManager.default.removeItem(atPath: backup + "/notes.txt")
        _ = try await service.post("/v1/log/event", #"{"user":"ana","name":"played"}"#)
        _ = try await metrics(service, with: "profilelog_backup_last_position 2\n")
        #expect(try await service.stop() == 0)
    }

    @Test("Where a backup is expected and none is, the service begins none, and counts a failure")
    func expected() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let backup = folder("backup")
        let service = try await Service(
            in: folder, arguments: ["--backup", backup, "--backup-expect", "--backup-every", "1s"])
        _ = try await metrics(service, with: #"profilelog_backup_failures_total{reason="missing"} 1"#)
        try await waitUntil { service.messages.contains("take --backup-expect") }
        #expect(service.messages.contains("The backup that is expected in \(backup) is not there."))
        #expect(service.messages.contains("take --backup-expect"))
        #expect(!FileManager.default.fileExists(atPath: backup))
        #expect(try await service.stop() == 0)
    }

    @Test("A backup that was there and is gone is not begun again, and goes on when it is back")
    func gone() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let backup = folder("backup")
        let service = try await Service(in: folder, arguments: ["--backup", backup, "--backup-every", "1s"])
        _ = try await service.post("/v1/log/event", #"{"user":"ana","name":"played"}"#)
        _ = try await metrics(service, with: "profilelog_backup_last_position 2\n")
        // As a disk that is not mounted any more: the folder is missing, then empty.
        try FileManager.default.moveItem(atPath: backup, toPath: folder("moved"))
        _ = try await metrics(service, with: #"profilelog_backup_failures_total{reason="missing"} 1"#)
        #expect(!FileManager.default.fileExists(atPath: backup))
        try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: false)
        _ = try await metrics(service, with: #"profilelog_backup_failures_total{reason="missing"} 3"#)
        #expect(try FileManager.default.contentsOfDirectory(atPath: backup) == [])
        try FileManager.default.removeItem(atPath: backup)
        try FileManager.default.moveItem(atPath: folder("moved"), toPath: backup)
        _ = try await service.post("/v1/log/event", #"{"user":"ana","name":"played"}"#)
        _ = try await metrics(service, with: "profilelog_backup_last_position 3\n")
        #expect(try await service.stop() == 0)
    }

    @Test("A store for tests with a backup in the environment or in the file is refused")
    func ephemeral() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let yaml = "ephemeral: true\nport: 0\nbackup:\n  folder: backup\n"
        try Data(yaml.utf8).write(to: folder.file("profiled.yaml"))
        let byFile = try await run(["--config", "profiled.yaml"], in: folder)
        #expect(byFile.code == 1 && byFile.errors.contains("so it has no backup"), "\(byFile.errors)")
        let checked = try await run(["config", "check", "--config", "profiled.yaml"], in: folder)
        #expect(checked.code == 1 && checked.errors.contains("so it has no backup"), "\(checked.errors)")
        let byVariable = try await run(
            ["--port", "0"], in: folder, environment: ["PROFILED_EPHEMERAL": "true", "PROFILED_BACKUP": "backup"])
        #expect(byVariable.code == 1 && byVariable.errors.contains("so it has no backup"), "\(byVariable.errors)")
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
