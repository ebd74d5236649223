internal import ProfileLog

/// One thing that `doctor` looked at: how it is, in a sentence, and what to do if it is not well.
struct Finding {
    /// The gravity of a finding. An error stops the service or loses data now or soon; a warning does so later.
    enum Level: String { case ok, warning, error }

    let check: String
    let level: Level
    let message: String
    /// The next step; nil if nothing is to be done.
    let remedy: String?

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, level: .ok, message: message, remedy: nil)
    }

    static func warning(_ check: String, _ message: String, remedy: String) -> Finding {
        Finding(check: check, level: .warning, message: message, remedy: remedy)
    }

    static func error(_ check: String, _ message: String, remedy: String) -> Finding {
        Finding(check: check, level: .error, message: message, remedy: remedy)
    }

    /// The finding of a look that failed.
    static func failure(_ check: String, _ error: any Error) -> Finding {
        let failure = CommandError(error)
        return .error(check, failure.message, remedy: failure.remedy)
    }

    var json: String {
        JSONWriter.object { json in
            json.member("check", check)
            json.member("level", level.rawValue)
            json.member("message", message)
            json.member("remedy", remedy)
        }
    }

    var line: String {
        let colour: Style =
            switch level {
            case .ok: .green
            case .warning: .yellow
            case .error: .red
            }
        let level = colour(DisplayWidth.pad(level.rawValue, to: 9))
        return "\(level)\(DisplayWidth.pad(check, to: 14))\(message)"
    }
}

/// Prints findings as they come, and at the end what to do, in order: what is broken first.
struct FindingList {
    let isJSON: Bool
    private var findings: [Finding] = []

    init(isJSON: Bool) { self.isJSON = isJSON }

    private func count(_ level: Finding.Level) -> Int { findings.count { $0.level == level } }

    var hasErrors: Bool { count(.error) > 0 }

    mutating func add(_ finding: Finding) throws {
        findings.append(finding)
        try Output.print(isJSON ? finding.json : finding.line)
    }

    /// The steps: those of errors, then those of warnings, each in the order in which they were looked at, and each
    /// once.
    private var steps: [String] {
        let bad = findings.filter { $0.level == .error } + findings.filter { $0.level == .warning }
        return bad.compactMap(\.remedy).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    func end() throws {
        if isJSON {
            return try Output.print(
                JSONWriter.object { json in
                    json.member("healthy", !hasErrors)
                    json.member("warnings", count(.warning))
                    json.member("errors", count(.error))
                    json.member("next", steps)
                })
        }
        if steps.isEmpty { return try Output.print(["", "All is well: nothing is to be done."]) }
        try Output.print(["", "What to do, in order:"] + steps.enumerated().map { "\($0 + 1). \($1)" })
    }
}
