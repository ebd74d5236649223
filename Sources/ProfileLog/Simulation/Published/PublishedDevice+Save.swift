extension PublishedDevice {
    /// Reads the list, appends, writes it back: or what the faults make of that.
    mutating func save(_ item: PublishedItem) {
        finishWork(of: item.process)
        saves += 1
        let language = policy.language(of: item.process)
        let save = PublishedSave(item.content, in: language, policy)
        var openItem = OpenItem(item: item, content: item.content, updates: updates)
        for deviation in save.deviations { openItem.note(deviation) }
        switch save.stored {
        case .nothing(let fault):
            openItem.note(fault, .lost)
            act(.settled(openItem.outcome(.lost)))
            return
        case .content(let content): openItem.content = content
        }
        open[item.position] = openItem

        let key = ListKey(container: container(item.storage, of: item.process), kind: item.content.kind)
        let list = lists[key, default: PublishedList()]
        let isLocked =
            policy.has(.readBeforeUnlock) && saves.isMultiple(of: policy.conditions.savesPerLockedSave)
        let unread: Fault? = isLocked ? .readBeforeUnlock : isMismatched(list) ? .storedTypeMismatch : nil
        var write = Agenda.PendingWrite(
            key: key, entries: unread == nil ? list.entries : [], new: PublishedList.Entry(position: item.position),
            updates: updates, overwrites: unread)
        if key.kind == .customEvents, language == .objectiveC, policy.has(.eventSavedAsAttributes) {
            misplace(&write)
        }
        if policy.saveLasts > 0 {
            let due = item.savedAt.advanced(by: policy.saveLasts)
            agenda.add(Agenda.Step(due: due, process: item.process, work: .write(write)))
        } else {
            perform(write)
        }
    }

    /// Objective-C reads the events' key and writes the attributes' key, in both branches (1).
    private mutating func misplace(_ write: inout Agenda.PendingWrite) {
        write.key.kind = .customAttributes
        write.overwrites = .eventSavedAsAttributes
        for place in write.entries.indices {
            write.entries[place].isMisplaced = true
            open[write.entries[place].position]?.repetition = .eventSavedAsAttributes
        }
        write.new.isMisplaced = true
    }

    mutating func perform(_ write: Agenda.PendingWrite) {
        if write.overwrites == nil, lists[write.key]?.entries ?? [] == write.entries {
            // The usual case: nobody has written since the list was read. Of the same array that is seen without a look at the entries.
            if open[write.new.position] != nil { lists[write.key, default: PublishedList()].entries.append(write.new) }
            lists[write.key]?.updates = write.updates
            return
        }
        let entries = write.result.filter { open[$0.position] != nil }
        if policy.saveLasts > 0 { noteReturning(entries, to: write.key) }
        put(entries, under: write.key, updates: write.updates, losingBy: write.overwrites ?? .savesOverwriteEachOther)
    }

    /// What a flush has removed since the list was read comes back with it, for a later launch.
    private mutating func noteReturning(_ entries: [PublishedList.Entry], to key: ListKey) {
        let present = Set(lists[key]?.entries ?? [])
        for entry in entries where !present.contains(entry) {
            guard let item = open[entry.position] else { continue }
            if item.deliveries > 0 { open[entry.position]?.repetition = .savesOverwriteEachOther }
            if item.failure != nil { miss(entry.position, .savesOverwriteEachOther, .delayed) }
        }
    }

    /// Takes away what was given up, and with fault 33 whatever lies beside it.
    mutating func discard(_ positions: [Position]) {
        let given = Set(positions)
        var reset: Set<ListKey.Container> = []
        for (key, list) in lists {
            let rest = list.entries.filter { !given.contains($0.position) }
            if rest.count == list.entries.count { continue }
            reset.insert(key.container)
            lists[key] = rest.isEmpty ? nil : PublishedList(entries: rest, updates: list.updates)
        }
        for position in given.sorted() { settle(position, open[position]?.fate(else: .discarded) ?? .discarded) }
        guard policy.has(.resetTakesEverything) else { return }
        for (key, list) in lists.sorted(by: { $0.key < $1.key }) where reset.contains(key.container) {
            lists[key] = nil
            leave(list.entries, losingBy: .resetTakesEverything)
        }
    }
}

extension Timestamp {
    func advanced(by microseconds: Int64) -> Timestamp {
        let (sum, overflow) = rawValue.addingReportingOverflow(microseconds)
        return Timestamp(rawValue: overflow ? .max : sum)
    }
}
