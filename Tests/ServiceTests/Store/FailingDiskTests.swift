import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

/// The service on a disk that fails at a chosen write or sync: its answers, and the content of the store afterwards.
@Suite("A disk that fails under the service")
struct FailingDiskTests {
    private let path = "/v1/log/event"
    private let body = #"{"user":"ana","name":"played"}"#
    private let key = ["Idempotency-Key": "the one"]

    /// Runs `body` in a new folder with a compiled fault library.
    private func withFaults(_ body: (TemporaryFolder, FaultyDisk) async throws -> Void) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        try await body(folder, FaultyDisk(in: folder))
    }

    /// The calls of a new store's opening, and those of its first append.
    private func countedCalls(_ disk: FaultyDisk) async throws -> (opening: [String], work: [String]) {
        let calls = try await disk.calls { (service) async throws in
            #expect(try await service.post(path, body, headers: key).status == 200)
        }
        try #require(calls.work.count >= 2, "\(calls)")
        return calls
    }

    @Test("A full disk is 507 with a remedy; nothing was stored, and with space again the same request is taken")
    func diskFull() async throws {
        try await withFaults { folder, disk in
            let opening = try await countedCalls(disk).opening.count
            let service = try await Service(in: folder, environment: disk.environment("enospc:\(opening + 1)"))
            let refused = try await service.post(path, body, headers: key)
            #expect(refused.status == 507)
            #expect(refused.json.at("code") == "disk_full")
            #expect(refused.json.at("error").text.contains("nothing of this append was stored"))
            #expect(refused.json.at("remedy").text.contains("Free some space"))
            #expect(try await service.get("/v1/stats").json.at("events") == 0)
            #expect(try await service.get("/v1/profile?user=ana").status == 404)
            #expect(try await service.get("/health").status == 200)

            let taken = try await service.post(path, body, headers: key)
            #expect(taken.status == 200)
            #expect(taken.json.at("repeated") == false)
            #expect(taken.json.at("position") == 2)
            #expect(try await service.stop() == 0)
        }
    }

    @Test("While the disk stays full, every write is 507 and every read is answered")
    func diskStaysFull() async throws {
        try await withFaults { folder, disk in
            let calls = try await countedCalls(disk)
            // The first append goes through, and from then on nothing.
            let fault = "enospc-from:\(calls.opening.count + calls.work.count + 1)"
            let service = try await Service(in: folder, environment: disk.environment(fault))
            #expect(try await service.post(path, body).status == 200)
            for write in [
                (path, body), ("/v1/save/event", #"{"name":"x"}"#), ("/v1/launch", "{}"),
                ("/v1/log/attributes", #"{"user":"ana","attributes":{"a":1}}"#),
            ] {
                let refused = try await service.post(write.0, write.1)
                #expect(refused.status == 507, "\(write.0)")
                #expect(refused.json.at("code") == "disk_full")
            }
            let profile = try await service.get("/v1/profile?user=ana").json
            #expect(profile.at("custom_events.0.count") == 1)
            #expect(try await service.get("/v1/stats").json.at("events") == 2)
            // The caches cannot be written at the stop; the log needs no more.
            #expect(try await service.stop() == 0)
        }
    }

    @Test(
        "A failed sync is 503 outcome_unknown, nothing more is taken, and after a restart the same key stores it once",
        arguments: ["eio", "eio-from"])
    func outcomeUnknown(fault: String) async throws {
        try await withFaults { folder, disk in
            let calls = try await countedCalls(disk)
            let sync = try #require(calls.work.firstIndex(of: "fdatasync"), "\(calls.work)")
            let call = calls.opening.count + sync + 1
            let service = try await Service(in: folder, environment: disk.environment("\(fault):\(call)"))
            #expect(try await service.get("/health").status == 200)
            let unknown = try await service.post(path, body, headers: key)
            #expect(unknown.status == 503)
            #expect(unknown.json.at("code") == "outcome_unknown")
            #expect(unknown.json.at("error").text.contains("is unknown"))
            #expect(unknown.json.at("remedy").text.contains("same idempotency key"))
            #expect(unknown.headers["etag"] == nil)

            // What the disk holds is unknown: nothing is acknowledged until the store is opened again.
            for retry in [key, [:]] {
                let closed = try await service.post(path, body, headers: retry)
                #expect(closed.status == 503)
                #expect(closed.json.at("code") == "closed_after_failure")
            }
            #expect(try await service.post("/v1/launch", "{}").status == 503)
            #expect(try await service.get("/health").status == 503)
            _ = try await service.stop()

            let restarted = try await Service(in: folder)
            #expect(try await restarted.get("/health").status == 200)
            let before = try await restarted.get("/v1/stats").json.at("events")
            let answer = try await restarted.post(path, body, headers: key)
            #expect(answer.status == 200)
            #expect(answer.json.at("repeated") == .bool(before != 0))
            #expect(answer.json.at("position") == 2)
            let profile = try await restarted.get("/v1/profile?user=ana").json
            #expect(profile.at("custom_events.0.count") == 1)
            #expect(try await restarted.get("/v1/stats").json.at("events") == 2)
            #expect(try await restarted.stop() == 0)
        }
    }

    @Test("After a failed meta write reads and metrics go on, readiness fails, and the end tells the true position")
    func metaWrite() async throws {
        try await withFaults { folder, disk in
            let calls = try await countedCalls(disk)
            // LMDB writes its meta page last.
            let meta = try #require(calls.work.lastIndex(of: "pwrite"), "\(calls.work)")
            let before = calls.opening.count + calls.work.count
            let service = try await Service(in: folder, environment: disk.environment("eio:\(before + meta + 1)"))
            #expect(try await service.post(path, body).status == 200)
            #expect(try await service.post(path, body, headers: key).status == 503)
            for _ in 0..<2 {
                #expect(try await service.post(path, body).status == 503)
                #expect(try await service.get("/v1/profile?user=ana").json.at("custom_events.0.count") == 1)
                #expect(try await service.get("/health/ready").status == 503)
                let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
                #expect(metrics.contains("\nprofilelog_last_position 2\n"))
            }
            #expect(try await service.stop() == 0)
            #expect(service.messages.contains("last_position=2 "), "\(service.messages)")
        }
    }

    @Test(
        "A reset whose fixtures meet a failing disk leaves the store sound, and nothing of the one that it began",
        arguments: [("enospc", 507, "disk_full"), ("eio", 503, "outcome_unknown")])
    func failedReset(fault: String, status: Int, code: String) async throws {
        try await withFaults { folder, disk in
            let facts = folder.file("facts.jsonl")
            try Data(#"{"kind":"custom_event","user":"jane","name":"won"}"#.utf8).write(to: facts)
            let arguments = ["--ephemeral", "--fixtures", facts.path]
            let opening = try await disk.calls(arguments, of: { _ in }).opening
            // The reset does what the start did, and the fixtures come last.
            let sync = try #require(opening.lastIndex(of: "fdatasync"), "\(opening)")
            let service = try await Service(
                in: folder, arguments: arguments,
                environment: disk.environment("\(fault):\(opening.count + sync + 1)"))
            let store = try await service.get("/").json.at("store").text
            func stores() throws -> [String] {
                let parent = URL(fileURLWithPath: store).deletingLastPathComponent().path
                return try FileManager.default.contentsOfDirectory(atPath: parent).filter { $0.hasPrefix("store-") }
            }
            let failed = try await service.post("/v1/reset", #"{"fixtures":true}"#)
            #expect(failed.status == status)
            #expect(failed.json.at("code").text == code)
            #expect(try stores() == ["store-1"])
            #expect(try await service.get("/health").status == 200)
            #expect(try await service.post(path, body).status == 200)
            #expect(try await service.post("/v1/reset", #"{"fixtures":true}"#).status == 200)
            #expect(try stores() == ["store-3"])
            #expect(try await service.stop() == 0)
        }
    }

    @Test("After a reset the service is healthy, also if writes of the failed store are answered later")
    func resetBehindFailure() async throws {
        try await withFaults { folder, disk in
            let calls = try await disk.calls(["--ephemeral"]) { (service) async throws in
                #expect(try await service.post(path, body).status == 200)
            }
            let sync = try #require(calls.work.firstIndex(of: "fdatasync"), "\(calls)")
            let service = try await Service(
                in: folder, arguments: ["--ephemeral"],
                environment: disk.environment("eio:\(calls.opening.count + sync + 1)"))
            #expect(try await service.post(path, body).status == 503)
            #expect(try await service.get("/health").status == 503)
            // They take long, so many of them wait for a thread when the reset comes.
            let values = (0..<10).map { #""a\#($0)":"\#(String(repeating: "x", count: 200))""# }.joined(separator: ",")
            let objects = (0..<75).map { #"{"external_id":"u\#($0)",\#(values)}"# }.joined(separator: ",")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<24 {
                    group.addTask { _ = try await service.post("/users/track", #"{"attributes":[\#(objects)]}"#) }
                }
                try await Task.sleep(for: .milliseconds(300))
                #expect(try await service.post("/v1/reset", "").status == 200)
                try await group.waitForAll()
            }
            #expect(try await service.get("/health").status == 200)
            #expect(try await service.stop() == 0)
        }
    }
}
