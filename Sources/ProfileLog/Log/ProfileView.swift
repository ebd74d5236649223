/// A `ProfileState` with its names. Lists are in ascending order of the names' bytes.
public struct ProfileView: Hashable, Sendable {
    /// Standard attributes by their names on the wire.
    public var attributes: [Field]
    /// Custom attributes.
    public var customAttributes: [Field]
    /// Custom events that took effect.
    public var customEvents: [Counted]
    /// Products bought.
    public var purchases: [Purchased]
    /// What waits for a launch or for the SDK to send it, in saved order.
    public var pending: [Waiting]

    /// An attribute.
    public struct Field: Hashable, Sendable {
        /// Its name.
        public var name: Name
        /// Its value.
        public var value: AttributeValue
        /// The event that set it; for what was saved and flushed, the saved one.
        public var position: Position
        /// When that happened.
        public var setAt: Timestamp
    }

    /// Something that happened, and how often.
    public struct Counted: Hashable, Sendable {
        /// Its name.
        public var name: Name
        /// How often, first and last.
        public var occurrences: ProfileState.Occurrences
    }

    /// A product, and what was paid for it.
    public struct Purchased: Hashable, Sendable {
        /// The product's ID.
        public var product: Name
        /// How many, first and last.
        public var occurrences: ProfileState.Occurrences
        /// Price times quantity, by currency in ascending order.
        public var revenue: [(currency: String, amount: Double)] {
            zip(currencies, amounts).map { ($0, $1) }
        }

        package var currencies: [String]
        package var amounts: [Double]
    }

    /// A saved item.
    public struct Waiting: Hashable, Sendable {
        /// Its position.
        public var position: Position
        /// In which of the three lists; nil for what the SDK took from the app.
        public var kind: PendingKind?
        /// The device on which it waits.
        public var device: String
        /// Where on the device.
        public var storage: DeviceStorage
        /// When it was saved, by the device's clock.
        public var savedAt: Timestamp
        /// Whether the SDK has it already, and has not sent it.
        public var isQueued: Bool
    }
}
