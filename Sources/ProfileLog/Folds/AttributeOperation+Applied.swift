extension AttributeOperation {
    /// The value of a custom attribute after the operation, if it was `old` (nil: no value): the rule of the profile's
    /// fold.
    package func applied(to old: AttributeValue?) -> AttributeValue? {
        if self == .unset || self == .set(.null) { return nil }
        return AttributeFold.value(of: self, on: old) ?? old
    }
}
