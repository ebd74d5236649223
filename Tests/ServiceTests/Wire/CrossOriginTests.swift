import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("Pages of other origins")
struct CrossOriginTests {
    private static let origin = "https://app.example"
    private static let event = #"{"user":"ana","name":"opened"}"#

    /// The head of the answer to a request with these headers, in small letters.
    private func head(_ service: Service, _ line: String, _ headers: String, body: String = "") throws -> String {
        let connection = try RawConnection(service)
        connection.send(
            "\(line) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\(headers)"
                + "\r\n\(body)")
        let answer = try #require(connection.readToEnd())
        return answer.components(separatedBy: "\r\n\r\n")[0].lowercased()
    }

    /// A service that needs a key, with the header that has one.
    private func closedService(_ arguments: [String]) async throws -> (service: Service, key: String) {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let made = try await run(
            ["keys", "add", "--store", "store", "--name", "page", "--permissions", "v1.read,v1.write"], in: folder)
        #expect(made.code == 0, "\(made.errors)")
        let key = "Authorization: Bearer \(made.output.trimmingCharacters(in: .newlines))\r\n"
        return (try await Service(in: folder, arguments: arguments), key)
    }

    @Test("A browser's question before a request is answered without a key, for the origins of the list alone")
    func preflight() async throws {
        let (service, _) = try await closedService(["--cors", Self.origin, "--cors", "http://localhost:3000"])
        for (path, methods) in [
            ("/v1/log/event", "post"), ("/users/track", "post"), ("/v1/profile", "get"), ("/health", "get"),
        ] {
            for origin in [Self.origin, "http://localhost:3000"] {
                let answer = try head(
                    service, "OPTIONS \(path)",
                    "Origin: \(origin)\r\nAccess-Control-Request-Method: POST\r\n"
                        + "Access-Control-Request-Headers: authorization, content-type\r\n")
                #expect(answer.hasPrefix("http/1.1 204 "), "\(path)")
                #expect(answer.contains("access-control-allow-origin: \(origin)\r\n"), "\(answer)")
                #expect(answer.contains("access-control-allow-methods: \(methods)"), "\(answer)")
                #expect(answer.contains("access-control-allow-headers: authorization, "))
                #expect(answer.contains("access-control-max-age: "))
            }
            for origin in [
                "https://app.example.evil.example", "http://app.example", "https://app.example:8443", "null",
                "https://APP.example", "https://app.example/",
            ] {
                let answer = try head(
                    service, "OPTIONS \(path)", "Origin: \(origin)\r\nAccess-Control-Request-Method: POST\r\n")
                #expect(
                    answer.hasPrefix("http/1.1 204 ") && !answer.contains("access-control-"), "\(origin)\n\(answer)")
                #expect(answer.contains("vary: origin"), "\(origin)")
            }
        }
        #expect(try await service.stop() == 0)
    }

    @Test("A page of the list writes and reads with a key, and another one does not write")
    func requests() async throws {
        let (service, key) = try await closedService(["--cors", Self.origin])
        let listed = "Origin: \(Self.origin)\r\n"
        let allowed = "access-control-allow-origin: \(Self.origin)"
        for (headers, status) in [(listed, 401), (listed + key, 200)] {
            let answer = try head(service, "POST /v1/log/event", headers, body: Self.event)
            #expect(answer.hasPrefix("http/1.1 \(status) "), "\(answer)")
            #expect(answer.contains(allowed) && answer.contains("vary: origin"), "\(answer)")
            #expect(answer.contains("access-control-expose-headers: etag, "), "\(answer)")
        }
        let unknown = try head(service, "GET /v1/nothing", listed + key)
        #expect(unknown.hasPrefix("http/1.1 404 ") && unknown.contains(allowed))
        for origin in ["https://evil.example", "null", "https://app.example.evil.example"] {
            let refused = try head(service, "POST /v1/log/event", "Origin: \(origin)\r\n\(key)", body: Self.event)
            #expect(refused.hasPrefix("http/1.1 403 ") && !refused.contains("access-control-"), "\(refused)")
            let read = try head(service, "GET /v1/profile?user=ana", "Origin: \(origin)\r\n\(key)")
            #expect(read.hasPrefix("http/1.1 200 ") && !read.contains("access-control-"), "\(read)")
            #expect(read.contains("vary: origin"))
        }
        #expect(try await service.stop() == 0)
    }

    @Test("A page of the list never sends what a browser adds by itself")
    func credentials() async throws {
        try await withService(arguments: ["--cors", Self.origin]) { service in
            for line in ["OPTIONS /v1/log/event", "POST /v1/log/event", "GET /v1/events", "GET /health"] {
                let body = line.hasPrefix("POST") ? Self.event : ""
                let answer = try head(
                    service, line, "Origin: \(Self.origin)\r\nAccess-Control-Request-Method: POST\r\n", body: body)
                #expect(answer.contains("access-control-allow-origin"), "\(line)")
                #expect(!answer.contains("allow-credentials") && !answer.contains("allow-origin: *"), "\(line)")
            }
        }
    }

    @Test("A packed answer for a page of the list depends on both headers")
    func vary() async throws {
        try await withService(arguments: ["--cors", Self.origin]) { service in
            let answer = try head(service, "GET /openapi.json", "Origin: \(Self.origin)\r\nAccept-Encoding: gzip\r\n")
            #expect(answer.contains("vary: origin, accept-encoding"), "\(answer)")
        }
    }

    @Test("A service without a list says nothing about origins")
    func none() async throws {
        try await withService { service in
            let answer = try head(
                service, "OPTIONS /v1/log/event", "Origin: \(Self.origin)\r\nAccess-Control-Request-Method: POST\r\n")
            #expect(answer.hasPrefix("http/1.1 204 "))
            #expect(!answer.contains("access-control-") && !answer.contains("vary"), "\(answer)")
        }
    }

    @Test(
        "What is no origin of a page is refused",
        arguments: [
            "*", "null", "app.example", "https://app.example/path", "https://a@app.example", "ftp://app.example",
            "https://app.example?x", "https://*.example",
        ])
    func refused(word: String) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let flag = try await run(["--store", "store", "--port", "0", "--cors", word], in: folder)
        #expect(flag.code == 64, "\(flag.errors)")
        try "cors:\n  - \(Self.origin)\n  - \"\(word)\"\n".write(
            to: folder.file("profiled.yaml"), atomically: true, encoding: .utf8)
        let file = try await run(["config", "check", "--config", "profiled.yaml"], in: folder)
        #expect(file.code == 1)
        #expect(file.errors.contains("line 3, column 5: `cors[1]` must be an origin"), "\(file.errors)")
    }

    @Test("SIGHUP takes another list")
    func reload() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let file = folder.file("profiled.yaml")
        try "cors: https://old.example\n".write(to: file, atomically: true, encoding: .utf8)
        let service = try await Service(in: folder, arguments: ["--config", file.path])
        func allows(_ origin: String) throws -> Bool {
            try head(service, "GET /health", "Origin: \(origin)\r\n").contains("access-control-allow-origin: \(origin)")
        }
        #expect(try allows("https://old.example"))
        try "cors: [https://new.example]\n".write(to: file, atomically: true, encoding: .utf8)
        service.signal(SIGHUP)
        try await waitUntil { try allows("https://new.example") }
        #expect(try allows("https://new.example"))
        #expect(try !allows("https://old.example"))
        #expect(try await service.stop() == 0)
    }
}
