/// A trigger of a container: it fires on an event for which all of its conditions hold.
package struct TagTrigger: Hashable, Sendable {
    package var name: Name
    package var conditions: [TagCondition]
    /// The event for which it waits, if Firebase itself logs that.
    package var firebaseEvent: Name?

    package init(name: Name, _ conditions: [TagCondition], firebaseEvent: Name? = nil) {
        (self.name, self.conditions, self.firebaseEvent) = (name, conditions, firebaseEvent)
    }

    /// Fires on the events of this name.
    package init(name: Name, event: Name) {
        self.init(name: name, [TagCondition(.eventName, .equals(.fixed(.string(event.text))))])
    }
}

/// A condition of a trigger. Texts are compared as they are written, letters with their case.
package struct TagCondition: Hashable, Sendable {
    package var left: TagValueSource
    package var test: Test
    package var isNegated: Bool

    package init(_ left: TagValueSource, _ test: Test, isNegated: Bool = false) {
        (self.left, self.test, self.isNegated) = (left, test, isNegated)
    }

    package enum Test: Hashable, Sendable {
        case equals(TagValueSource)
        case contains(TagValueSource)
        case startsWith(TagValueSource)
        case endsWith(TagValueSource)
        /// The pattern as it is written, and its compiled form.
        case matches(String, TextPattern)
        case compares(Order, TagValueSource)
    }

    /// A comparison of two numbers.
    package enum Order: String, Sendable {
        case greater = "is greater than"
        case greaterOrEqual = "is at least"
        case less = "is less than"
        case lessOrEqual = "is at most"

        func holds(_ left: Double, _ right: Double) -> Bool {
            switch self {
            case .greater: left > right
            case .greaterOrEqual: left >= right
            case .less: left < right
            case .lessOrEqual: left <= right
            }
        }
    }

    /// The name that the event must have; nil if the condition is about something else.
    func eventName(_ variables: [TagVariable]) -> Name? {
        guard !isNegated, case .equals(.fixed(.string(let name))) = test else { return nil }
        var source = left
        if case .variable(let number) = source, case .value(let meant) = variables[number].rule { source = meant }
        return source == .eventName ? Name(name) : nil
    }

    /// The condition in words, with the container's text.
    package func words(_ container: TagContainer) -> String {
        let right: (verb: String, text: String) =
            switch test {
            case .equals(let source): ("equals", container.text(of: source))
            case .contains(let source): ("contains", container.text(of: source))
            case .startsWith(let source): ("starts with", container.text(of: source))
            case .endsWith(let source): ("ends with", container.text(of: source))
            case .matches(let pattern, _): ("matches", pattern)
            case .compares(let order, let source): (order.rawValue, container.text(of: source))
            }
        return "\(isNegated ? "not: " : "")\(container.text(of: left)) \(right.verb) \(right.text)"
    }
}
