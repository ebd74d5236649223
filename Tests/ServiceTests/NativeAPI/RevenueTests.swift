import ProfileLog
import TestSupport
import Testing

/// Money is added in decimal: every answer has the sum of what senders wrote.
@Suite("Revenue")
struct RevenueTests {
    private func buy(_ api: API, _ prices: [String], user: String = "ana", currency: String = "EUR") async {
        for price in prices {
            let (status, json) = await api.post(
                "/users/track",
                #"{"purchases":[{"external_id":"\#(user)","product_id":"p","currency":"\#(currency)","#
                    + #""price":\#(price),"time":"2026-01-01T00:00:00Z"}]}"#)
            #expect(status == 201, "\(json.json)")
        }
    }

    private func revenue(_ api: API, _ user: String = "ana") async -> String {
        await api.get("/v1/profile", [("user", user)]).json.at("purchases.0.revenue.EUR").json
    }

    private func passes(_ api: API, _ condition: String) async -> Int64? {
        await api.get("/v1/users", [("where", condition), ("count", "true")]).json.at("count").asInteger
    }

    @Test("Ten times 0.10 is 1 in every answer, and a condition with 1 holds")
    func tenths() async throws {
        try await withAPI { api in
            await buy(api, Array(repeating: "0.10", count: 10))
            #expect(await revenue(api) == "1.0")
            #expect(await passes(api, "purchases.p.revenue >= 1") == 1)
            #expect(await passes(api, "purchases.p.revenue > 1") == 0)
            let exported = await api.post(
                "/users/export/ids", #"{"external_ids":["ana"],"fields_to_export":["total_revenue"]}"#)
            #expect(exported.json.at("users.0.total_revenue") == .double(1))
            let report = try api.log.replay(threads: 2, verify: true)
            #expect(report.differences == [])
        }
    }

    @Test("A price and its refunds are nothing")
    func refunds() async throws {
        try await withAPI { api in
            await buy(api, ["0.30", "-0.10", "-0.10", "-0.10"])
            #expect(await revenue(api) == "0.0")
            #expect(await passes(api, "purchases.p.revenue < 0") == 0)
        }
    }

    @Test("The order of purchases changes no byte", arguments: Thoroughness.seeds(short: 4, full: 40))
    func order(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let cents = (0..<40).map { _ in Int.random(in: -99_999...999_999, using: &random) }
        func text(_ cents: Int) -> String {
            let digits = String(cents.magnitude)
            let padded = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
            return (cents < 0 ? "-" : "") + padded.dropLast(2) + "." + padded.suffix(2)
        }
        try await withAPI { api in
            await buy(api, cents.map(text), user: "a")
            await buy(api, cents.shuffled(using: &random).map(text), user: "b")
            let sum = Double(text(cents.reduce(0, +))).map { AttributeValue.double($0).json }
            #expect(await revenue(api, "a") == sum, "seed \(seed)")
            #expect(await revenue(api, "b") == sum, "seed \(seed)")
        }
    }

    @Test("Merged profiles add their sums exactly")
    func merge() async throws {
        try await withAPI { api in
            await buy(api, ["0.1", "0.1"], user: "a")
            await buy(api, ["0.1"], user: "b")
            let merged = await api.post(
                "/users/merge",
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"b"},"#
                    + #""identifier_to_keep":{"external_id":"a"}}]}"#)
            #expect(merged.status == 202)
            #expect(await revenue(api, "a") == "0.3")
        }
    }

    @Test("Orders add their value, and refunds take it back")
    func orders() async throws {
        try await withAPI { api in
            func order(_ name: String, _ value: Int) async {
                let (status, json) = await api.post(
                    "/users/track",
                    #"{"events":[{"external_id":"ana","name":"ecommerce.\#(name)","time":"2026-01-01T00:00:00Z","#
                        + #""properties":{"order_id":"o","total_value":\#(value),"currency":"EUR","source":"web","#
                        + #""products":[{"product_id":"p","product_name":"P","variant_id":"v","#
                        + #""quantity":1,"price":1}]}}]}"#
                )
                #expect(status == 201 && json.at("errors") == .null, "\(json.json)")
            }
            await order("order_placed", 100)
            await order("order_placed", 50)
            await order("order_refunded", 30)
            let profile = await api.get("/v1/profile", [("user", "ana")]).json
            #expect(profile.at("orders.revenue.EUR") == .double(120))
            #expect(profile.at("total_revenue.EUR") == .double(120))
            let exported = await api.post(
                "/users/export/ids", #"{"external_ids":["ana"],"fields_to_export":["total_revenue"]}"#)
            #expect(exported.json.at("users.0.total_revenue") == .double(120))
            #expect(await passes(api, "total_revenue = 120") == 1)
            let report = try api.log.replay(threads: 2, verify: true)
            #expect(report.differences == [])
        }
    }
}
