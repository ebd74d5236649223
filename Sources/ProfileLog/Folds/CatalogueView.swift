/// A catalogue with its names, for people and programs to read. Lists are in ascending order of the names' bytes.
public struct CatalogueView: Hashable, Sendable {
    /// Custom events that took effect.
    public var events: [ProfileView.Counted]
    /// Custom attributes that were given a value.
    public var attributes: [Attribute]
    /// Products that were bought.
    public var products: [ProfileView.Counted]

    package init(events: [ProfileView.Counted], attributes: [Attribute], products: [ProfileView.Counted]) {
        self.events = events
        self.attributes = attributes
        self.products = products
    }

    /// A custom attribute.
    public struct Attribute: Hashable, Sendable {
        /// Its name.
        public var name: Name
        /// The type of its first value ever.
        public var firstType: AttributeType
        /// How many values of each type it was given; a type without values has none.
        public var counts: [AttributeType: UInt64]
        /// Elements of the longest array that was sent, as a whole or to be added.
        public var longestArray: UInt64

        package init(name: Name, firstType: AttributeType, counts: [AttributeType: UInt64], longestArray: UInt64) {
            self.name = name
            self.firstType = firstType
            self.counts = counts
            self.longestArray = longestArray
        }
    }
}
