/// Which setter the published flush finds for an attribute's value (spec/device.md 6.2, 18 to 20).
enum AttributeSetter {
    case unchanged
    case converted(AttributeValue)
    /// No setter: the attribute vanishes.
    case none(Fault)

    init(_ value: AttributeValue, _ language: SnippetLanguage, _ policy: PublishedPolicy) {
        switch language {
        case .swift: self = Self.swift(value, policy)
        case .objectiveC: self = Self.objectiveC(value, policy)
        }
    }

    /// `as? Date`, then Bool, String, Double, Int, `[String]`, and else nothing.
    private static func swift(_ value: AttributeValue, _ policy: PublishedPolicy) -> AttributeSetter {
        switch value {
        case .date, .bool, .string: return .unchanged
        case .int, .double:
            guard policy.has(.numbersChangeType), policy.conditions.numbers == .bridged else { return .unchanged }
            let cast = bridged(value)
            return cast == value ? .unchanged : .converted(cast)
        case .array(let values):
            let isText = values.allSatisfy { if case .string = $0 { true } else { false } }
            return isText || !policy.has(.collectionsVanish) ? .unchanged : .none(.collectionsVanish)
        case .object, .null: return policy.has(.collectionsVanish) ? .none(.collectionsVanish) : .unchanged
        }
    }

    /// A number as the casts to Bool and then to Double take it. An integer that no double holds stays one.
    private static func bridged(_ value: AttributeValue) -> AttributeValue {
        switch value {
        case .int(0), .double(0): .bool(false)
        case .int(1), .double(1): .bool(true)
        case .int(let number): Double(exactly: number).map { .double($0) } ?? value
        default: value
        }
    }

    /// The sources say of Objective-C only that arrays have no setter.
    private static func objectiveC(_ value: AttributeValue, _ policy: PublishedPolicy) -> AttributeSetter {
        if case .array = value, policy.has(.arraySetterUnused) { return .none(.arraySetterUnused) }
        return .unchanged
    }
}
