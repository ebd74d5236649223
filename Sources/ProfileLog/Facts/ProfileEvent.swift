/// A fact about one user, without its place in the log.
public enum ProfileEvent: Hashable, Sendable {
    /// The user's first event.
    case userCreated([UserID])
    /// An anonymous user became known under further IDs.
    case userIdentified([UserID])
    /// The device is this user's from now on; before, it was that of `previous`.
    case userChanged(previous: UserNumber?)
    /// Nobody is on the device from now on; its next user is a new anonymous one.
    case userLoggedOut
    /// The user has a further alias.
    case aliasAdded(UserID)
    /// An alias has another name from now on; the old one leads to nobody.
    case aliasRenamed(from: UserID, to: UserID)
    /// The user is known under another external ID from now on; the old one still leads to them.
    case externalIDRenamed(from: UserID, to: UserID)
    /// An external ID that was renamed leads to nobody from now on.
    case externalIDRemoved(UserID)
    /// This user took over what another user's events add up to; the other's IDs lead here from now on.
    case usersMerged(Merge)

    /// The person was erased: the events before this one, and those of users who were merged into this one, have lost
    /// their content.
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
    case appLaunched(LaunchKind, lists: Set<PendingKind> = PendingKind.all)
    case appLeft
    case sessionStarted
    case sessionEnded(started: Position)
    case pendingFlushed(Flush)
    case pendingDiscarded(Discard)
    /// The SDK sent what it had taken: the events at these positions take effect, in this order.
    case dataSent([Position])
    case deviceChanged(DeviceSettings)

    /// What a request left out; about nothing that the user has.
    case objectsLeftOut([LeftOut])

    /// A kind whose content this program does not read, or an event whose content was erased.
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

/// Which user's events went into another's.
public struct Merge: Hashable, Sendable {
    /// The user who is no more.
    package var source: UserNumber
    /// How many events the source had.
    package var version: Version
    /// The source's IDs that lead to the target from now on.
    package var identities: [UserID]
    /// The source's other IDs, which lead to nobody from now on.
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
    /// What was said about it, in ascending order of keys. No properties and empty properties are two things.
    public var properties: [AttributeValue.Member]?

    /// Makes the event `name` with `properties`.
    public init(name: Name, properties: [AttributeValue.Member]? = nil) {
        self.name = name
        self.properties = properties
    }
}

/// What becomes of one custom attribute.
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

/// What becomes of one standard user attribute: a new value, or `.null`, which unsets it.
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
    /// Adds to an integer; a missing attribute starts at 0, one that is no integer stays as it is.
    case increment(Int64)
    /// Appends to an array without doubling: a value that is there already moves to the end.
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

    /// Which objects of an array are meant.
    public struct ObjectMatch: Hashable, Sendable {
        /// The member to compare.
        package var key: Name
        /// What it must be.
        package var value: AttributeValue

        /// Matches objects whose `key` is `value`.
        package init(key: Name, value: AttributeValue) {
            self.key = key
            self.value = value
        }
    }

    /// What such objects become.
    public struct ObjectUpdate: Hashable, Sendable {
        /// Which objects.
        package var match: ObjectMatch
        /// Their new members.
        package var object: [AttributeValue.Member]

        /// Gives the objects that `match` meets the members of `object`.
        package init(match: ObjectMatch, object: [AttributeValue.Member]) {
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

/// What a launch did with items that waited, of one user.
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
        /// Why.
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

/// Items that will never be flushed, because somebody said so.
public struct Discard: Hashable, Sendable {
    /// The items.
    package var positions: [Position]
    /// Who discarded them.
    package var actor: String
    /// Why.
    package var reason: String

    /// `actor` discards the items at `positions` for `reason`.
    package init(positions: [Position], actor: String, reason: String) {
        self.positions = positions
        self.actor = actor
        self.reason = reason
    }
}
