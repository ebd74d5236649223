import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogNativeAPI
@testable import ProfileLogRequests

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

    /// The number of times that a decision was made.
    private final class TurnCounter: Sendable {
        private let turns = Mutex(0)

        func next() -> Int {
            turns.withLock { turns in
                turns += 1
                return turns
            }
        }
    }

    /// Changes user `a`, as another request might between a decision and its commit.
    private static func interfere(_ log: EventLog) throws {
        _ = try log.append([.customEventLogged(CustomEvent(name: "other"))], to: .externalID("a"))
    }

    /// Stores an event of user `a`, who must stay unchanged.
    private static func store(_ view: DecisionView) throws -> Decision<Int> {
        try view.requireUnchanged(.externalID("a"))
        var builder = view.log.prepare()
        try builder.add(
            .customEventLogged(CustomEvent(name: "e")), EventContext(source: .rest), to: .externalID("a"))
        return Decision(201, storing: try builder.finish())
    }

    @Test("A decision that conflicts each time is made under the lock, where nothing comes between")
    func underLock() async throws {
        try await withWriter { (api) async throws in
            await api.track(Wire.user("a"))
            let turns = TurnCounter()
            let (status, _) = try await api.store.decide { view in
                let decision = try Self.store(view)
                if turns.next() <= RequestStore.optimisticAttempts { try Self.interfere(view.log) }
                return decision
            }
            #expect(status == 201 && turns.next() == RequestStore.optimisticAttempts + 2)
            #expect(await api.export(#""external_ids":["a"]"#).at("0.custom_events").count == 2)
        }
    }

    @Test("A decision that reads much runs on the slow path; if it conflicts there too, the answer is 503")
    func busy() async throws {
        try await withWriter { (api) async throws in
            await api.track(Wire.user("a"))
            func decide(conflicts: Int) async throws -> Int {
                let turns = TurnCounter()
                return try await api.store.decide { view in
                    // More than a connection or all writers may wait for.
                    for _ in 0...DecisionView.Effort.underLock.mostReads {
                        _ = try view.find(.externalID("a")).map { try view.profile(of: $0.number) }
                    }
                    let decision = try Self.store(view)
                    if turns.next() <= conflicts { try Self.interfere(view.log) }
                    return decision
                }.value
            }
            #expect(try await decide(conflicts: RequestStore.optimisticAttempts - 1) == 201)
            let before = try api.log.lastPosition()
            do {
                _ = try await decide(conflicts: .max)
                Issue.record("It was stored")
            } catch {
                let answer = APIError(error).answer(in: .braze)
                #expect(answer.status == 503 && answer.code == "busy")
                #expect(String(decoding: answer.body, as: UTF8.self).contains("nothing was stored"))
            }
            let others = UInt64(RequestStore.optimisticAttempts)
            #expect(try api.log.lastPosition().rawValue == before.rawValue + others)
        }
    }

    /// The email leads to more users than may be read while all writers wait, and another process gives it to a further
    /// one whenever the service has read them.
    @Test("Over HTTP the answer to a decision that conflicts each time says when to try again")
    func retryAfter() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        // A flush of the index would stop the writer for longer than a decision takes.
        var options = LogOptions()
        options.indexLag = 1 << 20
        let log = try folder.open("store", options: options)
        let email = ProfileEvent.userAttributesChanged([UserAttributeChange(.email, .string("a@example.com"))])
        @Sendable func give(to users: Range<Int>) throws {
            var builder = log.prepare()
            for user in users {
                try builder.add(email, EventContext(source: .rest), to: .externalID("u\(user)"))
            }
            _ = try log.commit(builder.finish())
        }
        var users = 0
        while users <= DecisionView.Effort.underLock.mostReads {
            try give(to: users..<users + 500)
            users += 500
        }
        let service = try await Service(in: folder)
        // A thread of its own: other tests may keep the shared ones for longer than the request takes.
        let writer = Thread { [users] in
            var user = users
            while !Thread.current.isCancelled, (try? give(to: user..<user + 1)) != nil {
                user += 1
                usleep(500)
            }
        }
        writer.start()
        defer { writer.cancel() }
        let refused = try await service.post("/users/track", #"{"attributes":[{"email":"a@example.com","a":1}]}"#)
        writer.cancel()
        #expect(refused.status == 503 && refused.json.at("code") == "busy", "\(refused)")
        #expect(refused.headers["retry-after"] == "1")
        #expect(try await service.stop() == 0)
    }

    @Test("A request is decided though a user is erased at each step")
    func erasedAtEachStep() async throws {
        try await withWriter { (api) async throws in
            for number in 0..<8 { await api.track(Wire.user("u\(number)")) }
            let turns = TurnCounter()
            let (answer, _) = try await api.store.decide { view -> Decision<Int> in
                for _ in 0..<2 {
                    let user = UserID.externalID("u\(turns.next() - 1)")
                    _ = try view.log.erase([user], actor: "a test", reason: "asked to")
                    try view.withState(of: api.braze.catalogue) { _ in }
                }
                view.requireUnchanged(.types(of: ["x"]))
                var builder = view.log.prepare()
                try builder.add(
                    .customEventLogged(CustomEvent(name: "e")), EventContext(source: .rest), to: .externalID("b"))
                return Decision(201, storing: try builder.finish())
            }
            #expect(answer == 201)
        }
    }

    @Test("Who has an address is looked up on the slow path, if they are many")
    func manySharers() async throws {
        try await withWriter { (api) async throws in
            let mail = #""email":"a@b.example""#
            let count = DecisionView.Effort.fast.mostReads + 1
            for first in stride(from: 0, to: count, by: 75) {
                let users = (first..<min(first + 75, count)).map { Wire.user("u\($0)", mail) }.joined(separator: ",")
                #expect(await refusals(api, [("/users/track", #"{"attributes":[\#(users)]}"#)]) == [])
            }
            let body = #"{"attributes":[{\#(mail),"x":1}]}"#
            func decide(_ effort: DecisionView.Effort) throws {
                var builder = api.log.prepare()
                _ = try api.decide(body, api.view(effort), &builder)
            }
            try api.braze.catalogue.catchUp()
            #expect(throws: WorkBudgetExceeded.self) { try decide(.fast) }
            try decide(.slow)
            #expect(await refusals(api, [("/users/track", body)]) == [])
            #expect(await api.export(#""external_ids":["u\#(count - 1)"]"#).at("0.custom_attributes.x") == 1)
        }
    }

    @Test("After an erasure a decision folds nothing on the fast path", arguments: [#""x":1"#, #""push_tokens":"#])
    func erasedMeanwhile(part: String) async throws {
        try await withWriter { (api) async throws in
            let token = #"[{"app_id":"app","token":"t","device_id":"d"}]"#
            let object =
                part.hasSuffix(":")
                ? #"{"push_token_import":true,\#(part)\#(token)}"# : Wire.user("b", part)
            let body = #"{"attributes":[\#(object)]}"#
            await api.track(Wire.user("a", #""x":true"#))
            try api.braze.catalogue.catchUp()
            try api.braze.pushTokens.catchUp()
            _ = try api.log.erase([.externalID("a")], actor: "a test", reason: "asked to")
            // Neither by a state from before the erasure, nor by one that is folded while it runs.
            #expect(throws: WorkBudgetExceeded.self) {
                var builder = api.log.prepare()
                _ = try api.decide(body, api.view(.fast), &builder)
            }
            #expect(await refusals(api, [("/users/track", body)]) == [])
        }
    }

    @Test("A user is required as they were read, whatever IDs they are asked for by")
    func unchanged() async throws {
        try await withAPI { (api) async throws in
            await api.track(Wire.user("a"))
            let user = try #require(try api.log.find(.externalID("a")))
            let view = api.view()
            var profiles = TrackProfiles(view)
            _ = try profiles.customAttribute("made", of: .externalID("a"))
            await api.track(Wire.user("a", #""made":false"#))
            try view.requireUnchanged(.assignedID(user.brazeID))
            #expect(view.unchanged[.assignedID(user.brazeID)] == .some(user))
        }
    }

    @Test("A decision on one profile is not stored for the user that it was merged into, whatever their version")
    func mergedMeanwhile() async throws {
        var haveSameVersion = 0
        for events in 0..<8 {
            try await withAPI { (api) async throws in
                await api.track(Wire.aliasOnly("l", "n"), Wire.aliasOnly("l", "n"), Wire.aliasOnly("l", "n"))
                await api.track(Wire.user("kept"))
                for _ in 0..<events { await api.track(Wire.user("kept")) }
                let alias = UserID.alias(label: "l", name: "n")
                let merged = try #require(try api.log.find(alias))
                let ids = [alias, .assignedID(merged.brazeID)]
                let appends = try ids.map { id in
                    let view = api.view()
                    try view.requireUnchanged(id)
                    var builder = api.log.prepare()
                    try builder.add(.customEventLogged(CustomEvent(name: "e")), EventContext(source: .rest), to: id)
                    return view.completed(try builder.finish())
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
        "An object that names an address, or only updates, does not change the user into which its own was just merged",
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
            let (answer, _) = try await api.store.decide { view -> Decision<Int> in
                var builder = api.log.prepare()
                _ = try api.decide(#"{"attributes":[{\#(identifier),"plan":"free"}]}"#, view, &builder)
                let isFirst = isMerged.withLock { isMerged in
                    defer { isMerged = true }
                    return !isMerged
                }
                if isFirst {
                    let merge = IdentityChange.merge(source: .externalID("p"), target: .externalID("jane"))
                    _ = try api.log.commit(.identity(merge, context: EventContext(source: .rest)))
                }
                return Decision(201, storing: try builder.finish())
            }
            #expect(answer == 201)
            #expect(await api.export(#""external_ids":["jane"]"#).at("0.custom_attributes.plan") == "gold")
            let made = await api.export(#""email_address":"x@y.example""#).at("0.custom_attributes.plan")
            #expect(made == (identifier == mail ? "free" : .null))
        }
    }

    @Test("A user who is merged while a request is decided is not taken for the canonical user")
    func mergedWhileDecided() async throws {
        try await withAPI { (api) async throws in
            await api.track(Wire.user("p", #""email":"x@y.example""#), Wire.user("jane"))
            let appends = try [true, false].map { isUnchanged in
                let view = api.view()
                var profiles = TrackProfiles(view)
                let owner = try #require(try profiles.user(having: .email("x@y.example")))
                if isUnchanged { try view.requireUnchanged(owner) } else { try view.requireSame(owner) }
                var builder = api.log.prepare()
                try builder.add(.customEventLogged(CustomEvent(name: "e")), EventContext(source: .rest), to: owner)
                return view.completed(try builder.finish())
            }
            let merge = IdentityChange.merge(source: .externalID("p"), target: .externalID("jane"))
            _ = try api.log.commit(.identity(merge, context: EventContext(source: .rest)))
            for append in appends { #expect(throws: AppendError.self) { try api.log.commit(append) } }
        }
    }

    @Test("An address that is given to a user while a write for it is decided makes no second user")
    func givenMeanwhile() async throws {
        try await withWriter { (api) async throws in
            let turns = TurnCounter()
            let (_, receipt) = try await api.store.decide { view -> Decision<Int> in
                var builder = view.log.prepare()
                let write = Write(
                    user: .email("x@y.example"), context: EventContext(source: .app),
                    events: [.customEventLogged(CustomEvent(name: "e"))], expected: .any)
                try builder.add(write, view)
                if turns.next() == 1 {
                    let given = ProfileEvent.userAttributesChanged([.init(.email, "x@y.example")])
                    _ = try view.log.append([given], to: .externalID("a"))
                }
                return Decision(0, storing: try builder.finish())
            }
            let user = receipt?.places.last?.user
            #expect(try api.log.find(.externalID("a"))?.number == user && api.log.userCount() == 1)
        }
    }

    @Test(
        "A user who is deleted during a request takes no other user's data along", arguments: ["track", "track/sync"])
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
        "An object that only updates creates no user, also if its user is deleted while it is under way",
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

    @Test("No request is refused because others came first", arguments: UInt64(0)..<3)
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
                        #"{"merge_updates":[{"identifier_to_merge":{\#(person)},"#
                            + #""identifier_to_keep":{"external_id":"b"}}]}"#
                    ),
                ]
                #expect(await refusals(api, bodies.shuffled(using: &random)) == [])
            }
        }
    }
}
