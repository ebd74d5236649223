import Dispatch
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("POST /users/merge")
struct BrazeMergeTests {
    private static let identifiers =
        "identifiers must be objects with an 'external_id' property that is a string, 'user_alias' property that is an "
        + "object, "
        + "'email' property that is a string, or 'phone' property that is a string"
    private static let keys = "'merge_updates' must only have 'identifier_to_merge' and 'identifier_to_keep'"
    private static let notObjects = "'merge_updates' must be an array of objects"
    private static let a = #"{"external_id":"a"}"#

    private static func update(_ source: String, _ target: String) -> String {
        #"{"identifier_to_merge":\#(source),"identifier_to_keep":\#(target)}"#
    }

    /// The value of `merge_updates`, the message of the refusal, and its place.
    static let refusals: [(String, String, String)] = [
        ("7", notObjects, "merge_updates"),
        ("{}", notObjects, "merge_updates"),
        ("null", notObjects, "merge_updates"),
        ("[]", notObjects, "merge_updates"),
        ("[\(update(a, a)),7]", notObjects, "merge_updates.1"),
        (
            "[\(Array(repeating: update(a, a), count: 51).joined(separator: ","))]",
            "a single request may not contain more than 50 merge updates", "merge_updates"
        ),
        (#"[{"identifier_to_merge":\#(a)}]"#, keys, "merge_updates.0"),
        (#"[{"identifier_to_merge":\#(a),"identifier_to_keep":\#(a),"more":1}]"#, keys, "merge_updates.0"),
        ("[\(update("7", a))]", identifiers, "merge_updates.0.identifier_to_merge"),
        ("[\(update(a, "null"))]", identifiers, "merge_updates.0.identifier_to_keep"),
        ("[\(update(a, "{}"))]", identifiers, "merge_updates.0.identifier_to_keep"),
        ("[\(update(a, #"{"external_id":7}"#))]", identifiers, "merge_updates.0.identifier_to_keep"),
        ("[\(update(a, #"{"user_alias":"x"}"#))]", identifiers, "merge_updates.0.identifier_to_keep"),
        ("[\(update(a, #"{"email":{}}"#))]", identifiers, "merge_updates.0.identifier_to_keep"),
        ("[\(update(a, #"{"braze_id":"x"}"#))]", identifiers, "merge_updates.0.identifier_to_keep"),
        ("[\(update(a, #"{"external_id":""}"#))]", "'external_id' is not valid", "merge_updates.0.identifier_to_keep"),
        (
            "[\(update(a, #"{"user_alias":{"alias_name":"x"}}"#))]", "'user_alias' is not valid",
            "merge_updates.0.identifier_to_keep"
        ),
        ("[\(update(a, #"{"email":"x"}"#))]", "'email' is not valid", "merge_updates.0.identifier_to_keep"),
        (
            "[\(update(#"{"phone":"+49301234567"}"#, a))]", "'prioritization' is required",
            "merge_updates.0.identifier_to_merge"
        ),
        (
            "[\(update(a, #"{"email":"s@x.example","prioritization":["identified","unidentified"]}"#))]",
            "'prioritization' is not valid", "merge_updates.0.identifier_to_keep"
        ),
    ]

    @Test("A request with anything wrong is refused as a whole, in Braze's words", arguments: refusals)
    func refusal(updates: String, message: String, place: String) async throws {
        try await withAPI { api in
            await api.track(Wire.user("a"), Wire.user("b"))
            let last = try api.log.lastPosition()
            let answer = await api.say("/users/merge", #"{"merge_updates":\#(updates)}"#)
            #expect(
                answer
                    == #"400 {"message":"\#(message)","remedy":"Correct it and try again; nothing was merged.","#
                    + #""code":"invalid","place":"\#(place)"}"#
            )
            #expect(try api.log.lastPosition() == last)
        }
    }

    @Test("A merge is 202, and what Braze does not say is in `dropped`")
    func answers() async throws {
        try await withAPI { api in
            await api.track(Wire.user("a"), Wire.user("b"), Wire.user("c", #""email":"c@x.example""#))
            func merge(_ updates: String...) async -> String {
                await api.say("/users/merge", #"{"merge_updates":[\#(updates.joined(separator: ","))]}"#)
            }
            let b = #"{"external_id":"b"}"#
            #expect(await merge(Self.update(Self.a, b)) == #"202 {"message":"success"}"#)
            let missing = #"{"reason":"no such user exists","input_array":"merge_updates","index":"#
            let again =
                #"202 {"message":"success","dropped":[\#(missing)0},"#
                + #"{"reason":"'identifier_to_keep': no user has this address","#
                + #""input_array":"merge_updates","index":1}]}"#
            let unknown = #"{"email":"no@x.example","prioritization":["identified"]}"#
            #expect(await merge(Self.update(Self.a, b), Self.update(b, unknown)) == again)
            let same = #"{"reason":"the two are the same user","input_array":"merge_updates","index":0}"#
            #expect(await merge(Self.update(b, b)) == #"202 {"message":"success","dropped":[\#(same)]}"#)
            let byEmail = #"{"email":"C@x.example","prioritization":["most_recently_updated"]}"#
            #expect(await merge(Self.update(byEmail, b)) == #"202 {"message":"success"}"#)
            #expect(await merge(Self.update(b, byEmail)) == #"202 {"message":"success","dropped":[\#(same)]}"#)
            let kept = await api.export(#""external_ids":["a","b","c"]"#)
            #expect(kept.count == 1)
            #expect(kept.at("0.email") == "c@x.example")
        }
    }

    /// Merges the user with the address s@x.example into user `a`.
    private static let shared = update(
        #"{"email":"s@x.example","prioritization":["unidentified","most_recently_updated"]}"#, a)

    @Test("An address is resolved while others write")
    func lookedUpBeside() async throws {
        try await withAPI { plain in
            let writer = LogWriter(plain.log)
            let api = API(writer: writer)
            let (begins, begin) = AsyncStream<Void>.makeStream()
            let answered = DispatchSemaphore(value: 0)
            // It waits for the answer, and would do so for ever.
            async let wait = writer.perform { _ in
                begin.finish()
                return answered.wait(timeout: .now() + 20)
            }
            for await _ in begins {}
            #expect(await api.say("/users/merge", #"{"merge_updates":[\#(Self.shared)]}"#).contains("no user has"))
            answered.signal()
            let result = try await wait
            #expect(result == .success)
            await writer.close()
        }
    }

    @Test(
        "A merge by address is not stored for another user, nor for one who has changed",
        arguments: [
            ("/users/merge", update(#"{"user_alias":\#(Wire.alias("l", "1"))}"#, #"{"external_id":"jane"}"#)),
            ("/users/track", Wire.aliasOnly("l", "1", #""email":"other@x.example""#)),
            ("/users/delete", #"{"alias_name":"1","alias_label":"l"}"#),
        ])
    func changedMeanwhile(path: String, object: String) async throws {
        try await withAPI { api in
            await api.track(Wire.user("a"), Wire.user("jane", #""email":"jane@x.example""#))
            await api.track(Wire.aliasOnly("l", "1", #""email":"s@x.example""#))
            let change = IdentityItem.Change.merge(
                source: .contact(.email("s@x.example"), .none), target: .id(.externalID("a")))
            let view = api.view()
            let append = view.completed(
                try .identity(change.resolved(view), context: EventContext(source: .rest)))
            let list = ["/users/merge": "merge_updates", "/users/track": "attributes"][path] ?? "user_aliases"
            #expect(await api.say(path, #"{"\#(list)":[\#(object)]}"#).hasPrefix("20"))
            let last = try api.log.lastPosition()
            #expect {
                try api.log.commit(append)
            } throws: { error in
                if case AppendError.conflict = error { true } else { false }
            }
            #expect(try api.log.lastPosition() == last && api.log.find(.externalID("jane")) != nil)
            #expect(throws: Person.NoSingleUser.self) { try change.resolved(api.view()) }
        }
    }

    @Test("The kept user wins, gets what they lack, and counts both")
    func data() async throws {
        try await withAPI { api in
            let times = ["a": "2026-01-01", "b": "2026-02-01"]
            for (id, more) in [
                ("a", #""first_name":"Ana","last_name":"Sol","x":1,"y":{"k":1},"s":["a"]"#),
                ("b", #""first_name":"Bo","x":2,"y":{"l":2},"s":["b"]"#),
            ] {
                let when = times[id, default: ""]
                _ = await api.post(
                    "/users/track",
                    #"{"attributes":[{"external_id":"\#(id)",\#(more)}],"#
                        + #""events":[{"external_id":"\#(id)","name":"e","time":"\#(when)"}],"#
                        + #""purchases":[{"external_id":"\#(id)","product_id":"p","currency":"EUR","price":2,"#
                        + #""time":"\#(when)"}]}"#
                )
            }
            _ = await api.post("/users/merge", #"{"merge_updates":[\#(Self.update(Self.a, #"{"external_id":"b"}"#))]}"#)
            let kept = await api.export(#""external_ids":["a","b"]"#)
            #expect(kept.count == 1)
            #expect(kept.at("0.first_name") == "Bo")
            #expect(kept.at("0.last_name") == "Sol")
            #expect(kept.at("0.custom_attributes.x") == 2)
            #expect(kept.at("0.custom_attributes.y") == .object([.init("l", 2)]))
            #expect(kept.at("0.custom_attributes.s") == .array(["b"]))
            #expect(kept.at("0.custom_events.0.count") == 2)
            #expect(kept.at("0.custom_events.0.first") == "2026-01-01T00:00:00.000Z")
            #expect(kept.at("0.custom_events.0.last") == "2026-02-01T00:00:00.000Z")
            #expect(kept.at("0.total_revenue") == .double(4))
        }
    }

    @Test(
        "Subscription groups and push tokens of both stay; where both have one, the kept user's",
        arguments: ["merge", "identify"])
    func lists(way: String) async throws {
        try await withAPI { api in
            func state(_ id: String, _ state: String) -> String {
                #"{"subscription_group_id":"\#(id)","subscription_state":"\#(state)"}"#
            }
            func token(_ token: String, _ device: String) -> String {
                #"{"app_id":"i","token":"\#(token)","device_id":"\#(device)"}"#
            }
            await api.track(
                Wire.aliasOnly(
                    "l", "n",
                    #""subscription_groups":[\#(state("news", "unsubscribed")),\#(state("both", "unsubscribed"))],"#
                        + #""push_tokens":[\#(token("t1", "old")),\#(token("t2", "d2"))]"#),
                Wire.user(
                    "b",
                    #""subscription_groups":[\#(state("both", "subscribed"))],"push_tokens":[\#(token("t1", "d1"))]"#))
            await mergeAlias(api, way)
            let kept = try #require(try api.log.find(.externalID("b")))
            let view = api.log.named(try api.log.profile(of: kept.number, asOf: kept.version))
            let values = Dictionary(uniqueKeysWithValues: view.attributes.map { ($0.name.text, $0.value) })
            #expect(
                values["subscription_groups"]
                    == (try JSON.parse("[\(state("both", "subscribed")),\(state("news", "unsubscribed"))]")))
            #expect(values["push_tokens"] == (try JSON.parse("[\(token("t1", "d1")),\(token("t2", "d2"))]")))
        }
    }

    /// Requests that make `b` and say nothing of the subscription states.
    static let bare = [
        #"{"attributes":[{"external_id":"b"}]}"#,
        #"{"attributes":[{"external_id":"b","x":{"k k":1}}]}"#,
        #"{"attributes":[{"external_id":"b"}],"events":[{"external_id":"b","name":"e","time":"2026-01-01"}]}"#,
    ]

    @Test(
        "An opt-out goes into a user whose subscription states were never set", arguments: bare, ["merge", "identify"])
    func optOut(made: String, way: String) async throws {
        try await withAPI { api in
            await api.track(
                Wire.aliasOnly("l", "n", #""email_subscribe":"unsubscribed","push_subscribe":"unsubscribed""#))
            #expect(await api.post("/users/track", made).status == 201)
            let before = await api.export(#""external_ids":["b"]"#)
            #expect(before.at("0.email_subscribe") == "subscribed")
            #expect(before.at("0.push_subscribe") == "subscribed")
            await mergeAlias(api, way)
            let kept = await api.export(#""external_ids":["b"]"#)
            #expect(kept.at("0.email_subscribe") == "unsubscribed")
            #expect(kept.at("0.push_subscribe") == "unsubscribed")
        }
    }

    /// Merges the user with the alias l/n into `b`, through `/users/merge` or `/users/identify`.
    private func mergeAlias(_ api: API, _ way: String) async {
        let alias = #""user_alias":\#(Wire.alias("l", "n"))"#
        if way == "merge" {
            _ = await api.post(
                "/users/merge", #"{"merge_updates":[\#(Self.update("{\(alias)}", #"{"external_id":"b"}"#))]}"#)
        } else {
            _ = await api.post("/users/identify", #"{"aliases_to_identify":[{"external_id":"b",\#(alias)}]}"#)
        }
    }

    @Test("An item sees what the items before it did, also to an address")
    func order() async throws {
        try await withAPI { api in
            await api.track(
                Wire.user("a", #""email":"s@x.example""#), Wire.user("b", #""email":"b@x.example""#), Wire.user("c"))
            let shared = #"{"email":"s@x.example","prioritization":["identified"]}"#
            let (_, json) = await api.post(
                "/users/merge",
                #"{"merge_updates":[\#(Self.update(Self.a, #"{"external_id":"b"}"#)),"#
                    + #"\#(Self.update(shared, #"{"external_id":"c"}"#))]}"#)
            // b keeps its own address, so no user has a's any more.
            #expect(json.at("dropped.0.index") == 1)
            #expect(await api.export(#""external_ids":["a","b","c"]"#).count == 2)
        }
    }
}
