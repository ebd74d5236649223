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
            let history =
                try merged
                ? HistoryPositions(
                    all: view.mergedHistory(of: user.rawValue, upTo: version, skipsDamage: skipping != nil).positions)
                : HistoryPositions(of: user.rawValue, count: version)
            var first = merged ? 1 : versions.lowerBound
            var end = merged ? history.count : min(versions.upperBound, version)
            if let after = after?.rawValue {
                switch direction {
                case .forward: first = try max(first, history.number(upTo: after, view) + 1)
                case .backward: end = try min(end, after == 0 ? 0 : history.number(upTo: after - 1, view))
                }
            }
            var page = TimesPage(limit, filter, names: names.current, mostAttributes: Self.mostAttributes)
            while first <= end, !page.hasMore {
                var positions: [UInt64]
                switch direction {
                case .forward:
                    let next = first + min(end - first + 1, HistoryPositions.part)
                    positions = try history.positions(first..<next, view)
                    first = next
                case .backward:
                    let next = end - min(end - first + 1, HistoryPositions.part)
                    positions = try history.positions(next + 1..<end + 1, view)
                    positions.reverse()
                    end = next
                }
                try page.read(positions, view, skipsDamage: skipping != nil)
            }
            let last = page.hasMore ? page.events.last?.position : nil
            let damaged = page.damaged
            for (position, error) in damaged.sorted(by: { $0.key < $1.key }) {
                // After the last event that is given, it belongs to the next answer.
                let isNext = last.map { direction == .forward ? position > $0 : position < $0 } ?? false
                if !isNext { skipping?(Position(rawValue: position), error) }
            }
            // Where a record of the user is damaged, the others are shown all the same.
            let voided = (try? self.voided(of: user)) ?? VoidedEvents()
            for index in page.events.indices {
                if page.events[index].outline.isErased {
                    page.events[index].outcome = .erased
                } else if let void = voided.void(of: page.events[index].position) {
                    (page.events[index].outcome, page.events[index].decidedBy) = (.void, void)
                }
            }
            let pending = try? states.state(ProfileProjection.self, user.rawValue, version: version, view).pending
            try page.decide(by: history, pending: pending ?? [], view) { position, error in
                guard let skipping else { throw error }
                if damaged[position] == nil { skipping(Position(rawValue: position), error) }
            }
            return (page.events, page.hasMore)
        }
    }
}

/// The positions of a user's history, by their numbers from 1 on. A page looks at a part of them.
private struct HistoryPositions {
    /// So many are read at once.
    static let part: UInt64 = 4_096

    let count: UInt64
    private let user: UInt64
    /// All of them, with those of merged users; nil for the user's own, which have their versions as numbers.
    private let all: [UInt64]?

    init(of user: UInt64, count: UInt64) { (self.user, self.count, all) = (user, count, nil) }

    init(all: [UInt64]) { (user, count, self.all) = (0, UInt64(all.count), all) }

    func positions(_ numbers: Range<UInt64>, _ view: LogView) throws -> [UInt64] {
        if let all { return Array(all[Int(numbers.lowerBound) - 1..<Int(numbers.upperBound) - 1]) }
        return try view.positions(of: user, from: numbers.lowerBound, to: numbers.upperBound - 1)
    }

    /// The number of the last one that is at `position` or before it; 0 if none is.
    func number(upTo position: UInt64, _ view: LogView) throws -> UInt64 {
        if let all { return UInt64(all.lowerBound { $0 <= position }) }
        return try view.version(of: user, upTo: position)
    }
}

/// A page of events without their values, while it is read.
private struct TimesPage {
    private(set) var hasMore = false
    private(set) var damaged: [UInt64: StorageError] = [:]
    var events: [EventTimes] = []
    /// The positions of flushes and other outcomes that were met.
    private var outcomes: [UInt64] = []
    /// The greatest position that was looked at.
    private var greatest: UInt64 = 0
    private var attributes = 0
    private let limit: Int
    private let filter: EventFilter
    private let names: NameMap
    private let mostAttributes: Int

    init(_ limit: Int, _ filter: EventFilter, names: NameMap, mostAttributes: Int) {
        (self.limit, self.filter, self.names, self.mostAttributes) = (limit, filter, names, mostAttributes)
    }

    /// Takes the next events, and notes whether there are more than the page has room for.
    mutating func read(_ positions: [UInt64], _ view: LogView, skipsDamage: Bool) throws {
        let takesAll = filter == EventFilter()
        try view.withCursor(view.tables.log) { cursor in
            for (index, position) in positions.enumerated() where !hasMore {
                view.prefetch(positions, index)
                greatest = max(greatest, position)
                do {
                    let header = try view.header(at: position, &cursor)
                    if case .outcome? = header.kind?.role { outcomes.append(position) }
                    guard filter.mayMatch(header.kind) else { continue }
                    if !takesAll {
                        let event = try RecordedEvent(reading: header, at: position, names: names)
                        guard filter.matches(event) else { continue }
                    }
                    hasMore = events.count >= limit || attributes > mostAttributes
                    if hasMore { continue }
                    guard let outline = EventOutline(header) else {
                        throw StorageError.damaged(place: "the record at position \(position) is unreadable")
                    }
                    attributes += outline.attributes.count
                    events.append(EventTimes(position: position, outline: outline))
                } catch let error as StorageError {
                    guard case .damaged = error, skipsDamage else { throw error }
                    damaged[position] = error
                }
            }
        }
    }

    /// Sets the outcomes of saved and queued events that are neither void nor erased.
    ///
    /// What decided about them comes after them, mostly in the page or soon after it: the rest of the history is read
    /// until all of them are known. Of those that are still `pending` nothing is looked for but who handed them over.
    mutating func decide(
        by history: HistoryPositions, pending: [ProfileState.PendingEntry], _ view: LogView,
        damaged: (UInt64, StorageError) throws -> Void
    ) throws {
        let isQueued = Dictionary(pending.map { ($0.position, $0.isQueued) }) { first, _ in first }
        var open: [UInt64: Int] = [:]
        for (index, event) in events.enumerated() where event.outcome == nil {
            let kind = event.outline.kind
            guard kind.isSaved || kind.isQueued else { continue }
            events[index].outcome = kind.isSaved ? .waiting : .queued
            // One that the SDK has was handed over by a flush, unless the SDK itself queued it.
            let isUndecided = isQueued[event.position].map { isQueued in !isQueued || kind.isQueued } ?? false
            if !isUndecided { open[event.position] = index }
        }
        guard let first = open.keys.min() else { return }
        var found = events
        func set(_ outcome: EventTimes.Outcome, of item: Position, by position: UInt64) {
            guard let index = open[item.rawValue] else { return }
            (found[index].outcome, found[index].decidedBy) = (outcome, position)
            // What was handed over is sent later, unless it is still there.
            if outcome != .queued || isQueued[item.rawValue] != nil { open[item.rawValue] = nil }
        }
        func search(_ positions: [UInt64]) throws {
            try view.withCursor(view.tables.log) { cursor in
                for (index, position) in positions.enumerated() where !open.isEmpty {
                    view.prefetch(positions, index)
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
        try search(outcomes.filter { $0 > first }.sorted())
        var next = try history.number(upTo: greatest, view) + 1
        while next <= history.count, !open.isEmpty {
            let end = next + min(history.count - next + 1, HistoryPositions.part)
            try search(history.positions(next..<end, view))
            next = end
        }
        events = found
    }
}
