/// An action of people and processes on one device. Times are those of the device's clock, which may jump.
package enum PublishedInput: Hashable, Sendable {
    /// A process saves an item.
    case saved(SavedItem)
    /// The app starts or returns with this user on the device, and should flush these lists.
    case launched(LaunchKind, lists: Set<PendingKind> = PendingKind.all, user: UserNumber, at: Timestamp)
    /// Another user is on the device from now on.
    case userChanged(UserNumber, at: Timestamp)
    /// The device has these settings from now on. Only the SDK's switch and the app's own app groups matter.
    case settingsChanged(DeviceSettings, at: Timestamp)
    /// A user or a program discards the items at these positions, and resets their storages.
    case discarded([Position], at: Timestamp)

    var time: Timestamp {
        switch self {
        case .saved(let item): item.savedAt
        case .launched(_, _, _, let time), .userChanged(_, let time), .settingsChanged(_, let time),
            .discarded(_, let time):
            time
        }
    }
}

/// The output for an input.
package enum PublishedOutput: Hashable, Sendable {
    /// The SDK gets this content of the item at `item`, for `user` and with `time`.
    case delivered(item: Position, user: UserNumber, time: Timestamp, content: SavedContent)
    /// An item has left the device, or the history is over: its outcome is final.
    case ended(PublishedOutcome)
}

/// One device on which the published snippets save and flush (spec/device.md 6), as a machine without clock, disk or
/// chance.
///
/// Inputs come in the order of the history. Work that takes time (a save from reading to writing, a flush from reading
/// to removal) is in progress until an input comes after its end. If the clock goes back, and at the end of the
/// history, all work in progress counts as done. Each process does one thing at a time.
///
/// Memory grows with what is on the device, and not with the history.
package struct PublishedDevice: Sendable {
    /// The policy by which it saves and flushes.
    package let policy: PublishedPolicy
    private var clock = Timestamp(rawValue: .min)
    private var user: UserNumber?
    private var settings = DeviceSettings()
    private var saves = 0
    private var launches = 0
    /// Flushes that found something.
    private var flushes = 0
    /// Updates of the app.
    private var updates = 0
    private var lists: [ListKey: List] = [:]
    private var items: [Position: Item] = [:]
    /// Work in progress, by the time of its end.
    private var work: [Work] = []
    /// The flush under way.
    private var flush: RunningFlush?
    /// Items that have left the lists and end with the running flush.
    private var leaving: [Position] = []
    private var outputs: [PublishedOutput] = []

    /// A device on which nothing has happened yet.
    package init(_ policy: PublishedPolicy) { self.policy = policy }

    /// The number of items on it.
    package var itemCount: Int { items.count }

    /// Handles `input`, after the work that ended before it.
    package mutating func handle(_ input: PublishedInput) -> [PublishedOutput] {
        let (time, isBack) = (input.time, input.time < clock)
        doWork { isBack || $0.due <= time }
        clock = time
        switch input {
        case .saved(let item): save(item)
        case .launched(let kind, let lists, let user, _): launch(kind, lists, user, time)
        case .userChanged(let user, _): self.user = user
        case .settingsChanged(let settings, _):
            doWork { $0.process == DeviceStorage.app }
            self.settings = settings
        case .discarded(let positions, _): discard(positions)
        }
        return takeOutputs()
    }

    /// Ends the history: finishes work in progress. What is still on the device waits for ever.
    package mutating func finish() -> [PublishedOutput] {
        doWork { _ in true }
        for (position, item) in items.sorted(by: { $0.key < $1.key }) {
            end(position, settings.appSees(item.saved.storage) ? .waiting : .stranded)
        }
        return takeOutputs()
    }

    private mutating func takeOutputs() -> [PublishedOutput] {
        defer { outputs = [] }
        return outputs
    }

    private func has(_ fault: Fault) -> Bool { policy.has(fault) }
}

// MARK: - What a device holds

