import ProfileLog
import ProfileLogRequests
import Testing

@testable import ProfileLogNativeAPI

@Suite("Pushes over the API")
struct PushEndpointTests {
    private static let push = "/v1/devices/phone/push"
    private static let settings = "/v1/devices/phone/settings"

    /// Ana on a phone whose app is away, and a push of hers that was sent there.
    private func send(_ payload: String, _ api: API) async throws {
        _ = await api.post("/v1/devices/phone/change-user", #"{"user":"ana"}"#)
        _ = await api.post("/v1/devices/phone/launch", "")
        _ = await api.post("/v1/devices/phone/leave", "")
        let content = [AttributeValue.Member("payload", try JSON.parse(Array(payload.utf8)))]
        let step = MessageStep(.sent, of: "spring", by: .applePush, dispatch: "d-1", content: content)
        _ = try api.log.append(
            [.message(step)], to: .externalID("ana"), context: EventContext(source: .rest, device: "phone"))
    }

    @Test("A push is delivered, expanded, acted on and gone; each answer has its events and what is left")
    func journey() async throws {
        try await withAPI { api in
            _ = await api.post(Self.settings, #"{"content_extension":{"categories":["game"]}}"#)
            try await send(#"{"ab":{},"aps":{"alert":"Hi","category":"game"}}"#, api)
            let waiting = await api.get("/v1/devices/phone/pushes").json
            #expect(waiting.at("underway.0.message") == "spring")
            #expect(waiting.at("underway.0.content.payload.aps.alert") == "Hi")
            let delivered = await api.post(Self.push, #"{"action":"deliver"}"#).json
            #expect(delivered.at("events.0.kind") == "pushReceived")
            #expect(delivered.at("underway").count == 0)
            #expect(delivered.at("shown.0.screen") == "notification")
            let sent = delivered.at("shown.0.push").asInteger ?? 0
            let expanded = await api.post(Self.push, #"{"action":"expand","push":\#(sent),"way":"view"}"#).json
            #expect(expanded.at("events.0.screen") == "extension_interface")
            _ = await api.post("/v1/save/event", #"{"name":"x","process":"PushContent"}"#)
            let acted = await api.post(
                Self.push, #"{"action":"act","button":"GO","response":"dismiss_and_forward"}"#
            ).json
            #expect(acted.at("events.0.kind") == "pushActionChosen")
            #expect(acted.at("events").asArray?.contains { $0.at("kind") == "pendingFlushed" } == true)
            #expect(acted.at("shown").count == 0)
            #expect(acted.at("waiting") == 0)
            #expect(await api.get("/v1/devices/none/pushes").status == 404)
        }
    }

    @Test(
        "What cannot be is refused by name, and nothing is stored",
        arguments: [
            (#"{}"#, "action"), (#"{"action":"tap"}"#, "action"), (#"{"action":"open","way":"view"}"#, "way"),
            (#"{"action":"expand","way":"shake"}"#, "way"), (#"{"action":"open","push":0}"#, "push"),
            (#"{"action":"open","push":1}"#, "The push"), (#"{"action":"deliver","limit":257}"#, "limit"),
            (#"{"action":"receive"}"#, "payload"), (#"{"action":"receive","payload":[]}"#, "payload"),
            (#"{"action":"receive","payload":{},"channel":"email"}"#, "channel"),
            (#"{"action":"receive","payload":{},"expiry":"soon"}"#, "expiry"),
            (#"{"action":"act"}"#, "button"), (#"{"action":"act","button":"A","response":"x"}"#, "response"),
            (#"{"action":"input"}"#, "text"), (#"{"action":"dismiss","x":1}"#, "x"),
        ])
    func refusals(body: String, place: String) async throws {
        try await withAPI { api in
            _ = await api.post("/v1/devices/phone/launch", "")
            let before = try api.log.lastPosition()
            let answer = await api.post(Self.push, body)
            #expect(answer.status == 400)
            #expect(answer.json.at("place") == .string(place), "\(body): \(answer.json)")
            #expect(try api.log.lastPosition() == before)
        }
    }

    @Test("A refusal says what to do: the nearest button, the category, what comes first")
    func remedies() async throws {
        try await withAPI { api in
            func remedy(_ body: String) async -> String {
                await api.post(Self.push, body).json.at("remedy").text
            }
            _ = await api.post(Self.settings, #"{"content_extension":{"categories":["game"],"input":"email"}}"#)
            let buttons = #"[{"action_id":"REGISTER","action":"OPEN_APP"},{"action_id":"CLOSE","action":"CLOSE"}]"#
            try await send(#"{"ab":{"buttons":\#(buttons)},"aps":{"alert":"Hi","category":"quiz"}}"#, api)
            #expect(await remedy(#"{"action":"open"}"#).hasPrefix("Deliver one first"))
            _ = await api.post(Self.push, #"{"action":"deliver"}"#)
            #expect(await remedy(#"{"action":"act","button":"CLOSE"}"#) == "Expand it first.")
            #expect(await remedy(#"{"action":"input","text":"a"}"#) == "Expand it first.")
            _ = await api.post(Self.push, #"{"action":"expand"}"#)
            #expect(await remedy(#"{"action":"input","text":"a"}"#).contains("category of the extension: game"))
            let response = await remedy(#"{"action":"act","button":"CLOSE","response":"dismiss"}"#)
            #expect(response.contains("category of the extension: game"))
            let wrong = await api.post(Self.push, #"{"action":"act","button":"registr"}"#)
            #expect(wrong.status == 400 && wrong.json.at("error") == "The button is none of the push's.")
            #expect(wrong.json.at("remedy") == "Did you mean `REGISTER`?")
            #expect(await remedy(#"{"action":"act","button":"x"}"#) == "The buttons are REGISTER, CLOSE.")
        }
    }

    @Test("A payload has 4,096 bytes at most")
    func payloadSize() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/devices/phone/launch", "")
            func receive(_ bytes: Int) async -> AttributeValue {
                let text = String(repeating: "x", count: bytes - #"{"aps":{"alert":""}}"#.utf8.count)
                return await api.post(
                    Self.push, #"{"action":"receive","payload":{"aps":{"alert":"\#(text)"}}}"#
                ).json
            }
            #expect(await receive(4_097).at("place") == "payload")
            let answer = await receive(4_096)
            #expect(answer.at("events.0.kind") == "pushReceived")
            #expect(answer.at("shown").count == 1)
        }
    }

    @Test("Push settings are set, told, kept when they are not sent, and taken back with null")
    func pushSettings() async throws {
        try await withAPI { api in
            let body = #"""
                {"permission":"denied","server_events":"objective-c","startup":{"push_automation":["opened"],
                "analytics":"drop"},
                "content_extension":{"categories":["a","b"],"pairs":{"k":"number"},"input":"phone",\#
                "user_interaction":true}}
                """#
            let set = await api.post(Self.settings, body).json.at("settings")
            #expect(set.at("permission") == "denied")
            #expect(set.at("server_events") == "objective-c")
            #expect(set.at("startup.push_automation.0") == "opened")
            #expect(set.at("startup.push_automation").count == 1)
            #expect(set.at("startup.prepared") == "in_time")
            #expect(set.at("startup.analytics") == "drop")
            #expect(set.at("content_extension.categories.1") == "b")
            #expect(set.at("content_extension.pairs.k") == "number")
            #expect(set.at("content_extension.input") == "phone")
            _ = await api.post(Self.settings, #"{"online":false}"#)
            #expect(await api.get("/v1/devices/phone").json.at("settings.startup") == set.at("startup"))
            let cleared = await api.post(Self.settings, #"{"startup":null,"content_extension":null}"#).json
            #expect(cleared.at("settings.startup") == .null)
            #expect(cleared.at("settings.content_extension") == .null)
            #expect(cleared.at("settings.permission") == "denied")
            for wrong in [
                #"{"permission":"yes"}"#, #"{"startup":true}"#, #"{"startup":{"x":1}}"#,
                #"{"startup":{"push_automation":["all"]}}"#, #"{"content_extension":{}}"#,
                #"{"content_extension":{"categories":[1]}}"#,
                #"{"content_extension":{"categories":["a"],"pairs":{"k":1}}}"#,
            ] {
                #expect(await api.post(Self.settings, wrong).status == 400, "\(wrong)")
            }
        }
    }

    @Test("What is logged before the SDK exists is lost, and the answer says so")
    func lost() async throws {
        try await withAPI { api in
            _ = await api.post(Self.settings, #"{"startup":{}}"#)
            _ = await api.post("/v1/devices/phone/launch", "")
            let lost = await api.post("/v1/log/event", #"{"device":"phone","name":"x"}"#).json
            #expect(lost.at("lost") == true)
            #expect(lost.at("queued") == false)
            _ = await api.post(Self.push, #"{"action":"initialize"}"#)
            let logged = await api.post("/v1/log/event", #"{"device":"phone","name":"y"}"#).json
            #expect(logged.at("lost") == .null)
            #expect(await api.get("/v1/profile", [("user", "device:phone")]).json.at("custom_events").count == 1)
        }
    }
}
