/// Plays a history, event by event in the order of the log, on devices of its own.
struct WhatIfRun {
    private(set) var report: WhatIfReport
    private let policy: PublishedPolicy
    private let scope: WhatIfScope
    private var devices: [Name: PublishedDevice] = [:]
    /// Whose the events of each user are: found once, so that who is merged meanwhile does not become another person.
    private(set) var owners: [UInt64: UInt64] = [:]
    /// Launches of people who were erased since, with their users. On which device each was, only what it flushed of others tells.
    private var erasedLaunches: [Position: UserNumber] = [:]

    init(_ policy: PublishedPolicy, _ scope: WhatIfScope, mostItems: Int) {
        self.policy = policy
        self.scope = scope
        report = WhatIfReport(mostItems: mostItems)
        if let user = scope.user?.rawValue { note(user, of: user) }
    }

    /// `owner` is `user` by now.
    mutating func note(_ owner: UInt64, of user: UInt64) {
        owners[user] = owner
        owners[owner] = owner
    }

    /// Kinds that say what people and processes wanted; the rest is what was decided about it.
    func plays(_ kind: EventKind) -> Bool {
        switch kind {
        case .appLaunched, .userChanged, .pendingDiscarded, .usersMerged, .deviceChanged: true
        case .pendingFlushed: !erasedLaunches.isEmpty
        default: kind.isSaved
        }
    }

    /// Plays `event` of `user`, its owner.
    mutating func play(_ event: RecordedEvent, of user: UserNumber) {
        if event.isErased { return noteErased(event, of: user) }
        // Also of a device that is not played: where the launch was is known.
        let launcher = erasedLauncher(toldBy: event)
        guard let device = event.context.device, scope.device.map({ $0.hasSameBytes(as: device) }) ?? true,
            let intent = launcher.map({ .launched(.cold, user: $0, at: event.occurredAt.timestamp) })
                ?? intent(event, of: user)
        else { return }
        if launcher != nil { report.guessed += 1 }
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

    /// Who launched, if `event` is the first to tell on which device an erased person did.
    private mutating func erasedLauncher(toldBy event: RecordedEvent) -> UserNumber? {
        guard case .pendingFlushed(let flush) = event.event,
            let user = erasedLaunches.removeValue(forKey: flush.launch)
        else { return nil }
        report.unplayed -= 1
        return user
    }

    private func intent(_ event: RecordedEvent, of user: UserNumber) -> PublishedIntent? {
        let time = event.occurredAt.timestamp
        switch event.event {
        case .appLaunched(let kind, let lists):
            return .launched(kind, lists: lists, user: user, at: time)
        case .userChanged, .usersMerged: return .userChanged(user, at: time)
        case .deviceChanged(let settings): return .settingsChanged(settings, at: time)
        case .pendingDiscarded(let discard):
            // What the SDK forgets of its own queue had left the lists.
            return discard.actor == Discard.sdk ? nil : .discarded(discard.positions, at: time)
        default:
            // Where refusals are not seen, nothing is repaired; and it is no other item than the first.
            guard event.context.replaces == nil, let content = SavedContent(event.event),
                let storage = event.context.storage
            else { return nil }
            return .saved(
                PublishedItem(
                    position: event.position, user: user, process: event.context.process ?? DeviceStorage.app,
                    storage: storage, savedAt: time, content: content))
        }
    }

    private mutating func note(_ item: PublishedItem) {
        report.processes.insert(item.process)
        let blocklist = policy.conditions.blocklist
        if !blocklist.isEmpty { report.blocklistMet.formUnion(blocklist.intersection(item.content.names)) }
    }

    /// What an erased person saved and gave up went with them, and who is on a device its next launch says; all else did something to others'
    /// items, and so did what a reset took beside that which was given up.
    private mutating func noteErased(_ event: RecordedEvent, of user: UserNumber) {
        switch event.event.kind {
        case .appLaunched: erasedLaunches[event.position] = user
        case .deviceChanged: break
        case .pendingDiscarded where policy.has(.resetTakesEverything): break
        default: return
        }
        report.unplayed += 1
    }

    private mutating func count(_ actions: [PublishedAction], on device: String) {
        for case .settled(let outcome) in actions where scope.counts(outcome.item) { report.add(outcome, on: device) }
    }
}