/// One of a device's lists: which of the three, and in which suite.
private struct ListKey: Hashable, Comparable {
    var suite: Suite
    var kind: PendingKind

    /// A suite: of an app group (no process), of a process without the group under its name, or the `standard` of a
    /// process (no group).
    struct Suite: Hashable {
        var group: Name?
        var process: Name?
    }

    /// Orders like a flush: by list, then the suites of groups, then the others.
    static func < (left: ListKey, right: ListKey) -> Bool { left.order < right.order }

    private var order: (PendingKind, Int, Name, Name) {
        (kind, suite.group == nil ? 2 : suite.process == nil ? 0 : 1, suite.group ?? "", suite.process ?? "")
    }
}

/// A list under one key of the preferences. Events in the list of attributes come from fault 1.
private struct List {
    var entries: [Position] = []
    /// The number of the app's updates before its last write.
    var updates = 0
}

/// An item that is somewhere on the device.
private struct Item {
    var outcome: PublishedOutcome
    /// The part of it that could be stored.
    var content: SavedContent
    /// The number of the app's updates before its save.
    let updates: Int
    /// Tells whether `.standard` has delivered it.
    var isDue = false
    /// Tells whether the SDK has refused it, and the app saw that.
    var isRejected = false
    /// The reason why a flush did not give it to the SDK.
    var failure: Fault?
    /// The reason why it is still stored after its delivery.
    var repetition: Fault?

    var saved: SavedItem { outcome.item }
    var isDelivered: Bool { outcome.deliveries > 0 }
}

/// Work in progress that takes effect at its time.
private struct Work {
    let due: Timestamp
    let process: Name
    let effect: Effect

    enum Effect {
        case write(Write)
        /// A flush removes what it read, or more.
        case remove([ListKey: [Position]])
    }
}

/// A list as a save has read it. The save writes it back with its item.
private struct Write {
    var key: ListKey
    /// Entries that were read.
    let entries: [Position]
    let new: Position
    let updates: Int
    /// The reason why the save loses the present list; nil if it has read that.
    var overwrites: Fault?

    var result: [Position] { entries + [new] }
}

private struct RunningFlush {
    let launch: LaunchKind
    /// The lists that the launch flushes.
    let kinds: Set<PendingKind>
    /// The time at which the app was launched.
    let time: Timestamp
    /// The lists that are read, given to the SDK and removed together, in order: one after the other, or all at once
    /// (9).
    var stages: [[PendingKind]]
    /// Items that other processes were writing at the launch.
    let beingSaved: [Position]
    /// Due items in a list that the launch skips (1). They may also be in one that it flushes.
    let passedOver: [Position]
    /// Crashes before a removal (24).
    var crashes = false
    /// The first call that the SDK does not store (25).
    var firstUnstored = Int.max
    /// Calls of the SDK so far.
    var calls = 0
    /// The items first delivered in this flush, and their lists.
    var delivered: [(position: Position, kind: PendingKind)] = []
}

// MARK: - Work under way

extension PublishedDevice {
    private mutating func begin(_ effect: Work.Effect, of process: Name, from time: Timestamp, lasting: Int64) {
        let (end, isOverflow) = time.rawValue.addingReportingOverflow(lasting)
        let due = Timestamp(rawValue: isOverflow ? .max : end)
        let place = work.firstIndex { due < $0.due } ?? work.endIndex
        work.insert(Work(due: due, process: process, effect: effect), at: place)
    }

    private mutating func doWork(where isDone: (Work) -> Bool) {
        while let index = work.firstIndex(where: isDone) {
            let step = work.remove(at: index)
            switch step.effect {
            case .write(let write): perform(write)
            case .remove(let read):
                remove(read)
                goOn(at: step.due)
            }
        }
    }

    /// The saves in progress.
    private var writes: [Write] { work.compactMap { if case .write(let write) = $0.effect { write } else { nil } } }

