/// The reason why an append was not acknowledged.
public enum AppendError: Error, Hashable, Sendable {
    /// Nothing was written: the user is at `actual`. Read the user again, decide again, and append at `actual`.
    case versionConflict(user: UserID, expected: ExpectedVersion, actual: Version)
    /// Nothing was written: a precondition of the append no longer holds, for example which user has an address. Decide
    /// again with what the log holds now.
    case conflict(over: String)
    /// Nothing was written: this idempotency key was used for an append with other content, at `position`.
    case keyReused(position: Position)
    /// Nothing was written: `place` has an invalid value. `remedy` is there if the next step does not follow from the
    /// reason.
    case invalid(place: String, reason: String, remedy: String? = nil)
    /// Nothing was written: no user has this ID, and an ID of this type cannot create one.
    case unknownUser(UserID)
    /// Nothing was written: no event mentions this device.
    case unknownDevice
    /// Nothing was written: the device already has `limit` pending items.
    case pendingFull(limit: Int)
    /// Nothing was written: the append is larger than a commit may be.
    case tooLarge(limit: String)
    /// Nothing was written: the writer's queue is full.
    case overloaded(waiting: Int)
    /// Nothing was written: the log is closing.
    case closed
    /// Nothing was written: the store refused the write.
    case refused(StorageError)
    /// Nothing was written: this node of a cluster takes no writes now. Try again in a moment, or at another node.
    case unavailable(reason: String, remedy: String)
    /// The cluster has not answered in time: the events may be stored, or may be later. Send the same append again with
    /// the same idempotency key.
    case outcomePending
    /// The disk failed during the commit: the events may or may not be there. Reopen the log, and send the same append
    /// again with the same idempotency key.
    case outcomeUnknown(code: Int32)
}

extension AppendError: LogError {
    /// The facts in one line.
    public var description: String {
        switch self {
        case .versionConflict, .conflict, .keyReused, .pendingFull, .tooLarge, .overloaded, .closed, .unavailable:
            "\(fact.dropLast()); nothing was stored."
        case .invalid, .unknownUser, .unknownDevice, .refused, .outcomePending, .outcomeUnknown: fact
        }
    }

    /// As `description`, without "nothing was stored": for a request that stored something else.
    package var fact: String {
        switch self {
        case .versionConflict(_, let expected, let actual):
            switch expected {
            case .noUser: "The user exists already, at version \(actual.rawValue)."
            case .exactly(let version): "The user is at version \(actual.rawValue), not at \(version.rawValue)."
            case .any: "The user is at version \(actual.rawValue)."
            }
        case .conflict(let subject): "The log has changed since the append was decided: \(subject)."
        case .keyReused(let position):
            "The idempotency key was used before, for other content, at position \(position.rawValue)."
        case .invalid(let place, let reason, _): "\(place) \(reason)."
        case .unknownUser: "No user has this ID."
        case .unknownDevice: "Nothing is known of this device."
        case .pendingFull(let limit): "\(limit) items wait on this device already."
        case .tooLarge(let limit): "The append is larger than \(limit)."
        case .overloaded(let waiting): "\(waiting) appends wait for the disk already."
        case .closed: "The log is closed, or its `LogWriter` is."
        case .refused(let error): error.description
        case .unavailable(let reason, _): "This node takes no writes now: \(reason)."
        case .outcomePending: "The cluster has not answered in time: the events may be stored, or may be later."
        case .outcomeUnknown(let code):
            "The disk failed during the commit (code \(code)): whether the events are stored is unknown."
        }
    }

    /// The next step for the caller.
    public var remedy: String {
        switch self {
        case .versionConflict: "Read the user again, decide again, and append at the version that it has now."
        case .conflict: "Decide again by what the log holds now, and append that."
        case .keyReused: "Use a new key for new content."
        case .invalid(_, _, let remedy): remedy ?? "Correct it and try again."
        case .unknownUser(let id):
            id.wantedForm ?? "`log.find` says whether a user exists; an append to an external ID creates one."
        case .unknownDevice: "Save or launch something on it first."
        case .pendingFull: "Launch the app on it (`log.launch`) or discard what waits (`log.discard`)."
        case .tooLarge: "Send it in several appends."
        case .overloaded: "Try again in a moment."
        case .closed: "Open the log again, or make another `LogWriter`, and append it there."
        case .refused(let error): error.remedy
        case .unavailable(_, let remedy): remedy
        case .outcomePending: "Append the same again with the same idempotency key: the answer says what became of it."
        case .outcomeUnknown: "Close the log, open it again, and append the same with the same idempotency key."
        }
    }
}
