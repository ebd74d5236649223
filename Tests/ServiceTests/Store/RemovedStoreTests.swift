import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("A store whose files are removed or replaced under the service")
struct RemovedStoreTests {
    private static let event = #"{"user":"u","name":"x"}"#

    @Test(
        "Writes are refused, readiness fails and stays so, reads and metrics go on, and the end tells the position",
        arguments: ["folder", "data.mdb", "lock.mdb", "replaced", "moved"], [false, true])
    func removed(what: String, hasKey: Bool) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        var headers: [String: String] = [:]
        if hasKey {
            let made = try await run(
                ["keys", "add", "--keys", "k.json", "--store", "store", "--name", "app"], in: folder)
            headers["Authorization"] = "Bearer \(made.output.trimmingCharacters(in: .whitespacesAndNewlines))"
        }
        let service = try await Service(
            in: folder, arguments: hasKey ? ["--keys", folder.file("k.json").path] : [])
        #expect(try await service.post("/v1/log/event", Self.event, headers: headers).status == 200)
        #expect(try await service.get("/health/ready").status == 200)

        let store = URL(fileURLWithPath: service.store)
        let files = FileManager.default
        switch what {
        case "folder": try files.removeItem(at: store)
        case "moved": try files.moveItem(at: store, to: folder.file("elsewhere"))
        case "replaced":
            let other = folder.file("other")
            _ = try EventLog(path: other.path, create: true)
            try files.removeItem(at: store.appendingPathComponent("data.mdb"))
            try files.copyItem(
                at: other.appendingPathComponent("data.mdb"), to: store.appendingPathComponent("data.mdb"))
        default: try files.removeItem(at: store.appendingPathComponent(what))
        }
        for _ in 0..<2 {
            let refused = try await service.post("/v1/log/event", Self.event, headers: headers)
            #expect(refused.status == 503)
            #expect(refused.json.at("error").text.contains("removed or replaced"), "\(refused.json)")
            for path in ["/health", "/health/ready"] {
                let health = try await service.get(path)
                #expect(health.status == 503)
                #expect(health.json.at("status") == "failed")
                #expect(!health.json.at("remedy").text.isEmpty)
                // Who has no key is not told where the store is.
                #expect(health.json.at("error").text.contains(service.store) == !hasKey, "\(health.json)")
            }
            #expect(try await service.get("/health/live").status == 200)
            #expect(try await service.get("/v1/profile?user=u", headers: headers).status == 200)
            let metrics = try await service.get("/metrics", headers: headers)
            #expect(metrics.status == 200)
            #expect(String(decoding: metrics.body, as: UTF8.self).contains("\nprofilelog_last_position 2\n"))
        }
        #expect(try await service.stop() == 0)
        #expect(service.messages.contains("last_position=2 "), "\(service.messages)")
    }
}