    /// Items that processes are about to write, or write back, where the app looks.
    private func beingSaved(_ kinds: Set<PendingKind>) -> [Position] {
        writes.filter { kinds.contains($0.key.kind) && isSeenByApp($0.key.suite) }.flatMap(\.result)
    }
}

// MARK: - Lists

extension PublishedDevice {
    /// The suite of an item of `process` for `storage`.
    private func suite(_ storage: DeviceStorage, of process: Name) -> ListKey.Suite {
        switch storage {
        case .privateTo(let owner): return ListKey.Suite(process: owner)
        case .appGroup(let group):
            let isStray = policy.conditions.isStray(process)
            if isStray, has(.storageArgumentForgotten) { return ListKey.Suite(process: process) }
            return ListKey.Suite(group: group, process: isStray && has(.appGroupMissing) ? process : nil)
        }
    }

    /// Tells whether a flush of the app looks there.
    private func isSeenByApp(_ suite: ListKey.Suite) -> Bool {
        if let process = suite.process { return process == DeviceStorage.app }
        guard let group = suite.group else { return false }
        return settings.appSees(.appGroup(group)) && self.suite(.appGroup(group), of: DeviceStorage.app) == suite
    }

    /// The lists of these kinds where the app looks, in the order of a flush.
    private func seenLists(_ kinds: some Collection<PendingKind>) -> [(key: ListKey, value: List)] {
        lists.filter { kinds.contains($0.key.kind) && isSeenByApp($0.key.suite) }.sorted { $0.key < $1.key }
    }

    /// The items where the app looks.
    private func waiting(_ kinds: Set<PendingKind>) -> [Position] { seenLists(kinds).flatMap(\.value.entries) }

    /// Tells whether the list was written before an update that changed the stored type (28).
    private func isMismatched(_ list: List) -> Bool {
        has(.storedTypeMismatch) && list.updates < updates && !list.entries.isEmpty
    }

    /// Writes `entries` under `key`. Former entries that are gone are lost by `fault`.
    private mutating func put(_ entries: [Position], under key: ListKey, updates: Int, losingBy fault: Fault) {
        let before = lists[key]?.entries ?? []
        lists[key] = entries.isEmpty ? nil : List(entries: entries, updates: updates)
        let after = Set(entries)
        leave(before.filter { !after.contains($0) }, losingBy: fault)
    }

    /// `entries` left their list. An item that is in no list now was lost by `fault` if the SDK does not have it.
    private mutating func leave(_ entries: [Position], losingBy fault: Fault) {
        if entries.isEmpty { return }
        // A save in progress may write an item back to another list, and with fault 1 any item.
        var gone = Set(entries)
        for write in writes { gone.subtract(write.result) }
        if has(.eventSavedAsAttributes) { for list in lists.values { gone.subtract(list.entries) } }
        for position in gone.sorted() {
            guard let item = items[position] else { continue }
            if !item.isDelivered, !item.isRejected { items[position]?.outcome.note(item.failure ?? fault, .lost) }
            leaving.append(position)
        }
        if flush == nil { endLeaving() }
    }

    private mutating func endLeaving() {
        for position in leaving { end(position, .lost) }
        leaving = []
    }

    /// Ends an item: with a launch's decision about it, or with `fate` if there was none.
    private mutating func end(_ position: Position, _ fate: PublishedOutcome.Fate) {
        guard var item = items.removeValue(forKey: position) else { return }
        item.outcome.fate = item.isDelivered ? .delivered : item.isRejected ? .rejected : fate
        item.outcome.deviations.sort()
        outputs.append(.ended(item.outcome))
    }

    /// A launch skips an item. That matters if the item is due and no launch has decided about it.
    private mutating func miss(_ position: Position, _ fault: Fault, _ effect: FaultEffect) {
        guard let item = items[position], item.isDue, !item.isDelivered, !item.isRejected else { return }
        items[position]?.outcome.note(fault, effect)
    }
}

// MARK: - Save and discard

