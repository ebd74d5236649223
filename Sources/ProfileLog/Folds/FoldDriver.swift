/// The work of a fold on the events that its driver hands it.
///
/// A projection is one (`ProjectionFold`); others fold a state of their own and note more than a state tells.
@usableFromInline
package protocol EventFold {
    associatedtype State
    /// Tells whether saved and queued events come again when they take effect; false for a fold that finds out itself
    /// what took effect.
    static var takesEffects: Bool { get }
    /// The state before a user's first event.
    var initial: State { get }
    /// Tells whether no later event matters: then the fold of the user ends.
    var isDone: Bool { get }
    /// Folds one event in; a saved or queued one when it takes effect (`EventView.effect`).
    mutating func apply(_ event: borrowing EventView, to state: inout State) throws
    /// Takes in that something was saved or queued, which has no effect yet.
    mutating func applyWaiting(_ item: borrowing EventView, to state: inout State) throws
    /// Adds the state of the user that `event` merges, before the event itself is applied.
    mutating func merge(_ source: State, into target: inout State, by event: borrowing EventView) throws
    /// Skips an event that the one at position `void` made void.
    mutating func skip(_ event: borrowing EventView, void: UInt64, _ state: inout State) throws
    /// The positions of a merged user's events in the order in which they are folded, without those that are not.
    mutating func ordered(_ positions: [UInt64]) throws -> [UInt64]
}

extension EventFold {
    /// Takes effects.
    @inlinable package static var takesEffects: Bool { true }
    /// Folds all events.
    @inlinable package var isDone: Bool { false }
    /// Does what `apply` does.
    @inlinable
    @inline(__always)
    package mutating func applyWaiting(_ item: borrowing EventView, to state: inout State) throws {
        try apply(item, to: &state)
    }
    /// Does nothing.
    @inlinable
    @inline(__always)
    package mutating func skip(_ event: borrowing EventView, void: UInt64, _ state: inout State) {}
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
    package func apply(_ event: borrowing EventView, to state: inout P.State) { P.apply(event, to: &state) }

    @inlinable
    @inline(__always)
    package func applyWaiting(_ item: borrowing EventView, to state: inout P.State) {
        P.applyWaiting(item, to: &state)
    }

    @inlinable
    @inline(__always)
    package func merge(_ source: P.State, into target: inout P.State, by event: borrowing EventView) {
        P.merge(source, into: &target, by: event)
    }
}

/// The source of a fold's records: a view of a log.
@usableFromInline
package protocol FoldSource {
    /// The header of the record at `position`.
    func header(at position: UInt64) throws -> RecordHeader
    /// The events that the `usersMerged` event at `position` takes over; nil if it was erased.
    func mergedPositions(_ header: RecordHeader, _ position: UInt64) throws -> [UInt64]?
    /// The statements that events are void or count again, after position `begin` and before `end`, in the stream of
    /// the user `owner` and of those who took these over.
    func voidChanges(by owner: UInt64, after begin: UInt64, before end: UInt64) throws -> [VoidChange]
    /// Begins to load the records at `positions` from `index` on: called at each index, in order.
    func prefetch(_ positions: [UInt64], _ index: Int)
}

