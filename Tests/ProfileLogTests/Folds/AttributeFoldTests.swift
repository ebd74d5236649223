import ProfileLog
import Testing

/// Every operation of spec/rest-api 1.5 that a fold carries out.
@Suite("What an operation does to an attribute")
struct AttributeFoldTests {
    // MARK: - Set and unset

    @Test(
        "A set value is kept as it was given, whatever its type",
        arguments: [
            true, 7, 7.0, -0.5, "Köln", "", [1, 1.0, "é", .null, [true]], [:], [],
            ["a": ["b": ["c": 1]], "list": [["id": 1], ["id": 2]]],
            .date(OccurredAt(Timestamp(rawValue: -5), utcOffsetMinutes: -330)), .int(.min), .int(.max),
        ] as [AttributeValue])
    func set(value: AttributeValue) throws {
        try given(ProfileProjection.self, .set("other", 1)).when(.set("x", value)).then {
            #expect($0["x"] == value)
            #expect($0["other"] == 1)
            #expect($0.view.customAttributes.count == 2)
        }
    }

    @Test("The last value counts, also one of another type and of another length")
    func setAgain() throws {
        try given(ProfileProjection.self, .set("a", "long enough to be moved"), .set("b", 1))
            .when(.set("a", 1), .set("b", ["x": "longer than it was"]), .set("a", true))
            .then {
                #expect($0["a"] == true)
                #expect($0["b"] == ["x": "longer than it was"])
            }
    }

    @Test("An unset attribute is gone, by unset and by null", arguments: [AttributeOperation.unset, .set(.null)])
    func unset(operation: AttributeOperation) throws {
        try given(ProfileProjection.self, .set("gone", ["a": 1]), .set("kept", "x")).when(.changed("gone", operation))
            .then {
                #expect($0["gone"] == nil)
                #expect($0.view.customAttributes.map(\.name) == ["kept"])
            }
    }

    @Test("To unset what is not there changes nothing", arguments: [AttributeOperation.unset, .set(.null)])
    func unsetMissing(operation: AttributeOperation) throws {
        try given(ProfileProjection.self, .set("kept", "x")).when(.changed("missing", operation)).thenNothingChanges()
    }

