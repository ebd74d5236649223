extension EventReader {
    /// The user and all who were merged into them, directly or in a chain. Reads the headers of their events.
    package func usersMerged(into user: UserNumber) throws -> [UserNumber] {
        try withView { view in
            let version = try view.version(of: user.rawValue)
            let merges = try view.mergedHistory(of: user.rawValue, upTo: version).merges
            return [user] + merges.keys.sorted().map { UserNumber(rawValue: $0) }
        }
    }

    /// Events of the log after `position`, or backward those before it, the newest first; with the last position that
    /// was looked at, and the last one of the log.
    ///
    /// Where the walk is over, `scanned` is the last position of the log, backward the first. It ends early after
    /// `scanLimit` records, as `page(from:limit:where:scanLimit:skipping:)` does.
    ///
    /// - Parameters:
    ///   - position: nil for the start, backward for the end.
    ///   - users: only events of these; found by their histories, so that others cost nothing. Nil for all.
    package func page(
        beyond position: Position?, _ direction: EventLog.Direction, of users: [UserNumber]? = nil, limit: Int,
        maxBytes: Int = .max, where filter: EventFilter, scanLimit: Int = 100_000, keys: inout AppendKeys?
    ) throws -> (events: [RecordedEvent], scanned: Position, last: Position) {
        if users == nil, direction == .forward {
            return try page(
                from: (position ?? .start).next, limit: limit, maxBytes: maxBytes, where: filter, scanLimit: scanLimit,
                keys: &keys)
        }
        var follow = keys
        defer { keys = follow }
        return try withView { view in
            let names = names.current
            let end = direction == .forward ? view.last : min(1, view.last)
            var scanned = position?.rawValue ?? (direction == .forward ? 0 : view.last + 1)
            var events: [RecordedEvent] = []
            var (bytes, looks) = (0, 0)
            // A log may be shorter than the reader believes.
            var isOver = direction == .forward ? scanned >= view.last : scanned <= 1
            while !isOver, events.count < limit, bytes < maxBytes, looks < scanLimit {
                let most = filter == EventFilter() ? min(limit - events.count, 256) : 256
                let next = try view.positions(beyond: scanned, direction, of: users, most: most)
                isOver = next.isWhole
                for position in next.positions {
                    if events.count == limit || bytes >= maxBytes {
                        isOver = false
                        break
                    }
                    let header = try view.header(at: position)
                    (scanned, looks) = (position, looks + 1)
                    guard filter.mayMatch(header.kind) else { continue }
                    var event = try RecordedEvent(reading: header, at: position, names: names)
                    guard filter.matches(event) else { continue }
                    if let key = try follow?.key(at: position, header, in: view) { event.idempotencyKey = key }
                    events.append(event)
                    bytes += header.body.count
                }
            }
            if isOver { scanned = direction == .forward ? max(scanned, end) : end }
            return (events, scanned: Position(rawValue: scanned), last: Position(rawValue: view.last))
        }
    }
}

extension LogView {
    /// The next positions after `position`, or backward before it, at most `most` of them; and whether there are no
    /// others. With `users` those of their events.
    fileprivate func positions(
        beyond position: UInt64, _ direction: EventLog.Direction, of users: [UserNumber]?, most: Int
    ) throws -> (positions: [UInt64], isWhole: Bool) {
        let most = UInt64(max(most, 1))
        guard let users else {
            let end = min(position - min(position, 1), last)
            let begin = end - min(end, most)
            return (end > begin ? Array((begin + 1...end).reversed()) : [], begin == 0)
        }
        var found: [UInt64] = []
        var isWhole = true
        for user in users {
            let from: UInt64
            let to: UInt64
            if direction == .forward {
                let end = try version(of: user.rawValue)
                from = try version(of: user.rawValue, upTo: position) + 1
                to = min(end, from - 1 + most)
                isWhole = isWhole && to == end
            } else {
                to = position > 0 ? try version(of: user.rawValue, upTo: position - 1) : 0
                from = to > most ? to - most + 1 : 1
                isWhole = isWhole && from == 1
            }
            if from <= to { found += try positions(of: user.rawValue, from: from, to: to) }
        }
        found.sort { direction == .forward ? $0 < $1 : $0 > $1 }
        isWhole = isWhole && UInt64(found.count) <= most
        return (Array(found.prefix(Int(most))), isWhole)
    }
}
