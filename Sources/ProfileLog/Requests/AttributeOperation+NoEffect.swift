internal import ProfileLogSnippets

extension AttributeOperation {
    /// Tells whether its effect depends on the present value.
    package var isRelative: Bool {
        switch self {
        case .set, .unset: false
        default: true
        }
    }

    /// As `reasonWithoutEffect(on:)`, for an attribute with a policy.
    package func reasonWithoutEffect(on old: AttributeValue?, under policy: AttributePolicy) -> String? {
        let removes = self == .unset || self == .set(.null)
        switch policy {
        case .lastArrival, .lastOccurred: return reasonWithoutEffect(on: old)
        case .firstWins: return old == nil ? reasonWithoutEffect(on: old) : "keeps its first value by its policy"
        case .counter:
            if removes { return nil }
            switch self {
            case .increment, .set(.int), .set(.double): break
            default: return "is a counter by its policy, and takes numbers only"
            }
            return applied(to: old, under: policy) == old && old != nil && !addsNothing
                ? "would become more than 64 bits can hold" : nil
        case .setUnion:
            if removes { return nil }
            switch self {
            case .set(.array), .arrayAdd, .objectsAdd: return nil
            case .set, .increment, .objectMerge: return "is a growing set by its policy, and takes arrays only"
            default: return reasonWithoutEffect(on: old)
            }
        }
    }

    /// Tells whether it adds 0 to a number.
    private var addsNothing: Bool {
        switch self {
        case .increment(0), .set(.int(0)), .set(.double(0)): true
        default: false
        }
    }

    /// Returns the reason why the operation changes nothing of a custom attribute with the value `old` (nil if there is
    /// none): a clause; nil if it applies.
    package func reasonWithoutEffect(on old: AttributeValue?) -> String? {
        switch self {
        case .set, .unset, .objectMerge: return nil
        case .increment(let number):
            guard let old else { return nil }
            guard case .int(let before) = old else { return "is no integer, and nothing can be added to it" }
            return before.addingReportingOverflow(number).overflow ? "would become more than 64 bits can hold" : nil
        case .arrayAdd, .objectsAdd: return old == nil || old?.isArray == true ? nil : "is no array"
        case .arrayRemove, .objectsRemove:
            guard let old else { return "has no value" }
            return old.isArray ? nil : "is no array"
        case .objectsUpdate(let updates, _):
            guard let old else { return "has no value" }
            guard case .array(let elements) = old else { return "is no array" }
            let matches = ElementMatches(updates.lazy.map(\.match))
            let isMet = elements.contains { matches.first(in: $0) != nil }
            return isMet ? nil : "has no object that an '$update' names"
        }
    }
}

extension AttributeValue {
    fileprivate var isArray: Bool { if case .array = self { true } else { false } }
}
