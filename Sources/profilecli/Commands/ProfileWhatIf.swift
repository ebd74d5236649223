internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

/// `profilecli whatif` about another history: which profiles would differ.
struct ProfileWhatIf {
    let options: AlteredHistoryOptions
    let user: String?
    let traits: TraitsOption
    let place: PlaceOptions

    func run() async throws {
        let answer =
            try await options.program == nil
            ? place.connect(traits: traits).get("/v1/whatif/profiles", options.query(user: user)) : answerOfProgram()
        try Output.print(
            place.isJSON ? answer.lines(listing: ["fields", "samples"]) : ProfileWhatIfTable(answer: answer).lines)
        if options.failOn.contains(where: { $0.isMet(by: answer) }) { throw ExitCode(ExitStatus.damaged.rawValue) }
    }

    /// Returns the result of another program for the events of the store, in the form of the API.
    private func answerOfProgram() throws -> JSONObject {
        try place.refuseService()
        guard let path = options.program else { preconditionFailure("no program") }
        let log = try openStore(place.path)
        let only = try log.withReader { log in
            try user.map { try log.users.canonicalUser(of: log.users.knownUser(meantBy: UserID($0)).number) }
        }
        let limit = try AlteredHistoryOptions.span(options.programLimit, "--program-limit") ?? .seconds(10)
        let end = try AlteredHistoryOptions.span(options.budget, "--budget").map { ContinuousClock.now + $0 }
        let program = try FoldProgram(path, options.programArgument, limit: limit)
        defer { program.stop() }
        let comparison = ProgramComparison(
            log: log, program: program, name: path, samples: options.samples, seed: options.seed ?? 1, end: end)
        let impact = try ProgressBar.run { update in try comparison.run(user: only) { _ = update($0) } }
        return try JSONObject(
            Array(JSONWriter.object { try impact.write(of: log.reader, hasCondition: false, to: &$0) }.utf8))
    }
}

/// The answer of a what-if about another history, for people: first the sentences.
struct ProfileWhatIfTable {
    let answer: JSONObject

    private static let mostFields = 20

    var lines: [String] {
        let samples = answer.objects("samples").flatMap { [""] + sample($0) }
        return totals + fields + samples
    }

    /// The fields that differ for most users. Times and counts of the profile itself come last: nearly every change
    /// moves one of them.
    private var fields: [String] {
        func weight(_ field: JSONObject) -> (Int, UInt64) {
            let users = ["set", "changed", "lost"].reduce(0) { $0 + field.count($1) }
            return (field["group"].text == FieldChange.Group.profile.rawValue ? 0 : 1, users)
        }
        let fields = answer.objects("fields").enumerated().sorted { left, right in
            let (first, second) = (weight(left.element), weight(right.element))
            return first == second ? left.offset < right.offset : first > second
        }
        if fields.isEmpty { return [] }
        let shown = fields.prefix(Self.mostFields).map { $0.element }
        let table = Table("FIELD", "#SET", "#CHANGED", "#LOST", of: shown) { field in
            [
                "\(DiffText.group(field)) \(field["field"].cell)", field["set"].cell, field["changed"].cell,
                field["lost"].cell,
            ]
        }
        let more = fields.count - Self.mostFields
        let rest = more > 0 ? ["and \(Number.counted(UInt64(more), "more field")) (--format json has all)."] : []
        return [""] + table.lines() + rest
    }

    private func sample(_ user: JSONObject) -> [String] {
        let moves =
            switch (user["passed"], user["passes"]) {
            case (.bool(true), .bool(false)): "  would leave"
            case (.bool(false), .bool(true)): "  would enter"
            default: ""
            }
        return [Style.bold(user.id("user") ?? "?") + moves] + DiffText.lines(user, "NOW", "WHAT IF")
    }

    private var totals: [String] {
        let changed = answer.count("changed")
        let users = Number.counted(answer.count("users"), "profile")
        var lines: [String] = []
        if answer.count("users") == 0 {
            lines.append("No profile was compared.")
        } else if changed == 0 {
            lines.append("\(Style.green("Nothing differs:")) \(users) compared.")
        } else {
            let lost = answer.count("lost")
            lines.append(
                "\(Number.grouped(changed)) of \(users) would differ; "
                    + "\(lost == 0 ? "no value" : Number.counted(lost, "value")) would be lost.")
        }
        if answer["entered"] != .null {
            let (entered, left) = (answer.count("entered"), answer.count("left"))
            lines.append("\(Number.counted(entered, "user")) would enter, \(Number.grouped(left)) would leave.")
        }
        if !answer.flag("complete") {
            let reached = Number.grouped(answer.count("reached_user_number"))
            let total = Number.grouped(answer.count("total"))
            let next = answer["next"].text.map { " Go on with --after \($0)." } ?? ""
            lines.append(
                Style.yellow("Stopped in time: compared are users up to number \(reached) of \(total).\(next)"))
        }
        return lines
    }
}
