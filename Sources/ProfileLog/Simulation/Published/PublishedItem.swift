/// An item that a process saves on a device, as the history has it.
public struct PublishedItem: Hashable, Sendable {
    /// Where the history has it; no two items share one.
    public var position: Position
    /// Whose it is.
    public var user: UserNumber
    /// The process that saves it: the app or an extension.
    public var process: Name
    /// Where it is meant to lie.
    public var storage: DeviceStorage
    /// When it was saved, by the device's clock.
    public var savedAt: Timestamp
    /// What is saved.
    public var content: SavedContent

    /// Makes an item.
    public init(
        position: Position, user: UserNumber, process: Name, storage: DeviceStorage, savedAt: Timestamp,
        content: SavedContent
    ) {
        self.position = position
        self.user = user
        self.process = process
        self.storage = storage
        self.savedAt = savedAt
        self.content = content
    }
}

/// What an item says, and what the SDK is given of it.
public enum SavedContent: Hashable, Sendable {
    case event(CustomEvent)
    case attributes([AttributeChange])
    case userAttribute(UserAttributeChange)

    /// What `event` saves; nil if it is no saved item.
    public init?(_ event: ProfileEvent) {
        switch event {
        case .customEventSaved(let event): self = .event(event)
        case .customAttributesSaved(let changes): self = .attributes(changes)
        case .userAttributeSaved(let change): self = .userAttribute(change)
        default: return nil
        }
    }

    /// Whether the SDK refuses it as it is (`SDKRules`), as the store's own launches have it.
    var isRefusedBySDK: Bool {
        switch self {
        case .event(let event): SDKRules.refusal(of: .customEventSaved(event)) != nil
        case .attributes(let changes): SDKRules.refusal(of: .customAttributesSaved(changes)) != nil
        case .userAttribute(let change): SDKRules.refusal(of: .userAttributeSaved(change)) != nil
        }
    }

    /// The list for it.
    public var kind: PendingKind {
        switch self {
        case .event: .customEvents
        case .attributes: .customAttributes
        case .userAttribute: .userAttributes
        }
    }

    /// The names in it, without values: of the event, or of the attributes.
    public var names: [Name] {
        switch self {
        case .event(let event): [event.name]
        case .attributes(let changes): changes.map(\.name)
        case .userAttribute(let change): [Name(change.attribute.name)]
        }
    }
}
