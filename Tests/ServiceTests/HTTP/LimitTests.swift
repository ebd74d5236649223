import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Limits")
struct LimitTests {
    private static let track = #"{"events":[{"external_id":"u","name":"n","time":"2026-01-01T00:00:00Z"}]}"#

    @Test("Without limits no answer speaks of them")
    func none() async throws {
        try await withService { service in
            let answer = try await service.post("/users/track", Self.track)
            #expect(!answer.headers.keys.contains { $0.hasPrefix("x-ratelimit") })
        }
    }

    @Test("Requests beyond the limit are refused with nothing stored, and other endpoints are not concerned")
    func rate() async throws {
        let limits = ["--rate-limit", "3/3600", "--rate-limit", "/v1/devices/{device}/launch=1/3600"]
        try await withService(arguments: limits) { service in
            for remaining in [2, 1, 0] {
                let answer = try await service.post("/users/track", Self.track)
                #expect(answer.status == 201)
                #expect(answer.headers["x-ratelimit-limit"] == "3")
                #expect(answer.headers["x-ratelimit-remaining"] == "\(remaining)")
                let reset = Double(try #require(answer.headers["x-ratelimit-reset"])) ?? 0
                #expect((1...3_700).contains(reset - Date().timeIntervalSince1970))
            }
            let over = try await service.post("/users/track", Self.track)
            #expect(over.status == 429)
            #expect(over.json.at("code") == "rate_limited")
            #expect(over.headers["x-ratelimit-remaining"] == "0")
            #expect(Int(try #require(over.headers["retry-after"])).map { (1...3_600).contains($0) } == true)
            #expect(try await service.post("/users/track/sync", Self.track).status == 201)
            #expect(try await service.post("/v1/devices/a/launch", "{}").status == 200)
            #expect(try await service.post("/v1/devices/b/launch", "{}").status == 429)
            #expect(try await service.get("/v1/history?user=u").json.at("events").count == 5)
        }
    }

    @Test("All limits of a path hold at once, and the headers show the one that is the closest to its end")
    func several() async throws {
        let limits = ["--rate-limit", "3/3600", "--rate-limit", "100/3600", "--rate-limit", "2/1"]
        try await withService(arguments: limits) { service in
            let first = try await service.post("/users/track", Self.track)
            #expect(first.headers["x-ratelimit-limit"] == "2")
            var stored = 1
            for _ in 0..<400 where stored < 3 {
                let answer = try await service.post("/users/track", Self.track)
                if answer.status == 201 { stored += 1 }
                if answer.status == 429 { #expect(answer.headers["x-ratelimit-limit"] == "2") }
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(stored == 3)
            try await Task.sleep(for: .milliseconds(1_100))
            let over = try await service.post("/users/track", Self.track)
            #expect(over.status == 429)
            #expect(over.headers["x-ratelimit-limit"] == "3")
        }
    }

    @Test("Endpoints share a limit that names them")
    func shared() async throws {
        try await withService(arguments: ["--rate-limit", "/events/list,/events=2/3600"]) { service in
            for (path, remaining) in [("/events/list", "1"), ("/events", "0")] {
                let answer = try await service.get(path)
                #expect(answer.status == 200)
                #expect(answer.headers["x-ratelimit-remaining"] == remaining)
            }
            for path in ["/events/list", "/events"] { #expect(try await service.get(path).status == 429) }
            #expect(try await service.get("/custom_attributes").status == 200)
        }
    }

    @Test("Every answer of a path with a limit has its headers; other requests do not count")
    func everyAnswer() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let made = try await run(
            ["keys", "add", "--store", "store", "--name", "n", "--permissions", "v1.read"], in: folder)
        let key = ["Authorization": "Bearer \(made.output.trimmingCharacters(in: .newlines))"]
        let service = try await Service(in: folder, arguments: ["--rate-limit", "3/3600"])
        for (method, status) in [("POST", 403), ("GET", 405), ("DELETE", 405), ("OPTIONS", 204), ("POST", 403)] {
            let body = method == "POST" ? Array(Self.track.utf8) : nil
            let answer = try await service.send(method, "/users/track", body: body, headers: key)
            #expect(answer.status == status)
            #expect(answer.headers["x-ratelimit-limit"] == "3", "\(method)")
            #expect(answer.headers["x-ratelimit-remaining"] == "3", "\(method)")
            #expect(Int(answer.headers["x-ratelimit-reset"] ?? "") != nil, "\(method)")
        }
        let unread = try await service.send(
            "POST", "/users/track", body: Array(Self.track.utf8), headers: ["Content-Encoding": "br"])
        #expect(unread.status == 415)
        #expect(unread.headers["x-ratelimit-limit"] == "")
        #expect(try await service.stop() == 0)
    }

    @Test("The window ends, and then there is room again")
    func window() async throws {
        try await withService(arguments: ["--rate-limit", "1/1"]) { service in
            var statuses: [Int] = []
            for _ in 0..<500 where statuses.count(where: { $0 == 201 }) < 2 {
                statuses.append(try await service.post("/users/track", Self.track).status)
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(statuses.count { $0 == 201 } == 2)
            #expect(Set(statuses).isSubset(of: [201, 429]))
        }
    }

    @Test(
        "Wrong limits end with exit code 64",
        arguments: [
            ["--rate-limit", "3"], ["--rate-limit", "0/3"], ["--rate-limit", "3/0"], ["--rate-limit", "/nothing=1/1"],
            ["--rate-limit", "x/y"], ["--rate-limit", "/events,=1/1"], ["--max-streams", "0"], ["--heartbeat", "0"],
            ["--body-timeout", "-1"],
            ["--idle-timeout", "0"], ["--log-format", "xml"],
        ])
    func wrong(arguments: [String]) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        #expect(try await run(arguments, in: folder).code == 64)
    }

    @Test("Every answer has a request ID: the client's, if it is fit for a log, or a new one")
    func requestID() async throws {
        try await withService(arguments: ["--log-level", "info"]) { service in
            for path in ["/v1/stats", "/v1/nothing", "/health", "/v1/profile", "/metrics"] {
                let answer = try await service.get(path, headers: ["X-Request-Id": "abc-123"])
                #expect(answer.headers["x-request-id"] == "abc-123", "\(path)")
            }
            #expect(service.messages.contains("id=abc-123"))
            var seen: Set<String> = []
            for given in [nil, "two words", "ä", String(repeating: "x", count: 129)] {
                let headers = given.map { ["X-Request-Id": $0] } ?? [:]
                let id = try #require(try await service.get("/v1/stats", headers: headers).headers["x-request-id"])
                #expect(id != given)
                #expect(seen.insert(id).inserted)
            }
        }
    }

    @Test("A body of too many values is refused before it is parsed")
    func tooManyValues() async throws {
        try await withService { service in
            for path in ["/v1/log/event", "/users/track"] {
                let body = #"{"events":[\#(String(repeating: "0,", count: 500_000))0]}"#
                let answer = try await service.post(path, body)
                #expect(answer.status == 413)
                #expect(answer.json.at("code") == "too_large")
            }
            // Commas in text are no values.
            let text = String(repeating: "\\\",[{", count: 10)
            let members = (0..<100).map { #""k\#($0)":"\#(text)""# }.joined(separator: ",")
            let body = #"{"user":"u","name":"x","properties":{\#(members)}}"#
            #expect(try await service.post("/v1/log/event", body).status == 200)
        }
    }
}
