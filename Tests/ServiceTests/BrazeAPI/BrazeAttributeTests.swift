import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Attributes over the REST API")
struct BrazeAttributeTests {
    /// The objects sent for attribute `x`, one after the other, and the value that the export shows then; nil if there
    /// is nothing.
    static let operations: [([String], String?)] = [
        ([#""text""#], #""text""#), (["1"], "1"), (["1.0"], "1.0"), (["true"], "true"), (["1", "null"], nil),
        ([#""2026-01-31""#], #""2026-01-31T00:00:00.000Z""#),
        ([#""12/1/2021""#], #""2021-12-01T00:00:00.000Z""#), ([#""12-1-2021""#], #""2021-12-01T00:00:00.000Z""#),
        ([#""2026-01-31T10:00:00+02:00""#], #""2026-01-31T08:00:00.000Z""#),
        ([#""3001-01-01""#], #""3001-01-01""#),
        ([#"{"inc":3}"#, #"{"inc":-1}"#], "2"), ([#""text""#, #"{"inc":1}"#], #""text""#),
        (["1", #"{"inc":1.5}"#], "1"),
        ([#"["a","b","a"]"#], #"["a","b"]"#), ([#"["a"]"#, #"{"add":["b","a"]}"#], #"["b","a"]"#),
        ([#"{"add":["a"]}"#], #"["a"]"#), ([#"["a","b"]"#, #"{"remove":["a"]}"#], #"["b"]"#),
        ([#"{"remove":["a"]}"#], nil),
        ([#"["a","b"]"#, #"{"add":["a"],"remove":["a","b"]}"#], #"["a"]"#),
        ([#"["a"]"#, #"{"add":"b"}"#], #"["a"]"#),
        (["1", #"["a",null]"#], "1"), (["1", #"["a",{}]"#], "1"),
        ([#"{"a":{"b":1},"c":2}"#, #"{"a":{"d":3}}"#], #"{"a":{"d":3}}"#),
        ([#"{"a":null}"#], nil), ([#"{"a b":1}"#], nil), ([#"{"a.b":1}"#], nil), ([#"{"$set":1}"#], nil),
        ([#"{"t":{"$time":"2026-01-31"}}"#], #"{"t":"2026-01-31T00:00:00.000Z"}"#),
        ([#"{"t":{"$time":"soon"},"u":1}"#], nil), ([#"{"t":{"$time":null}}"#], nil),
        ([#"[{"id":1,"n":"a"}]"#, #"{"$add":[{"id":2}]}"#], #"[{"id":1,"n":"a"},{"id":2}]"#),
        (
            [
                #"[{"id":1,"n":"a"}]"#,
                #"{"$update":[{"$identifier_key":"id","$identifier_value":1,"$new_object":{"id":1,"m":2}}]}"#,
            ], #"[{"id":1,"m":2}]"#
        ),
        (
            [#"[{"id":1},{"id":2},{"id":1}]"#, #"{"$remove":[{"$identifier_key":"id","$identifier_value":1}]}"#],
            #"[{"id":2}]"#
        ),
        ([#"{"$update":[{"$identifier_key":"id","$identifier_value":1,"$new_object":{}}]}"#], nil),
    ]

    @Test("Each operation does what is documented", arguments: operations)
    func operation(sent: [String], shown: String?) async throws {
        try await withAPI { api in
            for value in sent {
                let (status, _) = await api.post("/users/track", #"{"attributes":[{"external_id":"a","x":\#(value)}]}"#)
                #expect(status == 201)
            }
            let (_, export) = await api.post("/users/export/ids", #"{"external_ids":["a"]}"#)
            let expected = try shown.map { try JSON.parse($0) } ?? .null
            #expect(export.at("users.0.custom_attributes.x") == expected)
        }
    }

    @Test("With _merge_objects, objects and updates are merged at every level")
    func merging() async throws {
        try await withAPI { api in
            for object in [
                #"{"external_id":"a","x":{"a":{"b":1}},"y":[{"id":1,"o":{"p":1}}]}"#,
                #"{"external_id":"a","_merge_objects":true,"x":{"a":{"c":2}},"#
                    + #""y":{"$update":[{"$identifier_key":"id","$identifier_value":1,"$new_object":{"o":{"q":2}}}]}}"#,
            ] { _ = await api.post("/users/track", #"{"attributes":[\#(object)]}"#) }
            let (_, export) = await api.post("/users/export/ids", #"{"external_ids":["a"]}"#)
            let custom = export.at("users.0.custom_attributes")
            #expect(custom.at("x.a.b") == 1)
            #expect(custom.at("x.a.c") == 2)
            #expect(custom.at("y.0.id") == 1)
            #expect(custom.at("y.0.o.p") == 1)
            #expect(custom.at("y.0.o.q") == 2)
        }
    }

    /// A reserved field, what is sent, and what the export shows; nil if it is dropped.
    static let reservedFields: [(String, String, String, String?)] = [
        ("first_name", #""Ana""#, "first_name", #""Ana""#), ("first_name", "7", "first_name", nil),
        ("email", #""Ana@Example.COM""#, "email", #""ana@example.com""#),
        ("phone", #""+1 (724) 123-4567""#, "phone", #""+17241234567""#),
        ("email", #""""#, "email", nil), ("phone", #""7241234567""#, "phone", #""+17241234567""#),
        ("phone", #""442071838750""#, "phone", #""+442071838750""#), ("phone", #""""#, "phone", nil),
        ("phone", #""+1234567890123456""#, "phone", nil), ("phone", #""+0301234567""#, "phone", nil),
        ("phone", #""123-4567""#, "phone", nil), ("phone", #""no""#, "phone", nil),
        ("country", #""Australia""#, "country", #""AU""#), ("country", #""de""#, "country", #""DE""#),
        ("country", #""USA""#, "country", #""US""#), ("country", #""UK""#, "country", #""GB""#),
        ("country", #""Czech Republic""#, "country", #""CZ""#), ("country", #""great britain""#, "country", #""GB""#),
        ("country", #""United States of America""#, "country", #""US""#),
        ("language", #""en-US""#, "language", #""en""#), ("language", #""EN""#, "language", #""en""#),
        ("facebook", #"{"num_friends":"many"}"#, "facebook", nil), ("facebook", #"{"likes":1}"#, "facebook", nil),
        ("twitter", #"{"screen_name":7}"#, "twitter", nil), ("twitter", #"{"id":true}"#, "twitter", nil),
        ("twitter", #"{"statuses_count":1.5}"#, "twitter", nil),
        ("country", #""Kosovo""#, "country", nil), ("country", #""EU""#, "country", nil),
        ("country", #""UN""#, "country", nil), ("country", #""XK""#, "country", nil),
        ("country", #""AC""#, "country", nil), ("country", #""TA""#, "country", nil),
        ("country", #""Federal Republic of Germany""#, "country", #""DE""#),
        ("country", #""Türkiye""#, "country", #""TR""#), ("country", #""South Korea""#, "country", #""KR""#),
        ("country", #""cote d'ivoire""#, "country", #""CI""#), ("country", #""AX""#, "country", #""AX""#),
        ("country", #""Atlantis""#, "country", nil), ("language", #""de""#, "language", #""de""#),
        ("language", #""german""#, "language", nil), ("dob", #""1990-12-31""#, "dob", #""1990-12-31""#),
        ("dob", #""1990-02-30""#, "dob", nil), ("dob", #""12/31/1990""#, "dob", nil),
        ("gender", #""F""#, "gender", #""F""#), ("gender", #""female""#, "gender", nil),
        ("time_zone", #""Europe/Berlin""#, "time_zone", #""Europe/Berlin""#),
        ("time_zone", #""Eastern Time (US & Canada)""#, "time_zone", #""Eastern Time (US & Canada)""#),
        ("time_zone", #""Moon""#, "time_zone", nil),
        ("current_location", #"{"longitude":13.5,"latitude":52}"#, "last_coordinates", "[13.5,52.0]"),
        ("current_location", #"{"longitude":1000,"latitude":52}"#, "last_coordinates", nil),
        ("push_subscribe", #""opted_in""#, "push_subscribe", #""opted_in""#),
        ("push_subscribe", #""maybe""#, "push_subscribe", #""subscribed""#),
    ]

    @Test("A reserved field is validated, and one that is wrong is dropped alone", arguments: reservedFields)
    func reserved(field: String, sent: String, exported: String, shown: String?) async throws {
        try await withAPI { api in
            let (status, answer) = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"a","\#(field)":\#(sent),"k":1}]}"#)
            #expect(status == 201)
            let (_, export) = await api.post("/users/export/ids", #"{"external_ids":["a"]}"#)
            let expected = try shown.map { try JSON.parse($0) } ?? .null
            #expect(export.at("users.0.\(exported)") == expected)
            #expect(export.at("users.0.custom_attributes.k") == 1)
            let isKept = shown != nil && sent != #""maybe""#
            #expect(answer.at("dropped").count == (isKept ? 0 : 1))
            if !isKept { #expect(answer.at("dropped.0.field").text == field) }
        }
    }

    @Test("null clears a field; identifiers, control keys and bio are no attributes; case counts")
    func notAttributes() async throws {
        try await withAPI { api in
            for object in [
                #"{"external_id":"a","first_name":"Ana","bio":"b","alias_name":"n","alias_label":"l","#
                    + #""First_Name":"x"}"#,
                #"{"external_id":"a","first_name":null}"#,
            ] { _ = await api.post("/users/track", #"{"attributes":[\#(object)]}"#) }
            let (_, export) = await api.post("/users/export/ids", #"{"external_ids":["a"]}"#)
            #expect(export.at("users.0.first_name") == .null)
            #expect(export.at("users.0.custom_attributes") == .object([.init("First_Name", "x")]))
        }
    }

    /// A value at a limit, and one beyond it.
    static let limits: [(String, String)] = [
        (#""\#(String(repeating: "ä", count: 255))""#, #""\#(String(repeating: "ä", count: 256))""#),
        (
            #"{"k":"\#(String(repeating: "v", count: 255))"}"#, #"{"k":"\#(String(repeating: "v", count: 256))"}"#
        ),
        (
            #"{"\#(String(repeating: "k", count: 255))":1}"#, #"{"\#(String(repeating: "k", count: 256))":1}"#
        ),
        (
            "[\(Array(repeating: #"{"k":"0123456789"}"#, count: 5000).joined(separator: ","))]",
            "[\(Array(repeating: #"{"k":"0123456789"}"#, count: 6000).joined(separator: ","))]"
        ),
    ]

    @Test("A value at a limit is kept; one beyond it changes nothing, and the answer says so", arguments: limits)
    func limit(within: String, beyond: String) async throws {
        try await withAPI { api in
            let (_, kept) = await api.post("/users/track", #"{"attributes":[{"external_id":"a","x":\#(within)}]}"#)
            #expect(kept.at("dropped") == .null)
            let (status, dropped) = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"a","x":\#(beyond)}]}"#)
            #expect(status == 201)
            #expect(dropped.at("dropped.0.field") == "x")
            let (_, export) = await api.post("/users/export/ids", #"{"external_ids":["a"]}"#)
            let expected = try JSON.parse(within)
            #expect(export.at("users.0.custom_attributes.x") == expected)
        }
    }

    @Test(
        "A limit is told in KB if it is a whole number of them, and else in bytes",
        arguments: [(1_024, "1 KB"), (1_025, "1025 bytes"), (900, "900 bytes")])
    func units(limit: Int, shown: String) async throws {
        try await withAPI { plain in
            let large = "[\((0..<400).map(String.init).joined(separator: ","))]"
            let nested = try plain.under("limits: {bytes_per_nested_value: \(limit)}")
            #expect(await nested.set(#""x":\#(large)"#) == "is larger than \(shown)")
            let whole = try plain.under("limits: {bytes_per_attributes_object: \(limit)}")
            let (_, json) = await whole.post("/users/track", #"{"attributes":[{"external_id":"a","x":\#(large)}]}"#)
            #expect(json.at("errors.0.type").text == "the object is larger than \(shown)")
        }
    }

    @Test("Of an array that is too long the last 500 are kept; a name that is too long is dropped")
    func arrayLimit() async throws {
        try await withAPI { api in
            let values = (1...510).map { #""v\#($0)""# }.joined(separator: ",")
            let long = String(repeating: "n", count: 256)
            let (_, answer) = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"a","x":[\#(values)],"\#(long)":1}]}"#)
            #expect(answer.at("dropped").count == 2)
            let (_, export) = await api.post("/users/export/ids", #"{"external_ids":["a"]}"#)
            #expect(export.at("users.0.custom_attributes.x").count == 500)
            #expect(export.at("users.0.custom_attributes.x.499") == "v510")
        }
    }

    @Test("An 'inc' that changes nothing is listed, and what it met stays")
    func increments() async throws {
        try await withAPI { api in
            #expect(await api.set(#""x":1.5"#) == nil)
            #expect(await api.set(#""x":{"inc":1}"#) == "is no integer, and nothing can be added to it")
            #expect(await api.exported() == .double(1.5))
            #expect(await api.set(#""x":9223372036854775806"#) == nil)
            #expect(await api.set(#""x":{"inc":1}"#) == nil)
            #expect(await api.set(#""x":{"inc":1}"#) == "would become more than 64 bits can hold")
            #expect(await api.exported() == .int(.max))
            #expect(await api.set(#""x":{"inc":-1}"#) == nil)
        }
    }

    /// A profile, an operation that changes nothing of it, and the remark.
    static let ineffective: [(String, String, String)] = [
        (#""text""#, #"{"add":["b"]}"#, "is no array"), (#""text""#, #"{"remove":["b"]}"#, "is no array"),
        (#""text""#, #"{"$add":[{"id":1}]}"#, "is no array"),
        (
            #"[{"id":1}]"#,
            #"{"$update":[{"$identifier_key":"id","$identifier_value":2,"$new_object":{"id":3}}]}"#,
            "has no object that an '$update' names"
        ),
        (
            "null", #"{"$update":[{"$identifier_key":"id","$identifier_value":2,"$new_object":{"id":3}}]}"#,
            "has no value"
        ),
    ]

    @Test("An operation that changes nothing of what is there is told by both APIs", arguments: ineffective)
    func withoutEffect(stored: String, operation: String, reason: String) async throws {
        try await withAPI { api in
            // The type of the attribute is the type of its first value, which another user has.
            let type = operation.contains("$") ? #"[{"id":9}]"# : "[9]"
            await api.track(#"{"external_id":"first","x":\#(type)}"#)
            _ = await api.post("/v1/log/attributes", #"{"user":"a","attributes":{"x":\#(stored),"n":1}}"#)
            let before = await api.exported()
            #expect(await api.set(#""x":\#(operation)"#) == reason)
            #expect(await api.exported() == before)
            let native = await api.post("/v1/log/attributes", #"{"user":"a","attributes":{"x":\#(operation)}}"#)
            #expect(native.json.at("no_effect.0.reason").text == reason)
        }
    }

    @Test("A push token names an app of the workspace; one without a device gets one, always the same")
    func pushTokens() async throws {
        try await withAPI { plain in
            let api = try plain.under("apps: [{id: i, name: Shop}]")
            func send(_ tokens: String) async -> (reason: AttributeValue, tokens: AttributeValue) {
                let (_, json) = await api.post(
                    "/users/track", #"{"attributes":[{"external_id":"a","push_tokens":[\#(tokens)]}]}"#)
                return (json.at("dropped.0.reason"), await api.export(#""external_ids":["a"]"#).at("0.push_tokens"))
            }
            let known = #"{"app_id":"i","token":"t"}"#
            let first = await send(known)
            #expect(first.reason == .null)
            #expect(first.tokens.at("0.device_id").text.count == 32)
            let mixed = await send(#"{"app_id":"no","token":"u"},\#(known)"#)
            #expect(mixed.reason == "names an app that the workspace does not have")
            #expect(mixed.tokens == first.tokens)
            let unknown = await send(#"{"app_id":"no","token":"u"}"#)
            #expect(unknown.reason == "names no app of the workspace")
            #expect(unknown.tokens == first.tokens)
        }
    }

    @Test("One object needs no array, and empty text names no user")
    func lenient() async throws {
        try await withAPI { api in
            let (status, json) = await api.post(
                "/users/track",
                #"{"attributes":{"external_id":"","email":"","phone":"+4930123456","x":1},"#
                    + #""events":{"external_id":"a","name":"e","time":"2020-01-02 03:04:05 UTC"}}"#)
            #expect(status == 201)
            #expect(json.at("attributes_processed") == 1)
            #expect(json.at("events_processed") == 1)
            #expect(await api.export(#""phone":"+4930123456""#).at("0.custom_attributes.x") == 1)
            let nobody = await api.post("/users/track", #"{"attributes":[{"email":"","x":1}]}"#)
            #expect(nobody.status == 400)
        }
    }

    @Test("Properties: 256 are kept, and text of more than 255 characters is dropped alone")
    func properties() async throws {
        try await withAPI { api in
            let many = (0..<257).reversed().map { #""p\#(1000 + $0)":\#($0)"# }.joined(separator: " ,\n")
            let long = String(repeating: "v", count: 256)
            let (_, answer) = await api.post(
                "/users/track",
                #"{"events":[{"external_id":"a","name":"e","time":"2026-01-01","properties":{\#(many)}},"#
                    + #"{"external_id":"a","name":"f","time":"2026-01-01","properties":{"s":"\#(long)","#
                    + #""d":"2026-01-01","n":1}}]}"#
            )
            #expect(answer.at("events_processed") == 2)
            #expect(answer.at("dropped.0.field") == "properties.p1000")
            #expect(answer.at("dropped.1.field") == "properties.s")
            #expect(answer.at("dropped").count == 2)
            let events = try api.log.events(from: .start, limit: 10).events
            let last = try #require(events.last { $0.event.kind != .objectsLeftOut })
            guard case .customEventLogged(let event) = last.event else {
                Issue.record("the last event is of kind \(last.event.kind)")
                return
            }
            #expect(event.properties?.map(\.key) == ["d", "n"])
        }
    }

    @Test("Of several operations on an array of objects first what is added, then removed, then changed")
    func operationOrder() async throws {
        try await withAPI { api in
            for (operations, expected) in [
                (
                    #""$update":[{"$identifier_key":"id","$identifier_value":1,"$new_object":{"id":2,"moved":true}}],"#
                        + #""$remove":[{"$identifier_key":"id","$identifier_value":2}]"#, #"[{"id":2,"moved":true}]"#
                ),
                (
                    #""$remove":[{"$identifier_key":"id","$identifier_value":3}],"$add":[{"id":3}]"#,
                    #"[{"id":1},{"id":2}]"#
                ),
                (
                    #""$update":[{"$identifier_key":"id","$identifier_value":3,"$new_object":{"id":4}}],"#
                        + #""$add":[{"id":3}]"#,
                    #"[{"id":1},{"id":2},{"id":4}]"#
                ),
            ] {
                await api.track(#"{"external_id":"a","pets":[{"id":1},{"id":2}]}"#)
                await api.track(#"{"external_id":"a","pets":{\#(operations)}}"#)
                let pets = await api.export(#""external_ids":["a"]"#).at("0.custom_attributes.pets")
                let wanted = try JSON.parse(Array(expected.utf8))
                #expect(pets == wanted, "\(operations)")
            }
        }
    }
}
