/// The names that the events of a whole store have used so far: of custom events, custom attributes and products.
package struct CatalogueState: Hashable, Sendable {
    package var events: [UInt32: ProfileState.Occurrences] = [:]
    package var attributes: [UInt32: AttributeUse] = [:]
    package var products: [UInt32: ProfileState.Occurrences] = [:]

    package struct AttributeUse: Hashable, Sendable {
        /// The type of its first value ever.
        package let first: AttributeType
        /// Values by type, in the order of the types' numbers.
        package var counts = [UInt64](repeating: 0, count: AttributeType.allCases.count)
        /// Elements of the longest array that was sent, as a whole or to be added.
        package var longestArray: UInt64 = 0
    }

    /// The statement of one event about one name.
    enum Mention: Hashable, Sendable {
        case event(UInt32, at: Int64)
        case attribute(UInt32, AttributeType, elements: UInt64)
        case product(UInt32, at: Int64, quantity: UInt64)
    }

    @inline(__always)
    mutating func add(_ mention: Mention, _ position: Position) {
        switch mention {
        case .event(let name, let at): events[name, default: .init()].add(at: Timestamp(rawValue: at), position)
        case .attribute(let name, let type, let elements):
            attributes[name, default: .init(first: type)].add(type, elements)
        case .product(let name, let at, let quantity):
            products[name, default: .init()].add(at: Timestamp(rawValue: at), position, times: quantity)
        }
    }
}

extension CatalogueState.AttributeUse {
    mutating func add(_ type: AttributeType, _ elements: UInt64) {
        counts[Int(type.rawValue) - 1] += 1
        longestArray = max(longestArray, elements)
    }
}
