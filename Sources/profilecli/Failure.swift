internal import ProfileLog

/// What the program's exit status says. The numbers are a contract.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// The store is damaged, or `replay --verify` or `whatif --fail-on-difference` found a difference.
    case damaged = 2
    case usage = 64
    /// The output cannot be written.
    case unwritable = 74
    /// Another append came first, or the idempotency key has other content.
    case conflict = 75
    case interrupted = 130
    /// By SIGTERM.
    case terminated = 143
}

/// Why a command failed: one sentence, the next step, and the exit status.
struct Failure: Error {
    var message: String
    var remedy: String
    var status: ExitStatus

    init(_ message: String, remedy: String, status: ExitStatus = .failed) {
        self.message = message
        self.remedy = remedy
        self.status = status
    }

    /// What `error` means to the person at the terminal.
    init(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as Output.CannotWrite:
            self.init("The output cannot be written: \(error.reason).", remedy: error.remedy, status: .unwritable)
        case let error as AppendError: self.init(error.description, remedy: error.remedy, status: error.exitStatus)
        case let error as StorageError:
            self.init(error.description, remedy: error.remedy, status: error.isDamage ? .damaged : .failed)
        case let error as JSONError: self.init(error.description, remedy: "Correct it and run the command again.")
        default:
            self.init(
                "The command failed for an unexpected reason.",
                remedy: "Run `profilecli check`, and report what you did: \(type(of: error)).")
        }
    }
}

extension AppendError {
    /// The exit status of a command that got this answer.
    var exitStatus: ExitStatus {
        switch self {
        case .versionConflict, .keyReused, .overloaded, .closed: .conflict
        case .refused(let error) where error.isDamage: .damaged
        case .invalid, .unknownUser, .unknownDevice, .pendingFull, .tooLarge, .clockBehind, .refused, .outcomeUnknown:
            .failed
        }
    }
}

// MARK: - Refusals of the API

extension Failure {
    /// What a refusal of the API means to someone who typed a command.
    init(_ problem: JSONObject, status: Int) {
        let code = problem["code"].text ?? ""
        self.init(
            Self.typedMessage(problem) ?? problem["error"].text ?? "The request failed with status \(status).",
            remedy: Self.typedRemedy(code, problem) ?? problem["remedy"].text ?? "Try again.",
            status: Self.exitStatus(code))
    }

    /// A field that is invalid came from the command line: wrong usage.
    private static func exitStatus(_ code: String) -> ExitStatus {
        switch code {
        case "invalid": .usage
        case "damaged": .damaged
        case "version_conflict", "key_reused", "overloaded", "closed": .conflict
        default: .failed
        }
    }

    /// The sentence with the option in place of the request's field.
    private static func typedMessage(_ problem: JSONObject) -> String? {
        guard let reason = problem["reason"].text, let typed = problem["place"].text.flatMap(typedName) else {
            return nil
        }
        return "\(typed) \(reason)."
    }

    /// What was typed for a field of a request; nil for a place that the API describes in words.
    static func typedName(_ field: String) -> String? {
        let parts = field.split(separator: ".", maxSplits: 1)
        if parts.count == 2, parts[0] == "properties" { return "The property \(parts[1])" }
        if parts.count == 2, parts[0] == "attributes" { return "The attribute \(parts[1])" }
        return switch field {
        case "user", "name", "attribute", "value", "product", "position": field.uppercased()
        case "actor": "--by"
        case "positions": "--position"
        case "properties": "-p"
        case "attributes": "KEY=VALUE"
        case "time": "--at"
        case "flush_interval_s": "--flush-interval"
        case "session_timeout_s": "--session-timeout"
        // Every other field is named after its option.
        case let field where field.allSatisfy { $0.isLowercase || $0 == "_" }: "--" + field.replacing("_", with: "-")
        default: nil
        }
    }

    /// The next step where the API speaks of what a program sends; nil where its own words fit.
    private static func typedRemedy(_ code: String, _ problem: JSONObject) -> String? {
        switch code {
        case "version_conflict":
            "Look at the user again, decide again, and run the command with --expect \(problem["actual"].cell)."
        case "key_reused": "Use a new --key for new content."
        case "invalid_key": "Put a key of the service into the variable PROFILELOG_KEY; `profiled keys add` makes one."
        case "too_large": "Split it into several commands."
        case "disk_full": "Free some space and run the same command again, with the same --key if it had one."
        case "outcome_unknown":
            "Look with `profilecli history` what is stored. A write with --key can be run again safely."
        default: nil
        }
    }
}
