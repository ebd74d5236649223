/// A fact about one user, without its place in the log.
public enum ProfileEvent: Hashable, Sendable {
    /// The user's first event.
    case userCreated([UserID])
    /// An anonymous user became known under further IDs.
    case userIdentified([UserID])
    /// Another user comes to the device; before, it was `previous`.
    case userChanged(previous: UserNumber?)
    /// No user is on the device from now on. The next one is a new anonymous user.
    case userLoggedOut
    /// The app was removed from the device, with its storages and its user; the next launch installs it again.
    case appRemoved
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

    /// An earlier event of the user is void: folds skip it from now on.
    case eventVoided(Voiding)
    /// A voided event counts again.
    case eventUnvoided(Voiding)

    /// The rules by which later events are folded, as a document (`FoldRules`). An event of the system.
    case rulesChanged([AttributeValue.Member])

    /// Parts of a request that were skipped; it changes nothing of the user.
    case objectsLeftOut([ObjectRefusal])

    /// A message went one step further, or no further. Each stage is a kind.
    indirect case message(MessageStep)

    /// A kind that this program does not know, or an event whose content was erased.
    case other(EventKind)

    /// The kind of fact.
    public var kind: EventKind {
        switch self {
        case .userCreated: .userCreated
        case .userIdentified: .userIdentified
        case .userChanged: .userChanged
        case .userLoggedOut: .userLoggedOut
        case .appRemoved: .appRemoved
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
        case .eventVoided: .eventVoided
        case .eventUnvoided: .eventUnvoided
        case .rulesChanged: .rulesChanged
        case .objectsLeftOut: .objectsLeftOut
        case .message(let step): step.stage.kind
        case .other(let kind): kind
        }
    }
}

/// The statement of an event about its user's profile.
public enum EventContent: Hashable, Sendable {
    case customEvent(CustomEvent)
    case customAttributes([AttributeChange])
    case userAttributes([UserAttributeChange])
    case purchase(Purchase)
}

extension ProfileEvent {
    /// The statement about the profile, whether it is saved, logged or queued; nil if that is nothing.
    package var content: EventContent? {
        switch self {
        case .customEventSaved(let event), .customEventLogged(let event): .customEvent(event)
        case .customAttributesSaved(let changes), .customAttributesChanged(let changes): .customAttributes(changes)
        case .userAttributeSaved(let change): .userAttributes([change])
        case .userAttributesChanged(let changes): .userAttributes(changes)
        case .purchaseLogged(let purchase): .purchase(purchase)
        case .queued(let event): event.content
        case .userCreated, .userIdentified, .userChanged, .userLoggedOut, .aliasAdded, .aliasRenamed,
            .externalIDRenamed, .externalIDRemoved, .usersMerged, .userErased, .appLaunched, .appLeft, .sessionStarted,
            .sessionEnded, .pendingFlushed, .pendingDiscarded, .dataSent, .deviceChanged, .appRemoved, .eventVoided,
            .eventUnvoided, .objectsLeftOut, .rulesChanged, .message, .other:
            nil
        }
    }
}

