extension ProfileState {
    /// The value of a standard attribute; nil if the profile has none. Reads nothing else of the profile.
    package func value(_ attribute: StandardAttribute) -> AttributeValue? {
        fields.value(FieldKey(standard: UInt32(attribute.rawValue)))
    }

    /// The value of the custom attribute whose name has this number; nil if the profile has none.
    package func customAttribute(_ name: UInt32) -> AttributeValue? { fields.value(FieldKey(custom: name)) }
}
