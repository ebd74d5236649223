extension SDKStartup {
    package static let keys = ["prepared", "push_automation", "analytics", "subscribed"]

    /// The start that `members` describe; `place` is the path to them.
    ///
    /// ```json
    /// {"prepared": "in_time", "push_automation": ["received"], "analytics": "drop", "subscribed": "in_time"}
    /// ```
    package init(_ members: [AttributeValue.Member], at place: String = "startup") throws(DocumentError) {
        self.init()
        let fields = try MessageFields(members, at: place, Self.keys)
        isDelayed = true
        preparation = try fields.choice("prepared", Self.preparations) ?? .inTime
        analytics = try fields.choice("analytics", Self.behaviors) ?? .queue
        // The published code has its handler in a delegate method.
        subscription = try fields.choice("subscribed", Self.subscriptions) ?? .never
        guard fields.value("push_automation") != nil else { return }
        automation = []
        for (place, value) in try fields.list("push_automation") {
            let word = value.asText ?? value.json
            guard let option = Self.automations.value(word) else {
                throw DocumentError(
                    place: place, reason: "is no option of push automation", unknown: word,
                    among: Self.automations.words, called: "options")
            }
            automation.insert(option)
        }
    }
}

extension ContentExtension {
    package static let keys = ["categories", "user_interaction", "pairs", "input", "language"]

    /// The extension that `members` describe; `place` is the path to them.
    ///
    /// ```json
    /// {"categories": ["course"], "user_interaction": true, "pairs": {"title": "text"}, "input": "email",
    ///  "language": "swift"}
    /// ```
    package init(_ members: [AttributeValue.Member], at place: String = "content_extension") throws(DocumentError) {
        let fields = try MessageFields(members, at: place, Self.keys)
        var categories: [Name] = []
        for (place, value) in try fields.list("categories") {
            guard let category = value.asText, !category.isEmpty else {
                throw DocumentError(place: place, reason: "must be text", remedy: Self.categoriesRemedy)
            }
            categories.append(Name(category))
        }
        guard !categories.isEmpty else {
            throw DocumentError(
                place: fields.path("categories"), reason: "must list one category or more",
                remedy: Self.categoriesRemedy)
        }
        self.init(categories: categories)
        allowsInteraction = try fields.flag("user_interaction") ?? false
        input = try fields.choice("input", Self.inputs)
        language = try fields.choice("language", Self.languages) ?? .swift
        let given = try fields.object("pairs")
        let types = try MessageFields(given, at: fields.path("pairs"), given.map(\.key.text))
        for pair in given {
            guard let isNumber = try types.choice(pair.key, Self.pairTypes) else {
                throw DocumentError(
                    place: types.path(pair.key.text), reason: "must be text or number: what the extension reads",
                    remedy: "Write one of the two.")
            }
            pairs.append(.init(pair.key, isNumber: isNumber))
        }
    }

    private static let categoriesRemedy = "Give those of UNNotificationExtensionCategory."
}
