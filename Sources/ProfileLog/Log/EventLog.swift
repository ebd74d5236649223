internal import Glibc
internal import Synchronization

/// The log of one store: opened once for a process, used by any thread.
///
/// Reads are synchronous and short. `commit` is synchronous too, and one at a time: concurrent callers go through a `LogWriter`.
public final class EventLog: Sendable {
    /// Where the store is.
    package let path: String
    /// How it was opened.
    package let options: LogOptions
    /// The store's own ID, made with it.
    package let storeID: [UInt8]

    let environment: Environment
    let names: NameTable
    /// The tail that new views begin with. It is replaced, never moved on to another base: a view keeps the one it began with.
    private let currentTail: Guarded<Guarded<Tail>>
    var tail: Guarded<Tail> { currentTail.withReading { copy $0 } }
    let braze: BrazeIDs
    /// Held for the length of a commit or an index flush by this process; LMDB's own lock keeps out other processes.
    let writing = Mutex(())
    /// The flush of the caches that is under way, as far as this process knows it; touched only while `writing` is held.
    let flush = Mutex<IndexFlush?>(nil)
    /// How many rows a slice of it writes.
    let sliceSize: Mutex<SliceSize>
    /// Whether the caches were written, and the states over the whole store may be behind them.
    let areStatesDue = Mutex(false)
    /// Whether damaged caches may be made anew behind a commit. Not once the log has refused it: it would each time be read for nothing.
    let mayRemakeCaches = Mutex(true)
    /// The projections whose states are kept as snapshots.
    let projections: [any Projection.Type]

    /// Opens the store in the folder `path`, which is made if `create` is true.
    ///
    /// Costs a scan of the log's tail: what the caches lag by. They are written when that is `options.indexLag` records, or as many as there are
    /// users, up to 2^20; some three times as much may have gathered until they are. If they are further behind, or cannot be used, they are
    /// written first. `projections` are those whose snapshots are written beside the profile's.
    public convenience init(
        path: String, create: Bool = false, options: LogOptions = LogOptions(),
        projections: [any Projection.Type] = [ProfileProjection.self]
    ) throws {
        try self.init(path: path, create: create, options: options, projections: projections, creation: nil)
    }

    /// As the public one; a new store is made by the batch `creation`. To have the store `alone` throws `inUse` if anybody has it open.
    init(
        path: String, create: Bool, options: LogOptions, projections: [any Projection.Type], creation: CommitBatch?,
        alone: Bool = false
    ) throws {
        try options.check()
        try projections.checkNames()
        let environment = try Environment.open(
            path: path, missing: create ? .create : .refuse, alone: alone, mode: options.fileMode)
        let storeID = try Self.readMeta(environment, options, creation)
        let names = NameTable()
        self.path = path
        self.options = options
        self.storeID = storeID
        self.environment = environment
        self.names = names
        self.braze = BrazeIDs(uuid: storeID)
        self.projections = projections
        self.sliceSize = Mutex(SliceSize(most: options.usersPerIndexSlice))
        self.currentTail = Guarded(Guarded(Tail(base: 0, userCount: 0, lastRecordedAt: 0)))
        try environment.withReadTransaction { try loadNames($0) }
        if writeRefusal == nil { try repairCaches() }
        try environment.withReadTransaction { try rebuildTail($0) }
    }

