internal import Synchronization

/// Writes the caches up to the end of the log: after commits, before the log is closed, and on request.
final class CacheKeeper: Sendable {
    private let store: OpenStore
    private let states: StateStore
    /// The running flush as this process last saw it. Only touched while `writing` is held.
    let flush = Mutex<IndexFlush?>(nil)
    /// The number of rows that a slice of a flush writes.
    let sliceSize: Mutex<SliceSize>
    /// Tells whether the caches were written, and the states over the whole store were not.
    private let areStatesDue = Mutex(false)
    /// Tells whether damaged caches may be rebuilt after a commit. False once a rebuild failed on a damaged log: each
    /// further one would read it for nothing.
    private let mayRemakeCaches = Mutex(true)

    init(_ store: OpenStore, _ states: StateStore) {
        self.store = store
        self.states = states
        sliceSize = Mutex(SliceSize(most: store.options.usersPerIndexSlice))
    }

    /// Writes a slice of the caches if they lag too far. Commits wait for it.
    ///
    /// At three times the allowed lag it writes two slices, and so on, so that a flush ends even if each commit brings
    /// much and processes live for a short time.
    func writeIndexIfDue() {
        var found: CheckpointRow?
        do {
            let slices = try slicesDue()
            if slices > 0 { found = try store.environment.withReadTransaction { try checkpointRow($0) } }
            for _ in 0..<slices {
                if try store.writing.withLock({ _ in try writeIndexSlice() }) { break }
            }
        } catch let error as StorageError where error.isDamage {
            CoverageMark.hit(.cachesRemade)
            // Rebuild a cache that cannot be continued. A damaged log refuses that too, and `check` names the place.
            if mayRemakeCaches.withLock({ $0 }) { try? remakeCaches(ifStill: found) }
        } catch {
            // Tried again after the next commit.
        }
        // A state that is not stored is folded by its reader.
        try? keepStatesIfDue()
    }

    /// Returns the number of slices to write after a commit.
    private func slicesDue() throws -> Int {
        func lag() -> (events: Int, limit: Int) {
            store.tail.withReading { ($0.entries.count, store.options.lagLimit($0.userCount)) }
        }
        let isUnderWay = flush.withLock { $0 != nil }
        var (events, limit) = lag()
        if events < limit, !isUnderWay { return 0 }
        // Another process may have written these events into the caches.
        if try store.writing.withLock({ _ in try trimTail() }) { (events, limit) = lag() }
        return events < limit && flush.withLock({ $0 == nil }) ? 0 : max(1, events / limit - 1)
    }

    /// As `EventLog.writeIndex()`.
    func writeIndex() throws {
        try store.writing.withLock { _ in try writeIndexAlone() }
        for projection in store.projections where projection.scope == .store { try states.keepStateInPart(projection) }
    }

    /// Writes the caches up to the present end of the log, slice by slice. Other processes and threads may commit
    /// between two slices.
    func writeIndexInSlices() throws {
        let end = try store.lastPosition().rawValue
        while try checkpoint() < end { _ = try store.writing.withLock { _ in try writeIndexSlice() } }
    }

    /// Writes the caches and the states over the whole store before the log is closed, so that the next opening has
    /// little to fold.
    func writeBeforeClosing() throws {
        try writeIndexInSlices()
        try keepStates()
    }

    /// Writes the caches up to the present end of the log, one transaction for each flush. The caller holds `writing`.
    func writeIndexAlone() throws {
        let end = try store.lastPosition().rawValue
        while try checkpoint() < end { _ = try writeIndexSlice(rows: .max) }
    }

    /// Returns the position up to which the caches reach.
    private func checkpoint() throws -> UInt64 {
        try store.environment.withReadTransaction { try IndexCheckpoint.position(store.environment.tables, $0) }
    }

    // MARK: - States over the whole store

    /// Brings the stored states up to the log's end, unless they lag by more than caches do.
    func keepStates() throws {
        let parts = 1 + 2 * store.options.greatestLag / states.mostFoldedAtOnce
        for projection in store.projections where projection.scope == .store {
            for _ in 0..<parts { if try !states.keepStateInPart(projection, of: states.mostFoldedAtOnce) { break } }
        }
    }

    /// Folds some more events into the stored states, if the caches were written and the states lag.
    func keepStatesIfDue() throws {
        let isDue = areStatesDue.withLock { isDue in
            defer { isDue = false }
            return isDue
        }
        guard isDue else { return }
        var isLeft = false
        for projection in store.projections where projection.scope == .store {
            if try states.keepStateInPart(projection, of: states.mostFoldedAfterCommit) { isLeft = true }
        }
        if isLeft { areStatesDue.withLock { $0 = true } }
    }

