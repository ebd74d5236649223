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

    package init(
        attributes: [Field], customAttributes: [Field], customEvents: [Counted], purchases: [Purchased],
        pending: [Waiting]
    ) {
        self.attributes = attributes
        self.customAttributes = customAttributes
        self.customEvents = customEvents
        self.purchases = purchases
        self.pending = pending
    }

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

        package init(name: Name, value: AttributeValue, position: Position, setAt: Timestamp) {
            self.name = name
            self.value = value
            self.position = position
            self.setAt = setAt
        }
    }

    /// Something that happened, and how often.
    public struct Counted: Hashable, Sendable {
        /// Its name.
        public var name: Name
        /// How often, first and last.
        public var occurrences: ProfileState.Occurrences

        package init(name: Name, occurrences: ProfileState.Occurrences) {
            self.name = name
            self.occurrences = occurrences
        }
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

        package init(product: Name, occurrences: ProfileState.Occurrences, currencies: [String], amounts: [Double]) {
            self.product = product
            self.occurrences = occurrences
            self.currencies = currencies
            self.amounts = amounts
        }
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

        package init(
            position: Position, kind: PendingKind?, device: String, storage: DeviceStorage, savedAt: Timestamp,
            isQueued: Bool
        ) {
            self.position = position
            self.kind = kind
            self.device = device
            self.storage = storage
            self.savedAt = savedAt
            self.isQueued = isQueued
        }
    }
}