extension PublishedDevice {
    /// Reads the list, appends the item and writes the list back, or what the faults make of that.
    private mutating func save(_ saved: SavedItem) {
        doWork { $0.process == saved.process }
        saves += 1
        let language = policy.language(of: saved.process)
        var content = PublishedContent(saved.content, policy)
        content.save(in: language)
        var item = Item(outcome: PublishedOutcome(item: saved), content: content.content, updates: updates)
        for deviation in content.deviations { item.outcome.note(deviation.fault, deviation.effect) }
        let position = saved.position
        if let fault = content.lostBy { item.outcome.note(fault, .lost) }
        items[position] = item
        if content.lostBy != nil { return end(position, .lost) }

        var key = ListKey(suite: suite(saved.storage, of: saved.process), kind: saved.content.kind)
        let list = lists[key, default: List()]
        let isLocked = has(.readBeforeUnlock) && saves.isMultiple(of: policy.conditions.savesPerLockedSave)
        var overwrites: Fault? = isLocked ? .readBeforeUnlock : isMismatched(list) ? .storedTypeMismatch : nil
        let read = overwrites == nil ? list.entries : []
        if key.kind == .customEvents, language == .objectiveC, has(.eventSavedAsAttributes) {
            // Objective-C reads the key of the events and writes that of the attributes.
            key.kind = .customAttributes
            overwrites = .eventSavedAsAttributes
            for entry in read { items[entry]?.repetition = .eventSavedAsAttributes }
        }
        let write = Write(key: key, entries: read, new: position, updates: updates, overwrites: overwrites)
        if policy.saveLasts == 0 { return perform(write) }
        begin(.write(write), of: saved.process, from: saved.savedAt, lasting: policy.saveLasts)
    }

    private mutating func perform(_ write: Write) {
        if write.overwrites == nil, lists[write.key]?.entries ?? [] == write.entries {
            // The usual case: the list is unchanged since it was read. Two copies of one array are equal without a look
            // at their entries.
            if items[write.new] != nil { lists[write.key, default: List()].entries.append(write.new) }
            lists[write.key]?.updates = write.updates
            return
        }
        let entries = write.result.filter { items[$0] != nil }
        if policy.saveLasts > 0 {
            // Items that a flush removed after the read come back, for a later launch.
            for entry in Set(entries).subtracting(lists[write.key]?.entries ?? []) {
                guard let item = items[entry] else { continue }
                if item.isDelivered { items[entry]?.repetition = .savesOverwriteEachOther }
                if item.failure != nil { miss(entry, .savesOverwriteEachOther, .delayed) }
            }
        }
        put(entries, under: write.key, updates: write.updates, losingBy: write.overwrites ?? .savesOverwriteEachOther)
    }

    /// Removes discarded items, and with fault 33 everything else in the same suites.
    private mutating func discard(_ positions: [Position]) {
        let given = Set(positions)
        var reset: Set<ListKey.Suite> = []
        for (key, list) in lists {
            let rest = list.entries.filter { !given.contains($0) }
            if rest.count == list.entries.count { continue }
            reset.insert(key.suite)
            lists[key] = rest.isEmpty ? nil : List(entries: rest, updates: list.updates)
        }
        for position in given.sorted() { end(position, .discarded) }
        guard has(.resetTakesEverything) else { return }
        for (key, list) in lists.sorted(by: { $0.key < $1.key }) where reset.contains(key.suite) {
            lists[key] = nil
            leave(list.entries, losingBy: .resetTakesEverything)
        }
    }
}

// MARK: - Launch and flush

