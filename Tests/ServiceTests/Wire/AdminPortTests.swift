import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("The port for operators")
struct AdminPortTests {
    /// The port, as the service logs it.
    private func adminPort(_ service: Service) async throws -> Int {
        func port() -> Int? {
            let line = service.messages.split(separator: "\n").first { $0.contains("a port of their own") }
            let url = line?.split(separator: " ").first { $0.hasPrefix("url=") }.map { $0.dropFirst(4) }
            return url.flatMap { URL(string: String($0.filter { $0 != "\"" }))?.port }
        }
        try await waitUntil { port() != nil }
        return try #require(port(), "\(service.messages)")
    }

    private func ask(_ port: Int, _ line: String, _ headers: String = "Host: localhost\r\n") throws -> String {
        let connection = try RawConnection(port: port)
        connection.send("\(line) HTTP/1.1\r\nConnection: close\r\n\(headers)\r\n")
        return try #require(connection.readToEnd())
    }

    @Test("The port for operators has health and metrics without a key, and nothing else")
    func paths() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let made = try await run(["keys", "add", "--store", "store", "--name", "n"], in: folder)
        let key = ["Authorization": "Bearer \(made.output.trimmingCharacters(in: .newlines))"]
        let service = try await Service(in: folder, arguments: ["--admin-port", "0"])
        let port = try await adminPort(service)
        for path in ["/health", "/health/live", "/health/ready", "/metrics"] {
            #expect(try ask(port, "GET \(path)").hasPrefix("HTTP/1.1 200 "), "\(path)")
            #expect(try ask(port, "HEAD \(path)").hasPrefix("HTTP/1.1 200 "), "\(path)")
            #expect(try ask(port, "POST \(path)").hasPrefix("HTTP/1.1 405 "), "\(path)")
        }
        #expect(try ask(port, "GET /metrics").contains("profilelog_last_position 0"))
        for line in [
            "GET /", "GET /openapi.json", "GET /console/", "GET /v1/stats", "POST /v1/log/event", "POST /users/track",
            "OPTIONS /v1/stats", "DELETE /v1/stats", "GET /events/list",
        ] {
            let answer = try ask(port, line)
            #expect(answer.hasPrefix("HTTP/1.1 404 ") && answer.contains("unknown_path"), "\(line)\n\(answer)")
        }
        // The main port: health is there too, and the metrics are not, with or without a key.
        for path in ["/health", "/health/live", "/health/ready"] {
            #expect(try await service.get(path).status == 200, "\(path)")
        }
        for headers in [[:], key] {
            let metrics = try await service.get("/metrics", headers: headers)
            #expect(metrics.status == 404)
            #expect(metrics.json.at("error").text.contains("--admin-port"), "\(metrics.json.json)")
        }
        for path in ["/", "/openapi.json"] {
            let list = String(decoding: try await service.get(path, headers: key).body, as: UTF8.self)
            #expect(list.contains("/health/ready") && !list.contains("\"/metrics\""), "\(path)")
        }
        #expect(try await service.stop() == 0)
    }

    @Test("Without a port for operators the metrics are at the main port")
    func none() async throws {
        try await withService { service in
            let answer = try await service.get("/metrics")
            #expect(answer.status == 200)
        }
    }

    @Test("A page that came to the port for operators by another name is refused")
    func rebinding() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        // With keys too, as this port asks for none.
        let made = try await run(["keys", "add", "--store", "store", "--name", "n"], in: folder)
        #expect(made.code == 0)
        let service = try await Service(in: folder, arguments: ["--admin-port", "0"])
        let port = try await adminPort(service)
        for (headers, status) in [
            ("Host: evil.example\r\nSec-Fetch-Site: same-origin\r\n", 403), ("Host: evil.example\r\n", 200),
            ("Host: localhost:\(port)\r\nSec-Fetch-Site: none\r\n", 200),
            ("Host: 127.0.0.1:\(port)\r\nSec-Fetch-Site: none\r\n", 200),
        ] {
            let answer = try ask(port, "GET /metrics", headers)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(headers)\n\(answer.prefix(200))")
        }
        #expect(try await service.stop() == 0)
    }

    @Test("The port for operators answers while all connections of the main port work")
    func busy() async throws {
        try await withService(arguments: ["--admin-port", "0", "--max-connections", "8"]) { service in
            let port = try await adminPort(service)
            var streams: [RawConnection] = []
            for _ in 0..<8 {
                let stream = try RawConnection(service)
                stream.send("GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
                _ = stream.read(until: "\r\n\r\n")
                streams.append(stream)
            }
            #expect(try ask(port, "GET /health").hasPrefix("HTTP/1.1 200 "))
            #expect(try ask(port, "GET /metrics").contains("profiled_streams_open 8"))
            withExtendedLifetime(streams) {}
        }
    }

    @Test("A port for operators that is in use is named by its flag")
    func inUse() async throws {
        try await withService { service in
            let folder = try TemporaryFolder.made(prefix: "profiled")
            let refused = try await run(
                ["--store", "store", "--port", "0", "--admin-port", "\(service.port)"], in: folder)
            #expect(refused.code == 1)
            #expect(refused.errors.contains("Port \(service.port) on 127.0.0.1 is in use."), "\(refused.errors)")
            #expect(refused.errors.contains("--admin-port"), "\(refused.errors)")
        }
    }

    @Test("A port for operators that other machines reach is told at the start")
    func open() async throws {
        try await withService(arguments: ["--admin-port", "0", "--admin-host", "0.0.0.0"]) { service in
            _ = try await adminPort(service)
            #expect(service.messages.contains("other machines can read the metrics without a key"))
        }
    }
}
