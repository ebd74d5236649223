import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("POST /users/track")
struct BrazeTrackTests {
    /// A body, the status, and the whole answer.
    static let pairs: [(String, Int, String)] = [
        (
            #"{"attributes":[{"external_id":"a","first_name":"Ana"}],"events":[],"purchases":[]}"#, 201,
            #"{"attributes_processed":1,"message":"success"}"#
        ),
        (
            #"{"events":[{"external_id":12345,"name":"seen","time":"2026-01-01T00:00:00Z"}],"#
                + #""purchases":[{"external_id":"a","product_id":7,"currency":"eur","price":-1.5,"#
                + #""time":"2026-01-02"}]}"#,
            201, #"{"events_processed":1,"purchases_processed":1,"message":"success"}"#
        ),
        (
            #"{"api_key":"secret","partner":"p","attributes":[{"first_name":"Ana"},{"external_id":"a","shoe":39}]}"#,
            201,
            #"{"attributes_processed":1,"message":"success","errors":[{"type":"'external_id', 'braze_id', "#
                + #"'user_alias', "#
                + #"'email' or 'phone' is required","input_array":"attributes","index":0}]}"#
        ),
        (
            #"{"purchases":[{"external_id":"a","product_id":"p","currency":"EUR","price":"1","time":"2026-01-01"}]}"#,
            400,
            #"{"message":"Valid data must be provided in the 'attributes', 'events', or 'purchases' fields.","#
                + #""errors":[{"type":"'price' is not valid","input_array":"purchases","index":0}]}"#
        ),
        (
            #"{"attributes":[{"external_id":"nobody","_update_existing_only":true,"shoe":39}]}"#, 201,
            #"{"attributes_processed":1,"message":"success","dropped":[{"reason":"no such user exists, and the object "#
                + #"only "#
                + #"updates ('_update_existing_only')","input_array":"attributes","index":0}]}"#
        ),
    ]

    @Test("An answer is the documented one, byte by byte", arguments: pairs)
    func pair(body: String, status: Int, answer: String) async throws {
        try await withAPI { api in
            let got = await api.answer(APIRequest(.post, "/users/track", body: Array(body.utf8)))
            #expect(got.status == status)
            #expect(String(decoding: got.body, as: UTF8.self) == answer)
        }
    }

