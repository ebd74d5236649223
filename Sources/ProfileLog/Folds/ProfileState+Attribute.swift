extension ProfileState {
    /// The value of a standard attribute; nil if the profile has none. Reads nothing else of the profile.
    package func value(_ attribute: StandardAttribute) -> AttributeValue? {
        fields.value(FieldKey(standard: UInt32(attribute.rawValue)))
    }
}
