internal import ProfileLog

extension Failure {
    /// What a refusal of the API means to someone who typed a command and no request.
    init(_ problem: JSONObject, status: Int) {
        let code = problem["code"].text ?? ""
        self.init(
            Self.typedMessage(problem) ?? problem["error"].text ?? "The request failed with status \(status).",
            remedy: Self.typedRemedy(code, problem) ?? problem["remedy"].text ?? "Try again.",
            status: Self.exitStatus(code))
    }

    /// What is invalid in a request stood so on the command line: wrong usage.
    private static func exitStatus(_ code: String) -> ExitStatus {
        switch code {
        case "invalid": .usage
        case "damaged": .damaged
        case "version_conflict", "key_reused", "overloaded", "busy", "closed": .conflict
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

    /// What stands on a command line for a field of a request; nil for what no command says.
    static func typedName(_ field: String) -> String? {
        let parts = field.split(separator: ".", maxSplits: 1)
        if parts.count == 2, parts[0] == "properties" { return "The property \(parts[1])" }
        if parts.count == 2, parts[0] == "attributes" { return "The attribute \(parts[1])" }
        return switch field {
        case "user": "USER"
        case "name": "NAME"
        case "attribute": "ATTRIBUTE"
        case "value": "VALUE"
        case "product": "PRODUCT"
        case "actor": "--by"
        case "positions": "--position"
        case "position": "POSITION"
        case "properties": "-p"
        case "attributes": "KEY=VALUE"
        case "time": "--at"
        case "flush_interval_s": "--flush-interval"
        case "session_timeout_s": "--session-timeout"
        case "after", "app_group", "as_of", "before", "currency", "device", "die_after", "expect", "from", "item",
            "key", "kind",
            "limit", "only", "price", "process", "quantity", "reason", "request_policy", "since", "storage", "to":
            "--" + field.replacing("_", with: "-")
        case let field where PublishedOptions.fields.contains(field): "--" + field.replacing("_", with: "-")
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
