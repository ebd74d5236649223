internal import ArgumentParser
internal import ProfileLog

/// Which faults of the published snippets are played, and what a history does not record about them.
struct PublishedOptions: ParsableArguments {
    @Option(help: "faithful, the published snippets; or standard, without a fault.")
    var policy = "faithful"

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Only this fault, by its number in docs/device-simulation.md; newest, those of the newest snippets (default); or all. Repeatable.",
            valueName: "number"))
    var fault: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "swift or objc, for all processes or, as in app=objc, for one. Repeatable. Default: the one that has the faults, else swift.",
            valueName: "[process=]language"))
    var language: [String] = []

    @Option(help: "18: what casts make of stored numbers: bridged (default) or exact.")
    var numbers: String?

    @Option(help: .init("22: how long a save takes (default: 10).", valueName: "ms"))
    var saveMs: UInt64?

    @Option(help: .init("22, 23: how long the flush of a list takes (default: 100).", valueName: "ms"))
    var flushMs: UInt64?

    @Option(help: .init("24, 25: one of how many flushes crashes (default: 2).", valueName: "n"))
    var crashEvery: UInt64?

    @Option(
        help: .init("24: after how many items it crashes (default: right before the first removal).", valueName: "n"))
    var crashAfter: UInt64?

    @Option(help: .init("25: how many of its last items are not stored (default: 1).", valueName: "n"))
    var unstored: UInt64?

    @Option(help: .init("31: scenes that flush at each launch (default: 2).", valueName: "n"))
    var scenes: UInt64?

    @Option(help: .init("14, 28: the app is updated before each nth launch (default: 2).", valueName: "n"))
    var updateEvery: UInt64?

    @Option(help: .init("37: each nth save comes before the first unlock (default: 10).", valueName: "n"))
    var lockedEvery: UInt64?

    @Option(
        parsing: .unconditional,
        help: .init("26: until when there is no instance (default: for ever).", valueName: "time"))
    var instanceMissingUntil: String?

    @Option(help: .init("27, 30: the SDK's version (default: 18.0.0).", valueName: "version"))
    var sdk: String?

    @Flag(help: "27: the SDK is disabled.")
    var sdkDisabled = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("27: an event or attribute that the SDK refuses. Repeatable.", valueName: "name"))
    var blocklist: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "34, 36: a process that uses another storage (default: every extension). Repeatable.", valueName: "process")
    )
    var stray: [String] = []

    /// The parameters of a query that say the same.
    var query: [(name: String, value: String)] {
        let lists = [("fault", fault), ("language", language), ("blocklist", blocklist), ("stray", stray)]
        let numbers = [
            ("save_ms", saveMs), ("flush_ms", flushMs), ("crash_every", crashEvery), ("crash_after", crashAfter),
            ("unstored", unstored), ("scenes", scenes), ("update_every", updateEvery), ("locked_every", lockedEvery),
        ]
        return lists.flatMap { name, values in values.map { (name: name, value: $0) } }
            + numbers.compactMap { name, value in value.map { (name: name, value: "\($0)") } }
            + parameters(
                ("policy", policy), ("numbers", self.numbers), ("instance_missing_until", instanceMissingUntil),
                ("sdk", sdk), ("sdk_disabled", sdkDisabled ? "true" : nil))
    }
}
