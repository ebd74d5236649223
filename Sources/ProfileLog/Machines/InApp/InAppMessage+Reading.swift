extension InAppMessage {
    package static let keys = [
        "id", "type", "trigger_conditions", "priority", "start_time", "end_time", "re_eligibility", "delay", "timeout",
        "orientation", "form", "header", "message", "buttons", "extras", "assets", "control",
    ]

    /// Reads the JSON form, whose keys are those of a trigger object (spec/device 5.1). `place` is the path to it.
    ///
    /// ```json
    /// {"id": "welcome", "type": "inapp", "priority": 10, "re_eligibility": 86400, "delay": 2,
    ///  "trigger_conditions": [
    ///    {"type": "custom_event_property", "event_name": "played song", "property_filters": [
    ///      [{"property_key": "genre", "property_type": "string", "comparator": 1, "property_value": "pop"}]]}],
    ///  "form": {"type": "slideup", "slide_from": "top"}, "message": "Sing along"}
    /// ```
    package init(_ members: [AttributeValue.Member], at place: String = "") throws(DocumentError) {
        try self.init(.object(members), at: place)
    }

    private init(_ value: AttributeValue, at place: String) throws(DocumentError) {
        let fields = try MessageFields(value, at: place, Self.keys)
        var triggers: [TriggerCondition] = []
        for (place, value) in try fields.list("trigger_conditions") {
            triggers.append(try TriggerCondition(value, at: place))
        }
        var buttons: [Name] = []
        for (place, value) in try fields.list("buttons") {
            guard case .string(let id) = value else {
                throw DocumentError(place: place, reason: "must be text", remedy: "Give the button's ID.")
            }
            buttons.append(Name(id))
        }
        var assets: [Asset] = []
        for (place, value) in try fields.list("assets") {
            let asset = try MessageFields(value, at: place, ["type", "url"])
            assets.append(Asset(try asset.word("type", Asset.Kind.self) ?? .image, url: try asset.name("url").text))
        }
        let id = try fields.name("id")
        let kind = try fields.word("type", Kind.self) ?? .inApp
        let priority = try fields.number("priority") ?? 0
        let (start, end) = (try fields.time("start_time"), try fields.time("end_time"))
        let reEligibility = try fields.interval("re_eligibility") ?? -1
        let (delay, timeout) = (try fields.interval("delay") ?? 0, try fields.interval("timeout"))
        let orientation = try fields.word("orientation", Orientation.self) ?? .any
        let form = try Self.form(fields)
        let (header, text) = (try fields.text("header"), try fields.text("message"))
        let extras = try fields.object("extras")
        let isControl = try fields.flag("control") ?? false
        do {
            try self.init(
                id: id, kind: kind, triggers: triggers, priority: priority, startTime: start, endTime: end,
                reEligibility: reEligibility, delay: delay, timeout: timeout, orientation: orientation, form: form,
                header: header, text: text, buttons: buttons, extras: extras, assets: assets, isControl: isControl)
        } catch {
            throw place.isEmpty ? error : error.below(place)
        }
    }

    /// Reads a list of definitions; two of one ID are refused.
    package static func list(_ value: AttributeValue, at place: String) throws(DocumentError) -> [InAppMessage] {
        var messages: [InAppMessage] = []
        for (index, value) in try elements(value, at: place).enumerated() {
            messages.append(try InAppMessage(value, at: "\(place)[\(index)]"))
        }
        try check(messages, at: place)
        return messages
    }

    /// Reads a list of definitions that is stored. One that this program refuses was declared by another version of it:
    /// it is skipped, so nothing triggers it.
    package static func stored(
        _ value: AttributeValue, at place: String
    ) throws(DocumentError) -> (messages: [InAppMessage], skipped: [DocumentError]) {
        var messages: [InAppMessage] = []
        var skipped: [DocumentError] = []
        for (index, value) in try elements(value, at: place).enumerated() {
            do {
                messages.append(try InAppMessage(value, at: "\(place)[\(index)]"))
            } catch {
                skipped.append(error)
            }
        }
        return (messages, skipped)
    }

    private static func elements(_ value: AttributeValue, at place: String) throws(DocumentError)
        -> [AttributeValue]
    {
        if case .array(let values) = value { return values }
        throw DocumentError(place: place, reason: "must be a list", remedy: "Give a list of messages.")
    }

    /// The most messages that a device holds (spec/device 5, limit).
    package static let maxMessages = InAppState.maxMessages

    /// Refuses two messages of one ID, and more than 200.
    static func check(_ messages: [InAppMessage], at place: String) throws(DocumentError) {
        guard messages.count <= maxMessages else {
            throw DocumentError(
                place: place, reason: "has more than \(maxMessages) messages", remedy: "Declare fewer messages.")
        }
        var seen: [Name: Int] = [:]
        for (index, message) in messages.enumerated() {
            if let first = seen.updateValue(index, forKey: message.id) {
                throw DocumentError(
                    place: "\(place)[\(index)].id", reason: "is the ID of \(place)[\(first)] too",
                    remedy: "Give each message its own ID.")
            }
        }
    }

    private static func form(_ fields: MessageFields) throws(DocumentError) -> Form {
        guard let value = fields.value("form") else { return .modal }
        let form = try MessageFields(value, at: fields.path("form"), ["type", "slide_from", "themes"])
        switch try form.word("type", FormWord.self) ?? .modal {
        case .slideUp:
            let given = try MessageFields(
                form.object("themes"), at: form.path("themes"), Theme.allCases.map(\.rawValue))
            var themes: [Theme: [AttributeValue.Member]] = [:]
            for theme in Theme.allCases where given.value(Name(theme.rawValue)) != nil {
                themes[theme] = try given.object(Name(theme.rawValue))
            }
            return .slideUp(from: try form.word("slide_from", Edge.self) ?? .bottom, themes: themes)
        case let word:
            for key: Name in ["slide_from", "themes"] where form.value(key) != nil {
                throw DocumentError(
                    place: form.path(key.text), reason: "belongs to a slide-up", remedy: "Take it out.")
            }
            return word == .modal ? .modal : word == .full ? .full : .custom
        }
    }

    private enum FormWord: String, CaseIterable {
        case slideUp = "slideup"
        case modal, full, custom
    }
}

