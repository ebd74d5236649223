import ProfileLog
import ProfileLogRequests
import Testing

@testable import ProfileLogNativeAPI

@Suite("Sends, and why")
struct MessageEndpointTests {
    private func step(_ stage: MessageStep.Stage, _ cause: Position? = nil, reason: String? = nil) -> ProfileEvent {
        .message(
            MessageStep(
                stage, of: "welcome", by: .applePush, cause: cause, reason: reason, dispatch: "d-1",
                content: [.init("aps", .object([.init("alert", .string("Hi"))]))]))
    }

    @Test("Sends of one user and of all come in pages, with what was not sent and why")
    func sends() async throws {
        try await withAPI { api in
            let context = EventContext(source: .rest)
            for user in ["ana", "ben"] {
                let id = UserID.externalID(user)
                _ = try api.log.append([.customEventLogged(CustomEvent(name: "x"))], to: id, context: context)
                _ = try api.log.append(
                    [step(.sent), step(.notSent, reason: "The user is unsubscribed.")], to: id, context: context)
            }
            let first = await api.get("/v1/sends", [("limit", "3")]).json
            #expect(first.at("sends").count == 3)
            #expect(first.at("more") == true)
            #expect(first.at("sends.1.reason") == "The user is unsubscribed.")
            let after = first.at("sends.2.position").digits
            let rest = await api.get("/v1/sends", [("after", after)]).json
            #expect(rest.at("sends").count == 1)
            #expect(rest.at("more") == false)
            let ben = await api.get("/v1/sends", [("user", "ben"), ("limit", "1")]).json
            #expect(ben.at("sends.0.kind") == "messageSent")
            #expect(ben.at("sends.0.content.aps.alert") == "Hi")
            #expect(ben.at("more") == true)
            #expect(await api.get("/v1/sends", [("message", "other")]).json.at("sends").count == 0)
            #expect(await api.get("/v1/sends", [("user", "nobody")]).status == 404)
        }
    }

    @Test("A message is explained by its steps, their causes, and nothing else")
    func message() async throws {
        try await withAPI { api in
            let (ana, device) = (UserID.externalID("ana"), EventContext(source: .app, device: "phone"))
            let cause = try api.log.append(
                [.customEventLogged(CustomEvent(name: "cart"))], to: ana, context: EventContext(source: .rest))
            _ = try api.log.append([.customEventLogged(CustomEvent(name: "other"))], to: ana, context: device)
            let sent = try api.log.append([step(.sent, cause.last)], to: ana, context: device)
            _ = try api.log.append([step(.received, sent.last)], to: ana, context: device)
            let answer = await api.get("/v1/messages/explain", [("user", "ana"), ("message", "welcome")]).json
            #expect(answer.at("links").count == 3)
            #expect(answer.at("links.0.name") == "cart")
            #expect(answer.at("links.1.kind") == "messageSent")
            #expect(answer.at("links.2.kind") == "pushReceived")
            let byDispatch = await api.get("/v1/messages/explain", [("user", "ana"), ("message", "d-1")]).json
            #expect(byDispatch.at("links") == answer.at("links"))
        }
    }

    @Test("A long chain is answered from its cause on, with `more`")
    func longChain() async throws {
        try await withAPI { api in
            let (ana, device) = (UserID.externalID("ana"), EventContext(source: .app, device: "phone"))
            let cause = try api.log.append(
                [.customEventLogged(CustomEvent(name: "cart"))], to: ana, context: EventContext(source: .rest))
            _ = try api.log.append(
                [.customEventLogged(CustomEvent(name: "other"))], to: ana, context: device)
            let steps = [ProfileEvent](repeating: step(.sent, cause.last), count: 9_999)
            _ = try api.log.append(steps, to: ana, context: device)
            func answer() async -> AttributeValue {
                await api.get("/v1/messages/explain", [("user", "ana"), ("message", "welcome")]).json
            }
            let whole = await answer()
            #expect(whole.at("links").count == 10_000 && whole.at("more") == false)
            _ = try api.log.append([step(.received, cause.last)], to: ana, context: device)
            let cut = await answer()
            #expect(cut.at("links.0.name") == "cart" && cut.at("links").count == 10_000 && cut.at("more") == true)
        }
    }

