extension PublishedDevice {
    /// Starts the app, which flushes of these lists: the custom events, then the custom attributes, then the user attributes.
    mutating func launch(_ kind: LaunchKind, _ lists: Set<PendingKind>, _ user: UserNumber, _ time: Timestamp) {
        finishWork(of: DeviceStorage.app)
        self.user = user
        launches += 1
        if launches % policy.conditions.launchesPerUpdate == 0 { updates += 1 }
        // A disabled SDK takes nothing, and what waits goes on waiting; unless nobody asks it.
        guard settings.isSDKEnabled || policy.has(.refusalIgnored) else { return }
        if settings.isSDKEnabled {
            for (position, item) in open where lists.contains(item.kind) && settings.appSees(item.item.storage) {
                open[position]?.isDue = true
            }
            noteStrays(lists)
            noteMisplaced(lists)
        }
        if kind == .return, policy.has(.returnDoesNotFlush) {
            for position in waiting(lists) + beingSaved(lists) { miss(position, .returnDoesNotFlush, .delayed) }
            return
        }
        let order = lists.sorted()
        let stages = policy.has(.noOrderAcrossLists) ? order.map { [$0] } : [order]
        var flush = PublishedFlush(
            launch: kind, lists: lists, time: time, stages: stages, beingSaved: beingSaved(lists))
        let readable = seenLists(order).filter { !isMismatched($0.list) }
        let count = readable.reduce(0) { $0 + $1.list.entries.count }
        if count > 0 {
            flushes += 1
            let period = policy.conditions.flushesPerCrash
            if policy.has(.crashBeforeRemoval), (flushes - 1).isMultiple(of: period) {
                flush.crash = PublishedFlush.Crash(afterItems: policy.conditions.itemsBeforeCrash)
            } else if policy.has(.crashBeforePersistence), flushes.isMultiple(of: period) {
                flush.firstUnstored = count * scenes - policy.conditions.itemsUnstored
            }
        }
        self.flush = flush
        goOn(at: time)
    }

    private var scenes: Int { policy.has(.flushedTwice) ? policy.conditions.scenes : 1 }

    /// Flushes stage by stage, up to a removal that is still to come, a crash, or the end.
    mutating func goOn(at time: Timestamp) {
        while let stage = flush?.stages.first {
            flush?.stages.removeFirst()
            var read: [ListKey: [PublishedList.Entry]] = [:]
            for (key, list) in seenLists(stage) {
                if isMismatched(list) {
                    for entry in list.entries { miss(entry.position, .storedTypeMismatch, .kept) }
                } else {
                    read[key] = list.entries
                }
            }
            if read.isEmpty { continue }
            if !loop(over: read) { return crash() }
            if policy.flushLasts > 0 {
                let due = time.advanced(by: policy.flushLasts)
                agenda.add(Agenda.Step(due: due, process: DeviceStorage.app, work: .remove(read)))
                return
            }
            remove(read)
        }
        endFlush()
    }

    /// Gives the SDK what was read, in every scene. False if the app dies meanwhile.
    private mutating func loop(over read: [ListKey: [PublishedList.Entry]]) -> Bool {
        var entries = read.sorted { $0.key < $1.key }.flatMap { key, entries in
            entries.map { (entry: $0, kind: key.kind) }
        }
        if !policy.has(.noOrderAcrossLists) { entries.sort { $0.entry.position < $1.entry.position } }
        for scene in 0..<scenes {
            for (entry, kind) in entries {
                if flush?.isDueToCrash == true { return false }
                deliver(entry, from: kind, scene: scene)
            }
        }
        return flush?.isDueToCrash != true && (flush?.crash == nil || flush?.crash?.afterItems != nil)
    }

    private mutating func deliver(_ entry: PublishedList.Entry, from kind: PendingKind, scene: Int) {
        guard let flush, var item = open[entry.position] else { return }
        self.flush?.calls += 1
        let reading = PublishedReading(
            item.content, savedIn: policy.language(of: item.item.process),
            PublishedReading.Situation(
                launch: flush.launch, time: flush.time, isSDKEnabled: settings.isSDKEnabled,
                updates: updates - item.updates, isMisplaced: entry.isMisplaced),
            policy)
        switch reading.result {
        case .nothing(let fault): item.failure = fault
        case .rejected: item.isRejected = true
        case .content where flush.calls >= flush.firstUnstored: item.failure = .crashBeforePersistence
        case .content(let content):
            let delivery = Delivery(
                item: entry.position, user: policy.has(.noUserStored) ? user ?? item.item.user : item.item.user,
                time: policy.has(.noTimeStored) ? flush.time : item.item.savedAt, content: content)
            item.receive(delivery, reading.deviations, repeatedBy: scene > 0 ? .flushedTwice : item.repetition)
            item.deliveredAt = flush.time
            if scene == 0 { self.flush?.delivered.append((entry.position, kind)) }
            act(.delivered(delivery))
        }
        open[entry.position] = item
    }

