import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("Slow requests in the log")
struct SlowRequestTests {
    /// The lines of slow requests, each as its fields.
    private func slow(_ service: Service) throws -> [AttributeValue] {
        try service.messages.split(separator: "\n").map { try JSON.parse(String($0)) }
            .filter { $0.at("message") == "slow request" }
    }

    @Test("A write that waits for another program is logged with its ID, its phases and no person's values")
    func waits() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let log = try EventLog(path: folder("store"), create: true)
        let service = try await Service(in: folder, arguments: ["--slow-request", "100", "--log-format", "json"])
        _ = try await service.post("/v1/log/event", #"{"user":"secret","name":"secret"}"#)
        let (held, hold) = AsyncStream<Void>.makeStream()
        let released = DispatchSemaphore(value: 0)
        // On a thread of its own: tests share a few, and all may wait for this one.
        let holder = Task {
            try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
                Thread.detachNewThread {
                    ended.resume(
                        with: Result {
                            try log.environment.withWriteTransaction { _ in
                                hold.yield()
                                released.wait()
                            }
                        })
                }
            }
        }
        for await _ in held { break }
        async let write = service.post(
            "/v1/log/event", #"{"user":"secret","name":"secret"}"#, headers: ["X-Request-Id": "the-id"])
        try await waitUntil {
            let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
            return metrics.contains("profilelog_writes_waiting 1\n")
        }
        // It waits already, so it is slow when this is over.
        try await Task.sleep(for: .milliseconds(300))
        released.signal()
        #expect(try await write.status == 200)
        try await holder.value
        try await waitUntil { try slow(service).contains { $0.at("id") == "the-id" } }
        let line = try #require(try slow(service).first { $0.at("id") == "the-id" })
        #expect(line.at("level") == "notice" && line.at("path") == "/v1/log/event" && line.at("status") == 200)
        for phase in ["read", "decide", "wait", "commit", "sync", "other"] {
            #expect(try #require(line.at("\(phase)_ms").asNumber, "\(phase)") >= 0, "\(line.json)")
        }
        let wait = try #require(line.at("wait_ms").asNumber)
        #expect(wait >= 100, "\(line.json)")
        #expect(try #require(line.at("ms").asNumber) >= wait)
        #expect(!service.messages.contains("secret"))
        log.close()
        #expect(try await service.stop() == 0)
    }

    @Test("A request is logged with milliseconds of one decimal")
    func decimals() async throws {
        try await withService(arguments: ["--log-level", "info", "--log-format", "json"]) { service in
            for name in ["a", "b", "c", "d"] {
                #expect(try await service.post("/v1/log/event", #"{"user":"u","name":"\#(name)"}"#).status == 200)
            }
            func times() throws -> [Double] {
                try service.messages.split(separator: "\n").map { try JSON.parse(String($0)) }
                    .filter { $0.at("message") == "request" && $0.at("path") == "/v1/log/event" }
                    .map { try #require($0.at("ms").asNumber) }
            }
            try await waitUntil { try times().count >= 4 }
            #expect(try times().allSatisfy { $0 == ($0 * 10).rounded() / 10 }, "\(service.messages)")
        }
    }

    @Test("A request that only waits for news is not slow")
    func news() async throws {
        try await withService(arguments: ["--slow-request", "1500", "--log-format", "json"]) { service in
            let answer = try await service.get("/v1/events?after=0&wait_s=3")
            #expect(answer.status == 200)
            #expect(try slow(service).allSatisfy { $0.at("path") != "/v1/events" }, "\(service.messages)")
        }
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let refused = try await run(["--slow-request", "soon"], in: folder)
        #expect(refused.code == 64)
    }
}
