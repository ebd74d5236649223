internal import Synchronization

extension EventLog {
    /// Commits `appends` together: one transaction, one sync. Each is accepted or refused on its own, in this order.
    ///
    /// What is more than one commit may hold (48 MiB) takes several, each complete in itself.
    ///
    /// When it returns, the accepted ones are on the disk, and every later read sees them. If the disk failed, all of them say so
    /// (`outcomeUnknown`), and the log takes nothing more until it is opened again.
    package func commit(_ appends: [PreparedAppend]) -> [Result<AppendReceipt, AppendError>] {
        commit(appends, endsAtRefusal: false)
    }

    /// As `commit(_:)`. With `endsAtRefusal` what comes behind the first append that is refused is neither stored nor answered.
    package func commit(
        _ appends: [PreparedAppend], endsAtRefusal: Bool
    ) -> [Result<AppendReceipt, AppendError>] {
        var answers: [Result<AppendReceipt, AppendError>] = []
        var isEnded = false
        // Once at least: a commit of nothing still takes the write lock and sees what a killed process left.
        repeat {
            answers += commitOnly(appends[answers.count...], endsAtRefusal: endsAtRefusal)
            isEnded = endsAtRefusal && answers.last?.isRefusal == true
        } while answers.count < appends.count && !isEnded
        writeIndexIfDue()
        return answers
    }

    /// Commits the append that `decide` gives while the write lock is held: nothing comes between what it reads and the commit.
    ///
    /// All other writers of the store wait meanwhile, so it should be short. It reads this log as usual, and must not write. Nil if it
    /// gives nothing.
    package func commit(decidingUnderLock decide: () throws -> PreparedAppend?) throws -> AppendReceipt? {
        let outcome = commitTogether([], false, isUndecided: true) { try decide().map { [$0] } ?? [] }
        writeIndexIfDue()
        switch outcome {
        case .answered(let answers): return try answers.first?.get()
        case .givenUp(_, let refusal): throw refusal
        case .undecided(let error): throw error
        }
    }

    /// Commits one append.
    public func commit(_ append: PreparedAppend) throws(AppendError) -> AppendReceipt {
        try commit([append])[0].get()
    }

    /// Appends events of one user, and is done when they are on the disk.
    ///
    /// - Parameters:
    ///   - context: the app, unless you say otherwise, whose SDK takes no name that begins with `$` and no property of more than 255
    ///     characters. For what a server says give `EventContext(source: .rest)`.
    ///   - key: makes the same append, sent again, change nothing.
    public func append(
        _ events: [ProfileEvent], to user: UserID, expecting expected: ExpectedVersion = .any,
        context: EventContext = EventContext(source: .app), idempotencyKey key: String? = nil
    ) throws(AppendError) -> AppendReceipt {
        var builder = prepare()
        for event in events { try builder.add(event, context, to: user) }
        builder.expect(user, at: expected)
        return try commit(builder.finish(idempotencyKey: key))
    }

