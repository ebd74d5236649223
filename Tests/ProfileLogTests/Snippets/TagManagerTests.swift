import ProfileLog
import Testing

/// spec/device 4.1, row by row.
@Suite("Tag manager")
struct TagManagerTests {
    private static let logTag: [TagContainer.Tag.Parameter] = [
        .init("actionType", .fixed("logEvent")), .init("eventName", .eventName), .init("genre", .variable(0)),
    ]

    /// Given a container with one tag of these parameters, and the quirks of a language.
    private struct Given {
        var container: TagContainer
        let provider: TagProvider

        init(
            _ parameters: [TagContainer.Tag.Parameter], _ quirks: Set<TagQuirk> = [], variable: Name = "genre",
            otherwise: AttributeValue? = nil
        ) {
            let tag = TagContainer.Tag(name: "the tag", classPath: "Provider", firing: [0], parameters: parameters)
            let source = TagVariable(
                name: variable, .eventParameter(.fixed(.string(variable.text))),
                otherwise: otherwise.map { .fixed($0) })
            let trigger = TagTrigger(name: "the trigger", event: "played song")
            container = TagContainer(variables: [source], triggers: [trigger], tags: [tag])
            provider = TagProvider(quirks)
        }

        /// An attribute with this value.
        init(attribute value: AttributeValue?, key: AttributeValue? = "level", _ quirks: Set<TagQuirk> = []) {
            let fixed: [(key: Name, value: AttributeValue?)] = [
                ("actionType", "customAttribute"), ("customAttributeKey", key), ("customAttributeValue", value),
            ]
            self.init(fixed.compactMap { key, value in value.map { .init(key, .fixed($0)) } }, quirks)
        }

        /// Runs the tag on the event `played song` of the app.
        func when(
            _ parameters: [Name: AttributeValue] = [:], encodings: [Name: NumberEncoding] = [:]
        ) throws -> TagOutcome {
            let fired = TagRun(container, AppEvent("played song", parameters, encodings: encodings)).fired
            #expect(fired.count == 1)
            return provider.execute(try #require(fired.first))
        }
    }

    private static func logged(_ name: Name, _ properties: [(Name, AttributeValue)]) -> TagOutcome.Result {
        .call(.logEvent(CustomEvent(name: name, properties: properties.map { .init($0.0, $0.1) })))
    }

    private static func set(_ value: AttributeValue) -> TagOutcome.Result { .call(.setCustomAttribute("level", value)) }

    @Test("Tags fire by the event's name, in the container's order")
    func triggers() {
        func tag(_ name: Name, _ triggers: [Int]) -> TagContainer.Tag {
            .init(name: name, classPath: "Provider", firing: triggers, parameters: [])
        }
        let events: [Name] = ["played song", "paused song", "x"]
        let container = TagContainer(
            triggers: events.map { TagTrigger(name: $0, event: $0) },
            tags: [tag("second", [0]), tag("other", [1]), tag("first", [0, 2])])
        #expect(TagRun(container, AppEvent("played song")).fired.map(\.tag) == ["second", "first"])
        #expect(TagRun(container, AppEvent("Played song")).fired.isEmpty)
        #expect(container.events == ["played song", "paused song", "x"])
    }

    @Test("A tag of another class than the provider calls nothing")
    func otherClass() throws {
        var given = Given(Self.logTag)
        given.container.provider = "Provider"
        #expect(try given.when().quirks.isEmpty)
        given.container.provider = "Another"
        #expect(try given.when().result == .nothing(.otherClass))
    }

    @Test("actionType is the key: missing, no text, unknown")
    func action() throws {
        for quirks in [[], TagQuirk.of(.swift), TagQuirk.of(.objectiveC)] {
            #expect(try Given([.init("eventName", .fixed("a"))], quirks).when().result == .nothing(.noAction))
            #expect(try Given([.init("actionType", .fixed(7))], quirks).when().result == .nothing(.noAction))
            let unknown = try Given([.init("actionType", .fixed("logevent"))], quirks).when()
            #expect(unknown.result == .nothing(.unknownAction("logevent")))
            let isSilent = quirks.contains(.unknownActionSilent)
            #expect(unknown.quirks == (isSilent ? [.unknownActionSilent] : []))
        }
        #expect(TagQuirk.of(.swift).contains(.unknownActionSilent))
        #expect(!TagQuirk.of(.objectiveC).contains(.unknownActionSilent))
    }

