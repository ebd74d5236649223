/// What kind of fact an event is. The numbers are stored (record.proto) and never change their meaning.
public enum EventKind: UInt8, Sendable, CaseIterable {
    case userCreated = 1
    case userIdentified = 2
    case userChanged = 3
    case aliasAdded = 4
    case usersMerged = 5
    case externalIDRenamed = 6
    case userErased = 7
    case userLoggedOut = 8
    case aliasRenamed = 9

    case customEventSaved = 10
    case customAttributesSaved = 11
    case userAttributeSaved = 12

    case customEventLogged = 20
    case customAttributesChanged = 21
    case userAttributesChanged = 22
    case purchaseLogged = 23
    /// As the four kinds before: the SDK has taken the event and not sent it yet.
    case customEventQueued = 24
    case customAttributesQueued = 25
    case userAttributesQueued = 26
    case purchaseQueued = 27

    case appLaunched = 30
    case pendingFlushed = 31
    case pendingDiscarded = 32
    case sessionStarted = 33
    case sessionEnded = 34
    case appLeft = 35
    case dataSent = 36
    case deviceChanged = 37

    case objectsLeftOut = 51

    case externalIDRemoved = 60

    /// Never stored: any kind that this program does not know because a newer program wrote it.
    case unknown = 0

    /// The kind's name, as in the JSON forms.
    package var name: String { "\(self)" }

    /// The kind with this name.
    package init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }

    /// Of a logged kind: the same while the SDK has not sent it yet.
    package var queued: EventKind? {
        switch self {
        case .customEventLogged: .customEventQueued
        case .customAttributesChanged: .customAttributesQueued
        case .userAttributesChanged: .userAttributesQueued
        case .purchaseLogged: .purchaseQueued
        default: nil
        }
    }

    /// Of a queued kind: what it is after it was sent.
    package var unqueued: EventKind? {
        switch self {
        case .customEventQueued: .customEventLogged
        case .customAttributesQueued: .customAttributesChanged
        case .userAttributesQueued: .userAttributesChanged
        case .purchaseQueued: .purchaseLogged
        default: nil
        }
    }

    /// Whether it waits on a device for a launch.
    package var isSaved: Bool {
        switch self {
        case .customEventSaved, .customAttributesSaved, .userAttributeSaved: true
        default: false
        }
    }
}

/// The three lists in which the published guide keeps pending items, in the order in which a launch flushes them.
public enum PendingKind: UInt8, Sendable, CaseIterable, Comparable {
    case customEvents = 1
    case customAttributes = 2
    case userAttributes = 3

    /// The list of a saved kind; nil for other kinds.
    package init?(_ kind: EventKind) {
        switch kind {
        case .customEventSaved: self = .customEvents
        case .customAttributesSaved: self = .customAttributes
        case .userAttributeSaved: self = .userAttributes
        default: return nil
        }
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

    /// In the order of the flush.
    public static func < (left: PendingKind, right: PendingKind) -> Bool { left.rawValue < right.rawValue }
}