    @Test("An address that is too long in lower case alone is refused, and nothing else of its request")
    func longInLowerCase() async throws {
        try await withAPI { api in
            // Two bytes each, and three in lower case.
            let address = String(repeating: "\u{23A}", count: 400) + "@x.example"
            let (status, json) = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"ok","x":1},{"email":"\#(address)","x":1}]}"#)
            #expect(status == 201)
            #expect(json.at("attributes_processed") == 1 && json.at("errors").count == 1)
            #expect(json.at("errors.0.index") == 1)
        }
    }

    private static let who = #""external_id":"a""#
    private static let when = #""time":"2026-01-01T00:00:00Z""#

    /// An event that differs from the schema by `properties`.
    private static func viewed(_ properties: String) -> String {
        let price = properties.contains(#""price""#) ? "" : #""price":9,"#
        return #"{\#(who),\#(when),"name":"ecommerce.product_viewed","properties":{\#(price)"product_name":"P","#
            + #""variant_id":"v","currency":"EUR","source":"web",\#(properties)}}"#
    }

    private static func ordered(_ product: String) -> String {
        #"{\#(who),\#(when),"name":"ecommerce.order_placed","properties":{"order_id":"o","total_value":9,"#
            + #""currency":"EUR","source":"web","products":[\#(product)]}}"#
    }

    private static func mismatch(_ place: String, _ type: String, _ expected: String) -> String {
        "The property '#/\(place)' of type \(type) did not match the following type: \(expected)"
    }

    /// An array, an object, and the `type` of its refusal.
    static let refusals: [(String, String, String)] = [
        ("attributes", "7", "must be an object"),
        (
            "attributes", #"{"external_id":"","shoe":1}"#,
            "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required"
        ),
        ("attributes", #"{"external_id":{},"shoe":1}"#, "'external_id' is not valid"),
        ("attributes", #"{"user_alias":{"alias_name":"n"},"shoe":1}"#, "'user_alias' is not valid"),
        ("attributes", #"{"email":"nowhere"}"#, "The value provided for the 'email' field is not a valid email."),
        ("attributes", #"{\#(who),"email":7}"#, "The value provided for the 'email' field is not a valid email."),
        ("attributes", #"{"phone":"no"}"#, "'phone' is not valid"),
        ("attributes", #"{\#(who),"_update_existing_only":"yes"}"#, "'_update_existing_only' is not valid"),
        ("attributes", #"{\#(who),"_merge_objects":1,"o":{}}"#, "'_merge_objects' is not valid"),
        (
            "attributes", #"{\#(who),"push_token_import":true,"push_tokens":[{"app_id":"i","token":"t"}]}"#,
            "'external_id' is not allowed with 'push_token_import'"
        ),
        (
            "attributes", #"{"braze_id":"x","push_token_import":true,"push_tokens":[{"app_id":"i","token":"t"}]}"#,
            "'braze_id' is not allowed with 'push_token_import'"
        ),
        ("attributes", #"{"push_token_import":true,"email":"a@b.example"}"#, "'push_tokens' is required"),
        ("attributes", #"{"push_token_import":true,"push_tokens":[]}"#, "'push_tokens' is not valid"),
        ("attributes", #"{"push_token_import":true,"push_tokens":[{"token":"t"}]}"#, "'push_tokens' is not valid"),
        (
            "events", #"{\#(who),\#(when),"name":"ecommerce.product_viewed"}"#,
            "The property '#/' did not contain a required property of 'product_id'"
        ),
        ("events", viewed(#""product_id":7"#), mismatch("product_id", "integer", "string")),
        ("events", viewed(#""product_id":"p","price":"9""#), mismatch("price", "string", "number")),
        (
            "events", viewed(#""product_id":"p","x":1"#),
            #"The property '#/' contains additional properties ["x"] outside of the schema when none are allowed"#
        ),
        (
            "events", ordered(#"{"product_id":"p","product_name":"P","variant_id":"v","quantity":1,"price":null}"#),
            mismatch("products/0/price", "null", "number")
        ),
        (
            "events", ordered(#"{"product_id":"p"}"#),
            "The property '#/products/0' did not contain a required property of 'product_name'"
        ),
        ("events", ordered("7"), mismatch("products/0", "integer", "object")),
        ("events", #"{\#(who),\#(when)}"#, "'name' is required"),
        ("events", #"{\#(who),\#(when),"name":"$x"}"#, "'name' is not valid"),
        ("events", #"{\#(who),\#(when),"name":"\#(String(repeating: "n", count: 256))"}"#, "'name' is not valid"),
        ("events", #"{\#(who),"name":"x"}"#, "'time' is required"),
        ("events", #"{\#(who),"name":"x","time":"soon"}"#, "'time' is not valid"),
        ("events", #"{\#(who),"name":"x","time":1767225600}"#, "'time' is not valid"),
        ("events", #"{\#(who),"name":"x",\#(when),"properties":[1]}"#, "Invalid 'properties' field"),
        ("events", #"{\#(who),"name":"x",\#(when),"properties":{"time":1}}"#, "Invalid 'properties' field"),
        ("events", #"{\#(who),"name":"x",\#(when),"properties":{"$p":1}}"#, "Invalid 'properties' field"),
        (
            "events",
            #"{\#(who),"name":"x",\#(when),"properties":{"p":[\#(String(repeating: "1,", count: 60_000))1]}}"#,
            "Invalid 'properties' field"
        ),
        ("purchases", #"{\#(who),\#(when),"currency":"EUR","price":1}"#, "'product_id' is required"),
        ("purchases", #"{\#(who),\#(when),"product_id":"p","price":1}"#, "'currency' is required"),
        ("purchases", #"{\#(who),\#(when),"product_id":"p","currency":"EURO","price":1}"#, "'currency' is not valid"),
        ("purchases", #"{\#(who),\#(when),"product_id":"p","currency":"EUR"}"#, "'price' is required"),
        (
            "purchases", #"{\#(who),\#(when),"product_id":"p","currency":"EUR","price":1,"quantity":0}"#,
            "'quantity' is not valid"
        ),
        (
            "purchases", #"{\#(who),\#(when),"product_id":"p","currency":"EUR","price":1,"quantity":101}"#,
            "'quantity' is not valid"
        ),
        ("purchases", #"{\#(who),"product_id":"p","currency":"EUR","price":1}"#, "'time' is required"),
        (
            "purchases", #"{\#(who),\#(when),"product_id":"p","currency":"EUR","price":1.7e308,"quantity":100}"#,
            "'price' is not valid"
        ),
        (
            "purchases", #"{\#(who),\#(when),"product_id":"p","currency":"EUR","price":-2e13,"quantity":100}"#,
            "'price' is not valid"
        ),
        (
            "purchases", #"{\#(who),\#(when),"product_id":"p","currency":"EUR","price":1,"properties":{"price":1}}"#,
            "Invalid 'properties' field"
        ),
    ]

    @Test("A recommended event that fits its schema is stored")
    func recommended() async throws {
        try await withAPI { api in
            let product =
                #"{"product_id":"p","product_name":"P","variant_id":"v","quantity":1,"price":9.5,"metadata":{"x":1}}"#
            for event in [Self.viewed(#""product_id":"p","type":["price_drop"]"#), Self.ordered(product)] {
                #expect(await api.post("/users/track", #"{"events":[\#(event)]}"#).status == 201)
            }
        }
    }

    @Test("A refused object is named by its place, and the good ones around it are stored", arguments: refusals)
    func refusal(array: String, object: String, type: String) async throws {
        try await withAPI { api in
            let good = [
                "attributes": #"{"external_id":"good","k":1}"#,
                "events": #"{"external_id":"good","name":"e","time":"2026-01-01"}"#,
                "purchases": #"{"external_id":"good","product_id":"p","currency":"EUR","price":1,"time":"2026-01-01"}"#,
            ][array, default: ""]
            let (status, json) = await api.post("/users/track", #"{"\#(array)":[\#(good),\#(object),\#(good)]}"#)
            #expect(status == 201)
            #expect(json.at("\(array)_processed") == 2)
            #expect(json.at("errors").count == 1)
            #expect(json.at("errors.0.type").text == type)
            #expect(json.at("errors.0.input_array").text == array)
            #expect(json.at("errors.0.index") == 1)
            let (alone, refused) = await api.post("/users/track", #"{"\#(array)":[\#(object)]}"#)
            #expect(alone == 400)
            #expect(refused.at("message").text.hasPrefix("Valid data must be provided"))
            #expect(await api.get("/v1/profile", [("user", "good")]).status == 200)
            #expect(await api.get("/v1/profile", [("user", "a")]).status == 404)
        }
    }

    /// A body that is wrong as a whole, its status, and the start of the message.
    static let wrongBodies: [([UInt8], String)] = [
        ([], "The body is empty."),
        (Array("[]".utf8), "The body is no JSON object."),
        (Array(#"{"attributes":[{"external_id":"a""#.utf8), "The JSON is invalid at byte"),
        (Array(#"{"attributes":[],}"#.utf8), "The JSON is invalid at byte"),
        (Array(#"{"attributes":[{"external_id":"a"}],"attributes":[]}"#.utf8), "The JSON is invalid at byte"),
        (Array(#"{"attributes":[{"external_id":"a","x":1,"x":2}]}"#.utf8), "Valid data must be provided"),
        (Array(#"{"attributes":[{"external_id":"a","x":""#.utf8) + [0xFF, 0xFE] + Array(#""}]}"#.utf8), "The JSON is"),
        (
            Array(
                (#"{"partner":"# + String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000) + "}")
                    .utf8),
            "The JSON is invalid at byte"
        ),
        (Array("attributes[][external_id]=a&attributes[][x]=1".utf8), "The JSON is invalid at byte"),
        (Array(#"{"attributes":"a"}"#.utf8), "`attributes` must be an array"),
        (Array("{}".utf8), "Valid data must be provided"),
        (Array(#"{"attributes":[],"events":[],"purchases":[]}"#.utf8), "Valid data must be provided"),
    ]

    @Test("A body that is wrong as a whole is 400, and stores nothing", arguments: wrongBodies)
    func wrongBody(body: [UInt8], message: String) async throws {
        try await withAPI { api in
            for path in ["/users/track", "/users/track/sync"] {
                let answer = await api.answer(APIRequest(.post, path, body: body))
                #expect(answer.status == 400)
                let json = try JSON.parse(answer.body)
                #expect(json.at("message").text.hasPrefix(message))
            }
            let last = try api.log.lastPosition()
            #expect(last == .start)
        }
    }

    @Test("75 objects of each array are taken, and 76 are not", arguments: ["attributes", "events", "purchases"])
    func objects(array: String) async throws {
        try await withAPI { api in
            let object =
                #"{"external_id":"a","x":1,"name":"e","product_id":"p","currency":"USD","price":1,"time":"2026-01-01"}"#
            func body(_ count: Int) -> String {
                #"{"\#(array)":[\#(Array(repeating: object, count: count).joined(separator: ","))]}"#
            }
            let (tooMany, answer) = await api.post("/users/track", body(76))
            #expect(tooMany == 400)
            #expect(answer.at("message").text.hasPrefix("Max Input Length Exceeded"))
            let last = try api.log.lastPosition()
            #expect(last == .start)
            let (enough, taken) = await api.post("/users/track", body(75))
            #expect(enough == 201)
            #expect(taken.at("\(array)_processed") == 75)
        }
    }

    @Test("One request is one append: attributes, then events, then purchases")
    func order() async throws {
        try await withAPI { api in
            _ = await api.post(
                "/users/track",
                #"{"purchases":[{"external_id":"a","product_id":"p","currency":"EUR","price":2,"quantity":3,"#
                    + #""time":"2026-01-03"}],"#
                    + #""events":[{"external_id":"a","name":"e","time":"2026-01-02","app_id":"shop"}],"#
                    + #""attributes":[{"external_id":"a","first_name":"Ana","shoe":39}]}"#)
            let kinds = try api.log.events(from: .start, limit: 10).events.map(\.event.kind)
            #expect(
                kinds == [
                    .userCreated, .userAttributesChanged, .customAttributesChanged, .customEventLogged, .purchaseLogged,
                ])
            let times = Set(try api.log.events(from: .start, limit: 10).events.map(\.recordedAt))
            #expect(times.count == 1)
        }
    }

    @Test("What has not happened yet happens now")
    func future() async throws {
        try await withAPI { api in
            _ = await api.post(
                "/users/track", #"{"events":[{"external_id":"a","name":"e","time":"2999-01-01T00:00:00Z"}]}"#)
            let event = try #require(try api.log.events(from: .start, limit: 10).events.last)
            #expect(event.occurredAt.timestamp == event.recordedAt)
        }
    }

    @Test("A user who is only to be updated is not made, unless an earlier object of the request makes them")
    func updateOnly() async throws {
        try await withAPI { api in
            let alias = #""user_alias":{"alias_name":"n","alias_label":"l"}"#
            let (_, dropped) = await api.post("/users/track", #"{"attributes":[{\#(alias),"x":1}]}"#)
            #expect(dropped.at("dropped.0.index") == 0)
            #expect(await api.get("/v1/profile", [("user", "alias:l:n")]).status == 404)
            let (_, made) = await api.post(
                "/users/track",
                #"{"attributes":[{\#(alias),"x":1,"_update_existing_only":false}],"#
                    + #""events":[{\#(alias),"name":"e","time":"2026-01-01"}]}"#)
            #expect(made.at("dropped") == .null)
            let (_, profile) = await api.get("/v1/profile", [("user", "alias:l:n")])
            #expect(profile.at("custom_attributes.x") == 1)
            #expect(profile.at("custom_events.0.count") == 1)
            let (_, unknown) = await api.post(
                "/users/track", #"{"attributes":[{"braze_id":"000000000000000000000000","x":1}]}"#)
            #expect(unknown.at("dropped.0.reason").text.contains("braze_id"))
        }
    }

    @Test("An object without attributes makes a profile, once, and changes none that is there")
    func bareObject() async throws {
        try await withAPI { api in
            _ = await api.post("/users/track", #"{"attributes":[{"external_id":"a"}]}"#)
            _ = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"a","email_subscribe":"unsubscribed"}]}"#)
            _ = await api.post("/users/track", #"{"attributes":[{"external_id":"a"}]}"#)
            let (_, profile) = await api.get("/v1/profile", [("user", "a")])
            #expect(profile.at("version") == 3)
            #expect(profile.at("attributes.email_subscribe") == "unsubscribed")
        }
    }
}
