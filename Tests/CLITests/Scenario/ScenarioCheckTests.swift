import Foundation
import ProfileLog
import TestSupport
import Testing

/// `scenario check` and the schema find what `run` would find.
@Suite("profilecli scenario check")
struct ScenarioCheckTests {
    /// A wrong step, and what the error says.
    static let wrong: [(String, String)] = [
        ("settings: {content_extension: {category: x}}", "categories"),
        ("settings: {content_extension: {categories: []}}", "one category or more"),
        ("settings: {content_extension: {categories: [a], pairs: {title: txt}}}", "Did you mean `text`?"),
        ("settings: {content_extension: {categories: [a], input: mail}}", "Did you mean `email`?"),
        ("settings: {content_extension: {categories: [a], language: objectivec}}", "Did you mean `objective-c`?"),
        (
            "settings: {content_extension: {categories: [a], user_interactions: true}}",
            "Did you mean `user_interaction`?"
        ),
        ("settings: {messages: {minimum_intervall: 5}}", "Did you mean `minimum_interval`?"),
        ("settings: {messages: {display_choice: requeue}}", "Did you mean `reenqueue`?"),
        ("settings: {messages: {display_choices: {a: discart}}}", "Did you mean `discard`?"),
        ("settings: {messages: {theme: drak}}", "Did you mean `dark`?"),
        ("settings: {messages: {failing_assets: [1]}}", "must be text"),
        ("settings: {startup: {prepared: intime}}", "Did you mean `in_time`?"),
        ("settings: {startup: {push_automation: [recieved]}}", "Did you mean `received`?"),
        ("settings: {startup: {analytic: drop}}", "Did you mean `analytics`?"),
        ("settings: {startup: {subscribed: too_lat}}", "Did you mean `too_late`?"),
        ("settings: {without_app_groups: [{proces: a, app_group: group.a}]}", "process"),
        ("settings: {permission: grantd}", "Did you mean `granted`?"),
        ("declare-messages: [{id: a, trigger_conditions: [{type: session_start}]}]", "open"),
        ("declare-messages: [{id: a, trigger_conditions: [{type: custom_evnt}]}]", "Did you mean `custom_event`?"),
        ("declare-messages: [{id: a, trigger_conditions: [{type: open, event_name: b}]}]", "event_name"),
        ("declare-messages: [{id: a, trigger_conditions: []}]", "trigger_conditions"),
        ("declare-messages: [{id: a, triggers: [{type: open}]}]", "trigger_conditions"),
        (
            "declare-messages: [{id: a, trigger_conditions: [{type: open}], form: {type: slidup}}]",
            "Did you mean `slideup`?"
        ),
        (
            "declare-messages: [{id: a, trigger_conditions: [{type: custom_event_property, event_name: b, "
                + "property_filters: [[{property_key: c, property_type: text, comparator: 1, property_value: d}]]}]}]",
            "string"
        ),
    ]

    /// Wrong for `check` and `run`, and more than the schema can say.
    static let wrongByMeaning: [(String, String)] = [
        ("push: {action: act, response: dismiss}", "button"),
        ("push: {action: open, way: view}", "does not belong to the action open"),
        ("push: receive", "payload"), ("message-action: present", "message"),
        ("message-action: {action: close, button: ok}", "button"),
        ("save-event: {name: $a}", "must not begin with $"), ("save-event: {name: a, app_group: b}", "must be group."),
        ("settings: {without_app_groups: [{process: a, app_group: b}]}", "must be group."),
        ("log-event: {user: a, name: b, time: '1969-12-31T00:00:00Z'}", "1970"),
        ("save-attributes: {attributes: {a: {inc: x}}}", "inc"),
        ("log-purchase: {user: a, product: p, currency: eur, price: 1}", "currency"),
        ("save-user-attribute: {attribute: email, value: none}", "e-mail"),
        ("request: {path: /users/trak, body: {}}", "Did you mean /users/track?"),
        ("request: {path: /users/track, method: GET}", "does not know this method"),
        ("request: {path: /campaigns/list}", "does not simulate it"),
        (
            "declare-messages: [{id: a, trigger_conditions: [{type: open}]}, "
                + "{id: a, trigger_conditions: [{type: open}]}]",
            "id"
        ),
    ]

    @Test("A wrong step is refused with its line, by check and by run", arguments: wrong + wrongByMeaning)
    func isRefused(step: String, says: String) throws {
        let cli = try CLI()
        _ = try cli.write("name: x\nsteps:\n  - launch\n  - \(step)\n", as: "wrong.yaml")
        for command in ["check", "run"] {
            let outcome = try cli.run("scenario", command, "wrong.yaml")
            #expect(outcome.status == 64, "\(command): \(outcome.output) \(outcome.errors)")
            #expect(outcome.errors.contains("wrong.yaml:4:") && outcome.errors.contains(says), "\(outcome.errors)")
        }
    }