    @Test("logEvent: every parameter is a property; both versions remove eventName and actionType")
    func logEvent() throws {
        let event: [Name: AttributeValue] = ["genre": "pop", "number of times listened": 42]
        let all = Self.logged(
            "played song", [("actionType", "logEvent"), ("eventName", "played song"), ("genre", "pop")])
        #expect(try Given(Self.logTag).when(event) == TagOutcome(all))
        for language in TagLanguage.allCases {
            let outcome = try Given(Self.logTag, TagQuirk.of(language)).when(event)
            #expect(outcome == TagOutcome(Self.logged("played song", [("genre", "pop")]), [.settingsRemoved]))
        }
    }

    @Test("A variable without a value leaves its parameter out, or has a default")
    func variables() throws {
        let lacking = try Given(Self.logTag, [.settingsRemoved]).when()
        #expect(lacking.result == Self.logged("played song", []))
        let defaulted = Given(Self.logTag, [.settingsRemoved], otherwise: "unknown")
        #expect(try defaulted.when().result == Self.logged("played song", [("genre", "unknown")]))
        let given = try defaulted.when(["genre": "pop"])
        #expect(given.result == Self.logged("played song", [("genre", "pop")]))
    }

    @Test("logEvent without a name: told, or in Objective-C the SDK's to refuse", arguments: [nil, 7] as [Int64?])
    func eventName(name: Int64?) throws {
        var tag: [TagContainer.Tag.Parameter] = [.init("actionType", .fixed("logEvent"))]
        if let name { tag.append(.init("eventName", .fixed(.int(name)))) }
        #expect(try Given(tag).when() == TagOutcome(.nothing(.noEventName)))
        #expect(try Given(tag, TagQuirk.of(.swift)).when() == TagOutcome(.nothing(.noEventName)))
        let unchecked = try Given(tag, TagQuirk.of(.objectiveC)).when()
        #expect(unchecked == TagOutcome(.nothing(.refusedWithoutName), [.eventNameUnchecked]))
    }

    @Test("customAttribute: a key that is no text, or no value, sets nothing")
    func attributeKey() throws {
        for quirks in [[], TagQuirk.of(.swift), TagQuirk.of(.objectiveC)] {
            #expect(try Given(attribute: 1, key: 7, quirks).when().result == .nothing(.noAttributeKey))
            #expect(try Given(attribute: 1, key: nil, quirks).when().result == .nothing(.noAttributeKey))
            #expect(try Given(attribute: nil, quirks).when().result == .nothing(.noAttributeValue))
            #expect(try Given(attribute: .null, quirks).when().result == .nothing(.noAttributeValue))
        }
    }

    private static let date = AttributeValue.date(OccurredAt(Timestamp(rawValue: 0)))

