/// One device on which the published snippets save and flush (spec/device.md 6), as a machine without clock, disk or chance.
///
/// Intents come in the order of the history. What takes time (a save between its reading and its writing, a flush between its
/// reading and its removal) stays under way until an intent's time has passed its end. A clock that goes back says nothing of how
/// much time passed: then, and at the end, everything under way is taken as done. One process does one thing after the other.
///
/// Memory grows with what is on the device, and not with the history.
public struct PublishedDevice: Sendable {
    /// How it saves and flushes.
    public let policy: PublishedPolicy

    var user: UserNumber?
    var settings = DeviceSettings()
    var saves = 0
    var launches = 0
    /// Flushes that found something.
    var flushes = 0
    /// Updates of the app.
    var updates = 0
    var lists: [ListKey: PublishedList] = [:]
    var open: [Position: OpenItem] = [:]
    var agenda = Agenda()
    var flush: PublishedFlush?
    /// What has left the lists and is settled when the flush under way is over.
    var leaving: [Position] = []
    private var clock = Timestamp(rawValue: .min)
    private var actions: [PublishedAction] = []

    /// A device on which nothing has happened yet.
    public init(_ policy: PublishedPolicy) {
        self.policy = policy
    }

    /// How many items are on it.
    public var itemCount: Int { open.count }

    /// Does what `intent` leads to by the time at which the next one can come.
    public mutating func handle(_ intent: PublishedIntent) -> [PublishedAction] {
        let time = intent.time
        run(until: time < clock ? Timestamp(rawValue: .max) : time)
        clock = time
        switch intent {
        case .saved(let item): save(item)
        case .launched(let kind, let lists, let user, _): launch(kind, lists, user, time)
        case .userChanged(let user, _): self.user = user
        case .settingsChanged(let settings, _):
            finishWork(of: DeviceStorage.app)
            self.settings = settings
        case .discarded(let positions, _): discard(positions)
        }
        return takeActions()
    }

    /// Ends the history: what is under way is done, and every item is settled.
    public mutating func finish() -> [PublishedAction] {
        run(until: Timestamp(rawValue: .max))
        for (position, item) in open.sorted(by: { $0.key < $1.key }) {
            settle(position, item.fate(else: settings.appSees(item.item.storage) ? .waiting : .stranded))
        }
        return takeActions()
    }

    // MARK: - Time

    private mutating func run(until time: Timestamp) {
        while let step = agenda.next(until: time) { run(step) }
    }

    /// A process that begins something new is done with what it did before.
    mutating func finishWork(of process: Name) {
        while let step = agenda.next(of: process) { run(step) }
    }

    private mutating func run(_ step: Agenda.Step) {
        switch step.work {
        case .write(let write): perform(write)
        case .remove(let read):
            remove(read)
            goOn(at: step.due)
        }
    }

    // MARK: - Lists

    /// Where an item of `process` lies that is meant for `storage`.
    func container(_ storage: DeviceStorage, of process: Name) -> ListKey.Container {
        switch storage {
        case .privateTo(let owner): return .standard(process: owner)
        case .appGroup(let group):
            let isStray = policy.conditions.isStray(process)
            if isStray, policy.has(.storageArgumentForgotten) { return .standard(process: process) }
            return isStray && policy.has(.appGroupMissing)
                ? .apart(process: process, group: group) : .shared(group: group)
        }
    }

    /// Whether a flush of the app looks there.
    func isSeenByApp(_ container: ListKey.Container) -> Bool {
        switch container {
        case .standard(let process), .apart(let process, _): process == DeviceStorage.app
        case .shared(let group):
            settings.appSees(.appGroup(group))
                && self.container(.appGroup(group), of: DeviceStorage.app) == container
        }
    }

    /// The fault by which items of an app group lie where the app does not look.
    var strayFault: Fault { policy.has(.storageArgumentForgotten) ? .storageArgumentForgotten : .appGroupMissing }

    /// Whether the list was written before an update that changed what type is stored (28).
    func isMismatched(_ list: PublishedList) -> Bool {
        policy.has(.storedTypeMismatch) && list.updates < updates && !list.entries.isEmpty
    }

    /// Puts `entries` under `key`; `fault` is why those that stood there before may be gone.
    mutating func put(_ entries: [PublishedList.Entry], under key: ListKey, updates: Int, losingBy fault: Fault) {
        let before = lists.updateValue(PublishedList(entries: entries, updates: updates), forKey: key)?.entries ?? []
        if entries.isEmpty { lists[key] = nil }
        if before.isEmpty { return }
        let after = Set(entries)
        leave(before.filter { !after.contains($0) }, losingBy: fault)
    }

    // MARK: - Leaving

    /// `entries` are in their list no more. An item of which nothing is left anywhere was lost by `fault` if no SDK has it.
    mutating func leave(_ entries: [PublishedList.Entry], losingBy fault: Fault) {
        if entries.isEmpty { return }
        let gone = Set(entries.map(\.position)).subtracting(positionsHeldElsewhere)
        for position in gone.sorted() {
            guard let item = open[position] else { continue }
            if !item.isDone { open[position]?.note(item.failure ?? fault, .lost) }
            leaving.append(position)
        }
        if flush == nil { settleLeaving() }
    }

    /// What more than one list can hold: with fault 1 that of any, and what saves under way will write back.
    private var positionsHeldElsewhere: Set<Position> {
        var held: Set<Position> = []
        for write in agenda.writes { held.formUnion(write.result.map(\.position)) }
        if policy.has(.eventSavedAsAttributes) {
            for list in lists.values { held.formUnion(list.entries.map(\.position)) }
        }
        return held
    }

    mutating func settleLeaving() {
        for position in leaving {
            guard let item = open[position] else { continue }
            settle(position, item.fate(else: .lost))
        }
        leaving = []
    }

    mutating func settle(_ position: Position, _ fate: PublishedOutcome.Fate) {
        guard let item = open.removeValue(forKey: position) else { return }
        actions.append(.settled(item.outcome(fate)))
    }

    // MARK: - Output

    mutating func act(_ action: PublishedAction) { actions.append(action) }

    private mutating func takeActions() -> [PublishedAction] {
        defer { actions = [] }
        return actions
    }
}