    /// Checks that the store is one that this program may use; marks a new one.
    private static func readMeta(
        _ environment: Environment, _ options: LogOptions, _ creation: CommitBatch?
    ) throws -> [UInt8] {
        if let known = try environment.withReadTransaction({ try knownMeta(environment, $0) }) { return known }
        return try environment.withWriteTransaction { transaction in
            // Another process may have been first.
            if let known = try knownMeta(environment, transaction) { return known }
            var random = SystemRandomNumberGenerator()
            let batch =
                creation
                ?? .creation(
                    of: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }, at: options.now())
            if creation == nil { try options.transport.deliver(batch) }
            try batch.apply(to: transaction, environment.tables)
            guard let id = try knownMeta(environment, transaction) else {
                throw StorageError.damaged(place: "row uuid of table meta is missing")
            }
            return id
        }
    }

    private static func knownMeta(
        _ environment: Environment, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt8]? {
        let meta = environment.tables.meta
        guard let uuid = try transaction.get(meta, Array("uuid".utf8)) else { return nil }
        func refusal(_ row: String) throws -> StorageError? {
            guard let needed = try transaction.get(meta, Array(row.utf8)), needed.count == 4 else {
                throw StorageError.damaged(place: "row \(row) of table meta")
            }
            let (format, known) = (needed.bigEndian32(), CommitBatch.storeFormat)
            return format > known ? .newerFormat(needed: format, known: known) : nil
        }
        if let reason = try refusal("reader") { throw reason }
        if let reason = try refusal("writer") { environment.refuseWrites(reason) }
        return Array(uuid)
    }

    /// A builder for an append of some `capacity` events (a hint).
    public func prepare(capacity: Int = 1) -> AppendBuilder { AppendBuilder(names: names, capacity: capacity) }

    /// The `braze_id` of a user.
    package func brazeID(of user: UserNumber) -> String { braze.id(user.rawValue) }

    /// Why the log takes no writes now; nil if it does.
    ///
    /// It compares the store's files with those that were opened, so it knows before the next append does.
    public var writeRefusal: StorageError? { environment.writeRefusal }

    /// Position of the last event; 0 in an empty log.
    public func lastPosition() throws -> Position {
        try environment.withReadTransaction { Position(rawValue: try Self.last($0, environment.tables)) }
    }
}

// MARK: - Keeping up with the log

extension EventLog {
    static func last(_ transaction: borrowing some Reading & ~Copyable, _ tables: Tables) throws -> UInt64 {
        try transaction.withCursor(tables.log) { cursor in
            var row = try cursor.last()
            // A key that is no number is damage, which hides no record before it: `check` names it.
            while let found = row {
                if let position = found.key.number { return position }
                row = try cursor.previous()
            }
            return 0
        }
    }

    /// Runs `body` on one consistent view of everything that was committed before the call, by whatever process.
    ///
    /// Refuses if a name is damaged, unless `whateverIsDamaged`.
    func withView<Result>(
        whateverIsDamaged: Bool = false, _ body: (LogView, borrowing ReadTransaction) throws -> Result
    ) throws -> Result {
        while true {
            let result: Result? = try environment.withReadTransaction { transaction in
                guard let view = try catchUp(transaction) else { return nil }
                if !whateverIsDamaged, let damage = names.damage { throw damage }
                return try body(view, transaction)
            }
            if let result { return result }
            try bringBackTail()
        }
    }

    /// Builds the tail anew if the caches went back behind it: another process dropped them.
    private func bringBackTail() throws {
        func isAhead(_ transaction: borrowing ReadTransaction) throws -> Bool {
            let last = try Self.last(transaction, environment.tables)
            let checkpoint = try IndexCheckpoint.position(environment.tables, transaction, last: last)
            return tail.withReading { $0.base > checkpoint }
        }
        guard try environment.withReadTransaction({ try isAhead($0) }) else { return }
        // Not while a commit of this process is under way: its events are in the tail, and it brings the tail back itself. To wait for it
        // here could be a deadlock, as a decision under the lock reads too.
        let isDone: Void? = try writing.withLockIfAvailable { _ in
            try environment.withReadTransaction { if try isAhead($0) { try rebuildTail($0) } }
        }
        if isDone == nil { sched_yield() }
    }

    /// As `catchUp`, for the writer, who sees the newest state: a tail that is ahead of it is ahead of caches that were dropped.
    ///
    /// Refuses if a name or a record of the tail is damaged: who has which ID and version, and which key was used, may stand in it.
    func catchUpWriting(_ transaction: borrowing WriteTransaction) throws -> LogView {
        let view = try catchUpOrRebuild(transaction)
        if let damage = names.damage { throw damage }
        try view.refuseDamage()
        return view
    }

    private func catchUpOrRebuild(_ transaction: borrowing WriteTransaction) throws -> LogView {
        if let view = try catchUp(transaction) { return view }
        try rebuildTail(transaction)
        guard let view = try catchUp(transaction) else {
            throw StorageError.damaged(place: "the index is ahead of the log")
        }
        return view
    }

