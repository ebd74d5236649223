internal import ArgumentParser
internal import ProfileLog

/// `profilecli check`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Prove that a store is sound: checksums, order, every index and every snapshot.",
        discussion: """
            Reads everything and changes nothing. Exits with 0 if the store is sound, with 2 if something is damaged; then each \
            place is named.

            EXAMPLES
              profilecli check
              profilecli check --store /srv/profiles --format json
            """)

    @OptionGroup var store: StoreOnlyOption
    @OptionGroup var output: FormatOption

    func run() throws {
        let log = try store.open()
        var bar = ProgressBar(unit: "rows")
        let report = try log.check { bar.update($0) }
        bar.clear()
        try Output.print(output.isJSON ? Self.json(report) : Self.lines(report, store.path))
        guard report.isSound else {
            Output.message(
                "The store is damaged in \(Number.counted(UInt64(report.problems.count), "place")). Stop writing to it, and restore "
                    + "these parts from a backup.")
            throw ExitCode(ExitStatus.damaged.rawValue)
        }
    }

    private static func lines(_ report: CheckReport, _ path: String) -> [String] {
        let counts =
            "\(Number.counted(UInt64(report.events), "event")), \(Number.counted(UInt64(report.users), "user")), "
            + "\(Number.counted(UInt64(report.names), "name")), \(Number.counted(UInt64(report.snapshots), "snapshot"))"
        if report.isSound { return ["\(Style.green("Sound")): \(path) holds \(counts); all checks hold."] }
        var table = Table("PLACE", "WHAT IS WRONG")
        for problem in report.problems { table.add(problem.place, problem.what) }
        return ["\(Style.red("Damaged")): \(path) holds \(counts)."] + table.lines()
    }

    /// One object for each problem, and the counts at the end.
    private static func json(_ report: CheckReport) -> [String] {
        let problems = report.problems.map { problem in
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("place")
            writer.value(problem.place)
            writer.key("what")
            writer.value(problem.what)
            writer.endObject()
            return writer.text
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("sound")
        writer.value(report.isSound)
        for (key, count) in [
            ("events", UInt64(report.events)), ("users", UInt64(report.users)), ("names", UInt64(report.names)),
            ("snapshots", UInt64(report.snapshots)), ("problems", UInt64(report.problems.count)),
        ] {
            writer.key(key)
            writer.value(count)
        }
        writer.endObject()
        return problems + [writer.text]
    }
}
