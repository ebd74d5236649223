import ProfileLogMachines
import Testing

@Suite("In-app messages: reading definitions")
struct InAppReadingTests {
    private static func object(_ members: [(Name, AttributeValue)]) -> AttributeValue {
        .object(members.map { .init($0, $1) })
    }

    private static func filter(_ changes: [(Name, AttributeValue)] = []) -> AttributeValue {
        var members: [(Name, AttributeValue)] = [
            ("property_key", .string("genre")), ("property_type", .string("string")), ("comparator", .int(1)),
            ("property_value", .string("pop")),
        ]
        for change in changes { members = members.filter { $0.0 != change.0 } + [change] }
        return object(members)
    }

    private static func trigger(_ filter: AttributeValue) -> AttributeValue {
        object([
            ("type", .string("custom_event_property")), ("event_name", .string("played song")),
            ("property_filters", .array([.array([Self.filter()]), .array([filter])])),
        ])
    }

    private static func message(
        _ changes: [(Name, AttributeValue)] = [], without key: Name? = nil
    ) -> [AttributeValue.Member] {
        var members: [(Name, AttributeValue)] = [
            ("id", .string("welcome")), ("trigger_conditions", .array([trigger(filter())])),
        ]
        for change in changes { members = members.filter { $0.0 != change.0 } + [change] }
        return members.filter { $0.0 != key }.map { .init($0.0, $0.1) }
    }

    private static func error(
        _ members: [AttributeValue.Member], at place: String = ""
    ) -> DocumentError? {
        do {
            _ = try InAppMessage(members, at: place)
            return nil
        } catch { return error }
    }

    @Test("A definition with everything")
    func everything() throws {
        let message = try InAppMessage(
            Self.message([
                ("type", .string("templated_iam")), ("priority", .double(1.5)), ("re_eligibility", .int(86_400)),
                ("start_time", .string("2026-01-01T00:00:00Z")), ("end_time", .int(1_767_312_000)), ("delay", .int(2)),
                ("timeout", .int(10)), ("orientation", .string("landscape")), ("header", .string("Hello")),
                ("message", .string("Sing along")), ("buttons", .array([.string("yes")])), ("control", .bool(true)),
                ("extras", Self.object([("custom-display", .string("colorful-slideup"))])),
                (
                    "assets",
                    .array([Self.object([("type", .string("zip")), ("url", .string("https://example.com/a"))])])
                ),
                (
                    "form",
                    Self.object([
                        ("type", .string("slideup")), ("slide_from", .string("top")),
                        ("themes", Self.object([("dark", Self.object([("text", .string("white"))]))])),
                    ])
                ),
            ]))
        let filter = try PropertyFilter("genre", .string, comparator: 1, .string("pop"))
        let expected = try InAppMessage(
            id: "welcome", kind: .templated, triggers: [.customEvent("played song", [[filter], [filter]])],
            priority: 1.5, startTime: Timestamp(rawValue: 1_767_225_600_000_000),
            endTime: Timestamp(rawValue: 1_767_312_000_000_000), reEligibility: 86_400, delay: 2, timeout: 10,
            orientation: .landscape,
            form: .slideUp(from: .top, themes: [.dark: [.init("text", .string("white"))]]), header: "Hello",
            text: "Sing along", buttons: ["yes"],
            extras: [.init("custom-display", .string("colorful-slideup"))],
            assets: [.init(.zip, url: "https://example.com/a")], isControl: true)
        #expect(message == expected)
    }

    @Test("The defaults: shown once, at once, as a modal")
    func defaults() throws {
        let message = try InAppMessage(Self.message())
        #expect(message.kind == .inApp && message.reEligibility == .never && message.delay == 0)
        #expect(message.form == .modal && message.orientation == .any && message.timeout == nil)
    }

