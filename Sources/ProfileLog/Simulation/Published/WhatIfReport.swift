/// What a policy would have done to the items of a history, counted.
public struct WhatIfReport: Hashable, Sendable {
    /// Items that were saved.
    public private(set) var items = 0
    /// Users whose they are. Whoever was merged into another user counts as that one.
    public var users: Int { itemUsers.count }
    /// Items that reached the SDK once, exact, in order, with their user and time.
    public private(set) var deliveredRight = 0
    /// Items that fared differently from `.standard`.
    public private(set) var affected = 0
    /// Users of whom something did.
    public var affectedUsers: Int { usersAffected.count }
    /// Other items that the SDK refused, which was seen: they are there to be repaired.
    public private(set) var rejected = 0
    /// Other items that wait for a launch when the history ends.
    public private(set) var waiting = 0
    /// Other items that wait where the app does not look: in the storage of another process, or of an app group that the app lacks.
    public private(set) var stranded = 0
    /// Other items that somebody gave up.
    public private(set) var discarded = 0
    /// Devices on which they were saved.
    public var devices: Int { itemDevices.count }
    /// The last position that was played.
    public internal(set) var position = Position.start
    /// Whether the history was played to its end; false if the caller stopped it.
    public internal(set) var isComplete = true

    /// Launches and settings of people who were erased since, and their discards where a reset takes more than was given up. They are not
    /// played: on which device they were, nobody knows.
    public internal(set) var unplayed = 0
    /// Launches of people who were erased since that are played as cold ones of all lists: only what they flushed of others tells of them.
    public internal(set) var guessed = 0
    /// The processes that saved something in what was played.
    public internal(set) var processes: Set<Name> = []
    /// Names on the blocklist that something in what was played has.
    public internal(set) var blocklistMet: Set<Name> = []

    /// How many items and users each fault met. What it did not meet is not here.
    public private(set) var byFault: [Fault: Count] = [:]
    /// How many items suffered each effect.
    public private(set) var byEffect: [FaultEffect: Int] = [:]
    /// The first affected items, by position.
    public private(set) var affectedItems: [AffectedItem] = []
    /// How many `affectedItems` are kept.
    public let mostItems: Int

    private var itemUsers: Set<UserNumber> = []
    private var itemDevices: Set<Name> = []
    private var usersAffected: Set<UserNumber> = []

    /// What one fault met.
    public struct Count: Hashable, Sendable {
        /// Items.
        public fileprivate(set) var items = 0
        /// Items by effect.
        public fileprivate(set) var effects: [FaultEffect: Int] = [:]
        /// Users of these items.
        public var users: Int { userNumbers.count }
        fileprivate var userNumbers: Set<UserNumber> = []
    }

    /// A report of nothing yet, which will keep `mostItems` affected items.
    public init(mostItems: Int = 100) {
        self.mostItems = mostItems
    }

    /// Whether nothing differs.
    public var isEqual: Bool { affected == 0 }

    /// Counts what became of an item on `device`.
    public mutating func add(_ outcome: PublishedOutcome, on device: String) {
        let user = outcome.item.user
        items += 1
        itemUsers.insert(user)
        itemDevices.insert(Name(device))
        if outcome.deviations.isEmpty {
            switch outcome.fate {
            case .delivered: deliveredRight += 1
            case .discarded: discarded += 1
            case .rejected: rejected += 1
            case .waiting, .lost: waiting += 1
            case .stranded: stranded += 1
            }
            return
        }
        affected += 1
        usersAffected.insert(user)
        for effect in Set(outcome.deviations.map(\.effect)) { byEffect[effect, default: 0] += 1 }
        for fault in Set(outcome.deviations.map(\.fault)) {
            byFault[fault, default: Count()].items += 1
            byFault[fault]?.userNumbers.insert(user)
        }
        for deviation in outcome.deviations { byFault[deviation.fault]?.effects[deviation.effect, default: 0] += 1 }
        keep(outcome, on: device)
    }

    /// Items come nearly in the order of their positions, so that the place of one is near the end.
    private mutating func keep(_ outcome: PublishedOutcome, on device: String) {
        let position = outcome.item.position
        let isFull = affectedItems.count >= mostItems
        if isFull, affectedItems.last.map({ $0.position < position }) ?? true { return }
        let place = (affectedItems.lastIndex { $0.position < position } ?? -1) + 1
        affectedItems.insert(AffectedItem(outcome, on: device), at: place)
        if isFull { affectedItems.removeLast() }
    }
}

/// An item that fared differently, without its values.
public struct AffectedItem: Hashable, Sendable {
    /// Where the history has it.
    public var position: Position
    /// Whose it is: the user of the save, or into whom they were merged.
    public var user: UserNumber
    /// The device on which it was saved.
    public var device: String
    /// When it was saved, by the device's clock.
    public var savedAt: Timestamp
    /// When the SDK was given it last, by the device's clock; nil if it never was.
    public var deliveredAt: Timestamp?
    /// In which of the three lists.
    public var kind: PendingKind
    /// The names in it: of the event, or of the attributes.
    public var names: [Name]
    /// Where it ended.
    public var fate: PublishedOutcome.Fate
    /// Who got it last; nil if nobody did.
    public var receivedBy: UserNumber?
    /// What differs, in order.
    public var deviations: [Deviation]

    init(_ outcome: PublishedOutcome, on device: String) {
        self.device = device
        position = outcome.item.position
        user = outcome.item.user
        savedAt = outcome.item.savedAt
        deliveredAt = outcome.deliveredAt
        kind = outcome.item.content.kind
        names = outcome.item.content.names
        fate = outcome.fate
        receivedBy = outcome.receivedBy
        deviations = outcome.deviations
    }
}
