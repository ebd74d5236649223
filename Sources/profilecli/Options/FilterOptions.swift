internal import ArgumentParser
internal import ProfileLog

/// Which events are wanted.
struct FilterOptions: ParsableArguments {
    @Option(
        help: .init("Of this kind only, as in customEventLogged. Repeatable.", valueName: "kind"),
        completion: .list(EventKind.allCases.map(\.name)))
    var kind: [String] = []

    @Option(help: "A custom event, product or attribute with this name only.")
    var name: String?

    @Option(parsing: .unconditional, help: .init("Recorded at this time or later.", valueName: "time"))
    var since: String?

    @Option(parsing: .unconditional, help: .init("Recorded before this time.", valueName: "time"))
    var before: String?

    /// The parameters of a query that say the same.
    var query: [(name: String, value: String)] {
        kind.map { ("kind", $0) } + parameters(("name", name), ("since", since), ("before", before))
    }
}

/// `-n` or `--limit`.
struct LimitOption: ParsableArguments {
    @Option(name: [.customShort("n", allowingJoined: true), .long], parsing: .unconditional, help: "At most so many.")
    var limit: Int?

    mutating func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    /// How many to ask for on the next page, after `count`; nil if that is enough.
    func wanted(after count: Int) -> Int? {
        let wanted = min(1_000, (limit ?? .max) - count)
        return wanted == 0 ? nil : wanted
    }
}