/// The one driver of every fold. It knows the order of the events, when a saved or queued one takes effect, which of
/// them are skipped, and by which rules each is folded; an `EventFold` knows what an event does.
///
/// An outcome (`pendingFlushed`, `dataSent`) names its items by position. The fold gets these first, in the order of
/// the outcome, and then the outcome: no state needs a list of what waits.
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
    /// The first position of a fold that goes on: its states include earlier events, and this driver has not seen which
    /// of those are void. 0 if it has all events.
    @usableFromInline var begin: UInt64 = 0
    /// The voids among these, as far as the fold looked for them; nil if it has all events.
    @usableFromInline var earlier: EarlierVoids?

    /// A driver of folds in a store with these names.
    ///
    /// - Parameters:
    ///   - rules: which hold for which events; nil if there were never any.
    ///   - voided: the events to skip; nil if it is not known whether there are any.
    package init(names: NameTable, rules: RulesTimeline?, skipping voided: VoidedEvents? = nil) {
        (self.names, self.rules, self.voided) = (names, rules, voided)
    }

    /// The driver of folds that go on at position `begin`, with states that include earlier events.
    package func goingOn(at begin: UInt64) -> FoldDriver {
        var driver = self
        (driver.begin, driver.earlier) = (begin, EarlierVoids())
        return driver
    }

    /// Calls `body` with an event as a fold sees it, with the rules that hold for it. `effect` is the position at which
    /// it takes effect; nil for its own.
    @inlinable
    @inline(__always)
    package func withEvent<Result>(
        _ header: RecordHeader, at position: UInt64, effect: UInt64? = nil,
        _ body: (borrowing EventView) throws -> Result
    ) rethrows -> Result {
        let place = Position(rawValue: position)
        guard let rules else {
            return try body(
                EventView(header: header, position: place, names: names, effect: effect.map(Position.init(rawValue:))))
        }
        let bound = rules.rules(at: effect ?? position)
        return try withExtendedLifetime(bound) {
            try body(
                EventView(
                    header: header, position: place, names: names, effect: effect.map(Position.init(rawValue:)),
                    context: bound))
        }
    }

    /// Folds one event in, and before it what takes effect by it. `isFromStart` tells that the state has seen the
    /// events of its user from the first one on, also if the fold goes on.
    @inlinable
    @inline(__always)
    package func apply<Fold: EventFold>(
        _ header: RecordHeader, at position: UInt64, to state: inout Fold.State, _ fold: inout Fold,
        from source: some FoldSource, isFromStart: @autoclosure () -> Bool = false
    ) throws {
        if header.concernsItems, Fold.takesEffects {
            return try applyItems(header, at: position, to: &state, &fold, from: source, isFromStart())
        }
        try withEvent(header, at: position) { try fold.apply($0, to: &state) }
    }

    /// As `apply`, for events about saved and queued ones: out of line, as they are few.
    @inlinable
    @inline(never)
    package func applyItems<Fold: EventFold>(
        _ header: RecordHeader, at position: UInt64, to state: inout Fold.State, _ fold: inout Fold,
        from source: some FoldSource, _ isFromStart: Bool
    ) throws {
        guard header.isOutcome else {
            return try withEvent(header, at: position) { try fold.applyWaiting($0, to: &state) }
        }
        try forEachEffect(of: header, at: position, from: source, isFromStart: isFromStart) {
            try fold.apply($0, to: &state)
        }
        try withEvent(header, at: position) { try fold.apply($0, to: &state) }
    }

    /// Calls `body` with each saved or queued event that takes effect by the outcome at `position`, in its order, and
    /// is neither void nor erased.
    @inlinable
    @inline(never)
    package func forEachEffect(
        of header: RecordHeader, at position: UInt64, from source: some FoldSource, isFromStart: Bool = false,
        _ body: (borrowing EventView) throws -> Void
    ) throws {
        guard header.isOutcome, let items = header.effective(before: position), !items.isEmpty else { return }
        var unseen: VoidedEvents?
        if let earlier, !isFromStart {
            // A later statement that an item counts again holds, whatever was believed before it.
            let unknown = items.filter { $0 < begin && voided?.decides(about: $0) != true }
            if !unknown.isEmpty {
                unseen = try earlier.voidedEvents(
                    of: unknown, before: position, user: header.user, from: begin, source)
            }
        }
        for index in items.indices {
            source.prefetch(items, index)
            let item = items[index]
            if voided?.void(of: item) != nil || unseen?.void(of: item) != nil { continue }
            let header = try source.header(at: item)
            guard header.isItem, !header.isErased else { continue }
            try withEvent(header, at: item, effect: position, body)
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
                    try fold.merge(state, into: &resumed.state, by: $0)
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
                    try withEvent(header, at: position) { try fold.skip($0, void: void, &state) }
                    continue
                }
            } else if header.isVoiding {
                return false
            }
            // The stream of a merged user is folded from its start, and its voids are known.
            try apply(header, at: position, to: &state, &fold, from: source, isFromStart: !waiting.isEmpty)
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
    ///
    /// Returns false without a change if that stream has events that void or unvoid others, and it is not known which
    /// ones: they may concern items that take effect in the other stream.
    @inlinable
    package func merge<Fold: EventFold>(
        _ header: RecordHeader, at position: UInt64, into state: inout Fold.State, _ fold: inout Fold,
        from source: some FoldSource
    ) throws -> Bool {
        guard let positions = try source.mergedPositions(header, position) else { return true }
        var merged = fold.initial
        var driver = self
        (driver.begin, driver.earlier) = (0, nil)
        guard try driver.fold(fold.ordered(positions), into: &merged, &fold, from: source) else { return false }
        try withEvent(header, at: position) { try fold.merge(merged, into: &state, by: $0) }
        return true
    }
}

/// The states of many users, folded in the order of the log: one thread's share of them.
@usableFromInline
package struct UserLane<Fold: EventFold> {
    /// The states by slot.
    @usableFromInline package var states: [Fold.State] = []
    /// The number of events that each state has seen.
    @usableFromInline package var versions: [UInt64] = []
    /// The slots of users with an event that voids or unvoids another, also in the stream of a merged user: to be
    /// folded again, when it is known what to skip.
    @usableFromInline package var voided: Set<Int> = []

    @inlinable
    package init() {}

    /// Folds one event into the state of its user, which is in `slot`.
    @inlinable
    @inline(__always)
    package mutating func fold(
        _ header: RecordHeader, at position: UInt64, slot: Int, _ fold: inout Fold, _ driver: FoldDriver,
        from source: some FoldSource
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
        if header.kindNumber == EventKind.usersMerged.rawValue,
            try !driver.merge(header, at: position, into: &states[slot], &fold, from: source)
        {
            voided.insert(slot)
            return
        }
        try driver.apply(header, at: position, to: &states[slot], &fold, from: source)
    }
}
