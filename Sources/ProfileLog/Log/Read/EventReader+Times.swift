/// An event of a user without its values, and what became of it.
package struct EventTimes: Sendable {
    /// The fate of a saved or queued event; also of any other that counts no more.
    package enum Outcome: String, CaseIterable, Sendable {
        /// Saved, and not flushed yet.
        case waiting
        /// The SDK has it and has not sent it.
        case queued
        /// Effective since a flush.
        case flushed
        /// Effective since the SDK sent it.
        case sent
        case rejected
        case discarded
        case void
        case erased
    }

    package let position: UInt64
    package let outline: EventOutline
    /// The fate; nil for an event that counts since it was recorded, and for one that says nothing of a profile.
    package fileprivate(set) var outcome: Outcome?
    /// The event that decided the outcome: a flush, a sending, a discarding or a void.
    package fileprivate(set) var decidedBy: UInt64?
}

extension EventReader {
    /// The most attributes that the events of one answer change together.
    private static let mostAttributes = 500_000

    /// The events of `user` with a version in `versions`, without their values, at most `limit` of them; and whether
    /// more follow. Decodes no content, unless `filter` asks for it.
    ///
    /// - Parameters:
    ///   - merged: with the events of all who were merged into the user, in the order of the log; then `versions` is
    ///     not looked at.
    ///   - after: begins with the first event after this position, backward with the last one before it.
    ///   - skipping: gets each damaged record, which is then skipped; nil to throw at the first.
    package func times(
        of user: UserNumber, versions: ClosedRange<UInt64> = 1 ... .max, merged: Bool = false,
        after: Position? = nil, direction: EventLog.Direction = .forward, limit: Int,
        where filter: EventFilter = EventFilter(), skipping: ((Position, StorageError) -> Void)? = nil
    ) throws -> (events: [EventTimes], more: Bool) {
        try withView { view in
            let version = try view.version(of: user.rawValue)
            // What decides about an event comes after it, and may be beyond the versions that are asked for.
            let all =
                try merged
                ? view.mergedHistory(of: user.rawValue, upTo: version, skipsDamage: skipping != nil).positions
                : view.positions(of: user.rawValue, from: 1, to: version)
            var wanted = all
            if !merged {
                let (first, end) = (min(versions.lowerBound - 1, version), min(versions.upperBound, version))
                wanted = first < end ? Array(all[Int(first)..<Int(end)]) : []
            }
            if let after = after?.rawValue {
                wanted.removeAll { direction == .forward ? $0 <= after : $0 >= after }
            }
            if direction == .backward { wanted.reverse() }
            var damaged: [UInt64: StorageError] = [:]
            let found = try outlines(
                at: wanted, limit, filter, view, noting: skipping == nil ? nil : { damaged[$0] = $1 })
            var events = found.events
            let end = found.more ? events.last?.position : nil
            for (position, error) in damaged.sorted(by: { $0.key < $1.key }) {
                // After the last event that is given, it belongs to the next answer.
                let isNext = end.map { direction == .forward ? position > $0 : position < $0 } ?? false
                if !isNext { skipping?(Position(rawValue: position), error) }
            }
            try decide(&events, among: all, view) { position, error in
                guard let skipping else { throw error }
                if damaged[position] == nil { skipping(Position(rawValue: position), error) }
            }
            // Where a record of the user is damaged, the others are shown all the same.
            let voided = (try? self.voided(of: user)) ?? VoidedEvents()
            for index in events.indices {
                if events[index].outline.isErased {
                    (events[index].outcome, events[index].decidedBy) = (.erased, nil)
                } else if let void = voided.void(of: events[index].position) {
                    (events[index].outcome, events[index].decidedBy) = (.void, void)
                }
            }
            return (events, found.more)
        }
    }

    private func outlines(
        at positions: [UInt64], _ limit: Int, _ filter: EventFilter, _ view: LogView,
        noting damage: ((UInt64, StorageError) -> Void)?
    ) throws -> (events: [EventTimes], more: Bool) {
        let names = names.current
        let takesAll = filter == EventFilter()
        var events: [EventTimes] = []
        events.reserveCapacity(takesAll ? min(positions.count, max(0, limit)) : 0)
        var attributes = 0
        var more = false
        try view.withCursor(view.tables.log) { cursor in
            for (index, position) in positions.enumerated() where !more {
                view.prefetch(positions, index)
                do {
                    let header = try view.header(at: position, &cursor)
                    guard filter.mayMatch(header.kind) else { continue }
                    if !takesAll {
                        let event = try RecordedEvent(reading: header, at: position, names: names)
                        guard filter.matches(event) else { continue }
                    }
                    more = events.count >= limit || attributes > Self.mostAttributes
                    if more { continue }
                    guard let outline = EventOutline(header) else {
                        throw StorageError.damaged(place: "the record at position \(position) is unreadable")
                    }
                    attributes += outline.attributes.count
                    events.append(EventTimes(position: position, outline: outline))
                } catch let error as StorageError {
                    guard case .damaged = error, let damage else { throw error }
                    damage(position, error)
                }
            }
        }
        return (events, more)
    }

    /// Sets the outcomes of saved and queued events. What decides about them is at `positions`, ascending.
    private func decide(
        _ events: inout [EventTimes], among positions: [UInt64], _ view: LogView,
        damaged: (UInt64, StorageError) throws -> Void
    ) throws {
        var places: [UInt64: Int] = [:]
        for (index, event) in events.enumerated() where event.outline.kind.isSaved || event.outline.kind.isQueued {
            places[event.position] = index
            events[index].outcome = event.outline.kind.isSaved ? .waiting : .queued
        }
        guard let first = places.keys.min() else { return }
        func set(_ outcome: EventTimes.Outcome, of item: Position, by position: UInt64) {
            guard let index = places[item.rawValue] else { return }
            (events[index].outcome, events[index].decidedBy) = (outcome, position)
        }
        let later = Array(positions[positions.lowerBound { $0 <= first }...])
        try view.withCursor(view.tables.log) { cursor in
            for (index, position) in later.enumerated() {
                view.prefetch(later, index)
                do {
                    let header = try view.header(at: position, &cursor)
                    guard case .outcome(let outcome)? = header.kind?.role else { continue }
                    guard let body = RecordBody(header.body) else {
                        throw StorageError.damaged(place: "the record at position \(position) is unreadable")
                    }
                    switch outcome {
                    case .flushed:
                        for item in body.flushed { set(body.isQueued ? .queued : .flushed, of: item, by: position) }
                        for item in body.rejected { set(.rejected, of: item.position, by: position) }
                    case .sent: for item in body.flushed { set(.sent, of: item, by: position) }
                    case .discarded: for item in body.discarded { set(.discarded, of: item, by: position) }
                    }
                } catch let error as StorageError {
                    guard case .damaged = error else { throw error }
                    try damaged(position, error)
                }
            }
        }
    }
}
