import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

/// Requests that send (spec/messaging-api 1): what is recorded for each user, and what is refused.
@Suite("Sending")
struct BrazeSendTests {
    private static let yaml = """
        apps:
          - {id: ios, name: Shop, platform: ios}
          - {id: droid, name: Shop, platform: android}
          - {id: web, name: Shop, platform: Web}
          - {id: kindle, name: Shop, platform: Kindle}
        segments:
          - {id: gold, name: Gold, all: [{custom_attribute: plan, equals: gold}]}
        campaigns:
          - id: spring
            name: Spring
            segment: gold
            messages:
              - apple_push: {alert: "Hi {{${first_name}}}, {{api_trigger_properties.${what}}}", message_variation_id: \
              v1}
              - email: {from: a@b.c, subject: "Hi {{${first_name}}}", body: B}
          - id: plain
            name: Plain
            messages: [{webhook: {url: "https://x.test/{{campaign.${name}}}/{{api_trigger_properties.${what}}}"}}]
          - id: varied
            name: Varied
            messages:
              - webhook: {url: a, message_variation_id: v1}
              - webhook: {url: b, message_variation_id: v2}
          - id: attributes
            name: Attributes
            messages: [{webhook: {url: "{{custom_attribute.${plan}}}"}}]
        canvases:
          - id: welcome
            name: Welcome
            steps:
              - {name: hello, messages: [{webhook: {url: "{{canvas_entry_properties.${step}}}"}}]}
              - {name: later, messages: [{sms: {subscription_group_id: g, body: B}}]}
        """

    private func withSends(_ body: (API) async throws -> Void) async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            await api.track(
                Self.user("ana", "ios", more: #""first_name":"Ana","email":"ana@b.c","plan":"gold""#),
                #"{"external_id":"ben","first_name":"Ben","plan":"silver"}"#)
            try await body(api)
        }
    }

    private static func user(_ id: String, _ app: String, more: String) -> String {
        #"{"external_id":"\#(id)","push_tokens":[{"app_id":"\#(app)","token":"t\#(id)","#
            + #""device_id":"d\#(id)"}],\#(more)}"#
    }

    private func url(_ api: API, _ user: String) throws -> [String] {
        try api.messageSteps(of: user).map {
            AttributeValue.object($0.step.content)["url"]?.text ?? $0.step.reason ?? ""
        }
    }

    @Test("A campaign reaches the device and the address of a user, with what was rendered")
    func campaign() async throws {
        try await withSends { (api) async throws in
            let (status, json) = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"spring","send_id":"s1","trigger_properties":{"what":"sale"},"#
                    + #""recipients":[{"external_user_id":"ana"}]}"#)
            #expect(status == 201)
            #expect(json.at("message") == "success")
            #expect(json.at("send_id") == "s1")
            #expect(json.at("dispatch_id").text.utf8.count == 32)
            #expect(try api.sends(to: "ana") == ["sent apple_push dana", "sent email ana@b.c"])
            let push = try #require(try api.messageSteps(of: "ana").first?.step)
            #expect(push.message == "spring")
            #expect(push.dispatch == json.at("dispatch_id").text)
            let content = AttributeValue.object(push.content)
            #expect(content.at("payload.aps.alert") == "Hi Ana, sale")
            #expect(content.at("send_id") == "s1")
        }
    }

