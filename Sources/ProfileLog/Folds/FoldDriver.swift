/// The work of a fold on the events that its driver hands it.
///
/// A projection is one (`ProjectionFold`); others fold a state of their own and note more than a state tells.
@usableFromInline
package protocol EventFold {
    associatedtype State
    /// The state before a user's first event.
    var initial: State { get }
    /// Tells whether no later event matters: then the fold of the user ends.
    var isDone: Bool { get }
    /// Folds one event in. `rules` are those that held for it; nil if there were never any.
    mutating func apply(_ event: borrowing EventView, to state: inout State, under rules: BoundRules?) throws
    /// Adds the state of the user that `event` merges, before the event itself is applied.
    mutating func merge(
        _ source: State, into target: inout State, by event: borrowing EventView, under rules: BoundRules?) throws
    /// Skips an event that the one at position `void` made void.
    mutating func skip(
        _ event: borrowing EventView, void: UInt64, _ state: inout State, under rules: BoundRules?) throws
    /// The positions of a merged user's events in the order in which they are folded, without those that are not.
    mutating func ordered(_ positions: [UInt64]) throws -> [UInt64]
}

extension EventFold {
    /// Folds all events.
    @inlinable package var isDone: Bool { false }
    /// Does nothing.
    @inlinable
    @inline(__always)
    package mutating func skip(
        _ event: borrowing EventView, void: UInt64, _ state: inout State, under rules: BoundRules?
    ) {}
    /// Orders events by their recording.
    @inlinable
    @inline(__always)
    package mutating func ordered(_ positions: [UInt64]) -> [UInt64] { positions }
}

/// The fold of a projection.
@usableFromInline
package struct ProjectionFold<P: Projection>: EventFold {
    @inlinable
    @inline(__always)
    package init() {}

    @inlinable package var initial: P.State {
        @inline(__always) get { P.initial }
    }

    @inlinable
    @inline(__always)
    package func apply(_ event: borrowing EventView, to state: inout P.State, under rules: BoundRules?) {
        if let rules { P.apply(event, to: &state, under: rules) } else { P.apply(event, to: &state) }
    }

    @inlinable
    @inline(__always)
    package func merge(
        _ source: P.State, into target: inout P.State, by event: borrowing EventView, under rules: BoundRules?
    ) {
        if let rules { P.merge(source, into: &target, under: rules) } else { P.merge(source, into: &target) }
    }
}

/// The source of a fold's records: a view of a log.
@usableFromInline
package protocol FoldSource {
    /// The header of the record at `position`.
    func header(at position: UInt64) throws -> RecordHeader
    /// The events that the `usersMerged` event at `position` takes over; nil if it was erased.
    func mergedPositions(_ header: RecordHeader, _ position: UInt64) throws -> [UInt64]?
    /// Begins to load the records at `positions` from `index` on: called at each index, in order.
    func prefetch(_ positions: [UInt64], _ index: Int)
}

