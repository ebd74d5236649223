import ProfileLog
import Synchronization
import Testing

@testable import ProfileLogAPI

@Suite("Requests that come between each other")
struct BrazeContentionTests {
    /// Runs `body` with the API as the service has it: many callers, one writer.
    private func withWriter(_ body: (API) async throws -> Void) async throws {
        try await withAPI { plain in
            let workspace = try Workspace(yaml: "subscription_groups: [{id: news, name: N, channel: email}]")
            try await body(API(writer: LogWriter(plain.log), workspace: workspace))
        }
    }

    /// Sends all `bodies` at once; gives the answers that are none of success.
    private func refusals(_ api: API, _ bodies: [(path: String, body: String)]) async -> [String] {
        await withTaskGroup(of: String.self) { group in
            for (path, body) in bodies { group.addTask { await api.say(path, body) } }
            return await group.reduce(into: []) { if !$1.hasPrefix("201 "), !$1.hasPrefix("202 ") { $0.append($1) } }
        }
    }

    @Test("Before each decision its states catch up; where that takes long, not on the writer's thread")
    func states() async throws {
        try await withWriter { (api) async throws in
            let turns = Mutex((catchUps: 0, looks: 0, decisions: 0))
            let states = DecidedBy {
                turns.withLock { $0.catchUps += 1 }
            } catchUpIfNear: {
                turns.withLock { turns in
                    turns.looks += 1
                    return turns.looks > 1
                }
            }
            let answer = try await api.settle(states) {
                let count = turns.withLock { turns in
                    turns.decisions += 1
                    return turns.decisions
                }
                // Outrun until nobody of this process can come between.
                guard count > 6 else {
                    throw AppendError.versionConflict(user: .externalID("a"), expected: .noUser, actual: .none)
                }
                return .answer(APIAnswer(status: 204, body: []))
            }
            #expect(answer.status == 204)
            #expect(turns.withLock { [$0.catchUps, $0.looks, $0.decisions] } == [6, 2, 7])
        }
    }

    @Test("What is pinned is what was read, whatever IDs a user is asked for by")
    func pins() async throws {
        try await withAPI { (api) async throws in
            await api.track(Wire.user("a"))
            let user = try #require(try api.log.find(.externalID("a")))
            var profiles = TrackProfiles(api.log)
            _ = try profiles.customAttribute("made", of: .externalID("a"))
            await api.track(Wire.user("a", #""made":false"#))
            try profiles.pin(.brazeID(user.brazeID))
            #expect(profiles.pins[.brazeID(user.brazeID)] == .exactly(user.version))
        }
    }

    @Test("Who is deleted meanwhile takes nobody else's data along", arguments: ["track", "track/sync"])
    func deleted(path: String) async throws {
        try await withWriter { api in
            for _ in 0..<12 {
                await api.track(Wire.user("a", #""email":"a@b.example""#))
                let event = #""name":"e","time":"2026-01-01""#
                let others = path == "track" ? #",{"external_id":"kept",\#(event)}"# : ""
                var bodies = (0..<8).map { _ in
                    (path: "/users/\(path)", body: #"{"events":[{"email":"a@b.example",\#(event)}\#(others)]}"#)
                }
                bodies.insert(("/users/delete", #"{"external_ids":["a"]}"#), at: 2)
                #expect(await refusals(api, bodies) == [])
            }
            if path == "track" {
                #expect(await api.export(#""external_ids":["kept"]"#).at("0.custom_events.0.count") == 96)
            }
        }
    }

    @Test(
        "An object that only updates makes nobody, also if its user is deleted while it is under way",
        arguments: [
            #""user_alias":{"alias_label":"l","alias_name":"n"}"#, #""external_id":"a","_update_existing_only":true"#,
        ])
    func updatesOnly(identifier: String) async throws {
        try await withWriter { (api) async throws in
            for _ in 0..<24 {
                let alias = #"{"external_id":"a","alias_label":"l","alias_name":"n"}"#
                await api.track(Wire.user("a"))
                #expect(await refusals(api, [("/users/alias/new", #"{"user_aliases":[\#(alias)]}"#)]) == [])
                var bodies = (0..<8).map { _ in
                    (path: "/users/track", body: #"{"events":[{\#(identifier),"name":"e","time":"2026-01-01"}]}"#)
                }
                bodies.insert(("/users/delete", #"{"external_ids":["a"]}"#), at: 2)
                #expect(await refusals(api, bodies) == [])
                #expect(try api.log.find(.externalID("a")) == nil)
                #expect(try api.log.find(.alias(label: "l", name: "n")) == nil)
            }
        }
    }

    @Test("Nobody is refused because others came first", arguments: UInt64(0)..<3)
    func contention(seed: UInt64) async throws {
        try await withWriter { api in
            var random = SeededGenerator(seed: seed)
            for round in 0..<4 {
                let person = #""email":"a@b.example","prioritization":["most_recently_updated"]"#
                let state = #""subscription_group_id":"news","subscription_state":"subscribed""#
                await api.track(Wire.user("a", #""email":"a@b.example""#))
                var bodies: [(path: String, body: String)] = []
                for number in 0..<24 {
                    bodies += [
                        (
                            "/users/track",
                            #"{"attributes":[{"external_id":"a","subscription_groups":[{\#(state)}]}]}"#
                        ),
                        ("/users/track", #"{"attributes":[{"email":"a@b.example","x":{"add":[\#(number)]}}]}"#),
                        ("/subscription/status/set", #"{\#(state),"external_id":"a"}"#),
                        (
                            "/v2/subscription/status/set",
                            #"{"subscription_groups":[{\#(state),"emails":["a@b.example"]}]}"#
                        ),
                    ]
                }
                bodies += [
                    ("/users/delete", #"{"email_addresses":[{\#(person)}]}"#),
                    ("/users/identify", #"{"emails_to_identify":[{"external_id":"i\#(round)",\#(person)}]}"#),
                    (
                        "/users/merge",
                        #"{"merge_updates":[{"identifier_to_merge":{\#(person)},"identifier_to_keep":{"external_id":"b"}}]}"#
                    ),
                ]
                #expect(await refusals(api, bodies.shuffled(using: &random)) == [])
            }
        }
    }
}
