internal import Synchronization

/// Commits batches: decides them for groups of appends, or applies those of another store.
///
/// In a cluster another store may be first at the next place of the log: then this one applies that batch and decides
/// again (`delivered`).
package struct Committer: Sendable {
    let store: OpenStore
    let caches: CacheKeeper

    /// As `EventLog.commit(_:endsAtRefusal:)`.
    func commit(_ appends: [PreparedAppend], endsAtRefusal: Bool) -> [Result<AppendReceipt, AppendError>] {
        var answers: [Result<AppendReceipt, AppendError>] = []
        var isEnded = false
        // At least once: an empty commit takes the write lock too, and sees what a killed process left.
        repeat {
            answers += commitOnly(appends[answers.count...], endsAtRefusal: endsAtRefusal)
            isEnded = endsAtRefusal && answers.last?.isRefusal == true
        } while answers.count < appends.count && !isEnded
        caches.writeIndexIfDue()
        return answers
    }

    /// Runs `body` while the write lock is held, and stores all that it decides, in one commit, with at most
    /// `mostSteps` of what a device does by itself. If it throws, nothing is stored. Throws `Decider.HalfDecided` only
    /// if it decided something before that.
    func commit<Value: Sendable>(
        mostSteps: Int = Decider.stepsPerCommit, _ body: (inout Decider) throws -> Value
    ) throws -> Value {
        do {
            let value = try commitOnly(reporting: { _ in }) { decider in
                decider.mostSteps = mostSteps
                return try body(&decider)
            }
            caches.writeIndexIfDue()
            return value
        } catch let half as Decider.HalfDecided where half.decidedBefore == 0 {
            throw half.refusal
        } catch let error as StorageError {
            throw AppendError(error)
        }
    }

    /// Commits the first of `appends`, as many as fit into one commit, and returns their answers. Does not write the
    /// caches: the writer answers first. `report` gets the times of the commit, if something was stored.
    func commitOnly(
        _ appends: ArraySlice<PreparedAppend>, endsAtRefusal: Bool = false,
        reporting report: (CommitReport) -> Void = { _ in }
    ) -> [Result<AppendReceipt, AppendError>] {
        var group = appends
        while true {
            var answers: [Result<AppendReceipt, AppendError>] = []
            do {
                try commitOnly(reporting: report) {
                    answers.removeAll(keepingCapacity: true)
                    try $0.decide(group, endsAtRefusal, &answers)
                }
                return answers
            } catch let half as Decider.HalfDecided {
                // Those before it are decided again without it.
                CoverageMark.hit(.givenUp)
                if answers.isEmpty { return [.failure(half.refusal)] }
                group = group.prefix(answers.count)
            } catch AppendError.tooLarge where answers.count > 1 {
                // Their names are more than the transport takes at once.
                group = group.prefix(answers.count / 2)
            } catch {
                // A failed commit refuses the appends in it. A failure before the commit refuses all.
                let count = answers.isEmpty ? group.count : answers.count
                return Array(repeating: .failure(AppendError(error)), count: count)
            }
        }
    }

    private func commitOnly<Value: Sendable>(
        reporting tell: (CommitReport) -> Void, _ body: (inout Decider) throws -> Value
    ) throws -> Value {
        let decision = try delivered { try commitOnce(&$0, reporting: tell, body) }
        if decision.isSettled {
            tell(decision.report)
            store.options.onCommit?(decision.report)
        }
        guard let value = decision.value else { preconditionFailure("A commit ended before it was decided.") }
        return value
    }

    /// The decision of one attempt of a commit.
    struct Decision<Value> {
        var value: Value?
        /// Tells whether there was a batch to store.
        var hasBatch = false
        /// Tells whether it was stored after its transaction had been given up.
        var isSettled = false
        var report = CommitReport()
    }

    /// Runs `attempt`, which decides a batch, puts what it decided into its argument, and delivers the batch, all in
    /// one transaction; again, if another store's batch came first. Returns what was decided when the batch is stored.
    @discardableResult
    func delivered<Value>(_ attempt: (inout Decision<Value>) throws -> Void) throws -> Decision<Value> {
        let transport = store.options.transport
        guard transport.isReplicated else {
            var decision = Decision<Value>()
            try attempt(&decision)
            return decision
        }
        let deadline = ContinuousClock.now + transport.deadline
        var catchUps = 0
        // Tells whether other stores had decided more, which this one has now: one that lags must neither refuse nor
        // find nothing to do by what is outdated. Where the cluster does not answer, what this store has decides.
        func wasBehind(_ last: Position) -> Bool {
            catchUps += 1
            guard catchUps <= Self.mostCatchUps else { return false }
            _ = try? transport.catchUp()
            return (try? store.lastPosition()) != last
        }
        while true {
            try transport.prepare()
            let last = try store.lastPosition()
            let begin = ContinuousClock.now
            var decision = Decision<Value>()
            do {
                try attempt(&decision)
                if decision.hasBatch || !wasBehind(last) { return decision }
            } catch let undecided as UndecidedBatch {
                if try transport.settle(undecided) == .stored {
                    decision.isSettled = true
                    decision.report.duration = ContinuousClock.now - begin
                    return decision
                }
                CoverageMark.hit(.decidedAgain)
                guard ContinuousClock.now < deadline else { throw Self.alwaysSecond }
            } catch let error as AppendError where error.isOfThisMoment {
                guard wasBehind(last) else { throw error }
            }
        }
    }

    /// The most times that one commit catches up before it refuses or finds nothing to do: another store may write all
    /// the time.
    private static let mostCatchUps = 10

    /// Nothing was stored: other stores' batches took each place.
    private static let alwaysSecond = AppendError.unavailable(
        reason: "other nodes of the cluster write all the time, and took each place first",
        remedy: "Send it again, best to the node that writes.")

    /// Delivers `batch` and writes it, in the transaction in which it was decided. `isPlaced` becomes true when other
    /// stores have it, whatever happens here.
    func store(_ batch: CommitBatch, isPlaced: inout Bool, _ transaction: borrowing WriteTransaction) throws {
        let (transport, tables) = (store.options.transport, store.environment.tables)
        let last = transport.isReplicated ? try CommitBatch.replicaPosition(tables, transaction) : nil
        var placed = batch
        if let position = try transport.deliver(batch, after: last) {
            isPlaced = true
            placed.meta += position.rows
        }
        try placed.apply(to: transaction, tables)
    }

    /// Commits rows of table `meta`, which no append decides.
    func commit(_ rows: CommitBatch) throws {
        try delivered { decision in
            decision = Decision(value: (), hasBatch: true)
            var isPlaced = false
            do {
                try store.write { try self.store(rows, isPlaced: &isPlaced, $0) }
            } catch {
                throw isPlaced ? AppendError.outcomePending : error
            }
        }
    }

    private func commitOnce<Value: Sendable>(
        _ decision: inout Decision<Value>, reporting tell: (CommitReport) -> Void,
        _ body: (inout Decider) throws -> Value
    ) throws {
        try store.writing.withLock { _ in
            try store.refuseIfClosed()
            let begin = ContinuousClock.now
            var report = CommitReport()
            var isPlaced = false
            do {
                var end: HistoryCursor?
                var stored: CommitBatch?
                var applied = begin
                try store.environment.withWriteTransaction { transaction in
                    report.waiting = ContinuousClock.now - begin
                    let seen = try store.catchUpWriting(transaction)
                    var decider = try self.decider(after: seen)
                    decision.value = try body(&decider)
                    let repeats = decider.repeats
                    let batch = decider.batch()
                    if batch.count == 0 {
                        if repeats {
                            CoverageMark.hit(.repetitionSynced)
                            try store.environment.syncWhatIsSeen(by: transaction)
                        }
                        throw NothingToStore()
                    }
                    decision.hasBatch = true
                    (report.events, report.bytes) = (batch.count, batch.bytes.count)
                    decision.report = report
                    try self.store(batch, isPlaced: &isPlaced, transaction)
                    end = try store.cursor(at: seen.last + UInt64(batch.count), transaction)
                    stored = batch
                    applied = .now
                }
                store.lastSeen.withLock { $0 = end }
                store.tail.withWriting { $0.uncommitted = nil }
                let synced = ContinuousClock.now
                (report.duration, report.syncing) = (synced - begin, synced - applied)
                tell(report)
                if let end { store.watch.advanced(to: end.position) }
                store.options.onCommit?(report)
                if let stored { store.hooks.committed(stored) }
            } catch is NothingToStore {
                store.tail.withWriting { $0.uncommitted = nil }
            } catch {
                takeBackTail()
                // The cluster has the batch, and this store gets it from there.
                throw isPlaced ? AppendError.outcomePending : error
            }
        }
    }

    private struct NothingToStore: Error {}

    /// A decider of what comes after all that `seen` shows.
    private func decider(after seen: LogView) throws -> Decider {
        var view = seen
        view.last = .max
        let recordedAt = store.recordedAtNow(seen)
        store.tail.withWriting { $0.uncommitted = seen.last + 1 }
        var decider = try Decider(
            view: view, names: store.names, braze: store.braze,
            itemsPerDevice: store.options.pendingItemsPerDevice,
            tables: store.messageTables, rules: store.rules, recordedAt: recordedAt, firstPosition: seen.last + 1)
        decider.mostBytes = min(Limits.bytesPerCommit, store.options.transport.mostBytes)
        return decider
    }

    /// Rebuilds the tail after a failed commit, if it holds events that are not in the log.
    private func takeBackTail() {
        guard
            store.tail.withWriting({ tail in
                guard let uncommitted = tail.uncommitted else { return false }
                if tail.last < uncommitted { tail.uncommitted = nil }
                return tail.last >= uncommitted
            })
        else { return }
        CoverageMark.hit(.tailTakenBack)
        do {
            try store.environment.withReadTransaction { try store.rebuildTail($0) }
        } catch {
            // The environment is unusable. Readers must not see what the failed commit added to the tail.
            store.replaceTail(Guarded(Tail(base: .max / 2, userCount: 0, lastRecordedAt: .max)))
        }
    }

    // MARK: - Batches that erase, and batches of other stores

    /// Runs `body` in a write transaction whose caches reach the end of the log. Then this process forgets what was
    /// erased. `body` returns the batch that it stored, if hooks are to be told of it.
    func withWholeCaches(_ body: (LogView, borrowing WriteTransaction) throws -> CommitBatch?) throws {
        try store.refuseIfClosed()
        try store.writing.withLock { _ in
            var isDone = false
            var stored: CommitBatch?
            while !isDone {
                // In its own transaction: one that puts and deletes a long value leaves a file that looks truncated.
                try caches.writeIndexAlone()
                try store.environment.withWriteTransaction { transaction in
                    let view = try store.catchUpWriting(transaction)
                    // Another process may have committed in between.
                    guard view.last == view.checkpoint else { return CoverageMark.hit(.erasureOvertaken) }
                    stored = try body(view, transaction)
                    isDone = true
                }
            }
            // It is stored, whatever becomes of the tail.
            if let stored { store.hooks.committed(stored) }
            try store.environment.withReadTransaction { transaction in
                try store.forgetErasedNames(transaction)
                try store.rebuildTail(transaction)
            }
        }
    }

    /// Stores a batch that another store of the same log decided. What it erases leaves this store's caches too.
    package func apply(_ batch: CommitBatch) throws { _ = try apply(batch, placed: nil) }

    /// Stores a batch at its place in the log of a cluster. Returns false if the store has it already. Throws if it
    /// does not fit: then nothing is changed.
    package func apply(_ placed: PlacedBatch) throws -> Bool {
        var batch = placed.batch
        batch.meta += placed.position.rows
        guard try apply(batch, placed: placed) else { return false }
        if batch.count > 0 {
            store.watch.advanced(to: Position(rawValue: batch.firstPosition + UInt64(batch.count) - 1))
            if batch.tombstones.isEmpty { store.hooks.committed(batch) }
        }
        return true
    }

    private func apply(_ batch: CommitBatch, placed: PlacedBatch?) throws -> Bool {
        var isNew = true
        if batch.tombstones.isEmpty {
            isNew = try applyWithoutCaches(batch, placed: placed)
        } else {
            try withWholeCaches { view, transaction in
                isNew = try isNext(batch, placed, after: view.last, transaction)
                guard isNew else { return nil }
                try ErasedCaches(of: batch, view).remove(transaction)
                try batch.apply(to: transaction, store.environment.tables)
                return placed == nil ? nil : batch
            }
            store.recentStates.removeAll()
        }
        guard isNew else { return false }
        try store.withView { _ in }
        caches.writeIndexIfDue()
        return true
    }

    /// Stores a batch that erases nothing, and leaves the caches and the tail as they are.
    @discardableResult
    func applyWithoutCaches(_ batch: CommitBatch, placed: PlacedBatch? = nil) throws -> Bool {
        try store.write { transaction in
            let last = try OpenStore.last(transaction, store.environment.tables)
            guard try isNext(batch, placed, after: last, transaction) else { return false }
            try batch.apply(to: transaction, store.environment.tables)
            return true
        }
    }

    private func isNext(
        _ batch: CommitBatch, _ placed: PlacedBatch?, after last: UInt64, _ transaction: borrowing WriteTransaction
    ) throws -> Bool {
        if let placed {
            let known = try CommitBatch.replicaPosition(store.environment.tables, transaction)
            guard try placed.isNext(after: known) else { return false }
        }
        try batch.refuseGap(after: last)
        return true
    }
}

