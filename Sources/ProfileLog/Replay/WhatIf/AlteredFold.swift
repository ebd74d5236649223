/// The options of a what-if.
package struct WhatIfOptions: Sendable {
    /// Users are folded in parallel. The answer is the same for any number.
    package var threads = 1
    /// The number of differing users that are kept with their fields.
    package var samples = 10
    /// The seed of the choice: the same seed, the same users.
    package var seed: UInt64 = 1
    /// The only user.
    package var user: UserNumber?
    /// The last user before those that are compared: users with this number or a smaller one are not.
    package var after = UserNumber(rawValue: 0)
    /// Counts who enters and who leaves the users who pass: asked with the profile of the log, and with that of the
    /// altered history and its events.
    package var passes: (@Sendable (UserInfo, ProfileState, Alteration?) throws -> Bool)?
    /// The time to stop; nil to go on to the end. The users of one pass over the log are all compared, or none of them.
    package var end: ContinuousClock.Instant?
    /// Users of one pass over the log: memory grows with them, and not with all users.
    package var usersPerPass: UInt64 = 1 << 18

    package init() {}

    fileprivate var isOver: Bool { end.map { ContinuousClock.now >= $0 } ?? false }
}

/// Folds users twice, as the log has them and as an altered history would, and compares.
struct AlteredFold: Sendable {
    let log: EventLog
    let alteration: Alteration
    let options: WhatIfOptions

    /// The log as it is compared: what came later does not count.
    private var past: PastHistory { PastHistory(to: Position(rawValue: alteration.last)) }

    /// The driver with the rules of the log.
    private var driver: FoldDriver { FoldDriver(names: log.names, rules: alteration.timeline) }

    /// As of a replay: no transaction sees more records.
    private static let sliceLength: UInt64 = 1 << 18
    /// The size of the first pass: with an end, passes begin small, so that something is compared.
    private static let firstPass: UInt64 = 1 << 14

    func run(_ progress: (LogProgress) -> Bool) throws -> ProfileImpact {
        var impact = ProfileImpact(position: Position(rawValue: alteration.last))
        impact.total = try log.reader.past.userCount(in: past)
        impact.reached = min(options.after.rawValue, impact.total)
        if let users = alteration.users ?? options.user.map({ [$0.rawValue] }) {
            try compare(users.sorted(), into: &impact)
        } else {
            try compareAll(into: &impact, progress)
        }
        impact.samples.sort { $0.user.rawValue < $1.user.rawValue }
        return impact
    }

    // MARK: - Some users

    /// Reads the events of each, in the order in which they are folded.
    private func compare(_ users: [UInt64], into impact: inout ProfileImpact) throws {
        for user in users where user > impact.reached && options.user.map({ $0.rawValue == user }) ?? true {
            guard !options.isOver else {
                impact.isComplete = false
                return
            }
            let profile = try log.withView { view in
                let version = try view.version(of: user, upTo: alteration.last)
                var merges = PastMerges()
                return try hasProfile(user, view, &merges) ? forkedProfile(of: user, version: version, view) : nil
            }
            if let profile { try compare(profile, of: user, into: &impact) }
            impact.reached = user
        }
        impact.reached = impact.total
    }

    /// Tells whether `user` had a profile: not one who was merged into another by then, or erased since.
    private func hasProfile(_ user: UInt64, _ view: LogView, _ merges: inout PastMerges) throws -> Bool {
        if try view.hasProfile(user) { return true }
        return try view.isErased(user) ? false : view.canonicalUser(of: user, in: past, &merges) == user
    }

    private func forkedProfile(of user: UInt64, version: UInt64, _ view: LogView) throws -> ForkedProfile {
        var fold = ForkedFold(alteration, log.names)
        return try driver.state(after: view.positions(of: user, from: 1, to: version), &fold, from: view)
    }

    private func compare(_ profile: ForkedProfile, of user: UInt64, into impact: inout ProfileImpact) throws {
        impact.users += 1
        guard let after = profile.after else { return }
        let before = profile.before
        if ProfileProjection.encode(before) == ProfileProjection.encode(after) { return }
        let changes = FieldChange.all(from: before, to: after, alteration.names)
        var passes: ProfileImpact.Passes?
        let info = try options.passes.flatMap { _ in
            try log.reader.past.user(UserNumber(rawValue: user), asOf: past.position)
        }
        if let isPassing = options.passes, let info {
            passes = .init(before: try isPassing(info, before, nil), after: try isPassing(info, after, alteration))
        }
        impact.note(UserNumber(rawValue: user), changes, passes, samples: options.samples, seed: options.seed)
    }

