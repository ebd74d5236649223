extension LogError {
    /// The next step for someone who uses the programs: with their commands, where `remedy` has calls of the library.
    package var commandRemedy: String {
        let text: String? =
            switch self {
            case let error as AppendError: error.ownCommandRemedy
            case let error as StorageError: error.ownCommandRemedy
            default: nil
            }
        return text ?? remedy
    }
}

extension AppendError {
    /// The remedy in words of the command line; nil where those of the library fit.
    fileprivate var ownCommandRemedy: String? {
        switch self {
        case .unknownUser(let id): id.wantedForm ?? "See `profilecli users` for those that exist."
        case .unknownDevice: "Save or launch something on it first; `profilecli device` lists the devices."
        case .pendingFull:
            "Launch the app on it (`profilecli launch`) or discard what waits (`profilecli pending discard`)."
        case .closed: "Try again in a moment."
        case .outcomePending: "Try the same again with the same idempotency key: the answer says what became of it."
        case .outcomeUnknown: "Restart, and try the same again with the same idempotency key."
        case .refused(let error): error.commandRemedy
        case .invalid(_, _, let remedy): remedy.flatMap { Self.commandRemedies[$0] }
        case .versionConflict, .conflict, .keyReused, .tooLarge, .overloaded, .unavailable: nil
        }
    }

    /// The remedies that `invalid` carries, and the same with a command.
    package static let commandRemedies: [String: String] = [
        "Declare some, and start a session on it.":
            "Declare some (`profilecli messages declare`), and start a session on it.",
        "Deliver one first.":
            "Deliver one first; `profilecli push list` shows those on their way and on the screen.",
        "See what the device has of its messages.":
            "See what the device has of its messages: `profilecli messages show`.",
        "Name an event that was saved or logged: `log.history` lists them.":
            "Name an event that was saved or logged: `profilecli history USER` lists them.",
        "Another program may fold it: try again after its swap. If none does, discard it.":
            "profiled folds such a shadow after an upgrade: GET /v1/replay shows the progress. Try again after its "
            + "swap. If no program folds it, discard it: `profilecli replay --discard`.",
        "Swap it or discard it first.": "Swap it or discard it first: `profilecli replay --discard`.",
        "Fold another one if you need it.": "Run `profilecli replay --shadow` again if you need another one.",
        "Fold one first.": "Make one with `profilecli replay --shadow`.",
        "Fold it again; it goes on where it stopped.":
            "Run `profilecli replay --shadow` again; it goes on where it stopped.",
        "Look at it again.": "Look at it again with `GET /v1/replay`.",
    ]
}

extension StorageError {
    /// The remedy in words of the command line; nil where those of the library fit.
    fileprivate var ownCommandRemedy: String? {
        switch self {
        case .noStore:
            "Check --store or PROFILELOG_STORE; the first `save`, `log`, `import` or `simulate` makes a store."
        case .notAStore: "Name another folder with --store; nothing was changed in this one."
        case .notWritable:
            "Change the owner (`chown`) or the permissions, or run as the user who owns the store. "
                + "To read what is on a read-only disk, copy data.mdb into an empty folder of your own, "
                + "and name that with --store."
        case .copyFull: "Free some space there and run the same command again; the store itself is as it was."
        case .inUse: "Stop it (`profiled`, another `profilecli`) and try again."
        case .processNumberTaken:
            "Let the containers that share the store share one PID namespace (`docker run --pid`), "
                + "or start this program again."
        case .closedAfterFailure: "Check the disk, then restart the program."
        case .inCluster:
            "Write through the service (its node: `profiled --replicate`), or stop that and make the store one of its "
                + "own with `profilecli cluster leave --store …`."
        case .damaged:
            "Run `profilecli check` to see everything that is damaged, and restore those parts from a backup."
        case .brokenPage:
            "Run `profilecli check` to see which part of the store it belongs to, and restore data.mdb from a backup; "
                + "copy it again with `profilecli replay --into` if it is a copy that was made while a program wrote."
        case .newerFormat, .unreachable, .networkFileSystem, .truncated, .diskFull, .mapFull, .openElsewhere,
            .linkedFile, .noRoomToOpen, .filesChanged, .readersFull, .closed, .otherHistory, .system:
            nil
        }
    }
}

extension VoidRefusal {
    /// The next step with the command, for a request about the event at `position`.
    package func commandRemedy(at position: Position) -> String {
        switch self {
        case .beyondEnd, .counts, .erased: "See `profilecli history USER` for positions of events."
        case .voiding(.eventVoided, let target): "`profilecli unvoid \(target.rawValue)` lets that one count again."
        case .voiding(_, let target): "`profilecli void \(target.rawValue)` makes that one void."
        case .isVoid: "`profilecli unvoid \(position.rawValue)` lets it count again."
        case .kind(.userCreated?): "A user stays; erase one with `profilecli erase USER`."
        case .kind: remedy
        }
    }
}
