internal import Foundation

/// Replays: the proof, copies, and stored states that are folded again.
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

    /// Folds the log again into fresh states of a projection of your own.
    ///
    /// With `verify`, proves that live states equal the log. Each user's state as it is read must have the same bytes
    /// as the fresh fold, now and after each of their launches, and their history these events. Of a projection by
    /// device or over the store, the state as it is read and the stored one must. The profile's states are proved by
    /// ``check(progress:)``. `progress` may stop the work by returning false; the report then covers what was done.
    ///
    /// ```swift
    /// let proof = try log.replay(MinutesPlayed.self, verify: true)
    /// print(proof.isEqual ? "equal" : proof.differences.joined(separator: ", "))
    /// ```
    public func replay<P: Projection>(
        _: P.Type, threads: Int = 1, until: Position? = nil, verify: Bool = false,
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ReplayReport {
        try P.checkName()
        return try replayWithoutErasure {
            try replayOnce(P.self, threads: threads, until: until, verify: verify, progress: progress)
        } isStopped: { report in
            if !report.isComplete { report.differences = [] }
            return !report.isComplete
        }
    }

    /// The result of a replay during which no user was erased: otherwise some slices have folded the user's events and
    /// others have read tombstones, and such a state never existed. One that was stopped is not tried again.
    func replayWithoutErasure<Result>(
        _ replay: () throws -> Result, isStopped: (inout Result) -> Bool = { _ in false }
    ) throws -> Result {
        for _ in 0..<Self.mostReplays {
            let beginning = try lastPosition()
            var result = try replay()
            if try !reader.events.hasErasure(after: beginning) || isStopped(&result) { return result }
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

    // MARK: - Copies

    /// Copies the log, up to the position `until`, into the store in the folder `path`: same records, positions, times
    /// and names. The log stays open: this is a backup.
    ///
    /// Creates the folder if needed. A copy that was stopped goes on where it stopped, and later ones bring what is
    /// new; a store with other content is refused. Each step is durable before the next. `progress` may stop the work
    /// by returning false.
    @discardableResult
    public func copy(
        to path: String, until: Position? = nil, progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ReplayReport {
        try replay(into: path, until: until, progress: progress)
    }

    /// As ``copy(to:until:progress:)``. With `latest`, an event with a later time gets that time in the copy: the clock
    /// was ahead when it was recorded (docs/decisions/0007). Such a copy goes on only in one run.
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
    ///
    /// - Parameter projections: your own whose states the new file gets; of others the next reads fold them again.
    /// - Returns: whether it was done; false if `progress` stopped it.
    @discardableResult
    public static func compact(
        path: String, options: LogOptions = LogOptions(), projections: [any Projection.Type] = [],
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> Bool {
        try compaction(of: path, options: options, projections: projections, progress: progress).isComplete
    }

    /// As ``compact(path:options:projections:progress:)``, with the sizes before and after.
    package static func compaction(
        of path: String, options: LogOptions = LogOptions(), projections: [any Projection.Type] = [],
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> Compaction {
        let projections = [ProfileProjection.self] + projections
        var options = options
        // A store of a cluster stays one: nothing of its log changes.
        options.transport = CopyTransport()
        let log = try EventLog(path: path, options: options, projections: projections, alone: true)
        return try log.environment.replacingFile { replace in
            if let damage = try log.check().problems.first { throw StorageError.damaged(place: damage.description) }
            let before = log.environment.usedBytes
            let folder = path + "/compact"
            try? FileManager.default.removeItem(atPath: folder)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            guard
                let after = try LogCopier.copying(
                    into: path, { try LogCopier(source: log, keepsPlace: true).rewritten(in: folder, progress) })
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

    /// Folds the stored states of this log's projections again, compares them with those that are read, and puts them
    /// in their place: after `apply` was changed, or if ``replay(_:threads:until:verify:progress:)`` found a
    /// difference.
    ///
    /// Readers and writers go on, and see the old states until the new ones take their place in one transaction. Each
    /// slice of users is durable before the next. `progress` is asked after each, and stops the work with false: the
    /// report is not complete then, and the next call goes on there, as after a crash. What an earlier call folded for
    /// other projections or an older revision is discarded. Only states by user are compared.
    ///
    /// ```swift
    /// try log.rebuildStates(threads: 2)
    /// ```
    @discardableResult
    public func rebuildStates(
        threads: Int = 1, progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ShadowReport {
        try discardOtherShadow()
        for _ in 1..<Self.mostReplays {
            // Another process that does the same may swap first, and then its shadow was this one.
            do {
                let report = try replayIntoShadow(threads: threads, verify: true, progress: progress)
                if report.isComplete { _ = try swapShadow(ifGeneration: report.shadow.generation) }
                return report
            } catch let error as AppendError where ShadowStates.isGone(error) { continue }
        }
        throw ShadowStates.gone
    }

    /// Discards the shadow of other work that an earlier program left: of other projections, or of an older revision.
    private func discardOtherShadow() throws {
        guard let found = try shadow.current(), try !shadow.isBegun(), !shadow.isOfNewerProgram(found) else { return }
        do { _ = try discardShadow(ifGeneration: found.generation) } catch let error as AppendError {
            if !ShadowStates.isGone(error) { throw error }
        }
    }

    /// Folds the stored states of this log's projections again, as a shadow next to those that are read.
    ///
    /// Readers and writers go on. Each slice of users is durable before the next; a replay that was stopped or killed
    /// goes on there when it is called again. When it is complete, ``swapShadow()`` makes its states the live ones.
    ///
    /// - Parameters:
    ///   - users: whose states are folded; empty for those of all users, and for states over the whole store.
    ///   - until: folds no event after this position. Reads of later versions fold the rest.
    ///   - threads: how many fold.
    ///   - verify: compares each live state with the fresh one.
    ///   - progress: is asked after each slice, and stops the replay with false.
    package func replayIntoShadow(
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
            while !isStopped, try !shadow.foldStoreStates(of: run.shadow, limit: 1 << 17) {
                isStopped = !progress(LogProgress(stage: "states over the store", done: 0, total: 0))
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
    package func swapShadow() throws -> ShadowReport { try swapShadow(ifGeneration: nil) }

    /// As ``swapShadow()``; with `number`, refuses a shadow of another generation.
    package func swapShadow(ifGeneration number: UInt64?) throws -> ShadowReport {
        let swapped = try shadow.swap(ifGeneration: number)
        while try shadow.removeUnused() {}
        return ShadowReport(swapped)
    }

    /// Gives the shadow up. Returns whether there was one.
    @discardableResult
    package func discardShadow() throws -> Bool { try discardShadow(ifGeneration: nil) }

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
}
