import Foundation
import ProfileLog
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A store that is overwritten in place, or reached by another path, under the service")
struct OverwrittenStoreTests {
    private static let event = #"{"user":"u","name":"x"}"#

    @Test(
        "Writes are 503 files_changed, readiness fails, and the service ends as usual",
        arguments: ["cp older", "cp newer", "dd", "lock emptied", "data cut"])
    func overwritten(what: String) async throws {
        for _ in 0..<20 {
            let folder = try TemporaryFolder.made(what == "lock emptied" ? .sound : .damaged, prefix: "profiled")
            let service = try await Service(in: folder)
            do {
                return try await overwrite(what, under: service, folder)
            } catch is URLError where what != "dd" {
                // A read of the service itself met the cut: the other promised end (docs/decisions/0012).
                let end = try await service.stop(0)
                try #require(end == 2, "\(service.messages)")
                #expect(service.messages.contains("A page of the store's file is broken"), "\(service.messages)")
            }
        }
        Issue.record("No service met the change between two reads.")
    }

    private func overwrite(_ what: String, under service: Service, _ folder: TemporaryFolder) async throws {
        let (data, lock) = (service.store + "/data.mdb", service.store + "/lock.mdb")
        for _ in 0..<5 { _ = try await service.post("/v1/log/event", Self.event) }
        let backup = folder.file("backup").path
        try FileManager.default.copyItem(atPath: data, toPath: backup)
        if what != "cp newer" {
            for _ in 0..<10 { _ = try await service.post("/v1/log/event", Self.event) }
        } else {
            let other = folder.file("other").path
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: backup, toPath: other + "/data.mdb")
            let made = try ChildProcess(
                ChildProcess.built("profilecli"), ["log", "event", "v", "y", "--store", other], output: .nothing)
            #expect(made.waitForEnd() == 0)
            try FileManager.default.removeItem(atPath: backup)
            try FileManager.default.copyItem(atPath: other + "/data.mdb", toPath: backup)
        }
        #expect(try await service.get("/health/ready").status == 200)
        let script =
            switch what {
            case "dd": "dd if=\(backup) of=\(data) conv=notrunc status=none"
            case "lock emptied": "> \(lock)"
            case "data cut": "truncate -s 8192 \(data)"
            default: "cp \(backup) \(data)"
            }
        #expect(try ChildProcess(URL(filePath: "/bin/sh"), ["-c", script]).waitForEnd() == 0)
        for _ in 0..<2 {
            let refused = try await service.post("/v1/log/event", Self.event)
            #expect(refused.status == 503 && refused.json.at("code") == "files_changed", "\(refused.json)")
            #expect(refused.json.at("error").text.contains("overwritten"), "\(refused.json)")
            let health = try await service.get("/health/ready")
            #expect(health.status == 503 && health.json.at("error").text.contains("overwritten"), "\(health.json)")
            #expect(try await service.get("/health/live").status == 200)
            // What this process knows of the file is wrong.
            let read = try await service.get("/v1/profile?user=u")
            #expect(read.status == 503 && read.json.at("code") == "files_changed", "\(read.json)")
            #expect(try await service.get("/metrics").status == 200)
        }
        let cli = try ChildProcess(
            ChildProcess.built("profilecli"), ["log", "event", "v", "y", "--store", service.store], output: .nothing,
            errors: .file(folder.file("errors")))
        #expect(cli.waitForEnd() == 1)
        let errors = try String(contentsOf: folder.file("errors"), encoding: .utf8)
        #expect(errors.contains("removed or replaced"), "\(errors)")
        #expect(try await service.stop() == 0)
    }

    @Test("The readiness check alone notices it")
    func readiness() async throws {
        let folder = try TemporaryFolder.made(.damaged, prefix: "profiled")
        let service = try await Service(in: folder)
        _ = try await service.post("/v1/log/event", Self.event)
        let (data, backup) = (service.store + "/data.mdb", folder.file("backup").path)
        try FileManager.default.copyItem(atPath: data, toPath: backup)
        for _ in 0..<3 { _ = try await service.post("/v1/log/event", Self.event) }
        #expect(try ChildProcess(URL(filePath: "/bin/cp"), [backup, data]).waitForEnd() == 0)
        #expect(try await service.get("/health/ready").status == 503)
        #expect(try await service.stop() == 0)
    }

    @Test("A command by a link to the data file is refused with one sentence", arguments: ["symbolic", "hard"])
    func otherPath(kind: String) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder)
        _ = try await service.post("/v1/log/event", Self.event)
        let other = folder.file("other").path
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        let (data, link) = (service.store + "/data.mdb", other + "/data.mdb")
        if kind == "hard" {
            try FileManager.default.linkItem(atPath: data, toPath: link)
        } else {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: data)
        }
        for command in [["log", "event", "v", "y"], ["profile", "u"], ["check"], ["compact"]] {
            let said = folder.file("said")
            let cli = try ChildProcess(
                ChildProcess.built("profilecli"), command + ["--store", other], output: .nothing, errors: .file(said))
            #expect(cli.waitForEnd() == 1, "\(command)")
            #expect(try String(contentsOf: said, encoding: .utf8).contains("by another path"), "\(command)")
            #expect(try await service.post("/v1/log/event", Self.event).status == 200)
        }
        #expect(try await service.stop() == 0)
    }
}
