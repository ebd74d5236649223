import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

/// A service is stopped, its store is restored from a backup, and the service starts again.
@Suite("A store that was restored under its readers")
struct RestoredStoreTests {
    private static let original = LogHistory.original.text

    private func profilecli(_ arguments: String..., in folder: TemporaryFolder) async throws {
        let process = try ChildProcess(
            ChildProcess.built("profilecli"), arguments, in: folder.url, output: .nothing)
        #expect(try await Service.exitCode(of: process) == 0, "\(arguments)")
    }

    private func log(_ name: String, _ count: Int, _ service: Service) async throws {
        for _ in 0..<count {
            let answer = try await service.post("/v1/log/event", #"{"user":"u","name":"\#(name)"}"#)
            #expect(answer.status == 200)
        }
    }

    /// The history that the answers and the first line of a stream name: all the same.
    private func history(_ service: Service) async throws -> String {
        var found: Set<String> = []
        for path in ["status", "stats", "events", "export?what=events"] {
            let answer = try await service.get("/v1/\(path)").json
            #expect(!answer.at("store").text.isEmpty, "\(path)")
            found.insert(answer.at("history").text)
        }
        let stream = try RawConnection(service)
        stream.send("GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
        let text = stream.read { $0.contains("history ") && $0.hasSuffix("\n\n") || $0.contains("id: ") }
        let first = try #require(text.firstMatch(of: /: events follow, store ([0-9a-f]{32}), history ([0-9a-f]{16})\n/))
        #expect(try await service.get("/v1/status").json.at("store").text == first.1)
        found.insert(String(first.2))
        #expect(found.count == 1, "\(found)")
        return found.first ?? ""
    }

    @Test("A reader is told by the history, and by the end of the log while that is before its place")
    func told() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        var service = try await Service(in: folder)
        try await log("early", 3, service)
        #expect(try await history(service) == Self.original)
        try await profilecli("backup", "copy", "--store", "store", in: folder)
        try await log("lost", 5, service)
        let last = try await service.get("/v1/events").json.at("last")
        let cursor = try await service.get("/v1/events").json.at("cursor").text
        #expect(last == 9)
        #expect(try await service.stop() == 0)

        try await profilecli("restore", "copy", "--store", "store", "--replace", in: folder)
        service = try await Service(in: folder)
        let restored = try await history(service)
        #expect(restored != Self.original)
        // A plain number that the log has not reached again, in a list and in a stream.
        for _ in 0..<2 {
            let told = try await service.get("/v1/events?after=9")
            #expect(told.status == 400 && told.json.at("code") == "invalid", "\(told.json)")
            #expect(told.json.at("error").text.contains("is beyond the end of the log, which is at position"))
            try await log("other", 2, service)
        }
        let stream = try RawConnection(service)
        stream.send(
            "GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nLast-Event-ID: 9\r\n"
                + "Connection: close\r\n\r\n")
        #expect(stream.read().contains("is beyond the end of the log, which is at position"))
        // And one that it has passed: the history tells it, and a cursor is refused.
        try await log("other", 5, service)
        let passed = try await service.get("/v1/events?after=9")
        #expect(passed.status == 200 && passed.json.at("history").text == restored)
        let refused = try await service.get("/v1/events?after=\(cursor)")
        #expect(refused.status == 409 && refused.json.at("code") == "other_history")
        #expect(try await history(service) == restored)
        #expect(try await service.stop() == 0)
    }

    @Test("A store in use is not replaced under the service")
    func inUse() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder)
        try await log("early", 1, service)
        try await profilecli("backup", "copy", "--store", "store", in: folder)
        let process = try ChildProcess(
            ChildProcess.built("profilecli"), ["restore", "copy", "--store", "store", "--replace"], in: folder.url,
            errors: .file(folder.file("refusal")))
        #expect(try await Service.exitCode(of: process) == 1)
        #expect(try String(contentsOf: folder.file("refusal"), encoding: .utf8).contains("A program has the store"))
        try await log("later", 1, service)
        #expect(try await service.stop() == 0)
    }
}
