import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Attributes that grow")
struct BrazeGrowthTests {
    private static let five = "limits: {array_elements: 5, bytes_per_nested_value: 100}"

    @Test("An array that grows beyond the maximum loses its oldest elements, and keeps the new ones")
    func add() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.five)
            #expect(await api.set(#""x":[1,2,3,4]"#) == nil)
            #expect(await api.set(#""x":{"add":[5]}"#) == nil)
            #expect(await api.set(#""x":{"add":[6,7]}"#) == "is full, so the oldest elements were removed")
            #expect(await api.exported() == .array([3, 4, 5, 6, 7]))
            // What is there already only moves.
            #expect(await api.set(#""x":{"add":[3]}"#) == nil)
            #expect(await api.exported() == .array([4, 5, 6, 7, 3]))
            #expect(await api.set(#""x":{"add":[8,4],"remove":[7]}"#) == nil)
            #expect(await api.exported() == .array([5, 6, 3, 8, 4]))
        }
    }

    @Test("A set that grows by its policy keeps within the maximum")
    func union() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.five)
            try api.log.setRules(FoldRules(policies: ["x": .setUnion]))
            #expect(await api.set(#""x":[1,2,3,4]"#) == nil)
            #expect(await api.set(#""x":[4,5]"#) == nil)
            #expect(await api.set(#""x":[6,7,5]"#) == "is full, so the oldest elements were removed")
            #expect(await api.exported() == .array([3, 4, 5, 6, 7]))
            #expect(await api.set(#""x":{"add":[8]}"#) == "is full, so the oldest elements were removed")
            #expect(await api.exported() == .array([4, 5, 6, 7, 8]))
        }
    }

    @Test("Objects of one request see what those before them did, whatever ID they use")
    func withinRequest() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.five)
            let (_, made) = await api.post(
                "/users/track",
                #"{"attributes":[{"external_id":"a","x":[1,2,3]},{"external_id":"a","x":{"add":[4,5]}},"#
                    + #"{"external_id":"a","x":{"add":[6]}}]}"#)
            #expect(made.at("dropped").count == 1)
            #expect(await api.exported() == .array([2, 3, 4, 5, 6]))
            let braze = try #require(try api.log.find(.externalID("a"))).brazeID
            let (_, json) = await api.post(
                "/users/track",
                #"{"attributes":[{"external_id":"a","x":{"remove":[2,3]}},{"braze_id":"\#(braze)","#
                    + #""x":{"add":[7,8,9]}}]}"#
            )
            #expect(json.at("dropped").count == 1)
            #expect(await api.exported() == .array([5, 6, 7, 8, 9]))
        }
    }

    @Test("Too many bytes count like too many elements; objects that have no room are left out")
    func bytes() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.five)
            let long = String(repeating: "l", count: 30)
            #expect(await api.set(#""x":["\#(long)1","\#(long)2"]"#) == nil)
            #expect(await api.set(#""x":{"add":["\#(long)3"]}"#) != nil)
            #expect(await api.exported() == .array([.string(long + "2"), .string(long + "3")]))
            let tooMuch = await api.set(#""x":{"add":["\#(long)4","\#(long)5","\#(long)6"]}"#)
            #expect(tooMuch == "has more elements than 100 bytes can hold, of which the last were kept")
            #expect(await api.exported() == .array([.string(long + "5"), .string(long + "6")]))
        }
    }

    /// An `add` to nothing, the remark, and the value afterwards.
    static let added: [(String, String?, String)] = [
        (#"{"add":[1,1,1,1,1,1]}"#, nil, "[1]"),
        (
            #"{"add":[1,2,3,4,5,6,7,3]}"#, "adds more than 5 elements, of which the last were kept", "[4,5,6,7,3]"
        ),
        (
            #"{"remove":[1],"add":["LONG1","LONG2","LONG3"]}"#,
            "has more elements than 100 bytes can hold, of which the last were kept", #"["LONG2","LONG3"]"#
        ),
    ]

    @Test("Of more values than fit, an add keeps the last, each once", arguments: added)
    func addToNothing(operation: String, reason: String?, exported: String) async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.five)
            let long = String(repeating: "l", count: 30)
            #expect(await api.set(#""x":\#(operation.replacing("LONG", with: long))"#) == reason)
            #expect(await api.exported() == (try JSON.parse(exported.replacing("LONG", with: long))))
        }
    }

    /// A value, an addition that does not fit any more, and one that does.
    static let growing: [(String, String, String)] = [
        (
            #"[{"id":1,"t":"LONG"}]"#, #"{"$add":[{"id":2,"t":"LONG"}]}"#, #"{"$add":[{"id":2}]}"#
        ),
        (
            #"[{"id":1},{"id":1}]"#,
            #"{"$update":[{"$identifier_key":"id","$identifier_value":1,"$new_object":{"id":1,"t":"LONG"}}]}"#,
            #"{"$update":[{"$identifier_key":"id","$identifier_value":1,"$new_object":{"id":2}}]}"#
        ),
        (#"{"k":"LONG"}"#, #"{"l":"LONG"}"#, #"{"l":1}"#),
        // Of several operations none is done if one has no room, and that is said once.
        (
            #"[{"id":1,"t":"LONG"}]"#,
            #"{"$add":[{"id":2,"t":"LONG"}],"$remove":[{"$identifier_key":"id","$identifier_value":1}]}"#,
            #"{"$remove":[{"$identifier_key":"id","$identifier_value":1}]}"#
        ),
        (
            #"[{"id":1,"t":"LONG"}]"#,
            #"{"$add":[{"id":2,"t":"LONG"}],"$update":[{"$identifier_key":"id","$identifier_value":3,"#
                + #""$new_object":{}}]}"#,
            #"{"$add":[{"id":2}]}"#
        ),
        (#"["a"]"#, #"{"remove":["a"],"add":["LONGLONGLONG"]}"#, #"{"remove":["a"],"add":["b"]}"#),
    ]

    @Test("Objects and arrays do not grow beyond their bytes", arguments: growing)
    func objects(first: String, tooMuch: String, fitting: String) async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.five)
            func sent(_ value: String) -> String {
                let long = String(repeating: "l", count: 45)
                return #""_merge_objects":true,"x":\#(value.replacing("LONG", with: long))"#
            }
            #expect(await api.set(sent(first)) == nil)
            let before = await api.exported()
            #expect(await api.set(sent(tooMuch)) == "would become larger than 100 bytes")
            #expect(await api.exported() == before)
            #expect(await api.set(sent(fitting)) == nil)
            #expect(await api.exported() != before)
        }
    }

    @Test("What is too large already can become smaller")
    func smaller() async throws {
        try await withAPI { plain in
            #expect(await plain.set(#""x":[1,2,3,4,5,6,7,8],"y":[{"k":1},{"k":2}]"#) == nil)
            let api = try plain.under("limits: {array_elements: 5, bytes_per_nested_value: 9}")
            #expect(await api.set(#""x":{"remove":[8]}"#) == nil)
            let remove = #"{"$remove":[{"$identifier_key":"k","$identifier_value":1}]}"#
            #expect(await api.set(#""y":\#(remove)"#) == nil)
            #expect(await api.exported() == .array([1, 2, 3, 4, 5, 6, 7]))
            #expect(await api.exported("y").count == 1)
        }
    }

    /// A value, an update that makes it smaller, and one that makes it larger again.
    static let tooLarge: [(String, String, String)] = [
        (#"{"k":"123456789","l":1}"#, #"{"k":"12345"}"#, #"{"l":12}"#),
        (
            #"[{"id":1,"t":"123456789"},{"id":2}]"#,
            #"{"$update":[{"$identifier_key":"id","$identifier_value":1,"$new_object":{"t":"1"}}]}"#,
            #"{"$add":[{}]}"#
        ),
    ]

    @Test("An object that is too large already can be made smaller by what merges, but no larger", arguments: tooLarge)
    func smallerObject(first: String, smaller: String, larger: String) async throws {
        try await withAPI { plain in
            #expect(await plain.set(#""x":\#(first)"#) == nil)
            let api = try plain.under("limits: {bytes_per_nested_value: 15}")
            let before = await api.exported()
            #expect(await api.set(#""_merge_objects":true,"x":\#(smaller)"#) == nil)
            let after = await api.exported()
            #expect(after != before && after.jsonByteCount > 15)
            #expect(await api.set(#""_merge_objects":true,"x":\#(larger)"#) == "would become larger than 15 bytes")
            #expect(await api.exported() == after)
        }
    }

    @Test("As many elements stay as have room, to the last byte")
    func lastByte() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.five)
            // Together 100 bytes: two brackets, four quotation marks and a comma around the text.
            let (b, c) = (String(repeating: "b", count: 46), String(repeating: "c", count: 47))
            #expect(await api.set(#""x":["a"]"#) == nil)
            let reason = await api.set(#""x":{"add":["\#(b)","\#(c)"]}"#)
            #expect(reason == "is full, so the oldest elements were removed")
            #expect(await api.exported() == .array([.string(b), .string(c)]))
        }
    }

    @Test(
        "Of an attribute of which nothing is stored, no more is said than why",
        arguments: [#"{"add":[1,2,3,4,5,6]}"#, "[1,2,3,4,5,6]", #"{"remove":[1],"add":[2]}"#])
    func onlyWhy(value: String) async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.five)
            #expect(await api.set(#""x":"text""#) == nil)
            // Both say one reason at most.
            #expect(await api.set(#""x":\#(value)"#) == "is no String, as the first value of this attribute was")
            #expect(await api.exported() == "text")
        }
    }

    @Test(
        "Of an operation without effect no more is said than why",
        arguments: [#"{"add":[1,2,3,4,5,6]}"#, #"{"remove":[1],"add":[2]}"#])
    func withoutEffect(value: String) async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.five)
            #expect(await api.set(#""x":[1]"#, of: "b") == nil)
            // What comes from elsewhere is held to no type.
            let text = ProfileEvent.customAttributesChanged([.init("x", .set("text"))])
            _ = try api.log.append([text], to: .externalID("a"))
            #expect(await api.set(#""x":\#(value)"#) == "is no array")
            #expect(await api.exported() == "text")
        }
    }

    @Test("Requests at once about a full array leave it full, with a value of each")
    func race() async throws {
        try await withAPI { plain in
            let api = try plain.under("limits: {array_elements: 8}")
            #expect(await api.set(#""x":[-1,-2,-3,-4,-5,-6,-7,-8]"#) == nil)
            let writer = API(writer: LogWriter(api.log), workspace: api.workspace)
            let statuses = await withTaskGroup(of: Int.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        await writer.post(
                            "/users/track", #"{"attributes":[{"external_id":"a","x":{"add":[\#(number)]}}]}"#
                        ).status
                    }
                }
                return await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(statuses == [201])
            guard case .array(let elements) = await api.exported() else {
                Issue.record("no array")
                return
            }
            #expect(Set(elements) == Set((0..<8).map { AttributeValue.int($0) }))
            #expect(elements.count == 8)
        }
    }
}
