/// A fact about one user, without its place in the log.
public enum ProfileEvent: Hashable, Sendable {
    /// The user's first event.
    case userCreated([UserID])
    /// An anonymous user became known under further IDs.
    case userIdentified([UserID])
    /// This user is on the device from now on; before, it was `previous`.
    case userChanged(previous: UserNumber?)
    /// No user is on the device from now on. The next one is a new anonymous user.
    case userLoggedOut
    /// The user has a further alias.
    case aliasAdded(UserID)
    /// An alias has another name from now on; the old one resolves to no user.
    case aliasRenamed(from: UserID, to: UserID)
    /// The user has another external ID from now on; the old one still resolves to the user.
    case externalIDRenamed(from: UserID, to: UserID)
    /// A renamed external ID resolves to no user from now on.
    case externalIDRemoved(UserID)
    /// Another user was merged into this one: its state is added, and its IDs resolve to this user from now on.
    case usersMerged(Merge)

    /// The user was erased: earlier events, and those of users merged into this one, have lost their content.
    case userErased(actor: String, reason: String)

    case customEventSaved(CustomEvent)
    case customAttributesSaved([AttributeChange])
    case userAttributeSaved(UserAttributeChange)

    case customEventLogged(CustomEvent)
    case customAttributesChanged([AttributeChange])
    case userAttributesChanged([UserAttributeChange])
    case purchaseLogged(Purchase)
    /// A logged event that takes effect when the SDK sends it (`dataSent`).
    indirect case queued(ProfileEvent)

    /// The app started, and was to flush these lists.
    case appLaunched(LaunchKind, lists: Set<PendingKind> = Set(PendingKind.allCases))
    case appLeft
    case sessionStarted
    case sessionEnded(started: Position)
    case pendingFlushed(Flush)
    case pendingDiscarded(Discard)
    /// The SDK sent what it had taken: the events at these positions take effect, in this order.
    case dataSent([Position])
    case deviceChanged(DeviceSettings)

    /// Parts of a request that were skipped; it changes nothing of the user.
    case objectsLeftOut([LeftOut])

    /// A kind that this program does not know, or an event whose content was erased.
    case other(EventKind)

    /// What kind of fact it is.
    public var kind: EventKind {
        switch self {
        case .userCreated: .userCreated
        case .userIdentified: .userIdentified
        case .userChanged: .userChanged
        case .userLoggedOut: .userLoggedOut
        case .aliasAdded: .aliasAdded
        case .aliasRenamed: .aliasRenamed
        case .externalIDRenamed: .externalIDRenamed
        case .externalIDRemoved: .externalIDRemoved
        case .usersMerged: .usersMerged
        case .userErased: .userErased
        case .customEventSaved: .customEventSaved
        case .customAttributesSaved: .customAttributesSaved
        case .userAttributeSaved: .userAttributeSaved
        case .customEventLogged: .customEventLogged
        case .customAttributesChanged: .customAttributesChanged
        case .userAttributesChanged: .userAttributesChanged
        case .purchaseLogged: .purchaseLogged
        case .queued(let event): event.kind.queued ?? event.kind
        case .appLaunched: .appLaunched
        case .appLeft: .appLeft
        case .sessionStarted: .sessionStarted
        case .sessionEnded: .sessionEnded
        case .pendingFlushed: .pendingFlushed
        case .pendingDiscarded: .pendingDiscarded
        case .dataSent: .dataSent
        case .deviceChanged: .deviceChanged
        case .objectsLeftOut: .objectsLeftOut
        case .other(let kind): kind
        }
    }
}

/// Which user was merged into another.
public struct Merge: Hashable, Sendable {
    /// The user that was merged away.
    package var source: UserNumber
    /// How many events the source had.
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
    /// What is done with it.
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

/// What can be done with a custom attribute (spec/rest-api 1.5).
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
    /// Replaces (or with `merging`, merges into) every object whose `key` equals `value`.
    case objectsUpdate([ObjectUpdate], merging: Bool)
    /// Removes every object whose `key` equals `value`.
    case objectsRemove([ObjectMatch])

    /// Selects objects of an array.
    public struct ObjectMatch: Hashable, Sendable {
        /// The key to compare.
        package var key: Name
        /// The value that it must have.
        package var value: AttributeValue

        /// Matches objects whose `key` is `value`.
        public init(key: Name, value: AttributeValue) {
            self.key = key
            self.value = value
        }
    }

    /// New members for the selected objects.
    public struct ObjectUpdate: Hashable, Sendable {
        /// Which objects.
        package var match: ObjectMatch
        /// Their new members.
        package var object: [AttributeValue.Member]

        /// Gives the objects that `match` selects the members of `object`.
        public init(match: ObjectMatch, object: [AttributeValue.Member]) {
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
    /// In base units; negative for a refund.
    public var price: Double
    /// From 1 to 100.
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
}

/// How an app came to run.
public enum LaunchKind: UInt8, Sendable, CaseIterable {
    case cold = 0
    case background = 1
    case `return` = 2

    /// The kind's name on the command line.
    package var name: String { "\(self)" }
}

/// What a launch did with the pending items of one user.
public struct Flush: Hashable, Sendable {
    /// The position of the `appLaunched` to which it belongs.
    package var launch: Position
    /// 0, 1, 2 … within the launch and the user.
    package var chunk: UInt32
    /// The items made effective, in the order in which they take effect.
    package var flushed: [Position]
    /// The items that were not accepted, with the reason.
    package var rejected: [Rejection]
    /// Whether the flushed items were only handed to the SDK: they take effect when it sends them (`dataSent`).
    package var isQueued: Bool

    /// One refused item.
    package struct Rejection: Hashable, Sendable {
        /// The item's position.
        package var position: Position
        /// The reason.
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
    /// The items.
    package var positions: [Position]
    /// Who discarded them.
    package var actor: String
    /// The reason.
    package var reason: String

    /// `actor` discards the items at `positions` for `reason`.
    package init(positions: [Position], actor: String, reason: String) {
        self.positions = positions
        self.actor = actor
        self.reason = reason
    }
}
