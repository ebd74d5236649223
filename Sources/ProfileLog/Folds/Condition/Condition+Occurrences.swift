extension Condition.Counted {
    /// The occurrences that count, with the name's number by `number`; nil for a name without one.
    package func what(_ number: (Name) -> UInt32?) -> Occurrence.What? {
        switch self {
        case .sessions: .session
        case .launches: .launch
        case .event(let name): number(name).map { .event($0) }
        case .product(let name): number(name).map { .purchase($0) }
        }
    }
}

extension ProfileState {
    /// The number of times that it happened, and when; nil for an event or a product that the user has not.
    package func occurrences(of what: Occurrence.What) -> Occurrences? {
        switch what {
        case .session: sessions
        case .launch: launches
        case .event(let name): occurrences(ofEvent: name)
        case .purchase(let product): occurrences(ofProduct: product)
        case .created, .removal: nil
        }
    }

    /// The occurrences of the event with the name of this number; nil if the user has none.
    package func occurrences(ofEvent number: UInt32) -> Occurrences? {
        events.first { $0.name == number }?.occurrences
    }

    /// The occurrences of purchases of the product with the name of this number; nil if the user has none.
    package func occurrences(ofProduct number: UInt32) -> Occurrences? {
        purchases.first { $0.product == number }?.occurrences
    }
}
