internal import Foundation

extension EventLog {
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

    /// As `replay(threads:until:verify:progress:)`, for a projection of your own, which must be folded by user.
    public func replay<P: Projection>(
        _: P.Type, threads: Int = 1, until: Position? = nil, verify: Bool = false,
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ReplayReport {
        try P.check(scope: .user)
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
}

/// The report of a replay.
public struct ReplayReport: Hashable, Sendable {
    /// Events folded.
    package var events: UInt64
    /// Users who have any.
    package var users: Int
    /// The time that the fold took, without the comparison.
    package var elapsed: Duration
    /// SHA-256 over all profiles; of a replay that was stopped, over what it had folded.
    package var digest: String
    /// Tells whether the replay came to its end.
    package var isComplete: Bool
    /// Comparisons of a live profile with a fresh fold: one for each user, and one for each of their launches and
    /// flushes.
    package var compared = 0
    /// Devices whose pending items were compared; nil if none were.
    package var devices: Int?
    /// The differences between live and replayed state, one line each, the first hundred.
    public var differences: [String] = []

    /// Tells whether nothing differs.
    public var isEqual: Bool { differences.isEmpty }
}

/// Compares live states with a fresh fold.
private struct LiveProof<P: Projection> {
    let log: EventLog
    let replayer: Replayer<P>
    let until: Position?

    func run(into report: inout ReplayReport, _ progress: (LogProgress) -> Bool) throws {
        var done: UInt64 = 0
        let total = UInt64(report.users)
        var isStopped = false
        try replayer.forEachUser { user, version, state in
            if isStopped { return }
            try log.withView { view in try compare(user, version, state, &report, view) }
            if user != .system { done += 1 }
            if done % 1024 == 0 || done == total {
                isStopped = !progress(LogProgress(stage: "proof", done: done, total: total, unit: "users"))
            }
        }
        report.isComplete = !isStopped
        if isStopped { return }
        try compareDevices(&report)
    }

    /// Compares the state as it is read with the replayed one, and after each launch and flush with a fold of the
    /// user's events. Their history must have these events and no others: a state that comes from a snapshot does not
    /// tell.
    private func compare(
        _ user: UserNumber, _ version: Version, _ state: P.State, _ report: inout ReplayReport, _ view: LogView
    ) throws {
        var proof = StateProof<P>(log.states)
        report.compared += 1
        if try proof.difference(of: user.rawValue, at: version.rawValue, from: state, in: view) != nil {
            report.note("user \(user.rawValue) at version \(version.rawValue)")
        }
        let history = try view.positions(of: user.rawValue, from: 1, to: view.version(of: user.rawValue))
        let replayed = history.prefix { $0 <= replayer.position.rawValue }
        let entries = try view.entries(of: user.rawValue, at: replayed)
        if replayed.count != version.rawValue || !entries.wrong.isEmpty {
            report.note("the history of user \(user.rawValue)")
        }
        report.compared += entries.launches.count
        for difference in try proof.differences(of: user.rawValue, at: entries.launches, in: view) {
            report.note("user \(user.rawValue) at version \(difference.version), after a launch")
        }
    }

    /// Compares what tables `devices` and `pending` and the tail say of each device with its events.
    private func compareDevices(_ report: inout ReplayReport) throws {
        // One view of all devices, as others may write at the same time.
        let (live, end) = try log.withView { view in
            var states: [Name: [UInt8]] = [:]
            for device in try view.devices() {
                states[device] = PendingProjection.encode(try view.deviceState(device))
            }
            return (states, Position(rawValue: view.last))
        }
        if let until, until < end { return }
        let replayer = Replayer<PendingProjection>(log)
        try replayer.run(to: end)
        let fresh = replayer.devices
        let known = Set(live.keys).union(fresh.keys)
        let none = PendingProjection.encode(PendingProjection.initial)
        for device in known.sorted() where live[device] ?? none != fresh[device].map(PendingProjection.encode) ?? none {
            report.note("what a device of \(fresh[device]?.items.count ?? 0) items holds")
        }
        report.devices = known.count
    }
}

extension ReplayReport {
    fileprivate mutating func note(_ difference: String) {
        if differences.count < 100 { differences.append(difference) }
    }
}
