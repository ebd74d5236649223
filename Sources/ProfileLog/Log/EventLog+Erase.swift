internal import Synchronization

extension EventLog {
    /// Erases persons: each user in `users`, with everybody who was merged into them.
    ///
    /// Their events become tombstones, which keep place, kind and time; values leave every table with them: IDs, addresses, keys,
    /// snapshots, what waits on devices, devices that were theirs alone, and names that nobody else uses. Each gets one last event,
    /// `userErased`. It is one commit: durable when the call returns, or nothing is changed. Copies of old pages stay in free space of the
    /// file until `compact(path:)`, and in backups. The note of an append stays with its first event, if that is somebody else's.
    ///
    /// Costs a look at every record of the log if the person had a device or a name of their own, most of it while others write, and memory
    /// for the pages of their events.
    ///
    /// - Parameters:
    ///   - actor: who erases; stands in the log for ever.
    ///   - reason: why; stands in the log for ever.
    public func erase(
        _ users: [UserID], actor: String, reason: String, source: EventSource = .system
    ) throws(AppendError) -> Erasure {
        for user in users { try Validation.check(user) }
        return try erase(users.map { ErasureTarget(id: $0) }, actor, reason, source)
    }

    /// As ``erase(_:actor:reason:source:)``, for users who were found. Refused with `versionConflict` if one of them was merged into
    /// somebody else since, or erased: nobody else is erased for them.
    package func erase(
        found users: [UserInfo], actor: String, reason: String, source: EventSource = .system
    ) throws(AppendError) -> Erasure {
        let targets = users.map { ErasureTarget(id: .brazeID($0.brazeID), number: $0.number) }
        return try erase(targets, actor, reason, source)
    }

    private func erase(
        _ users: [ErasureTarget], _ actor: String, _ reason: String, _ source: EventSource
    ) throws(AppendError) -> Erasure {
        do {
            let event = ProfileEvent.userErased(actor: actor, reason: reason)
            for _ in 0..<Self.surveys {
                let survey = try surveyErasure(of: users)
                try writeIndexInSlices()
                do {
                    return try erase(users, event, EventContext(source: source), survey)
                } catch is ErasureSurvey.Outdated {
                    continue
                }
            }
            // Whoever writes now, waits.
            return try erase(users, event, EventContext(source: source), nil)
        } catch {
            throw Self.appendError(error)
        }
    }

    /// How often the log is looked at without keeping others from writing.
    private static let surveys = 3
    /// How many records one read transaction sees at most.
    private static let surveySlice: UInt64 = 1 << 18

    private func surveyErasure(of targets: [ErasureTarget]) throws -> ErasureSurvey {
        var survey = try withView { view, transaction in
            var traces = ErasureTraces()
            for target in targets {
                guard let user = try target.user(view, braze: braze, transaction) else { continue }
                try traces.follow(view.survivor(of: user, transaction), view, transaction)
            }
            return ErasureSurvey(traces, beginning: view.last)
        }
        while survey.position < survey.beginning {
            let end = min(survey.position + Self.surveySlice, survey.beginning)
            try environment.withReadTransaction { try survey.read(to: end, environment.tables, $0) }
        }
        return survey
    }

    private func erase(
        _ users: [ErasureTarget], _ event: ProfileEvent, _ context: EventContext, _ survey: ErasureSurvey?
    ) throws -> Erasure {
        var erasure = Erasure()
        try withWholeCaches { view, transaction in
            let eraser = Eraser(log: self, view: view, recordedAt: recordedAtNow(view), survey: survey)
            let decision = try eraser.decide(users, event, context, transaction)
            erasure = decision.erasure
            if decision.batch.count == 0 { return }
            try options.transport.deliver(decision.batch)
            try apply(decision.batch, decision.caches, transaction)
        }
        return erasure
    }

    /// The caches first: what they lose is told by the records that the batch empties.
    private func apply(
        _ batch: CommitBatch, _ caches: ErasedCaches, _ transaction: borrowing WriteTransaction
    ) throws {
        try caches.remove(transaction)
        try batch.apply(to: transaction, environment.tables)
    }

    /// Runs `body` in a write transaction in which the caches reach to the end of the log; then this process forgets what is erased.
    private func withWholeCaches(_ body: (LogView, borrowing WriteTransaction) throws -> Void) throws {
        try writing.withLock { _ in
            var isDone = false
            while !isDone {
                // In a transaction of its own: one that puts a long value and deletes it leaves a file that looks cut off.
                try writeIndexAlone()
                try environment.withWriteTransaction { transaction in
                    let view = try catchUpWriting(transaction)
                    // Another process may have committed in between.
                    guard view.last == view.checkpoint else { return }
                    try body(view, transaction)
                    isDone = true
                }
            }
            try environment.withReadTransaction { transaction in
                try forgetErasedNames(transaction)
                try rebuildTail(transaction)
            }
        }
    }

    /// Stores a batch that another store of the same log decided. Its erasures leave the caches as well.
    func apply(_ batch: CommitBatch) throws {
        if batch.tombstones.isEmpty {
            try writing.withLock { _ in
                try environment.withWriteTransaction { transaction in
                    try batch.refuseGap(after: Self.last(transaction, environment.tables))
                    try batch.apply(to: transaction, environment.tables)
                }
            }
        } else {
            try withWholeCaches { view, transaction in
                try batch.refuseGap(after: view.last)
                try apply(batch, ErasedCaches(of: batch, view, transaction), transaction)
            }
        }
        try withView { _, _ in }
        writeIndexIfDue()
    }
}

/// What an erasure did.
public struct Erasure: Hashable, Sendable {
    /// Who was erased, by number.
    public internal(set) var users: [UserNumber] = []
    /// The given IDs that lead to nobody.
    public internal(set) var unknown: [UserID] = []
    /// How many events lost their content.
    public internal(set) var events = 0
    /// Position of the last event of the erasure; nil if nobody was erased.
    public internal(set) var position: Position?
}