    // MARK: - A flush, slice by slice, for callers who hold `writing`

    /// Begins a flush, or writes the next slice of the running one, whichever process began it: `rows` rows at most.
    /// The last slice moves the checkpoint, and the tail of later events replaces the written one.
    ///
    /// Returns whether that was the last slice.
    func writeIndexSlice(rows: Int? = nil) throws -> Bool {
        // Forgotten if something fails: the row `flush` tells where to go on.
        var flush = self.flush.withLock { $0.take() }
        try store.environment.withReadTransaction { flush = try prepare(flush, rows, $0) }
        var isFinished = true
        try store.environment.withWriteTransaction { transaction in
            let now = try store.catchUpWriting(transaction)
            guard var current = try continued(flush, now, transaction) ?? begun(now, transaction) else {
                return flush = nil
            }
            try current.successor.withWriting { try store.fill(&$0, to: now.last, transaction) }
            isFinished = try write(&current, rows: rows, transaction)
            flush = current
        }
        guard let flush else { return true }
        if isFinished {
            areStatesDue.withLock { $0 = true }
            try adopt(flush.successor)
        } else {
            self.flush.withLock { $0 = flush }
        }
        return isFinished
    }

    /// The part of a slice that needs no write transaction. Others may commit in the meantime.
    private func prepare(
        _ known: IndexFlush?, _ rows: Int?, _ transaction: borrowing ReadTransaction
    ) throws -> IndexFlush? {
        guard let now = try store.catchUp(transaction), var flush = try continued(known, now, transaction) else {
            return nil
        }
        try flush.successor.withWriting { try store.fill(&$0, to: now.last, transaction) }
        if !flush.hasRows { flush.findRows(rows ?? 0) }
        return flush
    }

