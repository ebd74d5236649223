internal import ArgumentParser
internal import ProfileLog

/// Which faults the published snippets show, and what no history says of it.
struct PublishedOptions: ParsableArguments {
    @Option(name: .long, help: "faithful, the published snippets; or standard, which shows no fault.")
    var policy = "faithful"

    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Only this fault, by its number in docs/device-simulation.md; newest, those of the newest snippets (default); or all. Repeatable.",
            valueName: "number"))
    var fault: [String] = []

    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "swift or objc, for all processes or, as in app=objc, for one. Repeatable. Default: that in which the faults show, else swift.",
            valueName: "[process=]language"))
    var language: [String] = []

    @Option(name: .long, help: "18: what casts make of stored numbers: bridged (default) or exact.")
    var numbers: String?

    @Option(name: .long, help: ArgumentHelp("22: how long a save takes (default: 10).", valueName: "ms"))
    var saveMs: UInt64?

    @Option(
        name: .long, help: ArgumentHelp("22, 23: how long the flush of a list takes (default: 100).", valueName: "ms"))
    var flushMs: UInt64?

    @Option(name: .long, help: ArgumentHelp("24, 25: one of how many flushes crashes (default: 2).", valueName: "n"))
    var crashEvery: UInt64?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "24: after how many items it crashes (default: right before the first removal).", valueName: "n"))
    var crashAfter: UInt64?

    @Option(
        name: .long, help: ArgumentHelp("25: how many of its last items are not stored (default: 1).", valueName: "n"))
    var unstored: UInt64?

    @Option(name: .long, help: ArgumentHelp("31: scenes that flush at each launch (default: 2).", valueName: "n"))
    var scenes: UInt64?

    @Option(
        name: .long,
        help: ArgumentHelp("14, 28: the app is updated before each nth launch (default: 2).", valueName: "n"))
    var updateEvery: UInt64?

    @Option(
        name: .long,
        help: ArgumentHelp("37: each nth save comes before the first unlock (default: 10).", valueName: "n"))
    var lockedEvery: UInt64?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("26: until when there is no instance (default: for ever).", valueName: "time"))
    var instanceMissingUntil: String?

    @Option(name: .long, help: ArgumentHelp("27, 30: the SDK's version (default: 18.0.0).", valueName: "version"))
    var sdk: String?

    @Flag(name: .long, help: "27: the SDK is disabled.")
    var sdkDisabled = false

    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp("27: an event or attribute that the SDK refuses. Repeatable.", valueName: "name"))
    var blocklist: [String] = []

    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "34, 36: a process that uses another storage (default: every extension). Repeatable.", valueName: "process")
    )
    var stray: [String] = []

    /// The request's fields that the options are named after.
    static let fields: Set<String> = [
        "policy", "fault", "language", "numbers", "save_ms", "flush_ms", "crash_every", "crash_after", "unstored",
        "scenes",
        "update_every", "locked_every", "instance_missing_until", "sdk", "sdk_disabled", "blocklist", "stray", "until",
        "items",
    ]

    /// The parameters of a query that say the same.
    var query: [(name: String, value: String)] {
        var query = [(name: "policy", value: policy)]
        for (name, values) in [("fault", fault), ("language", language), ("blocklist", blocklist), ("stray", stray)] {
            query += values.map { (name: name, value: $0) }
        }
        let numbers: [(String, UInt64?)] = [
            ("save_ms", saveMs), ("flush_ms", flushMs), ("crash_every", crashEvery), ("crash_after", crashAfter),
            ("unstored", unstored), ("scenes", scenes), ("update_every", updateEvery), ("locked_every", lockedEvery),
        ]
        query += numbers.compactMap { name, value in value.map { (name: name, value: "\($0)") } }
        let texts = [
            ("numbers", self.numbers), ("instance_missing_until", instanceMissingUntil), ("sdk", sdk),
            ("sdk_disabled", sdkDisabled ? "true" : nil),
        ]
        query += texts.compactMap { name, value in value.map { (name: name, value: $0) } }
        return query
    }
}
