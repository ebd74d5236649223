import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("A damaged record hides only what needs it")
struct DamageTests {
    /// Runs `body` without the final check of the store.
    private func withStore(_ body: (API) async throws -> Void) async throws {
        let folder = try TemporaryFolder.made(.damaged, prefix: "profiled")
        try await body(API(log: folder.open("store")))
    }

    private func damage(_ position: UInt64, _ log: EventLog) throws {
        let environment = log.environment
        try environment.withWriteTransaction { transaction in
            try withNumberKey(position) { key in
                try transaction.put(WritableTable(environment.tables.log), Array(key), [1, 2, 3])
            }
        }
    }

    private func log(_ user: String, _ api: API, _ name: String = "won") async -> UInt64 {
        let answer = await api.post("/v1/log/event", #"{"user":"\#(user)","name":"\#(name)"}"#)
        guard case .int(let position) = answer.json.at("position") else { return 0 }
        return UInt64(position)
    }

    @Test("A condition on a trait is answered of all other users, also when the log was to be scanned once for all")
    func traits() async throws {
        try await withStore { api in
            api.store.traits = [ComputedTrait("n", .count, of: .event("won"))]
            var third: UInt64 = 0
            for user in ["a", "b", "c", "d", "e", "f", "g", "h"] {
                let position = await log(user, api)
                if user == "c" { third = position }
            }
            try damage(third, api.log)
            let json = await api.get("/v1/users", [("where", "traits.n = 1")]).json
            #expect(json.at("users").asArray?.map { $0.at("id").text } == ["a", "b", "d", "e", "f", "g", "h"])
            #expect(json.at("damaged_count") == 1 && json.at("damaged.0.user_number") == 3, "\(json.json)")
        }
    }

    @Test("A search for addresses finds all other users, and names the one who cannot be read")
    func addresses() async throws {
        try await withStore { api in
            for user in ["a", "b", "c"] {
                let email = #"{"user":"\#(user)","attribute":"email","value":"\#(user)@x.example"}"#
                #expect(await api.post("/v1/log/user-attribute", email).status == 200)
            }
            // The second event of the second user.
            try damage(4, api.log)
            let json = await api.get("/v1/users", [("prefix", "email:")]).json
            #expect(json.at("users").asArray?.map { $0.at("id").text } == ["a", "c"], "\(json.json)")
            #expect(json.at("damaged_count") == 1 && json.at("damaged.0.user_number") == 2, "\(json.json)")
            // No value of theirs is needed for this.
            #expect(await api.get("/v1/users", [("prefix", "id:b")]).json.at("users.0.id") == "b")
        }
    }

    @Test("Events of a merged user are exported where another event of the target is damaged")
    func merged() async throws {
        try await withStore { api in
            _ = await log("source", api)
            _ = await log("target", api)
            let merge =
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"source"},"#
                + #""identifier_to_keep":{"external_id":"target"}}]}"#
            #expect(await api.post("/users/merge", merge).status == 202)
            let last = await log("target", api)
            try damage(last, api.log)
            let (status, json) = await api.get("/v1/export", [("what", "events")])
            #expect(status == 200, "\(json.json)")
            let profiles = json.at("rows").asArray?.map { $0.at("profile_number") }
            #expect(profiles == Array(repeating: 2, count: Int(last) - 1))
            #expect(json.at("damaged.0.position") == .int(Int64(last)) && json.at("damaged_count") == 1)
        }
    }

    @Test("A history with the events of merged users is listed where one of its records is damaged")
    func mergedHistory() async throws {
        try await withStore { api in
            _ = await log("source", api)
            let damaged = await log("target", api)
            let merge =
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"source"},"#
                + #""identifier_to_keep":{"external_id":"target"}}]}"#
            #expect(await api.post("/users/merge", merge).status == 202)
            try damage(damaged, api.log)
            for parts in [[], [(name: "parts", value: "times")]] {
                let (status, json) = await api.get("/v1/history", [("user", "target"), ("merged", "true")] + parts)
                #expect(status == 200, "\(json.json)")
                #expect(json.at("damaged.0.position") == .int(Int64(damaged)) && json.at("damaged_count") == 1)
            }
        }
    }

    @Test("An export as of a position says nothing of damage after it")
    func later() async throws {
        try await withStore { api in
            let first = await log("ana", api)
            try damage(await log("ana", api, "lost"), api.log)
            let query = [("what", "events"), ("as_of", "\(first)"), ("kind", "customEventLogged")]
            let json = await api.get("/v1/export", query).json
            #expect(json.at("rows").count == 1 && json.at("more") == false)
            #expect(json.at("damaged") == .null, "\(json.json)")
        }
    }

    @Test("What is damaged between two pages is in one of them")
    func pages() async throws {
        try await withStore { api in
            for user in ["a", "b", "c"] {
                for _ in 0..<3 { _ = await log(user, api) }
            }
            let second = try #require(try api.log.find(.externalID("b"))).number
            let position = try api.log.history(of: second)[1].position
            try damage(position.rawValue, api.log)
            for isReverse in [false, true] {
                var (counts, from, to): ([AttributeValue], Int64, Int64) = ([], 1, 4)
                var more: AttributeValue = true
                while more == true {
                    let query = [("user", "b"), ("limit", "1"), ("from", "\(from)"), ("to", "\(to)")]
                    let json = await api.get("/v1/history", query + [("reverse", "\(isReverse)")]).json
                    counts.append(json.at("damaged_count"))
                    more = json.at("more")
                    guard case .int(let version) = json.at("events.0.version") else { break }
                    if isReverse { to = version - 1 } else { from = version + 1 }
                }
                #expect(counts == (isReverse ? [.null, .null, 1] : [.null, 1, .null]))
            }
            let (first, next) = (
                await api.get("/v1/diff", [("a", "0"), ("limit", "1")]).json,
                await api.get("/v1/diff", [("a", "0"), ("limit", "1"), ("after", "1")]).json
            )
            #expect(first.at("users.0.user.id") == "a" && first.at("damaged") == .null, "\(first.json)")
            #expect(next.at("users.0.user.id") == "c" && next.at("damaged_count") == 1, "\(next.json)")
        }
    }
}