    /// Commits the first of `appends`, as many as one commit holds, and answers those. Without writing the index: the writer
    /// answers first.
    func commitOnly(
        _ appends: ArraySlice<PreparedAppend>, endsAtRefusal: Bool = false
    ) -> [Result<AppendReceipt, AppendError>] {
        var group = appends
        while true {
            switch commitTogether(group, endsAtRefusal) {
            case .answered(let answers): return answers
            case .givenUp(at: 0, let refusal): return [.failure(refusal)]
            case .givenUp(let index, _): group = group.prefix(index)
            case .undecided(let error): return [.failure(Self.appendError(error))]
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
        writing.withLock { _ in
            var appends = appends
            var answers: [Result<AppendReceipt, AppendError>] = []
            do {
                let begin = ContinuousClock.now
                var report = CommitReport()
                try environment.withWriteTransaction { transaction in
                    let seen = try catchUpWriting(transaction)
                    do { if isUndecided { appends = try decide() } } catch { throw Undecided(error: error) }
                    (answers, report) = try decideAndApply(appends, seen, endsAtRefusal, transaction)
                    if report.events == 0 {
                        if answers.contains(where: \.isRepetition) { try environment.syncWhatIsSeen(by: transaction) }
                        throw NothingToStore()
                    }
                }
                tail.withWriting { $0.uncommitted = nil }
                report.duration = ContinuousClock.now - begin
                options.onCommit?(report)
            } catch is NothingToStore {
                tail.withWriting { $0.uncommitted = nil }
            } catch let undecided as Undecided {
                return .undecided(undecided.error)
            } catch let half as HalfDecided {
                takeBackTail()
                return .givenUp(at: half.index, half.refusal)
            } catch {
                if tail.withReading({ $0.uncommitted != nil }) { takeBackTail() }
                if isUndecided, appends.isEmpty { return .undecided(Self.appendError(error)) }
                // The failure of a commit is that of the appends in it; what comes before a commit refuses them all.
                let count = answers.isEmpty ? appends.count : answers.count
                return .answered(Array(repeating: .failure(Self.appendError(error)), count: count))
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
        let tail = seen.tail
        let view = LogView(
            tail: tail, tables: seen.tables, nameTable: names, checkpoint: seen.checkpoint, last: .max,
            flush: seen.flush)
        let recordedAt = recordedAtNow(seen)
        tail.withWriting { $0.uncommitted = seen.last + 1 }
        var decider = try Decider(
            view: view, names: names, braze: braze,
            limits: PendingLimits(itemsPerDevice: options.pendingItemsPerDevice),
            recordedAt: recordedAt, firstPosition: seen.last + 1, transaction)
        var answers: [Result<AppendReceipt, AppendError>] = []
        answers.reserveCapacity(appends.count)
        // Lent by the span: an append has a dozen parts to retain.
        let span = appends.span
        for index in span.indices {
            let isFull = decider.byteCount + span[index].byteCount > Limits.bytesPerCommit
            if isFull, !answers.isEmpty { break }
            if endsAtRefusal, answers.last?.isRefusal == true { break }
            do {
                answers.append(.success(try decider.decide(span[index], transaction)))
            } catch let error as AppendError {
                answers.append(.failure(error))
            } catch let half as Decider.HalfDecided {
                throw HalfDecided(index: answers.count, refusal: half.refusal)
            }
        }
        let batch = decider.batch()
        if batch.count > 0 {
            try options.transport.deliver(batch)
            try batch.apply(to: transaction, environment.tables)
        }
        return (answers, CommitReport(events: batch.count, bytes: batch.bytes.count))
    }

    /// When what is committed now is recorded: never before what was recorded last.
    func recordedAtNow(_ view: LogView) -> Int64 {
        max(options.now().rawValue, view.tail.withReading { $0.lastRecordedAt })
    }

    /// After a commit that failed, the tail holds events that are not in the log: back to what is.
    private func takeBackTail() {
        do {
            try environment.withReadTransaction { try rebuildTail($0) }
        } catch {
            // The environment is unusable. What the tail held before the commit is right, what it got since must not be seen.
            replaceTail(Guarded(Tail(base: .max / 2, userCount: 0, lastRecordedAt: .max)))
        }
    }

    static func appendError(_ error: any Error) -> AppendError {
        switch error {
        case let error as AppendError: error
        case let error as StorageError: .refused(error)
        case CommitFailure.refused(let error): .refused(error)
        case CommitFailure.unknown(let code): .outcomeUnknown(code: code)
        default: .refused(.damaged(place: "\(error)"))
        }
    }
}

extension Result<AppendReceipt, AppendError> {
    fileprivate var isRefusal: Bool { if case .failure = self { true } else { false } }

    fileprivate var isRepetition: Bool { if case .success(let receipt) = self { receipt.isRepetition } else { false } }
}
