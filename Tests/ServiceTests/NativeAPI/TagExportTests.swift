import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

/// Containers as the tag manager's web interface exports them. The fixtures have the form of real exports, with names
/// of our own.
@Suite("Containers that the tag manager exported")
struct TagExportTests {
    static func fixture(_ name: String) throws -> String {
        try Repository.text("Tests/Fixtures/tag-manager/\(name).json")
    }

    private func post(
        _ api: API, _ container: String, _ event: String, _ properties: String = "{}", _ more: String = ""
    ) async -> (status: Int, json: AttributeValue) {
        let body = #"{"container":\#(AttributeValue.string(container).json),"event":"\#(event)","properties":"#
        return await api.post("/v1/tags", body + properties + #","dry_run":true\#(more)}"#)
    }

    private func tags(_ json: AttributeValue) -> [String] {
        (0..<json.at("tags").count).map { json.at("tags.\($0).tag").text }
    }

    // MARK: - iOS

    @Test("iOS: conditions, an exception, text with variables, tables, a priority, the container's facts")
    func ios() async throws {
        let container = try Self.fixture("ios")
        try await withAPI { api in
            let heard = #"{"genre":"jazz","artist":"Ann","title":"Blue","seconds":30}"#
            let json = await post(api, container, "song_played", heard).json
            #expect(tags(json) == ["Log the song", "Favourite genre"], "\(json)")
            #expect(json.at("blocked.0.tag") == "Heartbeat" && json.at("blocked.0.trigger") == "Song or session")
            let properties = json.at("tags.0.call.properties")
            #expect(json.at("tags.0.call.name") == "song_played" && properties.at("label") == "Ann: Blue")
            #expect(properties.at("seconds") == 30 && properties.at("genre") == "jazz")
            #expect(json.at("tags.1.call.name") == "favourite_genre" && json.at("tags.1.call.value") == "favourite")
            // What the published versions make of it, with all parameters.
            let published = json.at("tags.0.published")
            for place in 0...1 {
                let properties = published.at("\(place).call.properties")
                #expect(properties.at("label") == "Ann: Blue" && properties.at("actionType") == .null)
            }
            #expect(json.at("tags.1.published.1.call.action") == "logEvent")

            let other = await post(api, container, "song_played", #"{"genre":"polka","seconds":"31.5"}"#).json
            #expect(other.at("tags.0.call.properties.label") == "undefined: undefined")
            #expect(other.at("tags.1.call.value") == "other (polka)")
            let lacking = await post(api, container, "song_played", #"{"seconds":1e3}"#).json
            #expect(lacking.at("tags.1.call.value") == "other (unknown)")
            let level = await post(api, container, "anything").json
            #expect(tags(level) == ["Heartbeat"])
            #expect(level.at("tags.0.call.properties.container") == "GTM-SONGS1 12 iOS")
            #expect(await post(api, container, "login", #"{"user":"jane"}"#).json.at("tags.1.call.user") == "jane")
        }
    }

    @Test("A condition that does not hold, and an exception, are told")
    func misses() async throws {
        let container = try Self.fixture("ios")
        try await withAPI { api in
            let short = await post(api, container, "song_played", #"{"seconds":29}"#).json
            #expect(tags(short).isEmpty && short.at("blocked").count == 1)
            let blocked = await post(api, container, "song_played", #"{"seconds":31,"genre":"DEMO"}"#).json
            #expect(blocked.at("blocked.1.trigger") == "Trial songs" && blocked.at("blocked").count == 3)
            #expect(blocked.at("note").text.contains("the exception `Song or session` kept `Heartbeat`"))
            let part = await post(api, container, "song_played", #"{"seconds":31,"genre":"demos"}"#).json
            #expect(part.at("blocked").count == 1)
        }
    }

    @Test("What cannot be played is named with its place; a value that is given plays it")
    func unplayed() async throws {
        let container = try Self.fixture("ios")
        try await withAPI { api in
            let json = await post(api, container, "level_up").json
            let parts = (0..<json.at("unplayed").count).map { json.at("unplayed.\($0)") }
            func reason(_ place: String) -> String {
                parts.first { $0.at("place").text == place }?.at("reason").text ?? ""
            }
            #expect(reason("containerVersion.variable[8]").contains("function call"))
            #expect(reason("containerVersion.trigger[4]").contains("`WINDOW_LOADED`"))
            #expect(reason("containerVersion.tag[2]").contains("`ua`"))
            #expect(reason("containerVersion.tag[3]") == "is paused")
            let place = "containerVersion.tag[4].parameter[0].list[2].map[1]"
            #expect(reason(place).contains("`FC - plan` (`containerVersion.variable[8]`)"), "\(parts)")
            #expect(reason("containerVersion.tag[5].firingTriggerId[1]").contains("containerVersion.trigger[4]"))
            #expect(parts.count == 6 && parts.allSatisfy { !$0.at("remedy").text.isEmpty })
            let given = await post(
                api, container, "song_played", #"{"seconds":31}"#, #","variables":{"FC - plan":"gold"}"#)
            #expect(given.json.at("tags.2.call.value") == "gold" && given.json.at("unplayed").count == 4)
            let wrong = await post(api, container, "x", "{}", #","variables":{"FC - pln":"gold"}"#)
            #expect(wrong.status == 400 && wrong.json.at("remedy").text.contains("Did you mean `FC - plan`?"))
            #expect(wrong.json.at("place") == "variables.FC - pln")
        }
    }

    @Test("Firebase's rules and the provider's class hold for it too")
    func rules() async throws {
        let container = try Self.fixture("ios")
        try await withAPI { api in
            let json = await post(api, container, "a song", #"{"a b":1}"#, #","provider":"Other""#).json
            #expect(json.at("warnings").count == 2 && json.at("tags.0.reason").text.contains("another class"))
        }
    }

    // MARK: - Android

    @Test("Android: starts and ends, less, negation, patterns, formats, suggested parameters")
    func android() async throws {
        let container = try Self.fixture("android")
        try await withAPI { api in
            let json = await post(api, container, "in_app_purchase", #"{"value":9.5,"currency":"eur"}"#).json
            #expect(tags(json) == ["Log a purchase"], "\(json)")
            let properties = json.at("tags.0.call.properties")
            #expect(properties.at("value") == .double(9.5) && properties.at("currency") == "EUR")
            #expect(properties.at("tier") == "large")  // 9.5 is not one digit
            #expect(json.at("tags.0.published").count == 1)
            let kotlin = json.at("tags.0.published.0")
            #expect(kotlin.at("language") == "kotlin" && kotlin.at("call.properties.currency") == "EUR")
            #expect(kotlin.at("call.properties.actionType") == .null && kotlin.at("call.properties").count == 3)
            for (value, tier) in [("7", "small"), ("12.25", "medium"), ("100", "large"), ("7.0", "small")] {
                let more = await post(api, container, "in_app_purchase", #"{"value":\#(value)}"#).json
                #expect(more.at("tags.0.call.properties.tier").text == tier, "\(value)")
            }
            for properties in [#"{"value":1000}"#, #"{"value":0}"#, #"{}"#, #"{"value":1,"currency":"xau"}"#] {
                #expect(await post(api, container, "in_app_purchase", properties).json.at("tags").count == 0)
            }
            #expect(await post(api, container, "in_app_purchases", #"{"value":1}"#).json.at("tags").count == 0)
            let campaign = await post(api, container, "firebase_campaign", #"{"campaign":"summer"}"#).json
            #expect(campaign.at("warnings").count == 0, "\(campaign)")
            #expect(tags(campaign) == ["Campaign"] && campaign.at("tags.0.call.value") == "summer")
            for (value, stored) in [("{}", "not asked"), (#"{"opted_in":false}"#, "no")] {
                #expect(await post(api, container, "options", value).json.at("tags.0.call.value").text == stored)
            }
            #expect(await post(api, container, "options", #"{"opted_in":true}"#).json.at("tags.0.call.value") == true)
            let greeted = await post(api, container, "options", "{}", #","variables":{"App ID":"org.songs"}"#).json
            #expect(greeted.at("tags.1.call.properties.text") == "Hello you of org.songs")
            let named = await post(
                api, container, "options", "{}", #","variables":{"App ID":"a","UP - name":"Jane"}"#
            ).json
            #expect(named.at("tags.1.call.properties.text") == "Hello Jane of a")
        }
    }

    // MARK: - Operators

    /// An export with one tag, its trigger's filter, and more variables.
    private static func export(
        filter: String = "", variables: String = "", value: String = "{{a}}", tag: String = "", trigger: String = "",
        context: String = "IOS_SDK_5", format: String = "2"
    ) -> String {
        #"""
        {"exportFormatVersion": \#(format), "containerVersion": {
          "container": {"usageContext": ["\#(context)"]},
          "tag": [{"tagId": "1", "name": "t", "type": "func", "firingTriggerId": ["1"], "parameter": [
            {"type": "TEMPLATE", "key": "classPath", "value": "P"},
            {"type": "LIST", "key": "functionArgument", "list": [
              {"type": "MAP", "map": [{"type": "TEMPLATE", "key": "key", "value": "actionType"},
                {"type": "TEMPLATE", "key": "value", "value": "logEvent"}]},
              {"type": "MAP", "map": [{"type": "TEMPLATE", "key": "key", "value": "eventName"},
                {"type": "TEMPLATE", "key": "value", "value": "e"}]},
              {"type": "MAP", "map": [{"type": "TEMPLATE", "key": "key", "value": "value"},
                {"type": "TEMPLATE", "key": "value", "value": "\#(value)"}]}]}]\#(tag)}],
          "trigger": [{"triggerId": "1", "name": "on e", "type": "CUSTOM_EVENT", "customEventFilter": [
            {"type": "EQUALS", "parameter": [{"type": "TEMPLATE", "key": "arg0", "value": "{{_event}}"},
              {"type": "TEMPLATE", "key": "arg1", "value": "e"}]}], "filter": [\#(filter)]}\#(trigger)],
          "variable": [{"variableId": "1", "name": "a", "type": "md", "parameter": [
            {"type": "TEMPLATE", "key": "key", "value": "a"}]}\#(variables)]}}
        """#
    }

    private static func filter(_ type: String, _ right: String, _ more: String = "") -> String {
        #"{"type": "\#(type)", "parameter": [{"type": "TEMPLATE", "key": "arg0", "value": "{{a}}"},"#
            + #"{"type": "TEMPLATE", "key": "arg1", "value": "\#(right)"}\#(more)]}"#
    }

    private static let negate = #",{"type": "BOOLEAN", "key": "negate", "value": "true"}"#
    private static let anyCase = #",{"type": "BOOLEAN", "key": "ignore_case", "value": "true"}"#

    /// Filters, the parameter `a`, and whether the trigger fires.
    static let operators: [(filter: String, value: String, fires: Bool)] = [
        (filter("EQUALS", "pop"), #""pop""#, true), (filter("EQUALS", "pop"), #""Pop""#, false),
        (filter("EQUALS", "42"), "42", true), (filter("EQUALS", "42"), "42.0", true),
        (filter("EQUALS", "true"), "true", true), (filter("EQUALS", "undefined"), "null", false),
        (filter("EQUALS", "pop", negate), #""rock""#, true), (filter("EQUALS", "pop", negate), #""pop""#, false),
        (filter("equals", "pop"), #""pop""#, true), (filter("CONTAINS", "op"), #""pop""#, true),
        (filter("CONTAINS", "aab"), #""aaaab""#, true), (filter("CONTAINS", "OP"), #""pop""#, false),
        (filter("CONTAINS", ""), #""pop""#, true), (filter("STARTS_WITH", "po"), #""pop""#, true),
        (filter("startsWith", "po"), #""pop""#, true), (filter("STARTS_WITH", "op"), #""pop""#, false),
        (filter("ENDS_WITH", "op"), #""pop""#, true), (filter("ENDS_WITH", "po"), #""pop""#, false),
        (filter("MATCH_REGEX", "p.p"), #""k-pop!""#, true), (filter("MATCH_REGEX", "P.P"), #""k-pop!""#, false),
        (filter("MATCH_REGEX", "P.P", anyCase), #""k-pop!""#, true),
        (filter("MATCH_REGEX", "(?i)P.P"), #""k-pop!""#, true), (filter("MATCH_REGEX", "^pop$", negate), "1", true),
        (filter("MATCH_REGEX", "x$"), #""\#(String(repeating: "a", count: 300))x""#, true),
        (filter("GREATER", "9"), "10", true), (filter("GREATER", "10"), "10", false),
        (filter("GREATER_OR_EQUALS", "10"), #""10""#, true), (filter("LESS", "1e3"), "999.5", true),
        (filter("LESS_OR_EQUALS", "-1"), "-1", true), (filter("LESS", "10"), #""pop""#, false),
        (filter("GREATER", "10"), #""pop""#, false), (filter("LESS", "10", negate), #""pop""#, true),
        (filter("EQUALS", "{{a}}"), "7", true), (filter("EQUALS", "x{{a}}"), "7", false),
        (filter("EQUALS", "pop") + "," + filter("CONTAINS", "x"), #""pop""#, false),
    ]

    @Test("Every operator, negated too", arguments: operators)
    func holds(filter: String, value: String, fires: Bool) async throws {
        try await withAPI { api in
            let json = await post(api, Self.export(filter: filter), "e", #"{"a":\#(value)}"#).json
            #expect(json.at("tags").count == (fires ? 1 : 0), "\(filter) \(json)")
            #expect(json.at("unplayed").count == 0)
        }
    }

    @Test("Arguments may be a list, a map, or parameters of their own")
    func arguments() async throws {
        func row(_ key: String, _ value: String) -> String {
            #"{"type":"TEMPLATE","key":"\#(key)","value":"\#(value)"}"#
        }
        let own = [row("actionType", "logEvent"), row("eventName", "e"), row("x", "{{Event Name}}!")].joined(
            separator: ",")
        let forms = [own, #"{"type":"MAP","key":"functionArgument","map":[\#(own)]}"#]
        try await withAPI { api in
            for (type, form) in [
                ("func", forms[0]), ("cfn", forms[1]), ("other", forms[0] + "," + row("className", "P")),
            ] {
                let export = #"""
                    {"containerVersion": {"tag": [{"name": "t", "type": "\#(type)", "parameter": [\#(form)],
                      "firingTriggerId": ["2147479553"]}]}}
                    """#
                let json = await post(api, export, "play").json
                #expect(json.at("tags.0.call.properties.x") == "play!", "\(json)")
                #expect(json.at("tags.0.call.properties").count == 3)
            }
        }
    }

    @Test("No value is the text `undefined` in a condition and in text, and no parameter of its own")
    func undefined() async throws {
        try await withAPI { api in
            #expect(
                await post(api, Self.export(filter: Self.filter("EQUALS", "undefined")), "e").json.at("tags").count == 1
            )
            let alone = await post(api, Self.export(), "e").json.at("tags.0.call.properties")
            #expect(alone.at("value") == .null && alone.count == 2)
            let text = await post(api, Self.export(value: "a={{a}}; {{"), "e").json
            #expect(text.at("tags.0.call.properties.value") == "a=undefined; {{")
        }
    }

    // MARK: - Parts that are not played, and errors

    /// Exports of which a part is not played: the place and a part of the reason.
    static let parts: [(export: String, place: String, reason: String)] = [
        (
            export(filter: filter("CSS_SELECTOR", "a")), "containerVersion.trigger[0].filter[0]", "`CSS_SELECTOR`"
        ),
        (
            export(filter: filter("MATCH_REGEX", "(?=a)")), "containerVersion.trigger[0].filter[0].parameter[1]",
            "look-around"
        ),
        (export(filter: filter("MATCH_REGEX", "{{a}}")), "containerVersion.trigger[0].filter[0]", "a variable in it"),
        (export(filter: filter("EQUALS", "a", anyCase)), "containerVersion.trigger[0].filter[0]", "case of letters"),
        (
            export(filter: filter("EQUALS", "{{j}}"), variables: #",{"name":"j","type":"jsm"}"#),
            "containerVersion.trigger[0].filter[0].parameter[1]", "`containerVersion.variable[1]`"
        ),
        (export(tag: #","scheduleStartMs":"1""#), "containerVersion.tag[0].scheduleStartMs", "is a schedule"),
        (
            export(tag: #","tagFiringOption":"ONCE_PER_LOAD""#), "containerVersion.tag[0].tagFiringOption",
            "fires at every event"
        ),
        (
            export(tag: #","blockingTriggerId":["2147479573"]"#), "containerVersion.tag[0].blockingTriggerId[0]",
            "built-in trigger"
        ),
        (
            export(tag: #","consentSettings":{"consentStatus":"NEEDED"}"#), "containerVersion.tag[0].consentSettings",
            "consent"
        ),
        (
            export(
                variables: #",{"name":"b","type":"c","parameter":[{"key":"value","value":"{{r}}"}]}"#
                    + #",{"name":"r","type":"r"}"#, value: "{{b}}"),
            "containerVersion.tag[0].parameter[1].list[2].map[1]", "has the type `r`"
        ),
    ]

    @Test("A part that is not played is named with its place", arguments: parts)
    func named(export: String, place: String, reason: String) async throws {
        try await withAPI { api in
            let (status, json) = await post(api, export, "e")
            let parts = (0..<json.at("unplayed").count).map { json.at("unplayed.\($0)") }
            #expect(
                status == 200
                    && parts.contains { $0.at("place").text == place && $0.at("reason").text.contains(reason) },
                "\(json)")
        }
    }

    private static func constant(_ name: String, _ value: String) -> String {
        #",{"name":"\#(name)","type":"c","parameter":[{"type":"TEMPLATE","key":"value","value":"\#(value)"}]}"#
    }

    private static let chain = (0..<40).map { constant("v\($0)", "{{v\($0 + 1)}}") }.joined() + constant("v40", "end")

    /// Each refers to an earlier declaration.
    private static let backwards =
        constant("w0", "end") + (1..<4_000).map { constant("w\($0)", "{{w\($0 - 1)}}") }.joined()

    /// Wrong exports, with the place of the error and its words.
    static let wrong: [(export: String, place: String, words: String)] = [
        (export(context: "WEB"), "containerVersion.container.usageContext", "Export the container of the iOS"),
        (export(context: "AMP"), "containerVersion.container.usageContext", "is AMP: this is no container of an app"),
        (export(context: "SERVER"), "containerVersion.container.usageContext", "is SERVER"),
        (export(format: "1"), "exportFormatVersion", "must be 2"),
        (#"{"exportFormatVersion": 2}"#, "exportFormatVersion", "without a `containerVersion`"),
        (
            #"{"fingerprint":"a","resource":{"version":"3","macros":[],"tags":[]},"runtime":[]}"#, "",
            "compiled container"
        ),
        (#"{"exportFormatVersion": 2, "containerVersion": {}}"#, "containerVersion", "has no tag"),
        (#"{"exportFormatVersion": 2, "containerVersion": {"tag": 7}}"#, "containerVersion.tag", "must be a list"),
        (#"{"exportFormatVersion": 2, "containerVersion": ["#, "", "is no YAML"),
        (
            export(value: "{{b}}"), "containerVersion.tag[0].parameter[1].list[2].map[1]",
            "variable `b`, which is not there"
        ),
        (
            export(filter: filter("EQUALS", "{{aa}}")), "containerVersion.trigger[0].filter[0].parameter[1]",
            "Did you mean"
        ),
        (
            export(variables: constant("b", "{{c}}") + constant("c", "x {{b}}")),
            "containerVersion.variable[2].parameter[0]", "refers to itself"
        ),
        (export(variables: constant("b", "{{b}}")), "containerVersion.variable[1].parameter[0]", "refers to itself"),
        (export(variables: chain), "containerVersion.variable[32].parameter[0]", "32 deep"),
        (export(variables: backwards), "containerVersion.variable[33].parameter[0]", "32 deep"),
        (export(variables: constant("a", "x")), "containerVersion.variable[1]", "name of another variable"),
        (
            export(trigger: #",{"triggerId":"1","name":"o","type":"ALWAYS"}"#), "containerVersion.trigger[1].triggerId",
            "ID of another"
        ),
        (
            export(trigger: #",{"triggerId":"2","name":"on e","type":"ALWAYS"}"#), "containerVersion.trigger[1].name",
            "name of another"
        ),
        (export(tag: #"},{"tagId":"1","name":"u","type":"ua""#), "containerVersion.tag[1].tagId", "ID of another tag"),
        (
            export(tag: #","blockingTriggerId":["9"]"#), "containerVersion.tag[0].blockingTriggerId[0]",
            "trigger `9`, which is not there"
        ),
        (export(tag: #","name":"u""#), "name", "is given twice"),
    ]

    @Test("A wrong export is refused with its place", arguments: wrong)
    func refused(export: String, place: String, words: String) async throws {
        try await withAPI { api in
            let (status, json) = await post(api, export, "e")
            let text = "\(json.at("error").text) \(json.at("remedy").text)"
            #expect(status == 400 && text.contains(words), "\(json)")
            #expect(place.isEmpty || text.contains("`\(place)`"), "\(json)")
            #expect(json.at("line") != .null)
        }
    }

    @Test("Text with variables in our own form; JSON with a character of two escapes; text that grows has an end")
    func text() async throws {
        try await withAPI { api in
            let own = """
                triggers: [{name: s, event: e}]
                variables: [{name: a, event-parameter: a}]
                tags: [{name: t, class: P, triggers: s, parameters: {actionType: logEvent, eventName: "x {{a}}{{a}}"}}]
                """
            #expect(await post(api, own, "e", #"{"a":7}"#).json.at("tags.0.call.name") == "x 77")
            let escaped = Self.export(value: #"\ud83c\udfb5 \\ud83c {{a}}"#)
            let json = await post(api, escaped, "e", #"{"a":1}"#).json
            #expect(json.at("tags.0.call.properties.value") == #"🎵 \ud83c 1"#)
            let noted = Self.export(
                variables: #",{"name":"n","type":"c","notes":"\#(String(repeating: "a & b: *c # ", count: 400))","#
                    + "\n\t" + #""parameter":[{"key":"value","value":"a\/b"}]}"#, value: "{{n}}")
            #expect(await post(api, noted, "e").json.at("tags.0.call.properties.value") == "a/b")
            let doubled = (0..<30).map { Self.constant("d\($0)", "{{d\($0 + 1)}}{{d\($0 + 1)}}") }.joined()
            let large = Self.export(variables: doubled + Self.constant("d30", "xy"), value: "{{d0}}")
            let text = await post(api, large, "e").json.at("tags.0")
            #expect(text.at("outcome") == "refused", "\(text.at("reason"))")
        }
    }
}
