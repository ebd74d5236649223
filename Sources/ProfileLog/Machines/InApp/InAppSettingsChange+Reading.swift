extension InAppSettingsChange {
    package static let keys = [
        "minimum_interval", "automatic_display", "prevent_display_for_different_user", "orientation", "theme",
        "request_time", "display_choice", "display_choices", "failing_assets",
    ]

    /// The change that `members` describes. `place` is the path to them.
    ///
    /// ```json
    /// {"minimum_interval": 5, "automatic_display": false, "display_choices": {"welcome": "reenqueue"}}
    /// ```
    package init(_ members: [AttributeValue.Member], at place: String = "") throws(DocumentError) {
        self.init()
        let fields = try MessageFields(members, at: place, Self.keys)
        minimumInterval = try fields.seconds("minimum_interval")
        isDisplayAutomatic = try fields.flag("automatic_display")
        guardsUser = try fields.flag("prevent_display_for_different_user")
        orientation = try fields.word("orientation", InAppSettings.Orientation.self)
        theme = try fields.word("theme", InAppSettings.Theme.self)
        requestTime = try fields.seconds("request_time")
        decision = try fields.choice("display_choice", InAppSettings.choices)
        if fields.value("display_choices") != nil {
            let given = try fields.object("display_choices")
            try fields.check(given.count, of: "display_choices")
            let choices = try MessageFields(given, at: fields.path("display_choices"), given.map(\.key.text))
            var decisions: [Name: InAppSettings.Decision] = [:]
            for member in given { decisions[member.key] = try choices.choice(member.key, InAppSettings.choices) }
            self.decisions = decisions
        }
        if fields.value("failing_assets") != nil {
            let given = try fields.list("failing_assets")
            try fields.check(given.count, of: "failing_assets")
            var failing: Set<Name> = []
            for (place, value) in given {
                guard case .string(let id) = value else {
                    throw DocumentError(place: place, reason: "must be text", remedy: "Give the message's ID.")
                }
                failing.insert(Name(id))
            }
            failingAssets = failing
        }
    }
}

extension MessageFields {
    /// A span of time; a negative one is refused.
    fileprivate func seconds(_ key: Name) throws(DocumentError) -> UInt32? {
        guard let seconds = try interval(key) else { return nil }
        return try InAppMessage.seconds(seconds, at: path(key.text))
    }

    fileprivate func check(_ count: Int, of key: String) throws(DocumentError) {
        guard count > InAppMessage.maxMessages else { return }
        throw DocumentError(
            place: path(key), reason: "has more than \(InAppMessage.maxMessages) messages", remedy: "Name fewer.")
    }
}
