/// Selects the items of a history that a what-if counts; nil selects all.
///
/// Earlier events are played too, as they decide what is on a device; they are not counted.
package struct WhatIfScope: Hashable, Sendable {
    /// Saved for this user, or for one who was merged into them.
    package var user: UserNumber?
    /// Saved on this device.
    package var device: String?
    /// Saved at this position or a later one.
    package var since: Position?
    /// The history ends with this position.
    package var until: Position?

    /// Counts every item of the history.
    package init(user: UserNumber? = nil, device: String? = nil, since: Position? = nil, until: Position? = nil) {
        self.user = user
        self.device = device
        self.since = since
        self.until = until
    }
}

extension EventLog {
    /// Plays the saves, launches, user changes, settings and discards of the log under `policy`, and counts what would
    /// have become of the items. Writes nothing.
    ///
    ///     let report = try log.whatIf(.faithful())
    ///     print(report.byFault[.noUserStored]?.items ?? 0, "items went to another user")
    ///
    /// An item given to the SDK counts as delivered. Repairs of rejected items and unknown kinds of events are skipped.
    /// A merged user is the canonical user from the start; merges during the run are not seen. Of an erased user, only
    /// launches that flushed other users' items are played, as cold ones of all lists. Memory grows with users, devices
    /// and their items, and with erased users' launches that flushed nothing of others. `progress` may stop the work by
    /// returning false; the report then covers what was played.
    ///
    /// - Parameters:
    ///   - quirks: of the tag manager's published providers: counts what they would have changed of the calls that the
    ///     app's SDK logged, had tags made them.
    ///   - recordsPerSlice: how many one read transaction sees at most: long ones keep LMDB from reusing pages.
    package func whatIf(
        _ policy: PublishedPolicy, in scope: WhatIfScope = WhatIfScope(), quirks: Set<TagQuirk> = [],
        mostItems: Int = 100,
        recordsPerSlice: UInt64 = 1 << 16, progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> WhatIfReport {
        let end = try min(lastPosition(), scope.until ?? Position(rawValue: .max)).rawValue
        var scope = scope
        let past = PastHistory(to: Position(rawValue: end))
        var merges = PastMerges()
        scope.user = try scope.user.map { try reader.past.canonicalUser(of: $0, in: past) }
        var run = WhatIfRun(policy, scope, quirks, mostItems: mostItems)
        var position: UInt64 = 0
        var isStopped = false
        while position < end, !isStopped {
            let next = min(end, position + recordsPerSlice)
            try withView { view in
                let names = names.current
                try view.scan(from: position + 1, to: next) { position, header in
                    guard let kind = header.kind, run.plays(kind) || run.countsCalls(kind, header) else { return true }
                    let event = try RecordedEvent(reading: header, at: position, names: names)
                    let user =
                        try run.canonical[header.user]
                        ?? view.canonicalUser(of: header.user, in: past, &merges)
                    run.note(user, of: header.user)
                    run.play(event, of: UserNumber(rawValue: user))
                    return true
                }
            }
            position = next
            isStopped = !progress(LogProgress(stage: "what if", done: position, total: end))
        }
        return run.finish(at: Position(rawValue: position), isComplete: position == end)
    }
}

/// Plays a history, event by event in the order of the log, on devices of its own.
private struct WhatIfRun {
    private var report: WhatIfReport
    private let policy: PublishedPolicy
    private let scope: WhatIfScope
    private let quirks: Set<TagQuirk>
    private var devices: [Name: PublishedDevice] = [:]
    /// The canonical user of each user, as first resolved: later merges do not count.
    private(set) var canonical: [UInt64: UInt64] = [:]
    /// Launches of erased users. Only a flush of other users' items tells on which device one was.
    private var erasedLaunches: [Position: UserNumber] = [:]

    init(_ policy: PublishedPolicy, _ scope: WhatIfScope, _ quirks: Set<TagQuirk>, mostItems: Int) {
        self.quirks = quirks
        self.policy = policy
        self.scope = scope
        report = WhatIfReport(mostItems: mostItems)
        if let user = scope.user?.rawValue { note(user, of: user) }
    }

    mutating func note(_ canonicalUser: UInt64, of user: UInt64) {
        canonical[user] = canonicalUser
        canonical[canonicalUser] = canonicalUser
    }

