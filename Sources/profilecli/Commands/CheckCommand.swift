internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogAPI

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

    @Option(name: .long, help: .hidden)
    var progressTo: Int32?

    func run() throws {
        if let progressTo { return try read(tellingTo: progressTo) }
        let ending = try CheckProcess.run([
            "check", "--store=\(store.path)", "--format", output.isJSON ? "json" : "table",
        ])
        switch ending {
        case .exited(let status): throw ExitCode(status)
        case .brokenPage(let progress):
            if Terminal.isError { try? Output.write(Array("\r\u{1B}[K".utf8), to: 2) }
            try Output.print(
                output.isJSON
                    ? Self.json([("data.mdb", "a page is broken, \(Self.place(progress))")])
                    : ["\(Style.red("Damaged")): a page of \(store.path)/data.mdb is broken, \(Self.place(progress))."])
            Output.message("Stop writing to the store, and restore data.mdb from a backup.")
            throw ExitCode(ExitStatus.damaged.rawValue)
        }
    }

    /// Checks the store, in the process that a broken page may end.
    private func read(tellingTo parent: Int32) throws {
        BrokenPage.endProcess(withStatus: CheckProcess.brokenPageStatus, saying: "")
        do {
            try read { CheckProcess.tell($0, to: parent) }
        } catch StorageError.brokenPage {
            throw ExitCode(CheckProcess.brokenPageStatus)
        }
    }

    private func read(_ progress: (LogProgress) -> Void) throws {
        var bar = ProgressBar()
        let tell: (LogProgress) -> Void = {
            progress($0)
            bar.update($0)
        }
        // Before the store is opened, which reads some of everything.
        if try StoreFolder(path: store.path) == .store { try EventLog.readThrough(path: store.path, telling: tell) }
        // With all projections whose states `profiled` keeps.
        let log = try store.open(projections: API.projections)
        let report = try log.check(progress: tell)
        bar.clear()
        try Output.print(
            output.isJSON
                ? Self.json(report.problems.map { ($0.place, $0.what) }, report) : Self.lines(report, store.path))
        if let jump = try log.clockJump() {
            Output.message(StatsCommand.clockAhead(jump.position.rawValue, seconds: jump.seconds))
        }
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

    /// Where a page is broken that was met behind `progress`.
    private static func place(_ progress: LogProgress?) -> String {
        guard let progress else { return "which is read when the store is opened" }
        switch progress.stage {
        case "free pages": return "in the list of free pages"
        case "log" where progress.done > 0: return "in table log behind position \(Number.grouped(progress.done))"
        default: return "in table \(progress.stage)"
        }
    }

    /// One object for each problem, and one at the end, with the counts of `report`; nil if it did not come to any.
    private static func json(_ problems: [(place: String, what: String)], _ report: CheckReport? = nil) -> [String] {
        let lines = problems.map { problem in
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("place", problem.place)
            writer.member("what", problem.what)
            writer.endObject()
            return writer.text
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("sound")
        writer.value(problems.isEmpty)
        let counts = report.map {
            [
                ("events", $0.events), ("users", UInt64($0.users)), ("names", UInt64($0.names)),
                ("snapshots", UInt64($0.snapshots)),
            ]
        }
        for (key, count) in (counts ?? []) + [("problems", UInt64(problems.count))] {
            writer.key(key)
            writer.value(count)
        }
        writer.endObject()
        return lines + [writer.text]
    }
}
