internal import Foundation

/// Replays, the shadow, blame and what-if: what a log can be asked beyond its states.
extension EventLog {
    // MARK: - Replay

    /// Replays the log into fresh profiles.
    ///
    /// With `verify`, proves that live states equal the log: each user's profile as it is read (snapshot and tail) must
    /// have the same bytes as the fresh fold, now and after each of their launches, and their history these events. The
    /// pending items of each device must be those in the fresh profiles; this is known only for the log's end, and
    /// skipped if `until` is before it. `progress` may stop the work by returning false; the report then covers what
    /// was done.
    package func replay(
        threads: Int = 1, until: Position? = nil, verify: Bool = false,
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ReplayReport {
        try replay(ProfileProjection.self, threads: threads, until: until, verify: verify, progress: progress)
    }

    /// As `replay(threads:until:verify:progress:)`, for a projection of your own. Of a projection by device or over the
    /// store, the state as it is read and the stored one must have the same bytes as fresh folds.
    public func replay<P: Projection>(
        _: P.Type, threads: Int = 1, until: Position? = nil, verify: Bool = false,
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ReplayReport {
        try P.checkName()
        for _ in 0..<Self.mostReplays {
            let beginning = try lastPosition()
            var report = try replayOnce(P.self, threads: threads, until: until, verify: verify, progress: progress)
            // With an erasure during the replay, some slices have folded the user's events and others have read
            // tombstones: such a state never existed.
            if try !reader.events.hasErasure(after: beginning) { return report }
            if !report.isComplete {
                report.differences = []
                return report
            }
        }
        throw AppendError.invalid(
            place: "The log",
            reason: "met an erasure in each of \(Self.mostReplays) replays; try again when they are erased")
    }

    /// The most times that a replay is tried on a log with continual erasures.
    private static let mostReplays = 5

    private func replayOnce<P: Projection>(
        _: P.Type, threads: Int, until: Position?, verify: Bool, progress: (LogProgress) -> Bool
    ) throws -> ReplayReport {
        let clock = ContinuousClock()
        let begin = clock.now
        let replayer = Replayer<P>(self, threads: threads)
        let isComplete = try replayer.run(to: until, progress: progress)
        let elapsed = clock.now - begin
        var report = ReplayReport(
            events: replayer.position.rawValue, users: 0, elapsed: elapsed, digest: replayer.digest(),
            isComplete: isComplete)
        replayer.forEachUser { user, _, _ in if user != .system { report.users += 1 } }
        if verify, isComplete {
            try LiveProof(log: self, replayer: replayer, until: until).run(into: &report, progress)
        }
        return report
    }

    /// Replays the log into the store in the folder `path`: same records, positions, times and names.
    ///
    /// Creates the folder if needed. A copy that was stopped goes on where it stopped; a store with other content is
    /// refused. Each step is durable before the next. `progress` may stop the work by returning false.
    ///
    /// With `latest`, an event with a later time gets that time in the copy: the clock was ahead when it was recorded
    /// (docs/decisions/0007). Such a copy goes on only in one run.
    package func replay(
        into path: String, until: Position? = nil, latest: Timestamp? = nil,
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ReplayReport {
        try LogCopier(source: self).copy(into: path, until: until, latest: latest, progress: progress)
    }

    /// Rewrites the file of the store in the folder `path` without free pages. These may still have erased values;
    /// their bytes go back to the disk.
    ///
    /// Needs the store alone (`StorageError.inUse` otherwise), and room for a second file. The new file replaces the
    /// old one when it is complete and on the disk; until then a crash leaves the store as it was. Disks and backups
    /// may keep the old content.
    package static func compact(
        path: String, options: LogOptions = LogOptions(),
        projections: [any Projection.Type] = [ProfileProjection.self], progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> Compaction {
        let log = try EventLog(
            path: path, create: false, options: options, projections: projections, creation: nil, alone: true)
        return try log.environment.replacingFile { replace in
            if let damage = try log.check().problems.first { throw StorageError.damaged(place: damage.description) }
            let before = log.environment.usedBytes
            let folder = path + "/compact"
            try? FileManager.default.removeItem(atPath: folder)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            guard
                let after = try LogCopier.copying(
                    into: path, { try LogCopier(source: log).rewritten(in: folder, progress) })
            else { return Compaction(bytesBefore: before, bytesAfter: before, isComplete: false) }
            try replace(folder + "/data.mdb")
            return Compaction(bytesBefore: before, bytesAfter: after, isComplete: true)
        }
    }

    // MARK: - The shadow

    /// Passes over the users until the shadow is taken as complete, however many events were recorded during them.
    private static let mostPasses: UInt64 = 8
    /// Users that a replay of some users names at most: a swap replaces their states in one transaction.
    package static let mostChosenUsers = 1_000

    /// Folds the stored states of this log's projections again, as a shadow next to those that are read.
    ///
    /// Readers and writers go on. Each slice of users is durable before the next; a replay that was stopped or killed
    /// goes on there when it is called again. When it is complete, ``swapShadow()`` makes its states the live ones.
    ///
    /// ```swift
    /// while try !log.replayIntoShadow(threads: 2).isComplete {}
    /// try log.swapShadow()
    /// ```
    ///
    /// - Parameters:
    ///   - users: whose states are folded; empty for those of all users, and for states over the whole store.
    ///   - until: folds no event after this position. Reads of later versions fold the rest.
    ///   - threads: how many fold.
    ///   - verify: compares each live state with the fresh one.
    ///   - progress: is asked after each slice, and stops the replay with false.
    public func replayIntoShadow(
        users: [UserID] = [], until: Position? = nil, threads: Int = 1, verify: Bool = false,
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ShadowReport {
        try replayIntoShadow(
            .init(users: numbers(of: users), until: until), threads: threads, verify: verify, progress: progress)
    }

    /// As ``replayIntoShadow(users:until:threads:verify:progress:)``, for user numbers.
    package func replayIntoShadow(
        _ request: ShadowStates.Request, threads: Int = 1, verify: Bool = false,
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ShadowReport {
        while try shadow.removeUnused() {}
        var run = ShadowRun(log: self, threads: max(1, threads), verify: verify, shadow: try shadow.begin(request))
        var isStopped = false
        while !isStopped {
            let users = request.users.isEmpty ? try userCount() : UInt64(request.users.count)
            while try run.foldSlice(UInt64(options.usersPerIndexSlice), of: users) {
                let done = run.done(of: users)
                isStopped = !progress(LogProgress(stage: "shadow", done: done, total: users, unit: "users"))
                if isStopped { break }
            }
            if isStopped { break }
            let behind = try lastPosition().rawValue - min(run.shadow.begun, lastPosition().rawValue)
            let isLate = request.users.isEmpty && request.until == nil && behind > UInt64(options.indexLag)
            if !isLate || run.shadow.pass >= Self.mostPasses { break }
            run.shadow = try shadow.endPass(of: run.shadow, again: true)
        }
        if !isStopped, request.users.isEmpty {
            while try !shadow.foldStoreStates(of: run.shadow, limit: 1 << 17), !isStopped {
                isStopped = !progress(LogProgress(stage: "catalogue", done: 0, total: 0))
            }
        }
        if !isStopped { run.shadow = try shadow.endPass(of: run.shadow, again: false) }
        return ShadowReport(run.shadow, damaged: run.damaged, differing: run.differing)
    }

    /// Makes the states of the shadow the live ones, in one transaction: a reader sees the old ones or the new ones.
    ///
    /// Refused if there is no shadow, or if it is not complete. The states that it replaces are removed afterwards, in
    /// small transactions.
    @discardableResult
    public func swapShadow() throws -> ShadowReport { try swapShadow(ifGeneration: nil) }

    /// As ``swapShadow()``; with `number`, refuses a shadow of another generation.
    package func swapShadow(ifGeneration number: UInt64?) throws -> ShadowReport {
        let swapped = try shadow.swap(ifGeneration: number)
        while try shadow.removeUnused() {}
        return ShadowReport(swapped)
    }

    /// Gives the shadow up. Returns whether there was one.
    @discardableResult
    public func discardShadow() throws -> Bool { try discardShadow(ifGeneration: nil) }

    /// As ``discardShadow()``; with `number`, refuses a shadow of another generation.
    package func discardShadow(ifGeneration number: UInt64?) throws -> Bool {
        let discarded = try shadow.discard(ifGeneration: number)
        while try shadow.removeUnused() {}
        return discarded != nil
    }

    /// The shadow, as far as it was folded; nil if there is none.
    package func shadowReport() throws -> ShadowReport? { try shadow.current().map { ShadowReport($0) } }

    /// The numbers of `users`, ascending. Refuses unknown ones, and too many.
    package func numbers(of users: [UserID]) throws -> [UInt64] {
        guard users.count <= Self.mostChosenUsers else {
            throw AppendError.invalid(
                place: "A replay of some users", reason: "takes at most \(Self.mostChosenUsers) of them",
                remedy: "Replay all users.")
        }
        return try Set(
            users.map { id in
                guard let user = try find(id) else { throw AppendError.unknownUser(id) }
                return user.number.rawValue
            }
        ).sorted()
    }

    // MARK: - Blame and what-if

    /// Returns the reason why the attributes of `user` have their values: for each value, also inside arrays and
    /// objects, the last event that wrote it, and what was there before. Void events are skipped; attributes that came
    /// with a merge name the user whose events they were.
    ///
    /// ```swift
    /// for entry in try log.blame(of: user.number, field: "address.city") {
    ///     print(entry.field, entry.value ?? .null, entry.write.event.position)
    /// }
    /// ```
    ///
    /// `event:NAME` and `product:ID` tell why the user has a count: the value is the count, and the write is the event
    /// that was counted last.
    ///
    /// ```swift
    /// let seen = try log.blame(of: user.number, field: "event:Viewed Home", withLog: true).first
    /// print(seen?.value ?? 0, seen?.log.map(\.event.context.device) ?? [])
    /// ```
    ///
    /// One attribute costs the events between its last write and the snapshot before that; the log, an array that grew
    /// over time and a user with void events cost the user's whole history.
    ///
    /// - Parameters:
    ///   - field: one attribute, or a part of it as in `address.city` or `pets[0].name`; nil for all attributes. A
    ///     standard and a custom attribute of the same name are both in the answer. An event or a product, unless an
    ///     attribute is called so.
    ///   - withLog: whether the answer has all writes of each value.
    /// - Returns: the values in the order of their names; nothing if the user never had the attribute.
    public func blame(of user: UserNumber, field: String? = nil, withLog: Bool = false) throws -> [FieldBlame] {
        try reader.blame(of: user, field: field, withLog: withLog)
    }

    /// Returns the profiles that would differ if the history were `history`. Writes nothing.
    ///
    /// ```swift
    /// let impact = try log.whatIf(AlteredHistory(without: [.event(receipt.last)]))
    /// ```
    ///
    /// Folds each user twice in one pass over the log; once more only for those with altered events. A question about
    /// single events or users reads their events only. Throws ``AppendError/invalid(place:reason:remedy:)`` for an
    /// event that is not there, that was erased, or that has no content.
    ///
    /// - Parameter threads: users are folded in parallel; the answer is the same for any number.
    public func whatIf(_ history: AlteredHistory, threads: Int = 1) throws -> ProfileImpact {
        var options = WhatIfOptions()
        options.threads = threads
        return try whatIf(read { try Alteration(history, of: $0) }, options)
    }

    /// As `whatIf(_:threads:)`. `progress` may stop it by returning false.
    package func whatIf(
        _ alteration: Alteration, _ options: WhatIfOptions, progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ProfileImpact {
        try AlteredFold(log: self, alteration: alteration, options: options).run(progress)
    }
}
