import Foundation
import ProfileLog
import ProfileLogBrazeAPI
import ProfileLogRequests
import Testing

@Suite("Why something had no effect: near misses")
struct WhyTests {
    private static let message = """
        {"messages":[{"id":"m","message":"Hi","trigger_conditions":[{"type":"custom_event_property",\
        "event_name":"played","property_filters":[[{"property_key":"genre","property_type":"string",\
        "comparator":1,"property_value":"pop"}]]}]}]}
        """

    /// A device with a session that has the message, and jane on it.
    private func play(_ api: API, _ message: String = message) async {
        _ = await api.post("/v1/messages", message)
        _ = await api.post("/v1/change-user", #"{"user":"jane"}"#)
        _ = await api.post("/v1/launch", "{}")
    }

    private func misses(_ api: API, _ message: String = "m") async -> [String] {
        let answer = await api.get("/v1/messages/explain", [("user", "jane"), ("message", message)]).json
        return (0..<20).map { answer.at("misses.\($0).reason").text }.filter { !$0.isEmpty }
    }

    @Test("A filter that did not match says which property, what was wanted and what it was")
    func filters() async throws {
        try await withAPI { api in
            await play(api)
            for properties in [#"{"genre":"rock"}"#, #"{"genre":1}"#, #"{"other":1}"#] {
                _ = await api.post("/v1/log/event", #"{"device":"phone","name":"played","properties":\#(properties)}"#)
            }
            _ = await api.post("/v1/log/event", #"{"device":"phone","name":"played"}"#)
            #expect(
                await misses(api) == [
                    #"genre: wanted to equal "pop", was "rock""#,
                    #"genre: wanted to equal "pop", was 1, which is no string"#,
                    #"genre: wanted to equal "pop", was missing"#,
                    "the event has no properties, and the trigger has filters",
                ])
        }
    }

    @Test("An event of a server, of no device, of nearly the name; one that waits, and one that is lost")
    func sources() async throws {
        try await withAPI { api in
            await play(
                api,
                Self.message.replacing("custom_event_property", with: "custom_event").replacing(
                    #","property_filters":[[{"property_key":"genre","property_type":"string","comparator":1,"#
                        + #""property_value":"pop"}]]"#,
                    with: ""))
            _ = await api.post("/v1/log/event", #"{"user":"jane","name":"Played"}"#)
            #expect(await misses(api) == ["its name is Played, wanted played"])
            _ = await api.post("/v1/log/event", #"{"user":"jane","name":"played","source":"rest"}"#)
            _ = await api.post("/v1/log/event", #"{"user":"jane","name":"played"}"#)
            _ = await api.post("/v1/save/event", #"{"user":"jane","name":"played","process":"Push"}"#)
            _ = await api.post("/v1/devices/phone/settings", #"{"startup":{"prepared":"never"}}"#)
            _ = await api.post("/v1/launch", "{}")
            _ = await api.post("/v1/log/event", #"{"device":"phone","name":"played"}"#)
            #expect(
                await misses(api) == [
                    "it came from a server (rest): only what the SDK on a device logs triggers messages",
                    "it came from no device: log it with --device", "it waits on phone for a launch",
                    "lost: the app logged it before the SDK existed",
                ])
        }
    }

    @Test("A purchase of another product")
    func otherProduct() async throws {
        try await withAPI { api in
            await play(
                api, #"{"messages":[{"id":"m","trigger_conditions":[{"type":"purchase","product_id":"sku-1"}]}]}"#)
            _ = await api.post(
                "/v1/log/purchase", #"{"device":"phone","product":"sku-2","currency":"EUR","price":1}"#)
            #expect(await misses(api) == ["its product is sku-2, wanted sku-1"])
        }
    }

    @Test("A session before the declaration does not have the message")
    func earlySession() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/messages", #"{"messages":[]}"#)
            _ = await api.post("/v1/change-user", #"{"user":"jane"}"#)
            _ = await api.post("/v1/launch", "{}")
            _ = await api.post("/v1/messages", Self.message)
            _ = await api.post(
                "/v1/log/event", #"{"device":"phone","name":"played","properties":{"genre":"pop"}}"#)
            #expect(await misses(api).first?.hasPrefix("phone did not have the message then") == true)
        }
    }

    @Test("A push of another campaign")
    func campaign() async throws {
        try await withAPI { api in
            await play(
                api,
                #"{"messages":[{"id":"m","trigger_conditions":[{"type":"push_click","campaign_id":"spring"}]}]}"#)
            _ = await api.post(
                "/v1/devices/phone/push",
                #"{"action":"receive","message":"autumn","payload":{"aps":{"alert":"Hi"},"ab":{}}}"#)
            _ = await api.post("/v1/devices/phone/push", #"{"action":"open"}"#)
            #expect(await misses(api) == ["the push was of the campaign autumn, wanted spring"])
        }
    }

    @Test("A push that is opened before the SDK exists triggers when it is processed")
    func delayedClick() async throws {
        try await withAPI { api in
            await play(api, #"{"messages":[{"id":"m","trigger_conditions":[{"type":"push_click"}]}]}"#)
            _ = await api.post("/v1/devices/phone/settings", #"{"startup":{"prepared":"in_time"}}"#)
            _ = await api.post("/v1/launch", "{}")
            _ = await api.post(
                "/v1/devices/phone/push", #"{"action":"receive","payload":{"aps":{"alert":"Hi"},"ab":{}}}"#)
            _ = await api.post("/v1/devices/phone/push", #"{"action":"open"}"#)
            #expect(await api.get("/v1/devices/phone/messages").json.at("screen") == .null)
            _ = await api.post("/v1/devices/phone/push", #"{"action":"initialize"}"#)
            #expect(await api.get("/v1/devices/phone/messages").json.at("screen") == "m")
        }
    }

    @Test("A message that ends on another user's phone ends in the life of the one who triggered it")
    func otherUser() async throws {
        try await withAPI { api in
            await play(
                api, #"{"messages":[{"id":"m","trigger_conditions":[{"type":"custom_event","event_name":"e"}]}]}"#)
            _ = await api.post("/v1/devices/phone/settings", #"{"messages":{"display_choice":"reenqueue"}}"#)
            _ = await api.post("/v1/log/event", #"{"device":"phone","name":"e"}"#)
            _ = await api.post("/v1/change-user", #"{"user":"bob"}"#)
            let answer = await api.get("/v1/messages/explain", [("user", "jane"), ("message", "m")]).json
            #expect(answer.at("links.1.reason") == "the delegate put it back on the stack")
            #expect(answer.at("links.2.kind") == "inAppMessageDiscarded")
            #expect(answer.at("links.2.reason") == "another user is on the device")
            #expect(
                await api.get("/v1/messages/explain", [("user", "bob"), ("message", "m")]).json.at("links").count == 0)
        }
    }

    @Test("A batch says which items are lost, and which the SDK has queued")
    func batch() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/launch", "{}")
            let items = #"{"items":[{"kind":"log/event","device":"phone","name":"e"}]}"#
            #expect(await api.post("/v1/batch", items).json.at("results.0.queued") == .null)
            _ = await api.post("/v1/devices/phone/settings", #"{"online":false}"#)
            #expect(await api.post("/v1/batch", items).json.at("results.0.queued") == true)
            _ = await api.post("/v1/devices/phone/settings", #"{"online":true,"startup":{}}"#)
            _ = await api.post("/v1/launch", "{}")
            let lost = await api.post("/v1/batch", items).json
            #expect(lost.at("results.0.lost") == true)
            #expect(lost.at("results.0.reason") == "the app logged it before the SDK existed")
        }
    }

    @Test("A life has no hole at the log-in: history, flushes and explain know the events of merged users")
    func merged() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"mia","name":"known"}"#)
            let saved = await api.post("/v1/save/event", #"{"device":"d9","name":"early","process":"Push"}"#).json
            _ = await api.post("/v1/devices/d9/change-user", #"{"user":"mia"}"#)
            _ = await api.post("/v1/devices/d9/launch", "{}")
            let position = saved.at("position")
            func positions(_ answer: AttributeValue) -> [Int64] {
                (0..<20).compactMap {
                    if case .int(let number) = answer.at("events.\($0).position") { number } else { nil }
                }
            }
            let own = await api.get("/v1/history", [("user", "mia"), ("kind", "pendingFlushed")]).json
            #expect(own.at("events.0.flushed.0") == position)
            #expect(own.at("events.0.items.0.name") == "early")
            #expect(own.at("events.0.items.0.position") == position)
            let kinds = await api.get("/v1/history", [("user", "mia"), ("merged", "true")]).json
            let names = (0..<20).map { kinds.at("events.\($0).kind").text }
            #expect(names.contains("customEventSaved") && names.contains("usersMerged"), "\(names)")
            let life = positions(kinds)
            #expect(life == life.sorted() && life.count > own.count)
            let reversed = await api.get("/v1/history", [("user", "mia"), ("merged", "true"), ("reverse", "true")]).json
            #expect(positions(reversed) == life.reversed())
            // In pages.
            var paged: [Int64] = []
            while true {
                let after = paged.last.map { [("after", "\($0)")] } ?? []
                let page = await api.get("/v1/history", [("user", "mia"), ("merged", "true"), ("limit", "2")] + after)
                    .json
                paged += positions(page)
                if page.at("more") == false { break }
            }
            #expect(paged == life)
            let explained = await api.get("/v1/messages/explain", [("user", "mia"), ("position", "\(position.json)")])
            #expect(explained.status == 200)
            let chain = (0..<9).map { explained.json.at("links.\($0).kind").text }.filter { !$0.isEmpty }
            #expect(chain == ["customEventSaved", "appLaunched", "pendingFlushed"], "\(chain)")
            #expect(await api.get("/v1/history", [("user", "mia"), ("merged", "true"), ("from", "2")]).status == 400)
            #expect(await api.get("/v1/history", [("user", "mia"), ("after", "2")]).status == 400)
        }
    }

    @Test("blame says where an update was refused, given up or waits, and where to look")
    func blame() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"ana","name":"x"}"#)
            func blame() async -> (status: Int, json: AttributeValue) {
                await api.get("/v1/blame", [("user", "ana"), ("field", "iban")])
            }
            #expect(await blame().json.at("error") == "The user never had an attribute iban.")
            let saved = await api.post(
                "/v1/save/attributes", #"{"user":"ana","attributes":{"iban":"x"},"process":"Push"}"#
            ).json
            var answer = await blame()
            #expect(answer.status == 404)
            #expect(answer.json.at("error").text.contains("it waits on phone for a launch"))
            #expect(answer.json.at("position") == saved.at("position"))
            #expect(answer.json.at("remedy") == "See `profilecli pending --device phone`.")
            #expect(await api.get("/v1/history", [("user", "ana"), ("field", "iban")]).status == 200)
            _ = await api.post("/v1/pending/discard", #"{"reason":"a test"}"#)
            answer = await blame()
            #expect(answer.json.at("error").text.contains("discarded at position"))
            _ = await api.post("/v1/log/attributes", #"{"user":"ana","attributes":{"iban":"y"}}"#)
            answer = await blame()
            #expect(answer.status == 200)
            #expect(answer.json.at("fields.0.value") == "y")
            #expect(answer.json.at("misses.0.reason").text.contains("by api: a test"))
        }
    }

    @Test("blame of what the blocklist or a declared type dropped names the position")
    func dropped() async throws {
        let workspace = """
            blocklist: {attributes: [iban]}
            attribute_types: {age: number}
            """
        try await withAPI { plain in
            let api = API(log: plain.log, workspace: try Workspace(yaml: workspace))
            _ = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"ana","plan":"free","iban":"x","age":"old"}]}"#)
            for field in ["iban", "age"] {
                let answer = await api.get("/v1/blame", [("user", "ana"), ("field", field)])
                #expect(answer.status == 404)
                #expect(answer.json.at("error").text.contains("refused: "), "\(answer.json.at("error"))")
                #expect(answer.json.at("remedy") == "See `profilecli rejected`.")
            }
        }
    }
}