    mutating func remove(_ read: [ListKey: [PublishedList.Entry]]) {
        for (key, entries) in read.sorted(by: { $0.key < $1.key }) {
            guard let list = lists[key] else { continue }
            let taken = Set(entries)
            let rest = policy.has(.removalTakesMoreThanRead) ? [] : list.entries.filter { !taken.contains($0) }
            put(rest, under: key, updates: list.updates, losingBy: .removalTakesMoreThanRead)
        }
    }

    private mutating func crash() {
        for position in waiting(flush?.lists ?? []) {
            if open[position]?.deliveries ?? 0 > 0 { open[position]?.repetition = .crashBeforeRemoval }
            miss(position, .crashBeforeRemoval, .delayed)
        }
        endFlush()
    }

    private mutating func endFlush() {
        for position in flush?.overtaking ?? [] { open[position]?.note(.noOrderAcrossLists, .reordered) }
        for position in flush?.beingSaved ?? [] { miss(position, .savesOverwriteEachOther, .delayed) }
        flush = nil
        settleLeaving()
    }

    // MARK: - What waits

    /// A launch passes an item by, which matters if it is due and was neither delivered nor rejected.
    mutating func miss(_ position: Position, _ fault: Fault, _ effect: FaultEffect) {
        if let item = open[position], item.isDue, !item.isDone { open[position]?.note(fault, effect) }
    }

    private func seenLists(_ kinds: some Collection<PendingKind>) -> [(key: ListKey, list: PublishedList)] {
        let seen = lists.filter { kinds.contains($0.key.kind) && isSeenByApp($0.key.container) }
        return seen.sorted { $0.key < $1.key }.map { (key: $0.key, list: $0.value) }
    }

    /// What lies where the app looks.
    private func waiting(_ kinds: Set<PendingKind>) -> [Position] {
        seenLists(kinds).flatMap { $0.list.entries.map(\.position) }
    }

    /// What processes are about to put there, or to put back.
    private func beingSaved(_ kinds: Set<PendingKind>) -> [Position] {
        agenda.writes.filter { kinds.contains($0.key.kind) && isSeenByApp($0.key.container) }.flatMap {
            $0.result.map(\.position)
        }
    }

    /// What the app should see and never will is not waited for (34, 36).
    private mutating func noteStrays(_ lists: Set<PendingKind>) {
        let fault = strayFault
        for write in agenda.writes where !isSeenByApp(write.key.container) {
            for entry in write.result where isMeant(entry, lists) { miss(entry.position, fault, .kept) }
        }
        for (key, list) in self.lists.sorted(by: { $0.key < $1.key }) where !isSeenByApp(key.container) {
            let strays = list.entries.filter { isMeant($0, lists) }
            if strays.isEmpty { continue }
            let gone = Set(strays)
            self.lists[key]?.entries.removeAll { gone.contains($0) }
            for stray in strays {
                miss(stray.position, fault, .kept)
                settle(stray.position, .stranded)
            }
        }
    }

    /// What is due and lies in a list that this launch passes over (1).
    private mutating func noteMisplaced(_ lists: Set<PendingKind>) {
        let passed = PendingKind.all.subtracting(lists)
        for position in waiting(passed) + beingSaved(passed)
        where open[position].map({ lists.contains($0.kind) }) ?? false {
            miss(position, .eventSavedAsAttributes, .delayed)
        }
    }

    /// Whether a launch that flushes `lists` is to find it.
    private func isMeant(_ entry: PublishedList.Entry, _ lists: Set<PendingKind>) -> Bool {
        open[entry.position].map { lists.contains($0.kind) && settings.appSees($0.item.storage) } ?? true
    }
}

extension OpenItem {
    /// Notes what was not as it was saved.
    fileprivate mutating func receive(_ delivery: Delivery, _ deviations: [Deviation], repeatedBy fault: Fault?) {
        for deviation in deviations { note(deviation) }
        if delivery.user != item.user { note(.noUserStored, .wrongUser) }
        if delivery.time != item.savedAt { note(.noTimeStored, .misdated) }
        if deliveries > 0, let fault { note(fault, .doubled) }
        deliveries += 1
        receivedBy = delivery.user
    }
}
