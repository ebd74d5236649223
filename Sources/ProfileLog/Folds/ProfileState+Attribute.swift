extension ProfileState {
    /// The value of a standard attribute; nil if the profile has none. Nothing else of the profile is looked at.
    package func value(_ attribute: StandardAttribute) -> AttributeValue? {
        fields.value(FieldKey(standard: UInt32(attribute.rawValue)))
    }
}
