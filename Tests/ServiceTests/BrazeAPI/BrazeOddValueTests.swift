import ProfileLog
import ProfileLogRequests
import Testing

@Suite("Values that are JSON and cannot be read")
struct BrazeOddValueTests {
    /// Odd values, each with the remark about its object.
    static let values: [(String, String)] = [
        ("123456789012345678901", "an integer needs more than 64 bits"),
        ("[-1e400]", "a number is too large for a double"),
        (#""\ud800""#, "one half of a surrogate pair lacks the other"),
        (#"{"k":1,"k":2}"#, #"the key "k" is twice in one object"#),
        (
            String(repeating: "[", count: 99) + String(repeating: "]", count: 99),
            "arrays and objects are nested more than 66 levels deep"
        ),
    ]

    @Test(
        "An object that the log has no room for is refused whole, whichever of its events is the large one",
        arguments: [false, true])
    func tooLarge(hasStandard: Bool) async throws {
        try await withAPI { (api) async throws in
            let value = #"{"v":[\#(String(repeating: "0.5,", count: 24_900))0.5]}"#
            let standard = hasStandard ? #""first_name":"Ana","# : ""
            let large = Wire.user("large", #"\#(standard)"a":\#(value),"b":\#(value),"c":\#(value),"d":\#(value)"#)
            let (status, json) = await api.post(
                "/users/track", #"{"attributes":[\#(Wire.user("a")),\#(large),\#(Wire.user("b"))]}"#)
            #expect(status == 201)
            #expect(json.at("attributes_processed") == 2)
            #expect(json.at("errors").count == 1 && json.at("errors.0.index") == 1)
            #expect(json.at("errors.0.type").text.contains("must not be larger than"))
            #expect(try api.log.find(.externalID("large")) == nil && api.log.find(.externalID("b")) != nil)
        }
    }

    @Test(
        "Values that cannot be read refuse the object that has them, no other", arguments: values,
        ["attributes", "events", "purchases"])
    func oneOfThree(odd: (value: String, reason: String), array: String) async throws {
        try await withAPI { api in
            func object(_ id: String, _ more: String = "") -> String {
                #"{"external_id":"\#(id)","name":"e","product_id":"p","currency":"EUR","price":1,"#
                    + #""time":"2026-01-01"\#(more)}"#
            }
            let bad = object("bad, [\\\"", #", "properties" : {"x": \#(odd.value) }"#)
            let body = #" { "partner" : "]}," , "\#(array)" : [ \#(object("a")), \#(bad) ,\#(object("b"))] } "#
            let (status, json) = await api.post("/users/track", body)
            #expect(status == 201)
            #expect(json.at("\(array)_processed") == 2)
            #expect(json.at("errors").count == 1)
            #expect(json.at("errors.0.type").text == odd.reason)
            #expect(json.at("errors.0.input_array").text == array)
            #expect(json.at("errors.0.index") == 1)
            #expect(await api.export(#""external_ids":["a","b"]"#).count == 2)
            let users = try api.log.userCount()
            #expect(users == 2)
            let alone = await api.post("/users/track/sync", #"{"\#(array)":[\#(bad)]}"#)
            #expect(alone.status == 400)
            #expect(alone.json.at("errors.0.type").text == odd.reason)
        }
    }

    /// Bodies that are no JSON, or odd outside of the objects.
    static let refused = [
        #"{"attributes":[{"external_id":"a","x":1e400,,,, oops},{"external_id":"b","x":1}]}"#,
        #"{"attributes":[{"external_id":"a","x":1e400,"y":tru},{"external_id":"b","x":1}]}"#,
        #"{"attributes":[{"external_id":"a","x":1e400,"y":01},{"external_id":"b","x":1}]}"#,
        #"{"attributes":[{"external_id":"a","x":1e400,"y":"\q"},{"external_id":"b","x":1}]}"#,
        #"{"attributes":[{"external_id":"a","x":1e400,"y":1.},{"external_id":"b","x":1}]}"#,
        #"{"attributes":[{"external_id":"a","x":1e400,"y"},{"external_id":"b","x":1}]}"#,
        "{\"attributes\":[{\"external_id\":\"a\",\"x\":1e400,\"y\":\"\u{1}\"},{\"external_id\":\"b\"}]}",
        #"{"attributes":[{"external_id":"a"}],"partner":1,"partner":2}"#,
        #"{"attributes":[{"external_id":"a","x":1e400}],"partner":1,"p\u0061rtner":2}"#,
        #"{"attributes":[{"external_id":"a","x":1e400},{"external_id":"b",}]}"#,
        #"{"attributes":[{"external_id":"a","x":1e400},{"external_id":"b"]}"#,
        #"{"attributes":[{"external_id":"a","x":1e400}],}"#,
        #"{"attributes":[{"external_id":"a","x":1e400},]}"#,
        #"{"attributes":[{"external_id":"a","x":1e400}]} x"#,
        #"{"attributes":[{"external_id":"a","x":1e400}]}}"#,
        #"{"attributes":[{"external_id":"a","x":1e400}],"attributes":[]}"#,
        #"{"attributes":[{"external_id":"a","x":1e400}],"partner":[}]}"#,
        #"{"attributes":[{"external_id":"a"}],"partner":1e400}"#,
        #"{"attributes":[{"external_id":"a","x":1e400}],"partner" "x"}"#,
        #"{"attributes":[{"external_id":"a","x":1e400}],7:8}"#,
        #"{"attributes":[{"external_id":"a","x":1e400}],"events":7}"#, #"[1e400]"#, "1e400", #""\ud800""#,
    ]

    @Test("What is no JSON stores nothing", arguments: refused)
    func wrong(body: String) async throws {
        try await withAPI { api in
            let (status, json) = await api.post("/users/track", body)
            #expect(status == 400)
            #expect(json.at("code") == "invalid_json")
            let users = try api.log.userCount()
            #expect(users == 0)
        }
    }

    @Test("Too many objects are too many, whatever is in them")
    func tooMany() async throws {
        try await withAPI { api in
            let (status, json) = await api.post("/users/track", Wire.list("events", "1e400", 76))
            #expect(status == 400)
            #expect(json.at("code") == "too_many_objects")
        }
    }
}
