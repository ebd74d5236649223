import Foundation
import ProfileLog
import Testing

@Suite("Answers that are packed")
struct PackedAnswerTests {
    /// An answer of a connection that then ends.
    private struct Answer {
        let head: String
        let body: [UInt8]

        init(_ service: Service, _ line: String, _ headers: String = "") throws {
            let connection = try RawConnection(service)
            connection.send("\(line) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(headers)\r\n")
            let bytes = try #require(connection.readBytesToEnd())
            let end = try #require(Data(bytes).range(of: Data("\r\n\r\n".utf8)))
            head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            body = Array(bytes[end.upperBound...])
        }

        func header(_ name: String) -> String? {
            head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("\(name):") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    /// Bodies of more than 1 KiB for each of the endpoints.
    private func withPeople(_ body: (Service) async throws -> Void) async throws {
        try await withService { service in
            for number in 0..<40 {
                let answer = try await service.post(
                    "/v1/log/attributes",
                    #"{"user":"ana","attributes":{"attribute \#(number)":"a value that is like the others"}}"#)
                #expect(answer.status == 200)
                _ = try await service.post("/v1/log/event", #"{"user":"user \#(number)","name":"opened"}"#)
            }
            try await body(service)
        }
    }

    private static let paths = [
        "/v1/profile?user=ana", "/v1/history?user=ana&limit=100", "/v1/events?limit=100", "/v1/users", "/openapi.json",
        "/",
    ]

    @Test("A packed answer unpacks to the plain one, and HEAD has the headers of either")
    func equal() async throws {
        try await withPeople { service in
            for path in Self.paths {
                let plain = try Answer(service, "GET \(path)")
                let packed = try Answer(service, "GET \(path)", "Accept-Encoding: gzip\r\n")
                #expect(plain.head.hasPrefix("HTTP/1.1 200 ") && plain.body.count >= 1 << 10, "\(path)")
                #expect(plain.header("content-encoding") == nil, "\(path)")
                #expect(packed.header("content-encoding") == "gzip", "\(path)")
                #expect(try Packing.ungzip(packed.body) == plain.body, "\(path)")
                #expect(packed.body.count < plain.body.count, "\(path)")
                for (answer, encoding) in [(plain, ""), (packed, "Accept-Encoding: gzip\r\n")] {
                    #expect(answer.header("vary") == "Accept-Encoding", "\(path)")
                    #expect(answer.header("content-length") == "\(answer.body.count)", "\(path)")
                    let head = try Answer(service, "HEAD \(path)", encoding)
                    #expect(head.body.isEmpty, "\(path)")
                    for name in ["content-length", "content-encoding", "content-type", "vary", "etag"] {
                        #expect(head.header(name) == answer.header(name), "\(path) \(name)")
                    }
                }
            }
        }
    }

    @Test("An export as text is packed while it is sent, and unpacks to the plain one")
    func export() async throws {
        try await withPeople { service in
            for path in ["/v1/export?what=events&format=jsonl", "/v1/export?what=profiles&format=csv"] {
                let plain = try await service.get(path, headers: ["Accept-Encoding": "identity"])
                // The client library unpacks it.
                let packed = try await service.get(path, headers: ["Accept-Encoding": "gzip"])
                #expect(plain.status == 200 && packed.status == 200, "\(path)")
                #expect(packed.body == plain.body, "\(path)")
                let head = try Answer(service, "GET \(path)", "Accept-Encoding: gzip\r\n")
                #expect(head.header("content-encoding") == "gzip", "\(path)")
                #expect(head.header("vary") == "Accept-Encoding", "\(path)")
            }
        }
    }

    @Test("An answer is packed for a client that unpacks gzip and does not prefer the plain form")
    func weights() async throws {
        try await withPeople { service in
            for (header, isPacked) in [
                ("gzip", true), ("GZIP", true), ("x-gzip", true), ("br, gzip;q=0.5", true), ("*", true),
                ("gzip; q=0.001", true), ("gzip;q=1.0, identity;q=0.5", true), ("deflate, gzip, br", true), ("", false),
                ("identity", false), ("gzip;q=0", false), ("gzip; q=0.000", false), ("*;q=0", false), ("br", false),
                ("gzip;q=0, *", false), ("gzip;q=0.5, identity", false), ("gzip;q=x", false), ("gzipped", false),
            ] {
                let answer = try Answer(service, "GET /v1/events?limit=100", "Accept-Encoding: \(header)\r\n")
                #expect((answer.header("content-encoding") == "gzip") == isPacked, "\(header)")
            }
        }
    }

    @Test("A short answer and a stream of events are not packed")
    func plain() async throws {
        try await withService { service in
            let short = try Answer(service, "GET /health", "Accept-Encoding: gzip\r\n")
            #expect(short.header("content-encoding") == nil && short.header("vary") == nil)
            #expect(String(decoding: short.body, as: UTF8.self).contains(#""status":"ok""#))
            let stream = try RawConnection(service)
            stream.send(
                "GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip\r\n\r\n")
            let head = stream.read(until: "\r\n\r\n").lowercased()
            #expect(head.contains("text/event-stream") && !head.contains("content-encoding"), "\(head)")
        }
    }

    @Test("An error is packed too, if it is long, and its status stays")
    func errors() async throws {
        try await withService { service in
            let path = "/v1/profile?user=" + String(repeating: "n", count: 200)
            let plain = try Answer(service, "GET \(path)")
            let packed = try Answer(service, "GET \(path)", "Accept-Encoding: gzip\r\n")
            #expect(packed.head.prefix(12) == plain.head.prefix(12))
            let isPacked = packed.header("content-encoding") == "gzip"
            #expect(isPacked == (plain.body.count >= 1 << 10))
            #expect(try (isPacked ? Packing.ungzip(packed.body) : packed.body) == plain.body)
        }
    }

    @Test("The ETag of the packed form is another one, and If-Match takes either")
    func tags() async throws {
        try await withPeople { service in
            let path = "/v1/profile?user=ana"
            let plain = try #require(try Answer(service, "GET \(path)").header("etag"))
            let packed = try #require(try Answer(service, "GET \(path)", "Accept-Encoding: gzip\r\n").header("etag"))
            #expect(packed == "\(plain.dropLast())-gzip\"")
            let body = #"{"user":"ana","name":"opened"}"#
            let first = try await service.post("/v1/log/event", body, headers: ["If-Match": packed])
            #expect(first.status == 200, "\(first.json.json)")
            for tag in [packed, plain] {
                let late = try await service.post("/v1/log/event", body, headers: ["If-Match": tag])
                #expect(late.status == 412, "\(tag)")
            }
        }
    }
}