/// The kind of fact that an event is. The numbers are stored (record.proto) and never change their meaning.
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
    case appRemoved = 38

    case eventVoided = 40
    case eventUnvoided = 41

    case objectsLeftOut = 51
    case rulesChanged = 52

    case externalIDRemoved = 60

    case messageSent = 70
    case messageNotSent = 71
    case pushReceived = 72
    case pushNotReceived = 73
    case pushCaptured = 74
    case pushExpanded = 75
    case pushOpened = 76
    case pushActionChosen = 77
    case pushDismissed = 78
    case pushProcessed = 79

    case inAppMessageShown = 80
    case inAppMessageWaiting = 81
    case inAppMessageIgnored = 82
    case inAppMessageDiscarded = 83
    case inAppMessageClicked = 84
    case inAppMessageClosed = 85

    case messageScheduled = 86
    case messageUnscheduled = 87

    /// A value that is never stored: any kind that this program does not know because a newer program wrote it.
    case unknown = 0

    /// The kind's name, as in the JSON forms.
    package var name: String { Self.names[self] }

    /// The kind with this name.
    package init?(name: String) {
        guard let kind = Self.names[named: name] else { return nil }
        self = kind
    }

    private static let names = CaseNames<EventKind>()

    /// The kind in words, for tables.
    package var words: String {
        Self.otherWords[self]
            ?? name.camelWords.filter { $0 != "custom" }.joined(separator: " ").replacing("in app", with: "in-app")
    }

    /// Words that are not those of the name.
    private static let otherWords: [EventKind: String] = [
        .customEventLogged: "event", .customAttributesChanged: "attributes", .userAttributesChanged: "user attributes",
        .purchaseLogged: "purchase", .userLoggedOut: "logged out", .deviceChanged: "device set up",
        .objectsLeftOut: "parts refused",
    ]

    /// The subject of the events of this kind: folds, indexes and filters decide by it.
    @inlinable package var role: EventRole {
        switch self {
        case .userCreated: .identity(.created)
        case .userIdentified: .identity(.identified)
        case .aliasAdded, .aliasRenamed, .externalIDRenamed, .externalIDRemoved: .identity(.renamed)
        case .usersMerged: .identity(.merged)
        case .userErased: .identity(.erased)

        case .customEventSaved: .content(.customEvent, .saved)
        case .customAttributesSaved: .content(.customAttributes, .saved)
        case .userAttributeSaved: .content(.userAttributes, .saved)
        case .customEventLogged: .content(.customEvent, .logged)
        case .customAttributesChanged: .content(.customAttributes, .logged)
        case .userAttributesChanged: .content(.userAttributes, .logged)
        case .purchaseLogged: .content(.purchase, .logged)
        case .customEventQueued: .content(.customEvent, .queued)
        case .customAttributesQueued: .content(.customAttributes, .queued)
        case .userAttributesQueued: .content(.userAttributes, .queued)
        case .purchaseQueued: .content(.purchase, .queued)

        case .userChanged: .device(.userChanged)
        case .userLoggedOut: .device(.userLoggedOut)
        case .appLaunched: .device(.launched)
        case .appLeft: .device(.left)
        case .sessionStarted: .device(.sessionStarted)
        case .sessionEnded: .device(.sessionEnded)
        case .deviceChanged: .device(.settings)
        case .appRemoved: .device(.removed)

        case .pendingFlushed: .outcome(.flushed)
        case .dataSent: .outcome(.sent)
        case .pendingDiscarded: .outcome(.discarded)

        case .messageSent: .message(.sent)
        case .messageNotSent: .message(.notSent)
        case .pushReceived: .message(.received)
        case .pushNotReceived: .message(.notReceived)
        case .pushCaptured: .message(.captured)
        case .pushExpanded: .message(.expanded)
        case .pushOpened: .message(.opened)
        case .pushActionChosen: .message(.actionChosen)
        case .pushDismissed: .message(.dismissed)
        case .pushProcessed: .message(.processed)
        case .inAppMessageShown: .message(.shown)
        case .inAppMessageWaiting: .message(.waiting)
        case .inAppMessageIgnored: .message(.ignored)
        case .inAppMessageDiscarded: .message(.discarded)
        case .inAppMessageClicked: .message(.clicked)
        case .inAppMessageClosed: .message(.closed)
        case .messageScheduled: .message(.scheduled)
        case .messageUnscheduled: .message(.unscheduled)

        case .eventVoided, .eventUnvoided, .objectsLeftOut, .rulesChanged, .unknown: .note
        }
    }

    /// The kind of the same fact while the SDK has not sent it yet; nil for all but logged kinds.
    package var queued: EventKind? {
        switch self.role {
        case .content(.customEvent, .logged): .customEventQueued
        case .content(.customAttributes, .logged): .customAttributesQueued
        case .content(.userAttributes, .logged): .userAttributesQueued
        case .content(.purchase, .logged): .purchaseQueued
        case .content(_, .saved), .content(_, .queued), .identity, .device, .outcome, .message, .note: nil
        }
    }

    /// Tells whether it waits on a device for a launch.
    package var isSaved: Bool { if case .content(_, .saved) = role { true } else { false } }

    /// Tells whether it takes effect at once.
    package var isLogged: Bool { if case .content(_, .logged) = role { true } else { false } }

    /// Tells whether the SDK has taken it and not sent it yet.
    package var isQueued: Bool { if case .content(_, .queued) = role { true } else { false } }
}