extension PublishedDevice {
    /// Starts the app, which flushes these lists: the custom events, then the custom attributes, then the user
    /// attributes.
    private mutating func launch(
        _ kind: LaunchKind, _ kinds: Set<PendingKind>, _ user: UserNumber, _ time: Timestamp
    ) {
        doWork { $0.process == DeviceStorage.app }
        self.user = user
        launches += 1
        if launches.isMultiple(of: policy.conditions.launchesPerUpdate) { updates += 1 }
        var passedOver: [Position] = []
        if settings.isSDKEnabled {
            passedOver = noteDue(kinds)
        } else if !has(.refusalIgnored) {
            // A disabled SDK takes nothing: items go on waiting.
            return
        }
        if kind == .return, has(.returnDoesNotFlush) {
            for position in waiting(kinds) + beingSaved(kinds) { miss(position, .returnDoesNotFlush, .delayed) }
            for position in passedOver { miss(position, .eventSavedAsAttributes, .delayed) }
            return
        }
        let stages = has(.noOrderAcrossLists) ? kinds.sorted().map { [$0] } : [kinds.sorted()]
        var flush = RunningFlush(
            launch: kind, kinds: kinds, time: time, stages: stages, beingSaved: beingSaved(kinds),
            passedOver: passedOver)
        let count = seenLists(kinds).reduce(0) { $0 + (isMismatched($1.value) ? 0 : $1.value.entries.count) }
        if count > 0 {
            flushes += 1
            let period = policy.conditions.flushesPerCrash
            flush.crashes = has(.crashBeforeRemoval) && (flushes - 1).isMultiple(of: period)
            if !flush.crashes, has(.crashBeforePersistence), flushes.isMultiple(of: period) {
                flush.firstUnstored = count * scenes - policy.conditions.itemsUnstored
            }
        }
        self.flush = flush
        goOn(at: time)
    }

    private var scenes: Int { has(.flushedTwice) ? policy.conditions.scenes : 1 }

    /// Marks what `.standard` delivers now. Returns those of these items in a list that this launch skips (1).
    private mutating func noteDue(_ kinds: Set<PendingKind>) -> [Position] {
        let due = Set(
            items.filter { kinds.contains($1.saved.content.kind) && settings.appSees($1.saved.storage) }.keys)
        for position in due { items[position]?.isDue = true }

        // Items where the app does not look are not due (34, 36).
        let fault: Fault = has(.storageArgumentForgotten) ? .storageArgumentForgotten : .appGroupMissing
        for write in writes where !isSeenByApp(write.key.suite) {
            for position in write.result where due.contains(position) { miss(position, fault, .kept) }
        }
        for (key, list) in lists.sorted(by: { $0.key < $1.key }) where !isSeenByApp(key.suite) {
            lists[key]?.entries.removeAll { due.contains($0) || items[$0] == nil }
            for position in list.entries where due.contains(position) {
                miss(position, fault, .kept)
                end(position, .stranded)
            }
        }

        let passed = PendingKind.all.subtracting(kinds)
        return (waiting(passed) + beingSaved(passed)).filter(due.contains)
    }

    /// Flushes stage by stage, until a removal that is still to come, a crash, or the end.
    private mutating func goOn(at time: Timestamp) {
        while let stage = flush?.stages.first {
            flush?.stages.removeFirst()
            var read: [ListKey: [Position]] = [:]
            for (key, list) in seenLists(stage) {
                if isMismatched(list) {
                    for entry in list.entries { miss(entry, .storedTypeMismatch, .kept) }
                } else {
                    read[key] = list.entries
                }
            }
            if read.isEmpty { continue }
            if !giveToSDK(read) {
                noteCrash()
                break
            }
            if policy.flushLasts > 0 {
                return begin(.remove(read), of: DeviceStorage.app, from: time, lasting: policy.flushLasts)
            }
            remove(read)
        }
        noteOvertaking()
        for position in flush?.beingSaved ?? [] { miss(position, .savesOverwriteEachOther, .delayed) }
        for position in flush?.passedOver ?? [] { miss(position, .eventSavedAsAttributes, .delayed) }
        flush = nil
        endLeaving()
    }

    /// An item overtakes an item of a later list that was saved before it.
    private mutating func noteOvertaking() {
        guard has(.noOrderAcrossLists), let delivered = flush?.delivered else { return }
        let first = Dictionary(delivered.map { ($0.kind, $0.position) }, uniquingKeysWith: min)
        for (position, kind) in delivered where first.contains(where: { $0.key > kind && $0.value < position }) {
            items[position]?.outcome.note(.noOrderAcrossLists, .reordered)
        }
    }

