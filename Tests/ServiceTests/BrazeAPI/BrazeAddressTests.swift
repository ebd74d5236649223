import ProfileLog
import ProfileLogRequests
import Testing

@Suite("Users by e-mail address and phone number")
struct BrazeAddressTests {
    private static let mail = #""email":"s@x.example""#
    private static let phone = #""phone":"+49301234567""#

    /// The objects tracked before, one object, and the user who has `hit` afterwards: an external ID, an alias's name,
    /// or nil for a new profile.
    static let means: [([String], String, String?)] = [
        ([Wire.user("a", mail)], mail, "a"),
        ([Wire.user("a", mail)], #""email":"S@X.Example""#, "a"),
        ([Wire.user("a", phone)], #""phone":"+49 (30) 123-4567""#, "a"),
        ([Wire.user("a", #""phone":"555-123-4567""#)], #""phone":"5551234567""#, "a"),
        ([Wire.user("a", phone), Wire.user("b", mail)], "\(mail),\(phone)", "b"),
        ([Wire.aliasOnly("l", "n", mail)], mail, "n"),
        ([Wire.user("a", mail), Wire.aliasOnly("l", "n", mail)], mail, "a"),
        ([Wire.aliasOnly("l", "n", mail), Wire.user("a", mail), Wire.user("b", mail)], mail, "b"),
        ([Wire.user("a", mail), Wire.user("b", mail), Wire.user("a")], mail, "a"),
        ([Wire.aliasOnly("l", "n", mail), Wire.aliasOnly("l", "m", mail)], mail, "m"),
        ([Wire.user("a", mail), Wire.user("a", #""email":null"#)], mail, nil),
        ([Wire.user("a", mail), Wire.user("a", #""email":"t@x.example""#)], mail, nil),
        ([Wire.user("a", mail), Wire.user("a", #""email":"t@x.example""#)], #""email":"t@x.example""#, "a"),
        (["{\(mail)}", Wire.user("a", mail)], mail, "a"),
        ([], mail, nil),
        ([], phone, nil),
    ]

    @Test("An address means who has it: users with an external ID first, then the latest events", arguments: means)
    func meaning(before: [String], object: String, expected: String?) async throws {
        try await withAPI { api in
            for object in before { await api.track(object) }
            let users = try api.log.userCount()
            await expect(api, object, expected, isNew: expected == nil, users: users)
        }
        // The same in one request: objects that came before count.
        try await withAPI { api in
            let all = (before + [#"{\#(object),"hit":true}"#]).joined(separator: ",")
            _ = await api.post("/users/track", #"{"attributes":[\#(all)]}"#)
            await hasHit(api, object, expected)
        }
    }

    private func expect(_ api: API, _ object: String, _ expected: String?, isNew: Bool, users: UInt64) async {
        await api.track(#"{\#(object),"hit":true}"#)
        #expect((try? api.log.userCount()) == users + (isNew ? 1 : 0))
        await hasHit(api, object, expected)
    }

    private func hasHit(_ api: API, _ object: String, _ expected: String?) async {
        let users = await api.get("/v1/users").json.at("users")
        var hits: [AttributeValue] = []
        for index in 0..<users.count {
            let export = await api.export(#""braze_id":"\#(users.at("\(index).braze_id").text)""#).at("0")
            if export.at("custom_attributes.hit") == true { hits.append(export) }
        }
        #expect(hits.count == 1)
        guard let hit = hits.first else { return }
        if let expected {
            let name = hit.at("external_id") == .null ? hit.at("user_aliases.0.alias_name") : hit.at("external_id")
            #expect(name.text == expected)
        } else {
            #expect(hit.at("external_id") == .null && hit.at("user_aliases").count == 0)
        }
    }

    @Test("A profile made by an address has it as its attribute, whatever made it")
    func made() async throws {
        try await withAPI { api in
            _ = await api.post(
                "/users/track",
                #"{"events":[{"email":"E@x.example","name":"e","time":"2026-01-01"},{"email":"e@x.example","name":"e","#
                    + #""time":"2026-01-01"}],"#
                    + #""purchases":[{"phone":"555-123-4567","product_id":"p","currency":"EUR","price":1,"#
                    + #""time":"2026-01-01"}]}"#
            )
            let count = try api.log.userCount()
            #expect(count == 2)
            let (_, mail) = await api.get("/v1/profile", [("user", "email:e@x.example")])
            #expect(mail.at("attributes.email") == "e@x.example")
            #expect(mail.at("attributes.email_subscribe") == "subscribed")
            #expect(mail.at("custom_events.0.count") == 2)
            let (_, phone) = await api.get("/v1/profile", [("user", "phone:+15551234567")])
            #expect(phone.at("attributes.phone") == "+15551234567")
            #expect(await api.export(#""email_address":"e@x.example""#).at("0.email") == "e@x.example")
        }
    }

    @Test("A user who was created by an address and has another one is not mistaken for the next who comes with it")
    func outdated() async throws {
        try await withAPI { api in
            await api.track(#"{\#(Self.mail),"first_name":"Ana"}"#)
            _ = await api.post(
                "/users/identify",
                #"{"emails_to_identify":[{"external_id":"a",\#(Self.mail),"prioritization":["unidentified"]}]}"#)
            await api.track(Wire.user("a", #""email":"new@x.example""#))
            let request = APIRequest(
                .post, "/users/track", idempotencyKey: "k",
                body: Array(#"{"events":[{\#(Self.mail),"name":"e","time":"2026-01-01"}]}"#.utf8))
            #expect(await api.answer(request).status == 201)
            #expect(await api.answer(request).status == 201)
            let next = await api.export(#""email_address":"s@x.example""#)
            #expect(next.count == 1)
            #expect(next.at("0.external_id") == .null)
            #expect(next.at("0.custom_events.0.count") == 1)
            let ana = await api.export(#""external_ids":["a"]"#)
            #expect(ana.at("0.email") == "new@x.example")
            #expect(ana.at("0.custom_events") == .null)
        }
    }

    private static let firstWrite = #"{"user":"email:s@x.example","name":"e","key":"k"}"#
    static let storingNothing = [
        ("/v1/log/event", firstWrite), ("/users/track", #"{"attributes":[{\#(mail),"_merge_objects":"no"}]}"#),
        ("/users/track", #"{"attributes":[{\#(mail),"_update_existing_only":true,"hit":true}]}"#),
    ]

    @Test("What stores nothing takes no address from who was made by it and has another one", arguments: storingNothing)
    func storesNothing(path: String, body: String) async throws {
        try await withAPI { api in
            let change = #"{"user":"email:s@x.example","attribute":"email","value":"new@x.example"}"#
            for (path, body) in [("/v1/log/event", Self.firstWrite), ("/v1/log/user-attribute", change)] {
                #expect(await api.post(path, body).status == 200)
            }
            let made = try #require(try api.log.find(.email("s@x.example")))
            _ = await api.post(path, body)
            #expect(try api.log.find(.email("s@x.example")) == made)
        }
    }

    @Test("An object that only updates creates no user, and reaches the user who has the address")
    func updateOnly() async throws {
        try await withAPI { api in
            let object = #"{\#(Self.mail),"_update_existing_only":true,"hit":true}"#
            let (_, none) = await api.post("/users/track", #"{"attributes":[\#(object)]}"#)
            #expect(none.at("dropped").count == 1)
            let count = try api.log.userCount()
            #expect(count == 0)
            let (_, both) = await api.post(
                "/users/track", #"{"attributes":[\#(Wire.user("a", Self.mail)),\#(object)]}"#)
            #expect(both.at("dropped") == .null)
            #expect(await api.export(#""external_ids":["a"]"#).at("0.custom_attributes.hit") == true)
        }
    }

    @Test("The synchronous endpoint answers with the address that was used, and the profile that has it")
    func sync() async throws {
        try await withAPI { api in
            await api.track(Wire.user("a", Self.mail))
            let answer = await api.say("/users/track/sync", #"{"attributes":[{\#(Self.mail),"n":{"inc":1}}]}"#)
            #expect(
                answer
                    == #"201 {"users":[{"email":"s@x.example","custom_attributes":{"n":1}}],"message":"success"}"#)
            let nothing = await api.say(
                "/users/track/sync",
                #"{"attributes":[{\#(Self.mail),"_update_existing_only":true,"email_subscribe":7}]}"#)
            #expect(nothing.hasPrefix(#"201 {"users":[{"email":"s@x.example"}],"message":"success","dropped""#))
            #expect(await api.export(#""external_ids":["a"]"#).at("0.custom_attributes.n") == 1)
        }
    }

    @Test("A retry under a key changes nothing, although the address resolves to another user by then")
    func retry() async throws {
        try await withAPI { api in
            let body = Array(#"{"attributes":[{\#(Self.mail),"n":{"inc":1}}]}"#.utf8)
            let request = APIRequest(.post, "/users/track", idempotencyKey: "k", body: body)
            _ = await api.answer(request)
            await api.track(Wire.user("a", Self.mail))
            #expect(await api.answer(request).status == 201)
            #expect(await api.export(#""external_ids":["a"]"#).at("0.custom_attributes") == .null)
        }
    }

    @Test("An export lists all who share an address, those with an external ID first")
    func export() async throws {
        try await withAPI { api in
            await api.track(
                Wire.aliasOnly("l", "n", Self.mail), Wire.user("a", Self.mail),
                Wire.user("b", "\(Self.mail),\(Self.phone)"))
            let fields = #""fields_to_export":["external_id"]"#
            let b = AttributeValue.object([.init("external_id", "b")])
            let a = AttributeValue.object([.init("external_id", "a")])
            #expect(await api.export(#""email_address":"S@x.example",\#(fields)"#) == .array([b, a, .object([])]))
            #expect(await api.export(#""phone":"+49 30 1234567",\#(fields)"#) == .array([b]))
            #expect(await api.export(#""external_ids":["a"],"email_address":"s@x.example""#).count == 3)
            let (_, none) = await api.post("/users/export/ids", #"{"email_address":"no@x.example"}"#)
            #expect(none.at("users").count == 0)
            #expect(none.at("invalid_user_ids.0") == "no@x.example")
        }
    }

    @Test("An address that one of the two profiles in a race makes is one profile")
    func race() async throws {
        try await withAPI { api in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        _ = await api.post(
                            "/users/track", #"{"events":[{\#(Self.mail),"name":"e","time":"2026-01-01"}]}"#)
                    }
                }
            }
            let count = try api.log.userCount()
            #expect(count == 1)
            #expect(await api.export(#""email_address":"s@x.example""#).at("0.custom_events.0.count") == 16)
        }
    }
}