    /// Brings names and tail up to what `transaction` sees. Nil if the tail has moved on already: begin anew.
    func catchUp(_ transaction: borrowing some Reading & ~Copyable) throws -> LogView? {
        try forgetErasedNames(transaction)
        try loadNames(transaction)
        let last = try Self.last(transaction, environment.tables)
        let index = try IndexCheckpoint.read(environment.tables, transaction, last: last)
        let checkpoint = index?.position ?? 0
        while true {
            let tail = self.tail
            let state = tail.withReading { tail -> TailState in
                // Behind a checkpoint that went back (the caches were dropped), or a flush that this transaction does not see.
                if tail.base > checkpoint { return .ahead }
                // Another process writes the caches, and this one only reads.
                let overlap = checkpoint - tail.base
                if overlap > 2 * UInt64(lagLimit(tail.userCount)), tail.uncommitted == nil { return .overgrown }
                if let erasure = tail.erasure, erasure <= last, tail.uncommitted == nil { return .overgrown }
                if let uncommitted = tail.uncommitted, uncommitted <= last { return .inDoubt }
                return tail.last >= last ? .ready : .behind
            }
            switch state {
            case .ready:
                return LogView(
                    tail: tail, tables: environment.tables, nameTable: names, checkpoint: checkpoint, last: last,
                    flush: index?.flush)
            case .ahead: return nil
            case .overgrown: try rebuildTail(transaction)
            // For the moment between a commit and the word that it succeeded, which needs the tail's lock.
            case .inDoubt: sched_yield()
            case .behind: try extend(tail, to: last, transaction)
            }
        }
    }

    private enum TailState { case ready, ahead, inDoubt, behind, overgrown }

    private func extend(
        _ tail: Guarded<Tail>, to last: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws {
        try tail.withWriting { tail in
            if tail.uncommitted != nil || tail.last >= last { return }
            try fill(&tail, to: last, transaction)
        }
    }

    func replaceTail(_ fresh: Guarded<Tail>) { currentTail.withWriting { $0 = fresh } }

    /// Builds the tail anew, from the index's checkpoint to the end.
    func rebuildTail(_ transaction: borrowing some Reading & ~Copyable) throws {
        replaceTail(Guarded(try freshTail(transaction)))
    }

    /// Calls `body` with the records from `from` to `to` in order, for as long as it answers true.
    static func scan(
        _ tables: Tables, from: UInt64, to: UInt64, _ transaction: borrowing some Reading & ~Copyable,
        _ body: (UInt64, RecordHeader) throws -> Bool
    ) throws {
        guard from <= to else { return }
        try transaction.withCursor(tables.log) { cursor in
            var row = try cursor.seek(from)
            var expected = from
            while let found = row, expected <= to {
                guard found.key.number == expected else {
                    throw StorageError.damaged(place: "position \(expected) of the log is missing")
                }
                if try !body(expected, RecordHeader(found.value, at: expected)) { return }
                expected += 1
                row = try cursor.next()
            }
            if expected <= to { throw StorageError.damaged(place: "position \(expected) of the log is missing") }
        }
    }

    static func header(
        at position: UInt64, _ transaction: borrowing some Reading & ~Copyable, _ tables: Tables
    ) throws -> RecordHeader {
        try RecordHeader(transaction.get(tables.log, position), at: position)
    }

    /// Loads all names again if some were erased since the last look: their numbers must not be used any more.
    func forgetErasedNames(_ transaction: borrowing some Reading & ~Copyable) throws {
        let erasures = try CommitBatch.nameErasures(environment.tables, transaction)
        // A reader that began before the last erasure knows less.
        if erasures <= names.erasures { return }
        var map = NameMap()
        map.erasures = erasures
        try transaction.withCursor(environment.tables.names) { cursor in
            var row = try cursor.first()
            while let found = row {
                guard found.key.count == 4 else { throw StorageError.damaged(place: "a key of table names") }
                while map.count + 1 < found.key.bigEndian32() { map.noteMissing() }
                map.add(row: found.value)
                row = try cursor.next()
            }
        }
        names.replace(with: map)
    }

    /// Names that other processes added since the last look.
    func loadNames(_ transaction: borrowing some Reading & ~Copyable) throws {
        let table = environment.tables.names
        guard try transaction.count(table) > names.count else { return }
        var key: [UInt8] = []
        key.appendBigEndian(names.count + 1)
        try transaction.withCursor(table) { cursor in
            var row = try cursor.seek(key)
            while let found = row {
                guard found.key.count == 4 else { throw StorageError.damaged(place: "a key of table names") }
                names.add(found.value, number: found.key.bigEndian32())
                row = try cursor.next()
            }
        }
    }
}
