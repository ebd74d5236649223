internal import ArgumentParser

/// How data is printed.
enum Format: String, ExpressibleByArgument, CaseIterable {
    case table, json
}

/// `--format`.
struct FormatOption: ParsableArguments {
    static let help: ArgumentHelp =
        "table, for people, its long cells cut; json, one whole object a line, for programs."

    @Option(name: .long, help: help)
    var format = Format.table

    var isJSON: Bool { format == .json }
}
