internal import ProfileLog
internal import ProfileLogNativeAPI

/// Compares the profiles of a store with those that another program folds of the same events.
struct ProgramComparison {
    let log: EventLog
    let program: FoldProgram
    /// The program as it was typed.
    let name: String
    let samples: Int
    let seed: UInt64
    let end: ContinuousClock.Instant?

    /// Users whose answers may be outstanding: the program need not wait for us after each.
    private static let mostOpen = 64

    /// A user whose events were sent.
    private struct Sent {
        let user: UserInfo
        let profile: AttributeValue
    }

    /// Compares all users, or `user` only. `progress` gets how many users were sent.
    func run(user only: UserNumber?, _ progress: (LogProgress) -> Void) throws -> ProfileImpact {
        var sender = try FoldProtocol.Sender(log)
        var impact = ProfileImpact(position: try log.lastPosition())
        impact.total = try log.userCount()
        var open: [Sent] = []
        var next = only?.rawValue ?? 1
        let last = only?.rawValue ?? impact.total
        try whileItAnswers(nil) { try program.send(sender.opening()) }
        while next <= last {
            if let end, ContinuousClock.now >= end { break }
            defer { next += 1 }
            guard let user = try log.reader.users.find(UserNumber(rawValue: next)), !user.isErased,
                try log.reader.users.canonicalUser(of: user.number) == user.number
            else { continue }
            let profile = try whileItAnswers(open.first?.user ?? user) {
                try sender.send(user.number, at: user.version) { try program.send($0) }
            }
            open.append(Sent(user: user, profile: profile))
            while let line = program.completeLine() { try take(line, of: &open, into: &impact) }
            while open.count >= Self.mostOpen { try takeNext(of: &open, into: &impact) }
            if next.isMultiple(of: 256) {
                progress(LogProgress(stage: "what if", done: next, total: last, unit: "users"))
            }
        }
        while !open.isEmpty { try takeNext(of: &open, into: &impact) }
        impact.reached = next - 1
        impact.isComplete = next > last
        impact.samples.sort { $0.user.rawValue < $1.user.rawValue }
        return impact
    }

    private func takeNext(of open: inout [Sent], into impact: inout ProfileImpact) throws {
        let line = try whileItAnswers(open.first?.user) { try program.line() }
        try take(line, of: &open, into: &impact)
    }

    private func take(_ line: [UInt8], of open: inout [Sent], into impact: inout ProfileImpact) throws {
        guard !open.isEmpty else { throw Self.nonsense(line, "is no answer to anything", name) }
        let sent = open.removeFirst()
        let reason = "is no profile of \(Self.shown(sent.user))"
        guard let answer = try? JSONObject(line) else { throw Self.nonsense(line, reason, name) }
        guard answer["user"] == .int(Int64(clamping: sent.user.number.rawValue)), case .object = answer["profile"]
        else {
            throw Self.nonsense(line, reason, name)
        }
        impact.users += 1
        let changes = FoldProtocol.changes(from: sent.profile, to: answer["profile"])
        impact.note(sent.user.number, changes, nil, samples: samples, seed: seed)
    }

    // MARK: - Programs that fail

    private static func shown(_ user: UserInfo) -> String { "\(user.id.description) (user \(user.number.rawValue))" }

    private static func shown(_ line: [UInt8]) -> String {
        String(decoding: line.prefix(200), as: UTF8.self).oneLine + (line.count > 200 ? "…" : "")
    }

    /// Runs `work`, and names the user that the program was to answer for if it fails.
    private func whileItAnswers<Result>(_ user: UserInfo?, _ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch let failed as FoldProgram.Failed {
            let whose = user.map { " of \(Self.shown($0))" } ?? ""
            let alone = user.map { "Try this user alone with `--user \($0.id.description)`." }
            switch failed {
            case .ended(let how):
                let rest = program.unfinishedLine
                let printed = rest.isEmpty ? "" : " It had printed: \(Self.shown(rest))"
                throw CommandError(
                    "\(name) \(how) before it gave the profile\(whose).\(printed)",
                    remedy: alone ?? "Check that it reads the protocol: docs/fold-protocol.md has an example.")
            case .silent:
                throw CommandError(
                    "\(name) gave no profile\(whose) in time.",
                    remedy:
                        "It must print a line, and flush it, after each line with \"end\"; --program-limit gives it "
                        + "longer.")
            case .tooLong:
                throw CommandError(
                    "\(name) printed a line without an end.", remedy: "It must print a line for each profile.")
            }
        }
    }

    private static func nonsense(_ line: [UInt8], _ reason: String, _ name: String) -> CommandError {
        CommandError(
            "A line that \(name) printed \(reason): \(shown(line))",
            remedy: #"Print one line for each user, as in {"user":1,"profile":{"custom_events":{"played":1}}}."#)
    }
}