    @Test("What hinders a send is recorded with its reason")
    func hindrances() async throws {
        try await withSends { (api) async throws in
            await api.track(
                Self.user(
                    "cat", "droid", more: #""first_name":"Cat","email":"c@b.c","email_subscribe":"unsubscribed""#),
                Self.user("dan", "ios", more: #""push_subscribe":"unsubscribed","email":"d@b.c""#))
            let users = ["ben", "cat", "dan"].map { #"{"external_user_id":"\#($0)"}"# }.joined(separator: ",")
            _ = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"spring","trigger_properties":{"what":"sale"},"recipients":[\#(users)]}"#)
            let noToken = "notSent apple_push the user has no push token"
            #expect(try api.sends(to: "ben") == [noToken, "notSent email the user has no e-mail address"])
            #expect(try api.sends(to: "cat") == [noToken, "notSent email unsubscribed"])
            let missing = "email: line 1, column 6: `${first_name}` has no value for this user"
            #expect(try api.sends(to: "dan") == ["notSent apple_push unsubscribed", "notSent email \(missing)"])
            api.store.failingChannels.set(.webhook, fails: true)
            let body = #"{"campaign_id":"attributes","recipients":[{"external_user_id":"ben"}]}"#
            _ = await api.post("/campaigns/trigger/send", body)
            #expect(try api.sends(to: "ben").last == "notSent webhook the channel fails, as it was told to")
            #expect(try url(api, "ben").last == "silver")
            api.store.failingChannels.set(.webhook, fails: false)
            _ = await api.post("/campaigns/trigger/send", body)
            #expect(try api.sends(to: "ben").last == "sent webhook ")
        }
    }

    @Test("Properties of a recipient override the common ones")
    func properties() async throws {
        try await withSends { (api) async throws in
            _ = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"plain","trigger_properties":{"what":"all","more":1},"recipients":["#
                    + #"{"external_user_id":"ana"},{"external_user_id":"ben","trigger_properties":{"what":"own"}}]}"#)
            #expect(try url(api, "ana") == ["https://x.test/Plain/all"])
            #expect(try url(api, "ben") == ["https://x.test/Plain/own"])
        }
    }

    @Test("An unknown user gets nothing, unless attributes make them; these are there before the text is rendered")
    func attributes() async throws {
        try await withSends { (api) async throws in
            let (status, json) = await api.post(
                "/campaigns/trigger/send",
                """
                {"campaign_id":"attributes","recipients":[
                 {"external_user_id":"nobody"},
                 {"external_user_id":"new","send_to_existing_only":false,"attributes":{"plan":"silver"}},
                 {"external_user_id":"ana","attributes":{"plan":"bronze"}},
                 {"user_alias":{"alias_label":"l","alias_name":"n"},"attributes":{"plan":"x"}},
                 {"external_user_id":"odd","send_to_existing_only":false,"attributes":{"email":"no"}}]}
                """)
            #expect(status == 201)
            #expect(try url(api, "new") == ["silver"])
            #expect(try url(api, "ana") == ["bronze"])
            for unknown in ["nobody", "odd"] {
                let user = try api.log.find(.externalID(unknown))
                #expect(user == nil)
            }
            #expect(json.at("dropped.0.reason") == "unknown user")
            #expect(json.at("dropped.0.index") == 0)
            #expect(json.at("dropped.1.index") == 3)
            #expect(json.at("dropped.2.reason") == "unknown user, whose attributes were refused")
            #expect(json.at("errors.0").text.hasPrefix("recipients[4].attributes: "))
        }
    }

    @Test("A canvas sends its first step and records the later ones as not simulated")
    func canvas() async throws {
        try await withSends { (api) async throws in
            for key in ["canvas_entry_properties", "context"] {
                let (status, _) = await api.post(
                    "/canvas/trigger/send",
                    #"{"canvas_id":"welcome","\#(key)":{"step":"s"},"recipients":[{"external_user_id":"ana"}]}"#)
                #expect(status == 201)
            }
            let step = ["sent webhook ", "notSent sms step 'later' of the canvas is not simulated"]
            #expect(try api.sends(to: "ana") == step + step)
        }
    }

    @Test("A broadcast goes to the campaign's segment or an audience, not to others")
    func broadcast() async throws {
        try await withSends { (api) async throws in
            _ = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"spring","broadcast":true,"trigger_properties":{"what":"sale"}}"#)
            #expect(try api.sends(to: "ana") == ["sent apple_push dana", "sent email ana@b.c"])
            #expect(try api.sends(to: "ben").isEmpty)
            let audience =
                #"{"custom_attribute":{"custom_attribute_name":"plan","comparison":"equals","value":"silver"}}"#
            let (status, _) = await api.post(
                "/messages/send",
                #"{"broadcast":true,"audience":\#(audience),"messages":{"webhook":{"url":"u"}}}"#)
            #expect(status == 201)
            #expect(try api.sends(to: "ben") == ["sent webhook "])
            #expect(try api.sends(to: "ana").count == 2)
        }
    }

    @Test("Messages of a request go to its users, if they are in its segment")
    func messages() async throws {
        try await withSends { (api) async throws in
            let (status, json) = await api.post(
                "/messages/send",
                #"{"external_user_ids":["ana","ben","nobody"],"segment_id":"gold","#
                    + #""messages":{"apple_push":{"alert":"a"},"fax":{},"web_push":{}}}"#)
            #expect(status == 201)
            #expect(
                try api.sends(to: "ana") == ["sent apple_push dana", "notSent web_push the channel is not simulated"])
            #expect(try api.sends(to: "ben").isEmpty)
            #expect(json.at("dropped.0.reason") == "is not in the segment")
            #expect(json.at("dropped.1.reason") == "unknown user")
            #expect(json.at("errors.0").text.hasPrefix("messages.fax: 'fax' is not known"))
        }
    }

    @Test(
        "The state of subscription that a request asks for counts",
        arguments: [
            ("opted_in", [1, 0, 0]), ("subscribed", [1, 1, 0]), ("all", [1, 1, 1]),
        ])
    func states(state: String, sent: [Int]) async throws {
        try await withSends { (api) async throws in
            for user in ["opted_in", "subscribed", "unsubscribed"] {
                await api.track(#"{"external_id":"\#(user)","email":"\#(user)@b.c","email_subscribe":"\#(user)"}"#)
            }
            _ = await api.post(
                "/messages/send",
                #"{"external_user_ids":["opted_in","subscribed","unsubscribed"],"#
                    + #""recipient_subscription_state":"\#(state)","#
                    + #""messages":{"email":{"from":"a@b.c","subject":"s","body":"b"}}}"#)
            let counts = try ["opted_in", "subscribed", "unsubscribed"].map { user in
                try api.messageSteps(of: user).count { $0.step.stage == .sent }
            }
            #expect(counts == sent)
        }
    }

    @Test("A push reaches the launched device of a user, or only the latest of several")
    func devices() async throws {
        try await withSends { (api) async throws in
            for device in ["one", "two", "one"] {
                _ = await api.post("/v1/change-user", #"{"device":"\#(device)","user":"ben"}"#)
                let (status, json) = await api.post("/v1/launch", #"{"device":"\#(device)"}"#)
                #expect(status < 300, "\(json)")
            }
            func send(_ more: String) async {
                _ = await api.post(
                    "/messages/send",
                    #"{"external_user_ids":["ben"],"messages":{"apple_push":{"alert":"a"\#(more)}}}"#)
            }
            await send("")
            #expect(try api.sends(to: "ben") == ["sent apple_push two", "sent apple_push one"])
            await send(#","send_to_most_recent_device_only":true"#)
            #expect(try api.sends(to: "ben").last == "sent apple_push one")
            #expect(try api.sends(to: "ben").count == 3)
        }
    }

    @Test("A user made by a send keeps the variation of this first send")
    func variation() async throws {
        try await withSends { (api) async throws in
            for number in 0..<12 {
                let user = #"{"external_user_id":"new\#(number)","send_to_existing_only":false,"attributes":{}}"#
                for _ in 0..<2 {
                    _ = await api.post(
                        "/campaigns/trigger/send", #"{"campaign_id":"varied","recipients":[\#(user)]}"#)
                }
                let urls = try url(api, "new\(number)")
                #expect(urls.count == 2)
                #expect(Set(urls).count == 1, "user \(number)")
            }
        }
    }

    @Test("The token of a web app or of a Kindle takes no push that is simulated")
    func otherPlatforms() async throws {
        try await withSends { (api) async throws in
            await api.track(Self.user("web", "web", more: #""a":1"#), Self.user("fire", "kindle", more: #""a":1"#))
            for channel in ["apple_push", "android_push"] {
                _ = await api.post(
                    "/messages/send",
                    #"{"external_user_ids":["web","fire"],"messages":{"\#(channel)":{"alert":"a"}}}"#)
            }
            for user in ["web", "fire"] {
                let none = ["apple_push", "android_push"].map { "notSent \($0) the user has no push token" }
                #expect(try api.sends(to: user) == none)
            }
        }
    }

    @Test("What is too large to be stored is not sent to this user, and the others get theirs")
    func tooLargeToStore() async throws {
        try await withSends { (api) async throws in
            await api.track(
                #"{"external_id":"big","plan":"\#(String(repeating: "x", count: 250))"}"#)
            let text = String(repeating: "{{custom_attribute.${plan}}}", count: 1_000)
            let headers = (0..<6).map { #""h\#($0)":"\#(text)""# }.joined(separator: ",")
            let message = #""messages":{"webhook":{"url":"u","request_headers":{\#(headers)}}}"#
            for target in [
                #""external_user_ids":["big","ben"]"#,
                #""broadcast":true,"audience":{"#
                    + #""custom_attribute":{"custom_attribute_name":"plan","comparison":"exists"}}"#,
            ] {
                let (status, json) = await api.post("/messages/send", #"{\#(target),\#(message)}"#)
                #expect(status == 201, "\(json)")
                let reason = try #require(try api.sends(to: "big").last)
                #expect(reason.hasPrefix("notSent webhook webhook: what was rendered cannot be stored"), "\(reason)")
                #expect(try api.sends(to: "ben").last == "sent webhook ")
            }
            #expect(try api.sends(to: "ben").count == 2)
        }
    }

    @Test("A broadcast that ends half-way says how far it came, and how to go on")
    func halfDone() async throws {
        try await withSends { (api) async throws in
            let body = #"{"campaign_id":"plain","broadcast":true}"#
            let request = try SendRequest(.campaign, JSON.parse(Array(body.utf8)), api.braze.workspace)
            let apiError = Broadcast(request, api.braze).halfDone(7, AppendError.closed)
            let json = try JSON.parse(apiError.answer(in: .braze).body)
            #expect(json.at("dispatch_id").text == request.plan.dispatch)
            #expect(json.at("message").text.contains("at least 7 users"))
            #expect(json.at("remedy").text.hasPrefix("Do not repeat it"))
        }
    }

    @Test("Pages of the sends of a user join to all of them")
    func pages() async throws {
        try await withSends { (api) async throws in
            for what in 0..<7 {
                await api.track(#"{"external_id":"ana","n":\#(what)}"#)
                _ = await api.post(
                    "/campaigns/trigger/send",
                    #"{"campaign_id":"plain","trigger_properties":{"what":\#(what)},"#
                        + #""recipients":[{"external_user_id":"ana"}]}"#)
            }
            var urls: [String] = []
            var after = 0
            for _ in 0..<4 {
                let json = await api.get(
                    "/v1/sends", [("user", "ana"), ("limit", "2"), ("after", "\(after)")]
                ).json
                for send in json.at("sends").asArray ?? [] {
                    urls.append(send.at("content.url").text)
                    after = Int(send.at("position").asInteger ?? 0)
                }
                #expect(json.at("more") == .bool(urls.count < 7))
            }
            #expect(urls == (0..<7).map { "https://x.test/Plain/\($0)" })
        }
    }

    @Test("What a decision reads of usage and devices counts")
    func reads() async throws {
        try await withSends { (api) async throws in
            let view = DecisionView(api.log, .underLock)
            #expect(throws: WorkBudgetExceeded.self) {
                for _ in 0...DecisionView.Effort.underLock.mostReads { _ = try view.device("d") }
            }
            let other = DecisionView(api.log, .underLock)
            let ana = try #require(try other.find(.externalID("ana")))
            #expect(throws: WorkBudgetExceeded.self) {
                for _ in 0...DecisionView.Effort.underLock.mostReads { _ = try other.usage(of: ana.number) }
            }
        }
    }

    @Test("A request under its key sends once and answers the same")
    func keys() async throws {
        try await withSends { (api) async throws in
            for body in [
                #"{"campaign_id":"plain","trigger_properties":{"what":"x"},"recipients":[{"external_user_id":"ana"}]}"#,
                #"{"campaign_id":"plain","trigger_properties":{"what":"x"},"broadcast":true}"#,
            ] {
                let before = try api.sends(to: "ana").count
                var request = APIRequest(.post, "/campaigns/trigger/send", body: Array(body.utf8))
                request.idempotencyKey = "k\(before)"
                let first = await api.answer(request)
                let second = await api.answer(request)
                #expect(first.status == 201)
                #expect(first.body == second.body)
                #expect(try api.sends(to: "ana").count == before + 1)
            }
        }
    }

    @Test(
        "A request that cannot be sent is refused in the platform's words, and nothing is stored",
        arguments: [
            ("/campaigns/trigger/send", #"{"recipients":[]}"#, "Invalid Campaign ID"),
            ("/campaigns/trigger/send", #"{"campaign_id":"x"}"#, "Invalid Campaign ID"),
            ("/campaigns/trigger/send", #"{"campaign_id":"plain"}"#, "No Recipients"),
            ("/campaigns/trigger/send", #"{"campaign_id":"plain","recipients":[]}"#, "No Recipients"),
            (
                "/campaigns/trigger/send",
                #"{"campaign_id":"plain","broadcast":true,"recipients":[{"external_user_id":"ana"}]}"#,
                "`broadcast` must not be true with users."
            ),
            (
                "/campaigns/trigger/send", #"{"campaign_id":"plain","recipients":[{}]}"#,
                "`recipients[0]` must have exactly one of external_user_id, user_alias, braze_id, email."
            ),
            (
                "/campaigns/trigger/send",
                #"{"campaign_id":"plain","recipients":[{"external_user_id":"a","email":"a@b.c"}]}"#,
                "`recipients[0]` must have exactly one of external_user_id, user_alias, braze_id, email."
            ),
            (
                "/campaigns/trigger/send",
                #"{"campaign_id":"plain","recipients":[{"external_user_id":"a","send_to_existing_only":false}]}"#,
                "`recipients[0].attributes` is required, as 'send_to_existing_only' is false."
            ),
            (
                "/campaigns/trigger/send",
                #"{"campaign_id":"plain","recipients":[{"user_alias":{"alias_name":"a","alias_label":"b"},"#
                    + #""send_to_existing_only":false,"attributes":{}}]}"#,
                "`recipients[0].send_to_existing_only` must not be false for an alias."
            ),
            (
                "/campaigns/trigger/send", #"{"campaign_id":"plain","trigger_properties":[1],"broadcast":true}"#,
                "`trigger_properties` must be an object."
            ),
            (
                "/campaigns/trigger/send", #"{"campaign_id":"plain","send_id":"a b","broadcast":true}"#,
                "`send_id` must be 1 to"
            ),
            (
                "/campaigns/trigger/send", #"{"campaign_id":"plain","recipients":[{"email":"ana@b.c"}]}"#,
                "`recipients[0].prioritization` is required with an address."
            ),
            (
                "/campaigns/trigger/send",
                #"{"campaign_id":"plain","recipients":[{"email":"ana@b.c","prioritization":[]}]}"#,
                "`recipients[0].prioritization` is required with an address."
            ),
            (
                "/canvas/trigger/send",
                #"{"canvas_id":"welcome","recipients":[{"email":"ana@b.c","prioritization":["newest"]}]}"#,
                "`recipients[0].prioritization` is not valid."
            ),
            (
                "/campaigns/trigger/send",
                #"{"campaign_id":"plain","recipients":[{"email":"ana@b.c","#
                    + #""prioritization":["identified","unidentified"]}]}"#,
                "`recipients[0].prioritization` is not valid."
            ),
            (
                "/campaigns/trigger/send",
                #"{"campaign_id":"plain","recipients":[{"braze_id":"b","send_to_existing_only":false}]}"#,
                "`recipients[0].send_to_existing_only` must not be false for a braze_id."
            ),
            ("/canvas/trigger/send", #"{"canvas_id":"spring","broadcast":true}"#, "Invalid Canvas ID"),
            ("/messages/send", #"{"external_user_ids":["ana"]}"#, "No message to send"),
            ("/messages/send", #"{"external_user_ids":["ana"],"messages":{}}"#, "No message to send"),
            ("/messages/send", #"{"external_user_ids":["ana"],"messages":{"fax":{}}}"#, "No message to send"),
            ("/messages/send", #"{"messages":{"webhook":{"url":"u"}}}"#, "No Recipients"),
            ("/messages/send", #"{"segment_id":"gold","messages":{"webhook":{"url":"u"}}}"#, "No Recipients"),
            (
                "/messages/send", #"{"segment_id":"x","broadcast":true,"messages":{"webhook":{"url":"u"}}}"#,
                "Invalid segment ID"
            ),
            (
                "/messages/send",
                #"{"campaign_id":"x","external_user_ids":["ana"],"messages":{"webhook":{"url":"u"}}}"#,
                "Invalid Campaign ID"
            ),
            (
                "/messages/send",
                #"{"campaign_id":"spring","external_user_ids":["ana"],"messages":{"webhook":{"url":"u"}}}"#,
                "Message Variant Unspecified"
            ),
            (
                "/messages/send",
                #"{"campaign_id":"spring","external_user_ids":["ana"],"messages":{"apple_push":"#
                    + #"{"alert":"a","message_variation_id":"v2"}}}"#, "Invalid Message Variant"
            ),
            (
                "/messages/send",
                #"{"campaign_id":"spring","external_user_ids":["ana"],"messages":{"webhook":"#
                    + #"{"url":"u","message_variation_id":"v1"}}}"#, "Mismatched Message Type"
            ),
            (
                "/messages/send", #"{"external_user_ids":["ana"],"messages":{"apple_push":{"alert":"a","extra":1}}}"#,
                "Invalid Extra Push Payload"
            ),
            (
                "/messages/send",
                #"{"external_user_ids":["ana"],"audience":{"AND":[]},"messages":{"webhook":{"url":"u"}}}"#,
                "'AND' is not valid"
            ),
            (
                "/messages/send", #"{"broadcast":true,"audience":{"AND":[]},"messages":{"webhook":{"url":"u"}}}"#,
                "'AND' is not valid"
            ),
        ])
    func refused(path: String, body: String, message: String) async throws {
        try await withSends { (api) async throws in
            let last = try api.log.lastPosition()
            let (status, json) = await api.post(path, body)
            #expect(status == 400)
            #expect(json.at("message").text.hasPrefix(message), "\(json)")
            #expect(!json.at("remedy").text.isEmpty)
            #expect(try api.log.lastPosition() == last)
        }
    }

    @Test("Too many sends to a segment or an audience in a minute are refused and recorded; to users they are not")
    func rate() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml + "\nlimits: {targeted_sends_per_minute: 2, send_ids_per_day: 1}")
            await api.track(Self.user("ana", "ios", more: #""plan":"gold""#))
            func send(_ target: String) async -> (status: Int, json: AttributeValue) {
                await api.post("/messages/send", #"{\#(target),"messages":{"webhook":{"url":"u"}}}"#)
            }
            #expect(await send(#""broadcast":true,"segment_id":"gold""#).status == 201)
            #expect(await send(#""external_user_ids":["ana"],"segment_id":"gold""#).status == 201)
            let (status, json) = await send(#""broadcast":true,"segment_id":"gold""#)
            #expect(status == 429)
            #expect(json.at("code") == "rate_limited")
            #expect(json.at("remedy").text.hasPrefix("Try again in "), "\(json)")
            #expect(await send(#""external_user_ids":["ana"]"#).status == 201)
            #expect(try api.sends(to: "ana") == Array(repeating: "sent webhook ", count: 3))
            let sends = await api.get("/v1/sends").json.at("sends").asArray ?? []
            #expect(sends.count == 4)
            #expect(
                sends.filter { $0.at("kind") == "messageNotSent" }.map { $0.at("reason").text }
                    == ["rate limit: 2 sends a minute with a segment or an audience"])
            let create = #"{"campaign_id":"plain"}"#
            #expect(await api.post("/sends/id/create", create).status == 201)
            #expect(await api.post("/sends/id/create", create).status == 429)
        }
    }

    @Test("The window of a limit moves with the clock, also back")
    func window() {
        let rate = SendRate(seconds: 60)
        func count(_ seconds: Int64) -> Int? { rate.count(at: Timestamp(rawValue: seconds * 1_000_000), limit: 2) }
        #expect(count(0) == nil && count(10) == nil)
        #expect(count(30) == 30)
        #expect(count(60) == nil)
        #expect(count(61) == 9)
        #expect(count(5) == nil)
    }

    @Test(
        "A misspelt member is named in the refusal, and else as something minor",
        arguments: [
            ("/campaigns/trigger/send", #"{"campain_id":"plain"}"#, "Invalid Campaign ID", "'campaign_id'"),
            ("/campaigns/trigger/send", #"{"campaign_id":"plian"}"#, "Invalid Campaign ID", "'plain'"),
            ("/canvas/trigger/send", #"{"canvas_id":"wellcome"}"#, "Invalid Canvas ID", "'welcome'"),
            (
                "/campaigns/trigger/send", #"{"campaign_id":"plain","recipient":[{"external_user_id":"ana"}]}"#,
                "No Recipients", "'recipients'"
            ),
            (
                "/campaigns/trigger/send", #"{"campaign_id":"plain","recipients":[{"external_userid":"ana"}]}"#,
                "`recipients[0]` must have exactly one of", "'external_user_id'"
            ),
            ("/messages/send", #"{"external_user_ids":["ana"],"message":{}}"#, "No message to send", "'messages'"),
            (
                "/messages/send", #"{"external_user_ids":["ana"],"messages":{"apple_push":{"alrt":"a"}}}"#,
                "'alert' is required", "'alert'"
            ),
        ])
    func misspelt(path: String, body: String, message: String, nearest: String) async throws {
        try await withSends { (api) async throws in
            let (status, json) = await api.post(path, body)
            #expect(status == 400)
            #expect(json.at("message").text.hasPrefix(message), "\(json)")
            #expect(json.at("remedy").text.contains("Did you mean \(nearest)?"), "\(json)")
        }
    }

    @Test("A misspelt member without which the request is whole is something minor; others are ignored")
    func minor() async throws {
        try await withSends { (api) async throws in
            let (status, json) = await api.post(
                "/messages/send",
                #"{"external_user_ids":["ana"],"brodcast":false,"unheard_of":1,"#
                    + #""messages":{"apple_push":{"alert":"a","bagde":1,"unheard_of":1}}}"#)
            #expect(status == 201)
            #expect(
                json.at("errors").asArray?.map(\.text) == [
                    "messages.apple_push.bagde: 'bagde' is not known: Did you mean 'badge'?",
                    "brodcast: 'brodcast' is not known: Did you mean 'broadcast'?",
                ])
        }
    }

    @Test("A slide-up of more than 140 characters is refused", arguments: [140, 141])
    func slideup(characters: Int) async throws {
        try await withSends { (api) async throws in
            let text = String(repeating: "é", count: characters)
            let (status, json) = await api.post(
                "/messages/send",
                #"{"external_user_ids":["ana"],"messages":{"webhook":{"url":"u"},"slideup":{"alert":"\#(text)"}}}"#)
            if characters == 140 {
                #expect(status == 201)
                #expect(json.at("errors.0").text.hasPrefix("messages.slideup: 'slideup' is not known"))
            } else {
                #expect(status == 400)
                #expect(json.at("message") == "Slideup Message Length Exceeded")
            }
        }
    }

    @Test("A request has at most 50 users and 50 KB of properties")
    func limits() async throws {
        try await withSends { (api) async throws in
            let user = #"{"external_user_id":"ana"}"#
            func trigger(_ count: Int, _ more: String = "") async -> (status: Int, json: AttributeValue) {
                let users = Array(repeating: user, count: count).joined(separator: ",")
                return await api.post(
                    "/campaigns/trigger/send", #"{"campaign_id":"attributes","recipients":[\#(users)]\#(more)}"#)
            }
            #expect(await trigger(50).status == 201)
            let (status, json) = await trigger(51)
            #expect(status == 400)
            #expect(json.at("message") == "The max number of ids per request was exceeded")
            let large = String(repeating: "x", count: 50 << 10)
            #expect(await trigger(1, #","trigger_properties":{"k":"\#(large)"}"#).status == 400)
            let ids = Array(repeating: #""ana""#, count: 51).joined(separator: ",")
            let (_, other) = await api.post(
                "/messages/send", #"{"external_user_ids":[\#(ids)],"messages":{"webhook":{"url":"u"}}}"#)
            #expect(other.at("message") == "The max number of external_ids and aliases per request was exceeded")
        }
    }

    @Test("A payload, a template or a loop that is too large is refused, and nothing is stored")
    func tooLarge() async throws {
        try await withSends { (api) async throws in
            let last = try api.log.lastPosition()
            for (message, says) in [
                (#""apple_push":{"alert":"\#(String(repeating: "a", count: 1_900))"}"#, "Apple Push Length Exceeded"),
                (
                    #""android_push":{"alert":"\#(String(repeating: "a", count: 4_000))"}"#,
                    "Android Push Length Exceeded"
                ),
                (#""webhook":{"url":"\#(String(repeating: "a", count: 1 << 20))"}"#, "larger than 65536 bytes"),
                (
                    #""webhook":{"url":"{% for i in (1..1000000000) %}{% endfor %}"}"#,
                    "line 1, column 13: the loop takes"
                ),
            ] {
                for target in [#""external_user_ids":["ana"]"#, #""broadcast":true,"segment_id":"gold""#] {
                    let (status, json) = await api.post("/messages/send", #"{\#(target),"messages":{\#(message)}}"#)
                    #expect(status == 400)
                    #expect(json.at("message").text.contains(says), "\(json)")
                    #expect(json.at("place").text.hasPrefix("messages."), "\(json)")
                }
            }
            #expect(try api.log.lastPosition() == last)
        }
    }

    @Test("A payload that is too large once rendered, and a loop that does not end, are not sent to this user")
    func tooLargeForUser() async throws {
        try await withSends { (api) async throws in
            let large = String(repeating: "a", count: 5_000)
            _ = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"spring","trigger_properties":{"what":"\#(large)"},"#
                    + #""recipients":[{"external_user_id":"ana"}]}"#)
            let loop = "{% for i in (1..1000) %}{% for j in (1..1000) %}{% endfor %}{% endfor %}"
            _ = await api.post(
                "/messages/send", #"{"external_user_ids":["ana"],"messages":{"webhook":{"url":"\#(loop)"}}}"#)
            let reasons = try api.messageSteps(of: "ana").map { $0.step.reason ?? "\($0.step.stage)" }
            let payload = large.utf8.count + #"{"aps":{"alert":"Hi Ana, "},"ab":{}}"#.utf8.count
            #expect(
                reasons == [
                    "apple_push: the payload has \(payload) bytes, 4096 are allowed", "sent",
                    "webhook: line 1, column 37: the template takes more than 100000 steps",
                ])
        }
    }

    @Test("All texts of a request share what they may cost: what comes too late is not sent")
    func budget() async throws {
        try await withSends { (api) async throws in
            let users = (0..<20).map { "b\($0)" }
            let objects = users.map { #"{"external_id":"\#($0)"}"# }.joined(separator: ",")
            _ = await api.post("/users/track", #"{"attributes":[\#(objects)]}"#)
            let (text, part) = (String(repeating: "a", count: 4_000), String(repeating: "b", count: 2_560))
            let costly = "{% if '\(text)' contains '\(part)' %}x{% endif %}"
            let ids = users.map { #""\#($0)""# }.joined(separator: ",")
            _ = await api.post(
                "/messages/send", #"{"external_user_ids":[\#(ids)],"messages":{"webhook":{"url":"\#(costly)"}}}"#)
            let sent = try users.filter { try api.sends(to: $0) == ["sent webhook "] }
            #expect(sent.count > 2 && sent == Array(users.prefix(sent.count)), "\(sent)")
            #expect(sent.count < users.count)
            let reason = try #require(try api.sends(to: "b19").first)
            #expect(reason.hasSuffix("the templates of the request take too many steps together"), "\(reason)")
        }
    }

    @Test("A broadcast of several parts reaches everyone once; under a key it is refused")
    func parts() async throws {
        try await withSends { (api) async throws in
            let users = (0..<60).map { "p\($0)" }
            let objects = users.map { #"{"external_id":"\#($0)"}"# }.joined(separator: ",")
            _ = await api.post("/users/track", #"{"attributes":[\#(objects)]}"#)
            let text = #""\#(String(repeating: "a", count: 60_000))""#
            let body = Array(repeating: text, count: 5).joined(separator: ",")
            let request = #"{"broadcast":true,"segment_id":"all","messages":{"webhook":{"url":"u","body":[\#(body)]}}}"#
            let everyone = try api.under("segments: [{id: all, name: All, users: all}]")
            var keyed = APIRequest(.post, "/messages/send", body: Array(request.utf8))
            keyed.idempotencyKey = "k"
            let last = try api.log.lastPosition()
            #expect(await everyone.answer(keyed).status == 400)
            #expect(try api.log.lastPosition() == last)

            let (status, json) = await everyone.post("/messages/send", request)
            #expect(status == 201)
            for user in users + ["ana", "ben"] {
                let steps = try api.messageSteps(of: user)
                #expect(steps.map(\.step.dispatch) == [json.at("dispatch_id").text], "\(user)")
            }
        }
    }

    @Test("An erasure takes what was rendered for the person, and leaves the sends to others")
    func erasure() async throws {
        try await withSends { (api) async throws in
            _ = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"attributes","recipients":[{"external_user_id":"ana"},{"external_user_id":"ben"}]}"#)
            #expect(await api.get("/v1/sends").json.at("sends").count == 2)
            #expect(await api.post("/users/delete", #"{"external_ids":["ana"]}"#).json.at("deleted") == 1)
            let answer = await api.answer(APIRequest(.get, "/v1/sends"))
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.contains("silver"))
            #expect(!text.contains("gold") && !text.contains("ana"), "\(text)")
        }
    }

    @Test("A channel fails as long as it is told to: POST /v1/channels")
    func channels() async throws {
        try await withSends { (api) async throws in
            func send() async throws -> AttributeValue {
                _ = await api.post(
                    "/campaigns/trigger/send",
                    #"{"campaign_id":"spring","trigger_properties":{"what":"x"},"#
                        + #""recipients":[{"external_user_id":"ana"}]}"#
                )
                return await api.get("/v1/sends", [("user", "ana")]).json.at("sends")
            }
            let failing = await api.post("/v1/channels", #"{"channel":"email","fails":true}"#)
            #expect(failing.status == 200)
            #expect(failing.json.at("failing.0") == "email")
            let sends = try await send()
            #expect(sends.at("0.kind") == "messageSent")
            #expect(sends.at("1.kind") == "messageNotSent")
            #expect(sends.at("1.reason") == "the channel fails, as it was told to")
            #expect(sends.at("1.content.subject") == "Hi Ana")
            #expect(await api.post("/v1/channels", #"{"channel":"email","fails":false}"#).json.at("failing").count == 0)
            #expect(try await send().at("3.kind") == "messageSent")
            let unknown = await api.post("/v1/channels", #"{"channel":"emil","fails":true}"#)
            #expect(unknown.status == 400)
            #expect(unknown.json.at("remedy").text.contains("email"))
        }
    }
}