    // MARK: - All users

    /// One thread's share of a pass: the users whose number leaves its index as the remainder.
    private struct Lane {
        /// The voided ones are folded when the pass has seen all events.
        var users = UserLane<ForkedFold>()
        var impact = ProfileImpact(position: .start)
    }

    private func compareAll(into impact: inout ProfileImpact, _ progress: (LogProgress) -> Bool) throws {
        var first = impact.reached + 1
        var count = options.end == nil ? options.usersPerPass : Self.firstPass
        while first <= impact.total {
            let users = first..<min(first + min(count, options.usersPerPass), impact.total + 1)
            guard let found = try pass(users, of: impact.total, progress) else {
                impact.isComplete = false
                return
            }
            impact.add(found, samples: options.samples)
            impact.reached = users.upperBound - 1
            first = users.upperBound
            count *= 2
        }
    }

    /// Compares `users`; nil if it was stopped.
    private func pass(
        _ users: Range<UInt64>, of total: UInt64, _ progress: (LogProgress) -> Bool
    ) throws -> ProfileImpact? {
        let lanes = (0..<max(1, options.threads)).map { _ in Guarded(Lane()) }
        let count = lanes.count
        // A user's number is at most the position of their first event.
        var position = users.lowerBound - 1
        while position < alteration.last {
            try ReadBudget.current?.check()
            let (from, to) = (position + 1, min(alteration.last, position + Self.sliceLength))
            try onLanes(lanes) { lane, index in
                try scan(from, to, users, UInt64(index), UInt64(count), &lane)
            }
            position = to
            let isGoingOn = progress(
                LogProgress(stage: "what if", done: users.lowerBound - 1, total: total, unit: "users"))
            guard isGoingOn, !options.isOver else { return nil }
        }
        try onLanes(lanes) { lane, index in try compare(&lane, users, UInt64(index), UInt64(count)) }
        var impact = ProfileImpact(position: .start)
        for lane in lanes { impact.add(lane.withReading { $0.impact }, samples: options.samples) }
        return impact.isComplete ? impact : nil
    }

    private func onLanes(_ lanes: [Guarded<Lane>], _ body: @escaping @Sendable (inout Lane, Int) throws -> Void) throws
    {
        try onThreads(lanes.count) { index in try lanes[index].withWriting { try body(&$0, index) } }
    }

    private func scan(
        _ from: UInt64, _ to: UInt64, _ users: Range<UInt64>, _ index: UInt64, _ count: UInt64, _ lane: inout Lane
    ) throws {
        let driver = driver
        var fold = ForkedFold(alteration, log.names)
        try log.withView { view in
            try OpenStore.scanRecords(view.tables, from: from, to: to, view) { position, record in
                let user = RecordHeader.user(of: record)
                guard user % count == index, users.contains(user) else { return true }
                let header = try RecordHeader(record, at: position)
                let slot = Int((user - users.lowerBound) / count)
                try lane.users.fold(header, at: position, slot: slot, &fold, driver, from: view)
                return true
            }
        }
    }

    /// The most users that one read transaction compares.
    private static let usersPerView = 4096

    private func compare(_ lane: inout Lane, _ users: Range<UInt64>, _ index: UInt64, _ count: UInt64) throws {
        // The first user of the lane, in slot 0.
        let first = users.lowerBound + (index + count - users.lowerBound % count) % count
        for begin in stride(from: 0, to: lane.users.states.count, by: Self.usersPerView) {
            if options.isOver {
                lane.impact.isComplete = false
                return
            }
            let slots = begin..<min(begin + Self.usersPerView, lane.users.states.count)
            try log.withView { view in
                var merges = PastMerges()
                for slot in slots where lane.users.versions[slot] > 0 {
                    let user = first + UInt64(slot) * count
                    guard try hasProfile(user, view, &merges) else { continue }
                    if lane.users.voided.contains(slot) {
                        let version = lane.users.versions[slot]
                        lane.users.states[slot] = try forkedProfile(of: user, version: version, view)
                    }
                    try compare(lane.users.states[slot], of: user, into: &lane.impact)
                }
            }
        }
    }
}
