extension EventLog {
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
}

/// The progress of a shadow, and the findings of its replay.
public struct ShadowReport: Hashable, Sendable {
    /// The shadow that it folds.
    package let shadow: Shadow
    /// Users with a damaged record, by number, the first hundred. They get no states.
    package let damaged: [UserNumber]
    /// Users with a live state that is not what their events say, by number, the first hundred.
    public let differing: [UserNumber]
    /// Tells whether it can be swapped.
    public var isComplete: Bool { shadow.isComplete }

    init(_ shadow: Shadow, damaged: [UInt64] = [], differing: [UInt64] = []) {
        self.shadow = shadow
        self.damaged = damaged.prefix(100).map(UserNumber.init(rawValue:))
        self.differing = differing.prefix(100).map(UserNumber.init(rawValue:))
    }
}

/// A call of `replayIntoShadow`: the users after the last written one, slice by slice.
private struct ShadowRun {
    let log: EventLog
    let threads: Int
    let verify: Bool
    var shadow: Shadow
    var damaged: [UInt64] = []
    var differing: [UInt64] = []

    /// Returns the number of `count` users that are written in this pass.
    func done(of count: UInt64) -> UInt64 {
        shadow.users.isEmpty ? min(count, shadow.user) : UInt64(shadow.users.prefix { $0 <= shadow.user }.count)
    }

    /// Folds and writes the next `size` of `count` users. False if there are none.
    mutating func foldSlice(_ size: UInt64, of count: UInt64) throws -> Bool {
        let users =
            shadow.users.isEmpty
            ? Array(shadow.user + 1..<max(shadow.user, min(count, shadow.user + size)) + 1)
            : Array(shadow.users.drop { $0 <= shadow.user }.prefix(Int(size)))
        guard let last = users.last else { return false }
        let slices = try fold(users)
        let next = try log.shadow.write(slices, upTo: last, of: shadow)
        if next.user == last {
            damaged += slices.flatMap(\.damaged)
            differing += slices.flatMap(\.differing)
        }
        shadow = next
        return true
    }

    /// Each thread folds its part of `users`.
    private func fold(_ users: [UInt64]) throws -> [ShadowStates.Slice] {
        let (log, shadow, verify, threads) = (log, shadow, verify, min(threads, users.count))
        let slices = (0..<threads).map { _ in Guarded(ShadowStates.Slice?.none) }
        try onThreads(threads) { index in
            let part = stride(from: index, to: users.count, by: threads).lazy.map { users[$0] }
            let slice = try log.shadow.fold(part, for: shadow, verify: verify)
            slices[index].withWriting { $0 = slice }
        }
        return slices.compactMap { $0.withReading { $0 } }
    }
}
