extension EventLog {
    /// The events of `user` up to `version` and of all who were merged into them, in the order of the log: a life
    /// without a hole where an anonymous user became known. From the first one after position `after`, backward from
    /// the last one before it; at most `limit` of them.
    ///
    /// `skipping` gets each damaged record, which is then skipped; nil to throw at the first.
    package func life(
        of user: UserNumber, asOf version: Version = Version(rawValue: .max), after: Position? = nil,
        direction: Direction = .forward, limit: Int, where filter: EventFilter = EventFilter(),
        skipping: ((Position, StorageError) -> Void)? = nil
    ) throws -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        if limit < 1 { return [] }
        try forEachInLife(of: user, asOf: version, after: after, direction: direction, skipping: skipping) { event in
            if filter.matches(event) { events.append(event) }
            return events.count < limit
        }
        return events
    }

    /// Calls `body` with each event of ``life(of:asOf:after:direction:limit:where:skipping:)`` until it returns false.
    /// Events whose kind and position are not wanted are not decoded.
    package func forEachInLife(
        of user: UserNumber, asOf version: Version = Version(rawValue: .max), after: Position? = nil,
        direction: Direction = .forward, skipping: ((Position, StorageError) -> Void)? = nil,
        where isWanted: (EventKind, Position) -> Bool = { _, _ in true }, _ body: (RecordedEvent) throws -> Bool
    ) throws {
        try withView { view in
            let version = min(version.rawValue, try view.version(of: user.rawValue))
            var positions = try view.mergedHistory(of: user.rawValue, upTo: version).positions
            if direction == .backward { positions.reverse() }
            if let after = after?.rawValue {
                positions.removeAll { direction == .forward ? $0 <= after : $0 >= after }
            }
            let names = names.current
            try view.withCursor(environment.tables.log) { cursor in
                for (index, position) in positions.enumerated() {
                    view.prefetch(positions, index)
                    let event: RecordedEvent
                    do {
                        let header = try view.header(at: position, &cursor)
                        guard isWanted(header.kind ?? .unknown, Position(rawValue: position)) else { continue }
                        event = try Self.recorded(header, position, names)
                    } catch let error as StorageError {
                        guard case .damaged = error, let skipping else { throw error }
                        skipping(Position(rawValue: position), error)
                        continue
                    }
                    if try !body(event) { return }
                }
            }
        }
    }
}
