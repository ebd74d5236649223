import Foundation
import ProfileLog
import Testing

@Suite("Bodies that are packed")
struct PackedBodyTests {
    private static func event(_ name: String) -> String { #"{"user":"ana","name":"\#(name)"}"# }

    private func post(
        _ service: Service, _ body: [UInt8], _ encoding: String, headers: [String: String] = [:]
    ) async throws -> Service.Reply {
        try await service.send(
            "POST", "/v1/log/event", body: body, headers: headers.merging(["Content-Encoding": encoding]) { $1 })
    }

    private func lastPosition(_ service: Service) async throws -> AttributeValue {
        try await service.get("/health").json.at("last_position")
    }

    /// A JSON object of so many bytes, of which `noise` do not pack; the rest packs to almost nothing.
    private func object(bytes: Int, noise: Int) -> [UInt8] {
        var random = SeededGenerator(seed: 1)
        let digits = Array("0123456789abcdef".utf8)
        let text = (0..<noise).map { _ in digits[Int(random.next() >> 60)] }
        let body = Array(#"{"user":"ana","name":""#.utf8) + text + Array(#""}"#.utf8)
        return body + [UInt8](repeating: 0x20, count: bytes - body.count)
    }

    @Test("A body with gzip or deflate is stored as if it had come plain, in one piece or in chunks")
    func stored() async throws {
        try await withService { (service) async throws in
            for (encoding, packed) in [
                ("gzip", try Packing.gzip(Self.event("a"))), ("x-gzip", try Packing.gzip(Self.event("b"))),
                ("GZIP", try Packing.gzip(Self.event("c"))), ("deflate", try Packing.deflated(Self.event("d"))),
                ("identity, gzip", try Packing.gzip(Self.event("e"))), ("gzip", []),
            ] {
                let answer = try await post(service, packed, encoding)
                #expect(answer.status == (packed.isEmpty ? 400 : 200), "\(encoding) \(answer.json.json)")
                if packed.isEmpty { #expect(answer.json.at("code") != "invalid_encoding") }
            }
            let packed = try Packing.gzip(Self.event("f"))
            let connection = try RawConnection(service)
            connection.send(
                "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"
                    + "Connection: close\r\n\r\n")
            for byte in packed {
                connection.send("1\r\n")
                connection.send([byte, 0x0D, 0x0A])
            }
            connection.send("0\r\n\r\n")
            #expect(connection.readToEnd()?.hasPrefix("HTTP/1.1 200 ") == true)
            let events = try await service.get("/v1/events?limit=100").body
            for name in ["a", "b", "c", "d", "e", "f"] {
                #expect(String(decoding: events, as: UTF8.self).contains(#""\#(name)""#), "\(name)")
            }
        }
    }

    @Test("A body that unpacks to more than a body may have is refused, with both sizes, and nothing is stored")
    func size() async throws {
        try await withService { (service) async throws in
            let most = 4 << 20
            let before = try await lastPosition(service)
            // Within the ratio, so that the size alone counts.
            for (bytes, isTooLarge) in [(most, false), (most + 1, true), (64 << 20, true)] {
                let packed = try Packing.gzip(object(bytes: bytes, noise: 120_000))
                let answer = try await post(service, packed, "gzip")
                #expect((answer.status == 413) == isTooLarge, "\(bytes): \(answer.json.json)")
                guard isTooLarge else { continue }
                #expect(answer.json.at("code") == "too_large")
                let error = answer.json.at("error").text
                #expect(error.contains("\(packed.count) bytes") && error.contains("\(most) bytes"), "\(error)")
            }
            #expect(try await lastPosition(service) == before)
        }
    }

    @Test("A body that unpacks to more than 100 times its bytes is refused, unless these are few")
    func ratio() async throws {
        try await withService { (service) async throws in
            for (bytes, isTooLarge) in [(64 << 10, false), (64 << 10 + 1, true)] {
                let answer = try await post(service, try Packing.gzip(object(bytes: bytes, noise: 8)), "gzip")
                #expect(answer.status == (isTooLarge ? 413 : 200), "\(bytes): \(answer.json.json)")
            }
            let packed = try Packing.gzip(object(bytes: 2 << 20, noise: 2_000))
            let answer = try await post(service, packed, "gzip")
            #expect(answer.status == 413)
            #expect(answer.json.at("error").text.contains("\(100 * packed.count) bytes"), "\(answer.json.json)")
            #expect(answer.json.at("remedy").text.contains("100 times"))
        }
    }

    @Test("A body that is not what its Content-Encoding says is refused, and nothing is stored")
    func broken() async throws {
        try await withService { (service) async throws in
            let before = try await lastPosition(service)
            let gzip = try Packing.gzip(Self.event("a"))
            let deflated = try Packing.deflated(Self.event("a"))
            var bodies = [
                ("gzip", Array(Self.event("a").utf8)), ("gzip", deflated), ("deflate", gzip),
                ("gzip", gzip + [0]), ("gzip", gzip + gzip), ("deflate", deflated + [0]),
            ]
            bodies += (1..<gzip.count).map { ("gzip", Array(gzip[..<$0])) }
            for (encoding, body) in bodies {
                let answer = try await post(service, body, encoding)
                #expect(answer.status == 400, "\(encoding) \(body.count): \(answer.json.json)")
                #expect(answer.json.at("code") == "invalid_encoding", "\(encoding) \(body.count)")
            }
            for encoding in ["br", "gzip, gzip", "gzip, deflate", "zstd", "gzip, br"] {
                let answer = try await post(service, gzip, encoding)
                #expect(answer.status == 415, "\(encoding)")
                #expect(answer.json.at("code") == "unsupported_encoding", "\(encoding)")
                #expect(answer.headers["accept-encoding"] == "gzip, deflate", "\(encoding)")
            }
            #expect(try await lastPosition(service) == before)
        }
    }

    @Test("A packed body with a flipped bit is refused, or gives what was packed")
    func flipped() async throws {
        try await withService { (service) async throws in
            _ = try await service.post("/v1/log/event", Self.event("whole"))
            guard case .int(let before) = try await lastPosition(service) else {
                Issue.record("The service tells no position.")
                return
            }
            let packed = try Packing.gzip(Self.event("whole"))
            var stored: Int64 = 0
            for index in packed.indices {
                for bit in [UInt8(1), 0x40] {
                    var body = packed
                    body[index] ^= bit
                    let status = try await post(service, body, "gzip").status
                    #expect([200, 400].contains(status), "byte \(index): \(status)")
                    if status == 200 { stored += 1 }
                }
            }
            #expect(try await lastPosition(service) == .int(before + stored))
            // Another text would have made another name, or another user.
            let names = try await service.get("/v1/names?kind=event&limit=10")
            #expect(names.status == 200 && names.json.at("names").count == 1, "\(names.json.json)")
        }
    }

    @Test("A retry under its key is the same request, packed or not")
    func retry() async throws {
        try await withService { (service) async throws in
            let key = ["Idempotency-Key": "k1"]
            let first = try await service.post("/v1/log/event", Self.event("a"), headers: key)
            let position = try await lastPosition(service)
            for (encoding, body) in [
                ("gzip", try Packing.gzip(Self.event("a"))), ("deflate", try Packing.deflated(Self.event("a"))),
            ] {
                let again = try await post(service, body, encoding, headers: key)
                #expect(again.status == first.status, "\(encoding) \(again.json.json)")
                #expect(again.json.at("position") == first.json.at("position"), "\(encoding)")
            }
            #expect(try await lastPosition(service) == position)
            let other = try await post(service, try Packing.gzip(Self.event("b")), "gzip", headers: key)
            #expect(other.status == 409)
        }
    }

    @Test("The bytes that a body unpacks to count in the memory for all bodies")
    func memory() async throws {
        try await withService(arguments: ["--body-memory", "1"]) { (service) async throws in
            let large = try Packing.gzip(object(bytes: 3 << 19, noise: 40_000))
            #expect(large.count < 1 << 19)
            let small = try Packing.gzip(object(bytes: 1 << 19, noise: 40_000))
            for _ in 0..<8 {
                let refused = try await post(service, large, "gzip")
                #expect(refused.status == 429, "\(refused.json.json)")
                #expect(refused.json.at("code") == "overloaded")
                // What the refused one took is free again.
                #expect(try await post(service, small, "gzip").status != 429)
            }
        }
    }
}
