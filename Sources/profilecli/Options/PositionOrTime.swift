internal import ProfileLog

/// A place in the past as people name it: a position, or a time, which is resolved to one.
enum PositionOrTime {
    case position(Position)
    case time(Timestamp)

    /// Reads `1000` or `2026-01-31T12:00:00Z`; nil for all else.
    init?(_ text: String) {
        if let number = UInt64(text) {
            self = .position(Position(rawValue: number))
        } else if let time = OccurredAt(iso8601: text) {
            self = .time(time.timestamp)
        } else {
            return nil
        }
    }

    /// The position that is meant.
    func position(in log: EventLog) throws -> Position {
        switch self {
        case .position(let position): position
        case .time(let time): try log.position(at: time)
        }
    }
}
