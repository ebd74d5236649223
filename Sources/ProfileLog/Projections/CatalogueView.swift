/// A catalogue with its names, for people and programs to read. Lists are in ascending order of the names' bytes.
public struct CatalogueView: Hashable, Sendable {
    /// Custom events that took effect.
    public var events: [ProfileView.Counted]
    /// Custom attributes that were given a value.
    public var attributes: [Attribute]
    /// Products that were bought.
    public var products: [ProfileView.Counted]

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
    }
}

extension EventLog {
    /// `state`, which must be of this log, with its names.
    public func catalogueView(_ state: CatalogueState) -> CatalogueView {
        CatalogueView(
            events: named(state.events),
            attributes: state.attributes.compactMap { number, use in
                names.name(number).map { name in
                    let counts = zip(AttributeType.allCases, use.counts).filter { $0.1 > 0 }
                    return .init(
                        name: name, firstType: use.first, counts: Dictionary(uniqueKeysWithValues: counts),
                        longestArray: use.longestArray)
                }
            }.sorted { $0.name < $1.name },
            products: named(state.products))
    }

    /// The type of the first value that a custom attribute ever had, by `state`, which must be of this log; nil if it had none.
    public func firstType(of attribute: Name, by state: CatalogueState) -> AttributeType? {
        names.number(attribute).flatMap { state.attributes[$0]?.first }
    }

    private func named(_ numbered: [UInt32: ProfileState.Occurrences]) -> [ProfileView.Counted] {
        numbered.compactMap { number, occurrences in
            names.name(number).map { .init(name: $0, occurrences: occurrences) }
        }.sorted { $0.name < $1.name }
    }
}
