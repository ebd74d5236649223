internal import Synchronization

/// The states of projections: their stored parts, and folds of the later events.
///
/// The state of one user is stored as a snapshot every so many events. A state over the whole store is stored in table
/// `checkpoints` with its position. It follows the caches, some events after each commit, without the write lock.
package struct StateStore: Sendable {
    let store: OpenStore

    // MARK: - Of one user

    /// Versions between two snapshots of a user that are kept for reads of the past, if the state is small.
    static let keptSnapshotInterval: UInt64 = 256
    /// Bytes that kept snapshots take for each event at most. With the room that LMDB leaves on their pages that is
    /// twice as much, and less than 15 % of the log.
    static let keptBytesPerEvent = 4

    /// Tells whether a snapshot of so many bytes is kept at `version`: at each multiple of the interval, and for a
    /// large state at each second, fourth, eighth … of them.
    static func isKept(_ version: UInt64, bytes: @autoclosure () -> Int) -> Bool {
        var interval = keptSnapshotInterval
        while version.isMultiple(of: interval) {
            if bytes() <= Int(interval) * keptBytesPerEvent { return true }
            interval *= 2
        }
        return false
    }

    /// Events after which a state that was folded on demand is stored.
    private static let longFold = 1024

    /// Writes a snapshot of each projection for `users`, at the view's end.
    ///
    /// A user with a damaged record gets none: readers of the user meet the damage, and the caches of all others go on.
    func writeSnapshots(of users: [UInt64], _ view: LogView, _ transaction: borrowing WriteTransaction) throws {
        // The streams are written, up to the view's end.
        var written = view
        written.checkpoint = view.last
        for user in users {
            let version = try view.version(of: user)
            for projection in store.projections where projection.scope == .user {
                var rows: [SnapshotChange] = []
                // Damage here is in a cache, which is rebuilt.
                do {
                    try addSnapshots(of: projection, user, version, written, to: &rows)
                } catch StorageError.damaged {}
                for row in rows { try row.apply(to: view.tables.snapshots, transaction) }
            }
        }
    }

    /// Adds to `rows` what brings the snapshots of `user` up to `version`; at damage, what comes before it.
    func addSnapshots<P: Projection>(
        of _: P.Type, _ user: UInt64, _ version: UInt64, _ view: LogView, to rows: inout [SnapshotChange]
    ) throws {
        let name = view.storedName(of: P.self)
        let earlier = try snapshot(P.self, user, upTo: version, view)
        if earlier?.version == version { return }
        var state = earlier?.state ?? P.initial
        var folded = earlier?.version ?? 0
        let from = folded + 1
        let positions = try view.positions(of: user, from: from, to: version)
        // Snapshots between the two are of another revision, or damaged.
        for key in try snapshotKeys(name, user, from: from, below: version, view) { rows.append(.init(key: key)) }
        while folded < version {
            let next = min(version, (folded / Self.keptSnapshotInterval + 1) * Self.keptSnapshotInterval)
            let part = Array(positions[Int(folded + 1 - from)...Int(next - from)])
            let base = folded == 0 ? nil : (version: folded, state: state)
            state = try foldedState(P.self, user, version: next, from: base, part, view).state
            folded = next
            let bytes = P.encode(state)
            guard folded == version || Self.isKept(folded, bytes: bytes.count) else { continue }
            rows.append(
                .init(
                    key: KeyCoding.snapshot(name, user: user, version: folded),
                    row: SnapshotRow.bytes(revision: P.revision, state: bytes)))
        }
        if let earlier, !Self.isKept(earlier.version, bytes: P.encode(earlier.state).count) {
            rows.append(.init(key: KeyCoding.snapshot(name, user: user, version: earlier.version)))
        }
    }

    /// The keys of a user's snapshots from version `from` to below `end`: a few, as one of 256 is kept.
    private func snapshotKeys(
        _ projection: String, _ user: UInt64, from: UInt64, below end: UInt64, _ view: LogView
    ) throws -> [[UInt8]] {
        let firstKey = KeyCoding.snapshot(projection, user: user, version: from)
        let endKey = KeyCoding.snapshot(projection, user: user, version: end)
        var keys: [[UInt8]] = []
        try view.forEachRow(of: view.tables.snapshots.table, from: firstKey) { row in
            let key = Array(row.key)
            guard key.lexicographicallyPrecedes(endKey) else { return false }
            keys.append(key)
            return true
        }
        return keys
    }

    /// The newest usable snapshot at or before `version`.
    package func snapshot<P: Projection>(
        _: P.Type, _ user: UInt64, upTo version: UInt64, _ view: LogView
    ) throws -> (version: UInt64, state: P.State)? {
        let name = view.storedName(of: P.self)
        let prefix = KeyCoding.snapshotPrefix(name, user: user)
        return try view.withCursor(view.tables.snapshots) { cursor in
            var row = try cursor.last(before: KeyCoding.snapshot(name, user: user, version: version + 1))
            while let found = row, found.key.count == prefix.count + 8, found.key.starts(with: prefix) {
                if let bytes = SnapshotRow.state(found.value, revision: P.revision), let state = P.decode(bytes) {
                    return (found.key.bigEndian64(at: prefix.count), state)
                }
                row = try cursor.previous()
            }
            return nil
        }
    }

    /// The driver of folds of what `view` sees.
    package func driver(_ view: LogView, skipping voided: VoidedEvents? = nil) throws -> FoldDriver {
        FoldDriver(names: store.names, rules: try rules(view), skipping: voided)
    }

    /// As `FoldDriver.fold`. `isFromStart` tells whether `state` has no events yet.
    @_specialize(where P == ProfileProjection)
    package func fold<P: Projection>(
        _: P.Type, _ positions: [UInt64], into state: inout P.State, isFromStart: Bool,
        skipping voided: VoidedEvents? = nil, _ view: LogView
    ) throws -> Bool {
        guard let first = positions.first else { return true }
        var fold = ProjectionFold<P>()
        var driver = try driver(view, skipping: voided)
        if !isFromStart { driver = driver.goingOn(at: first) }
        return try driver.fold(positions, into: &state, &fold, from: view)
    }

    /// The rules by which events in `view` are folded; nil if none were ever set.
    package func rules(_ view: LogView) throws -> RulesTimeline? { try store.rules.timeline(view) }

    /// The state of `user` after `version` of their events: nearest snapshot, and a fold of what follows.
    @_specialize(where P == ProfileProjection)
    package func state<P: Projection>(_: P.Type, _ user: UInt64, version: UInt64, _ view: LogView) throws -> P.State {
        try foldedState(P.self, user, version: version, view).state
    }

    /// As `state`, with the number of folded events.
    @_specialize(where P == ProfileProjection)
    func foldedState<P: Projection>(_: P.Type, _ user: UInt64, version: UInt64, _ view: LogView) throws -> UserFold<P> {
        let earlier = try snapshot(P.self, user, upTo: version, view)
        let positions = try view.positions(of: user, from: (earlier?.version ?? 0) + 1, to: version)
        return try foldedState(P.self, user, version: version, from: earlier, positions, view)
    }

    /// The state of `user` after `version` of their events, folded from the first one: no snapshot is used.
    package func freshState<P: Projection>(
        _: P.Type, _ user: UInt64, version: UInt64, _ view: LogView
    ) throws -> P.State {
        let positions = try view.positions(of: user, from: 1, to: version)
        return try foldedState(P.self, user, version: version, from: nil, positions, view).state
    }

    /// Folds the events at `positions` into the snapshot `earlier`; into an older one if they void what it includes.
    func foldedState<P: Projection>(
        _: P.Type, _ user: UInt64, version: UInt64, from earlier: (version: UInt64, state: P.State)?,
        _ positions: [UInt64], _ view: LogView
    ) throws -> UserFold<P> {
        var positions = positions
        var state = earlier?.state ?? P.initial
        if try !fold(P.self, positions, into: &state, isFromStart: earlier == nil, view) {
            let (base, voided) = try voidedEvents(P.self, of: user, version: version, after: earlier, view)
            state = base?.state ?? P.initial
            positions = try view.positions(of: user, from: (base?.version ?? 0) + 1, to: version)
            _ = try fold(P.self, positions, into: &state, isFromStart: base == nil, skipping: voided, view)
        }
        return UserFold(state: state, version: version, indexed: positions.count { $0 <= view.checkpoint })
    }

    /// The events that a fold up to `version` skips, and the snapshot with which it begins: `earlier`, or an older one
    /// if events that `earlier` includes were voided or unvoided after it.
    private func voidedEvents<P: Projection>(
        _: P.Type, of user: UInt64, version: UInt64, after earlier: (version: UInt64, state: P.State)?, _ view: LogView
    ) throws -> (base: (version: UInt64, state: P.State)?, voided: VoidedEvents) {
        var base = earlier
        while true {
            let positions = try view.positions(of: user, from: (base?.version ?? 0) + 1, to: version)
            let voided = try view.voidedEvents(among: positions)
            guard let reached = base?.version, let since = voided.since, since <= reached else { return (base, voided) }
            base = try snapshot(P.self, user, upTo: since - 1, view)
        }
    }

    /// As `EventLog.state(_:of:asOf:)`, and stores the state as a snapshot after a long fold.
    ///
    /// For projections that other programs open the store without: a long history may have no snapshots of them. After
    /// a fold of more than 1,024 events that the caches have, the caller waits for the writer and a sync.
    package func keptState<P: UserProjection>(
        _: P.Type, of user: UserNumber, asOf version: Version = Version(rawValue: .max)
    ) throws -> P.State {
        try P.checkName()
        let (fold, seen) = try store.withView { view in
            let now = try view.version(of: user.rawValue)
            let version = min(now, version.rawValue)
            return (try foldedState(P.self, user.rawValue, version: version, view), view.last)
        }
        if store.options.snapshotInterval > 0, fold.indexed > Self.longFold {
            // A read is right whether or not the next one is cheaper.
            try? keep(P.self, fold, of: user, seen: seen)
        }
        return fold.state
    }

    /// Stores a state folded from a view that ended at `seen`. Not if a user was erased since: the state may hold
    /// erased values.
    func keep<P: Projection>(_: P.Type, _ fold: UserFold<P>, of user: UserNumber, seen: UInt64) throws {
        try store.write { transaction in
            guard try isNobodyErased(since: seen, transaction) else { return }
            let name = try store.storedNames(transaction)[Name(P.name)] ?? P.name
            let key = KeyCoding.snapshot(name, user: user.rawValue, version: fold.version)
            let row = SnapshotRow.bytes(revision: P.revision, state: P.encode(fold.state))
            try transaction.put(store.environment.tables.snapshots, key, row)
        }
    }

    // MARK: - Over the whole store

    /// As `EventLog.state(overStore:)`; as of `view`, if there is one.
    package func state<P: Projection>(
        overStore _: P.Type, _ view: LogView? = nil
    ) throws -> (state: P.State, position: Position) {
        try P.checkName()
        let fold = try view.map { try storeState(P.self, $0) } ?? store.withView { try storeState(P.self, $0) }
        // A read is right whether or not the next one is cheaper. In a transaction of this thread nothing is stored.
        if fold.isFresh || fold.count > mostFoldedAtOnce, !ThreadTransaction.isOpen {
            _ = try? keep(P.self, fold.state, at: fold.position, seen: fold.seen)
        }
        return (fold.state, Position(rawValue: fold.position))
    }

    /// The most events that are folded into a stored state at once.
    var mostFoldedAtOnce: UInt64 { 2 * UInt64(store.options.indexLag) }

    /// The most events that are folded after one commit, so that the next one hardly waits. A longer backlog is folded
    /// after smaller commits, or when the log is closed.
    var mostFoldedAfterCommit: UInt64 { max(1, UInt64(store.options.indexLag) / 4) }

    /// Folds the next events, `limit` at most, into the stored state, and answers whether more are left. If they void
    /// what the state has, it stays as it is: unless the whole log is within the limit, the next reader folds it.
    @discardableResult
    func keepStateInPart<P: Projection>(_: P.Type, of limit: UInt64 = .max) throws -> Bool {
        let fold = try store.withView { view in
            try storeState(P.self, view, limit: limit, mayBeginAgain: view.last <= limit)
        }
        guard let fold, fold.count > 0 else { return false }
        return try keep(P.self, fold.state, at: fold.position, seen: fold.seen) && fold.position < fold.seen
    }

    /// As `keepStateInPart`, of the shadow of number `generation`, up to position `end`. Returns how far it reaches.
    func keepState<P: Projection>(
        _: P.Type, ofShadow generation: UInt64, upTo end: UInt64, limit: UInt64
    ) throws -> UInt64 {
        let fold = try store.withView { view in
            var shadow = view
            shadow.storedNames[Name(P.name)] = Generations.storedName(P.name, generation)
            shadow.last = min(view.last, end)
            // A void may need the whole fold in one step.
            var fold = try storeState(P.self, shadow, limit: limit)
            fold.seen = view.last
            return fold
        }
        if fold.count > 0 { _ = try keep(P.self, fold.state, at: fold.position, seen: fold.seen, generation) }
        return fold.position
    }

    /// Stores `state`, which has reached `position` and was folded from a view that ended at `seen`. Returns whether it
    /// did: not if a user was erased since, as it may hold erased values. `generation` is that of a shadow; nil for the
    /// live one.
    func keep<P: Projection>(
        _: P.Type, _ state: P.State, at position: UInt64, seen: UInt64, _ generation: UInt64? = nil
    ) throws -> Bool {
        let row = StoreStateRow.bytes(revision: P.revision, position: position, state: P.encode(state))
        let tables = store.environment.tables
        return try store.write { transaction in
            let generations = try Generations.read(tables, transaction)
            if let generation, generations.shadow?.generation != generation { return false }
            let live = generations.live[Name(P.name)] ?? 0
            let key = Array(Generations.storedName(P.name, generation ?? live).utf8)
            let stored = try transaction.get(tables.checkpoints, key).flatMap {
                StoreStateRow.read($0, revision: P.revision)
            }
            if let stored, stored.position >= position { return false }
            guard try isNobodyErased(since: seen, transaction) else { return false }
            try transaction.put(tables.checkpoints, key, row)
            return true
        }
    }

    /// Tells whether no user was erased after position `seen`. False also if too many events follow to look at.
    func isNobodyErased(since seen: UInt64, _ transaction: borrowing WriteTransaction) throws -> Bool {
        let last = try OpenStore.last(transaction, store.environment.tables)
        guard last >= seen, last - seen <= mostFoldedAtOnce else { return false }
        var isNobody = true
        try OpenStore.scan(store.environment.tables, from: seen + 1, to: last, transaction) { _, header in
            isNobody = header.kind != .userErased
            return isNobody
        }
        return isNobody
    }

    /// The stored state and its position; nil if the view can use none.
    package func storedState<P: Projection>(_: P.Type, _ view: LogView) throws -> (position: UInt64, state: P.State)? {
        guard let row = try view.get(view.tables.checkpoints, Array(view.storedName(of: P.self).utf8)),
            let stored = StoreStateRow.read(row, revision: P.revision), stored.position <= view.last,
            let state = P.decode(stored.state)
        else { return nil }
        return (stored.position, state)
    }

    /// The stored state with at most `limit` of the following events folded in. If one of these voids or unvoids what
    /// the stored state has, the state at the view's end, from the first event on.
    private func storeState<P: Projection>(_: P.Type, _ view: LogView, limit: UInt64 = .max) throws -> StoreFold<P> {
        if let fold = try storeState(P.self, view, limit: limit, mayBeginAgain: true) { return fold }
        preconditionFailure("A fold from the first event on has an end.")
    }

    /// As the other one; nil if it must begin again and may not.
    private func storeState<P: Projection>(
        _: P.Type, _ view: LogView, limit: UInt64, mayBeginAgain: Bool
    ) throws -> StoreFold<P>? {
        let stored = try storedState(P.self, view)
        let reached = stored?.position ?? 0
        let count = min(limit, view.last - reached)
        var fold = StoreFold<P>(
            state: stored?.state ?? P.initial, position: reached + count, seen: view.last, count: count)
        if try advance(P.self, &fold.state, from: reached, to: fold.position, view) { return fold }
        let voided = try view.voidedEvents(after: reached, upTo: fold.position)
        if reached == 0 || voided.first ?? 0 > reached {
            fold.state = try storedState(P.self, view)?.state ?? P.initial
            _ = try advance(P.self, &fold.state, from: reached, to: fold.position, skipping: voided, view)
            return fold
        }
        guard mayBeginAgain else { return nil }
        return StoreFold(
            state: try freshState(overStore: P.self, at: view.last, view), position: view.last, seen: view.last,
            count: view.last, isFresh: true)
    }

    /// The state over the whole store at `end`, folded from the first event on: nothing that is stored is used.
    package func freshState<P: Projection>(
        overStore _: P.Type, at end: UInt64, _ view: LogView, progress: (UInt64) -> Void = { _ in }
    ) throws -> P.State {
        func goesOn(_ position: UInt64, _: RecordHeader) -> Bool {
            progress(position)
            return true
        }
        var state = P.initial
        if try advance(P.self, &state, from: 0, to: end, view, while: goesOn) { return state }
        let voided = try view.voidedEvents(upTo: end)
        state = P.initial
        _ = try advance(P.self, &state, from: 0, to: end, skipping: voided, view, while: goesOn)
        return state
    }

    /// Folds the events of the whole store after `position` and up to `end` into `state`, for as long as `goesOn`
    /// answers true.
    ///
    /// `voided` are the events after `position` to skip. If they are not known, it ends at the first event that voids
    /// or unvoids another, and returns false: `state` is then unusable.
    package func advance<P: Projection>(
        _: P.Type, _ state: inout P.State, from position: UInt64, to end: UInt64, skipping voided: VoidedEvents? = nil,
        _ view: LogView, while goesOn: (UInt64, RecordHeader) -> Bool = { _, _ in true }
    ) throws -> Bool {
        var fold = ProjectionFold<P>()
        var driver = try driver(view, skipping: voided)
        if position > 0 { driver = driver.goingOn(at: position + 1) }
        var isWhole = true
        try view.scan(from: position + 1, to: end) { position, header in
            if let voided {
                if voided.contains(position) { return goesOn(position, header) }
            } else if header.isVoiding {
                isWhole = false
                return false
            }
            try driver.apply(header, at: position, to: &state, &fold, from: view)
            return goesOn(position, header)
        }
        return isWhole
    }
}

