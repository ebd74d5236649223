import Foundation
import ProfileLog
import Testing

@Suite("The last request of a connection")
struct LastRequestTests {
    @Test(
        "The connection ends after its answer, which says so",
        arguments: [
            "HTTP/1.0\r\n", "HTTP/1.0\r\nConnection: keep-alive\r\n", "HTTP/1.1\r\nHost: x\r\nConnection: close\r\n",
            "HTTP/1.1\r\nHost: x\r\nCONNECTION: Close\r\n",
            "HTTP/1.1\r\nHost: x\r\nConnection: TE, close\r\nTE: trailers\r\n",
        ])
    func ends(headers: String) async throws {
        try await withService { service in
            let connection = try RawConnection(service)
            connection.send("GET /v1/stats \(headers)\r\n")
            let answer = try #require(connection.readToEnd(), "the connection is still open")
            #expect(answer.hasPrefix("\(headers.prefix(8)) 200 OK\r\n"), "\(answer)")
            #expect(answer.contains("\r\nConnection: close\r\n"))
            #expect(answer.contains("\"events\":0"))

            // With a body, and with an answer that is an error.
            for (body, status) in [(#"{"user":"u","name":"x"}"#, "200"), ("{", "400")] {
                let connection = try RawConnection(service)
                connection.send(
                    "POST /v1/log/event \(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                let answer = try #require(connection.readToEnd(), "the connection is still open")
                #expect(answer.hasPrefix("\(headers.prefix(8)) \(status) "), "\(answer)")
            }
        }
    }

    @Test("HTTP/1.0, which knows no 1xx, gets none")
    func noInvitation() async throws {
        try await withService { service in
            let connection = try RawConnection(service)
            let body = #"{"user":"u","name":"x"}"#
            connection.send(
                "POST /v1/log/event HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
            connection.send(body)
            let answer = try #require(connection.readToEnd())
            #expect(answer.hasPrefix("HTTP/1.0 200 OK\r\n"), "\(answer)")
        }
    }

    @Test("Requests before it are answered, and what is sent after it is not")
    func pipelined() async throws {
        try await withService { service in
            let connection = try RawConnection(service)
            for name in ["a", "b"] { connection.post("/v1/log/event", #"{"user":"u","name":"\#(name)"}"#) }
            connection.post("/v1/log/event", #"{"user":"u","name":"c"}"#, headers: "Connection: close\r\n")
            connection.post("/v1/log/event", #"{"user":"u","name":"d"}"#)
            let answers = try #require(connection.readToEnd(), "the connection is still open")
            #expect(answers.components(separatedBy: "HTTP/1.1 200 OK").count == 4, "\(answers)")
            #expect(answers.components(separatedBy: "Connection: close").count == 2)
            #expect(try await service.get("/v1/stats").json.at("events") == 4)
        }
    }

    @Test("A stream of events to HTTP/1.0 is not in chunks, which that version does not know")
    func stream() async throws {
        try await withService { service in
            _ = try await service.post("/v1/log/event", #"{"user":"u","name":"x"}"#)
            let connection = try RawConnection(service)
            connection.send("GET /v1/events HTTP/1.0\r\nAccept: text/event-stream\r\n\r\n")
            let text = connection.read(until: "\"name\":\"x\"")
            #expect(text.hasPrefix("HTTP/1.0 200 OK\r\n"))
            #expect(!text.lowercased().contains("chunked"))
            let body = try #require(text.components(separatedBy: "\r\n\r\n").last)
            #expect(body.hasPrefix("id: ") || body.hasPrefix("event: ") || body.hasPrefix(":"), "\(body)")
        }
    }
}
