import Foundation
import ProfileLog
import ProfileLogAPI
import Testing

/// The service on a disk that fails at a chosen write or sync: what it answers, and what is in the store afterwards.
@Suite(
    "A disk that fails under the service",
    .enabled(if: FaultyDisk.compiler != nil, "There is no C compiler (cc) to build Tests/faults/fault.c with."))
struct FailingDiskTests {
    private let path = "/v1/log/event"
    private let body = #"{"user":"ana","name":"played"}"#
    private let key = ["Idempotency-Key": "the one"]

    /// Runs `body` in a new folder with a compiled fault library.
    private func withFaults(_ body: (URL, FaultyDisk) async throws -> Void) async throws {
        let folder = try Service.newFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
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
            try checkStore(service.store)
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
            try checkStore(service.store)
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

            // Nobody can say what the disk holds: nothing is acknowledged until somebody looks again.
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
            try checkStore(restarted.store)
        }
    }
}