    /// The running flush with its present progress; nil if none is running.
    private func continued(
        _ known: IndexFlush?, _ now: LogView, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IndexFlush? {
        let progress = try FlushProgress.known(now.tables, transaction, checkpoint: now.checkpoint, last: now.last)
        guard let progress else { return nil }
        if var flush = known, flush.tail === now.tail, flush.progress.isSameFlush(as: progress) {
            flush.moveOn(to: progress)
            return flush
        }
        return try flush(progress, now.tail, transaction)
    }

    /// A new flush of what comes after the checkpoint; nil if nothing does.
    private func begun(_ now: LogView, _ transaction: borrowing WriteTransaction) throws -> IndexFlush? {
        if now.last == now.checkpoint { return nil }
        return try flush(try progress(from: now.checkpoint, to: now.last, transaction), now.tail, transaction)
    }

    /// A flush of `tail` that goes on at `progress`.
    func flush(
        _ progress: FlushProgress, _ tail: Guarded<Tail>, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IndexFlush {
        IndexFlush(
            progress, tail, recordedAt: try store.recordedAt(progress.target, transaction),
            snapshotInterval: store.options.snapshotInterval)
    }

    /// The flush that runs from `checkpoint` in a log that ends at `last`; if none does, a new one.
    func progress(
        from checkpoint: UInt64, to last: UInt64, _ transaction: borrowing WriteTransaction
    ) throws -> FlushProgress {
        let tables = store.environment.tables
        if let known = try FlushProgress.known(tables, transaction, checkpoint: checkpoint, last: last) { return known }
        // Rows without a checkpoint are of another revision, or damaged.
        if checkpoint == 0 { try transaction.clearCaches(tables) }
        let begun = FlushProgress(checkpoint: checkpoint, target: min(last, checkpoint + store.options.greatestLag))
        try transaction.put(tables.checkpoints, FlushProgress.key, begun.bytes)
        return begun
    }

    /// Writes the next rows of `flush`: `rows` at most, or as many as `sliceSize` says. That learns from the time that
    /// rows took. The wait for the write lock and the sync of the disk do not count, nor does a slice without rows.
    ///
    /// Answers whether all are written, and the checkpoint with them.
    func write(_ flush: inout IndexFlush, rows: Int? = nil, _ transaction: borrowing WriteTransaction) throws -> Bool {
        let (begin, size) = sliceSize.withLock { ($0.now(), rows ?? $0.rows) }
        var room = size
        let isFinished = try writeRows(of: &flush, room: &room, transaction)
        if rows == nil, !isFinished, room < size { sliceSize.withLock { $0.learn(since: begin) } }
        return isFinished
    }

    /// Writes rows until `room` is used up or a search would take long.
    private func writeRows(
        of flush: inout IndexFlush, room: inout Int, _ transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let size = room
        let view = LogView(
            handle: transaction.handle, tail: flush.tail, tables: store.environment.tables, nameTable: store.names,
            checkpoint: flush.progress.checkpoint, last: flush.progress.target,
            storedNames: try store.storedNames(transaction))
        let writer = IndexWriter(view: view)
        while room > 0 {
            let stage = flush.progress.stage
            if !flush.hasRows {
                // A long search belongs in the time before the next slice, without the write lock.
                if size < flush.candidates, flush.candidates > IndexFlush.quicklyFound {
                    CoverageMark.hit(.searchPutOff)
                    break
                }
                flush.findRows(size)
            }
            let rowCost = flush.rowCost
            let rows = flush.takeRows(max(1, room / rowCost))
            if rows.isEmpty, flush.hasRows, !flush.beginNextStage() {
                try writer.end(transaction)
                return true
            }
            room -= rows.count * rowCost
            if stage == .snapshots {
                try states.writeSnapshots(of: rows.map { UInt64($0) }, view, transaction)
            } else {
                try flush.tail.withReading { try writer.write(rows, of: stage, $0, transaction) }
            }
        }
        try transaction.put(store.environment.tables.checkpoints, FlushProgress.key, flush.progress.bytes)
        return false
    }

    /// Replaces the tail by `successor`, which begins after the checkpoint.
    private func adopt(_ successor: Guarded<Tail>) throws {
        if successor.withReading({ $0.damage.isEmpty }) {
            store.replaceTail(successor)
        } else {
            // All rows are there now, so the users of damaged records can be found.
            try store.environment.withReadTransaction { try store.rebuildTail($0) }
        }
    }

    /// Removes from the tail what another process has written into the caches. Returns whether it did.
    func trimTail() throws -> Bool {
        try store.environment.withReadTransaction { transaction in
            let index = try IndexCheckpoint.read(store.environment.tables, transaction)
            guard let checkpoint = index?.position, store.tail.withReading({ $0.base < checkpoint }) else {
                return false
            }
            if let known = flush.withLock({ $0.take() }), known.tail === store.tail, known.progress.target == checkpoint
            {
                try adopt(known.successor)
            } else {
                try store.rebuildTail(transaction)
            }
            return true
        }
    }

    // MARK: - Rounds

    // Caches that lag far too much are written in rounds. Each round is a flush with a tail of its own, which holds
    // only what it writes.

    /// Writes the caches until a tail can hold the rest of the log. `progress` gets the position that they have
    /// reached.
    func writeIndexInRounds(_ progress: (Position) throws -> Void = { _ in }) throws {
        while let round = try nextRound() {
            try write(round)
            try progress(Position(rawValue: round.progress.target))
        }
    }

    /// As `EventLog.writeCachesOfRestored(_:)`.
    func writeInRounds(_ progress: (Position) throws -> Void) throws {
        try writeIndexInRounds(progress)
        try writeIndexInSlices()
        try progress(store.lastPosition())
        try writeIndex()
    }

    /// Registers a round in table `checkpoints`, or takes over the one that is there, and reads its part of the log.
    /// Nil if none is needed.
    private func nextRound() throws -> IndexFlush? {
        guard let progress = try store.writing.withLock({ _ in try progressOfRound() }) else { return nil }
        return try store.environment.withReadTransaction { transaction in
            let index = try IndexCheckpoint.read(store.environment.tables, transaction, last: progress.target)
            let begin = progress.checkpoint
            var tail = Tail(
                base: begin, userCount: index?.users ?? 0, lastRecordedAt: try store.recordedAt(begin, transaction))
            try store.fill(&tail, to: progress.target, transaction)
            if let damage = tail.damage.first { throw damage.error }
            return try flush(progress, Guarded(tail), transaction)
        }
    }

    private func progressOfRound() throws -> FlushProgress? {
        let isNeeded = try store.environment.withReadTransaction { try isRoundNeeded($0) }
        guard isNeeded else { return nil }
        return try store.environment.withWriteTransaction { transaction in
            try store.refreshNames(transaction)
            guard try isRoundNeeded(transaction) else { return nil }
            let last = try OpenStore.last(transaction, store.environment.tables)
            let checkpoint = try IndexCheckpoint.position(store.environment.tables, transaction)
            return try progress(from: checkpoint, to: last, transaction)
        }
    }

    private func isRoundNeeded(_ transaction: borrowing some Reading & ~Copyable) throws -> Bool {
        let last = try OpenStore.last(transaction, store.environment.tables)
        let checkpoint = try IndexCheckpoint.position(store.environment.tables, transaction)
        return last - checkpoint > 2 * store.options.greatestLag
    }

    /// Writes a round to its end, unless another process finished it or dropped the caches.
    private func write(_ round: IndexFlush) throws {
        var flush = round
        var isDone = false
        while !isDone {
            if !flush.hasRows { flush.findRows(0) }
            try store.write { transaction in
                let tables = store.environment.tables
                let last = try OpenStore.last(transaction, tables)
                let checkpoint = try IndexCheckpoint.position(tables, transaction)
                let progress = try FlushProgress.known(tables, transaction, checkpoint: checkpoint, last: last)
                guard let progress, progress.isSameFlush(as: flush.progress) else { return isDone = true }
                flush.moveOn(to: progress)
                isDone = try write(&flush, transaction)
            }
        }
    }

    // MARK: - Making them again

    /// As `EventLog.rebuildCaches()`.
    func rebuildCaches() throws {
        try remakeCaches()
        try writeIndex()
    }

    /// As `rebuildCaches`, without the states over the whole store: later commits fold them.
    func remakeCaches(ifStill found: CheckpointRow? = nil) throws {
        try dropCaches(ifStill: found)
        try writeIndexInRounds()
        try writeIndexInSlices()
    }

    /// Empties the tables that can be made from the log. With `found`, only if the checkpoint's row still has that
    /// value: another process may repair the caches while this one reads the log.
    func dropCaches(ifStill found: CheckpointRow? = nil) throws {
        do {
            try dropIfSound(ifStill: found)
            mayRemakeCaches.withLock { $0 = true }
        } catch let error as StorageError where error.isDamage {
            mayRemakeCaches.withLock { $0 = false }
            throw error
        }
    }

    private func dropIfSound(ifStill found: CheckpointRow?) throws {
        var sound: UInt64 = 0
        try store.environment.withReadTransaction { sound = try refuseDamagedLog(after: sound, $0) }
        try store.writing.withLock { _ in
            var isDropped = false
            try store.environment.withWriteTransaction { transaction in
                if let found, try checkpointRow(transaction) != found { return }
                try store.refreshNames(transaction)
                _ = try refuseDamagedLog(after: sound, transaction)
                try transaction.clearCaches(store.environment.tables)
                isDropped = true
            }
            guard isDropped else { return }
            // The next reader fills it, from the checkpoint at that time.
            store.replaceTail(Guarded(Tail(base: 0, userCount: 0, lastRecordedAt: 0)))
            flush.withLock { $0 = nil }
        }
    }

    func checkpointRow(_ transaction: borrowing some Reading & ~Copyable) throws -> CheckpointRow {
        let tables = store.environment.tables
        let bytes = try transaction.get(tables.checkpoints, IndexCheckpoint.key).map { Array($0) }
        return CheckpointRow(bytes: bytes, isUsable: try IndexCheckpoint.read(tables, transaction) != nil)
    }

    /// Throws if a record after `position` fails its checksum or is missing. Returns the last position of the log.
    private func refuseDamagedLog(
        after position: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt64 {
        let last = try OpenStore.last(transaction, store.environment.tables)
        try OpenStore.scan(store.environment.tables, from: position + 1, to: last, transaction) { _, _ in true }
        return last
    }

    /// Rebuilds caches whose checkpoint cannot be used (another revision), and writes caches that lag far too much. So
    /// no process has to hold in memory what they lack.
    func repairCaches() throws {
        let found = try store.environment.withReadTransaction { try checkpointRow($0) }
        guard found.bytes != nil, !found.isUsable else {
            // Reads work without it: a process that cannot write holds the missing part in memory.
            try? writeIndexInRounds()
            return
        }
        do {
            try remakeCaches(ifStill: found)
            try writeIndex()
        } catch StorageError.damaged {
            // Writers get the error that names the damage.
        }
    }
}

/// The checkpoint's row of the caches, as it was read.
struct CheckpointRow: Hashable {
    /// The row; nil if there is none.
    let bytes: [UInt8]?
    let isUsable: Bool
}

extension WriteTransaction {
    /// Empties the tables that follow from the others.
    func clearCaches(_ tables: Tables) throws {
        for table in tables.caches { try clear(table) }
    }
}
