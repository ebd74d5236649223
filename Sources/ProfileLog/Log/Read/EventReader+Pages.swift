/// A user, and the events of all who were merged into them, directly or in a chain. A merged user gets no more events:
/// while the log grows, only the user's own ones are looked up again.
package struct MergedLife: Sendable {
    package let user: UserNumber
    /// The positions of the events of the others, ascending.
    fileprivate let others: [UInt64]
    /// The user's version up to which it is known who was merged.
    fileprivate var version: UInt64
}

extension EventReader {
    /// The life of `user` as far as it was merged by now. Reads the headers of its events; of those that `known` has
    /// not seen, unless one of these merged a user.
    package func mergedLife(of user: UserNumber, known: MergedLife? = nil) throws -> MergedLife {
        try withView { view in
            let version = try view.version(of: user.rawValue)
            if var known, known.user == user, known.version <= version {
                let first = known.version + 1
                let new = first <= version ? try view.positions(of: user.rawValue, from: first, to: version) : []
                known.version = version
                if try !new.contains(where: { try view.header(at: $0).kind == .usersMerged }) { return known }
            }
            let history = try view.mergedHistory(of: user.rawValue, upTo: version)
            if history.merges.isEmpty { return MergedLife(user: user, others: [], version: version) }
            let own = Set(try view.positions(of: user.rawValue, from: 1, to: version))
            return MergedLife(user: user, others: history.positions.filter { !own.contains($0) }, version: version)
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
    ///   - life: only events of this user and of who was merged; found by their histories, so that others cost nothing.
    ///     Nil for all.
    package func page(
        beyond position: Position?, _ direction: EventLog.Direction, of life: MergedLife? = nil, limit: Int,
        maxBytes: Int = .max, where filter: EventFilter, scanLimit: Int = 100_000, keys: inout AppendKeys?
    ) throws -> (events: [RecordedEvent], scanned: Position, last: Position) {
        if life == nil, direction == .forward {
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
                let next = try view.positions(beyond: scanned, direction, of: life, most: most)
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
    /// others. With `life` those of its events.
    fileprivate func positions(
        beyond position: UInt64, _ direction: EventLog.Direction, of life: MergedLife?, most: Int
    ) throws -> (positions: [UInt64], isWhole: Bool) {
        let most = max(most, 1)
        guard let life else {
            let end = min(position - min(position, 1), last)
            let begin = end - min(end, UInt64(most))
            return (end > begin ? Array((begin + 1...end).reversed()) : [], begin == 0)
        }
        var found: [UInt64]
        let isWhole: Bool
        if direction == .forward {
            let end = try version(of: life.user.rawValue)
            let known = try version(of: life.user.rawValue, upTo: position)
            let to = min(end, known + UInt64(most))
            let first = life.others.lowerBound { $0 <= position }
            let others = life.others[first...].prefix(most)
            found = others + (try positions(of: life.user.rawValue, from: known + 1, to: to))
            isWhole = to == end && others.endIndex == life.others.endIndex
            found.sort()
        } else {
            let known = position > 0 ? try version(of: life.user.rawValue, upTo: position - 1) : 0
            let from = known - min(known, UInt64(most)) + 1
            let others = life.others[..<life.others.lowerBound { $0 < position }].suffix(most)
            found = others + (try positions(of: life.user.rawValue, from: from, to: known))
            isWhole = from == 1 && others.startIndex == 0
            found.sort(by: >)
        }
        return (Array(found.prefix(most)), isWhole && found.count <= most)
    }
}
