/// The knowledge about a user at a moment. Lists are in ascending order of the names' bytes.
public struct Profile: Hashable, Sendable {
    /// The number of the user's events; 0 if they were not there.
    public var version: Version
    /// Standard attributes by their names on the wire.
    public var attributes: [Field]
    /// Custom attributes.
    public var customAttributes: [Field]
    /// Custom events that took effect.
    public var customEvents: [Counted]
    /// Products bought.
    public var purchases: [Counted]
    /// Items that wait for a launch or for the SDK to send them, in saved order.
    package var pending: [Waiting]

    /// The items that wait for a launch or for the SDK to send them, in saved order.
    public var waiting: [Position] { pending.map(\.position) }

    /// The value of a custom attribute; nil if there is none.
    public subscript(name: Name) -> AttributeValue? { customAttributes.first { $0.name == name }?.value }

    /// The value of a standard attribute; nil if there is none.
    public subscript(attribute: StandardAttribute) -> AttributeValue? {
        attributes.first { $0.name.text == attribute.name }?.value
    }

    /// An attribute.
    public struct Field: Hashable, Sendable {
        /// Its name.
        public var name: Name
        /// Its value.
        public var value: AttributeValue
        /// The event that set it; for what was saved and flushed, the saved one.
        public var position: Position
        /// The time at which that happened.
        public var setAt: Timestamp
    }

    /// A custom event that happened, or a product that was bought.
    public struct Counted: Hashable, Sendable {
        /// The event's name, or the product's ID.
        public var name: Name
        /// The count, and the first and the last time.
        package var occurrences: ProfileState.Occurrences
        /// Price times quantity, by currency in ascending order; empty for a custom event.
        package var paid: [ProfileState.Revenue] = []

        /// The number of times that it happened, or of items bought.
        public var count: UInt64 { occurrences.count }
        /// The sum paid for the product, by currency in ascending order: the double nearest to the exact sum.
        public var revenue: [(currency: String, amount: Double)] { paid.map { ($0.currency, $0.amount.double) } }
    }

    /// A saved item.
    package struct Waiting: Hashable, Sendable {
        /// The position of the item.
        package var position: Position
        /// The list, one of three; nil for what the SDK took from the app.
        package var kind: PendingKind?
        /// The device on which it waits.
        package var device: String
        package var storage: DeviceStorage
        /// The time at which it was saved, by the device's clock.
        package var savedAt: Timestamp
        /// Tells whether the SDK has it already, and has not sent it.
        package var isQueued: Bool
    }
}
