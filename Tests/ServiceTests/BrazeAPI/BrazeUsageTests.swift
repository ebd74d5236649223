import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("The apps and devices of an export")
struct BrazeUsageTests {
    private func event(_ app: String?, _ time: String, user: String = "a") -> String {
        let app = app.map { #","app_id":"\#($0)""# } ?? ""
        return #"{"external_id":"\#(user)","name":"e","time":"\#(time)"\#(app)}"#
    }

    private func purchase(_ app: String, _ time: String) -> String {
        #"{"external_id":"a","product_id":"p","currency":"EUR","price":1,"time":"\#(time)","app_id":"\#(app)"}"#
    }

    private func token(_ text: String, on device: String) -> String {
        #"{"app_id":"i","token":"\#(text)","device_id":"\#(device)"}"#
    }

    private func send(_ api: API, _ events: String...) async {
        _ = await api.post("/users/track", #"{"events":[\#(events.joined(separator: ","))]}"#)
    }

    private func export(_ api: API, _ field: String, of user: String = "a") async -> AttributeValue {
        await api.export(#""external_ids":["\#(user)"],"fields_to_export":["\#(field)"]"#).at("0.\(field)")
    }

    @Test("An app is what events and purchases name, from the first time to the last")
    func apps() async throws {
        try await withAPI { (api) async throws in
            await send(api, event("i", "2026-01-02"), event("i", "2026-01-01"), event(nil, "2026-01-09"))
            _ = await api.post("/users/track", #"{"purchases":[\#(purchase("j", "2026-01-03"))]}"#)
            let apps = #"""
                [{"name":"i","first_used":"2026-01-01T00:00:00.000Z","last_used":"2026-01-02T00:00:00.000Z"},
                {"name":"j","first_used":"2026-01-03T00:00:00.000Z","last_used":"2026-01-03T00:00:00.000Z"}]
                """#
            #expect(await export(api, "apps") == (try JSON.parse(apps)))
            #expect(await api.export(#""external_ids":["a"]"#).at("0.apps") == (try JSON.parse(apps)))
            let email = await api.export(#""external_ids":["a"],"fields_to_export":["external_id"]"#)
            #expect(email == (try JSON.parse(#"[{"external_id":"a"}]"#)))
        }
    }

    @Test("The workspace names the app and its platform; one that it does not declare is called by its ID")
    func workspace() async throws {
        try await withAPI { plain in
            await send(plain, event("old", "2026-01-01"))
            let api = try plain.under("apps: [{id: i, name: Shop, platform: ios}]")
            await send(api, event("i", "2026-01-02"), event("unknown", "2026-01-03"))
            let apps = await export(api, "apps")
            #expect(apps.count == 2)
            #expect(apps.at("0.name") == "Shop" && apps.at("0.platform") == "ios")
            #expect(apps.at("1.name") == "old" && apps.at("1.platform") == .null)
        }
    }

    @Test("On a simulated device the app has its sessions; there is none before its first launch")
    func simulated() async throws {
        try await withAPI { (api) async throws in
            _ = await api.post("/v1/save/event", #"{"user":"a","device":"d","name":"e"}"#)
            #expect(await export(api, "apps") == .null)
            for day in 1...2 {
                _ = await api.post("/v1/devices/d/launch", #"{"time":"2026-01-0\#(day)T00:00:00Z"}"#)
            }
            let user = await api.export(#""external_ids":["a"]"#).at("0")
            let apps = #"""
                [{"name":"app","platform":"iOS","sessions":2,"first_used":"2026-01-01T00:00:00.000Z",
                "last_used":"2026-01-02T00:00:00.000Z"}]
                """#
            #expect(user.at("apps") == (try JSON.parse(apps)))
            #expect(user.at("devices") == (try JSON.parse(#"[{"device_id":"d"}]"#)))
        }
    }

    @Test("Devices are those on which the user was, and those of push tokens, each once")
    func devices() async throws {
        try await withAPI { (api) async throws in
            _ = await api.post("/v1/devices/e/change-user", #"{"user":"a"}"#)
            let tokens = [token("1", on: "z"), token("2", on: "e"), token("3", on: "z")].joined(separator: ",")
            await api.track(Wire.user("a", #""push_tokens":[\#(tokens)]"#))
            #expect(await export(api, "devices") == (try JSON.parse(#"[{"device_id":"e"},{"device_id":"z"}]"#)))
            await api.track(Wire.user("a", #""push_tokens":null"#))
            #expect(await export(api, "devices") == (try JSON.parse(#"[{"device_id":"e"}]"#)))
            await api.track(Wire.user("b"))
            #expect(await api.export(#""external_ids":["b"]"#).at("0.devices") == .null)
            #expect(await api.export(#""external_ids":["b"]"#).at("0.apps") == .null)
        }
    }

    @Test("A merge joins the apps and devices of both")
    func merged() async throws {
        try await withAPI { (api) async throws in
            await send(api, event("i", "2026-01-01", user: "b"), event("j", "2026-01-02", user: "b"))
            await send(api, event("i", "2026-01-03"))
            _ = await api.post("/v1/devices/d/change-user", #"{"user":"b"}"#)
            _ = await api.post(
                "/users/merge",
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"b"},"#
                    + #""identifier_to_keep":{"external_id":"a"}}]}"#
            )
            let user = await api.export(#""external_ids":["a"]"#).at("0")
            #expect(user.at("devices") == (try JSON.parse(#"[{"device_id":"d"}]"#)))
            #expect(user.at("apps").count == 2 && user.at("apps.0.first_used") == "2026-01-01T00:00:00.000Z")
            #expect(user.at("apps.0.last_used") == "2026-01-03T00:00:00.000Z")
        }
    }

    @Test("A deletion leaves no app and no device, neither to who was deleted nor to who comes back")
    func deleted() async throws {
        try await withAPI { (api) async throws in
            await send(api, event("i", "2026-01-01"))
            _ = await api.post("/v1/devices/d/change-user", #"{"user":"a"}"#)
            let old = try #require(try api.log.find(UserID.externalID("a"))).number
            #expect(await api.post("/users/delete", #"{"external_ids":["a"]}"#).status == 201)
            let left = try api.log.state(UsageProjection.self, of: old)
            #expect(left.apps.isEmpty && left.devices.isEmpty)
            await api.track(Wire.user("a"))
            let user = await api.export(#""external_ids":["a"]"#).at("0")
            #expect(user.at("external_id") == "a" && user.at("apps") == .null && user.at("devices") == .null)
        }
    }
}