    @Test("A message that was ignored with many others is explained by the step that lists it")
    func listedInOthers() async throws {
        try await withAPI { api in
            let messages = (10..<40).map {
                #"{"id":"m\#($0)","trigger_conditions":[{"type":"custom_event","event_name":"played"}]}"#
            }
            _ = await api.post("/v1/messages", #"{"messages":[\#(messages.joined(separator: ","))]}"#)
            _ = await api.post("/v1/change-user", #"{"user":"ana"}"#)
            _ = await api.post("/v1/launch", "{}")
            _ = await api.post("/v1/log/event", #"{"device":"phone","name":"played"}"#)
            let links = await api.get("/v1/messages/explain", [("user", "ana"), ("message", "m39")]).json.at("links")
            #expect((0..<links.count).map { links.at("\($0).kind") } == ["customEventLogged", "inAppMessageIgnored"])
        }
    }

    @Test("The ETag of a write is the version with the steps of messages that followed: a client can chain them")
    func versions() async throws {
        try await withAPI { api in
            let message =
                #"{"id":"a","re_eligibility":0,"trigger_conditions":[{"type":"custom_event","event_name":"a"}]}"#
            _ = await api.post("/v1/messages", #"{"messages":[\#(message)]}"#)
            _ = await api.post("/v1/change-user", #"{"user":"ana"}"#)
            _ = await api.post("/v1/launch", "{}")
            var expected = #""any""#
            for number in 1...3 {
                let body = #"{"device":"phone","name":"a","key":"k\#(number)","expect":\#(expected)}"#
                let first = await api.answer(APIRequest(.post, "/v1/log/event", body: Array(body.utf8)))
                #expect(first.status == 200, "\(String(decoding: first.body, as: UTF8.self))")
                let version = await api.get("/v1/profile", [("user", "ana")]).json.at("version")
                #expect(first.etag == "\"\(version.digits)\"")
                let again = await api.answer(APIRequest(.post, "/v1/log/event", body: Array(body.utf8)))
                #expect(again.etag == first.etag, "a repetition")
                expected = version.digits
            }
        }
    }

    @Test("An in-app message without steps is explained: no session had it, or no event triggered it")
    func withoutSteps() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/change-user", #"{"user":"ana"}"#)
            let message = #"{"id":"tip","trigger_conditions":[{"type":"custom_event","event_name":"played"}]}"#
            _ = await api.post("/v1/messages", #"{"messages":[\#(message)]}"#)
            func reason() async -> AttributeValue {
                await api.get("/v1/messages/explain", [("user", "ana"), ("message", "tip")]).json.at("reason")
            }
            #expect(
                await reason() == "it is declared, and no device of the user has had a session with a network since")
            _ = await api.post("/v1/launch", "{}")
            #expect(await reason() == "it is eligible on phone, and no event triggered it")
            #expect(await api.get("/v1/sends", []).json.at("sends").count == 0)
            _ = await api.post("/v1/devices/phone/leave", "{}")
            _ = await api.post("/v1/save/event", #"{"device":"phone","name":"played"}"#)
            _ = await api.post("/v1/launch", #"{"kind":"return"}"#)
            let links = await api.get("/v1/messages/explain", [("user", "ana"), ("message", "tip")]).json.at("links")
            let kinds = (0..<links.count).map { links.at("\($0).kind") }
            #expect(kinds == ["customEventSaved", "appLaunched", "pendingFlushed", "inAppMessageShown"])
        }
    }

    @Test(
        "A wrong declaration is refused with its place, and nothing is stored",
        arguments: [
            (#"[{"id":"a"}]"#, "messages[0].trigger_conditions"),
            (#"[{"id":"a","trigger_conditions":[{"type":"opne"}]}]"#, "messages[0].trigger_conditions[0].type"),
            (#"[{"id":"a","trigger_conditions":[{"type":"open"}],"delay":-1}]"#, "messages[0].delay"),
            (
                #"[{"id":"a","trigger_conditions":[{"type":"open"}]},{"id":"a","#
                    + #""trigger_conditions":[{"type":"open"}]}]"#,
                "messages[1].id"
            ), (#"{"id":"a"}"#, "messages"),
        ])
    func wrongDeclaration(messages: String, place: String) async throws {
        try await withAPI { api in
            let answer = await api.post("/v1/messages", #"{"messages":\#(messages)}"#)
            #expect(answer.status == 400)
            #expect(answer.json.at("error").text.hasPrefix("`\(place)` "), "\(answer.json)")
            let last = try api.log.lastPosition()
            #expect(last == .start)
        }
    }

    @Test("A saved item is explained by its launch and its flush")
    func item() async throws {
        try await withAPI { api in
            let saved = await api.post("/v1/save/event", #"{"user":"ana","device":"phone","name":"x"}"#).json
            _ = await api.post("/v1/save/event", #"{"user":"ben","device":"phone","name":"y"}"#)
            _ = await api.post("/v1/devices/phone/launch", "{}")
            let position = saved.at("position").digits
            let answer = await api.get("/v1/messages/explain", [("user", "ana"), ("position", position)]).json
            #expect(answer.at("links.0.kind") == "customEventSaved")
            #expect(answer.at("links.\(answer.at("links").count - 1).kind") == "pendingFlushed")
        }
    }

    @Test(
        "What cannot be explained is refused with the next step",
        arguments: [
            ("user=ana", 400), ("user=ana&message=m&position=3", 400), ("user=ben&message=m", 404),
            ("user=ana&message=m", 404), ("user=ana&position=99", 404), ("message=m", 400),
        ])
    func refused(query: String, status: Int) async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"ana","name":"x"}"#)
            let pairs = query.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=")
                return (name: String(parts[0]), value: String(parts[1]))
            }
            let answer = await api.get("/v1/messages/explain", pairs)
            #expect(answer.status == status)
            #expect(answer.json.at("remedy") != .null)
        }
    }
}

extension AttributeValue {
    /// A whole number as a query has it.
    fileprivate var digits: String { if case .int(let number) = self { "\(number)" } else { "" } }
}