    @Test(
        "Unused and unknown comparators are refused with the reason",
        arguments: [
            (7, "7 (in) is not used by in-app messages"), (8, "8 (not in) is not used by in-app messages"),
            (13, "13 (within a circle) is not used by in-app messages"),
            (14, "14 (not within a circle) is not used by in-app messages"),
            (15, "15 (date within less than) is not used by in-app messages"),
            (16, "16 (date within more than) is not used by in-app messages"),
            (18, "18 (within a polygon) is not used by in-app messages"),
            (19, "19 (not within a polygon) is not used by in-app messages"), (99, "99 is not known"),
            (3, "3 does not compare a string"),
        ])
    func comparators(code: Int64, reason: String) {
        let members = Self.message([
            ("trigger_conditions", .array([Self.trigger(Self.filter([("comparator", .int(code))]))]))
        ])
        let error = Self.error(members)
        #expect(error?.place == "trigger_conditions[0].property_filters[1][0].comparator")
        #expect(error?.reason == reason)
    }

    @Test("Below another object, the place is the path from the top")
    func place() {
        let error = Self.error(Self.message([("delay", .int(-1))]), at: "messages[2]")
        #expect(error?.place == "messages[2].delay")
        #expect(error?.reason == "is a negative interval")
    }

    @Test("Each wrong field of an in-app message is named")
    func wrongFields() {
        func expect(
            _ place: String, _ changes: [(Name, AttributeValue)] = [], without key: Name? = nil,
            at location: SourceLocation = #_sourceLocation
        ) {
            #expect(Self.error(Self.message(changes, without: key))?.place == place, sourceLocation: location)
        }
        expect("trigger_conditions", without: "trigger_conditions")
        expect("trigger_conditions", [("trigger_conditions", .array([]))])
        expect("id", without: "id")
        expect("id", [("id", .string(""))])
        expect("delay", [("delay", .int(-1))])
        expect("timeout", [("timeout", .int(-5))])
        expect("re_eligibility", [("re_eligibility", .int(-2))])
        expect("end_time", [("start_time", .int(10)), ("end_time", .int(10))])
        expect("start_time", [("start_time", .string("soon"))])
        expect("priority", [("priority", .string("high"))])
        expect("type", [("type", .string("inap"))])
        expect("control", [("control", .int(1))])
        expect("extras", [("extras", .array([]))])
        expect("buttons[1]", [("buttons", .array([.string("a"), .string("a")]))])
        expect("assets[0].url", [("assets", .array([Self.object([("type", .string("zip"))])]))])
        expect("form.slide_from", [("form", Self.object([("slide_from", .string("top"))]))])
        func trigger(_ members: [(Name, AttributeValue)]) -> [(Name, AttributeValue)] {
            [("trigger_conditions", .array([Self.object(members)]))]
        }
        expect("trigger_conditions[0].type", trigger([]))
        expect("trigger_conditions[0].type", trigger([("type", .string("opened"))]))
        expect("trigger_conditions[0].event_name", trigger([("type", .string("custom_event"))]))
        expect(
            "trigger_conditions[0].event_name", trigger([("type", .string("open")), ("event_name", .string("e"))]))
        expect("trigger_conditions[0].property_filters", trigger([("type", .string("purchase_property"))]))
        expect(
            "trigger_conditions[0].property_filters[0]",
            trigger([("type", .string("purchase_property")), ("property_filters", .array([.array([])]))]))
        func filter(_ key: Name, _ value: AttributeValue) -> [(Name, AttributeValue)] {
            [("trigger_conditions", .array([Self.trigger(Self.filter([(key, value)]))]))]
        }
        let place = "trigger_conditions[0].property_filters[1][0]"
        expect("\(place).property_value", filter("property_value", .int(1)))
        expect("\(place).property_value", filter("property_value", .null))
        expect("\(place).property_type", filter("property_type", .null))
        expect("\(place).property_key", filter("property_key", .string("")))
        expect("\(place).comparator", filter("comparator", .null))
    }

    @Test("An unknown key gets the nearest right word")
    func unknownKey() {
        let error = Self.error(Self.message([("re_eligability", .int(1))]))
        #expect(error?.place == "re_eligability" && error?.remedy == "Did you mean `re_eligibility`?")
        let word = Self.error(Self.message([("orientation", .string("landscpe"))]))
        #expect(word?.remedy == "Did you mean `landscape`?")
    }