extension LogView: FoldSource {
    /// Calls `body` with each event up to `end` that `driver` does not skip, in the order of the log; with a saved or
    /// queued one also when it takes effect.
    @inline(__always)
    func forEachEffect(
        by driver: FoldDriver, upTo end: UInt64, _ body: (borrowing EventView) throws -> Void
    ) throws {
        try scan(from: 1, to: end) { position, header in
            if driver.voided?.contains(position) == true { return true }
            try driver.forEachEffect(of: header, at: position, from: self, body)
            try driver.withEvent(header, at: position, body)
            return true
        }
    }

    /// The name under which the states of `P` are stored that this view reads.
    func storedName<P: Projection>(of _: P.Type) -> String {
        storedNames.isEmpty ? P.name : storedNames[Name(P.name)] ?? P.name
    }

    /// The events that the `usersMerged` event at `position` takes over; nil if it was erased.
    package func mergedPositions(_ header: RecordHeader, _ position: UInt64) throws -> [UInt64]? {
        guard let body = RecordBody(header.body), !body.erased, let source = body.otherUser else { return nil }
        let positions = try positions(of: source, from: 1, to: body.otherVersion)
        // Merged events come before the merge, so merges of merges end.
        guard positions.last ?? 0 < position else {
            throw StorageError.damaged(place: "the merge at position \(position) names events that came later")
        }
        return positions
    }
}

