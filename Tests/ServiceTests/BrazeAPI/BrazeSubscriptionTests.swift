import ProfileLog
import ProfileLogMessaging
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Subscription groups")
struct BrazeSubscriptionTests {
    private static let yaml = """
        subscription_groups:
          - {id: news, name: Newsletter, channel: email}
          - {id: offers, name: Offers, channel: sms}
        """

    private func withGroups(_ body: (API) async throws -> Void) async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            _ = await api.post("/users/track", #"{"attributes":[{"external_id":"a"},{"external_id":"b"}]}"#)
            try await body(api)
        }
    }

    private func status(_ api: API, _ group: String, _ user: String = "a") async -> String {
        let (status, json) = await api.get(
            "/subscription/status/get", [("subscription_group_id", group), ("external_id[]", user)])
        #expect(status == 200)
        return json.at("status.\(user)").text
    }

    @Test("Setting one group keeps the others, in either version and through users/track")
    func keeps() async throws {
        try await withGroups { api in
            #expect(await status(api, "news") == "unknown")
            let first = await api.answer(
                APIRequest(
                    .post, "/subscription/status/set",
                    body: Array(
                        #"{"subscription_group_id":"news","subscription_state":"subscribed","external_id":"a"}"#.utf8)))
            #expect(first.status == 201)
            #expect(String(decoding: first.body, as: UTF8.self) == #"{"message":"success"}"#)
            _ = await api.post(
                "/v2/subscription/status/set",
                #"{"subscription_groups":[{"subscription_group_id":"offers","subscription_state":"unsubscribed","#
                    + #""external_ids":["a","b"]}]}"#)
            #expect(await status(api, "news") == "Subscribed")
            #expect(await status(api, "offers") == "Unsubscribed")
            #expect(await status(api, "news", "b") == "unknown")
            _ = await api.post(
                "/users/track",
                #"{"attributes":[{"external_id":"a","subscription_groups":["#
                    + #"{"subscription_group_id":"offers","subscription_state":"subscribed"}]},"#
                    + #"{"external_id":"new","subscription_groups":["#
                    + #"{"subscription_group_id":"news","subscription_state":"unsubscribed"}]},"#
                    + #"{"external_id":"new","subscription_groups":["#
                    + #"{"subscription_group_id":"offers","subscription_state":"subscribed"}]}]}"#)
            #expect(await status(api, "news") == "Subscribed")
            #expect(await status(api, "offers") == "Subscribed")
            #expect(await status(api, "news", "new") == "Unsubscribed")
            #expect(await status(api, "offers", "new") == "Subscribed")
            _ = await api.post("/users/track", #"{"attributes":[{"external_id":"a","subscription_groups":null}]}"#)
            #expect(await status(api, "news") == "unknown")
        }
    }

    @Test("A state that is set by address goes to its user, though another user is on their device by now")
    func leftDevice() async throws {
        try await withGroups { (api) async throws in
            let mail = #""email":"x@y.example""#
            await api.track(
                #"{"push_token_import":true,\#(mail),"push_tokens":[{"app_id":"i","token":"t","device_id":"d"}]}"#,
                Wire.user("c", mail))
            let anonymous = try #require(try api.log.find(.device("d")))
            #expect(await api.post("/v1/devices/d/wipe", "{}").status == 200)
            #expect(await api.post("/v1/devices/d/change-user", #"{"user":"a"}"#).status == 200)
            let before = try (api.log.userCount(), api.log.find(.externalID("a")))
            for group in ["news", "offers"] {
                let state = #""subscription_group_id":"\#(group)","subscription_state":"unsubscribed""#
                if group == "news" {
                    _ = await api.post("/subscription/status/set", "{\(state),\(mail)}")
                } else {
                    await api.track(Wire.user("c", #""subscription_groups":[{\#(state)}]"#))
                }
                let user = try #require(try api.log.reader.addresses.users(sharing: .email("x@y.example")).last)
                #expect(user.number == anonymous.number)
                let groups = try api.log.named(api.log.profile(of: user.number)).attributes.first {
                    $0.name.text == "subscription_groups"
                }
                #expect(groups?.value.asArray?.last?.at("subscription_group_id").text == group)
            }
            #expect(try api.log.userCount() == before.0 && api.log.find(.externalID("a")) == before.1)
        }
    }

    @Test("The synchronous endpoint answers for its user, though others get the state with them")
    func sharedInSync() async throws {
        try await withGroups { api in
            let mail = #""email":"x@y.example""#
            await api.track(Wire.user("a", mail), Wire.user("b", #"\#(mail),"tier":"gold""#))
            let state = #"{"subscription_group_id":"news","subscription_state":"unsubscribed"}"#
            let (_, json) = await api.post(
                "/users/track/sync",
                #"{"attributes":[{"external_id":"a","tier":"silver","subscription_groups":[\#(state)]}]}"#)
            #expect(json.at("users.0.custom_attributes.tier") == "silver")
            #expect(await status(api, "news", "b") == "Unsubscribed")
        }
    }

    @Test("A global unsubscription erases no group's state")
    func global() async throws {
        try await withGroups { api in
            _ = await api.post(
                "/subscription/status/set",
                #"{"subscription_group_id":"news","subscription_state":"subscribed","external_id":["a"]}"#)
            _ = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"a","email_subscribe":"unsubscribed"}]}"#)
            #expect(await status(api, "news") == "Subscribed")
        }
    }

    @Test("An unknown group is refused in the recorded words, wherever it is")
    func unknownGroup() async throws {
        try await withGroups { api in
            for (path, body) in [
                (
                    "/subscription/status/set",
                    #"{"subscription_group_id":"New","subscription_state":"subscribed","external_id":"a"}"#
                ),
                ("/subscription/status/set", #"{"subscription_state":"subscribed","external_id":"a"}"#),
                (
                    "/v2/subscription/status/set",
                    #"{"subscription_groups":[{"subscription_group_id":"no","subscription_state":"subscribed","#
                        + #""external_ids":["a"]}]}"#
                ),
            ] {
                let (status, json) = await api.post(path, body)
                #expect(status == 400)
                #expect(json.at("message") == "Invalid subscription group ID")
            }
            let (status, json) = await api.get(
                "/subscription/status/get", [("subscription_group_id", "no"), ("external_id", "a")])
            #expect(status == 400)
            #expect(json.at("message") == "Invalid subscription group ID")
            let (_, track) = await api.post(
                "/users/track",
                #"{"attributes":[{"external_id":"a","subscription_groups":[{"subscription_group_id":"no","#
                    + #""subscription_state":"subscribed"}]}]}"#
            )
            #expect(track.at("dropped.0.field") == "subscription_groups")
        }
    }

    /// Paths and bodies that are refused.
    static let wrong: [(String, String)] = [
        ("/subscription/status/set", ""), ("/subscription/status/set", "[]"),
        ("/subscription/status/set", #"{"subscription_group_id":"news","external_id":"a"}"#),
        ("/subscription/status/set", #"{"subscription_group_id":"news","subscription_state":"yes","external_id":"a"}"#),
        ("/subscription/status/set", #"{"subscription_group_id":"news","subscription_state":true,"external_id":"a"}"#),
        ("/subscription/status/set", #"{"subscription_group_id":"news","subscription_state":"subscribed"}"#),
        (
            "/subscription/status/set",
            #"{"subscription_group_id":"news","subscription_state":"subscribed","external_id":[]}"#
        ),
        (
            "/subscription/status/set",
            #"{"subscription_group_id":"news","subscription_state":"subscribed","external_id":{}}"#
        ),
        (
            "/subscription/status/set",
            #"{"subscription_group_id":"news","subscription_state":"subscribed","email":"a@b.example","#
                + #""phone":"+4930123456"}"#
        ),
        (
            "/subscription/status/set",
            #"{"subscription_group_id":"news","subscription_state":"subscribed","external_id":["#
                + (0...50).map { "\"\($0)\"" }.joined(separator: ",") + "]}"
        ),
        ("/v2/subscription/status/set", "{}"), ("/v2/subscription/status/set", #"{"subscription_groups":[]}"#),
        ("/v2/subscription/status/set", #"{"subscription_groups":{}}"#),
        ("/v2/subscription/status/set", #"{"subscription_groups":[7]}"#),
        (
            "/v2/subscription/status/set",
            #"{"subscription_groups":[{"subscription_group_id":"news","subscription_state":"subscribed","#
                + #""emails":["a@b.example"],"phones":["+4930123456"]}]}"#
        ),
    ]

    @Test("What is no such request is 400 and stores nothing", arguments: wrong)
    func refused(path: String, body: String) async throws {
        try await withGroups { api in
            let before = try api.log.lastPosition()
            let (status, json) = await api.post(path, body)
            #expect(status == 400)
            #expect(!json.at("message").text.isEmpty)
            let read1 = try api.log.lastPosition()
            #expect(read1 == before)
        }
    }

    @Test("An unknown user is named by their place, is not created, and stops no other user from being set")
    func unknownPeople() async throws {
        try await withGroups { api in
            let (status, json) = await api.post(
                "/v2/subscription/status/set",
                #"{"subscription_groups":[{"subscription_group_id":"news","subscription_state":"subscribed","#
                    + #""external_ids":["nobody","a"],"emails":["no@where.example","x"],"#
                    + #""use_double_opt_in_logic":true}]}"#
            )
            #expect(status == 201)
            #expect(
                json.at("dropped")
                    == .array([
                        .object([
                            .init("field", "subscription_groups[0].external_ids[0]"), .init("reason", "is no user's"),
                        ]),
                        .object([.init("field", "subscription_groups[0].emails[0]"), .init("reason", "is no user's")]),
                        .object([.init("field", "subscription_groups[0].emails[1]"), .init("reason", "is not valid")]),
                    ]))
            #expect(await self.status(api, "news") == "Subscribed")
            let read2 = try api.log.find(.externalID("nobody"))
            #expect(read2 == nil)
        }
    }

    @Test("An address sets its profile, and asks by it")
    func contacts() async throws {
        try await withGroups { api in
            _ = await api.post(
                "/users/track", #"{"attributes":[{"email":"Ana@Mail.example","x":1},{"phone":"+49 30 1234567","x":1}]}"#
            )
            let body = #"{"subscription_groups":[{"subscription_group_id":"news","subscription_state":"subscribed","#
            #expect(
                await api.post("/v2/subscription/status/set", body + #""emails":["ana@mail.EXAMPLE"]}]}"#).json
                    .at("dropped") == .null)
            #expect(
                await api.post(
                    "/subscription/status/set",
                    #"{"subscription_group_id":"offers","subscription_state":"unsubscribed","phone":["+49301234567"]}"#
                ).json.at("dropped") == .null)
            let answer = await api.answer(
                APIRequest(
                    .get, "/subscription/status/get",
                    query: [("subscription_group_id", "news"), ("email", "Ana@mail.example"), ("external_id[]", "no")]))
            #expect(
                String(decoding: answer.body, as: UTF8.self)
                    == #"{"status":{"no":"unknown","Ana@mail.example":"Subscribed"},"message":"success"}"#)
            let (_, users) = await api.get("/subscription/user/status", [("phone[]", "+49 30 1234567")])
            #expect(users.at("users.0.phone") == "+49301234567")
            #expect(users.at("users.0.subscription_groups.0.status") == "Unsubscribed")
            let (status, numbered) = await api.get(
                "/subscription/user/status", [("phone[1]", "+49 30 1234567"), ("phone[0]", "+1 555 000 0000")])
            #expect(status == 200 && numbered.at("users.0.phone") == "+49301234567")
        }
    }

    @Test("A state that users/track sets is set for all profiles with the same address")
    func shared() async throws {
        try await withGroups { api in
            _ = await api.post("/users/track", #"{"attributes":[{"email":"ana@mail.example","x":1}]}"#)
            func set(_ members: String) async {
                let (status, json) = await api.post(
                    "/users/track", #"{"attributes":[{"external_id":"a",\#(members)}]}"#)
                #expect(status == 201 && json.at("dropped") == .null)
            }
            await set(
                #""email":"ana@mail.example","subscription_groups":[{"subscription_group_id":"news","#
                    + #""subscription_state":"subscribed"}]"#
            )
            await set(
                #""subscription_groups":[{"subscription_group_id":"offers","subscription_state":"unsubscribed"}]"#)
            let other = try #require(try api.log.find(.email("ana@mail.example")))
            let states = try api.subscriptions(of: other)
            #expect(states["news"] == true)
            #expect(states["offers"] == false)
        }
    }

    @Test("An address that several profiles have sets them all, and each keeps its other groups")
    func sharedAddress() async throws {
        try await withGroups { api in
            let offers =
                #""subscription_groups":[{"subscription_group_id":"offers","subscription_state":"subscribed"}]"#
            await api.track(
                Wire.user("b", offers), Wire.user("a", #""email":"ana@mail.example""#),
                Wire.user("b", #""email":"Ana@mail.example""#))
            let (_, json) = await api.post(
                "/subscription/status/set",
                #"{"subscription_group_id":"news","subscription_state":"subscribed","email":"ana@mail.example"}"#)
            #expect(json.at("dropped") == .null)
            for user in ["a", "b"] { #expect(await status(api, "news", user) == "Subscribed") }
            #expect(await status(api, "offers", "b") == "Subscribed")
            #expect(await status(api, "offers", "a") == "unknown")
            let (_, users) = await api.get("/subscription/user/status", [("email", "ana@mail.example")])
            #expect(users.at("total_count") == 2)
            _ = await api.post(
                "/users/track",
                #"{"attributes":[{"external_id":"b","subscription_groups":[{"subscription_group_id":"news","#
                    + #""subscription_state":"unsubscribed"}]}]}"#
            )
            for user in ["a", "b"] { #expect(await status(api, "news", user) == "Unsubscribed") }
        }
    }

    @Test("Several groups of a user are one event, and the later state of a group counts")
    func severalGroups() async throws {
        try await withGroups { (api) async throws in
            let before = try api.log.lastPosition().rawValue
            let changes = [
                ("news", "subscribed", #"["a","b"]"#), ("offers", "subscribed", #"["a"]"#),
                ("news", "unsubscribed", #"["a","a"]"#),
            ].map { group, state, users in
                #"{"subscription_group_id":"\#(group)","subscription_state":"\#(state)","external_ids":\#(users)}"#
            }
            let body = #"{"subscription_groups":[\#(changes.joined(separator: ","))]}"#
            #expect(await api.post("/v2/subscription/status/set", body).status == 201)
            #expect(try api.log.lastPosition().rawValue == before + 2)
            #expect(await status(api, "news") == "Unsubscribed")
            #expect(await status(api, "offers") == "Subscribed")
            #expect(await status(api, "news", "b") == "Subscribed")
        }
    }

    @Test("Users who share an address get a state for as long as the append has room; `dropped` lists the rest")
    func manySharers() async throws {
        try await withGroups { (api) async throws in
            let mail = #""email":"x@y.example""#
            await api.track(Wire.user("a", mail), Wire.user("b", mail))
            let state = #"{"subscription_group_id":"news","subscription_state":"subscribed"}"#
            let object = Wire.user("a", #""subscription_groups":[\#(state)]"#)
            var builder = api.log.prepare()
            try builder.fill()
            let decision = try api.decide(#"{"attributes":[\#(object)]}"#, api.view(), &builder)
            let reason = "is for more profiles with the address than one request can change"
            #expect(decision.dropped.map(\.reason) == [reason])
            _ = try api.log.commit(builder.finish())
            #expect(await status(api, "news") == "Subscribed")
            #expect(await status(api, "news", "b") == "unknown")
        }
    }

    @Test("Users of an address get a state while the append has room; users of an ID all do")
    func namedFirst() async throws {
        try await withGroups { (api) async throws in
            let mail = #""email":"x@y.example""#
            await api.track(Wire.user("a", mail), Wire.user("b", mail))
            let groups = [("news", #""emails":["x@y.example"]"#), ("offers", #""external_ids":["a"]"#)].map {
                #"{"subscription_group_id":"\#($0)","subscription_state":"subscribed",\#($1)}"#
            }
            let body = #"{"subscription_groups":[\#(groups.joined(separator: ","))]}"#
            var builder = api.log.prepare()
            try builder.fill()
            let request = try SubscriptionRequest(version2: Array(body.utf8), api.workspace)
            var decision = SubscriptionDecision(api.view())
            try decision.decide(request, &builder)
            let places = ["emails[0]", "external_ids[0]"].enumerated().map { "subscription_groups[\($0)].\($1)" }
            #expect(decision.dropped.map(\.place) == places)
            #expect(decision.dropped.allSatisfy { $0.reason == SubscriptionStates.tooManyElsewhere })
            _ = try api.log.commit(builder.finish())
            for group in ["news", "offers"] {
                #expect(await status(api, group) == "Subscribed")
                #expect(await status(api, group, "b") == "unknown")
            }
        }
    }

    @Test("Sharers of an address are looked up once, on the slow path if they are many, and only where room is")
    func sharersOnce() async throws {
        try await withGroups { (api) async throws in
            func user(_ number: Int) -> String { Wire.user("u\(number)", #""email":"x@y.example""#) }
            let state = #""subscription_groups":[{"subscription_group_id":"news","subscription_state":"subscribed"}]"#
            let body = #"{"attributes":[\#(Wire.user("u0", state)),\#(Wire.user("u1", state))]}"#
            func decide(_ builder: inout AppendBuilder) throws -> TrackAnswer {
                try api.decide(body, api.view(.fast), &builder)
            }
            // Each is read twice: for the address, and for the groups of their profile.
            let most = DecisionView.Effort.fast.mostReads / 2 - 1
            for number in 0..<most { await api.track(user(number)) }
            var builder = api.log.prepare()
            #expect(try decide(&builder).dropped.isEmpty)
            for number in most..<most + 3 { await api.track(user(number)) }
            #expect(throws: WorkBudgetExceeded.self) {
                var builder = api.log.prepare()
                _ = try decide(&builder)
            }
            var full = api.log.prepare()
            try full.fill()
            #expect(try decide(&full).dropped.count == 2)
        }
    }

    @Test("Without room nothing is said of an address with one user")
    func notShared() async throws {
        try await withGroups { (api) async throws in
            await api.track(Wire.user("a", #""email":"x@y.example""#))
            let state = #""subscription_groups":[{"subscription_group_id":"news","subscription_state":"subscribed"}]"#
            var builder = api.log.prepare()
            try builder.fill()
            let decision = try api.decide(#"{"attributes":[\#(Wire.user("a", state))]}"#, api.view(.fast), &builder)
            #expect(decision.dropped.isEmpty)
            // Unless the request itself gives the address to a user.
            var full = api.log.prepare()
            try full.fill()
            let objects = [Wire.user("b", #""email":"x@y.example""#), Wire.user("a", state)].joined(separator: ",")
            let shared = try api.decide(#"{"attributes":[\#(objects)]}"#, api.view(.fast), &full)
            #expect(shared.dropped.map(\.reason) == [SubscriptionStates.tooManyElsewhere])
        }
    }

    @Test("Users are shown with their groups in the recorded shape, in pages")
    func users() async throws {
        try await withGroups { api in
            _ = await api.post("/users/track", #"{"attributes":[{"external_id":"a","email":"a@b.example"}]}"#)
            for group in ["offers", "news"] {
                _ = await api.post(
                    "/subscription/status/set",
                    #"{"subscription_group_id":"\#(group)","subscription_state":"subscribed","external_id":"a"}"#)
            }
            let whole = await api.answer(
                APIRequest(
                    .get, "/subscription/user/status",
                    query: [("external_id[]", "a"), ("external_id[]", "b"), ("external_id[]", "no")]))
            #expect(
                String(decoding: whole.body, as: UTF8.self)
                    == #"{"users":[{"email":"a@b.example","phone":null,"external_id":"a","subscription_groups":["#
                    + #"{"id":"news","name":"Newsletter","channel":"email","status":"Subscribed"},"#
                    + #"{"id":"offers","name":"Offers","channel":"sms","status":"Subscribed"}]},"#
                    + #"{"email":null,"phone":null,"external_id":"b","subscription_groups":[]}],"total_count":2,"#
                    + #""message":"success"}"#
            )
            let (_, second) = await api.get(
                "/subscription/user/status",
                [("external_id[]", "a"), ("external_id[]", "b"), ("limit", "1"), ("offset", "1")])
            #expect(second.at("users").count == 1)
            #expect(second.at("users.0.external_id") == "b")
            #expect(second.at("total_count") == 2)
            for query in [
                [], [("external_id", "a"), ("limit", "0")], [("external_id", "a"), ("limit", "101")],
                [("external_id", "a"), ("offset", "-1")], (0...50).map { ("external_id[]", "\($0)") },
            ] as [[(name: String, value: String)]] {
                #expect(await api.get("/subscription/user/status", query).status == 400)
            }
        }
    }

    @Test(
        "Empty text in a query names no user",
        arguments: ["external_id", "external_id[]", "email", "phone[]", "phone[0]"])
    func emptyQuery(parameter: String) async throws {
        try await withGroups { api in
            for path in ["/subscription/status/get", "/subscription/user/status"] {
                let group: [(name: String, value: String)] =
                    path.hasSuffix("get") ? [("subscription_group_id", "news")] : []
                let (status, json) = await api.get(path, group + [(parameter, "")])
                #expect(status == 400)
                #expect(json.at("message") == "The request names no user.")
                let (_, one) = await api.get(path, group + [(parameter, ""), ("external_id[]", "a")])
                #expect(one.at("status") == .object([.init("a", "unknown")]) || one.at("total_count") == 1)
            }
        }
    }

    @Test("Groups that are set at once all stay", arguments: UInt64(0)..<4)
    func race(seed: UInt64) async throws {
        try await withAPI { plain in
            let ids = (0..<6).map { "g\($0)" }
            let groups = ids.map { "{id: \($0), name: N, channel: email}" }.joined(separator: ", ")
            let api = try plain.under("subscription_groups: [\(groups)]")
            let writer = API(writer: LogWriter(api.log), workspace: api.workspace)
            _ = await api.post("/users/track", #"{"attributes":[{"external_id":"a"}]}"#)
            var random = SeededGenerator(seed: seed)
            let statuses = await withTaskGroup(of: Int.self) { group in
                for id in ids.shuffled(using: &random) {
                    let isTrack = Bool.random(using: &random)
                    group.addTask {
                        let state = #""subscription_group_id":"\#(id)","subscription_state":"subscribed""#
                        return await isTrack
                            ? writer.post(
                                "/users/track",
                                #"{"attributes":[{"external_id":"a","subscription_groups":[{\#(state)}]}]}"#
                            ).status
                            : writer.post("/subscription/status/set", #"{\#(state),"external_id":"a"}"#).status
                    }
                }
                return await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(statuses == [201])
            for id in ids { #expect(await status(api, id) == "Subscribed") }
        }
    }

    private static func groups(_ numbers: ClosedRange<Int>, _ state: String = "subscribed") -> String {
        let groups = numbers.map { #"{"subscription_group_id":"g\#($0)","subscription_state":"\#(state)"}"# }
        return #""subscription_groups":[\#(groups.joined(separator: ","))]"#
    }

    private func count(_ api: API, _ user: String) throws -> Int {
        let user = try #require(try api.log.find(.externalID(user)))
        return try api.subscriptions(of: user).ids.count
    }

    @Test(
        "Where no groups are declared, a profile has as many as an array may have elements and bytes",
        arguments: ["limits: {array_elements: 5}", "limits: {bytes_per_nested_value: 350}"])
    func full(yaml: String) async throws {
        try await withAPI { plain in
            let api = try plain.under(yaml)
            let full: AttributeValue = "would give the profile states in more subscription groups than it may have"
            /// Sends an object of a user, and gives why the groups were left out.
            func set(_ members: String, of user: String = "a", _ api: API) async -> AttributeValue {
                let (_, json) = await api.post(
                    "/users/track", #"{"attributes":[{"external_id":"\#(user)",\#(members)}]}"#)
                #expect(json.at("dropped").count == 0 || json.at("dropped.0.field") == "subscription_groups")
                return json.at("dropped.0.reason")
            }
            #expect(await set(Self.groups(0...3), api) == .null)
            #expect(await set(Self.groups(4...6), api) == full)
            #expect(await set(#"\#(Self.groups(4...6)),"first_name":"Ana""#, api) == full)
            #expect(await api.export(#""external_ids":["a"]"#).at("0.first_name") == "Ana")
            #expect(try count(api, "a") == 4)
            #expect(await set(Self.groups(4...4), api) == .null)
            #expect(await set(Self.groups(5...5), api) == full)
            // What is there already can be changed, also where there is more than that by now.
            let strict = try api.under("limits: {array_elements: 2}")
            for api in [api, strict] { #expect(await set(Self.groups(0...4), api) == .null) }
            #expect(try count(api, "a") == 5)
            // Another user with the same address adds nothing.
            for user in ["a", "b"] { #expect(await set(#""email":"x@y.example""#, of: user, api) == .null) }
            #expect(await set(Self.groups(9...9), of: "b", api).text.contains("another profile with the address"))
            #expect(try count(api, "a") == 5 && count(api, "b") == 1)
        }
    }

    @Test("A request takes long if it is large, or may set subscription groups")
    func takesLong() {
        func takesLong(_ body: String) -> Bool {
            APIRequest(.post, "/users/track", body: Array(body.utf8)).takesLong
        }
        #expect(!takesLong("") && !takesLong(#"{"attributes":[{"external_id":"subscription","x":"\\u"}]}"#))
        #expect(!takesLong(String(repeating: "s", count: 8191)) && takesLong(String(repeating: "s", count: 8192)))
        // As most clients write letters that are not of ASCII.
        #expect(!takesLong(#"{"attributes":[{"external_id":"a","x":"Jos\u00e9 \u00DF"}]}"#))
        #expect(takesLong("{\(Self.groups(0...0))}"))
        for (index, scalar) in "subscription_groups".unicodeScalars.enumerated() {
            for escape in [String(scalar.value, radix: 16), String(scalar.value, radix: 16, uppercase: true)] {
                var name = "subscription_groups".map(String.init)
                name[index] = "\\u00\(escape)"
                let object = #"{"external_id":"a","\#(name.joined())":[]}"#
                #expect((try? JSON.parse(object))?.at("subscription_groups") == .array([]))
                #expect(takesLong(object))
            }
        }
    }

    @Test("Of declared groups a profile may have all")
    func declared() async throws {
        try await withAPI { plain in
            let groups = (0..<5).map { "{id: g\($0), name: N, channel: email}" }.joined(separator: ", ")
            let api = try plain.under(
                "{subscription_groups: [\(groups)], limits: {array_elements: 2, bytes_per_nested_value: 60}}")
            #expect(await api.set(Self.groups(0...4)) == nil)
            #expect(try count(api, "a") == 5)
        }
    }

    @Test("A key makes a retry change nothing, and other content under it is refused")
    func retry() async throws {
        try await withGroups { api in
            func send(_ state: String) async -> APIAnswer {
                let body =
                    #"{"subscription_group_id":"news","subscription_state":"\#(state)","external_id":["a","no"]}"#
                return await api.answer(
                    APIRequest(.post, "/subscription/status/set", idempotencyKey: "k", body: Array(body.utf8)))
            }
            let first = await send("subscribed")
            let position = try api.log.lastPosition()
            let second = await send("subscribed")
            #expect(second.body == first.body && second.status == 201)
            let read3 = try api.log.lastPosition()
            #expect(read3 == position)
            #expect(await send("unsubscribed").status == 409)
        }
    }

    @Test("What is no array of IDs is refused in the platform's words, and nothing is stored")
    func invalidArrays() async throws {
        try await withAPI { plain in
            let api = try plain.under("subscription_groups: [{id: news, name: News, channel: email}]")
            await api.track(Wire.user("a"))
            let last = try api.log.lastPosition()
            let group = #""subscription_group_id":"news","subscription_state":"subscribed""#
            for (members, field, what) in [
                (#""external_ids":[[]]"#, "external_ids", "ID"), (#""external_ids":[true]"#, "external_ids", "ID"),
                (#""external_ids":["a",null]"#, "external_ids", "ID"), (#""external_ids":[1.5]"#, "external_ids", "ID"),
                (#""external_ids":{"a":1}"#, "external_ids", "ID"), (#""external_ids":true"#, "external_ids", "ID"),
                (#""external_id":[{}]"#, "external_id", "ID"), (#""emails":[[]]"#, "emails", "email"),
                (#""phones":[false]"#, "phones", "phone"),
            ] {
                let words = "The value provided for the \(field) field is not a valid \(what) array."
                let second = await api.post(
                    "/v2/subscription/status/set", #"{"subscription_groups":[{\#(group),\#(members)}]}"#)
                #expect(second.status == 400 && second.json.at("message").text == words, "\(second.json)")
                #expect(second.json.at("place").text == "subscription_groups[0].\(field)")
                let first = await api.post("/subscription/status/set", "{\(group),\(members)}")
                #expect(first.status == 400 && first.json.at("message").text == words, "\(first.json)")
            }
            for members in [#""external_ids":[]"#, #""external_ids":null"#, #""external_ids":[""]"#] {
                let none = await api.post(
                    "/v2/subscription/status/set", #"{"subscription_groups":[{\#(group),\#(members)}]}"#)
                #expect(none.status == 400 && none.json.at("message").text.contains("names no user"), "\(none.json)")
            }
            #expect(try api.log.lastPosition() == last)
            let long = String(repeating: "x", count: 5_000)
            let known = await api.post(
                "/v2/subscription/status/set",
                #"{"subscription_groups":[{\#(group),"external_ids":["a","\#(long)",7]}]}"#)
            #expect(known.status == 201 && known.json.at("dropped").count == 2, "\(known.json)")
        }
    }
}
