import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

/// The recommended events for shops: each by its own schema, over REST and from devices.
@Suite("E-commerce events")
struct EcommerceEventTests {
    /// Members of a line of an order.
    private static let line =
        #"{"product_id":"p","product_name":"P","variant_id":"v","quantity":1,"price":9.5}"#
    /// The members that each event must have.
    private static let required: [String: [(String, String)]] = {
        let sale = [("currency", #""EUR""#), ("products", "[\(line)]"), ("source", #""web""#)]
        let total = [("total_value", "9.5")]
        let product = ["product_id", "product_name", "variant_id"].map { ($0, #""x""#) }
        func text(_ name: String) -> [(String, String)] { [(name, #""x""#)] }
        return [
            "product_viewed": product + [("price", "9.5"), ("currency", #""EUR""#), ("source", #""web""#)],
            "cart_updated": text("cart_id") + total + sale,
            "checkout_started": text("checkout_id") + total + sale,
            "order_placed": text("order_id") + total + sale,
            "order_refunded": text("order_id") + total + sale,
            "order_cancelled": text("order_id") + text("cancel_reason") + total + sale,
        ]
    }()
    /// The members that each event may have besides.
    private static let allowed: [String: [String]] = {
        let parts = ["subtotal_value", "tax", "shipping", "metadata"]
        let discounts = ["total_discounts", "discounts"]
        return [
            "product_viewed": ["image_url", "product_url", "type", "metadata"],
            "cart_updated": parts + ["action"], "checkout_started": parts + ["cart_id"],
            "order_placed": parts + discounts + ["cart_id"], "order_refunded": discounts + ["metadata"],
            "order_cancelled": parts + discounts,
        ]
    }()
    private static let values = [
        "image_url": #""u""#, "product_url": #""u""#, "type": #"["price_drop","back_in_stock"]"#,
        "metadata": #"{"a":1}"#,
        "subtotal_value": "0", "tax": "1.5", "shipping": "0", "action": #""replace""#, "cart_id": #""c""#,
        "total_discounts": "1", "discounts": #"[{"code":"c","amount":1}]"#,
    ]

    private static func event(_ name: String, _ changes: KeyValuePairs<String, String?> = [:]) -> String {
        var members = Dictionary(uniqueKeysWithValues: required[name] ?? [])
        for (key, value) in changes { members[key] = value }
        let properties = members.sorted { $0.key < $1.key }.map { #""\#($0)":\#($1)"# }.joined(separator: ",")
        return #"{"external_id":"ana","time":"2026-01-01","name":"ecommerce.\#(name)","properties":{\#(properties)}}"#
    }

    /// The refusal of one event; nil if it is taken.
    private func fault(_ api: API, _ event: String) async -> String? {
        let (status, json) = await api.post("/users/track", #"{"events":[\#(event)]}"#)
        #expect(status == (json.at("errors.0.type") == .null ? 201 : 400), "\(event)")
        return json.at("errors.0.type") == .null ? nil : json.at("errors.0.type").text
    }

    @Test("Each event needs what its schema requires, takes what it allows, and nothing else")
    func members() async throws {
        try await withAPI { api in
            let all = Set(Self.values.keys).union(["gift_wrapped"])
            for (name, required) in Self.required {
                #expect(await fault(api, Self.event(name)) == nil, "\(name)")
                for (key, _) in required {
                    let expected = "The property '#/' did not contain a required property of '\(key)'"
                    #expect(await fault(api, Self.event(name, [key: nil])) == expected, "\(name)")
                }
                for key in all where !required.contains(where: { $0.0 == key }) {
                    let isAllowed = Self.allowed[name]?.contains(key) ?? false
                    let fault = await fault(api, Self.event(name, [key: Self.values[key] ?? "true"]))
                    #expect((fault == nil) == isAllowed, "\(name) \(key): \(fault ?? "")")
                    if !isAllowed { #expect(fault?.contains(#"additional properties ["\#(key)"]"#) ?? false) }
                }
            }
        }
    }

    /// An event, a property, a value, and the refusal; nil if it is taken.
    static let valued: [(String, String, String, String?)] = [
        ("cart_updated", "action", #""frob""#, one(of: "add, remove, replace", "action")),
        ("cart_updated", "action", "1", mismatch("action", "integer", "string")),
        ("order_placed", "total_value", "-1", minimum("total_value")),
        ("order_placed", "total_value", "-0.01", minimum("total_value")), ("order_placed", "total_value", "0", nil),
        ("order_placed", "total_value", #""9""#, mismatch("total_value", "string", "number")),
        ("order_refunded", "total_value", "-1", minimum("total_value")),
        ("order_cancelled", "shipping", "-1", minimum("shipping")), ("checkout_started", "tax", "-1", minimum("tax")),
        ("order_placed", "total_discounts", "-1", minimum("total_discounts")),
        ("product_viewed", "price", "-1", minimum("price")),
        ("order_placed", "currency", #""XXQ""#, "'currency' must be an ISO 4217 currency"),
        ("order_placed", "currency", #""2026-01-01""#, "'currency' must be an ISO 4217 currency"),
        ("product_viewed", "currency", #""eur""#, nil), ("order_placed", "currency", #""usd""#, nil),
        ("product_viewed", "type", #""price_drop""#, mismatch("type", "string", "array")),
        ("product_viewed", "type", #"["sale"]"#, one(of: "price_drop, back_in_stock", "type/0")),
        ("product_viewed", "type", "[1]", mismatch("type/0", "integer", "string")),
        ("product_viewed", "type", "[]", nil),
        ("order_placed", "products", "[{}]", missing("product_id", "#/products/0")),
        ("order_placed", "products", line.array("quantity", "-1"), minimum("products/0/quantity")),
        (
            "order_placed", "products", line.array("quantity", "1.5"),
            mismatch("products/0/quantity", "number", "integer")
        ),
        ("order_refunded", "products", line.array("price", "-1"), minimum("products/0/price")),
        ("order_placed", "products", line.array("price", "0"), nil), ("order_placed", "products", "[]", nil),
        ("order_placed", "products", "{}", mismatch("products", "object", "array")),
        ("order_placed", "metadata", "[]", mismatch("metadata", "array", "object")),
        ("order_placed", "metadata", "null", mismatch("metadata", "null", "object")),
    ]

    private static func minimum(_ place: String) -> String {
        "The property '#/\(place)' did not have a minimum value of 0, inclusively"
    }

    private static func one(of values: String, _ place: String) -> String {
        "The property '#/\(place)' did not match one of the following values: \(values)"
    }

    private static func mismatch(_ place: String, _ type: String, _ expected: String) -> String {
        "The property '#/\(place)' of type \(type) did not match the following type: \(expected)"
    }

    private static func missing(_ name: String, _ place: String) -> String {
        "The property '\(place)' did not contain a required property of '\(name)'"
    }

    @Test("A value is refused by its own rule", arguments: valued)
    func values(name: String, key: String, value: String, expected: String?) async throws {
        try await withAPI { api in
            #expect(await fault(api, Self.event(name, [key: value])) == expected)
            let count = try api.log.userCount()
            #expect(count == (expected == nil ? 1 : 0))
        }
    }

    @Test("A cart that is replaced needs its total; one of which lines are added or removed does not")
    func cart() async throws {
        try await withAPI { api in
            let fault = Self.missing("total_value", "#/")
            for (action, expected) in [("add", nil), ("remove", nil), ("replace", fault), ("frob", fault)] {
                let event = Self.event("cart_updated", ["total_value": nil, "action": #""\#(action)""#])
                #expect(await self.fault(api, event) == expected, "\(action)")
            }
            #expect(await self.fault(api, Self.event("cart_updated", ["total_value": nil])) == fault)
            let added = Self.event("cart_updated", ["action": #""add""#, "total_value": "-1"])
            #expect(await self.fault(api, added) == Self.minimum("total_value"))
        }
    }

    @Test("Of several events the good ones are stored, and the others named; other names have no schema")
    func several() async throws {
        try await withAPI { api in
            let bad = Self.event("order_placed", ["total_value": "-1"])
            let other = Self.event("order_placed").replacing("ecommerce.order_placed", with: "ecommerce.OrderPlaced")
                .replacing("9.5", with: "-1")
            let (status, json) = await api.post(
                "/users/track", #"{"events":[\#(bad),\#(Self.event("order_placed")),\#(other)]}"#)
            #expect(status == 201)
            #expect(json.at("events_processed") == 2)
            #expect(json.at("errors").count == 1)
            #expect(json.at("errors.0.index") == 0)
            let events = await api.export(#""external_ids":["ana"]"#).at("0.custom_events")
            #expect(events.count == 2)
        }
    }

    @Test("From a device an event that breaks its schema is refused, and one that was saved already is rejected")
    func device() async throws {
        try await withAPI { api in
            let properties = #"{"order_id":"o","total_value":-1}"#
            for path in ["/v1/log/event", "/v1/save/event"] {
                let device = path.contains("save") ? #","device":"d""# : ""
                let (status, json) = await api.post(
                    path, #"{"user":"ana","name":"ecommerce.order_placed","properties":\#(properties)\#(device)}"#)
                #expect(status == 400)
                #expect(json.at("error").text.contains("did not contain a required property of 'currency'"), "\(json)")
            }
            let context = EventContext(
                source: .import, process: "Push", device: "d", storage: .appGroup("group.app"), item: "i")
            _ = try api.log.append(
                [
                    .customEventSaved(CustomEvent(name: "ecommerce.cart_updated", properties: [])),
                    .customEventSaved(CustomEvent(name: "ecommerce.other", properties: [])),
                ], to: .externalID("ana"), context: context)
            let launch = await api.post("/v1/devices/d/launch", "{}").json
            let outcomes = (0..<2).map {
                "\(launch.at("flushed.\($0).name").text) \(launch.at("flushed.\($0).outcome").text)"
            }
            #expect(outcomes.sorted() == ["ecommerce.cart_updated rejected", "ecommerce.other flushed"])
            let rejected = await api.get("/v1/rejected").json
            #expect(
                rejected.at("rejected.0.reason").text
                    == "The event breaks the schema of its name: \(Self.missing("cart_id", "#/"))")
        }
    }
}

extension String {
    /// An array with this object, `key` replaced by `value`.
    fileprivate func array(_ key: String, _ value: String) -> String {
        let members = dropFirst().dropLast().split(separator: ",").map { member in
            member.hasPrefix(#""\#(key)":"#) ? #""\#(key)":\#(value)"# : String(member)
        }
        return "[{\(members.joined(separator: ","))}]"
    }
}
