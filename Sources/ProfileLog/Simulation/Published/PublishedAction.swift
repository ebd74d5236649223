/// What comes of an intent.
public enum PublishedAction: Hashable, Sendable {
    /// The SDK is given something.
    case delivered(Delivery)
    /// An item has left the device, or the history is over: nothing more happens to it.
    case settled(PublishedOutcome)
}

/// One call of the SDK for one item.
public struct Delivery: Hashable, Sendable {
    /// The item's position.
    public var item: Position
    /// Who gets it.
    public var user: UserNumber
    /// The time that it gets.
    public var time: Timestamp
    /// What the SDK is given.
    public var content: SavedContent
}

/// What became of an item.
public struct PublishedOutcome: Hashable, Sendable {
    /// The item.
    public var item: PublishedItem
    /// Where it ended.
    public var fate: Fate
    /// How often the SDK was given it.
    public var deliveries: Int
    /// Who got it last; nil if nobody did.
    public var receivedBy: UserNumber?
    /// When the SDK was given it last; nil if it never was.
    public var deliveredAt: Timestamp?
    /// What differs from `.standard`, in order and each once.
    public var deviations: [Deviation]

    /// Where an item ends.
    public enum Fate: String, Sendable, CaseIterable {
        case delivered, lost, discarded
        /// The SDK refused it, which was seen.
        case rejected
        /// It waits when the history ends.
        case waiting
        /// It waits where the app does not look, so that no launch flushes it.
        case stranded
    }
}
