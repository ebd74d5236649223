extension BlameSearch {
    /// Returns the reason why the user has the counts of custom events and products: how often, since when, and by
    /// which event the last time. Void events count nowhere, and what came with a merge names the user whose event it
    /// was.
    ///
    /// Counts and times are those of the profile. An event that was saved costs the user's events up to its flush; the
    /// log, and an event of a merged user, cost the whole history.
    ///
    /// - Parameter subject: one event or product; nil for all.
    /// - Returns: events, then products, in the order of their names; nothing if the user never had any.
    func occurrences(of subject: OccurrenceBlame.Subject?) throws -> [OccurrenceBlame] {
        var asked: Occurrence.What?
        if let subject {
            guard let number = log.names.number(subject.name) else { return [] }
            asked = if case .event = subject { .event(number) } else { .purchase(number) }
        }
        let counts = counts(of: asked)
        var found = Found()
        var logs: [Occurrence.What: [Occurred]] = [:]
        let isMerged = try counts.contains { try view.header(at: $0.value.position.rawValue).user != user }
        if withLog || isMerged {
            (logs, found) = try walk(asked)
        } else {
            found.effects = try flushes(of: counts.values.map(\.position.rawValue))
        }
        let blamed = try Set(counts.keys).union(withLog ? Set(logs.keys) : []).compactMap { what in
            try blame(what, counts[what], withLog ? logs[what] ?? [] : [], found)
        }
        return blamed.sorted { $0.subject.order < $1.subject.order }
    }

    /// Returns the counts of the profile.
    private func counts(of asked: Occurrence.What?) -> [Occurrence.What: ProfileState.Occurrences] {
        let all =
            now.events.map { (Occurrence.What.event($0.name), $0.occurrences) }
            + now.purchases.map { (Occurrence.What.purchase($0.product), $0.occurrences) }
        return Dictionary(uniqueKeysWithValues: all.filter { asked == nil || $0.0 == asked })
    }

    private func blame(
        _ what: Occurrence.What, _ counted: ProfileState.Occurrences?, _ occurred: [Occurred], _ found: Found
    ) throws -> OccurrenceBlame? {
        guard let subject = subject(what) else { return nil }
        var count: UInt64 = 0
        let entries = occurred.map { occurrence in
            count += occurrence.void == nil ? occurrence.quantity : 0
            return LogEntry(
                position: occurrence.position, value: .int(Int64(clamping: count)), void: occurrence.void)
        }
        let (log, place) = try part(of: entries, found)
        if let counted {
            let last = try write(
                counted.position.rawValue, .int(Int64(clamping: counted.count)), void: nil, found)
            return OccurrenceBlame(
                subject: subject, count: counted.count, first: counted.first, last: counted.last,
                write: last, log: log, logPlace: place)
        }
        // All its events are void.
        guard let last = entries.last else { return nil }
        return OccurrenceBlame(
            subject: subject, count: 0, write: try write(last, found), log: log, logPlace: place)
    }

    private func subject(_ what: Occurrence.What) -> OccurrenceBlame.Subject? {
        switch what {
        case .event(let number): log.names.name(number).map { .event($0) }
        case .purchase(let number): log.names.name(number).map { .product($0) }
        case .created, .session, .launch, .removal: nil
        }
    }

    // MARK: - Flushes

    /// Events read at a time while looking for a flush; most items are flushed soon.
    private static let eventsPerLook: UInt64 = 128

    /// The flush of each saved or queued event in `positions`. All are of the user.
    func flushes(of positions: [UInt64]) throws -> [UInt64: UInt64] {
        var waiting: Set<UInt64> = []
        var read = version
        for position in positions {
            let header = try view.header(at: position)
            guard case .content(_, let timing)? = header.kind?.role, timing != .logged else { continue }
            waiting.insert(position)
            read = min(read, header.version)
        }
        var effects: [UInt64: UInt64] = [:]
        while !waiting.isEmpty, read < version {
            let end = min(version, read + Self.eventsPerLook)
            for position in try view.positions(of: user, from: read + 1, to: end) {
                let header = try view.header(at: position)
                guard case .outcome? = header.kind?.role, let body = RecordBody(header.body), !body.erased,
                    !(header.kind == .pendingFlushed && body.isQueued)
                else { continue }
                for item in body.flushed where waiting.remove(item.rawValue) != nil {
                    effects[item.rawValue] = position
                }
            }
            read = end
        }
        return effects
    }

    // MARK: - The walk

    /// A counted event or purchase, or a void one.
    private struct Occurred {
        let position: UInt64
        var quantity: UInt64 = 0
        var void: UInt64?
    }

    /// Walks through the events of the user and of all who were merged into them.
    private func walk(_ asked: Occurrence.What?) throws -> ([Occurrence.What: [Occurred]], Found) {
        let history = try view.mergedHistory(of: user, upTo: version)
        let own = now.voids > 0 ? try view.positions(of: user, from: 1, to: version) : []
        let voided = try view.voidedEvents(among: own)
        let driver = try log.states.driver(view, skipping: voided)
        var found = Found(merges: history.merges)
        var logs: [Occurrence.What: [Occurred]] = [:]
        func note(_ occurrence: Occurrence, _ occurred: Occurred) {
            if asked == nil || asked == occurrence.what { logs[occurrence.what, default: []].append(occurred) }
        }
        for position in history.positions {
            let header = try view.header(at: position)
            if let void = voided.void(of: position) {
                guard case .content(let content, _)? = header.kind?.role else { continue }
                Occurrence(header, content, Position(rawValue: position)).map {
                    note($0, Occurred(position: position, void: void))
                }
                continue
            }
            func see(_ event: borrowing EventView) {
                guard let occurrence = Occurrence(effective: event) else { return }
                if event.effect != event.position { found.effects[event.position.rawValue] = position }
                note(occurrence, Occurred(position: event.position.rawValue, quantity: occurrence.quantity))
            }
            try driver.forEachEffect(of: header, at: position, from: view) { see($0) }
            driver.withEvent(header, at: position) { see($0) }
        }
        return (logs, found)
    }
}

extension OccurrenceBlame.Subject {
    /// Events come before products.
    fileprivate var order: (Int, Name) { if case .event = self { (0, name) } else { (1, name) } }
}
