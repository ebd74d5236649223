/// Reads what took effect: the occurrences of events, purchases, sessions and launches.
package struct OccurrenceReader: ReaderPart {
    let log: LogReader

    /// Calls `body` with all that took effect up to `position`, was not void then and is not blocked by the rules of
    /// the log, in the order of the log and from one view; without a position, up to its end. Scans the log.
    package func forEach(
        upTo position: Position? = nil, _ body: (Occurrence) throws -> Void
    ) throws {
        try withView { view in
            let last = min(position?.rawValue ?? .max, view.last)
            let driver = try states.driver(view, skipping: view.voidedEvents(upTo: last))
            try view.forEachEffect(by: driver, upTo: last) { event in try Occurrence(effective: event).map(body) }
        }
    }

    /// The events that bring revenue; nil if nothing acknowledged is one.
    package func orderEvents() throws -> OrderEvents? { try withView { OrderEvents($0.nameTable.current) } }

    /// Calls `body` with all that took effect for `user` up to `version`, was not void then and is not blocked, in the
    /// order of the log; of those who were merged into them too. Reads their events.
    ///
    /// - Parameters:
    ///   - until: nothing that happened later, nor who was merged later; nil for all.
    ///   - effect: what becomes of each event in an altered history.
    ///   - rules: the rules of an altered history; nil for those of the log.
    package func forEach(
        of user: UserNumber, asOf version: Version, until: Timestamp? = nil,
        altered effect: (RecordHeader, UInt64) -> RecordEffect = { _, _ in .none }, under rules: RulesTimeline? = nil,
        _ body: (Occurrence) throws -> Void
    ) throws {
        try withView { view in
            let recorded = try view.positions(of: user.rawValue, from: 1, to: version.rawValue)
            let voided = try view.voidedEvents(among: recorded)
            let driver = FoldDriver(names: names, rules: try rules ?? states.rules(view), skipping: voided)
            let history = try view.mergedHistory(of: user.rawValue, upTo: version.rawValue, until: until)
            func see(_ header: RecordHeader, at position: UInt64, effectAt effective: UInt64) throws {
                try effect(header, position).withRecord(inPlaceOf: header) { header in
                    try driver.withEvent(header, at: position, effect: effective) { event in
                        guard let occurrence = Occurrence(effective: event) else { return }
                        if let until, occurrence.at > until { return }
                        try body(occurrence)
                    }
                }
            }
            for position in history.positions where !voided.contains(position) {
                let header = try view.header(at: position)
                try driver.forEachEffect(of: header, at: position, from: view) { item in
                    // What came with a user who was merged later is not in this history.
                    guard item.user == user || history.merges[item.user.rawValue] != nil else { return }
                    try see(item.header, at: item.position.rawValue, effectAt: position)
                }
                try see(header, at: position, effectAt: position)
            }
        }
    }
}

extension LogView {
    /// The positions of the events of `user` up to `version` and of all who were merged into them, in the order of the
    /// log. `merges` are the `usersMerged` events of `user` by which each of the others came. Without those who were
    /// merged after `until`. With `skipsDamage` a damaged record has its place, and merges no user.
    package func mergedHistory(
        of user: UInt64, upTo version: UInt64, until: Timestamp? = nil, skipsDamage: Bool = false
    ) throws -> (positions: [UInt64], merges: [UInt64: UInt64]) {
        var all: [UInt64] = []
        var merges: [UInt64: UInt64] = [:]
        var streams = [(positions: try positions(of: user, from: 1, to: version), merge: UInt64?.none)]
        while let stream = streams.popLast() {
            all += stream.positions
            for position in stream.positions {
                guard let header = try merge(at: position, skipsDamage),
                    let source = RecordBody(header.body)?.otherUser,
                    let merged = try mergedPositions(header, position)
                else { continue }
                if let until, try occurredAt(position) > until { continue }
                merges[source] = stream.merge ?? position
                streams.append((merged, stream.merge ?? position))
            }
        }
        return (all.sorted(), merges)
    }

    /// The header of the event at `position` if it is `usersMerged`.
    private func merge(at position: UInt64, _ skipsDamage: Bool) throws -> RecordHeader? {
        do {
            let header = try header(at: position)
            return header.kind == .usersMerged ? header : nil
        } catch let error as StorageError {
            guard case .damaged = error, skipsDamage else { throw error }
            return nil
        }
    }
}