extension TriggerCondition {
    init(_ value: AttributeValue, at place: String) throws(DocumentError) {
        let all = ["type", "event_name", "product_id", "campaign_id", "property_filters"]
        let given = try MessageFields(value, at: place, all)
        if let text = try given.text("type"), let word = Word.others[text] {
            throw DocumentError(
                place: given.path("type"), reason: "is not a known word", remedy: "Did you mean `\(word.rawValue)`?")
        }
        guard let word = try given.word("type", Word.self) else {
            throw DocumentError(
                place: "\(place).type", reason: "is missing",
                remedy: "The types are \(Word.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        let fields = try MessageFields(value, at: place, ["type"] + word.keys)
        switch word {
        case .open: self = .sessionStart
        case .pushClick: self = .pushClick(campaign: try fields.text("campaign_id").map { Name($0) })
        case .purchase: self = .purchase(product: try fields.text("product_id").map { Name($0) })
        case .purchaseProperty:
            self = .purchase(product: try fields.text("product_id").map { Name($0) }, try Self.filters(fields))
        case .customEvent: self = .customEvent(try fields.name("event_name"))
        case .customEventProperty: self = .customEvent(try fields.name("event_name"), try Self.filters(fields))
        }
    }

    /// The outer lists must all hold, and of each inner list one filter.
    private static func filters(_ fields: MessageFields) throws(DocumentError) -> Filters {
        let lists = try fields.list("property_filters")
        guard !lists.isEmpty else {
            throw DocumentError(
                place: fields.path("property_filters"), reason: "has no filter",
                remedy: "Add one, or use the type without `_property`.")
        }
        var filters: Filters = []
        for (place, value) in lists {
            guard case .array(let alternatives) = value else {
                throw DocumentError(
                    place: place, reason: "must be a list",
                    remedy: "Write lists of filters, each a list of which one holds.")
            }
            var list: [PropertyFilter] = []
            for (index, alternative) in alternatives.enumerated() {
                list.append(try PropertyFilter(alternative, at: "\(place)[\(index)]"))
            }
            filters.append(list)
        }
        return filters
    }
}

extension TriggerCondition.Word {
    /// The keys that belong to the type, but for `type`.
    package var keys: [String] {
        switch self {
        case .open: []
        case .pushClick: ["campaign_id"]
        case .purchase: ["product_id"]
        case .purchaseProperty: ["product_id", "property_filters"]
        case .customEvent: ["event_name"]
        case .customEventProperty: ["event_name", "property_filters"]
        }
    }
}

extension PropertyFilter {
    init(_ value: AttributeValue, at place: String) throws(DocumentError) {
        let fields = try MessageFields(
            value, at: place, ["property_key", "property_type", "comparator", "property_value"])
        let key = try fields.name("property_key")
        guard let type = try fields.word("property_type", PropertyType.self),
            let comparator = try fields.integer("comparator")
        else {
            let missing = fields.value("property_type") == nil ? "property_type" : "comparator"
            throw DocumentError(place: fields.path(missing), reason: "is missing", remedy: "Add it.")
        }
        do {
            try self.init(key, type, comparator: comparator, fields.value("property_value"))
        } catch {
            throw error.below(place)
        }
    }
}
