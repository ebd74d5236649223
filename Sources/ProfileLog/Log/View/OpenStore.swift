internal import Glibc
internal import Synchronization

/// An open store: its file, and what this process keeps of it in memory. The parts of `EventLog` share it.
///
/// Names and tail follow the log. Each transaction begins by catching up with what other processes wrote.
package final class OpenStore: Sendable {
    let path: String
    let options: LogOptions
    let storeID: [UInt8]
    /// The projections whose states are kept.
    package let projections: [any Projection.Type]
    let environment: Environment
    private let use: EnvironmentUse
    let names = NameTable()
    let messageTables: MessageTables
    let rules: RulesCache
    let braze: BrazeIDs
    /// The tail of new views. It is replaced and never changes its base: a view keeps its tail.
    private let currentTail = Guarded(Guarded(Tail(base: 0, userCount: 0, lastRecordedAt: 0)))
    var tail: Guarded<Tail> { currentTail.withReading { copy $0 } }
    /// Row `generations` as it was last read, with its bytes: each view asks.
    private let liveNames = Guarded<(row: [UInt8], names: [Name: String])>(([], [:]))
    /// The facts of the commit that the last view saw.
    private let lastFacts = Guarded<CommitFacts?>(nil)
    /// The addresses of records for new views.
    private let currentAddresses = Guarded<RecordAddresses?>(nil)
    private let readAhead: ReadAhead
    /// The last event that this process saw when it opened the store, or wrote.
    let lastSeen = Mutex<HistoryCursor?>(nil)
    /// Tasks that wait for the next event.
    let watch = PositionWatch()
    /// Closures that are told of commits.
    let hooks = CommitHooks()
    let recentStates = RecentStates()
    private let closed = Atomic(false)
    /// Held during a commit or an index flush of this process; LMDB's own lock excludes other processes.
    let writing = Mutex(())

    /// Opens the store, without its tail. The batch `creation` makes a new store. With `alone` it throws `inUse` if the
    /// store is open elsewhere.
    init(
        path: String, create: Bool, options: LogOptions, projections: [any Projection.Type], creation: CommitBatch?,
        alone: Bool
    ) throws {
        try options.check()
        try projections.checkNames()
        use = try EnvironmentUse.open(
            path: path, missing: create ? .create : .refuse, alone: alone, mode: options.fileMode)
        environment = use.environment
        readAhead = ReadAhead { [environment] in environment.preload() }
        storeID = try Self.readMeta(environment, options, creation)
        braze = BrazeIDs(uuid: storeID)
        self.path = path
        self.options = options
        messageTables = MessageTables(standard: options.inAppMessages)
        rules = RulesCache(standard: options.rules)
        self.projections = projections.map { $0.stored }
        try environment.withReadTransaction { transaction in
            try loadNames(transaction)
            _ = try clusterRefusal(transaction)
            // So the first write finds a twin that was put in place of the file. Who reads damage reports it.
            let end = try? cursor(at: Self.last(transaction, environment.tables), transaction)
            lastSeen.withLock { $0 = end }
        }
    }

    /// As `EventLog.exists`.
    static func exists(path: String) throws -> Bool {
        do {
            let use = try EnvironmentUse.open(path: path, missing: .refuse, alone: false, mode: LogOptions().fileMode)
            defer { use.end() }
            return try use.environment.withReadTransaction { try knownMeta(use.environment, $0) != nil }
        } catch StorageError.noStore { return false }
    }

    /// Checks that this program may use the store; marks a new one.
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
            if creation == nil { _ = try options.transport.deliver(batch, after: nil) }
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
        func refusal(_ row: String, known: UInt32) throws -> StorageError? {
            guard let needed = try transaction.get(meta, Array(row.utf8)), needed.count == 4 else {
                throw StorageError.damaged(place: "row \(row) of table meta")
            }
            let format = needed.bigEndian32()
            return format > known ? .newerFormat(needed: format, known: known) : nil
        }
        if let reason = try refusal("reader", known: CommitBatch.storeFormat) { throw reason }
        if let reason = try refusal(CommitBatch.writerRow, known: CommitBatch.nodeFormat) {
            environment.refuseWrites(reason)
        }
        return Array(uuid)
    }

    // MARK: - Closing

    /// Refuses everything from now on, and waits for what runs. Files that another log of this process has open too
    /// stay open for that one.
    func close() {
        if closed.exchange(true, ordering: .relaxed) { return }
        watch.close()
        use.end()
        // After the last commit has told of itself.
        writing.withLock { _ in hooks.close() }
    }

    var isClosed: Bool { closed.load(ordering: .relaxed) }

    func refuseIfClosed() throws(StorageError) { if isClosed { throw .closed } }

    /// Position of the last event; 0 in an empty log.
    func lastPosition() throws -> Position {
        try refuseIfClosed()
        return try environment.withReadTransaction { Position(rawValue: try Self.last($0, environment.tables)) }
    }

    // MARK: - Keeping up with the log

    static func last(_ transaction: borrowing some Reading & ~Copyable, _ tables: Tables) throws -> UInt64 {
        try transaction.withCursor(tables.log) { cursor in
            var row = try cursor.last()
            // A key that is no number is damage. It hides no record before it: `check` names it.
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
    func withView<Result>(whateverIsDamaged: Bool = false, _ body: (LogView) throws -> Result) throws -> Result {
        try refuseIfClosed()
        while true {
            let result: Result? = try environment.withReadTransaction { transaction in
                let facts = try facts(transaction)
                guard var view = try catchUp(transaction, facts.state) else { return nil }
                if !whateverIsDamaged, let damage = names.damage { throw damage }
                view.addresses = try addresses(transaction, facts)
                view.budget = ReadBudget.current
                return try body(view)
            }
            if let result { return result }
            try bringBackTail()
        }
    }

    /// The addresses of records that a view in `transaction` may use; nil if it began before the last erasure, which
    /// moved records.
    private func addresses(_ transaction: borrowing ReadTransaction, _ facts: CommitFacts) throws -> AddressCache? {
        let (rewrites, reopenings) = (facts.rewrites, facts.reopenings)
        func fits(_ known: RecordAddresses) -> Bool {
            known.rewrites == rewrites && known.reopenings == reopenings
        }
        if let known = currentAddresses.withReading({ $0 }), fits(known), !known.cache.isFull { return known.cache }
        let fresh = try AddressCache(
            environment.tables.log, transaction, mostBlocks: options.addressBlocks, readAhead: readAhead)
        return currentAddresses.withWriting { current in
            if let known = current, fits(known), !known.cache.isFull { return known.cache }
            if let known = current, known.reopenings == reopenings, known.rewrites > rewrites { return nil }
            current = RecordAddresses(rewrites: rewrites, reopenings: reopenings, cache: fresh)
            return fresh
        }
    }

    /// Builds the tail again if the caches went back to before it: another process dropped them.
    private func bringBackTail() throws {
        func isAhead(_ transaction: borrowing ReadTransaction) throws -> Bool {
            let checkpoint = try IndexCheckpoint.position(environment.tables, transaction)
            return tail.withReading { $0.base > checkpoint }
        }
        guard try environment.withReadTransaction({ try isAhead($0) }) else { return }
        // Not during a commit of this process: its events are in the tail, and it rebuilds the tail itself. Waiting
        // here could be a deadlock, as a decision under the lock reads too.
        let isDone: Void? = try writing.withLockIfAvailable { _ in
            try environment.withReadTransaction { if try isAhead($0) { try rebuildTail($0) } }
        }
        if isDone == nil { sched_yield() }
    }

    /// As `catchUp`, for the writer. It sees the newest state, so a tail ahead of it belongs to dropped caches.
    ///
    /// Refuses if a name or a record of the tail is damaged: a version, an ID or a key may be in it.
    func catchUpWriting(_ transaction: borrowing WriteTransaction) throws -> LogView {
        if let refusal = try clusterRefusal(transaction) { throw refusal }
        if let refusal = try otherHistory(transaction) { throw refusal }
        if let known = lastSeen.withLock({ $0?.position.rawValue }),
            try Self.last(transaction, environment.tables) < known
        {
            throw environment.refuseOverwritten()
        }
        let view = try catchUpOrRebuild(transaction)
        try noteEnd(view.last, transaction)
        if let damage = names.damage { throw damage }
        try view.refuseDamage()
        return view
    }

    /// Notes the last event of the log, which is stored.
    private func noteEnd(_ last: UInt64, _ transaction: borrowing WriteTransaction) throws {
        if lastSeen.withLock({ $0?.position.rawValue }) == last { return }
        let end = try cursor(at: last, transaction)
        lastSeen.withLock { $0 = end }
    }

    /// The reason why the store takes no writes now; nil if it does.
    var writeRefusal: StorageError? {
        if isClosed { return .closed }
        if let reason = environment.writeRefusal { return reason }
        // The readers report what they cannot read.
        let refusal = try? environment.withReadTransaction { transaction -> StorageError? in
            if let refusal = try clusterRefusal(transaction) { return refusal }
            return try otherHistory(transaction)
        }
        return refusal ?? environment.writeRefusal
    }

    private func catchUpOrRebuild(_ transaction: borrowing WriteTransaction) throws -> LogView {
        if let view = try catchUp(transaction) { return view }
        try rebuildTail(transaction)
        guard let view = try catchUp(transaction) else {
            throw StorageError.damaged(place: "the index is ahead of the log")
        }
        return view
    }

    /// Brings the names up to the state of `transaction`, and returns the facts of its commit. Views of one commit read
    /// them once: a commit does not change, and names only come to be known.
    private func facts(_ transaction: borrowing ReadTransaction) throws -> CommitFacts {
        let (commit, reopenings) = (transaction.commit, environment.reopenings)
        if let known = lastFacts.withReading({ $0 }), known.commit == commit, known.reopenings == reopenings {
            return known
        }
        let facts = CommitFacts(
            commit: commit, reopenings: reopenings, state: try state(transaction),
            rewrites: try CommitBatch.rewrites(environment.tables, transaction))
        lastFacts.withWriting { $0 = facts }
        return facts
    }

    /// Brings the names up to the state of `transaction`, and reads what a view needs of it.
    private func state(_ transaction: borrowing some Reading & ~Copyable) throws -> CommitFacts.State {
        try forgetErasedNames(transaction)
        try loadNames(transaction)
        let last = try Self.last(transaction, environment.tables)
        return .init(
            last: last, index: try IndexCheckpoint.read(environment.tables, transaction, last: last),
            storedNames: try storedNames(transaction))
    }

    /// Brings names and tail up to the state of `transaction`. Nil if the tail is ahead of it: start again.
    func catchUp(_ transaction: borrowing some Reading & ~Copyable) throws -> LogView? {
        try catchUp(transaction, state(transaction))
    }

    private func catchUp(
        _ transaction: borrowing some Reading & ~Copyable, _ state: CommitFacts.State
    ) throws -> LogView? {
        let last = state.last
        let checkpoint = state.index?.position ?? 0
        while true {
            let tail = self.tail
            let tailState = tail.withReading { tail -> TailState in
                // The caches were dropped, or a flush came after this transaction.
                if tail.base > checkpoint { return .ahead }
                // Another process writes the caches, and this one only reads.
                let overlap = checkpoint - tail.base
                if overlap > 2 * UInt64(options.lagLimit(tail.userCount)), tail.uncommitted == nil { return .overgrown }
                if let erasure = tail.erasure, erasure <= last, tail.uncommitted == nil { return .overgrown }
                if let uncommitted = tail.uncommitted, uncommitted <= last { return .inDoubt }
                return tail.last >= last ? .ready : .behind
            }
            switch tailState {
            case .ready:
                return LogView(
                    handle: transaction.handle, tail: tail, tables: environment.tables, nameTable: names,
                    checkpoint: checkpoint, last: last, flush: state.index?.flush, storedNames: state.storedNames)
            case .ahead: return nil
            case .overgrown: try rebuildTail(transaction)
            // The commit is visible and the tail does not know it yet: that needs the tail's lock.
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

    /// Builds the tail again, from the index's checkpoint to the end.
    func rebuildTail(_ transaction: borrowing some Reading & ~Copyable) throws {
        replaceTail(Guarded(try freshTail(transaction)))
    }

    /// Calls `body` with the records from `from` to `to` in order, for as long as it answers true.
    package static func scan(
        _ tables: Tables, from: UInt64, to: UInt64, _ transaction: borrowing some Reading & ~Copyable,
        _ body: (UInt64, RecordHeader) throws -> Bool
    ) throws {
        try scanRecords(tables, from: from, to: to, transaction) { position, record in
            try body(position, RecordHeader(record, at: position))
        }
    }

    /// As `scan`, with the bytes of the records, whose checksums are not compared.
    @inline(__always)
    package static func scanRecords(
        _ tables: Tables, from: UInt64, to: UInt64, _ transaction: borrowing some Reading & ~Copyable,
        _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        guard from <= to else { return }
        try transaction.withCursor(tables.log) { cursor in
            var row = try cursor.seek(from)
            var expected = from
            while let found = row, expected <= to {
                guard found.key.number == expected else {
                    throw StorageError.damaged(place: "position \(expected) of the log is missing")
                }
                if try !body(expected, found.value) { return }
                expected += 1
                row = try cursor.next()
            }
            if expected <= to { throw StorageError.damaged(place: "position \(expected) of the log is missing") }
        }
    }

    /// Brings the names up to the state of `transaction`, and throws if one is damaged.
    func refreshNames(_ transaction: borrowing WriteTransaction) throws {
        try forgetErasedNames(transaction)
        try loadNames(transaction)
        if let damage = names.damage { throw damage }
    }

    /// Loads all names again if some were erased since the last look: their numbers must not be used any more.
    func forgetErasedNames(_ transaction: borrowing some Reading & ~Copyable) throws {
        let erasures = try CommitBatch.nameErasures(environment.tables, transaction)
        // A reader that began before the last erasure knows less.
        if erasures <= names.erasures { return }
        var map = NameMap()
        map.erasures = erasures
        try transaction.forEachRow(of: environment.tables.names) { row in
            guard row.key.count == 4 else { throw StorageError.damaged(place: "a key of table names") }
            while map.count + 1 < row.key.bigEndian32() { map.noteMissing() }
            map.add(row: row.value)
        }
        names.replace(with: map)
    }

    /// Names that other processes added since the last look.
    func loadNames(_ transaction: borrowing some Reading & ~Copyable) throws {
        let table = environment.tables.names
        guard try transaction.count(table) > names.count else { return }
        try transaction.forEachRow(of: table, from: NameRow.key(names.count + 1)) { row in
            guard row.key.count == 4 else { throw StorageError.damaged(place: "a key of table names") }
            names.add(row.value, number: row.key.bigEndian32())
            return true
        }
    }

    /// The names under which the live states of projections are stored, where they are not the projections' own.
    func storedNames(_ transaction: borrowing some Reading & ~Copyable) throws(StorageError) -> [Name: String] {
        guard let row = try transaction.get(environment.tables.checkpoints, Generations.key) else { return [:] }
        let known = liveNames.withReading { known in
            known.row.withUnsafeBytes { $0.hasSameBytes(as: row) } ? known.names : nil
        }
        if let known { return known }
        let names = try Generations.read(environment.tables, transaction).storedNames
        liveNames.withWriting { $0 = (Array(row), names) }
        return names
    }

    // MARK: - Building the tail

    /// A tail built from the log: from the index's checkpoint to the end.
    func freshTail(_ transaction: borrowing some Reading & ~Copyable) throws -> Tail {
        let tables = environment.tables
        let last = try Self.last(transaction, tables)
        let checkpoint = try IndexCheckpoint.read(tables, transaction, last: last)
        let base = checkpoint?.position ?? 0
        var tail = Tail(
            base: base, userCount: checkpoint?.users ?? 0, lastRecordedAt: try recordedAt(base, transaction))
        try fill(&tail, to: last, transaction)
        tail.acceptErasures()
        return tail
    }

    /// Returns the time at which the record at `position` was recorded; if it is damaged, the record before it, which
    /// is no later.
    func recordedAt(_ position: UInt64, _ transaction: borrowing some Reading & ~Copyable) throws -> Int64 {
        var position = position
        while position > 0 {
            if let record = try transaction.get(environment.tables.log, position),
                RecordHeader.hasRightChecksum(record), let header = RecordHeader(record)
            {
                return header.recordedAt
            }
            position -= 1
        }
        return 0
    }

    /// Adds the log's records up to `last` to `tail`, and compares their checksums: this process has not read them yet.
    func fill(_ tail: inout Tail, to last: UInt64, _ transaction: borrowing some Reading & ~Copyable) throws {
        try Self.scanRecords(environment.tables, from: tail.last + 1, to: last, transaction) { _, record in
            let header = RecordHeader(record)
            if let header, RecordHeader.hasRightChecksum(record) {
                tail.add(header)
            } else {
                tail.addDamaged(try header.flatMap { try fits($0, tail, transaction) ? $0 : nil })
            }
            return true
        }
    }

    /// Tells whether a damaged record's header is that of the next event of a user who exists, or of the next new user.
    private func fits(
        _ header: RecordHeader, _ tail: borrowing Tail, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        guard header.user <= tail.userCount + 1, header.version > 0 else { return false }
        if let version = tail.lastVersion(of: header.user) { return header.version - 1 == version }
        if tail.base == 0 { return header.version == 1 }
        let indexed = LogView(
            handle: transaction.handle, tail: self.tail, tables: environment.tables, nameTable: names,
            checkpoint: tail.base, last: tail.base)
        var streams = try Cursor(transaction.handle, environment.tables.streams)
        return try indexed.storedVersion(of: header.user, among: tail.usersAtBase, &streams) == header.version - 1
    }

    /// Runs `body` in a write transaction while no commit or index flush of this process is under way.
    func write<Result: Sendable>(_ body: (borrowing WriteTransaction) throws -> Result) throws -> Result {
        try writing.withLock { _ in try environment.withWriteTransaction(body) }
    }

    /// The time of the next commit: never before the last recorded time.
    func recordedAtNow(_ view: LogView) -> Int64 {
        max(options.now().rawValue, view.tail.withReading { $0.lastRecordedAt })
    }
}

extension Tail {
    /// A record that fails its checksum. `user` is nil if its user cannot be found.
    struct Damage {
        let position: UInt64
        let user: UInt64?

        var error: StorageError { .damaged(place: "the record at position \(position) fails its checksum") }
    }
}

/// The addresses of the log's records in memory, for views of a log whose records were rewritten this many times.
private struct RecordAddresses {
    let rewrites: UInt32
    /// The number of times that the environment had been opened again.
    let reopenings: Int
    let cache: AddressCache
}

/// The facts of one commit that each view of it needs.
private final class CommitFacts: Sendable {
    /// The number of the commit, in the environment that was opened again this many times.
    let commit, reopenings: Int
    let state: State
    /// The number of erasures that rewrote records.
    let rewrites: UInt32

    struct State {
        /// The position of the last event.
        let last: UInt64
        /// The checkpoint of the caches; nil if they cannot be used.
        let index: IndexCheckpoint?
        let storedNames: [Name: String]
    }

    init(commit: Int, reopenings: Int, state: State, rewrites: UInt32) {
        (self.commit, self.reopenings, self.state, self.rewrites) = (commit, reopenings, state, rewrites)
    }
}
