import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

@Suite("Numbers and messages")
struct MetricsTests {
    /// The samples by name and labels.
    private func samples(_ text: String) -> [String: Double] {
        var samples: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            samples[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
        return samples
    }

    @Test("What was asked and stored is counted, by endpoint and status, without a person's values")
    func counts() async throws {
        try await withService { service in
            for _ in 0..<3 { _ = try await service.post("/v1/log/event", #"{"user":"secret-user","name":"x"}"#) }
            _ = try await service.post("/v1/log/event", #"{"user":"secret-user"}"#)
            _ = try await service.get("/v1/devices/secret-device")
            _ = try await service.get("/secret-path")
            _ = try await service.send("DELETE", "/v1/users")
            _ = try await service.send("PATCH", "/v1/users")
            let answer = try await service.get("/metrics")
            #expect(answer.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(!text.lowercased().contains("secret"))
            let samples = samples(text)
            let log = #"method="POST",endpoint="/v1/log/event""#
            #expect(samples["profiled_requests_total{\(log),status=\"200\"}"] == 3)
            #expect(samples["profiled_requests_total{\(log),status=\"400\"}"] == 1)
            #expect(
                samples[#"profiled_requests_total{method="GET",endpoint="/v1/devices/{device}",status="404"}"#] == 1)
            #expect(samples[#"profiled_requests_total{method="GET",endpoint="unknown",status="404"}"#] == 1)
            #expect(samples[#"profiled_requests_total{method="other",endpoint="/v1/users",status="405"}"#] == 2)
            #expect(samples["profiled_request_seconds_count{\(log)}"] == 4)
            #expect(samples["profiled_request_seconds_bucket{\(log),le=\"+Inf\"}"] == 4)
            #expect(samples["profilelog_appends_total"] == 3)
            #expect(samples["profilelog_events_appended_total"] == 4)
            #expect(samples["profilelog_last_position"] == 4)
            #expect(samples["profilelog_index_lag_events"] == 4)
            #expect(samples["profilelog_writes_waiting"] == 0)
            #expect(samples["profiled_streams_open"] == 0)
            #expect((samples["profilelog_store_bytes"] ?? 0) > 0)
            #expect(samples["profilelog_users"] == 1)
            #expect(samples["profilelog_commit_seconds_count"] == 3)
            #expect((samples["profilelog_commit_seconds_sum"] ?? 0) > 0)
            #expect(samples["profilelog_commit_events_count"] == 3)
            #expect(samples["profilelog_commit_events_sum"] == 4)
            #expect(samples[#"profilelog_commit_events_bucket{le="1.0"}"#] == 2)
            #expect(samples[#"profilelog_commit_events_bucket{le="3.0"}"#] == 3)
            // Each line is a comment or a sample, and each name has one type.
            let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map {
                $0.split(separator: " ")[2]
            }
            #expect(Set(types).count == types.count)
            #expect(samples.count == text.split(separator: "\n").count { !$0.hasPrefix("#") })
        }
    }

    @Test("Each family of metrics has one HELP and one TYPE, right before its samples")
    func families() async throws {
        try await withService { service in
            _ = try await service.post("/v1/log/event", #"{"user":"u","name":"x"}"#)
            let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
            var seen: Set<Substring> = []
            var (helped, family, kind): (Substring, Substring, Substring) = ("", "", "")
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 3)
                if line.hasPrefix("# HELP ") {
                    #expect(words.count == 4 && seen.insert(words[2]).inserted, "\(line)")
                    helped = words[2]
                } else if line.hasPrefix("# TYPE ") {
                    #expect(words[2] == helped, "\(line)")
                    (family, kind) = (words[2], words[3])
                } else {
                    var name = line.prefix { $0 != "{" && $0 != " " }
                    if kind == "histogram", let place = name.lastIndex(of: "_") { name = name[..<place] }
                    #expect(name == family, "\(line)")
                    #expect(kind != "counter" || name.hasSuffix("_total"), "\(line)")
                }
            }
            #expect(seen.count >= 15)
        }
    }

    @Test("Numbers are those of now, and commits are counted over stores that are put in place of each other")
    func now() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            for number in 1...3 {
                _ = try await service.post("/v1/log/event", #"{"user":"u\#(number)","name":"x"}"#)
                let samples = samples(String(decoding: try await service.get("/metrics").body, as: UTF8.self))
                #expect(samples["profilelog_users"] == Double(number))
                #expect(samples["profilelog_last_position"] == Double(2 * number))
            }
            _ = try await service.post("/v1/reset", "")
            _ = try await service.post("/v1/log/event", #"{"user":"u","name":"x"}"#)
            let samples = samples(String(decoding: try await service.get("/metrics").body, as: UTF8.self))
            #expect(samples["profilelog_users"] == 1)
            #expect(samples["profilelog_commit_events_sum"] == 8)
            #expect(samples["profilelog_commit_events_count"] == 4)
        }
    }

    @Test("Health is asked in three ways")
    func health() async throws {
        try await withService { service in
            for path in ["/health", "/health/live", "/health/ready"] {
                let answer = try await service.get(path)
                #expect(answer.status == 200)
                #expect(answer.json.at("status") == "ok")
                #expect(try await service.post(path, "{}").status >= 400)
            }
        }
    }

    @Test("The log is one JSON object a line if it is asked to, with the request's ID and no person's values")
    func jsonLog() async throws {
        try await withService(arguments: ["--log-level", "info", "--log-format", "json"]) { service in
            let headers = ["X-Request-Id": "the-id"]
            _ = try await service.post("/v1/log/event", #"{"user":"secret","name":"secret"}"#, headers: headers)
            _ = try await service.get("/v1/profile?user=secret", headers: ["Authorization": "Bearer secret"])
            let lines = try service.messages.split(separator: "\n").map { try JSON.parse(String($0)) }
            let request = try #require(lines.first { $0.at("id") == "the-id" })
            #expect(request.at("message") == "request")
            #expect(request.at("path") == "/v1/log/event")
            #expect(request.at("status") == 200)
            #expect(request.at("level") == "info")
            #expect(OccurredAt(iso8601: request.at("time").text) != nil)
            #expect(!service.messages.contains("secret"))
        }
    }
}
