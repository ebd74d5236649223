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

    @Test("What takes long is decided on threads of its own, and what is outrun there too on the writer's")
    func ownThread() async throws {
        try await withWriter { (api) async throws in
            let turns = Mutex<[(place: DecisionBasis.Place, thread: String)]>([])
            let answer = try await api.settle { basis in
                let count = turns.withLock { turns in
                    turns.append((basis.place, Thread.current.name ?? ""))
                    return turns.count
                }
                guard count < 9 else { return .answer(APIAnswer(status: 204, body: [])) }
                guard basis.place == .ownThread else { throw TakesLong() }
                throw AppendError.versionConflict(user: .externalID("a"), expected: .noUser, actual: .none)
            }
            #expect(answer.status == 204)
            let round: [DecisionBasis.Place] = [.ownThread, .ownThread, .ownThread, .writer]
            let (first, rest) = turns.withLock { ($0[0], Array($0[1...])) }
            #expect(first.place == .connection)
            #expect(rest.map { $0.place } == round + round)
            #expect(rest.allSatisfy { ($0.thread == "long-decision") == ($0.place == .ownThread) })
        }
    }

    @Test("A request is decided in the end, though somebody is erased at each step and others come first")
    func erasedAtEachStep() async throws {
        try await withWriter { (api) async throws in
            for number in 0..<13 { await api.track(Wire.user("u\(number)")) }
            try api.catalogue.catchUp()
            let erased = Mutex(0)
            let answer = try await api.settle { basis in
                for _ in 0..<3 {
                    let number = erased.withLock { erased in
                        defer { erased += 1 }
                        return erased
                    }
                    _ = try api.log.erase([.externalID("u\(number)")], actor: "a test", reason: "asked to")
                    try basis.catalogue.catchUp(at: basis.place)
                    try basis.catalogue.withState(at: basis.place) { _ in }
                }
                guard basis.place == .writer else {
                    throw AppendError.versionConflict(user: .externalID("a"), expected: .noUser, actual: .none)
                }
                return .answer(APIAnswer(status: 204, body: []))
            }
            #expect(answer.status == 204)
            // On the connection one, three at each attempt on a thread of its own, and three on the writer's.
            #expect(erased.withLock { $0 } == 13)
        }
    }

    @Test("Whom an address means is found out where nobody waits, if many have it")
    func manySharers() async throws {
        try await withWriter { (api) async throws in
            let mail = #""email":"a@b.example""#
            let count = TrackAddresses.usersAtOnce + 1
            for first in stride(from: 0, to: count, by: 75) {
                let users = (first..<min(first + 75, count)).map { Wire.user("u\($0)", mail) }.joined(separator: ",")
                #expect(await refusals(api, [("/users/track", #"{"attributes":[\#(users)]}"#)]) == [])
            }
            let body = #"{"attributes":[{\#(mail),"x":1}]}"#
            func decide(at place: DecisionBasis.Place) throws {
                var builder = api.log.prepare()
                _ = try api.decide(body, at: place, &builder)
            }
            try api.catalogue.catchUp()
            #expect(throws: TakesLong.self) { try decide(at: .connection) }
            try decide(at: .ownThread)
            #expect(await refusals(api, [("/users/track", body)]) == [])
            #expect(await api.export(#""external_ids":["u\#(count - 1)"]"#).at("0.custom_attributes.x") == 1)
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
            // Neither by a state from before the erasure, nor by one that is folded meanwhile.
            #expect(throws: TakesLong.self) {
                var builder = api.log.prepare()
                _ = try api.decide(body, at: .connection, &builder)
            }
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

    @Test(
        "An object that names an address, or only updates, changes nobody into whom its user was merged meanwhile",
        arguments: [
            #""email":"x@y.example""#, #""user_alias":{"alias_label":"l","alias_name":"n"}"#,
            #""external_id":"p","_update_existing_only":true"#,
        ])
    func mergedIntoSomebody(identifier: String) async throws {
        try await withWriter { (api) async throws in
            let mail = #""email":"x@y.example""#
            await api.track(Wire.user("p", mail), Wire.user("jane", #""email":"j@z.example","plan":"gold""#))
            let aliases = [("p", "n"), ("jane", "m")].map {
                #"{"external_id":"\#($0)","alias_label":"l","alias_name":"\#($1)"}"#
            }
            let aliased = (path: "/users/alias/new", body: #"{"user_aliases":[\#(aliases.joined(separator: ","))]}"#)
            #expect(await refusals(api, [aliased]) == [])
            let isMerged = Mutex(false)
            let answer = try await api.settle { basis in
                var builder = api.log.prepare()
                _ = try api.decide(#"{"attributes":[{\#(identifier),"plan":"free"}]}"#, at: basis.place, &builder)
                let isFirst = isMerged.withLock { isMerged in
                    defer { isMerged = true }
                    return !isMerged
                }
                if isFirst {
                    let merge = IdentityChange.merge(source: .externalID("p"), target: .externalID("jane"))
                    _ = try api.log.commit(.identity(merge, context: EventContext(source: .rest)))
                }
                return .store(try builder.finish()) { _ in APIAnswer(status: 201, body: []) }
            }
            #expect(answer.status == 201)
            #expect(await api.export(#""external_ids":["jane"]"#).at("0.custom_attributes.plan") == "gold")
            let made = await api.export(#""email_address":"x@y.example""#).at("0.custom_attributes.plan")
            #expect(made == (identifier == mail ? "free" : .null))
        }
    }

    @Test("Who is merged while a request is decided is not mistaken for whom they went into")
    func mergedWhileDecided() async throws {
        try await withAPI { (api) async throws in
            await api.track(Wire.user("p", #""email":"x@y.example""#), Wire.user("jane"))
            var profiles = TrackProfiles(api.log)
            var addresses = TrackAddresses(api.log, at: .ownThread)
            let owner = try #require(try addresses.user(.email("x@y.example"), &profiles))
            let merge = IdentityChange.merge(source: .externalID("p"), target: .externalID("jane"))
            _ = try api.log.commit(.identity(merge, context: EventContext(source: .rest)))
            for isPinned in [true, false] {
                var profiles = profiles
                if isPinned { try profiles.pin(owner) } else { try profiles.hold(owner) }
                var builder = api.log.prepare()
                try builder.add(.customEventLogged(CustomEvent(name: "e")), EventContext(source: .rest), to: owner)
                profiles.expectPins(in: &builder)
                let append = try builder.finish()
                #expect(throws: AppendError.self) { try api.log.commit(append) }
            }
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
