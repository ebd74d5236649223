import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

/// A consumer keeps its cursor, and the store becomes another history: a backup is restored, or a copy is cut, and
/// grows past the consumer's position with other events.
@Suite("A cursor belongs to one history")
struct CursorTests {
    private static func log(_ count: Int, _ name: String, _ service: Service) async throws -> AttributeValue {
        var last = AttributeValue.null
        for _ in 0..<count {
            last = try await service.post("/v1/log/event", #"{"user":"u","name":"\#(name)"}"#).json
        }
        return last
    }

    /// A change of the store under the consumer.
    enum Change: String, CaseIterable { case restored, cut, replaced, emptied }

    @Test("Events, streams and waits tell a consumer that the log is another one", arguments: Change.allCases)
    func told(change: Change) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let files = FileManager.default
        let (store, backup) = (folder.file("store"), folder.file("backup"))
        var service = try await Service(in: folder)
        _ = try await Self.log(4, "early", service)
        let early = try await service.get("/v1/events").json.at("cursor").text
        #expect(try await service.stop() == 0)
        try files.copyItem(at: store, to: backup)

        service = try await Service(in: folder)
        let receipt = try await Self.log(6, "late", service)
        let answer = try await service.get("/v1/events?after=\(early)").json
        let cursor = answer.at("cursor").text
        #expect(answer.at("scanned") == 11 && cursor.hasPrefix("11-"), "\(answer)")
        #expect(receipt.at("cursor").text == cursor, "\(receipt)")
        let reader = try RawConnection(service)
        reader.send("GET /v1/events?after=\(early) HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
        #expect(reader.read(until: "id: \(cursor)\n").contains("id: \(cursor)\n"))
        for path in ["/v1/events?after=\(cursor)", "/v1/profile?user=u&wait_for=\(cursor)"] {
            #expect(try await service.get(path).status == 200)
        }
        #expect(try await service.stop() == 0)

        let copy = folder.file("copy")
        if change == .cut {
            _ = try EventLog(path: store.path).replay(into: copy.path, until: Position(rawValue: 7))
        }
        try files.removeItem(at: store)
        switch change {
        case .restored: try files.copyItem(at: backup, to: store)
        case .cut: try files.moveItem(at: copy, to: store)
        case .replaced, .emptied: break
        }
        service = try await Service(in: folder)
        _ = try await Self.log(change == .emptied ? 1 : 12, "other", service)

        for path in ["/v1/events?after=\(cursor)", "/v1/stats?wait_for=\(cursor)"] {
            let told = try await service.get(path)
            #expect(told.status == 409 && told.json.at("code") == "other_history", "\(path) \(told.json)")
            #expect(told.json.at("remedy").text.contains("after=0"), "\(told.json)")
            #expect(told.json.at("actual") == (try await service.get("/v1/stats").json.at("last_position")))
        }
        for header in ["Last-Event-ID: \(cursor)\r\n", ""] {
            let stream = try RawConnection(service)
            stream.send(
                "GET /v1/events?after=\(header.isEmpty ? cursor : "0") HTTP/1.1\r\nHost: x\r\n"
                    + "Accept: text/event-stream\r\nConnection: close\r\n\(header)\r\n")
            let text = stream.read()
            #expect(text.hasPrefix("HTTP/1.1 409 ") && text.contains("other_history"), "\(text)")
        }
        // What both histories share goes on, and so does a number that a user types.
        let shares = change == .restored || change == .cut
        #expect(try await service.get("/v1/events?after=\(early)").status == (shares ? 200 : 409))
        #expect(try await service.get("/v1/events?after=2").status == 200)
        #expect(try await service.stop() == 0)
    }

    @Test("An erasure, a compaction and a whole copy leave cursors as they are")
    func same() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        var service = try await Service(in: folder)
        _ = try await Self.log(5, "a", service)
        let cursor = try await service.get("/v1/events?limit=3").json.at("cursor").text
        #expect(cursor.hasPrefix("3-"))
        #expect(try await service.post("/v1/erase", #"{"user":"u","reason":"r","actor":"t"}"#).status == 200)
        #expect(try await service.get("/v1/events?after=\(cursor)").status == 200)
        #expect(try await service.stop() == 0)
        let store = folder.file("store").path
        _ = try EventLog.compact(path: store)
        let copy = folder.file("copy").path
        _ = try EventLog(path: store).replay(into: copy)
        try FileManager.default.removeItem(atPath: store)
        try FileManager.default.moveItem(atPath: copy, toPath: store)
        service = try await Service(in: folder)
        #expect(try await service.get("/v1/events?after=\(cursor)").status == 200)
        #expect(try await service.stop() == 0)
    }

    @Test(
        "What is no cursor is refused with the form that is meant",
        arguments: ["x", "3-", "3-12", "3-zzzzzzzz", "-3", "3-123456789", "3-+1234567", "٣", "18446744073709551615"])
    func malformed(text: String) async throws {
        try await withService { service in
            _ = try await Self.log(3, "a", service)
            let text = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
            for path in ["/v1/events?after=", "/v1/stats?wait_for="] {
                let refused = try await service.get(path + text)
                #expect(refused.status == 400 && refused.json.at("code") == "invalid", "\(refused.json)")
                #expect(refused.json.at("error").text.contains("12-5f3a9c0d"), "\(refused.json)")
            }
            let beyond = try await service.get("/v1/events?after=99")
            #expect(beyond.status == 400 && beyond.json.at("error").text.contains("is beyond the end of the log"))
        }
    }

    @Test("Every answer of a write has the cursor of its position")
    func receipts() async throws {
        try await withService { service in
            for (path, body) in [
                ("log/event", #"{"user":"u","name":"x"}"#),
                ("log/attributes", #"{"user":"u","attributes":{"a":1}}"#),
                ("save/event", #"{"name":"x","device":"d"}"#),
                ("batch", #"{"items":[{"kind":"log/event","user":"u","name":"y"}]}"#),
                ("launch", #"{"device":"d"}"#), ("change-user", #"{"user":"v","device":"d"}"#),
                ("void", #"{"position":2,"reason":"r","actor":"t"}"#),
                ("rules", #"{"attribute_policies":{"a":"counter"}}"#),
                ("erase", #"{"user":"u","reason":"r","actor":"t"}"#),
            ] {
                let answer = try await service.post("/v1/\(path)", body)
                let (position, cursor) = (answer.json.at("position").json, answer.json.at("cursor").text)
                #expect(cursor.hasPrefix("\(position)-"), "\(path) \(answer.json)")
                #expect(try await service.get("/v1/stats?wait_for=\(cursor)").status == 200)
            }
        }
    }
}
