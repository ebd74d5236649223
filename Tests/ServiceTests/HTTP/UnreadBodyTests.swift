import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

@Suite("Bodies that are not read")
struct UnreadBodyTests {
    /// The first line of a request whose body is not read, more headers, and the status of its answer.
    static let requests: [(line: String, headers: String, status: Int)] = [
        ("POST /v1/nothing", "", 404), ("POST /v1/stats", "", 405), ("GET /v1/stats", "", 200), ("GET /", "", 200),
        ("HEAD /v1/stats", "", 200), ("POST /users/track", "Content-Encoding: br\r\n", 415),
        ("POST /users/track", "Origin: http://elsewhere\r\n", 403), ("OPTIONS /users/track", "", 204),
    ]

    @Test("The answer to an unread body comes at once, and the connection ends if the body does not")
    func drips() async throws {
        try await withService(arguments: ["--body-timeout", "1"]) { service in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for request in Self.requests {
                    for length in ["Content-Length: 4000000", "Transfer-Encoding: chunked"] {
                        let connection = try RawConnection(service)
                        connection.send("\(request.line) HTTP/1.1\r\nHost: x\r\n\(request.headers)\(length)\r\n\r\n")
                        if length.hasPrefix("Transfer") { connection.send("100000\r\n") }
                        let answer = connection.read(until: "\r\n\r\n")
                        #expect(answer.hasPrefix("HTTP/1.1 \(request.status) "), "\(answer)")
                        group.addTask {
                            let isClosed = try await connection.dripsUntilClosed()
                            #expect(isClosed, "\(request.line) \(length)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("A body that is longer than any body may be ends the connection")
    func endless() async throws {
        try await withService(arguments: ["--body-timeout", "60"]) { service in
            let connection = try RawConnection(service)
            connection.send("POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: \(1 << 40)\r\n\r\n")
            #expect(connection.read(until: "unknown_path").hasPrefix("HTTP/1.1 404 "))
            #expect(connection.takes(atMost: 64 << 20) < 64 << 20)
        }
    }

    @Test("Answers that the client does not take end the connection, and other clients are served")
    func unreadAnswers() async throws {
        try await withService(arguments: ["--body-timeout", "1"]) { service in
            let connection = try RawConnection(service)
            #expect(connection.sendsUntilClosed("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"))
            #expect(try await service.get("/v1/stats").status == 200)
        }
    }

    @Test("A client that takes a long answer slowly gets all of it")
    func slowReader() async throws {
        // The answer takes longer than the service waits for each part of it.
        try await withService(arguments: ["--body-timeout", "8"]) { service in
            let list =
                "[" + Array(repeating: "\"\(String(repeating: "v", count: 200))\"", count: 400).joined(separator: ",")
            let fields = (0..<5).map { "\"f\($0)\":{\"l\":\(list)]}" }.joined(separator: ",")
            var ids: [String] = []
            for user in 0..<40 {
                ids.append("\"u\(user)\"")
                let body = "{\"attributes\":[{\"external_id\":\"u\(user)\",\(fields)}]}"
                #expect(try await service.post("/users/track", body).status == 201)
            }
            let connection = try RawConnection(service)
            connection.post(
                "/users/export/ids", "{\"external_ids\":[\(ids.joined(separator: ","))]}",
                headers: "Connection: close\r\n")
            let read = await connection.readSlowly()
            let answer = try #require(read)
            let length = try #require(answer.firstMatch(of: /Content-Length: (\d+)/))
            #expect(answer.hasSuffix("}") && answer.utf8.count > Int(length.1) ?? .max)
        }
    }

    @Test("A body that comes in time is skipped, and the connection goes on")
    func goesOn() async throws {
        try await withService { service in
            let connection = try RawConnection(service)
            connection.post("/v1/nothing", "", length: 8)
            #expect(connection.read(until: "unknown_path").hasPrefix("HTTP/1.1 404 "))
            connection.send(#"{"a": 1}"#)
            connection.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(connection.read(until: #"{"status":"ok"}"#).hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("An answer after which the connection ends says so")
    func says() async throws {
        try await withService(arguments: ["--body-timeout", "1"]) { service in
            for (isHalf, status) in [(false, 408), (true, 400)] {
                let connection = try RawConnection(service)
                connection.post("/v1/log/event", "{", length: 9)
                if isHalf { connection.finish() }
                let answer = try #require(connection.readToEnd())
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
                #expect(answer.contains("\r\nConnection: close\r\n"))
            }
        }
    }
}
