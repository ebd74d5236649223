import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

@Suite("Retries, the synchronous endpoint, exports")
struct BrazeRetryTests {
    private func send(_ api: API, _ path: String, _ body: String, key: String?) async -> (status: Int, body: String) {
        let answer = await api.answer(APIRequest(.post, path, idempotencyKey: key, body: Array(body.utf8)))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    @Test("The same key and body answer as at first, refused and dropped objects included, and store nothing")
    func retry() async throws {
        try await withAPI { api in
            let body =
                #"{"attributes":[{"external_id":"a","n":{"inc":1}},{"external_id":"b","x":1,"#
                + #""_update_existing_only":true}],"#
                + #""events":[{"external_id":"a"}]}"#
            let first = await send(api, "/users/track", body, key: "k")
            #expect(first.status == 201)
            // By now b exists: without the key, the second object would be stored.
            _ = await send(api, "/users/track", #"{"attributes":[{"external_id":"b","y":1}]}"#, key: nil)
            let before = try api.log.lastPosition()
            let second = await send(api, "/users/track", body, key: "k")
            #expect(second == first)
            #expect(first.body.contains("errors") && first.body.contains("dropped"))
            let last = try api.log.lastPosition()
            #expect(last == before)
            let other = await send(api, "/users/track", #"{"attributes":[{"external_id":"a","n":2}]}"#, key: "k")
            #expect(other.status == 409)
            let sync = await send(api, "/users/track/sync", #"{"attributes":[{"external_id":"a","n":2}]}"#, key: "k")
            #expect(sync.status == 409)
            #expect(await send(api, "/users/track", body, key: "").status == 400)
            #expect(await send(api, "/users/track", body, key: String(repeating: "k", count: 1001)).status == 400)
            let (_, export) = await api.post("/users/export/ids", #"{"external_ids":["a"]}"#)
            #expect(export.at("users.0.custom_attributes.n") == 1)
        }
    }

    /// Requests of which nothing is stored, or only the list of skipped objects; and whether a user `a` exists before.
    static let withoutEffect = [
        #"{"attributes":[{"external_id":"b","x":1,"_update_existing_only":true}]}"#,
        #"{"attributes":[{"external_id":"b","x":1,"_update_existing_only":true}],"events":[{}]}"#,
        #"{"attributes":[{"external_id":"a","bad":{"a.b":1}}]}"#,
        #"{"attributes":[{"external_id":"a"}]}"#,
    ]

    @Test(
        "A request that stored nothing of what it says is not done later, under its key", arguments: withoutEffect,
        ["/users/track", "/users/track/sync"])
    func nothingStored(body: String, path: String) async throws {
        if path.hasSuffix("sync"), body.contains("events") { return }
        try await withAPI { (api) async throws in
            await api.track(#"{"external_id":"a","n":1}"#)
            let first = await send(api, path, body, key: "k")
            #expect(first.status == 201)
            await api.track(#"{"external_id":"b","y":1}"#)
            _ = await api.post("/users/delete", #"{"external_ids":["a"]}"#)
            let before = try api.log.lastPosition()
            let second = await send(api, path, body, key: "k")
            if path == "/users/track", !body.contains("bad") { #expect(second == first) }
            #expect(second.status == 201)
            #expect(try api.log.lastPosition() == before)
            #expect(try api.log.find(.externalID("a")) == nil)
            if !body.contains("bad") { #expect(await send(api, path, body + " ", key: "k").status == 409) }
        }
    }

    @Test("An answer under a key names nothing that a sender chose, and a retry gets the same")
    func nameless() async throws {
        try await withAPI { (api) async throws in
            await api.track(#"{"external_id":"a","n":1}"#)
            let body =
                #"{"attributes":[{"external_id":"b","_update_existing_only":true}],"#
                + #""events":[{"external_id":"c","name":"e","time":"2026-01-01","properties":{"canary":1,"#
                + #""canary":2}}]}"#
            let first = await send(api, "/users/track", body, key: "k")
            #expect(first.body.contains("a key is twice in one object") && !first.body.contains("canary"))
            #expect(await send(api, "/users/track", body, key: "k") == first)
            let note = try #require(try api.log.reader.events.append(underKey: "k")).note
            #expect(!note.isEmpty && Data(note).range(of: Data("canary".utf8)) == nil)
        }
    }

    @Test("A request of which a person was erased is not done again", arguments: ["a", "b"])
    func erased(person: String) async throws {
        try await withAPI { (api) async throws in
            let body = #"{"attributes":[{"external_id":"a","x a":1},{"external_id":"b","x b":2}],"events":[{}]}"#
            let first = await send(api, "/users/track", body, key: "k")
            #expect(first.status == 201 && first.body.contains("errors"))
            _ = await api.post("/users/delete", #"{"external_ids":["\#(person)"]}"#)
            let last = try api.log.lastPosition()
            let again = await send(api, "/users/track", body, key: "k")
            // The answer is remembered with the first event.
            #expect(again.status == 201)
            #expect(again.body == (person == "a" ? #"{"message":"success"}"# : first.body))
            #expect(try api.log.lastPosition() == last)
            #expect(try api.log.find(.externalID(person)) == nil)
        }
    }

    @Test("A merge of a person who was erased is not done again")
    func erasedMerge() async throws {
        try await withAPI { (api) async throws in
            _ = await send(
                api, "/users/track", #"{"attributes":[{"external_id":"a"},{"external_id":"b"}]}"#, key: nil)
            let body =
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"a"},"#
                + #""identifier_to_keep":{"external_id":"b"}}]}"#
            #expect(await send(api, "/users/merge", body, key: "k").status == 202)
            _ = await api.post("/users/delete", #"{"external_ids":["b"]}"#)
            let last = try api.log.lastPosition()
            #expect(await send(api, "/users/merge", body, key: "k").status == 202)
            #expect(try api.log.lastPosition() == last)
        }
    }

    @Test("One key sent many times at once is stored once, whatever the time in it")
    func race() async throws {
        try await withAPI { api in
            let soon = Timestamp(rawValue: Timestamp.now().rawValue + 3000).rfc3339()
            let body = #"{"events":[{"external_id":"a","name":"e","time":"\#(soon)"},{}]}"#
            let answers = await withTaskGroup(of: String.self) { group in
                for _ in 0..<16 { group.addTask { await send(api, "/users/track", body, key: "k").body } }
                return await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(answers.count == 1)
            // The user, the event, and what was left out.
            let last = try api.log.lastPosition()
            #expect(last == Position(rawValue: 3))
        }
    }

    @Test("A bare object sent many times at once makes one profile")
    func bareRace() async throws {
        try await withAPI { api in
            let statuses = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        await send(api, "/users/track", #"{"attributes":[{"external_id":"a"}]}"#, key: nil).status
                    }
                }
                return await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(statuses == [201])
            let last = try api.log.lastPosition()
            #expect(last == Position(rawValue: 2))
        }
    }

    /// Bodies for /users/track/sync, one after the other, and the answers.
    static let synchronous: [(String, String)] = [
        (
            #"{"attributes":[{"external_id":"a","n":{"inc":2},"s":"x","first_name":"Ana"}]}"#,
            #"{"users":[{"external_id":"a","custom_attributes":{"n":2,"s":"x"}}],"message":"success"}"#
        ),
        (
            #"{"events":[{"external_id":"a","name":"e","time":"2026-01-01T01:00:00+01:00"}]}"#,
            #"{"users":[{"external_id":"a","custom_events":[{"name":"e","first":"2026-01-01T00:00:00.000Z","#
                + #""last":"2026-01-01T00:00:00.000Z","count":1}]}],"message":"success"}"#
        ),
        (
            #"{"purchases":[{"external_id":"a","product_id":"p","currency":"EUR","price":1,"quantity":2,"#
                + #""time":"2026-01-01"}]}"#,
            #"{"users":[{"external_id":"a","purchase_events":[{"product_id":"p","first":"2026-01-01T00:00:00.000Z","#
                + #""last":"2026-01-01T00:00:00.000Z","count":2}]}],"message":"success"}"#
        ),
        (
            #"{"attributes":[{"external_id":"no","x":1,"_update_existing_only":true}]}"#,
            #"{"users":[],"message":"success","dropped":[{"reason":"no such user exists, and the object only updates "#
                + #"('_update_existing_only')","input_array":"attributes","index":0}]}"#
        ),
        (
            #"{"attributes":[{"external_id":"a","n":{"inc":1.5}}]}"#,
            #"{"users":[{"external_id":"a","custom_attributes":{"n":2}}],"message":"success","#
                + #""dropped":[{"reason":"has an 'inc' "#
                + #"that is no integer","input_array":"attributes","index":0}]}"#
        ),
    ]

    @Test("The synchronous endpoint answers with what it touched, and a retry sees what the first saw")
    func sync() async throws {
        try await withAPI { api in
            for (index, (body, answer)) in Self.synchronous.enumerated() {
                #expect(await send(api, "/users/track/sync", body, key: "k\(index)") == (201, answer))
            }
            _ = await api.post("/users/track", #"{"attributes":[{"external_id":"a","n":9}]}"#)
            #expect(
                await send(api, "/users/track/sync", Self.synchronous[0].0, key: "k0") == (201, Self.synchronous[0].1))
            let two = await api.post("/users/track/sync", #"{"attributes":[{"external_id":"a"},{"external_id":"b"}]}"#)
            #expect(two.status == 400)
            let refused = await api.post("/users/track/sync", #"{"events":[{"external_id":"a"}]}"#)
            #expect(refused.status == 400)
            #expect(refused.json.at("errors.0.type").text == "'name' is required")
        }
    }

    @Test("A retry of an append whose events were erased is answered by its key alone")
    func syncBehindErasure() async throws {
        try await withAPI { api in
            let path = "/users/track/sync"
            let sent = #"{"attributes":[{"external_id":"a","x":1}]}"#
            _ = await send(api, path, sent, key: "k")
            _ = await api.post("/users/delete", #"{"external_ids":["a"]}"#)
            for body in [sent, #"{"events":[{"external_id":"a","name":"e"}]}"#, #"{"events":[]}"#] {
                let answer = await send(api, path, body, key: "k")
                #expect(answer == (201, #"{"message":"success"}"#))
            }
            let nobody = #"{"attributes":[{"external_id":"b","_update_existing_only":true,"x":1}]}"#
            let first = await send(api, path, nobody, key: "l")
            await api.track(Wire.user("b"))
            #expect(await send(api, path, nobody, key: "l") == first)
        }
    }

    @Test("An export has the whole profile, in the recorded order of its fields")
    func export() async throws {
        try await withAPI { api in
            _ = await api.post(
                "/users/track",
                #"{"attributes":[{"external_id":"a","first_name":"Ana","last_name":"Sol","email":"a@b.example","#
                    + #""shoe":39}],"#
                    + #""events":[{"external_id":"a","name":"e","time":"2001-01-01T00:00:00Z"},"#
                    + #"{"external_id":"a","name":"e","time":"2026-01-01T00:00:00Z"}],"#
                    + #""purchases":[{"external_id":"a","product_id":"p","currency":"USD","price":2.5,"quantity":2,"#
                    + #""time":"2026-01-01"}]}"#
            )
            let raw = await send(api, "/users/export/ids", #"{"external_ids":["a","a","nobody"]}"#, key: nil)
            #expect(raw.status == 201)
            let json = try JSON.parse(raw.body)
            let user = json.at("users.0")
            #expect(json.at("users").count == 1)
            #expect(json.at("message") == "success")
            #expect(json.at("invalid_user_ids") == .array(["nobody"]))
            #expect(user.at("custom_events.0.count") == 2)
            #expect(user.at("custom_events.0.first") == "2001-01-01T00:00:00.000Z")
            #expect(user.at("purchases.0.name") == "p")
            #expect(user.at("purchases.0.count") == 2)
            #expect(user.at("total_revenue") == .double(5))
            #expect(user.at("email_subscribe") == "subscribed")
            #expect(user.at("push_subscribe") == "subscribed")
            #expect(user.at("appboy_id") == user.at("braze_id"))
            #expect(user.at("user_aliases") == .array([]))
            let order = [
                "created_at", "external_id", "user_aliases", "appboy_id", "braze_id", "first_name", "last_name",
                "random_bucket", "email", "custom_attributes", "total_revenue", "push_subscribe", "email_subscribe",
            ]
            let places = order.map { raw.body.range(of: "\"\($0)\":")?.lowerBound }
            #expect(!places.contains(nil))
            #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted())
        }
    }

    @Test("Only the fields that are asked for, by any identifier")
    func exportFields() async throws {
        try await withAPI { api in
            _ = await api.post(
                "/users/track",
                #"{"attributes":[{"user_alias":{"alias_name":"n","alias_label":"l"},"_update_existing_only":false,"#
                    + #""x":1},"#
                    + #"{"email":"Only@Mail.example","x":2},{"phone":"+49 30 1234567","x":3}]}"#)
            let (_, alias) = await api.post(
                "/users/export/ids",
                #"{"user_aliases":[{"alias_name":"n","alias_label":"l"}],"fields_to_export":["custom_attributes","#
                    + #""nonsense","user_aliases"]}"#
            )
            #expect(alias.at("users.0").count == 2)
            #expect(alias.at("users.0.user_aliases.0.alias_label") == "l")
            let (_, email) = await api.post("/users/export/ids", #"{"email_address":"only@mail.EXAMPLE"}"#)
            #expect(email.at("users.0.custom_attributes.x") == 2)
            #expect(email.at("users.0.email") == "only@mail.example")
            #expect(email.at("users.0.external_id") == .null)
            let (_, phone) = await api.post(
                "/users/export/ids", #"{"phone":"+49301234567","fields_to_export":["phone"]}"#)
            #expect(phone.at("users.0") == .object([.init("phone", "+49301234567")]))
            let (_, braze) = await api.post(
                "/users/export/ids", #"{"braze_id":"\#(email.at("users.0.braze_id").text)","fields_to_export":[]}"#)
            // No fields are all fields.
            #expect(braze.at("users.0") == email.at("users.0"))
            let (_, device) = await api.post("/users/export/ids", #"{"device_id":"nowhere"}"#)
            #expect(device.at("users").count == 0)
            #expect(device.at("invalid_user_ids.0") == "nowhere")
        }
    }

    /// Bodies of exports that are refused.
    static let wrongExports = [
        "", "[]", "{}", #"{"external_ids":"a"}"#, #"{"external_ids":[{}]}"#, #"{"external_ids":[""]}"#,
        #"{"user_aliases":[{"alias_name":"n"}]}"#, #"{"email_address":"a@b.example","phone":"+4930123"}"#,
        #"{"braze_id":7}"#, #"{"external_ids":["a"],"fields_to_export":"email"}"#,
        #"{"external_ids":[\#((0...50).map { "\"\($0)\"" }.joined(separator: ","))]}"#,
    ]

    @Test("An export that asks for no user, or for too many, is 400", arguments: wrongExports)
    func wrongExport(body: String) async throws {
        try await withAPI { api in
            let (status, json) = await api.post("/users/export/ids", body)
            #expect(status == 400)
            #expect(!json.at("message").text.isEmpty)
        }
    }
}
