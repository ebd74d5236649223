/// The part of the log that a question about the past looks at.
///
/// In the order of recording, the events up to a position. In the order of occurrence, those of them that had happened
/// until a time, folded in the order in which they happened: as if only these existed.
package struct PastHistory: Hashable, Sendable {
    /// The last position that counts.
    package let position: Position
    /// The end in the order of occurrence: what happened later does not count. Nil in the order of recording.
    package let until: Timestamp?

    package init(to position: Position, until: Timestamp? = nil) { (self.position, self.until) = (position, until) }

    package var order: EventOrder { until == nil ? .recorded : .occurred }

    /// Tells whether an event at `position` that happened at `time` counts.
    package func has(_ position: Position, _ time: Timestamp) -> Bool {
        position <= self.position && until.map { time <= $0 } ?? true
    }
}

extension PastReader {
    /// The history at `moment`, read in `order`. Throws ``MomentError``.
    ///
    /// In the order of occurrence, a time says when things happened, whenever they were recorded; a position says what
    /// was recorded.
    package func history(at moment: Moment, order: EventOrder = .recorded) throws -> PastHistory {
        try withView { try history(at: moment, order: order, $0) }
    }

    /// As ``history(at:order:)``; a version is one of `user`.
    package func history(of user: UserNumber, at moment: Moment, order: EventOrder) throws -> PastHistory {
        try withView { try history(of: user.rawValue, at: moment, order: order, $0) }
    }

    private func history(at moment: Moment, order: EventOrder, _ view: LogView) throws -> PastHistory {
        try refuseFuture(moment, view)
        if order == .occurred, case .time(let time) = moment {
            return PastHistory(to: Position(rawValue: view.last), until: time)
        }
        let position = Position(rawValue: try view.position(at: moment))
        return PastHistory(to: position, until: order == .occurred ? Timestamp(rawValue: .max) : nil)
    }

    func history(of user: UInt64, at moment: Moment, order: EventOrder, _ view: LogView) throws -> PastHistory {
        guard case .version = moment else { return try history(at: moment, order: order, view) }
        let version = try view.version(of: user, at: moment)
        let position = try view.positions(of: user, from: version, to: version)[0]
        return PastHistory(
            to: Position(rawValue: position), until: order == .occurred ? Timestamp(rawValue: .max) : nil)
    }

    /// Returns the time at which the log's first event was recorded; nil for an empty log.
    package func firstRecording() throws -> Timestamp? {
        try withView { view in
            view.last == 0 ? nil : Timestamp(rawValue: try view.header(at: 1).recordedAt)
        }
    }

    /// Tells whether an import that was recorded after `time` brought something that had happened by then. Looks at a
    /// few of the later events: an import that is a small part of them may be missed.
    package func importsLater(than time: Timestamp) throws -> Bool {
        try withView { view in
            let next = try view.position(at: .time(time)) + 1
            guard next <= view.last else { return false }
            let step = (view.last - next) / Self.importSamples | 1  // odd: an import may make a user for each event
            return try stride(from: next, through: view.last, by: UInt64.Stride(step)).contains { position in
                let header = try view.header(at: position)
                let event = EventView(header: header, position: Position(rawValue: position), names: view.nameTable)
                return event.source == .import && event.occurredAt <= time
            }
        }
    }

    private static let importSamples: UInt64 = 128
}

extension LogView {
    /// Returns the time at which the event at `position` happened.
    func occurredAt(_ position: UInt64) throws -> Timestamp {
        EventView(header: try header(at: position), position: Position(rawValue: position), names: nameTable).occurredAt
    }

    /// Tells whether the event at `position` is in `past`.
    func has(_ position: UInt64, in past: PastHistory) throws -> Bool {
        guard position <= past.position.rawValue else { return false }
        guard let until = past.until, until.rawValue < .max else { return true }
        return try occurredAt(position) <= until
    }

    /// Returns the number of events of `user` in `past`, and the time of the first; nil if none.
    func events(of user: UInt64, in past: PastHistory) throws -> (count: UInt64, first: Timestamp)? {
        let version = try version(of: user, upTo: past.position.rawValue)
        if version == 0 { return nil }
        var (count, first) = (UInt64(0), Timestamp(rawValue: .max))
        for position in try positions(of: user, from: 1, to: version) {
            let at = try occurredAt(position)
            guard past.has(Position(rawValue: position), at) else { continue }
            count += 1
            first = min(first, at)
        }
        return count == 0 ? nil : (count, first)
    }
}
