/// Reads events of one user, or of all.
package struct EventReader: ReaderPart {
    let log: LogReader

    // MARK: - One user

    /// As ``EventLog/history(of:from:to:direction:limit:where:)``. `skipping` gets each damaged record, which is then
    /// skipped; nil to throw at the first.
    package func history(
        of user: UserNumber, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: EventLog.Direction = .forward, limit: Int = .max, where filter: EventFilter = EventFilter(),
        skipping: ((Position, StorageError) -> Void)? = nil
    ) throws -> [RecordedEvent] {
        try withView { view in
            let positions = try positions(of: user, from, to, direction, view)
            let names = names.current
            let takesAll = filter == EventFilter()
            var events: [RecordedEvent] = []
            events.reserveCapacity(takesAll ? min(positions.count, max(0, limit)) : 0)
            try view.withCursor(view.tables.log) { cursor in
                for (index, position) in positions.enumerated() where events.count < limit {
                    view.prefetch(positions, index)
                    do {
                        let header = try view.header(at: position, &cursor)
                        let event = try RecordedEvent(reading: header, at: position, names: names)
                        if takesAll || filter.matches(event) { events.append(event) }
                    } catch let error as StorageError {
                        guard case .damaged = error, let skipping else { throw error }
                        skipping(Position(rawValue: position), error)
                    }
                }
            }
            return events
        }
    }

    /// As ``EventLog/forEachEvent(of:from:to:direction:_:)``.
    package func forEach(
        of user: UserNumber, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: EventLog.Direction = .forward, _ body: (borrowing EventView) throws -> Bool
    ) throws {
        try withView { view in
            let positions = try positions(of: user, from, to, direction, view)
            try view.withCursor(view.tables.log) { cursor in
                for (index, position) in positions.enumerated() {
                    view.prefetch(positions, index)
                    let header = try view.header(at: position, &cursor)
                    let event = EventView(header: header, position: Position(rawValue: position), names: names)
                    if try !body(event) { return }
                }
            }
        }
    }

    private func positions(
        of user: UserNumber, _ from: Version, _ to: Version, _ direction: EventLog.Direction, _ view: LogView
    ) throws -> [UInt64] {
        let version = try view.version(of: user.rawValue)
        let positions = try view.positions(of: user.rawValue, from: from.rawValue, to: min(to.rawValue, version))
        return direction == .forward ? positions : positions.reversed()
    }

    /// The events of `user` up to `version` and of all who were merged into them, in the order of the log: a life
    /// without a hole where an anonymous user became known. From the first one after position `after`, backward from
    /// the last one before it; at most `limit` of them.
    ///
    /// `skipping` gets each damaged record, which is then skipped; nil to throw at the first.
    package func life(
        of user: UserNumber, asOf version: Version = Version(rawValue: .max), after: Position? = nil,
        direction: EventLog.Direction = .forward, limit: Int, where filter: EventFilter = EventFilter(),
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
        direction: EventLog.Direction = .forward, skipping: ((Position, StorageError) -> Void)? = nil,
        where isWanted: (EventKind, Position) -> Bool = { _, _ in true }, _ body: (RecordedEvent) throws -> Bool
    ) throws {
        try withView { view in
            let version = min(version.rawValue, try view.version(of: user.rawValue))
            var positions = try view.mergedHistory(
                of: user.rawValue, upTo: version, skipsDamage: skipping != nil
            ).positions
            if direction == .backward { positions.reverse() }
            if let after = after?.rawValue {
                positions.removeAll { direction == .forward ? $0 <= after : $0 >= after }
            }
            let names = names.current
            try view.withCursor(view.tables.log) { cursor in
                for (index, position) in positions.enumerated() {
                    view.prefetch(positions, index)
                    let event: RecordedEvent
                    do {
                        let header = try view.header(at: position, &cursor)
                        guard isWanted(header.kind ?? .unknown, Position(rawValue: position)) else { continue }
                        event = try RecordedEvent(reading: header, at: position, names: names)
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

    /// The void events among those of `user` and of users merged into them, as of `version` (or now). Looks at the
    /// kind of each of their events, unless the profile says that none was ever void.
    package func voided(of user: UserNumber, asOf version: Version = Version(rawValue: .max)) throws -> VoidedEvents {
        try withView { view in
            let version = min(try view.version(of: user.rawValue), version.rawValue)
            let profile = try states.state(ProfileProjection.self, user.rawValue, version: version, view)
            if profile.voids == 0 { return VoidedEvents() }
            return try view.voidedEvents(among: view.positions(of: user.rawValue, from: 1, to: version))
        }
    }

    // MARK: - The log

    /// Events from position `from` on, at most `limit` of them, in log order; with the last position that was looked
    /// at, and the last one of the log.
    ///
    /// With a filter an answer may be short although more follows: it ends after `scanLimit` records. `skipping` gets
    /// each damaged record, which is then skipped; nil to throw at the first.
    package func page(
        from: Position, limit: Int, where filter: EventFilter = EventFilter(), scanLimit: Int = 100_000,
        skipping: ((Position, StorageError) -> Void)? = nil
    ) throws -> (events: [RecordedEvent], scanned: Position, last: Position) {
        var keys: AppendKeys?
        return try page(from: from, limit: limit, where: filter, scanLimit: scanLimit, keys: &keys, skipping: skipping)
    }

    /// As the one above, with its idempotency key on every event of an append, unless `keys` is nil. A reader of
    /// several pages keeps `keys`. A page ends after the event with which its records have `maxBytes`.
    package func page(
        from: Position, limit: Int, maxBytes: Int = .max, where filter: EventFilter, scanLimit: Int = 100_000,
        keys: inout AppendKeys?, skipping: ((Position, StorageError) -> Void)? = nil
    ) throws -> (events: [RecordedEvent], scanned: Position, last: Position) {
        var follow = keys
        defer { keys = follow }
        return try withView { view in
            let names = names.current
            var events: [RecordedEvent] = []
            var bytes = 0
            var scanned = from.rawValue == 0 ? 0 : from.rawValue - 1
            let count = limit > 0 && scanned < view.last ? min(UInt64(max(0, scanLimit)), view.last - scanned) : 0
            let skip = skipping.map { skipping in
                { (position: UInt64, error: StorageError) in
                    scanned = position
                    skipping(Position(rawValue: position), error)
                }
            }
            try view.scan(from: scanned + 1, to: scanned + count, skipping: skip) { position, header in
                if filter.mayMatch(header.kind) {
                    var event = try RecordedEvent(reading: header, at: position, names: names)
                    if let key = try follow?.key(at: position, header, in: view) { event.idempotencyKey = key }
                    if filter.matches(event) {
                        events.append(event)
                        bytes += header.body.count
                    }
                }
                scanned = position
                return events.count < limit && bytes < maxBytes
            }
            return (events, scanned: Position(rawValue: scanned), last: Position(rawValue: view.last))
        }
    }

    /// The append that was stored under `key`, whatever its content; nil if there is none.
    ///
    /// For callers who compare requests by other means: the same bytes may make other events now. The receipt of an
    /// append whose first event was erased says so, and has no note.
    package func append(underKey key: String) throws -> AppendReceipt? {
        let key = Array(key.utf8)
        let hash = KeyCoding.hash(key)
        return try withView { view in
            guard let (field, positions) = try view.append(keyHash: hash, before: view.last + 1, view.header),
                field.isUnder(key, hash: hash)
            else { return nil }
            return try AppendReceipt(repeating: field, at: positions, view.header)
        }
    }

    /// Tells whether an append was stored under one of `keys`.
    package func hasAppend(underOneOf keys: [String]) throws -> Bool {
        try withView { view in
            try keys.contains { key in
                let key = Array(key.utf8)
                let hash = KeyCoding.hash(key)
                let known = try view.append(keyHash: hash, before: view.last + 1, view.header)
                return known?.field.isUnder(key, hash: hash) == true
            }
        }
    }

    /// Tells whether a user was erased after `position`.
    package func hasErasure(after position: Position) throws -> Bool {
        var hasErasure = false
        try withView { view in
            try view.scan(from: position.rawValue + 1, to: view.last) { _, header in
                hasErasure = header.kind == .userErased
                return !hasErasure
            }
        }
        return hasErasure
    }

    /// Returns the reason why the event cannot be what `request` wants; nil if it can.
    package func refusal(of request: VoidRequest) throws -> VoidRefusal? {
        try withView { view in
            let position = request.position.rawValue
            guard position > 0, position <= view.last else { return .beyondEnd(last: view.last) }
            let target = try view.header(at: position)
            if let refusal = VoidRefusal(of: target) { return refusal }
            return VoidRefusal(of: try view.voidStatus(of: position, target, view.header), request)
        }
    }
}
