import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

/// Whatever is sent, the service neither ends nor hangs nor answers 5xx, and stores nothing that was not sent whole.
@Suite("Bad HTTP")
struct BadHTTPTests {
    private static let event = #"{"user":"u","name":"x"}"#

    /// The service must be well afterwards, and hold so many events.
    private func expectWell(_ service: Service, events: Int64) async throws {
        #expect(try await service.get("/health").status == 200)
        #expect(try await service.get("/v1/stats").json.at("events") == .int(events))
    }

    private static let noHTTP = [
        "\u{0}\u{1}\u{2}\u{3}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET /v1/stats HTTP/1.1\r\nHost: x\r\nbad header: 1\r\n\r\n",
        "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n",
        "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n{}",
        "GET /v1/stats HTTP/1.1\r\n\r\n", "GET /v1/stats HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /%zz?%zz HTTP/1.1\r\nHost: x\r\n\r\n",
    ]

    @Test("What is no HTTP is refused or cut off, never with 5xx")
    func garbage() async throws {
        try await withService { service in
            for text in Self.noHTTP {
                let connection = try RawConnection(service)
                connection.send(text)
                connection.finish()
                let answer = connection.read()
                #expect(!answer.contains("HTTP/1.1 5"), "\(text): \(answer)")
                #expect(!answer.contains("HTTP/1.1 2"), "\(text): \(answer)")
                try await expectWell(service, events: 0)
            }
        }
    }

