extension TriggerCondition {
    /// Returns the reason why `event` does not meet the condition although it is of its kind and name; nil if it does,
    /// or is of another kind or name.
    ///
    ///     "genre: wanted to equal \"pop\", was \"rock\""
    package func nearMiss(_ event: TriggerEvent) -> String? {
        guard isAbout(event) else { return nil }
        if case .pushClick(let campaign?) = self, case .pushOpened(let opened) = event {
            if opened == campaign { return nil }
            let other = opened.map { $0.text.isEmpty ? "no campaign" : "the campaign \($0)" } ?? "no campaign"
            return "the push was of \(other), wanted \(campaign)"
        }
        if case .customEvent(let event) = event { return Self.nearMiss(filters, event.properties) }
        if case .purchase(let purchase) = event { return Self.nearMiss(filters, purchase.properties) }
        return nil
    }

    /// Tells whether `event` is of the condition's kind and name.
    package func isAbout(_ event: TriggerEvent) -> Bool {
        switch self {
        case .sessionStart: event == .sessionStart
        case .pushClick: if case .pushOpened = event { true } else { false }
        case .customEvent(let name, _): if case .customEvent(let event) = event { event.name == name } else { false }
        case .purchase(let product, _):
            if case .purchase(let purchase) = event { product == nil || product == purchase.product } else { false }
        }
    }

    /// Describes a purchase of another product than the condition's; nil for other events.
    package func otherProduct(_ event: TriggerEvent) -> String? {
        guard case .purchase(let wanted?, _) = self, case .purchase(let purchase) = event, purchase.product != wanted
        else { return nil }
        return "its product is \(purchase.product), wanted \(wanted)"
    }

    private static func nearMiss(_ filters: Filters, _ properties: [AttributeValue.Member]?) -> String? {
        if filters.isEmpty { return nil }
        guard let properties else { return "the event has no properties, and the trigger has filters" }
        for alternatives in filters {
            let misses = alternatives.compactMap { $0.nearMiss(properties) }
            // One of them is enough.
            if misses.count == alternatives.count { return misses.joined(separator: ", and ") }
        }
        return nil
    }
}

extension PropertyFilter {
    /// Names the field, with the value that was wanted and the one that it had; nil if the filter holds.
    fileprivate func nearMiss(_ properties: [AttributeValue.Member]) -> String? {
        if test.accepts(.object(properties), at: Timestamp(rawValue: 0)) { return nil }
        let was = properties.first { $0.key == key }?.value
        let shown = was.flatMap { $0 == .null ? nil : $0.shown } ?? "missing"
        let typed = comparator == .equals || comparator == .exists ? "" : " \(type.rawValue)"
        let isOther = was.map { $0 != .null && AttributeType($0) != type.attributeType } ?? false
        let other = isOther ? ", which is no \(type.rawValue)" : ""
        let wanted = value.map { " \($0.shown)" } ?? typed
        return "\(key): wanted to \(comparator.words)\(wanted), was \(shown)\(other)"
    }
}

extension PropertyFilter.Comparator {
    /// As in `wanted to equal`.
    fileprivate var words: String {
        switch self {
        case .equals: "equal"
        case .notEqual: "differ from"
        case .greater: "be greater than"
        case .greaterOrEqual: "be at least"
        case .less: "be less than"
        case .lessOrEqual: "be at most"
        case .matchesRegex: "match"
        case .exists: "exist"
        case .doesNotExist: "be missing"
        case .doesNotMatchRegex: "not match"
        }
    }
}

extension AttributeValue {
    /// As JSON; a time as text.
    fileprivate var shown: String {
        if case .date(let date) = self { date.timestamp.rfc3339() } else { json }
    }
}
