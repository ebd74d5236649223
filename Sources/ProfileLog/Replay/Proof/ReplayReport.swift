/// The report of a replay.
public struct ReplayReport: Hashable, Sendable {
    /// Events folded.
    public var events: UInt64
    /// Users who have any.
    package var users: Int
    /// The time that the fold took, without the comparison.
    package var elapsed: Duration
    /// SHA-256 over all profiles; of a replay that was stopped, over what it had folded.
    package var digest: String
    /// Tells whether the replay came to its end.
    public var isComplete: Bool
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
struct LiveProof<P: Projection> {
    let log: EventLog
    let replayer: Replayer<P>
    let until: Position?

    func run(into report: inout ReplayReport, _ progress: (LogProgress) -> Bool) throws {
        switch P.scope {
        case .user: try runByUser(into: &report, progress)
        case .store: try compare(P.self, replayer.state, &report)
        case .device: try compare(ByDevice<P>.self, replayer.devices, &report)
        }
    }

    /// Compares the state over the store, as it is read and as it is stored, with the replayed one.
    private func compare<Store: Projection>(
        _: Store.Type, _ fresh: Store.State, _ report: inout ReplayReport
    ) throws {
        let (end, fresh) = (replayer.position.rawValue, Store.encode(fresh))
        try log.withView { view in
            var past = view
            past.last = min(view.last, end)
            report.compared += 1
            if try Store.encode(log.states.state(overStore: Store.self, past).state) != fresh {
                report.note("\(Store.name) at position \(end)")
            }
            guard let stored = try log.states.storedState(Store.self, view) else { return }
            report.compared += 1
            let fresh = try log.states.freshState(overStore: Store.self, at: stored.position, view)
            if Store.encode(stored.state) != Store.encode(fresh) {
                report.note("the stored \(Store.name) at position \(stored.position)")
            }
        }
    }

    private func runByUser(into report: inout ReplayReport, _ progress: (LogProgress) -> Bool) throws {
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
        try log.withView { view in
            if let until, until.rawValue < view.last { return }
            var live: [Name: [UInt8]] = [:]
            for device in try view.devices() { live[device] = try view.deviceState(device).bytes }
            let fresh = try view.deviceStates(upTo: view.last)
            let known = Set(live.keys).union(fresh.keys)
            let none = DeviceState().bytes
            for device in known.sorted() where live[device] ?? none != fresh[device]?.bytes ?? none {
                report.note("what a device of \(fresh[device]?.items.count ?? 0) items holds")
            }
            report.devices = known.count
        }
    }
}

extension ReplayReport {
    fileprivate mutating func note(_ difference: String) {
        if differences.count < 100 { differences.append(difference) }
    }
}
