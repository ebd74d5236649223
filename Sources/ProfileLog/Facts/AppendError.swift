/// Why an append was not acknowledged.
public enum AppendError: Error, Hashable, Sendable {
    /// Nothing was written: the user is at `actual`. Read the user again, decide again, and append at `actual`.
    case versionConflict(user: UserID, expected: ExpectedVersion, actual: Version)
    /// Nothing was written: what the append was decided by has changed, as in "who has an address". Decide again by
    /// what the log holds now.
    case conflict(over: String)
    /// Nothing was written: this idempotency key was used for an append with other content, at `position`.
    case keyReused(position: Position)
    /// Nothing was written: `place` does not hold what it must.
    case invalid(place: String, reason: String)
    /// Nothing was written: nobody is known by this ID, and such an ID cannot make a user.
    case unknownUser(UserID)
    /// Nothing was written: nothing is known of this device.
    case unknownDevice
    /// Nothing was written: so many items wait on the device already.
    case pendingFull(limit: Int)
    /// Nothing was written: the append has more than a commit may hold.
    case tooLarge(limit: String)
    /// Nothing was written: more appends wait for the writer than it may hold.
    case overloaded(waiting: Int)
    /// Nothing was written: the log is closing.
    case closed
    /// Nothing was written: the store refused.
    case refused(StorageError)
    /// The disk failed during the commit: the events may or may not be there. Reopen the log, and send the same append
    /// again with the same idempotency key.
    case outcomeUnknown(code: Int32)
}

extension AppendError: CustomStringConvertible {
    /// One line that says what is true.
    public var description: String {
        switch self {
        case .versionConflict, .conflict, .keyReused, .pendingFull, .tooLarge, .overloaded, .closed:
            "\(fact.dropLast()); nothing was stored."
        case .invalid, .unknownUser, .unknownDevice, .refused, .outcomeUnknown: fact
        }
    }

    /// The same without a word of what was stored, for who has stored something besides.
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
        case .invalid(let place, let reason): "\(place) \(reason)."
        case .unknownUser: "No user has this ID."
        case .unknownDevice: "Nothing is known of this device."
        case .pendingFull(let limit): "\(limit) items wait on this device already."
        case .tooLarge(let limit): "The append is larger than \(limit)."
        case .overloaded(let waiting): "\(waiting) appends wait for the disk already."
        case .closed: "The log is closing."
        case .refused(let error): error.description
        case .outcomeUnknown(let code):
            "The disk failed during the commit (code \(code)): whether the events are stored is unknown."
        }
    }

    /// What the caller can do about it.
    public var remedy: String {
        switch self {
        case .versionConflict: "Read the user again, decide again, and append at the version that it has now."
        case .conflict: "Decide again by what the log holds now, and append that."
        case .keyReused: "Use a new key for new content."
        case .invalid: "Correct it and try again."
        case .unknownUser: "See `profilecli users` for those that exist."
        case .unknownDevice: "Save or launch something on it first; `profilecli device` lists the devices."
        case .pendingFull:
            "Launch the app on it (`profilecli launch`) or discard what waits (`profilecli pending discard`)."
        case .tooLarge: "Send it in several appends."
        case .overloaded, .closed: "Try again in a moment."
        case .refused(let error): error.remedy
        case .outcomeUnknown: "Restart, and try the same again with the same idempotency key."
        }
    }
}
