internal import ProfileLog

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// What the program's exit status says. The numbers are a contract.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// The store is damaged, or `replay --verify` or `whatif --fail-on-difference` found a difference.
    case damaged = 2
    case usage = 64
    /// What the command did or read could not be told: the output cannot be written.
    case unwritable = 74
    /// Another append came first, or the idempotency key has other content.
    case conflict = 75
    case interrupted = 130
    /// By SIGTERM.
    case terminated = 143
}

/// Why a command did not do its work: one sentence, the next step, and the exit status.
struct Failure: Error {
    var message: String
    var remedy: String
    var status: ExitStatus

    init(_ message: String, remedy: String, status: ExitStatus = .failed) {
        self.message = message
        self.remedy = remedy
        self.status = status
    }
}

extension Failure {
    /// What `error` means to the person at the terminal.
    init(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as Output.CannotWrite:
            self.init(
                "The output cannot be written: \(error.reason).", remedy: error.remedy, status: .unwritable)
        case let error as AppendError: self.init(error.description, remedy: error.remedy, status: error.exitStatus)
        case let error as StorageError:
            self.init(error.description, remedy: error.remedy, status: error.isDamage ? .damaged : .failed)
        case let error as JSONError: self.init(error.description, remedy: "Correct it and run the command again.")
        default:
            self.init(
                "The command failed for a reason that it did not foresee.",
                remedy: "Run `profilecli check`, and tell us what you did: \(type(of: error)).")
        }
    }
}

extension AppendError {
    /// The exit status of a command that got this answer.
    var exitStatus: ExitStatus {
        switch self {
        case .versionConflict, .conflict, .keyReused, .overloaded, .closed: .conflict
        case .refused(let error) where error.isDamage: .damaged
        case .invalid, .unknownUser, .unknownDevice, .pendingFull, .tooLarge, .clockBehind, .refused, .outcomeUnknown:
            .failed
        }
    }
}

/// Ends the process at once. `ParsableCommand` has an `exit` of its own, which hides the system's.
func endProcess(_ status: Int32) -> Never { exit(status) }
