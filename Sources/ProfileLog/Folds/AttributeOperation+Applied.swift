extension AttributeOperation {
    /// The value of a custom attribute after the operation, if it was `old` (nil: no value): the rule of the profile's
    /// fold, for an update that happens after all others.
    package func applied(to old: AttributeValue?, under policy: AttributePolicy = .lastArrival) -> AttributeValue? {
        if policy == .firstWins, old != nil { return old }
        if self == .unset || self == .set(.null) { return nil }
        return policy.value(of: self, on: old, by: ()) ?? old
    }
}
