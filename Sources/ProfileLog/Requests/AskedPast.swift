internal import ProfileLogSnippets

/// The moment of the past that a request asks about, and the order in which its history is read: the parameters `as_of`
/// and `order`.
package struct AskedPast: Sendable {
    /// The parameter that has the moment.
    package let place: String
    /// The moment; nil for the present.
    package let moment: Moment?
    package let order: EventOrder
    /// Tells whether the request takes an `order`.
    private let hasOrder: Bool

    package init(_ moment: Moment?, _ order: EventOrder, at place: String = "as_of", hasOrder: Bool = true) {
        (self.place, self.moment, self.order, self.hasOrder) = (place, moment, order, hasOrder)
    }

    /// Tells whether it is the present, in the order of recording.
    package var isPresent: Bool { moment == nil && order == .recorded }

    /// The history that is asked about; nil for the present.
    package func history(_ log: LogReader) throws -> PastHistory? { isPresent ? nil : try wholeHistory(log) }

    /// The history that is asked about, also if it is the present one.
    package func wholeHistory(_ log: LogReader) throws -> PastHistory {
        try APIError.resolving(place) { try log.past.history(at: moment ?? .now, order: order) }
    }

    /// As ``history(_:)``, for one user: the moment may be one of their versions.
    package func history(of user: UserNumber, _ log: LogReader) throws -> PastHistory? {
        if isPresent { return nil }
        return try resolving(user, log) { try log.past.history(of: user, at: moment ?? .now, order: order) }
    }

    /// The user's version at the moment, in the order of recording.
    package func version(of user: UserNumber, _ log: LogReader) throws -> Version {
        try resolving(user, log) { try log.past.version(of: user, asOf: moment ?? .now) }
    }

    package func profile(of user: UserNumber, _ log: LogReader) throws -> ProfileState {
        try resolving(user, log) { try log.past.profile(of: user, asOf: moment ?? .now, order: order) }
    }

    /// Returns the time then: what windows and spans count from.
    package func time(at position: Position, _ log: LogReader) throws -> Timestamp {
        try log.past.time(at: moment ?? .now, position)
    }

    /// Returns the note about a moment before the first recording: imported histories are recorded when they are
    /// imported.
    package func note(_ log: LogReader) throws -> String? {
        guard order == .recorded, let moment else { return nil }
        switch moment {
        case .now, .version: return nil
        case .position(let position):
            return position == .start ? "Position 0 is before the log's first event." : nil
        case .time(let time):
            guard let first = try log.past.firstRecording() else { return nil }
            if time < first {
                return "The log's first event was recorded at \(first.rfc3339()), after the moment that was asked for."
                    + hint
            }
            return try log.past.importsLater(than: time)
                ? "Events that had happened by then were imported later, and are not in it." + hint : nil
        }
    }

    private static let remedy = "`order=occurred` (--occurred) asks by when things happened"
    private var hint: String { hasOrder ? " \(Self.remedy)." : "" }

    private func resolving<Result>(_ user: UserNumber, _ log: LogReader, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as MomentError {
            var apiError = APIError(error, place)
            if case .beforeUser = error, hasOrder, order == .recorded, case .time? = moment,
                (try? log.past.profile(of: user, asOf: moment ?? .now, order: .occurred)) != nil
            {
                apiError.remedy += " Something of theirs had happened by then: \(Self.remedy)."
            }
            throw apiError
        }
    }
}

extension Query {
    /// `as_of` and `order`.
    package mutating func past(now: Timestamp) throws -> AskedPast {
        AskedPast(try moment("as_of", now: now), try order())
    }

    /// `as_of` alone: the request knows the order of recording only.
    package mutating func recordedPast(now: Timestamp) throws -> AskedPast {
        AskedPast(try moment("as_of", now: now), .recorded, hasOrder: false)
    }
}

extension UserReader {
    /// The user that `id` resolved to in the history that is asked about, with the IDs that they had then; if there was
    /// none, the user that it must resolve to now.
    package func knownUser(meantBy id: UserID, in asked: AskedPast) throws -> UserInfo {
        try pastUser(meantBy: id, in: asked) ?? knownUser(meantBy: id)
    }

    /// The user that `id` resolved to in the history that is asked about, with the IDs that they had then. Nil if there
    /// was none, or if the moment is now or a version, which is one of a user who is known already.
    package func pastUser(meantBy id: UserID, in asked: AskedPast) throws -> UserInfo? {
        switch asked.moment {
        case .now, .version, nil: nil
        case .position, .time: try log.past.user(with: id, in: asked.wholeHistory(log))
        }
    }
}
