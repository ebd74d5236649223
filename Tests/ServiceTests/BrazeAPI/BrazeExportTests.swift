import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("What an export says of a profile")
struct BrazeExportTests {
    private func purchase(_ price: String, _ currency: String = "EUR", quantity: Int = 1) -> String {
        #"{"external_id":"a","product_id":"p","currency":"\#(currency)","price":\#(price),"quantity":\#(quantity),"#
            + #""time":"2026-01-01"}"#
    }

    @Test("The revenue is always there, and exact to the cent")
    func revenue() async throws {
        try await withAPI { api in
            func revenue(_ purchases: String...) async -> AttributeValue {
                _ = await api.post("/users/track", #"{"purchases":[\#(purchases.joined(separator: ","))]}"#)
                return await api.export(#""external_ids":["a"]"#).at("0.total_revenue")
            }
            await api.track(Wire.user("a"))
            #expect(await revenue() == .double(0))
            #expect(await revenue(purchase("0.1", quantity: 3)) == .double(0.3))
            #expect(await revenue(purchase("1.005")) == .double(1.305))
            #expect(await revenue(purchase("2.5"), purchase("-0.005")) == .double(3.8))
        }
    }

    @Test("Revenue in several currencies is given by currency, and is never added up")
    func currencies() async throws {
        try await withAPI { api in
            func export() async -> AttributeValue { await api.export(#""external_ids":["a"]"#).at("0") }
            func buy(_ purchase: String) async { _ = await api.post("/users/track", #"{"purchases":[\#(purchase)]}"#) }
            await buy(purchase("2.5", "USD"))
            #expect(await export().at("total_revenue") == .double(2.5))
            #expect(await export().at("total_revenue_by_currency") == .null)
            await buy(purchase("0.1", "EUR", quantity: 3))
            await buy(purchase("1", "USD").replacing(#""p""#, with: #""q""#))
            let profile = await export()
            #expect(profile.at("total_revenue") == .null)
            let expected = try JSON.parse(#"{"EUR":0.3,"USD":3.5}"#)
            #expect(profile.at("total_revenue_by_currency") == expected)
        }
    }

    @Test("Push tokens are exported as they were sent, with the app's name; a known app by its platform too")
    func pushTokens() async throws {
        try await withAPI { plain in
            let api = try plain.under("apps: [{id: i, name: Shop, platform: ios}]")
            let token = #"{"app_id":"i","token":"t","device_id":"d"}"#
            await api.track(Wire.user("a", #""push_tokens":[\#(token)]"#))
            for more in ["", #","fields_to_export":["push_tokens"]"#] {
                let tokens = await api.export(#""external_ids":["a"]\#(more)"#).at("0.push_tokens")
                #expect(
                    tokens
                        == (try JSON.parse(
                            #"[{"app":"Shop","platform":"ios","token":"t","device_id":"d"}]"#
                        )))
            }
            let email = await api.export(#""external_ids":["a"],"fields_to_export":["email"]"#)
            #expect(email.at("0.push_tokens") == .null)
        }
    }

    @Test("An opt-in has the time at which it was given")
    func optedIn() async throws {
        try await withAPI { api in
            await api.track(Wire.user("a", #""push_subscribe":"opted_in","email_subscribe":"subscribed""#))
            let user = await api.export(#""external_ids":["a"]"#)
            #expect(user.at("0.push_opted_in_at").text.hasSuffix("Z"))
            #expect(user.at("0.email_opted_in_at") == .null)
        }
    }

    @Test("With a window, what happened before it is skipped")
    func window() async throws {
        try await withAPI { plain in
            func event(_ name: String, _ time: String) -> String {
                #"{"external_id":"a","name":"\#(name)","time":"\#(time)"}"#
            }
            let now = Timestamp.now().rfc3339()
            _ = await plain.post(
                "/users/track",
                #"{"events":[\#(event("old", "2001-01-01")),\#(event("both", "2001-01-01")),\#(event("both", now))],"#
                    + #""purchases":[\#(purchase("1"))]}"#.replacing("2026-01-01", with: "2001-01-01"))
            let all = await plain.export(#""external_ids":["a"]"#)
            #expect(all.at("0.custom_events").count == 2)
            #expect(all.at("0.purchases").count == 1)
            let recent = try await plain.under("export_window_days: 90").export(#""external_ids":["a"]"#)
            #expect(recent.at("0.custom_events").count == 1)
            #expect(recent.at("0.custom_events.0.name") == "both")
            #expect(recent.at("0.purchases") == .null)
            #expect(recent.at("0.total_revenue") == .double(1))
        }
    }
}