/// The subject of the events of a kind. The folds, the indexes of the log, filters and what-if switch over the role to
/// decide which events matter to them, without `default`. So a new kind takes part there with one line in
/// `EventKind.role`, and a new role or content does not compile until each of them has decided about it
/// (docs/adding-an-event.md). Code about one fact, such as a push token or a correction, matches that fact.
///
/// | role | profile | usage | catalogue | devices | identities |
/// |---|---|---|---|---|---|
/// | `identity` | created, identified, merged | identified, merged | | created, identified, merged | all |
/// | `content` | when effective | when effective | when effective, if `isCatalogued` | saved, queued | |
/// | `device` | launched, sessions | launched, sessions | | all | |
/// | `outcome` | all | flushed, sent | | all | |
/// | `message` | | | | | |
/// | `note` | | | | | |
@usableFromInline
package enum EventRole: Hashable, Sendable {
    /// IDs with the users that they lead to.
    case identity(Identity)
    /// Something of a user's profile: what, and when it takes effect.
    case content(Content, EventTiming)
    /// The state of a device, its user and its app.
    case device(Device)
    /// The outcome of saved and queued events.
    case outcome(Outcome)
    /// A message on its way to a screen.
    case message(MessageStep.Stage)
    /// Changes no state by itself. `eventVoided` and `eventUnvoided` decide which other events a fold by user skips,
    /// `rulesChanged` how later events are folded.
    case note

    @usableFromInline
    package enum Identity: Sendable { case created, identified, renamed, merged, erased }

    @usableFromInline
    package enum Content: Sendable, CaseIterable {
        case customEvent, customAttributes, userAttributes, purchase

        /// Tells whether the catalogue counts it.
        @inlinable package var isCatalogued: Bool {
            switch self {
            case .customEvent, .customAttributes, .purchase: true
            case .userAttributes: false
            }
        }

        /// The list in which it waits while it is saved; nil if it cannot be saved.
        package var list: PendingKind? {
            switch self {
            case .customEvent: .customEvents
            case .customAttributes: .customAttributes
            case .userAttributes: .userAttributes
            case .purchase: nil
            }
        }
    }

    @usableFromInline
    package enum Device: Sendable {
        case userChanged, userLoggedOut, launched, left, sessionStarted, sessionEnded, settings, removed
    }

    @usableFromInline
    package enum Outcome: Sendable { case flushed, sent, discarded }
}

/// The way by which something of a user's profile came to the log.
@usableFromInline
package enum EventTiming: Sendable {
    /// Waits on a device for a launch.
    case saved
    /// Effective at once.
    case logged
    /// Taken by an SDK that has not sent it yet.
    case queued
}

// MARK: - Rules

extension ProfileEvent {
    /// Refuses an event that must never be in a log, from any source.
    package func check() throws(AppendError) {
        switch self {
        case .customEventSaved(let event), .customEventLogged(let event):
            try Validation.check(name: event.name, "The event's name")
            try Validation.check(properties: event.properties)
        case .purchaseLogged(let purchase): try Validation.check(purchase)
        case .customAttributesSaved(let changes), .customAttributesChanged(let changes):
            try Validation.check(changes)
        case .userAttributeSaved(let change): try Validation.check(change)
        case .userAttributesChanged(let changes): try Validation.check(changes)
        case .message(let step): try Validation.check(step)
        case .other(let kind):
            throw .invalid(place: "An event of kind \(kind.name)", reason: "is no event without its content")
        case .userCreated, .userIdentified, .userChanged, .userLoggedOut, .aliasAdded, .aliasRenamed,
            .externalIDRenamed, .externalIDRemoved, .usersMerged, .userErased, .queued, .appLaunched, .appLeft,
            .sessionStarted, .sessionEnded, .pendingFlushed, .pendingDiscarded, .dataSent, .deviceChanged, .appRemoved,
            .eventVoided, .eventUnvoided, .objectsLeftOut, .rulesChanged:
            throw .invalid(place: "An event of kind \(kind.name)", reason: "is made by the log alone")
        }
    }

    /// The reason why the SDK refuses it: the place and the reason; nil if it accepts it.
    package var refusalBySDK: (place: String, reason: String)? {
        switch content {
        case .customEvent(let event): SDKRules.refusal(of: event)
        case .customAttributes(let changes): SDKRules.refusal(of: changes)
        case .userAttributes(let changes): SDKRules.refusal(of: changes)
        case .purchase(let purchase): SDKRules.refusal(of: purchase.properties)
        case nil: nil
        }
    }

    /// Tells whether it is about a custom event, a product, an attribute or a message with this name.
    package func isAbout(_ name: Name) -> Bool {
        switch content {
        case .customEvent(let event): return event.name == name
        case .customAttributes(let changes): return changes.contains { $0.name == name }
        case .userAttributes(let changes): return changes.contains { $0.attribute.name == name.text }
        case .purchase(let purchase): return purchase.product == name
        case nil:
            guard case .message(let step) = self else { return false }
            return step.message == name
        }
    }

    /// Tells whether it changes the attribute `field`, or with a path as in `address.city` a part of an attribute.
    package func changes(_ field: Name) -> Bool {
        switch content {
        case .customAttributes(let changes): changes.contains { $0.changes(field) }
        case .userAttributes(let changes): changes.contains { $0.attribute.name == field.text }
        case .customEvent, .purchase, nil: false
        }
    }
}

extension AttributeChange {
    /// Tells whether it changes `field`: this attribute, or a path that begins with it.
    fileprivate func changes(_ field: Name) -> Bool {
        if name == field { return true }
        guard field.text.hasPrefix(name.text + ".") else { return false }
        guard case .objectMerge(let members) = operation else { return true }
        // The members that a merge does not have stay.
        var value = AttributeValue.object(members)
        for key in field.text.dropFirst(name.text.count + 1).split(separator: ".") {
            guard case .object = value else { return true }
            guard let member = value[Name(String(key))] else { return false }
            value = member
        }
        return true
    }
}