/// The one driver of every fold. It knows the order of the events, which of them are skipped, and by which rules each
/// is folded; an `EventFold` knows what an event does.
///
/// ```swift
/// var fold = ProjectionFold<ProfileProjection>()
/// let state = try driver.state(after: positions, &fold, from: view)
/// ```
@usableFromInline
package struct FoldDriver: Sendable {
    @usableFromInline let names: NameTable
    @usableFromInline let rules: RulesTimeline?
    /// The events to skip; nil if it is not known whether there are any.
    @usableFromInline package var voided: VoidedEvents?

    /// A driver of folds in a store with these names.
    ///
    /// - Parameters:
    ///   - rules: which hold for which events; nil if there were never any.
    ///   - voided: the events to skip; nil if it is not known whether there are any.
    package init(names: NameTable, rules: RulesTimeline?, skipping voided: VoidedEvents? = nil) {
        (self.names, self.rules, self.voided) = (names, rules, voided)
    }

    /// Calls `body` with an event as a fold sees it, and with the rules that held for it; nil if there were never any.
    /// In a fold by device, `device` is the device of the state.
    @inlinable
    @inline(__always)
    package func withEvent<Result>(
        _ header: RecordHeader, at position: UInt64, device: Name? = nil,
        _ body: (borrowing EventView, BoundRules?) throws -> Result
    ) rethrows -> Result {
        let event = EventView(
            header: header, position: Position(rawValue: position), names: names, device: device)
        if let rules { return try body(event, rules.rules(at: position)) }
        return try body(event, nil)
    }

    /// As `withEvent`, for each device that the event is about.
    package func forEachDevice(
        of header: RecordHeader, at position: UInt64,
        _ body: (Name, borrowing EventView, BoundRules?) throws -> Void
    ) rethrows {
        var devices: [Name] = []
        withEvent(header, at: position) { event, _ in devices = event.devices }
        for device in devices {
            try withEvent(header, at: position, device: device) { try body(device, $0, $1) }
        }
    }

    /// Folds the events at `positions`, of one user, into `state`, at each merge after those of the user who was
    /// merged. Skips what is void.
    ///
    /// A chain of merges may be as long as the number of users, so waiting folds are in an array and not on the stack.
    /// Takes memory for the positions of all of these users, and a state for each link.
    ///
    /// If the void events are not known, it ends at the first event that voids or unvoids another, and returns false:
    /// `state` is then unusable. Which events to skip must be known before the fold.
    @inlinable
    @inline(__always)
    package func fold<Fold: EventFold>(
        _ positions: [UInt64], into state: inout Fold.State, _ fold: inout Fold, from source: some FoldSource
    ) throws -> Bool {
        var waiting: [(positions: [UInt64], next: Int, state: Fold.State)] = []
        var (positions, next) = (positions, 0)
        // Whether the merge at `next` is already folded in.
        var isMerged = false
        while true {
            guard next < positions.count else {
                guard var resumed = waiting.popLast() else { return true }
                let merge = resumed.positions[resumed.next]
                try withEvent(source.header(at: merge), at: merge) {
                    try fold.merge(state, into: &resumed.state, by: $0, under: $1)
                }
                (positions, next, state) = resumed
                isMerged = true
                continue
            }
            let position = positions[next]
            source.prefetch(positions, next)
            let header = try source.header(at: position)
            if header.kindNumber == EventKind.usersMerged.rawValue, !isMerged,
                let merged = try source.mergedPositions(header, position)
            {
                waiting.append((positions, next, state))
                (positions, next, state) = (try fold.ordered(merged), 0, fold.initial)
                continue
            }
            next += 1
            isMerged = false
            if let voided {
                if let void = voided.void(of: position) {
                    try withEvent(header, at: position) { try fold.skip($0, void: void, &state, under: $1) }
                    continue
                }
            } else if header.isVoiding {
                return false
            }
            try withEvent(header, at: position) { try fold.apply($0, to: &state, under: $1) }
            if fold.isDone { return true }
        }
    }

    /// The state after the events at `positions`, of one user from the first one on, whether or not some are void.
    @inlinable
    package func state<Fold: EventFold>(
        after positions: [UInt64], _ fold: inout Fold, from source: some FoldSource
    ) throws -> Fold.State {
        var state = fold.initial
        if try !self.fold(positions, into: &state, &fold, from: source) {
            state = fold.initial
            var driver = self
            driver.voided = try source.voidedEvents(among: positions)
            _ = try driver.fold(positions, into: &state, &fold, from: source)
        }
        return state
    }

    /// Merges into `state` the state of the user that the `usersMerged` event at `position` names: their stream, folded
    /// from its start.
    @inlinable
    package func merge<Fold: EventFold>(
        _ header: RecordHeader, at position: UInt64, into state: inout Fold.State, _ fold: inout Fold,
        from source: some FoldSource
    ) throws {
        guard let positions = try source.mergedPositions(header, position) else { return }
        let merged = try self.state(after: fold.ordered(positions), &fold, from: source)
        try withEvent(header, at: position) { try fold.merge(merged, into: &state, by: $0, under: $1) }
    }
}

/// The states of many users, folded in the order of the log: one thread's share of them.
@usableFromInline
package struct UserLane<Fold: EventFold> {
    /// The states by slot.
    @usableFromInline package var states: [Fold.State] = []
    /// The number of events that each state has seen.
    @usableFromInline package var versions: [UInt64] = []
    /// The slots of users with an event that voids or unvoids another: to be folded again, when it is known what to
    /// skip.
    @usableFromInline package var voided: Set<Int> = []

    @inlinable
    package init() {}

    /// Folds one event into the state of its user, which is in `slot`. `merge` adds the state of the user that it
    /// merges.
    @inlinable
    @inline(__always)
    package mutating func fold(
        _ header: RecordHeader, at position: UInt64, slot: Int, _ fold: inout Fold, _ driver: FoldDriver,
        merge: (inout Fold, inout Fold.State) throws -> Void
    ) throws {
        let version = slot < versions.count ? versions[slot] : 0
        guard header.version == version + 1 else {
            throw StorageError.damaged(place: "version \(version + 1) of user \(header.user) is missing")
        }
        while states.count <= slot {
            states.append(fold.initial)
            versions.append(0)
        }
        versions[slot] = header.version
        if header.isVoiding { voided.insert(slot) }
        if !voided.isEmpty, voided.contains(slot) { return }
        if header.kindNumber == EventKind.usersMerged.rawValue { try merge(&fold, &states[slot]) }
        try driver.withEvent(header, at: position) { try fold.apply($0, to: &states[slot], under: $1) }
    }
}
