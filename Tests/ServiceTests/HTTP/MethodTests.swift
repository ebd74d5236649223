import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

@Suite("Methods and the forms of bodies")
struct MethodTests {
    private static let track = #"{"events":[{"external_id":"u","name":"n","time":"2026-01-01T00:00:00Z"}]}"#

    @Test("HEAD answers with the headers of GET and no body")
    func head() async throws {
        try await withService { (service) async throws in
            for path in ["/", "/health/live", "/openapi.json", "/v1/users", "/events/list", "/v1/nothing"] {
                let (get, head) = (try await service.get(path), try await service.send("HEAD", path))
                #expect(head.status == get.status, "\(path)")
                #expect(head.body.isEmpty)
                #expect(head.headers["content-type"] == get.headers["content-type"])
            }
            let raw = try RawConnection(service)
            raw.send("HEAD /v1/users HTTP/1.1\r\nHost: x\r\n\r\nGET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            let answers = raw.read(until: #"{"status":"ok"}"#)
            let length = try await service.get("/v1/users").body.count
            #expect(answers.lowercased().contains("content-length: \(length)\r\n"))
            #expect(answers.hasSuffix(#"{"status":"ok"}"#))
            let stream = try await service.send("HEAD", "/v1/events", headers: ["Accept": "text/event-stream"])
            #expect(stream.status == 200)
        }
    }

    @Test("A path of the service itself says which methods it knows, and so does OPTIONS anywhere")
    func allowed() async throws {
        try await withService { (service) async throws in
            for path in ["/health/live", "/metrics", "/"] {
                let answer = try await service.post(path, "{}")
                #expect(answer.status == 405, "\(path)")
                #expect(answer.headers["allow"] == "GET, HEAD")
                #expect(answer.json.at("code") == "wrong_method")
            }
            for (path, allow) in [
                ("/health", "GET, HEAD, OPTIONS"), ("/v1/users", "GET, HEAD, OPTIONS"),
                ("/users/track", "POST, OPTIONS"), ("/v1/devices/d", "GET, HEAD, OPTIONS"),
            ] {
                let answer = try await service.send("OPTIONS", path)
                #expect(answer.status == 204 && answer.body.isEmpty, "\(path)")
                #expect(answer.headers["allow"] == allow)
            }
        }
    }

    @Test("A mark before the JSON is passed over; a body with brotli and a form are refused with a hint")
    func forms() async throws {
        try await withService { (service) async throws in
            let marked: [UInt8] = [0xEF, 0xBB, 0xBF] + Self.track.utf8
            #expect(try await service.send("POST", "/users/track", body: marked).status == 201)
            let brotli = try await service.post("/users/track", Self.track, headers: ["Content-Encoding": "br"])
            #expect(brotli.status == 415)
            #expect(brotli.json.at("code") == "unsupported_encoding")
            #expect(brotli.json.at("message").text.contains("compressed"))
            let raw = try RawConnection(service)
            raw.send("POST /users/track HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
            #expect(raw.read(until: "}").hasPrefix("HTTP/1.1 501 "))
            let plain = try await service.post("/users/track", Self.track, headers: ["Content-Encoding": "identity"])
            #expect(plain.status == 201)
            let form = ["Content-Type": "application/x-www-form-urlencoded"]
            #expect(try await service.post("/users/track", Self.track, headers: form).status == 201)
            let sent = try await service.post("/users/track", "events[][external_id]=u", headers: form)
            #expect(sent.status == 415)
            #expect(sent.json.at("remedy").text.contains("application/json"))
            let native = try await service.post("/v1/log/event", "user=u", headers: form)
            #expect(native.status == 415)
            #expect(native.json.at("error").text.contains("form"))
        }
    }

    @Test("A client that asks before sending the body and is refused gets no further answer, and the connection ends")
    func refusedExpectation() async throws {
        try await withService { (service) async throws in
            let asks = "Host: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
            for (line, status) in [
                ("POST /v1/nothing HTTP/1.1", 404), ("PUT /v1/users HTTP/1.1", 405), ("POST /health HTTP/1.1", 405),
            ] {
                let connection = try RawConnection(service)
                connection.send("\(line)\r\n\(asks)")
                connection.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
                let answers = try #require(connection.readToEnd(), "\(line)")
                #expect(answers.hasPrefix("HTTP/1.1 \(status) "), "\(line)")
                #expect(answers.lowercased().contains("connection: close\r\n"))
                #expect(answers.components(separatedBy: "HTTP/1.1 ").count == 2)
            }
        }
    }

    @Test("A request that says it is one of many is marked in the log")
    func bulk() async throws {
        try await withService(arguments: ["--log-level", "info"]) { (service) async throws in
            _ = try await service.post("/users/track", Self.track, headers: ["X-Request-Id": "plain"])
            _ = try await service.post(
                "/users/track", Self.track, headers: ["X-Request-Id": "marked", "X-Braze-Bulk": "true"])
            let lines = service.messages.split(separator: "\n")
            #expect(lines.contains { $0.contains("id=marked") && $0.contains("bulk=true") })
            #expect(!lines.contains { $0.contains("id=plain") && $0.contains("bulk=") })
        }
    }
}