/// The state of one user after `version` of their events.
struct UserFold<P: Projection> {
    let state: P.State
    let version: UInt64
    /// The number of folded events that the caches have: the next flush makes a snapshot of the others.
    let indexed: Int
}

/// A row of table `snapshots` to write, or to remove.
struct SnapshotChange: Sendable {
    let key: [UInt8]
    /// The row to write; nil to remove it.
    var row: [UInt8]?

    func apply(to table: WritableTable, _ transaction: borrowing WriteTransaction) throws {
        if let row { try transaction.put(table, key, row) } else { try transaction.delete(table, key) }
    }
}

/// A row of table `snapshots`.
enum SnapshotRow {
    static func bytes(revision: UInt32, state: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(state.count + 8)
        bytes.appendBigEndian(revision)
        bytes += state
        bytes.appendChecksum()
        return bytes
    }

    /// The state in a row; nil if the row is of another revision or fails its checksum.
    static func state(_ row: UnsafeRawBufferPointer, revision: UInt32) -> UnsafeRawBufferPointer? {
        guard row.count >= 8, RecordHeader.hasRightChecksum(row), row.bigEndian32() == revision else { return nil }
        return row.slice(4..<(row.count - 4))
    }
}

/// A state over the whole store, folded from one view.
private struct StoreFold<P: Projection> {
    var state: P.State
    /// The position up to which it reaches.
    let position: UInt64
    /// The last position of the view.
    var seen: UInt64
    /// The number of events folded into the stored state.
    let count: UInt64
    /// Tells whether it was folded from the first event on, as the stored state has what is void now.
    var isFresh = false
}

