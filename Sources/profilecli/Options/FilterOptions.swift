internal import ArgumentParser
internal import ProfileLog

/// Which events are wanted.
struct FilterOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("Of this kind only, as in customEventLogged. Repeatable.", valueName: "kind"),
        completion: .list(EventKind.allCases.map(\.name)))
    var kind: [String] = []

    @Option(name: .long, help: "A custom event, product or attribute with this name only.")
    var name: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Recorded at this time or later.", valueName: "time"))
    var since: String?

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Recorded before this time.", valueName: "time"))
    var before: String?

    mutating func validate() throws {
        for kind in kind where EventKind(name: kind) == nil {
            throw ValidationError(
                "--kind must be one of \(EventKind.allCases.map(\.name).joined(separator: ", ")).")
        }
        for time in [since, before].compactMap({ $0 }) where OccurredAt(iso8601: time) == nil {
            throw ValidationError("--since and --before must be times as in 2026-01-31T23:59:59Z.")
        }
    }

    /// The parameters of a query that say the same.
    var query: [(name: String, value: String)] {
        var query = kind.map { (name: "kind", value: $0) }
        if let name { query.append(("name", name)) }
        if let since { query.append(("since", since)) }
        if let before { query.append(("before", before)) }
        return query
    }
}