    /// Kinds of events that are played. The others are decisions about them.
    func plays(_ kind: EventKind) -> Bool {
        switch kind.role {
        case .content(_, let timing): timing == .saved
        case .identity(let change): change == .merged
        case .device(.launched), .device(.userChanged), .device(.settings), .outcome(.discarded): true
        case .outcome(.flushed): !erasedLaunches.isEmpty
        case .device, .outcome(.sent), .message, .note: false
        }
    }

    /// Tells whether the app's SDK logged it, when quirks are asked for.
    func countsCalls(_ kind: EventKind, _ header: RecordHeader) -> Bool {
        guard !quirks.isEmpty, case .content(let content, let timing) = kind.role, timing != .saved else {
            return false
        }
        return (content == .customEvent || content == .customAttributes) && header.source.isSDK
    }

    /// Plays `event` of the canonical user `user`.
    mutating func play(_ event: RecordedEvent, of user: UserNumber) {
        if event.isErased { return noteErased(event, of: user) }
        // Before the filter: it names the launch's device also if that is not played.
        let launcher = erasedLauncher(of: event)
        guard let device = event.context.device, scope.device.map({ $0.hasSameBytes(as: device) }) ?? true else {
            return
        }
        if scope.user ?? user == user, scope.since ?? event.position <= event.position {
            for call in TagQuirk.calls(in: event.event) { report.add(call, changedBy: quirks) }
        }
        if let launcher {
            report.guessed += 1
            handle(.launched(.cold, user: launcher, at: event.occurredAt.timestamp), on: device)
        } else if let input = input(event, of: user) {
            handle(input, on: device)
        }
    }

    mutating func finish(at position: Position, isComplete: Bool) -> WhatIfReport {
        for name in devices.keys.sorted() { count(devices[name]?.finish() ?? [], on: name.text) }
        report.position = position
        report.isComplete = isComplete
        return report
    }

    private mutating func handle(_ input: PublishedInput, on device: String) {
        if case .saved(let item) = input {
            report.processes.insert(item.process)
            report.blocklistMet.formUnion(policy.conditions.blocklist.intersection(item.content.names))
        }
        count(devices[Name(device), default: PublishedDevice(policy)].handle(input), on: device)
    }

    private mutating func count(_ outputs: [PublishedOutput], on device: String) {
        for case .ended(let outcome) in outputs {
            let item = outcome.item
            if scope.user ?? item.user == item.user, scope.since ?? item.position <= item.position {
                report.add(outcome, on: device)
            }
        }
    }

    /// The erased user who launched, if `event` is the first that names the device.
    private mutating func erasedLauncher(of event: RecordedEvent) -> UserNumber? {
        guard case .pendingFlushed(let flush) = event.event,
            let user = erasedLaunches.removeValue(forKey: flush.launch)
        else { return nil }
        report.unplayed -= 1
        return user
    }

    /// An erased user's items are gone, and the next launch says who is on the device. Other erased events changed
    /// other users' items, and so did a reset that removed more than was discarded.
    private mutating func noteErased(_ event: RecordedEvent, of user: UserNumber) {
        switch event.event.kind.role {
        case .device(.launched): erasedLaunches[event.position] = user
        case .device(.settings): break
        case .outcome(.discarded): if !policy.has(.resetTakesEverything) { return }
        case .content, .identity, .device, .outcome, .message, .note: return
        }
        report.unplayed += 1
    }

    private func input(_ event: RecordedEvent, of user: UserNumber) -> PublishedInput? {
        let time = event.occurredAt.timestamp
        if let content = SavedContent(event.event) {
            // The published code sees no refusals, so repairs are not played: a repair is the same item.
            guard event.context.replaces == nil, let storage = event.context.storage else { return nil }
            return .saved(
                SavedItem(
                    position: event.position, user: user, process: event.context.process ?? DeviceStorage.app,
                    storage: storage, savedAt: time, content: content))
        }
        if case .appLaunched(let kind, let lists) = event.event {
            return .launched(kind, lists: kind == .locked ? [] : lists, user: user, at: time)
        }
        if case .deviceChanged(let settings) = event.event { return .settingsChanged(settings, at: time) }
        if case .pendingDiscarded(let discard) = event.event {
            // Items in the SDK's queue had left the lists before.
            return discard.actor == Discard.sdk ? nil : .discarded(discard.positions, at: time)
        }
        let kind = event.event.kind
        return kind == .userChanged || kind == .usersMerged ? .userChanged(user, at: time) : nil
    }
}
