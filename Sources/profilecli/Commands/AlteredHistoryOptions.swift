internal import ArgumentParser
internal import ProfileLog

/// Another history than that of the log, or another program, and what is asked about it.
struct AlteredHistoryOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Without this event, name, source, device or user: event:17, name:level, source:import. Repeatable.",
            valueName: "word:value"))
    var without: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "With this content in place of that of an event, as `history --format json` shows it. Repeatable.",
            valueName: "position=json"))
    var correct: [String] = []

    @Option(
        help: .init(
            "By the rules of this file: policies, types and a blocklist (docs/workspace.md).", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var rules: String?

    @Option(
        parsing: .unconditional,
        help: .init("With the profiles that this program folds (docs/fold-protocol.md).", valueName: "program"),
        completion: .file())
    var program: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("An argument of that program; fold for a profilecli. Repeatable.", valueName: "argument"))
    var programArgument: [String] = []

    @Option(help: .init("How long that program may take for a line (default: 10s).", valueName: "time"))
    var programLimit: String?

    @Option(
        name: .customLong("where"), help: .init("Who would enter and leave: docs/where.md.", valueName: "condition"))
    var condition: String?

    @Option(help: .init("Show so many of the users who would differ (default: 5).", valueName: "n"))
    var sample: UInt64?

    @Option(help: .init("The seed of the choice: another number, other users.", valueName: "n")) var seed: UInt64?
    @Option(help: .init("Stop after this time: 30s, 500ms, 2m.", valueName: "time")) var budget: String?

    @Option(help: .init("Go on where an answer stopped in time, at the place that it names.", valueName: "place"))
    var after: String?

    @Option(
        help: .init(
            "Exit with 2 if a profile would differ (changed), lose a value (lost), if users would enter or leave, or "
                + "more than n would differ. Repeatable.", valueName: "changed|lost|entered|left|n"),
        completion: .list(FailOn.words))
    var failOn: [FailOn] = []

    /// Tells whether another history is asked about, and not the published guide.
    var isAsked: Bool { !without.isEmpty || !correct.isEmpty || rules != nil || program != nil }

    /// Options that say nothing without another history.
    private var dependents: [(name: String, isGiven: Bool)] {
        [
            ("--program-argument", !programArgument.isEmpty), ("--program-limit", programLimit != nil),
            ("--where", condition != nil), ("--sample", sample != nil), ("--seed", seed != nil),
            ("--budget", budget != nil), ("--after", after != nil), ("--fail-on", !failOn.isEmpty),
        ]
    }

    mutating func validate() throws {
        if !isAsked, let name = dependents.first(where: \.isGiven)?.name {
            throw ValidationError(
                "\(name) is about another history. Name it with --without, --correct, --rules or --program.")
        }
        if program != nil, !without.isEmpty || !correct.isEmpty || rules != nil || condition != nil {
            throw ValidationError(
                "--program gets the history as it is. Omit --without, --correct, --rules and --where.")
        }
        if program != nil, after != nil {
            throw ValidationError("--program begins with the first user. Omit --after, or name a --user.")
        }
        if program == nil, let name = dependents.prefix(2).first(where: \.isGiven)?.name {
            throw ValidationError("\(name) is about another program. Name it with --program.")
        }
        if program == "" { throw ValidationError("--program must not be empty. Name an executable file.") }
        if condition == nil, failOn.contains(where: FailOn.moves.contains) {
            throw ValidationError("--fail-on entered and left are about a condition. Name it with --where.")
        }
        _ = try (Self.span(budget, "--budget"), Self.span(programLimit, "--program-limit"))
    }

    /// `30s`, `500ms`, `2m` or `1h`; nil if it is not given.
    static func span(_ text: String?, _ option: String) throws -> Duration? {
        guard let text else { return nil }
        let units: [(String, Int64)] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)]
        for (unit, milliseconds) in units where text.hasSuffix(unit) {
            guard let count = Int64(text.dropLast(unit.count)), 1...3_600_000 / milliseconds ~= count else { continue }
            return .milliseconds(count * milliseconds)
        }
        throw ValidationError("\(option) must be a time of up to an hour, as in 30s, 500ms or 2m.")
    }

    var samples: Int { Int(clamping: sample ?? 5) }

    /// The parameters of `GET /v1/whatif/profiles`.
    func query(user: String?) throws -> Parameters {
        let budget = try Self.span(budget, "--budget").map { Int64($0 / .milliseconds(1)) }
        let rules = try rules.map { path in
            try JSONWriter.object { json in
                for member in try RulesCommand.rules(path, FoldRules.Part.allCases).document {
                    json.member(member.key.text, member.value)
                }
            }
        }
        return without.map { ("without", $0) } + correct.map { ("correct", $0) }
            + parameters(
                ("rules", rules), ("where", condition), ("user", user), ("sample", samples), ("seed", seed),
                ("budget_ms", budget), ("after", after))
    }
}

/// The condition under which a what-if fails.
enum FailOn: ExpressibleByArgument, Hashable {
    /// A count of the answer, by its name, is above 0.
    case any(Name)
    case more(than: UInt64)

    static let words = ["changed", "lost", "entered", "left"]
    /// Words that need a condition.
    static let moves: Set<FailOn> = [.any("entered"), .any("left")]

    init?(argument: String) {
        if Self.words.contains(argument) {
            self = .any(Name(argument))
        } else {
            guard let count = UInt64(argument) else { return nil }
            self = .more(than: count)
        }
    }

    /// Tells whether a what-if with this answer fails.
    func isMet(by answer: JSONObject) -> Bool {
        switch self {
        case .any(let name): answer.count(name) > 0
        case .more(let count): answer.count("changed") > count
        }
    }
}
