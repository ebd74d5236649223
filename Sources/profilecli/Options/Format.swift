internal import ArgumentParser

/// How data is printed.
enum Format: String, ExpressibleByArgument, CaseIterable {
    case table, json
}

/// `--format`.
struct FormatOption: ParsableArguments {
    @Option(name: .long, help: "table, for people, its long cells cut; json, one whole object a line, for programs.")
    var format = Format.table

    var isJSON: Bool { format == .json }
}
