/// A catalogue with its names. Lists are in ascending order of the names' bytes.
package struct CatalogueView: Hashable, Sendable {
    /// Custom events that took effect.
    package var events: [Profile.Counted]
    /// Custom attributes that were given a value.
    package var attributes: [Attribute]
    /// Products that were bought.
    package var products: [Profile.Counted]

    /// A custom attribute.
    package struct Attribute: Hashable, Sendable {
        package var name: Name
        /// The type of its first value ever.
        package var firstType: AttributeType
        /// The number of values of each type that it was given; a type without values has no entry.
        package var counts: [AttributeType: UInt64]
        /// Elements of the longest array that was sent, as a whole or to be added.
        package var longestArray: UInt64
    }
}