    @Test("What was unset begins again")
    func unsetAndSet() throws {
        try given(ProfileProjection.self, .set("n", 5), .changed("n", .unset)).when(.changed("n", .increment(1)))
            .then { #expect($0["n"] == 1) }
    }

    @Test("Names that differ in case or in normalization are different attributes")
    func names() throws {
        try given(ProfileProjection.self, .set("level", 1), .set("Level", 2), .set("\u{E9}", 3))
            .when(.set("e\u{301}", 4))
            .then {
                #expect($0["level"] == 1)
                #expect($0["Level"] == 2)
                #expect($0["\u{E9}"] == 3)
                #expect($0["e\u{301}"] == 4)
            }
    }

    @Test("One event may change several attributes, each by an operation of its own")
    func several() throws {
        let changes = Happening(
            event: .customAttributesChanged([
                AttributeChange("a", .increment(1)), AttributeChange("b", .set(.null)),
                AttributeChange("c", .arrayAdd(["x"])), AttributeChange("d", .set(1.5)),
            ]))
        try given(ProfileProjection.self, .set("a", 1), .set("b", 1)).when(changes).then {
            #expect($0["a"] == 2)
            #expect($0["b"] == nil)
            #expect($0["c"] == ["x"])
            #expect($0["d"] == 1.5)
        }
    }

    // MARK: - Increment

    @Test("An increment adds to an integer, also a negative one, and begins at 0 where there is none")
    func increment() throws {
        try given(ProfileProjection.self, .set("there", 40))
            .when(.changed("there", .increment(5)), .changed("there", .increment(-3)), .changed("new", .increment(-7)))
            .then {
                #expect($0["there"] == 42)
                #expect($0["new"] == -7)
            }
    }

    @Test(
        "An increment of what is no integer changes nothing",
        arguments: ["text", 1.0, true, [1], ["n": 1], .date(OccurredAt(Timestamp(rawValue: 0)))] as [AttributeValue])
    func incrementOther(value: AttributeValue) throws {
        try given(ProfileProjection.self, .set("x", value)).when(.changed("x", .increment(1))).thenNothingChanges()
    }

    @Test(
        "An increment beyond 64 bits changes nothing",
        arguments: [(Int64.max, Int64(1)), (.min, -1), (.max, .max), (.min, .min)])
    func incrementOverflow(before: Int64, step: Int64) throws {
        try given(ProfileProjection.self, .set("n", .int(before))).when(.changed("n", .increment(step)))
            .thenNothingChanges()
    }

    @Test("An increment reaches both ends of 64 bits")
    func incrementToTheEnds() throws {
        try given(ProfileProjection.self, .set("high", .int(.max - 1)), .set("low", .int(.min + 1)))
            .when(.changed("high", .increment(1)), .changed("low", .increment(-1)))
            .then {
                #expect($0["high"] == .int(.max))
                #expect($0["low"] == .int(.min))
            }
    }

    // MARK: - Arrays

    @Test("Added values come to the end; one that is there already moves there")
    func arrayAdd() throws {
        try given(ProfileProjection.self, .set("tags", ["a", "b", "c"])).when(.changed("tags", .arrayAdd(["d", "a"])))
            .then { #expect($0["tags"] == ["b", "c", "d", "a"]) }
    }

    @Test("What is added twice in one operation occurs once, at its last place")
    func arrayAddTwice() throws {
        try given(ProfileProjection.self).when(.changed("tags", .arrayAdd(["a", "b", "a"])))
            .then { #expect($0["tags"] == ["b", "a"]) }
    }

    @Test("Removed values are gone, wherever and however often they stood")
    func arrayRemove() throws {
        try given(ProfileProjection.self, .set("tags", ["a", "b", "a", "c"]))
            .when(.changed("tags", .arrayRemove(["a", "c", "x"])))
            .then { #expect($0["tags"] == ["b"]) }
    }

    @Test("An array of which everything was removed is empty, and there")
    func arrayRemoveAll() throws {
        try given(ProfileProjection.self, .set("tags", ["a"])).when(.changed("tags", .arrayRemove(["a"])))
            .then { #expect($0["tags"] == []) }
    }

    @Test("To remove from an array that is not there changes nothing")
    func arrayRemoveMissing() throws {
        try given(ProfileProjection.self).when(.changed("tags", .arrayRemove(["a"]))).thenNothingChanges()
    }

    @Test("1, 1.0, \"1\" and true are four values")
    func arrayTypes() throws {
        try given(ProfileProjection.self, .set("x", [1, 1.0, "1", true])).when(.changed("x", .arrayRemove([1.0])))
            .then { #expect($0["x"] == [1, "1", true]) }
    }

    // MARK: - Objects

    private func members(_ object: AttributeValue) -> [AttributeValue.Member] {
        guard case .object(let members) = object else { preconditionFailure("This is no object.") }
        return members
    }

    private func merge(_ object: AttributeValue) -> AttributeOperation { .objectMerge(members(object)) }

    @Test("A merge goes through every level, and keeps what it does not name")
    func objectMerge() throws {
        try given(
            ProfileProjection.self, .set("car", ["make": "VW", "engine": ["fuel": "gas", "kw": 60], "tags": [1]])
        )
        .when(
            .changed("car", merge(["engine": ["kw": 85, "new": true], "tags": [2], "year": 2020]))
        )
        .then {
            #expect(
                $0["car"] == [
                    "make": "VW", "engine": ["fuel": "gas", "kw": 85, "new": true], "tags": [2], "year": 2020,
                ])
        }
    }

    @Test("A merge replaces what is an object on one side only")
    func objectMergeTypes() throws {
        try given(ProfileProjection.self, .set("x", ["a": ["deep": 1], "b": 1]))
            .when(.changed("x", merge(["a": 2, "b": ["deep": 2]])))
            .then { #expect($0["x"] == ["a": 2, "b": ["deep": 2]]) }
    }

    @Test("A merge makes the object where there is none, and where there is something else")
    func objectMergeElsewhere() throws {
        try given(ProfileProjection.self, .set("other", "text"))
            .when(.changed("missing", merge(["a": 1])), .changed("other", merge(["a": 1])))
            .then {
                #expect($0["missing"] == ["a": 1])
                #expect($0["other"] == ["a": 1])
            }
    }

    // MARK: - Arrays of objects

    private let pets: AttributeValue = [
        ["id": 1, "name": "Rex", "age": ["years": 3, "months": 2]], ["id": 2, "name": "Ada"], ["id": 1, "name": "Bo"],
        "no object",
    ]

    private func update(_ key: Name, _ value: AttributeValue, _ object: AttributeValue)
        -> AttributeOperation.ObjectUpdate
    {
        .init(match: .init(key, value), object: members(object))
    }

    @Test("Objects are added at the end, also equal ones, and make the array")
    func objectsAdd() throws {
        let add = AttributeOperation.objectsAdd([["id": 1], ["id": 1]])
        try given(ProfileProjection.self, .set("there", [["id": 1]]))
            .when(.changed("there", add), .changed("new", add))
            .then {
                #expect($0["there"] == [["id": 1], ["id": 1], ["id": 1]])
                #expect($0["new"] == [["id": 1], ["id": 1]])
            }
    }

    @Test("An update without merging replaces every object that matches")
    func objectsUpdate() throws {
        try given(ProfileProjection.self, .set("pets", pets))
            .when(.changed("pets", .objectsUpdate([update("id", 1, ["id": 9])], merging: false)))
            .then { #expect($0["pets"] == [["id": 9], ["id": 2, "name": "Ada"], ["id": 9], "no object"]) }
    }

    @Test("An update with merging keeps what it does not name, at every level")
    func objectsUpdateMerging() throws {
        let updates = [update("id", 1, ["age": ["years": 4]]), update("name", "Ada", ["name": "Eve"])]
        try given(ProfileProjection.self, .set("pets", pets))
            .when(.changed("pets", .objectsUpdate(updates, merging: true)))
            .then {
                #expect(
                    $0["pets"] == [
                        ["id": 1, "name": "Rex", "age": ["years": 4, "months": 2]], ["id": 2, "name": "Eve"],
                        ["id": 1, "name": "Bo", "age": ["years": 4]], "no object",
                    ])
            }
    }

    @Test("A later update of one operation sees what an earlier one made")
    func objectsUpdateInTurn() throws {
        let updates = [update("id", 2, ["id": 3]), update("id", 3, ["id": 4])]
        try given(ProfileProjection.self, .set("pets", [["id": 2], ["id": 3]]))
            .when(.changed("pets", .objectsUpdate(updates, merging: false)))
            .then { #expect($0["pets"] == [["id": 4], ["id": 4]]) }
    }

    @Test("Every object that matches one of several is removed")
    func objectsRemove() throws {
        try given(ProfileProjection.self, .set("pets", pets))
            .when(.changed("pets", .objectsRemove([.init("id", 1), .init("name", "nobody")])))
            .then { #expect($0["pets"] == [["id": 2, "name": "Ada"], "no object"]) }
    }

    @Test("To update or remove objects of an array that is not there changes nothing")
    func objectsOnMissing() throws {
        let update = AttributeOperation.objectsUpdate([update("id", 1, ["id": 2])], merging: true)
        try given(ProfileProjection.self)
            .when(.changed("x", update), .changed("x", .objectsRemove([.init("id", 1)])))
            .thenNothingChanges()
    }

    // MARK: - Types that do not fit

    @Test(
        "An operation on arrays leaves a value of another type as it is",
        arguments: [
            AttributeOperation.arrayAdd(["a"]), .arrayRemove(["a"]), .objectsAdd([["id": 1]]),
            .objectsUpdate([.init(match: .init("id", 1), object: [])], merging: false),
            .objectsUpdate([.init(match: .init("id", 1), object: [])], merging: true),
            .objectsRemove([.init("id", 1)]),
        ],
        ["text", 1, 1.5, true, ["id": 1]] as [AttributeValue])
    func typeMismatch(operation: AttributeOperation, value: AttributeValue) throws {
        try given(ProfileProjection.self, .set("x", value)).when(.changed("x", operation)).thenNothingChanges()
    }

    // MARK: - Blame

    @Test("A field tells which event set it, and when that happened")
    func blame() throws {
        try given(ProfileProjection.self, .set("a", 1).at(10), .set("b", 1), .set("n", "text"))
            .when(.set("a", 1).at(5), .changed("n", .increment(1)), .changed("c", .increment(1)).at(7))
            .then {
                #expect($0.setBy("a") == 4)
                #expect($0.setAt("a") == 5)
                #expect($0.setBy("b") == 2)
                #expect($0.setAt("b") == Happening.recordedAt(2))
                // An operation that did nothing has set nothing.
                #expect($0.setBy("n") == 3)
                #expect($0.setBy("c") == 6)
                #expect($0.setAt("c") == 7)
            }
    }
}
