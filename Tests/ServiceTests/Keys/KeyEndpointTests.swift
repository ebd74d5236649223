import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("GET /v1/key")
struct KeyEndpointTests {
    @Test("Any valid key may ask for its own name and permissions, and no other")
    func ownKey() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        func add(_ name: String, _ permissions: String) async throws -> String {
            let made = try await run(
                ["keys", "add", "--store", "store", "--name", name, "--permissions", permissions], in: folder)
            #expect(made.code == 0, "\(made.errors)")
            return made.output.trimmingCharacters(in: .newlines)
        }
        let reader = try await add("reader", "v1.read,metrics")
        let tracker = try await add("tracker", "users.track")
        let service = try await Service(in: folder)
        func ask(_ key: String) async throws -> Service.Reply {
            try await service.get("/v1/key", headers: ["Authorization": "Bearer \(key)"])
        }
        let answer = try await ask(reader).json
        #expect(answer.at("key.name") == "reader")
        #expect(answer.at("key.permissions") == .array(["v1.read", "metrics"]))
        #expect(answer.at("mode") == "kept" && answer.at("writable") == true && answer.at("clock") == .null)
        #expect(answer.at("note") == .null)
        let stats = try await service.get("/v1/stats", headers: ["Authorization": "Bearer \(reader)"]).json
        #expect(answer.at("store") == stats.at("store"))
        #expect(try await ask(tracker).json.at("key.permissions") == .array(["users.track"]))
        #expect(try await ask("plk_00000000_" + String(repeating: "a", count: 64)).status == 401)
        #expect(try await service.get("/v1/key").status == 401)
        #expect(
            try await service.get("/v1/key?wait_for=1", headers: ["Authorization": "Bearer \(tracker)"]).status == 400)
        #expect(try await run(["keys", "revoke", "--store", "store", "tracker"], in: folder).code == 0)
        #expect(try await ask(tracker).status == 401)
        #expect(try await service.stop() == 0)
    }

    @Test("Without keys it says so, and of a store for tests it shows the clock")
    func withoutKeys() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            #expect(try await service.post("/v1/clock", #"{"set":"2030-01-01T00:00:00Z"}"#).status == 200)
            let answer = try await service.get("/v1/key", headers: ["Authorization": "Bearer anything"]).json
            #expect(answer.at("key") == .null && answer.at("note").text.contains("No key is needed"))
            #expect(answer.at("mode") == "ephemeral" && answer.at("clock.standing") == true)
            #expect(answer.at("clock.now").text.hasPrefix("2030-01-01T00:00:00"))
            let store = answer.at("store").text
            #expect(store.count == 32)
            #expect(try await service.post("/v1/reset", "{}").status == 200)
            #expect(try await service.get("/v1/key").json.at("store").text != store)
        }
    }
}
