extension AttributeOperation {
    /// What a custom attribute with the value `old` (nil if it has none) has after the operation: the rule by which
    /// profiles are folded.
    package func applied(to old: AttributeValue?) -> AttributeValue? {
        if self == .unset || self == .set(.null) { return nil }
        return AttributeFold.value(of: self, on: old) ?? old
    }
}