extension Result<AppendReceipt, AppendError> {
    fileprivate var isRefusal: Bool { if case .failure = self { true } else { false } }
}

extension AppendError {
    /// Tells whether the append may be accepted by a store that knows more.
    fileprivate var isOfThisMoment: Bool {
        switch self {
        case .versionConflict, .conflict, .keyReused, .unknownUser, .unknownDevice, .pendingFull, .invalid: true
        case .tooLarge, .overloaded, .closed, .refused, .outcomeUnknown, .unavailable, .outcomePending: false
        }
    }

    /// Translates an error of a commit for the appends in it.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as AppendError: error
            case StorageError.closed: .closed
            case let error as StorageError: .refused(error)
            default: .refused(.damaged(place: "\(error)"))
            }
    }
}

/// The size and duration of one commit (`LogOptions.onCommit`).
package struct CommitReport: Hashable, Sendable {
    /// Events that it stored.
    package internal(set) var events = 0
    /// Bytes of their records.
    package internal(set) var bytes = 0
    /// The time from the wait for the store's write lock until the disk had everything.
    package internal(set) var duration = Duration.zero
    /// The part of `duration` until this process had the store's write lock.
    package internal(set) var waiting = Duration.zero
    /// The part of `duration` in which the file system took the events: LMDB's commit with its sync.
    package internal(set) var syncing = Duration.zero
}
