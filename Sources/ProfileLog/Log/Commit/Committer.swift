internal import Synchronization

/// Commits batches: decides them for groups of appends, or applies those of another store.
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

    /// As `EventLog.commit(decidingUnderLock:)`.
    func commit(decidingUnderLock decide: () throws -> PreparedAppend?) throws -> AppendReceipt? {
        let outcome = commitTogether([], false, isUndecided: true) { try decide().map { [$0] } ?? [] }
        caches.writeIndexIfDue()
        switch outcome {
        case .answered(let answers): return try answers.first?.get()
        case .givenUp(_, let refusal): throw refusal
        case .undecided(let error): throw error
        }
    }

    /// Commits the first of `appends`, as many as fit into one commit, and returns their answers. Does not write the
    /// caches: the writer answers first.
    func commitOnly(
        _ appends: ArraySlice<PreparedAppend>, endsAtRefusal: Bool = false
    ) -> [Result<AppendReceipt, AppendError>] {
        var group = appends
        while true {
            switch commitTogether(group, endsAtRefusal) {
            case .answered(let answers): return answers
            case .givenUp(at: 0, let refusal): return [.failure(refusal)]
            case .givenUp(let index, _): group = group.prefix(index)
            case .undecided(let error): return [.failure(AppendError(error))]
            }
        }
    }

    private enum Outcome {
        case answered([Result<AppendReceipt, AppendError>])
        /// Nothing is stored: the append at this place of the group was refused after a part of it was recorded.
        case givenUp(at: Int, AppendError)
        /// Nothing is stored: the appends could not be decided.
        case undecided(any Error)
    }

    private struct Undecided: Error {
        let error: any Error
    }

    /// - Parameters:
    ///   - isUndecided: whether `decide` gives the appends, while the write lock is held.
    ///   - decide: is called in that case only.
    private func commitTogether(
        _ appends: ArraySlice<PreparedAppend>, _ endsAtRefusal: Bool, isUndecided: Bool = false,
        deciding decide: () throws -> ArraySlice<PreparedAppend> = { [] }
    ) -> Outcome {
        store.writing.withLock { _ in
            var appends = appends
            var answers: [Result<AppendReceipt, AppendError>] = []
            do {
                let begin = ContinuousClock.now
                var report = CommitReport()
                var end: HistoryCursor?
                try store.environment.withWriteTransaction { transaction in
                    let seen = try store.catchUpWriting(transaction)
                    do { if isUndecided { appends = try decide() } } catch { throw Undecided(error: error) }
                    (answers, report) = try decideAndApply(appends, seen, endsAtRefusal, transaction)
                    if report.events == 0 {
                        if answers.contains(where: \.isRepetition) {
                            try store.environment.syncWhatIsSeen(by: transaction)
                        }
                        throw NothingToStore()
                    }
                    end = try store.cursor(at: seen.last + UInt64(report.events), transaction)
                }
                store.lastSeen.withLock { $0 = end }
                store.tail.withWriting { $0.uncommitted = nil }
                report.duration = ContinuousClock.now - begin
                store.options.onCommit?(report)
            } catch is NothingToStore {
                store.tail.withWriting { $0.uncommitted = nil }
            } catch let undecided as Undecided {
                return .undecided(undecided.error)
            } catch let half as HalfDecided {
                takeBackTail()
                return .givenUp(at: half.index, half.refusal)
            } catch {
                if store.tail.withReading({ $0.uncommitted != nil }) { takeBackTail() }
                if isUndecided, appends.isEmpty { return .undecided(AppendError(error)) }
                // A failed commit refuses the appends in it. A failure before the commit refuses all.
                let count = answers.isEmpty ? appends.count : answers.count
                return .answered(Array(repeating: .failure(AppendError(error)), count: count))
            }
            return .answered(answers)
        }
    }

    private struct NothingToStore: Error {}

    /// The append at `index` of the group was refused after a part of it was recorded.
    private struct HalfDecided: Error {
        let index: Int
        let refusal: AppendError
    }

    private func decideAndApply(
        _ appends: ArraySlice<PreparedAppend>, _ seen: LogView, _ endsAtRefusal: Bool,
        _ transaction: borrowing WriteTransaction
    ) throws -> ([Result<AppendReceipt, AppendError>], CommitReport) {
        let view = LogView(
            handle: seen.handle, tail: seen.tail, tables: seen.tables, nameTable: store.names,
            checkpoint: seen.checkpoint, last: .max, flush: seen.flush, storedNames: seen.storedNames)
        let recordedAt = store.recordedAtNow(seen)
        store.tail.withWriting { $0.uncommitted = seen.last + 1 }
        var decider = try Decider(
            view: view, names: store.names, braze: store.braze,
            itemsPerDevice: store.options.pendingItemsPerDevice,
            tables: store.messageTables, rules: store.rules, recordedAt: recordedAt, firstPosition: seen.last + 1)
        var answers: [Result<AppendReceipt, AppendError>] = []
        answers.reserveCapacity(appends.count)
        // Lent by the span: an append has a dozen parts to retain.
        let span = appends.span
        for index in span.indices {
            if endsAtRefusal, answers.last?.isRefusal == true { break }
            do {
                guard let receipt = try decider.decideIfItFits(span[index], isFirst: answers.isEmpty) else { break }
                answers.append(.success(receipt))
            } catch let error as AppendError {
                answers.append(.failure(error))
            } catch let half as Decider.HalfDecided {
                throw HalfDecided(index: answers.count, refusal: half.refusal)
            }
        }
        let batch = decider.batch()
        if batch.count > 0 {
            try store.options.transport.deliver(batch)
            try batch.apply(to: transaction, store.environment.tables)
        }
        return (answers, CommitReport(events: batch.count, bytes: batch.bytes.count))
    }

    /// Rebuilds the tail after a failed commit: it holds events that are not in the log.
    private func takeBackTail() {
        do {
            try store.environment.withReadTransaction { try store.rebuildTail($0) }
        } catch {
            // The environment is unusable. Readers must not see what the failed commit added to the tail.
            store.replaceTail(Guarded(Tail(base: .max / 2, userCount: 0, lastRecordedAt: .max)))
        }
    }

    // MARK: - Batches that erase, and batches of other stores

    /// Runs `body` in a write transaction whose caches reach the end of the log. Then this process forgets what was
    /// erased.
    func withWholeCaches(_ body: (LogView, borrowing WriteTransaction) throws -> Void) throws {
        try store.writing.withLock { _ in
            var isDone = false
            while !isDone {
                // In its own transaction: one that puts and deletes a long value leaves a file that looks truncated.
                try caches.writeIndexAlone()
                try store.environment.withWriteTransaction { transaction in
                    let view = try store.catchUpWriting(transaction)
                    // Another process may have committed in between.
                    guard view.last == view.checkpoint else { return }
                    try body(view, transaction)
                    isDone = true
                }
            }
            try store.environment.withReadTransaction { transaction in
                try store.forgetErasedNames(transaction)
                try store.rebuildTail(transaction)
            }
        }
    }

    /// Stores a batch that another store of the same log decided. What it erases leaves this store's caches too.
    package func apply(_ batch: CommitBatch) throws {
        if batch.tombstones.isEmpty {
            try store.writing.withLock { _ in
                try store.environment.withWriteTransaction { transaction in
                    try batch.refuseGap(after: OpenStore.last(transaction, store.environment.tables))
                    try batch.apply(to: transaction, store.environment.tables)
                }
            }
        } else {
            try withWholeCaches { view, transaction in
                try batch.refuseGap(after: view.last)
                try apply(batch, ErasedCaches(of: batch, view), transaction)
            }
        }
        try store.withView { _ in }
        caches.writeIndexIfDue()
    }

    /// The caches first: the records, which the batch empties, tell what to remove from them.
    func apply(_ batch: CommitBatch, _ caches: ErasedCaches, _ transaction: borrowing WriteTransaction) throws {
        try caches.remove(transaction)
        try batch.apply(to: transaction, store.environment.tables)
    }
}

extension Result<AppendReceipt, AppendError> {
    fileprivate var isRefusal: Bool { if case .failure = self { true } else { false } }

    fileprivate var isRepetition: Bool { if case .success(let receipt) = self { receipt.isRepetition } else { false } }
}

extension AppendError {
    /// What an error of a commit means for the appends in it.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as AppendError: error
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
    /// From the wait for the store's write lock until the disk had everything.
    package internal(set) var duration = Duration.zero
}
