import Foundation
import ProfileLog
import Testing

@Suite("A request that asks for another protocol")
struct UpgradeTests {
    /// As Java's HttpClient, browsers, and proxies ask.
    static let wishes = [
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n",
        "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n", "upgrade: TLS/1.0\r\nconnection: upgrade\r\n",
        "Connection: keep-alive\r\nConnection: Upgrade\r\nUpgrade: a, b\r\n", "Connection: Upgrade\r\nUpgrade:\r\n",
        "Connection: Upgrade\r\n", "Upgrade: h2c\r\n", "Connection: Upgrade \t\r\nUpgrade: x\r\n",
        "Connection: Upgrade\t, x\r\nUpgrade: x\r\n", "Connection: x,\tUpgrade\r\nUpgrade: x\r\n",
        "Connection:\tUpgrade ,x\r\nUpgrade: x\r\n",
    ]

    private static func post(_ name: String, _ headers: String) -> String {
        let body = #"{"user":"u","name":"\#(name)"}"#
        return "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    @Test("A request for another protocol is answered in HTTP/1.1, and so is what follows on its connection")
    func following() async throws {
        try await withService { service in
            for (number, wish) in Self.wishes.enumerated() {
                let connection = try RawConnection(service)
                let last = 4 + 3 * number
                for position in last - 2...last {
                    connection.send(Self.post("e", wish))
                    let answer = connection.read(until: "\"position\":\(position),")
                    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(wish): \(answer)")
                    #expect(!answer.lowercased().contains("connection:"), "\(wish)")
                }
                connection.send("GET /v1/stats HTTP/1.1\r\nHost: x\r\n\(wish)\r\n")
                let events = "\"events\":\(last),"
                #expect(connection.read(until: events).contains(events), "\(wish)")
                connection.send("GET /v1/stats HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                #expect(try #require(connection.readToEnd()).contains(events), "\(wish)")
            }
        }
    }

    @Test("What was sent together with it is answered in order, wherever the bytes are cut")
    func pipelined() async throws {
        try await withService { service in
            for wish in Self.wishes { try await pipeline(wish, service) }
        }
    }

    private func pipeline(_ wish: String, _ service: Service) async throws {
        let bytes = Array(
            (Self.post("a", wish) + Self.post("b", wish) + Self.post("c", "") + Self.post("d", wish)
                + Self.post("e", "Connection: close\r\n")).utf8)
        for cut in stride(from: 0, to: bytes.count, by: 61) {
            let connection = try RawConnection(service)
            connection.send(bytes[..<cut])
            try await Task.sleep(for: .milliseconds(2))
            connection.send(bytes[cut...])
            let answers = try #require(connection.readToEnd(), "the connection is still open")
            #expect(answers.components(separatedBy: "HTTP/1.1 200 OK").count == 6, "\(wish), \(cut): \(answers)")
        }
    }

    @Test("A tunnel is refused, and the connection goes on")
    func tunnel() async throws {
        try await withService { service in
            let connection = try RawConnection(service)
            connection.send("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(connection.read(until: "}").hasPrefix("HTTP/1.1 4"))
            connection.send("GET /v1/stats HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(try #require(connection.readToEnd()).contains("\"events\":0"))
        }
    }
}
