/// The policy by which one update of an attribute wins.
public enum AttributePolicy: String, Hashable, Sendable, CaseIterable {
    /// The update that was recorded last. The policy of an attribute without a policy (spec/rest-api 1.2).
    case lastArrival = "last_arrival"
    /// The update that happened last by the sender's clock. One that happened earlier than the value or the removal
    /// that the profile has changes nothing.
    case lastOccurred = "last_occurred"
    /// The first value. Later updates and removals change nothing.
    case firstWins = "first"
    /// Numbers add up, also those that are set. Other values change nothing; a removal starts again at nothing.
    case counter
    /// Arrays grow by the elements that they do not have, also those that are set. Other values change nothing.
    case setUnion = "set_union"
}

extension AttributePolicy {
    /// Tells whether a standard attribute can have it.
    ///
    /// Addresses, subscriptions, lists and the dates that are merged by rules of their own keep the last arrival.
    package func fits(_ attribute: StandardAttribute) -> Bool {
        switch self {
        case .lastArrival: return true
        case .counter, .setUnion: return false
        case .lastOccurred, .firstWins: break
        }
        switch attribute {
        case .firstName, .lastName, .country, .language, .homeCity, .gender, .dateOfBirth, .timeZone,
            .currentLocation, .facebook, .twitter, .imageURL:
            return true
        case .email, .phone, .dateOfFirstSession, .dateOfLastSession, .markedEmailAsSpamAt, .emailSubscribe,
            .pushSubscribe, .emailOpenTrackingDisabled, .emailClickTrackingDisabled, .pushTokens,
            .subscriptionGroups:
            return false
        }
    }

    /// The value after `operation`, which is no removal, or nil if it changes nothing. Without the policies that
    /// compare times or look for a first value.
    func value<Value: Operand>(
        of operation: AttributeOperation, on old: Value?, by writer: Value.Writer
    ) -> Value? {
        func sum(_ number: AttributeValue) -> Value? {
            Self.sum(old?.value, number).map { Value($0, by: writer, over: old) }
        }
        return switch (self, operation) {
        case (.counter, .set(let number)): sum(number)
        case (.counter, .increment(let number)): sum(.int(number))
        case (.counter, _): nil
        case (.setUnion, .set(.array(let values))), (.setUnion, .arrayAdd(let values)),
            (.setUnion, .objectsAdd(let values)):
            Self.union(old, Value.new(values, by: writer), by: writer)
        case (.setUnion, .set), (.setUnion, .increment), (.setUnion, .objectMerge): nil
        default: AttributeFold.value(of: operation, on: old, by: writer)
        }
    }

    /// `operation` as a change of an array by elements; nil if it is none.
    func elementChange(_ operation: AttributeOperation) -> (FieldStore.ElementChange, [AttributeValue])? {
        switch (self, operation) {
        case (.counter, _): nil
        case (.setUnion, .set(.array(let values))), (.setUnion, .arrayAdd(let values)),
            (.setUnion, .objectsAdd(let values)):
            (.addMissing, values)
        case (_, .arrayAdd(let values)): (.moveToEnd, values)
        case (_, .arrayRemove(let values)): (.remove, values)
        case (_, .objectsAdd(let values)): (.append, values)
        default: nil
        }
    }

    /// Merges two values; nil if `own` stays.
    func merged(_ own: AttributeValue?, with other: AttributeValue?) -> AttributeValue? {
        switch self {
        case .counter: other.flatMap { Self.sum(own, $0) }
        case .setUnion: other?.elements.map { Self.union(own, $0, by: ()) }
        case .lastArrival, .lastOccurred, .firstWins: nil
        }
    }

    /// The sum; nil if `number` is none, or the sum is too large. An old value that is no number counts as none.
    private static func sum(_ old: AttributeValue?, _ number: AttributeValue) -> AttributeValue? {
        switch (old, number) {
        case (.int(let left)?, .int(let right)):
            let (sum, overflow) = left.addingReportingOverflow(right)
            return overflow ? nil : .int(sum)
        case (.int?, .double), (.double?, .int), (.double?, .double):
            // Decimal: 0.1 and 0.2 are 0.3.
            guard var sum = old.flatMap({ ExactSum($0) }), let more = ExactSum(number) else { return nil }
            sum.add(more)
            return sum.double.isFinite ? sum.value : nil
        case (_, .int), (_, .double): return number
        default: return nil
        }
    }

    /// Joins both, in the order in which the elements came. An old value that is no array counts as none.
    private static func union<Value: Operand>(_ old: Value?, _ values: [Value], by writer: Value.Writer) -> Value {
        var elements = old?.elements ?? []
        var known = Set(elements.map { $0.value })
        for value in values where known.insert(value.value).inserted { elements.append(value) }
        return .array(elements, by: writer, over: old)
    }
}
