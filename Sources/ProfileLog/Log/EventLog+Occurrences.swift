extension EventLog {
    /// Calls `body` with all that took effect up to `position` and was not void then, in the order of the log and from
    /// one view; without a position, up to its end. Scans the log.
    package func forEachOccurrence(
        upTo position: Position? = nil, _ body: (Occurrence) throws -> Void
    ) throws {
        try withView { view in
            var fold = OccurrenceFold()
            let last = min(position?.rawValue ?? .max, view.last)
            let voided = try view.voidedEvents(upTo: last)
            try view.scan(from: 1, to: last) { position, header in
                if voided.contains(position) { return true }
                try fold.apply(header, at: Position(rawValue: position), body)
                return true
            }
        }
    }

    /// The number of `name`, under which occurrences have it; nil if nothing acknowledged has the name.
    package func number(of name: Name) throws -> UInt32? { try withView { _ in names.number(name) } }

    /// Calls `body` with all that took effect for `user` up to `version` and was not void then, in the order of the
    /// log; of those who were merged into them too. Reads their events. `effect` says which of them count in an
    /// altered history.
    package func forEachOccurrence(
        of user: UserNumber, asOf version: Version,
        altered effect: (RecordHeader, UInt64) -> RecordEffect = { _, _ in .none },
        _ body: (Occurrence) throws -> Void
    ) throws {
        try withView { view in
            let recorded = try view.positions(of: user.rawValue, from: 1, to: version.rawValue)
            let voided = try view.voidedEvents(among: recorded)
            var positions: [UInt64] = []
            var streams = [(user: user.rawValue, version: version.rawValue)]
            while let stream = streams.popLast() {
                let own = try view.positions(of: stream.user, from: 1, to: stream.version)
                positions += own
                for position in own {
                    let header = try view.header(at: position)
                    guard header.kind == .usersMerged, let body = RecordBody(header.body), !body.erased,
                        let source = body.otherUser
                    else { continue }
                    streams.append((source, body.otherVersion))
                }
            }
            var fold = OccurrenceFold()
            for position in positions.sorted() where !voided.contains(position) {
                let header = try view.header(at: position)
                try effect(header, position).withRecord(inPlaceOf: header) { header in
                    try fold.apply(header, at: Position(rawValue: position), body)
                }
            }
        }
    }
}