    @Test("Two messages of one ID, and more than 200, are refused")
    func list() throws {
        let one = AttributeValue.object(Self.message())
        let other = AttributeValue.object(Self.message([("id", .string("other"))]))
        #expect(try InAppMessage.list(.array([one, other]), at: "messages").count == 2)
        do {
            _ = try InAppMessage.list(.array([one, other, one]), at: "messages")
            Issue.record("two of one ID")
        } catch {
            #expect(error.place == "messages[2].id" && error.reason == "is the ID of messages[0] too")
        }
        let many = try (0...200).map { try InAppMessage.on(Name("m\($0)")) }
        #expect(throws: DocumentError.self) { try TriggerTable(many) }
        #expect(throws: DocumentError.self) { try TriggerTable([many[0], many[0]]) }
        #expect(throws: Never.self) { try TriggerTable(Array(many.dropLast())) }
    }

    @Test("A pattern that is refused is an error of its field")
    func patterns() {
        #expect {
            try PropertyFilter("a", .string, comparator: 10, .string("(?=a)"))
        } throws: { error in
            let error = error as? DocumentError
            return error?.place == "property_value" && error?.reason.contains("look-around") == true
        }
    }

    @Test("Spans of time are seconds, or a number with a unit")
    func intervals() throws {
        let spans: [(Name, AttributeValue)] = [
            ("re_eligibility", .string("1d")), ("delay", .string("90s")), ("timeout", .string("1h")),
        ]
        let message = try InAppMessage(Self.message(spans))
        #expect(message.reEligibility == .after(seconds: 86_400) && message.delay == 90 && message.timeout == 3_600)
        for wrong in ["1", "1w", "-1s", "1.5h", "s", "99999999999999999999s"] {
            let error = Self.error(Self.message([("delay", .string(wrong))]))
            #expect(error?.place == "delay" && error?.reason == "must be a span of time", "\(wrong)")
        }
        #expect(Self.error(Self.message([("delay", .string("4000d"))]))?.reason == "is longer than ten years")
    }

    @Test("Of a stored list, what this program refuses is skipped; the rest is there")
    func stored() throws {
        let one = AttributeValue.object(Self.message())
        let other = AttributeValue.object(Self.message([("id", .string("other")), ("delay", .int(-1))]))
        let (messages, skipped) = try InAppMessage.stored(.array([other, one]), at: "messages")
        #expect(messages.count == 1 && skipped.map(\.place) == ["messages[0].delay"])
        #expect(throws: DocumentError.self) { try InAppMessage.stored(.int(1), at: "messages") }
    }

    // MARK: - Settings

    @Test("Settings: what is named changes, and bytes keep all of it")
    func settings() throws {
        var settings = InAppSettings()
        settings.failingAssets = ["x"]
        let change = try InAppSettingsChange([
            .init("minimum_interval", .string("5s")), .init("automatic_display", .bool(false)),
            .init("prevent_display_for_different_user", .bool(true)), .init("orientation", .string("landscape")),
            .init("theme", .string("dark")), .init("request_time", .int(2)),
            .init("display_choice", .string("discard")),
            .init("display_choices", Self.object([("a", .string("reenqueue")), ("b", .string("show"))])),
        ])
        settings = change.applied(to: settings)
        #expect(settings.minimumInterval == 5 && !settings.isDisplayAutomatic && settings.failingAssets == ["x"])
        #expect(settings.decision(about: "a") == .reenqueue && settings.decision(about: "c") == .discard)
        var writer = WireWriter()
        InAppSettings.wire.write(settings, to: &writer)
        #expect(InAppSettings.wire.read(writer.bytes) == settings)
        writer.removeAll()
        InAppSettings.wire.write(InAppSettings(), to: &writer)
        #expect(writer.bytes.isEmpty)
    }

    @Test("A wrong setting is named")
    func wrongSettings() {
        func place(_ key: Name, _ value: AttributeValue) -> String? {
            do {
                _ = try InAppSettingsChange([.init(key, value)], at: "in_app")
                return nil
            } catch { return error.place }
        }
        #expect(place("minimum_interval", .int(-1)) == "in_app.minimum_interval")
        #expect(place("display_choices", Self.object([("a", .string("later"))])) == "in_app.display_choices.a")
        #expect(place("failing_assets", .array([.int(1)])) == "in_app.failing_assets[0]")
        #expect(place("interval", .int(1)) == "in_app.interval")
    }
}