    @Test("Headers that are too many, too long, or too long together")
    func headers() async throws {
        try await withService { service in
            let long = "X: \(String(repeating: "y", count: 40_000))\r\n"
            let many = (0..<200).map { "X-\($0): y\r\n" }.joined()
            let together = (0..<20).map { "X-\($0): \(String(repeating: "y", count: 4_000))\r\n" }.joined()
            for headers in [long, many, together] {
                let connection = try RawConnection(service)
                connection.post("/v1/log/event", Self.event, headers: headers)
                let answer = connection.read()
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer.prefix(100))")
            }
            let connection = try RawConnection(service)
            connection.send("GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\n\r\n")
            #expect(!connection.read().contains("HTTP/1.1 5"))
            try await expectWell(service, events: 0)
        }
    }

    @Test(
        "Framing of a chunked body without an end is answered 400, and the connection ends",
        arguments: ["0", ";a=b", "5\r\nhello\r\n0", "0\r\nX: y\r\nX:"])
    func endlessFraming(begin: String) async throws {
        try await withService { service in
            let connection = try RawConnection(service)
            connection.send("POST /v1/log/event HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.send(begin.hasPrefix(";") ? "5" + begin : begin)
            for _ in 0..<40 {
                connection.send(String(repeating: "0", count: 1_000))
                try await Task.sleep(for: .milliseconds(1))
            }
            let answer = try #require(connection.readToEnd(), "the connection is still open")
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            try await expectWell(service, events: 0)
        }
    }

    @Test("A connection that ends within the body stores nothing, even if what came is a whole request")
    func droppedInBody() async throws {
        try await withService { service in
            for headers in ["", "Expect: 100-continue\r\n"] {
                for isHalf in [true, false] {
                    let connection = try RawConnection(service)
                    // The JSON is whole; the blanks that were announced after it never come.
                    connection.post(
                        "/v1/log/event", Self.event, length: Self.event.utf8.count + 10, headers: headers)
                    if isHalf {
                        connection.finish()
                        #expect(!connection.read().contains("HTTP/1.1 200"))
                    }
                }
            }
            let chunked = try RawConnection(service)
            let chunk = String(Self.event.utf8.count, radix: 16)
            chunked.send(
                "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                    + "chunked\r\n\r\n\(chunk)\r\n\(Self.event)\r\n"
            )
            chunked.finish()
            #expect(!chunked.read().contains("HTTP/1.1 200"))
            try await Task.sleep(for: .milliseconds(100))
            try await expectWell(service, events: 0)
        }
    }

    @Test("Pipelined requests are answered in their order")
    func pipelined() async throws {
        try await withService { service in
            let connection = try RawConnection(service)
            for index in 0..<20 {
                connection.post(
                    "/v1/log/event", #"{"user":"u","name":"e\#(index)"}"#, headers: "X-Request-Id: r\(index)\r\n")
            }
            connection.send("GET /v1/stats HTTP/1.1\r\nHost: x\r\nX-Request-Id: last\r\n\r\n")
            let text = connection.read(until: "\"events\":21")
            let ids = text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("X-Request-Id: ") }
            #expect(ids.map { $0.dropFirst(14) } == (0..<20).map { "r\($0)" } + ["last"])
            let history = try await service.get("/v1/history?user=u&kind=customEventLogged").json
            for index in 0..<20 { #expect(history.at("events.\(index).name") == .string("e\(index)")) }
        }
    }

    @Test("A pipelined request after a refused one is answered like any other")
    func pipelinedBehindRefusal() async throws {
        try await withService { service in
            let connection = try RawConnection(service)
            connection.post("/v1/nothing", #"{"a":1}"#)
            connection.post("/v1/log/event", "{", headers: "")
            connection.post("/v1/log/event", String(repeating: " ", count: APIRouter.maxBodyBytes + 1))
            connection.post("/v1/log/event", Self.event)
            let text = connection.read(until: "\"position\":2")
            let statuses = text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
            #expect(statuses == ["404", "400", "413", "200"])
            try await expectWell(service, events: 2)
        }
    }

    @Test("A slow sender is answered 408 or cut off, and delays no other client")
    func slow() async throws {
        try await withService(arguments: ["--body-timeout", "1", "--idle-timeout", "1"]) { service in
            let silent = try RawConnection(service)
            let inHeaders = try RawConnection(service)
            inHeaders.send("POST /v1/log/event HTTP/1.1\r\nHost:")
            let inBody = try RawConnection(service)
            inBody.post("/v1/log/event", #"{"user":"#, length: 100)
            #expect(try await service.post("/v1/log/event", Self.event).status == 200)
            #expect(silent.read().isEmpty)
            #expect(!inHeaders.read().contains("HTTP/1.1 2"))
            let answer = inBody.read()
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
            try await expectWell(service, events: 2)
        }
    }

    @Test("A body that drips in is cut off in the end")
    func dripping() async throws {
        try await withService(arguments: ["--body-timeout", "1"]) { service in
            let connection = try RawConnection(service)
            connection.post("/v1/log/event", "", length: 100_000)
            let dripping = Task {
                while !Task.isCancelled {
                    connection.send(" ")
                    try? await Task.sleep(for: .milliseconds(50))
                }
            }
            let answer = await Task.detached { connection.read() }.value
            dripping.cancel()
            #expect(answer.contains("HTTP/1.1 408 "), "\(answer)")
            #expect(answer.contains("too_slow"))
            try await expectWell(service, events: 0)
        }
    }

    @Test("A body that is no fit JSON is 400, in each format")
    func bodies() async throws {
        let deep = String(repeating: "[", count: 100_000)
        let bodies: [[UInt8]] = [
            [], Array("{".utf8), Array("nope".utf8), [0xFF, 0xFE], Array(#"{"name":"#.utf8) + [0x22, 0xFF, 0x22, 0x7D],
            Array(#"{"user":"u","user":"v","name":"x"}"#.utf8), Array(#"{"events":[],"events":[]}"#.utf8),
            Array(deep.utf8), Array(#"{"properties":\#(deep)"#.utf8), Array("{\"a\":1}\u{0}".utf8),
            Array(#"{"user":"\ud800","name":"x"}"#.utf8), Array("{\"user\":\"u\u{1}\",\"name\":\"x\"}".utf8),
            Array("\u{FEFF}\u{FEFF}\(Self.event)".utf8), Array(#"{"user":"u","name":"x",}"#.utf8),
            Array(#"{"user":"u","name":1e999}"#.utf8), Array("user u=x".utf8),
        ]
        try await withService { service in
            for path in ["/v1/log/event", "/users/track", "/users/track/sync", "/users/export/ids"] {
                for body in bodies {
                    let answer = try await service.send("POST", path, body: body)
                    #expect(answer.status == 400, "\(path) \(String(decoding: body.prefix(40), as: UTF8.self))")
                }
            }
            let types = ["text/plain", "application/x-www-form-urlencoded", "nonsense", "multipart/form-data"]
            for type in types {
                let answer = try await service.post("/v1/log/event", "user=u", headers: ["Content-Type": type])
                #expect(answer.status == (type.hasSuffix("urlencoded") ? 415 : 400), "\(type)")
            }
            try await expectWell(service, events: 0)
        }
    }

    @Test("A body that is larger than allowed is refused by its length, or where it gets too long")
    func large() async throws {
        try await withService { service in
            let told = try RawConnection(service)
            told.send("POST /v1/log/event HTTP/1.1\r\nHost: x\r\nContent-Length: \(1 << 40)\r\n\r\n")
            #expect(told.read(until: "too_large").hasPrefix("HTTP/1.1 413 "))
            let untold = try RawConnection(service)
            untold.send("POST /v1/log/event HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "100000\r\n\(String(repeating: " ", count: 1 << 20))\r\n"
            for _ in 0..<5 { untold.send(chunk) }
            #expect(untold.read(until: "too_large").contains("HTTP/1.1 413 "))
            try await expectWell(service, events: 0)
        }
    }

    @Test("Bodies that take all the memory there is for them shut out others only while they do, announcements never")
    func memory() async throws {
        try await withService(arguments: ["--body-memory", "1"]) { service in
            let announced = try (0..<20).map { _ in
                let connection = try RawConnection(service)
                connection.post("/v1/log/event", "", length: APIRouter.maxBodyBytes)
                return connection
            }
            #expect(try await service.post("/v1/log/event", Self.event).status == 200)
            var large: RawConnection? = try RawConnection(service)
            large?.post("/v1/log/event", String(repeating: " ", count: 1 << 20), length: APIRouter.maxBodyBytes)
            var statuses: [Int] = []
            for _ in 0..<500 where statuses.last != 429 {
                statuses.append(try await service.post("/v1/log/event", Self.event).status)
            }
            #expect(statuses.last == 429)
            large = nil
            for _ in 0..<500 where statuses.last != 200 {
                try await Task.sleep(for: .milliseconds(20))
                statuses.append(try await service.post("/v1/log/event", Self.event).status)
            }
            #expect(statuses.last == 200)
            #expect(Set(statuses) == [200, 429])
            withExtendedLifetime(announced) {}
        }
    }

    @Test("A client that asks before sending the body is told to go on, or why not")
    func expectation() async throws {
        try await withService { service in
            let head = "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: "
            let connection = try RawConnection(service)
            for position in [2, 3] {
                connection.send("\(head)\(Self.event.utf8.count)\r\n\r\n")
                #expect(connection.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                connection.send(Self.event)
                #expect(connection.read(until: "\"position\":\(position),").hasPrefix("HTTP/1.1 200 "))
            }
            let large = try RawConnection(service)
            large.send("\(head)\(APIRouter.maxBodyBytes + 1)\r\n\r\n")
            #expect(large.read(until: "too_large").hasPrefix("HTTP/1.1 413 "))
        }
    }
}