    @Test("The correct provider sets a value of every type as it is")
    func correctValues() throws {
        let values: [AttributeValue] = [
            "Private Eyes", true, 42, 42.5, Self.date, ["a", "b"], ["a", 1], [], ["genre": "pop"],
        ]
        for value in values { #expect(try Given(attribute: value).when() == TagOutcome(Self.set(value))) }
    }

    /// Values, what Swift sets (nil: nothing), and by which quirk it differs.
    static let swiftValues: [(AttributeValue, AttributeValue?, TagQuirk?)] = [
        ("Private Eyes", "Private Eyes", nil), (date, date, nil), (42.5, 42.5, nil), (true, 1.0, .boxedNumbers),
        (false, 0.0, .boxedNumbers), (42, 42.0, .boxedNumbers), (["a", "b"], ["a", "b"], nil), ([], [], nil),
        (["a", 1], nil, .mixedArraysDropped), ([1, 2], nil, .mixedArraysDropped),
        (["genre": "pop"], nil, .objectsDropped),
    ]

    @Test("Swift: text, date, then any number as a double, then arrays of texts", arguments: swiftValues)
    func swift(value: AttributeValue, sets: AttributeValue?, quirk: TagQuirk?) throws {
        let outcome = try Given(attribute: value, TagQuirk.of(.swift)).when()
        #expect(outcome == TagOutcome(sets.map(Self.set) ?? .nothing(.noSetter), quirk.map { [$0] } ?? []))
    }

    @Test("Objective-C: text becomes an event, objects vanish, the rest has its setter")
    func objectiveC() throws {
        let quirks = TagQuirk.of(.objectiveC)
        let text = try Given(attribute: "Private Eyes", quirks).when()
        let logged = Self.logged("level", [("customAttributeKey", "level"), ("customAttributeValue", "Private Eyes")])
        #expect(text == TagOutcome(logged, [.textLoggedAsEvent]))
        let object = try Given(attribute: ["genre": "pop"], quirks).when()
        #expect(object == TagOutcome(.nothing(.noSetter), [.objectsDropped]))
        for value in [true, 42, 42.5, Self.date, ["a", 1]] as [AttributeValue] {
            #expect(try Given(attribute: value, quirks).when() == TagOutcome(Self.set(value)))
        }
    }

    /// Numbers by their C type, and what Objective-C sets (nil: nothing).
    static let encodings: [(NumberEncoding, AttributeValue, AttributeValue?)] = [
        (.bool, true, true), (.bool, 1, true), (.char, 0, false), (.short, 42, 42), (.int, 42, 42),
        (.long, .int(.max), .int(.max)), (.int, 42.9, 42), (.float, 42, 42.0), (.double, 42.5, 42.5),
        (.unsignedChar, 42, 42), (.unsignedShort, 42, 42), (.unsignedInt, 42, 42), (.unsignedLong, 42, 42),
        (.longLong, .int(.min), .int(.min)), (.unsignedLongLong, 42, 42), (.unsignedLongLong, 1.8e19, nil),
        (.unsignedInt, ["a"], ["a"]),
    ]

    @Test("Objective-C: a number's C type chooses the setter", arguments: encodings)
    func encoding(_ encoding: NumberEncoding, value: AttributeValue, sets: AttributeValue?) throws {
        let tag: [TagContainer.Tag.Parameter] = [
            .init("actionType", .fixed("customAttribute")), .init("customAttributeKey", .fixed("level")),
            .init("customAttributeValue", .variable(0)),
        ]
        let outcome = try Given(tag, TagQuirk.of(.objectiveC), variable: "count").when(
            ["count": value], encodings: ["count": encoding])
        let result = sets.map(Self.set) ?? .nothing(.noSetter)
        #expect(outcome == TagOutcome(result, sets == value ? [] : [.numberEncodings]))
        let correct = try Given(tag, variable: "count").when(["count": value], encodings: ["count": encoding])
        #expect(correct == TagOutcome(Self.set(value)))
    }

    @Test("Kotlin: whatever is there is a name, lists and objects vanish, dates set nothing")
    func kotlin() throws {
        let quirks = TagQuirk.of(.kotlin)
        for (name, text) in [(nil, "null"), (7, "7"), ("a", "a")] as [(AttributeValue?, Name)] {
            let isText = name == "a"
            var tag: [TagContainer.Tag.Parameter] = [
                .init("actionType", .fixed("logEvent")), .init("list", .fixed(["a"])), .init("n", .fixed(1)),
            ]
            if let name { tag.append(.init("eventName", .fixed(name))) }
            let shown: [TagQuirk] = (isText ? [] : [.namesFromAnything]) + [.settingsRemoved, .propertiesDropped]
            #expect(try Given(tag, quirks).when() == TagOutcome(Self.logged(text, [("n", 1)]), shown))
            var user: [TagContainer.Tag.Parameter] = [.init("actionType", .fixed("changeUser"))]
            if let name { user.append(.init("externalUserId", .fixed(name))) }
            let changed = TagOutcome(.call(.changeUser(text.text)), isText ? [] : [.namesFromAnything])
            #expect(try Given(user, quirks).when() == changed)
        }
        for value in [true, 42, 42.5, "Private Eyes"] as [AttributeValue] {
            #expect(try Given(attribute: value, quirks).when() == TagOutcome(Self.set(value)))
        }
        let nameless = try Given(attribute: 1, key: nil, quirks).when()
        #expect(nameless == TagOutcome(.call(.setCustomAttribute("null", 1)), [.namesFromAnything]))
        for value in [Self.date, ["a"]] as [AttributeValue] {
            let outcome = try Given(attribute: value, quirks).when()
            #expect(outcome == TagOutcome(.nothing(.noSetter), [.datesAndListsDropped]))
        }
        let object = try Given(attribute: ["genre": "pop"], quirks).when()
        #expect(object == TagOutcome(.nothing(.noSetter), [.objectsDropped]))
    }

    @Test("A C type is read by its name and by its letter")
    func encodingWords() {
        for type in NumberEncoding.allCases { #expect(NumberEncoding(word: type.rawValue) == type) }
        let letters = "cCsSiIlLqQfdB".map { NumberEncoding(word: String($0)) }
        #expect(Set(letters.compactMap { $0 }) == Set(NumberEncoding.allCases))
        for word in ["", "b", "F", "byte", "ii", "Int"] { #expect(NumberEncoding(word: word) == nil, "\(word)") }
    }

    @Test("An event that breaks Firebase's rules is named with the rule")
    func firebase() {
        func sentences(_ name: String, _ parameters: [Name: AttributeValue] = [:]) -> [String] {
            FirebaseRule.broken(by: AppEvent(Name(name), parameters)).map { $0.sentence { $0 } }
        }
        func event(_ name: String, _ clause: String) -> [String] {
            ["Firebase ignores the event `\(name)`: its name \(clause)."]
        }
        let (forty, spelling) = (String(repeating: "a", count: 40), "may only have the letters a to z, digits and `_`")
        for name in ["song_played", forty, "a1", "Z", "gap", "firebase"] { #expect(sentences(name).isEmpty, "\(name)") }
        for name in ["played song", "spielzüge", "a-b", "a.b"] {
            #expect(sentences(name) == event(name, spelling + ", and no space"))
        }
        #expect(sentences(forty + "a") == event(forty + "a", "has 41 characters, of 40 at most"))
        for name in ["1a", "_a"] { #expect(sentences(name) == event(name, "must begin with a letter")) }
        for prefix in ["firebase_", "google_", "ga_"] {
            #expect(sentences(prefix + "x") == event(prefix + "x", "must not begin with `\(prefix)`"))
        }
        #expect(sentences("session_start") == event("session_start", "is one that Firebase itself logs"))
        #expect(sentences("", [:]) == event("", "is empty"))

        let text = AttributeValue.string(String(repeating: "é", count: 100))
        #expect(sentences("a", ["b": text, "session_start": 1]).isEmpty)
        #expect(
            sentences("a", ["b": .string(String(repeating: "x", count: 101)), "ga_x": 1, "number of times": 1]) == [
                "Firebase drops the parameter `b`: its text has 101 characters, of 100 at most.",
                "Firebase drops the parameter `ga_x`: its name must not begin with `ga_`.",
                "Firebase drops the parameter `number of times`: its name \(spelling), and no space.",
            ])
        let item = AttributeValue.object([.init("item_id", "x")])
        #expect(sentences("a", ["b": true, "c": 1.5, "items": .array([item])]).isEmpty)
        for value in [item, .array([1])] {
            #expect(
                sentences("a", ["b": value])
                    == ["Firebase drops the parameter `b`: its value is neither text nor a number."])
        }
        let many = (1...26).map { (Name("p\($0)"), AttributeValue.int(1)) }
        #expect(sentences("a", Dictionary(uniqueKeysWithValues: many.dropLast())).isEmpty)
        #expect(
            sentences("a", Dictionary(uniqueKeysWithValues: many))
                == ["Firebase keeps 25 parameters of an event and drops the others: it has 26."])
    }

    @Test("changeUser: a text, or nothing")
    func changeUser() throws {
        for quirks in [[], TagQuirk.of(.swift), TagQuirk.of(.objectiveC)] {
            func outcome(_ user: AttributeValue?) throws -> TagOutcome {
                var tag: [TagContainer.Tag.Parameter] = [.init("actionType", .fixed("changeUser"))]
                if let user { tag.append(.init("externalUserId", .fixed(user))) }
                return try Given(tag, quirks).when()
            }
            #expect(try outcome("jane") == TagOutcome(.call(.changeUser("jane"))))
            #expect(try outcome(7) == TagOutcome(.nothing(.noUser)))
            #expect(try outcome(nil) == TagOutcome(.nothing(.noUser)))
        }
    }

    @Test("Every quirk belongs to a language and has a verdict of its own")
    func verdicts() {
        let known = TagLanguage.allCases.reduce(into: Set<TagQuirk>()) { $0.formUnion(TagQuirk.of($1)) }
        #expect(known == Set(TagQuirk.allCases))
        #expect(Set(TagQuirk.allCases.map(\.verdict)).count == TagQuirk.allCases.count)
    }
}
