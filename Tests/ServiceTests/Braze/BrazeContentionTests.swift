import Foundation
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

    @Test("A state that is far behind catches up on no thread that decides or commits, and the decision is made again")
    func farStates() async throws {
        try await withWriter { (api) async throws in
            let turns = Mutex((decisions: 0, catchUps: [String]()))
            let answer = try await api.settle {
                let count = turns.withLock { turns in
                    turns.decisions += 1
                    return turns.decisions
                }
                if count % 2 == 1 {
                    throw StateIsFar { turns.withLock { $0.catchUps.append(Thread.current.name ?? "") } }
                }
                // Outrun until nobody of this process can come between.
                guard count > 8 else {
                    throw AppendError.versionConflict(user: .externalID("a"), expected: .noUser, actual: .none)
                }
                return .answer(APIAnswer(status: 204, body: []))
            }
            #expect(answer.status == 204)
            #expect(turns.withLock { $0.catchUps } == Array(repeating: "beside-writer", count: 5))
        }
    }

    @Test("Behind an erasure a decision folds nothing", arguments: [#""x":1"#, #""push_tokens":"#])
    func erasedMeanwhile(part: String) async throws {
        try await withWriter { (api) async throws in
            let token = #"[{"app_id":"app","token":"t","device_id":"d"}]"#
            let object =
                part.hasSuffix(":")
                ? #"{"push_token_import":true,\#(part)\#(token)}"# : Wire.user("b", part)
            let body = #"{"attributes":[\#(object)]}"#
            await api.track(Wire.user("a", #""x":true"#))
            try api.catalogue.catchUp()
            try api.pushTokens.catchUp()
            _ = try api.log.erase([.externalID("a")], actor: "a test", reason: "asked to")
            var builder = api.log.prepare()
            let request = Array(body.utf8)
            let reader = TrackReader(workspace: api.workspace, now: api.log.options.now(), request: request)
            do {
                let claims = TypeClaims.Held(api.typeClaims)
                _ = try TrackDecision(TrackBody(request, api.trackLimits), reader, api, claims, &builder)
                Issue.record("It was decided by a state from before the erasure, or by one that was folded meanwhile.")
            } catch is StateIsFar {}
            #expect(await refusals(api, [("/users/track", body)]) == [])
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
            #expect(profiles.pins[.brazeID(user.brazeID)] == .some(user))
        }
    }

    @Test("What one profile decides is not stored for whoever that user was merged into, whatever version they have")
    func mergedMeanwhile() async throws {
        var haveSameVersion = 0
        for events in 0..<8 {
            try await withAPI { (api) async throws in
                await api.track(Wire.aliasOnly("l", "n"), Wire.aliasOnly("l", "n"), Wire.aliasOnly("l", "n"))
                await api.track(Wire.user("kept"))
                for _ in 0..<events { await api.track(Wire.user("kept")) }
                let alias = UserID.alias(label: "l", name: "n")
                let merged = try #require(try api.log.find(alias))
                let ids = [alias, .brazeID(merged.brazeID)]
                let appends = try ids.map { id in
                    var profiles = TrackProfiles(api.log)
                    try profiles.pin(id)
                    var builder = api.log.prepare()
                    try builder.add(.customEventLogged(CustomEvent(name: "e")), EventContext(source: .rest), to: id)
                    profiles.expectPins(in: &builder)
                    return try builder.finish()
                }
                let merge =
                    #"{"merge_updates":[{"identifier_to_merge":{"user_alias":\#(Wire.alias("l", "n"))},"#
                    + #""identifier_to_keep":{"external_id":"kept"}}]}"#
                #expect(await refusals(api, [("/users/merge", merge)]) == [])
                let kept = try #require(try api.log.find(.externalID("kept")))
                if kept.version == merged.version { haveSameVersion += 1 }
                for append in appends { #expect(throws: AppendError.self) { try api.log.commit(append) } }
                #expect(try api.log.find(.externalID("kept"))?.version == kept.version)
            }
        }
        #expect(haveSameVersion == 1)
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
