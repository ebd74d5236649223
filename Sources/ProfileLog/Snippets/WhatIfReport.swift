/// The outcome that a policy would have had for the items of a history, counted.
package struct WhatIfReport: Hashable, Sendable {
    /// Items that were saved.
    package private(set) var items = 0
    /// Users of these items. A merged user counts as the canonical user.
    package var users: Int { itemUsers.count }
    /// Devices on which they were saved.
    package var devices: Int { itemDevices.count }
    /// Items that reached the SDK once, exact, in order, with their user and time.
    package private(set) var deliveredRight = 0
    /// Items with a deviation. They are in none of the counts below.
    package private(set) var affected = 0
    /// Users of affected items.
    package var affectedUsers: Int { usersAffected.count }
    /// Items that the SDK refused, which the app saw: they are there to be repaired.
    package private(set) var rejected = 0
    /// Items that wait for a launch when the history ends.
    package private(set) var waiting = 0
    /// Items that wait where the app does not look: in the storage of another process, or of an app group that the app
    /// lacks.
    package private(set) var stranded = 0
    /// Items that a user or a program gave up.
    package private(set) var discarded = 0

    /// Items and users that each fault met, counted. What it did not meet is not here.
    package private(set) var byFault: [Fault: Count] = [:]
    /// Items that suffered each effect, counted.
    package private(set) var byEffect: [FaultEffect: Int] = [:]
    /// Custom events and attributes that the app's SDK logged, each a call of it.
    package private(set) var calls = 0
    /// Calls that each quirk of the tag manager's providers would have changed, counted.
    package private(set) var callsByQuirk: [TagQuirk: Int] = [:]
    /// The first affected items, by position.
    package private(set) var affectedItems: [AffectedItem] = []
    /// The most `affectedItems` that are kept.
    package let mostItems: Int

    /// The last position that was played.
    package internal(set) var position = Position.start
    /// Tells whether the history was played to its end; false if the caller stopped it.
    package internal(set) var isComplete = true
    /// Launches and settings of erased users, and their discards where a reset takes more than was given up. They are
    /// not played, as their devices are not known any more.
    package internal(set) var unplayed = 0
    /// Launches of erased users that are played as cold ones of all lists: only what they flushed of others is known of
    /// them.
    package internal(set) var guessed = 0
    /// The processes that saved something in what was played.
    package internal(set) var processes: Set<Name> = []
    /// Names on the blocklist that something in what was played has.
    package internal(set) var blocklistMet: Set<Name> = []

    private var itemUsers: Set<UserNumber> = []
    private var itemDevices: Set<Name> = []
    private var usersAffected: Set<UserNumber> = []

    /// The items that one fault met.
    package struct Count: Hashable, Sendable {
        package fileprivate(set) var items = 0
        /// Items by effect.
        package fileprivate(set) var effects: [FaultEffect: Int] = [:]
        /// Users of these items.
        package var users: Int { userNumbers.count }
        fileprivate var userNumbers: Set<UserNumber> = []
    }

    /// An item with a deviation.
    package struct AffectedItem: Hashable, Sendable {
        /// The device on which it was saved.
        package let device: String
        /// The outcome of the item.
        package let outcome: PublishedOutcome
    }

    /// A report of nothing yet, which will keep `mostItems` affected items.
    init(mostItems: Int = 100) { self.mostItems = mostItems }

    /// Tells whether nothing differs.
    package var isEqual: Bool { affected == 0 }

    /// Counts a call of the SDK that these quirks would have changed.
    mutating func add(_ call: TagCall, changedBy quirks: Set<TagQuirk>) {
        calls += 1
        for quirk in quirks where quirk.changes(call) { callsByQuirk[quirk, default: 0] += 1 }
    }

    /// Counts what became of an item on `device`.
    mutating func add(_ outcome: PublishedOutcome, on device: String) {
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

        // Items come nearly in the order of their positions, so that the place of one is near the end.
        let place = (affectedItems.lastIndex { $0.outcome.item.position < outcome.item.position } ?? -1) + 1
        if place >= mostItems { return }
        affectedItems.insert(AffectedItem(device: device, outcome: outcome), at: place)
        if affectedItems.count > mostItems { affectedItems.removeLast() }
    }
}
