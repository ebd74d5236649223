import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("The log as server-sent events")
struct EventStreamTests {
    private static let event = #"{"user":"u","name":"x"}"#

    private func open(_ service: Service, _ query: String = "", headers: String = "") throws -> RawConnection {
        let connection = try RawConnection(service)
        connection.send("GET /v1/events\(query) HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\(headers)\r\n")
        return connection
    }

    /// The `id` lines, in order.
    private func ids(_ text: String) -> [Int] {
        text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("id: ") }.compactMap {
            Int($0.dropFirst(4).prefix { $0 != "-" })
        }
    }

    private func data(_ text: String) throws -> [AttributeValue] {
        try text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("data: ") }.map {
            try JSON.parse(String($0.dropFirst(6)))
        }
    }

    @Test("What is there comes first, then what is written, each as in the list, and a reader goes on where it was")
    func follow() async throws {
        try await withService { service in
            _ = try await service.post("/v1/log/event", Self.event)
            let reader = try open(service)
            let first = reader.read(until: "id: 2-")
            #expect(first.contains("text/event-stream"))
            #expect(first.hasPrefix("HTTP/1.1 200 "))
            for _ in 0..<3 { _ = try await service.post("/v1/log/event", Self.event) }
            let text = first + reader.read(until: "\"position\":5,\"user\":\"u\"")
            #expect(ids(text) == [1, 2, 3, 4, 5])
            let listed = try await service.get("/v1/events").json.at("events")
            #expect(.array(try data(text)) == listed)

            let resumed = try open(service, "?after=0", headers: "Last-Event-ID: 3\r\n")
            #expect(ids(resumed.read(until: "\"position\":5")) == [4, 5])
            let behind = try open(service, "?after=4")
            #expect(ids(behind.read(until: "\"position\":5")) == [5])
        }
    }

    @Test("A filter lets through what it names, and tells how far it has looked")
    func filter() async throws {
        try await withService { service in
            for name in ["a", "b", "a", "b"] {
                _ = try await service.post("/v1/log/event", #"{"user":"u","name":"\#(name)"}"#)
            }
            let text = try open(service, "?name=a").read(until: "id: 5-")
            #expect(try data(text).map { $0.at("name") } == ["a", "a"])
            #expect(ids(text).last == 5)
        }
    }

    @Test("A stream of one user has the events of who was merged into them, and goes on with theirs alone")
    func user() async throws {
        try await withService { service in
            _ = try await service.post("/v1/save/event", #"{"device":"d","name":"early"}"#)
            for user in ["v", "u", "v"] {
                _ = try await service.post("/v1/log/event", #"{"user":"\#(user)","name":"\#(user)"}"#)
            }
            _ = try await service.post("/v1/devices/d/change-user", #"{"user":"u"}"#)
            let reader = try open(service, "?user=u")
            let first = reader.read(until: "\"kind\":\"usersMerged\"")
            for user in ["v", "u"] {
                _ = try await service.post("/v1/log/event", #"{"user":"\#(user)","name":"\#(user) again"}"#)
            }
            let text = first + reader.read(until: "u again\"")
            let names = text.matches(of: /"name":"([^"]*)"/).map { String($0.1) }
            #expect(names == ["early", "u", "u again"], "\(text)")
            #expect(ids(text) == ids(text).sorted())
            let unknown = try open(service, "?user=nobody", headers: "Connection: close\r\n").read()
            #expect(unknown.hasPrefix("HTTP/1.1 404 ") && unknown.contains("unknown_user"))
        }
    }

    @Test(
        "A wrong request is answered as any other",
        arguments: [
            ("?limit=5", "", "limit"), ("?wait_s=5", "", "wait_s"), ("?after=x", "", "after"),
            ("?kind=dance", "", "kind"), ("?reverse=true", "", "reverse"),
            ("", "Last-Event-ID: first\r\n", "Last-Event-ID"),
            ("", "Last-Event-ID: 18446744073709551615\r\n", "Last-Event-ID"),
            ("", "Last-Event-ID: 1\r\n", "Last-Event-ID"), ("?after=1", "", "after"),
        ])
    func wrong(query: String, headers: String, place: String) async throws {
        try await withService { service in
            let text = try open(service, query, headers: headers + "Connection: close\r\n").read()
            #expect(text.hasPrefix("HTTP/1.1 400 "), "\(text)")
            #expect(text.contains("\"place\":\"\(place)\""))
        }
    }

    @Test("Silence is broken by heartbeats, and the end of the service ends the stream")
    func heartbeatAndEnd() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder, arguments: ["--heartbeat", "2", "--idle-timeout", "1"])
        let reader = try open(service)
        #expect(reader.read(until: ": still here\n\n", times: 2).contains("still here"))
        service.signal(SIGTERM)
        #expect(reader.read().hasSuffix("0\r\n\r\n"))
        #expect(try await service.stop() == 0)
    }

    @Test("A reset tells readers that positions begin at 1 again, and ends the stream")
    func reset() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            _ = try await service.post("/v1/log/event", Self.event)
            let reader = try open(service)
            _ = reader.read(until: "id: 2-")
            #expect(try await service.post("/v1/reset", "").status == 200)
            let end = reader.read(until: "0\r\n\r\n")
            #expect(end.contains("event: reset\nid: 0\n"), "\(end)")
        }
    }

    @Test("No more readers than allowed, and a place is free again when one has gone, without a heartbeat")
    func most() async throws {
        let arguments = ["--max-streams", "2", "--heartbeat", "3600", "--log-level", "info"]
        try await withService(arguments: arguments) { service in
            var readers = try [open(service), open(service)]
            for reader in readers { _ = reader.read(until: "events follow") }
            let refused = try open(service).read(until: "too_many_streams")
            #expect(refused.hasPrefix("HTTP/1.1 503 "))
            #expect(refused.contains("Retry-After: 5"))
            #expect(try await service.get("/v1/events").status == 200)
            #expect(service.messages.contains("status=503") && service.messages.contains("code=too_many_streams"))
            readers.removeLast()
            var answer = ""
            for _ in 0..<500 where !answer.contains("events follow") {
                try await Task.sleep(for: .milliseconds(20))
                answer = try open(service).read { $0.contains("events follow") || $0.contains("too_many_streams") }
            }
            #expect(answer.contains("events follow"))
            readers = []
            try await waitUntil { try await streamsOpen(service) == 0 }
            #expect(try await streamsOpen(service) == 0)
        }
    }

    /// The streams that the service counts as open.
    private func streamsOpen(_ service: Service) async throws -> Int? {
        let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("profiled_streams_open ") }
        return line.flatMap { Int($0.split(separator: " ")[1]) }
    }

    @Test("A reader who does not read costs the others nothing, and does not delay the end for ever")
    func slowReader() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder)
        let text = String(repeating: "x", count: 200)
        let members = (0..<200).map { #""p\#($0)":"\#(text)""# }.joined(separator: ",")
        let body = #"{"user":"u","name":"large","properties":{\#(members)}}"#
        for _ in 0..<400 { _ = try await service.post("/v1/log/event", body) }
        let slow = try open(service)
        _ = slow.read { $0.contains("events follow") }
        // 17 MB wait for it, which no socket buffers.
        let fast = try open(service, "?after=400")
        #expect(fast.read(until: "\"position\":401,").contains("id: 401-"))
        #expect(try await service.post("/v1/log/event", Self.event).status == 200)
        #expect(try await service.stop() == 0)
        _ = slow
    }

    @Test("A read waits for a position that another request writes, and says so if it does not come")
    func waitFor() async throws {
        try await withService { service in
            _ = try await service.post("/v1/log/event", Self.event)
            async let waiting = service.get("/v1/profile?user=u&wait_for=4&timeout=30")
            for _ in 0..<2 { _ = try await service.post("/v1/log/event", Self.event) }
            #expect(try await waiting.json.at("version") == 4)
            #expect(try await service.get("/v1/history?user=u&wait_for=4").json.at("events").count == 4)
            let never = try await service.get("/v1/profile?user=u&wait_for=5&timeout=0")
            #expect(never.status == 504)
            #expect(never.json.at("code") == "not_reached")
            #expect(never.json.at("actual") == 4)
            for query in ["timeout=1", "wait_for=x", "wait_for=1&timeout=31", "wait_for=1&wait_for=2"] {
                #expect(try await service.get("/v1/stats?\(query)").status == 400, "\(query)")
            }
        }
    }
}
