/// An item that a process saves on a device, as the history has it.
package struct SavedItem: Hashable, Sendable {
    /// The position in the history; no two items share one.
    package let position: Position
    /// The user of the save.
    package let user: UserNumber
    /// The process that saves it: the app or an extension.
    package let process: Name
    /// The storage that it was saved for.
    package let storage: DeviceStorage
    /// The time at which it was saved, by the device's clock.
    package let savedAt: Timestamp
    package var content: SavedContent
}

/// The content of an item, and the part that the SDK is given.
package enum SavedContent: Hashable, Sendable {
    case event(CustomEvent)
    case attributes([AttributeChange])
    case userAttribute(UserAttributeChange)

    /// Reads the content that `event` saves; nil if it is no saved item.
    init?(_ event: ProfileEvent) {
        switch (PendingKind(event.kind), event) {
        case (.customEvents, .customEventSaved(let event)): self = .event(event)
        case (.customAttributes, .customAttributesSaved(let changes)): self = .attributes(changes)
        case (.userAttributes, .userAttributeSaved(let change)): self = .userAttribute(change)
        case (nil, _), (.customEvents, _), (.customAttributes, _), (.userAttributes, _): return nil
        }
    }

    /// Tells whether the SDK refuses it, by the rules of the store's own launches.
    var isRefusedBySDK: Bool {
        let refusal =
            switch self {
            case .event(let event): SDKRules.refusal(of: event)
            case .attributes(let changes): SDKRules.refusal(of: changes)
            case .userAttribute(let change): SDKRules.refusal(of: [change])
            }
        return refusal != nil
    }

    /// The list for it.
    package var kind: PendingKind {
        switch self {
        case .event: .customEvents
        case .attributes: .customAttributes
        case .userAttribute: .userAttributes
        }
    }

    /// The names in it, without values: of the event, or of the attributes.
    package var names: [Name] {
        switch self {
        case .event(let event): [event.name]
        case .attributes(let changes): changes.map(\.name)
        case .userAttribute(let change): [Name(change.attribute.name)]
        }
    }
}

/// The outcome of an item: its story so far as long as it lies on the device, and then the whole of it.
package struct PublishedOutcome: Hashable, Sendable {
    package let item: SavedItem
    /// The end of the item.
    package var fate = Fate.waiting
    /// The number of times that the SDK was given it.
    var deliveries = 0
    /// The user who got it last; nil if it was never delivered.
    package var receivedBy: UserNumber?
    /// The time at which the SDK was given it last, by the device's clock; nil if it never was.
    package var deliveredAt: Timestamp?
    /// Deviations from `.standard`; sorted once its fate is known.
    package var deviations: [Deviation] = []

    /// The end of an item.
    package enum Fate: String, Sendable, CaseIterable {
        case delivered, lost, discarded
        /// The SDK refused it, and the app saw that.
        case rejected
        /// The item waits when the history ends.
        case waiting
        /// The item waits where the app does not look, so that no launch flushes it.
        case stranded
    }

    mutating func note(_ fault: Fault, _ effect: FaultEffect) {
        let deviation = Deviation(fault, effect)
        if !deviations.contains(deviation) { deviations.append(deviation) }
    }
}
