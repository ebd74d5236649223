import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Subscription states of those who share an address")
struct BrazeSharedStateTests {
    private static let yaml = "subscription_groups: [{id: news, name: Newsletter, channel: email}]"
    private static let mail = #""email":"x@y.example""#
    private static let state = #""subscription_group_id":"news","subscription_state":"unsubscribed""#
    private static let set = #""subscription_groups":[{\#(state)}]"#

    /// Runs `body` with `a` and `b`, who share an address, and `c`, who has none.
    private func withSharers(_ body: (API) async throws -> Void) async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            await api.track(Wire.user("a", Self.mail), Wire.user("b", Self.mail), Wire.user("c"))
            try await body(api)
        }
    }

    /// Returns the users who have the state, and those who have `hit`.
    private func outcome(_ api: API) async -> String {
        var states: [String] = []
        var hits: [String] = []
        for id in ["a", "b", "c", "d"] {
            let (_, json) = await api.get(
                "/subscription/status/get", [("subscription_group_id", "news"), ("external_id", id)])
            if json.at("status.\(id)") == "Unsubscribed" { states.append(id) }
            let user = await api.export(#""external_ids":["\#(id)"]"#).at("0")
            if user.at("custom_attributes.hit") == true { hits.append(id) }
        }
        return "\(states.joined(separator: " ")), hit \(hits.joined(separator: " "))"
    }

    /// Objects, one after the other, and what comes of them.
    static let scripts: [([String], String)] = [
        ([Wire.user("a", set)], "a b, hit a"),
        ([Wire.user("b", #""email":"new@y.example""#), Wire.user("a", set)], "a, hit a"),
        ([Wire.user("b", #""email":null"#), Wire.user("a", set)], "a, hit a"),
        ([Wire.user("c", mail), Wire.user("a", set)], "a b c, hit a"),
        ([Wire.user("a", set), Wire.user("c", mail)], "a b, hit c"),
        ([Wire.user("d", mail), Wire.user("b", set)], "a b d, hit b"),
        ([Wire.user("a", set), Wire.user("b")], "a b, hit b"),
        ([Wire.user("b", #"\#(mail),\#(set)"#), Wire.user("a"), Wire.user("b", set)], "a b, hit b"),
        ([Wire.user("a"), "{\(mail),\(set)}", Wire.user("d", #"\#(mail),\#(set)"#)], "a b d, hit d"),
        ([Wire.user("a", #""subscription_groups":[]"#), Wire.user("b", #""subscription_groups":[]"#)], ", hit b"),
    ]

    @Test("Objects come to the same in one request and in one request each", arguments: scripts)
    func inOneRequest(objects: [String], expected: String) async throws {
        let objects = objects + [#"{\#(Self.mail),"hit":true}"#]
        try await withSharers { api in
            for object in objects { await api.track(object) }
            #expect(await outcome(api) == expected)
        }
        try await withSharers { api in
            await api.track(objects.joined(separator: ","))
            #expect(await outcome(api) == expected)
        }
    }

    @Test(
        "A user that a state reaches only by the address is not the one updated last",
        arguments: [
            (#""email":"x@y.example""#, "b"), (#""external_id":"a""#, "a"), (#""external_id":"b""#, "b"),
            (#""external_id":"a","email":"x@y.example""#, "a"),
        ])
    func notUpdated(people: String, updated: String) async throws {
        try await withSharers { (api) async throws in
            for path in ["/subscription/status/set", "/v2/subscription/status/set"] {
                let body =
                    path.hasPrefix("/v2")
                    ? #"{"subscription_groups":[{\#(Self.state),\#(people)}]}"# : "{\(Self.state),\(people)}"
                #expect(await api.say(path, body) == #"201 {"message":"success"}"#)
                #expect(await outcome(api) == "a b, hit ")
                #expect(
                    try api.log.reader.addresses.users(sharing: .email("x@y.example")).first?.id == .externalID(updated)
                )
            }
            let person = #"{\#(Self.mail),"prioritization":["most_recently_updated"]}"#
            _ = await api.post("/users/delete", #"{"email_addresses":[\#(person)]}"#)
            #expect(try api.log.find(.externalID(updated)) == nil)
            #expect(try api.log.userCount() == 3)
        }
    }

    @Test("Groups that the objects of a request set by turns for two who share an address are all there for both")
    func byTurns() async throws {
        try await withAPI { (api) async throws in
            let addresses = ["a", "b"].map { Wire.user($0, Self.mail) }
            let objects = (0..<6).map { number in
                let state = #"{"subscription_group_id":"g\#(number)","subscription_state":"subscribed"}"#
                return Wire.user(number % 2 == 0 ? "a" : "b", #""subscription_groups":[\#(state)]"#)
            }
            await api.track((addresses + objects).joined(separator: ","))
            for id in ["a", "b"] {
                let user = try #require(try api.log.find(.externalID(id)))
                let states = try api.subscriptions(of: user)
                #expect(states.ids == (0..<6).map { "g\($0)" })
            }
        }
    }

    @Test("Nor by another address")
    func otherAddress() async throws {
        try await withSharers { (api) async throws in
            let phone = #""phone":"+49301234567""#
            await api.track(Wire.user("b", phone), Wire.user("c", phone), Wire.user("a", Self.set))
            #expect(await outcome(api) == "a b, hit ")
            await api.track(#"{\#(phone),"hit":true}"#)
            #expect(await outcome(api) == "a b, hit c")
        }
    }

    @Test("Without a group nothing is set")
    func noGroup() async throws {
        try await withSharers { (api) async throws in
            await api.track(Wire.user("a", Self.set))
            let before = try api.log.lastPosition()
            let empty = #""subscription_groups":[]"#
            #expect(
                await api.say("/users/track", #"{"attributes":[\#(Wire.user("a", empty))]}"#)
                    == #"201 {"attributes_processed":1,"message":"success"}"#)
            #expect(try api.log.lastPosition() == before)
            #expect(await outcome(api) == "a b, hit ")
            await api.track(Wire.user("d", empty), Wire.user("c", #"\#(empty),"hit":true"#))
            #expect(try api.log.find(.externalID("d")) != nil)
            #expect(await outcome(api) == "a b, hit c")
        }
    }

    @Test("A request of which nothing was set is not done later, under its key")
    func nothingSet() async throws {
        try await withSharers { (api) async throws in
            func send(_ id: String) async -> String {
                let body = Array(#"{\#(Self.state),"external_id":"\#(id)"}"#.utf8)
                let answer = await api.answer(
                    APIRequest(.post, "/subscription/status/set", idempotencyKey: "k", body: body))
                return "\(answer.status) \(String(decoding: answer.body, as: UTF8.self))"
            }
            let first = await send("d")
            #expect(first.hasPrefix("201 ") && first.contains("is no user's"))
            await api.track(Wire.user("d"))
            let before = try api.log.lastPosition()
            #expect(await send("d") == first)
            #expect(await send("a").hasPrefix("409 "))
            #expect(try api.log.lastPosition() == before)
        }
    }
}
