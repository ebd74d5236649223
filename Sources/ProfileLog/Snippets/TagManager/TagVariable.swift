/// The source of a value.
package enum TagValueSource: Hashable, Sendable {
    case fixed(AttributeValue)
    /// The name of the event.
    case eventName
    /// Parts that are written as text, one after the other.
    case text([TagValueSource])
    /// The container's variable at this place.
    case variable(Int)
}

/// A variable of a container: what `{{NAME}}` means.
package struct TagVariable: Hashable, Sendable {
    package var name: Name
    package var rule: Rule
    /// Its value if its rule gives nothing; nil for no value.
    package var otherwise: TagValueSource?
    package var format: Format

    package init(name: Name, _ rule: Rule, otherwise: TagValueSource? = nil, format: Format = Format()) {
        (self.name, self.rule, self.otherwise, self.format) = (name, rule, otherwise, format)
    }

    package enum Rule: Hashable, Sendable {
        case value(TagValueSource)
        /// The event's parameter of this name.
        case eventParameter(TagValueSource)
        /// The value of the first row that fits `input`.
        case table(input: TagValueSource, [Row])
        /// The app never gives it a value.
        case nothing
    }

    /// A row of a table.
    package struct Row: Hashable, Sendable {
        package var test: TagCondition.Test
        package var value: TagValueSource

        package init(_ test: TagCondition.Test, _ value: TagValueSource) { (self.test, self.value) = (test, value) }
    }

    /// The format of its value: of text another case, of others a replacement.
    package struct Format: Hashable, Sendable {
        package var isLowercased: Bool?
        package var ofNull: TagValueSource?
        package var ofUndefined: TagValueSource?
        package var ofTrue: TagValueSource?
        package var ofFalse: TagValueSource?

        package init() {}

        /// Returns the replacement for `value`; nil if it stays.
        func replacement(of value: AttributeValue?) -> TagValueSource? {
            switch value {
            case nil: ofUndefined
            case .null: ofNull
            case .bool(true): ofTrue
            case .bool(false): ofFalse
            default: nil
            }
        }
    }
}
