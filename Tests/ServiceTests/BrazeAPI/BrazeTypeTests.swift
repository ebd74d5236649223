import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

extension API {
    /// The same log under a workspace file.
    func under(_ yaml: String) throws -> API { API(log: log, workspace: try Workspace(yaml: yaml)) }

    /// Sends one attributes object of user `a`, and gives the reason for which `x` was left out; nil if it was taken.
    func set(_ members: String, of user: String = "a") async -> String? {
        let (status, json) = await post("/users/track", #"{"attributes":[{"external_id":"\#(user)",\#(members)}]}"#)
        #expect(status == 201)
        #expect(json.at("dropped").count <= 1)
        let reason = json.at("dropped.0.reason")
        if reason != .null { #expect(json.at("dropped.0.field") == "x") }
        return reason == .null ? nil : reason.text
    }

    /// A custom attribute as an export shows it.
    func exported(_ attribute: String = "x", of user: String = "a") async -> AttributeValue {
        await post("/users/export/ids", #"{"external_ids":["\#(user)"]}"#).json
            .at("users.0.custom_attributes.\(attribute)")
    }
}

@Suite("Types of custom attributes")
struct BrazeTypeTests {
    /// A first value, one that is sent then, and the type's name if the second is dropped.
    static let pairs: [(String, String, String?)] = [
        ("1", "1.5", nil), ("1.5", "2", nil), ("1", #""x""#, "Number"), ("1", #""1""#, "Number"),
        ("1", "true", "Number"),
        (#""x""#, "1", "String"), (#""x""#, #""2026-01-01""#, nil), (#""2026-01-01""#, #""x""#, "Time"),
        (#""2026-01-01""#, #""2026-01-02""#, nil), ("true", "1", "Boolean"), ("true", "false", nil),
        ("[1]", #"["x"]"#, nil), ("[1]", "[]", nil), ("[1]", "[{}]", "Array"), ("[{}]", "[1]", "Object Array"),
        ("[{}]", "[]", nil), ("1", "[]", "Number"), (#"{"k":1}"#, "1", "Object"), (#"{"k":1}"#, #"{"l":2}"#, nil),
        ("1", "null", nil), ("1", #"{"inc":1}"#, nil), (#""x""#, #"{"inc":1}"#, "String"),
        ("[1]", #"{"add":[2]}"#, nil),
        ("1", #"{"add":[2]}"#, "Number"), ("1", #"{"remove":[2]}"#, "Number"), ("[1]", #"{"$add":[{}]}"#, "Array"),
        ("[{}]", #"{"$add":[{"k":1}]}"#, nil), (#"{"inc":1}"#, "2", nil), (#"{"inc":1}"#, #""x""#, "Number"),
        (#"{"add":[1]}"#, #""x""#, "Array"), (#"{"$add":[{}]}"#, #""x""#, "Object Array"),
        (#"{"remove":[1]}"#, #""x""#, nil), ("[]", #""x""#, nil), ("null", #""x""#, nil),
        (#"{"$remove":[{"$identifier_key":"k","$identifier_value":1}]}"#, #""x""#, nil),
        ("[1]", #"{"add":[2],"remove":[1]}"#, nil), ("1", #"{"add":[2],"remove":[1]}"#, "Number"),
    ]

    @Test("The first value of an attribute fixes its type for everybody", arguments: pairs)
    func firstValue(first: String, second: String, type: String?) async throws {
        try await withAPI { api in
            #expect(await api.set(#""x":\#(first)"#) == nil)
            let before = await api.exported()
            let reason = await api.set(#""x":\#(second)"#)
            #expect(reason == type.map { "is no \($0), as the first value of this attribute was" })
            if type != nil { #expect(await api.exported() == before) }
            let other = await api.set(#""x":\#(second)"#, of: "b")
            #expect(other == reason)
            let exported = await api.exported(of: "b")
            if type != nil { #expect(exported == .null) }
        }
    }

    @Test("Names that differ in their bytes alone are two, also where both are refused")
    func names() async throws {
        try await withAPI { api in
            func answer(_ value: String) async -> AttributeValue {
                await api.post(
                    "/users/track",
                    #"{"attributes":[{"external_id":"a","\#("caf\u{E9}")":\#(value),"\#("cafe\u{301}")":\#(value)}]}"#
                ).json
            }
            #expect(await answer(#""x""#).at("dropped") == .null)
            #expect(await answer("1").at("dropped").count == 2)
        }
    }

    @Test("Text stays text for an attribute of text, even if it reads as a time")
    func dateText() async throws {
        try await withAPI { api in
            #expect(await api.set(#""x":"soon""#) == nil)
            #expect(await api.set(#""x":"12/1/2021""#) == nil)
            #expect(await api.exported() == "12/1/2021")
        }
    }

    @Test("The first value counts within one request too, also of another user, but not one that was not stored")
    func withinRequest() async throws {
        try await withAPI { api in
            let (_, json) = await api.post(
                "/users/track",
                #"{"attributes":[{"external_id":"no","_update_existing_only":true,"x":true},{"external_id":"a","x":1},"#
                    + #"{"external_id":"b","x":"t","y":1},{"external_id":"a","x":2}]}"#)
            #expect(json.at("attributes_processed") == 4)
            #expect(json.at("dropped").count == 2)
            #expect(json.at("dropped.1.index") == 2)
            #expect(json.at("dropped.1.field") == "x")
            #expect(await api.exported() == 2)
            #expect(await api.exported("y", of: "b") == 1)
        }
    }

    @Test("Values that came through the native API and from devices count, and are not held to types themselves")
    func native() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/attributes", #"{"user":"a","attributes":{"x":1}}"#)
            _ = await api.post("/v1/log/attributes", #"{"user":"a","attributes":{"x":"text"}}"#)
            #expect(await api.exported() == "text")
            #expect(await api.set(#""x":"more""#) != nil)
            #expect(await api.set(#""x":7"#) == nil)
        }
    }

    /// A forced type, a value, and what is stored; nil if it is dropped.
    static let forcedValues: [(String, String, String?)] = [
        ("boolean", "1", "true"), ("boolean", #""1""#, "true"), ("boolean", #""true""#, "true"),
        ("boolean", #""t""#, "true"), ("boolean", "0", "false"), ("boolean", #""0""#, "false"),
        ("boolean", #""false""#, "false"), ("boolean", #""f""#, "false"), ("boolean", #""yes""#, nil),
        ("boolean", "2", nil), ("boolean", "true", "true"), ("number", #""100""#, "100"),
        ("number", #""-1.5""#, "-1.5"),
        ("number", #""1e400""#, nil), ("number", #""nan""#, nil), ("number", #""0x10""#, nil), ("number", #""""#, nil),
        ("number", "true", nil), ("number", "7", "7"), ("number", #""2026-01-01""#, nil), ("string", "100", #""100""#),
        ("string", "1.5", #""1.5""#), ("string", "true", #""true""#), ("string", #""2026-01-01""#, #""2026-01-01""#),
        ("string", "[1]", nil), ("string", #"{"k":1}"#, nil),
        ("time", #""2026-01-01""#, #""2026-01-01T00:00:00.000Z""#), ("time", #""x""#, nil), ("time", "1", nil),
        ("array", "[1]", "[1]"), ("array", "1", nil), ("array", "[{}]", nil), ("object", #"{"k":1}"#, #"{"k":1}"#),
        ("object", "[1]", nil), ("object_array", "[{}]", "[{}]"), ("object_array", "[]", "[]"),
        ("number", #"{"inc":2}"#, "2"), ("string", #"{"inc":2}"#, nil), ("array", #"{"add":[1]}"#, "[1]"),
    ]

    @Test(
        "A forced type makes the value its own, or drops it; what is stored is what it was made",
        arguments: forcedValues)
    func forced(type: String, value: String, stored: String?) async throws {
        try await withAPI { plain in
            let api = try plain.under("attribute_types: {x: \(type)}")
            let reason = await api.set(#""x":\#(value)"#)
            #expect((reason == nil) == (stored != nil))
            if let reason { #expect(reason.hasSuffix(", which the workspace makes it")) }
            let expected = try stored.map { try JSON.parse($0) } ?? .null
            #expect(await api.exported() == expected)
        }
    }

    @Test("A forced type counts more than the first value")
    func forcedLater() async throws {
        try await withAPI { plain in
            #expect(await plain.set(#""x":"text""#) == nil)
            let api = try plain.under("attribute_types: {x: number}")
            #expect(await api.set(#""x":"7""#) == nil)
            #expect(await api.exported() == 7)
        }
    }

    @Test("Of first values that come at once, one decides for all", arguments: UInt64(0)..<4)
    func race(seed: UInt64) async throws {
        try await withAPI { plain in
            let writer = API(writer: LogWriter(plain.log))
            var random = SeededGenerator(seed: seed)
            let values = ["1", #""x""#, "true", "[1]", #"{"k":1}"#]
            for round in 0..<10 {
                let sent = (0..<10).map { _ in values[random.next(below: values.count)] }
                await withTaskGroup(of: Void.self) { group in
                    for (user, value) in sent.enumerated() {
                        group.addTask {
                            let body = #"{"attributes":[{"external_id":"u\#(user)","a\#(round)":\#(value)}]}"#
                            #expect(await writer.post("/users/track", body).status == 201)
                        }
                    }
                }
                var types: Set<AttributeType> = []
                for user in sent.indices {
                    let value = await plain.exported("a\(round)", of: "u\(user)")
                    if let type = AttributeType(value) { types.insert(type) }
                }
                #expect(types.count == 1, "\(sent)")
            }
        }
    }

    @Test("Of first values through two processes at once, one decides for all")
    func twoProcesses() async throws {
        try await withAPI { (api) async throws in
            let view = api.view()
            var builder = api.log.prepare()
            _ = try api.decide(#"{"attributes":[{"external_id":"a","x":1}]}"#, view, &builder)
            #expect(await api.set(#""x":"text""#, of: "b") == nil)
            let append = view.completed(try builder.finish())
            #expect(throws: AppendError.conflict(over: "the type of a custom attribute")) { try api.log.commit(append) }
        }
    }

    @Test("No reason shows a value")
    func silent() async throws {
        try await withAPI { api in
            _ = await api.set(#""x":1"#)
            #expect(await api.set(#""x":"secret""#)?.contains("secret") == false)
        }
    }
}
