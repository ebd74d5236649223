/// The merge of a user into another.
public struct Merge: Hashable, Sendable {
    /// The user that was merged away.
    public var source: UserNumber
    /// The number of events of the source.
    package var version: Version
    /// The source's IDs that resolve to the target from now on.
    package var identities: [UserID]
    /// The source's other IDs, which resolve to no user from now on.
    package var released: [UserID]

    /// Takes over the first `version` events of `source`.
    package init(source: UserNumber, version: Version, identities: [UserID], released: [UserID] = []) {
        self.source = source
        self.version = version
        self.identities = identities
        self.released = released
    }
}

/// Something that happened, by name.
public struct CustomEvent: Hashable, Sendable {
    /// The event's name.
    public var name: Name
    /// Its properties in ascending order of keys. No properties (nil) and empty properties are different.
    public var properties: [AttributeValue.Member]?

    /// Makes the event `name` with `properties`.
    public init(name: Name, properties: [AttributeValue.Member]? = nil) {
        self.name = name
        self.properties = properties
    }
}

/// A change of one custom attribute.
public struct AttributeChange: Hashable, Sendable {
    /// The attribute's name.
    public var name: Name
    /// The operation on it.
    public var operation: AttributeOperation

    /// Makes the change `operation` of the attribute `name`.
    public init(_ name: Name, _ operation: AttributeOperation) {
        self.name = name
        self.operation = operation
    }
}

/// A change of one standard user attribute: a new value, or `.null`, which unsets it.
public struct UserAttributeChange: Hashable, Sendable {
    /// The attribute.
    public var attribute: StandardAttribute
    /// The new value; `.null` unsets.
    public var value: AttributeValue

    /// Sets `attribute` to `value`.
    public init(_ attribute: StandardAttribute, _ value: AttributeValue) {
        self.attribute = attribute
        self.value = value
    }
}

/// An operation on a custom attribute (spec/rest-api 1.5).
public enum AttributeOperation: Hashable, Sendable {
    case set(AttributeValue)
    case unset
    /// Adds to an integer; a missing attribute starts at 0, a value of another type does not change.
    case increment(Int64)
    /// Appends to an array without duplicates: a value that is there already moves to the end.
    case arrayAdd([AttributeValue])
    case arrayRemove([AttributeValue])
    /// Merges an object into an object, at every level.
    case objectMerge([AttributeValue.Member])
    /// Appends objects to an array of objects.
    case objectsAdd([AttributeValue])
    /// Replaces (or with `merging`, merges into) every object of the array that has the member `match`.
    case objectsUpdate([ObjectUpdate], merging: Bool)
    /// Removes every object of the array that has one of these members.
    case objectsRemove([AttributeValue.Member])

    /// New members for the selected objects.
    public struct ObjectUpdate: Hashable, Sendable {
        /// The objects that match: those with this member.
        package var match: AttributeValue.Member
        /// Their new members.
        package var object: [AttributeValue.Member]

        /// Gives the objects that `match` selects the members of `object`.
        public init(match: AttributeValue.Member, object: [AttributeValue.Member]) {
            self.match = match
            self.object = object
        }
    }
}

/// Something bought.
public struct Purchase: Hashable, Sendable {
    /// The product's ID.
    public var product: Name
    /// ISO 4217, three letters.
    public var currency: String
    /// The price in base units; negative for a refund.
    public var price: Double
    /// The number of items, from 1 to 100.
    public var quantity: UInt32
    /// As for a custom event.
    public var properties: [AttributeValue.Member]?

    /// Makes the purchase of `quantity` times `product`.
    public init(
        product: Name, currency: String, price: Double, quantity: UInt32 = 1, properties: [AttributeValue.Member]? = nil
    ) {
        self.product = product
        self.currency = currency
        self.price = price
        self.quantity = quantity
        self.properties = properties
    }

    /// The largest revenue of one purchase, in any currency, so that sums fit into a double.
    private static let largestRevenue = 1e15

    /// Tells whether `price` times `quantity` is small enough to be added up.
    package static func holdsRevenue(_ price: Double, times quantity: UInt32) -> Bool {
        abs(price * Double(quantity)) <= largestRevenue
    }
}

