/// Plays a history, event by event in the order of the log, on devices of its own.
struct WhatIfRun {
    private(set) var report: WhatIfReport
    private let policy: PublishedPolicy
    private let scope: WhatIfScope
    private var devices: [Name: PublishedDevice] = [:]
    /// Users who went into others, which is no wrong user when the other gets an item.
    private var merged: [UserNumber: UserNumber] = [:]

    init(_ policy: PublishedPolicy, _ scope: WhatIfScope, mostItems: Int) {
        self.policy = policy
        self.scope = scope
        report = WhatIfReport(mostItems: mostItems)
    }

    /// Kinds that say what people and processes wanted; the rest is what was decided about it.
    static func isIntent(_ kind: EventKind) -> Bool {
        switch kind {
        case .appLaunched, .userChanged, .pendingDiscarded, .usersMerged, .deviceChanged: true
        default: kind.isSaved
        }
    }

    mutating func play(_ event: RecordedEvent) {
        if case .usersMerged(let merge) = event.event { merged[merge.source] = event.user }
        guard let device = event.context.device, scope.device.map({ $0.hasSameBytes(as: device) }) ?? true,
            let intent = intent(event)
        else { return }
        if case .saved(let item) = intent { note(item) }
        count(devices[Name(device), default: PublishedDevice(policy)].handle(intent), on: device)
    }

    mutating func finish() {
        for name in devices.keys.sorted() { count(devices[name]?.finish() ?? [], on: name.text) }
    }

    mutating func end(at position: Position, isComplete: Bool) {
        report.position = position
        report.isComplete = isComplete
        finish()
    }

    private func intent(_ event: RecordedEvent) -> PublishedIntent? {
        let time = event.occurredAt.timestamp
        switch event.event {
        case .appLaunched(let kind, let lists):
            return .launched(kind, lists: lists, user: event.user, at: time)
        case .userChanged, .usersMerged: return .userChanged(event.user, at: time)
        case .deviceChanged(let settings): return .settingsChanged(settings, at: time)
        case .pendingDiscarded(let discard):
            // What the SDK forgets of its own queue had left the lists.
            return discard.actor == "SDK" ? nil : .discarded(discard.positions, at: time)
        default:
            // Where refusals are not seen, nothing is repaired; and it is no other item than the first.
            guard event.context.replaces == nil, let content = SavedContent(event.event),
                let storage = event.context.storage
            else { return nil }
            return .saved(
                PublishedItem(
                    position: event.position, user: event.user, process: event.context.process ?? DeviceStorage.app,
                    storage: storage, savedAt: time, content: content))
        }
    }

    private mutating func note(_ item: PublishedItem) {
        report.processes.insert(item.process)
        let blocklist = policy.conditions.blocklist
        if !blocklist.isEmpty { report.blocklistMet.formUnion(blocklist.intersection(item.content.names)) }
    }

    private mutating func count(_ actions: [PublishedAction], on device: String) {
        for case .settled(var outcome) in actions where scope.counts(outcome.item) {
            if let user = outcome.receivedBy, current(user) == current(outcome.item.user) {
                outcome.deviations.removeAll { $0.effect == .wrongUser }
            }
            report.add(outcome, on: device)
        }
    }

    private func current(_ user: UserNumber) -> UserNumber {
        var user = user
        while let next = merged[user] { user = next }
        return user
    }
}