/// A row of table `checkpoints` with a state: revision uint32 BE, position uint64 BE, the state, CRC-32C uint32 LE.
enum StoreStateRow {
    static func bytes(revision: UInt32, position: UInt64, state: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendBigEndian(revision)
        bytes.appendBigEndian(position)
        bytes += state
        bytes.appendChecksum()
        return bytes
    }

    /// Returns nil if the row is of another revision, or damaged.
    static func read(
        _ row: UnsafeRawBufferPointer, revision: UInt32
    ) -> (position: UInt64, state: UnsafeRawBufferPointer)? {
        guard row.count >= 16, RecordHeader.hasRightChecksum(row), row.bigEndian32() == revision else { return nil }
        return (row.bigEndian64(at: 4), row.slice(12..<(row.count - 4)))
    }
}

/// A key of table `snapshots`, taken apart.
struct SnapshotKey {
    /// The projection's name with its length before it: the prefix of all its snapshots, and of no others.
    let prefix: [UInt8]
    let user: UInt64
    let version: UInt64

    /// Returns nil for a key that no snapshot has.
    init?(_ key: UnsafeRawBufferPointer) {
        guard let length = key.first.map(Int.init), length > 0, key.count == length + 17 else { return nil }
        prefix = Array(key.slice(0..<(length + 1)))
        user = key.bigEndian64(at: length + 1)
        version = key.bigEndian64(at: length + 9)
    }

    /// The projection's name.
    var projection: String { String(decoding: prefix.dropFirst(), as: UTF8.self) }
}