/// The way in which an app came to run.
public enum LaunchKind: UInt8, Sendable, CaseIterable {
    case cold = 0
    case background = 1
    case `return` = 2
    /// A start in the background, before the phone was unlocked for the first time since it started: the app cannot
    /// read what waits (spec/device 6.2, number 37).
    case locked = 3

    /// The kind's name on the command line.
    package var name: String { "\(self)" }

    /// Tells whether the app is not seen.
    package var isInBackground: Bool { self == .background || self == .locked }
}

/// The outcome of a launch for the pending items of one user.
public struct Flush: Hashable, Sendable {
    /// The position of the `appLaunched` to which it belongs.
    package var launch: Position
    /// 0, 1, 2 … within the launch and the user.
    package var chunk: UInt32
    /// The items made effective, in the order in which they take effect.
    public var flushed: [Position]
    /// The items that were not accepted, with the reason.
    package var rejected: [Rejection]
    /// Tells whether the flushed items were only handed to the SDK: they take effect when it sends them (`dataSent`).
    package var isQueued: Bool

    /// One refused item.
    package struct Rejection: Hashable, Sendable {
        /// The item's position.
        package var position: Position
        package var reason: String

        /// The item at `position` was refused for `reason`.
        package init(position: Position, reason: String) {
            self.position = position
            self.reason = reason
        }
    }

    /// Makes one chunk of what `launch` flushed.
    package init(
        launch: Position, chunk: UInt32, flushed: [Position], rejected: [Rejection] = [], isQueued: Bool = false
    ) {
        self.launch = launch
        self.chunk = chunk
        self.flushed = flushed
        self.rejected = rejected
        self.isQueued = isQueued
    }
}

/// Items that were discarded by hand and will never be flushed.
public struct Discard: Hashable, Sendable {
    /// The positions of the items.
    public var positions: [Position]
    /// The actor who discarded them.
    package var actor: String
    package var reason: String

    /// `actor` discards the items at `positions` for `reason`.
    package init(positions: [Position], actor: String, reason: String) {
        self.positions = positions
        self.actor = actor
        self.reason = reason
    }
}

/// The statement that an earlier event of the same person is void, or counts again.
public struct Voiding: Hashable, Sendable {
    /// The event that is void or counts again.
    public var target: Position
    /// The version of this user from which on the event matters: its own, or that of the merge which brought it.
    package var since: Version
    /// The name of who made it void, or let it count again.
    package var actor: String
    package var reason: String

    /// `actor` voids or unvoids the event at `target` for `reason`.
    package init(target: Position, since: Version, actor: String, reason: String) {
        self.target = target
        self.since = since
        self.actor = actor
        self.reason = reason
    }
}

/// Something of a request that was not stored, and why (`ProfileEvent.objectsLeftOut`). It names fields and holds no
/// value.
public struct ObjectRefusal: Hashable, Sendable {
    /// The request's array.
    package var list: String
    /// The object's place in it, from 0.
    package var index: Int
    /// The field that was skipped; nil if the whole object was.
    package var field: String?
    /// The reason why it was skipped.
    public var reason: String

    /// The object at `index` of `list`, or a field of it, was skipped for `reason`.
    package init(list: String, index: Int, field: String? = nil, reason: String) {
        self.list = list
        self.index = index
        self.field = field
        self.reason = reason
    }

    /// The note without the field's name, which may be personal: without a user it could not be erased.
    package var anonymous: ObjectRefusal { ObjectRefusal(list: list, index: index, reason: reason) }
}

/// The three lists in which the published guide keeps pending items, in the order in which a launch flushes them.
public enum PendingKind: UInt8, Sendable, CaseIterable, OrderedByNumber {
    case customEvents = 1
    case customAttributes = 2
    case userAttributes = 3

    /// The list of a saved kind; nil for other kinds.
    package init?(_ kind: EventKind) {
        guard case .content(let content, .saved) = kind.role, let list = content.list else { return nil }
        self = list
    }

    /// The guide's key for the list.
    package var key: String {
        switch self {
        case .customEvents: "pending_custom_events"
        case .customAttributes: "pending_custom_attributes"
        case .userAttributes: "pending_user_attributes"
        }
    }

    /// The three lists.
    package static let all = Set(allCases)
}