    /// Gives the read items to the SDK, in every scene. False if the app dies before the removal.
    private mutating func giveToSDK(_ read: [ListKey: [Position]]) -> Bool {
        var entries = read.sorted { $0.key < $1.key }.flatMap { key, entries in entries.map { ($0, key.kind) } }
        if !has(.noOrderAcrossLists) { entries.sort { $0.0 < $1.0 } }
        let crash = flush?.crashes == true
        let itemsBeforeCrash = policy.conditions.itemsBeforeCrash
        for scene in 0..<scenes {
            for (position, kind) in entries {
                if crash, flush?.calls == itemsBeforeCrash { return false }
                give(position, from: kind, scene)
            }
        }
        return !crash || itemsBeforeCrash != nil && flush?.calls != itemsBeforeCrash
    }

    private mutating func give(_ position: Position, from kind: PendingKind, _ scene: Int) {
        guard var flush, var item = items[position] else { return }
        flush.calls += 1
        defer {
            self.flush = flush
            items[position] = item
        }
        let call = read(item, from: kind, flush)
        if let fault = call.lostBy {
            item.failure = fault
        } else if !has(.refusalIgnored), item.content.isRefusedBySDK {
            item.isRejected = true
        } else if flush.calls > flush.firstUnstored {
            item.failure = .crashBeforePersistence
        } else {
            let user = has(.noUserStored) ? user ?? item.saved.user : item.saved.user
            let time = has(.noTimeStored) ? flush.time : item.saved.savedAt
            for deviation in call.deviations { item.outcome.note(deviation.fault, deviation.effect) }
            if user != item.saved.user { item.outcome.note(.noUserStored, .wrongUser) }
            if time != item.saved.savedAt { item.outcome.note(.noTimeStored, .misdated) }
            if item.isDelivered, let fault = scene > 0 ? .flushedTwice : item.repetition {
                item.outcome.note(fault, .doubled)
            }
            item.outcome.deliveries += 1
            item.outcome.receivedBy = user
            item.outcome.deliveredAt = flush.time
            if scene == 0 { flush.delivered.append((position, kind)) }
            outputs.append(.delivered(item: position, user: user, time: time, content: call.content))
        }
    }

    /// The content of an entry in a list of `kind` after a flush has read it, up to the SDK's answer.
    private func read(_ item: Item, from kind: PendingKind, _ flush: RunningFlush) -> PublishedContent {
        var call = PublishedContent(item.content, policy)
        switch item.content {
        case .event where kind == .customAttributes:
            call.readEventAsAttributes()
            call.setAttributes()
        case .event: call.readEvent()
        case .attributes: call.setAttributes()
        case .userAttribute:
            call.decodeUserAttribute(from: policy.language(of: item.saved.process), updates: updates - item.updates)
        }
        if call.lostBy == nil { call.findSDK(flush.launch, at: flush.time) }
        if call.lostBy == nil, has(.refusalIgnored) { call.callSDK(isEnabled: settings.isSDKEnabled) }
        return call
    }

    private mutating func remove(_ read: [ListKey: [Position]]) {
        for (key, entries) in read.sorted(by: { $0.key < $1.key }) {
            guard let list = lists[key] else { continue }
            let taken = Set(entries)
            let rest = has(.removalTakesMoreThanRead) ? [] : list.entries.filter { !taken.contains($0) }
            put(rest, under: key, updates: list.updates, losingBy: .removalTakesMoreThanRead)
        }
    }

    private mutating func noteCrash() {
        for position in waiting(flush?.kinds ?? []) {
            if items[position]?.isDelivered == true { items[position]?.repetition = .crashBeforeRemoval }
            miss(position, .crashBeforeRemoval, .delayed)
        }
    }
}
