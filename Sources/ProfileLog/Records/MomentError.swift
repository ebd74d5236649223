/// The reason why the past cannot be asked of a moment.
public enum MomentError: Error, Hashable, Sendable {
    /// The position is beyond the log's end.
    case beyondLog(last: Position)
    /// The time is later than now: this is the clock of the log, or its last event if that is later.
    case beyondNow(Timestamp)
    /// The user has not so many events.
    case beyondUser(last: Version)
    /// The user's first event is later, at this position.
    case beforeUser(created: Position)
    /// A version is one user's, and all users were asked for.
    case versionOfAll
    /// The user has not so many launches.
    case beyondLaunches(count: Int)
}

extension MomentError: LogError {
    /// The facts in one line.
    public var description: String {
        switch self {
        case .beyondLog, .beyondNow, .beyondUser, .versionOfAll: "The moment \(reason)."
        case .beforeUser: "The user did not exist yet at that point."
        case .beyondLaunches: "The number \(reason)."
        }
    }

    /// The end of a sentence that begins with the moment: what `description` says, for callers who name it.
    package var reason: String {
        switch self {
        case .beyondLog(let last): "is beyond the log's last position, \(last.rawValue)"
        case .beyondNow(let now): "is later than now, \(now.rfc3339())"
        case .beyondUser(let last): "is beyond the user's last version, \(last.rawValue)"
        case .beforeUser: "is before the user's first event"
        case .versionOfAll: "is a version, which is one user's"
        case .beyondLaunches(let count): "is none of the user's launches, of which there are \(count)"
        }
    }

    /// The next step for the caller.
    public var remedy: String {
        switch self {
        case .beyondLog, .beyondUser: "Ask for an earlier one."
        case .beyondNow: "Ask for an earlier time, or for `now`."
        case .beforeUser(let created): "Their first event is at position \(created.rawValue)."
        case .versionOfAll: "Ask for a position or a time."
        case .beyondLaunches(let count):
            count == 0 ? "Launch the app once (`log.launch`)." : "Ask for \(count == 1 ? "" : "1 to ")\(count)."
        }
    }
}