    @Test("What is refused on purpose is not checked")
    func refused() throws {
        let cli = try CLI()
        _ = try cli.write("name: x\nsteps:\n  - push: {action: receive, refused: invalid}\n", as: "right.yaml")
        #expect(try cli.run("scenario", "check", "right.yaml").status == 0)
        #expect(try cli.run("scenario", "run", "right.yaml").status == 0)
    }

    @Test("The schema takes what is shipped, and refuses the same nested settings")
    func schema() throws {
        let cli = try CLI()
        let text = try cli.succeed("scenario", "schema").output
        let schema = SchemaCheck(try JSON.parse(Array(text.utf8)))
        for (step, _) in Self.wrong {
            let parts = step.split(separator: ":", maxSplits: 1)
            let json = try Self.json(String(parts[1]))
            let file = AttributeValue.object([.init("steps", .array([.object([.init(Name(String(parts[0])), json)])]))])
            #expect(!schema.accepts(file), "\(step)")
        }
        let message = try Self.json("[{id: a, trigger_conditions: [{type: opn}]}]")
        #expect(
            !schema.accepts(
                .object([
                    .init("steps", .array([.string("launch")])),
                    .init("workspace", .object([.init("messages", message)])),
                ])))
        let right = [
            "{content_extension: {categories: [a], pairs: {b: number}, language: objective-c, input: email}}",
            "{content_extension: {info_plist: Info.plist}}", "{content_extension: Info.plist}",
            "{content_extension: null, startup: null}",
            "{startup: {prepared: never, push_automation: [opened], analytics: drop, subscribed: in_time}}",
            "{messages: {minimum_interval: 5s, display_choices: {a: show}, theme: dark, failing_assets: [a]}}",
            "{without_app_groups: [{process: a, app_group: group.a}]}",
        ]
        for settings in right {
            let step = AttributeValue.object([.init("settings", try Self.json(settings))])
            #expect(schema.accepts(.object([.init("steps", .array([step]))])), "\(settings)")
        }
    }

    /// The JSON of a mapping or a list in the short form of YAML, as far as these tests write it.
    private static func json(_ yaml: String) throws -> AttributeValue {
        var text = ""
        var word = ""
        func flush() {
            let trimmed = word.trimmingCharacters(in: .whitespaces)
            let isPlain = Int(trimmed) != nil || ["true", "false", "null", ""].contains(trimmed)
            text += isPlain ? trimmed : "\"\(trimmed)\""
            word = ""
        }
        for sign in yaml {
            if "{}[],:".contains(sign) {
                flush()
                text.append(sign)
            } else {
                word.append(sign)
            }
        }
        flush()
        return try JSON.parse(Array(text.utf8))
    }
}

/// As much of JSON Schema as the schema of scenarios uses.
struct SchemaCheck {
    private let root: AttributeValue

    init(_ root: AttributeValue) { self.root = root }

    func accepts(_ value: AttributeValue) -> Bool { accepts(value, root) }

    private func accepts(_ value: AttributeValue, _ schema: AttributeValue) -> Bool {
        if case .string(let reference)? = schema["$ref"] {
            let name = reference.split(separator: "/").last.map(String.init) ?? ""
            return accepts(value, root["definitions"]?[Name(name)] ?? .null)
        }
        if let type = schema["type"], !Self.list(type).contains(where: { Self.is(value, $0) }) { return false }
        if case .array(let words)? = schema["enum"], !words.contains(value) { return false }
        if case .array(let schemas)? = schema["anyOf"], !schemas.contains(where: { accepts(value, $0) }) {
            return false
        }
        if case .array(let elements) = value {
            if case .int(let least)? = schema["minItems"], elements.count < least { return false }
            if let items = schema["items"], !elements.allSatisfy({ accepts($0, items) }) { return false }
        }
        guard case .object(let members) = value else { return true }
        if case .array(let required)? = schema["required"],
            !required.allSatisfy({ key in members.contains { .string($0.key.text) == key } })
        {
            return false
        }
        return members.allSatisfy { member in
            if let known = schema["properties"]?[member.key] { return accepts(member.value, known) }
            switch schema["additionalProperties"] {
            case .bool(false)?: return false
            case let other? where other != .bool(true): return accepts(member.value, other)
            default: return true
            }
        }
    }

    private static func list(_ value: AttributeValue) -> [AttributeValue] {
        if case .array(let values) = value { values } else { [value] }
    }

    private static func `is`(_ value: AttributeValue, _ type: AttributeValue) -> Bool {
        guard case .string(let word) = type else { return false }
        switch (value, word) {
        case (.null, "null"), (.bool, "boolean"), (.int, "integer"), (.int, "number"), (.double, "number"),
            (.string, "string"), (.array, "array"), (.object, "object"):
            return true
        default: return false
        }
    }
}
