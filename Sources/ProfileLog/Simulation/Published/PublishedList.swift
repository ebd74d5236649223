/// One of a device's lists: which of the three, and in whose reach.
struct ListKey: Hashable, Comparable {
    var container: Container
    var kind: PendingKind

    /// A place for lists in a device's preferences.
    enum Container: Hashable {
        /// The suite that every target in the group sees.
        case shared(group: Name)
        /// What a process outside the group gets under the group's name.
        case apart(process: Name, group: Name)
        /// The process's own `standard`.
        case standard(process: Name)

        fileprivate var order: (Int, Name, Name) {
            switch self {
            case .shared(let group): (0, group, "")
            case .apart(let process, let group): (1, group, process)
            case .standard(let process): (2, process, "")
            }
        }
    }

    /// In the order of a flush: by list, then by place.
    static func < (left: ListKey, right: ListKey) -> Bool {
        left.kind == right.kind ? left.container.order < right.container.order : left.kind < right.kind
    }
}

/// What one key of the preferences holds.
struct PublishedList {
    var entries: [Entry] = []
    /// How many updates of the app there had been when it was written last.
    var updates = 0

    /// One stored item.
    struct Entry: Hashable {
        var position: Position
        /// An event in the list of the attributes (1).
        var isMisplaced = false
    }
}

/// An item that is somewhere on the device.
struct OpenItem {
    let item: PublishedItem
    /// What of it could be stored.
    var content: SavedContent
    /// How many updates of the app there had been at its save.
    var updates: Int
    var deviations: [Deviation] = []
    /// `.standard` has delivered it by now.
    var isDue = false
    var deliveries = 0
    var receivedBy: UserNumber?
    /// When the SDK was given it last.
    var deliveredAt: Timestamp?
    /// The SDK has refused it, and that was seen.
    var isRejected = false
    /// Why the SDK was given nothing when a flush came to it.
    var failure: Fault?
    /// Why it is still stored although it was delivered.
    var repetition: Fault?

    var kind: PendingKind { item.content.kind }

    /// Whether a launch has decided about it.
    var isDone: Bool { deliveries > 0 || isRejected }

    /// What is to be said of it in the end: what a launch decided, whatever still lies there; `fate` if none did.
    func fate(else fate: PublishedOutcome.Fate) -> PublishedOutcome.Fate {
        deliveries > 0 ? .delivered : isRejected ? .rejected : fate
    }

    mutating func note(_ fault: Fault, _ effect: FaultEffect) { note(Deviation(fault, effect)) }

    mutating func note(_ deviation: Deviation) {
        if !deviations.contains(deviation) { deviations.append(deviation) }
    }

    func outcome(_ fate: PublishedOutcome.Fate) -> PublishedOutcome {
        PublishedOutcome(
            item: item, fate: fate, deliveries: deliveries, receivedBy: receivedBy, deliveredAt: deliveredAt,
            deviations: deviations.sorted())
    }
}
