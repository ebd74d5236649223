internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "check", "Prove that a store is sound: checksums, order, every index and every snapshot.",
        """
        Reads everything and changes nothing. Exits with 0 if the store is sound, and with 2 if something is damaged: \
        then it names each place.
        """,
        examples: """
            profilecli check
            profilecli check --replay
            profilecli check --store /srv/profiles --format json
            """)

    @Flag(help: "Also fold every profile from its first event on, and compare it with what is read.") var replay = false
    @OptionGroup var store: StoreOnlyOption
    @OptionGroup var output: FormatOption

    func run() throws {
        var bar = ProgressBar()
        let path = store.path
        var last: LogProgress?
        // LMDB may end the process when it meets a broken page.
        func tellBrokenPage() {
            BrokenPage.endProcess(
                withStatus: ExitStatus.damaged.rawValue, printing: brokenPage(at: last),
                saying: (bar.isDrawn ? ProgressBar.erasure : "") + Self.restoreFile)
        }
        tellBrokenPage()
        let tell: (LogProgress) -> Void = {
            last = $0
            tellBrokenPage()
            bar.update($0)
        }
        do {
            // Before the store is opened, which reads some of everything.
            if try StoreFolder(path: path) == .store { try TableWalk.readThrough(path: path, telling: tell) }
            // With all projections whose states `profiled` keeps.
            let log = try openStore(path, projections: RequestStore.projections)
            var report = try log.check(progress: tell)
            if replay { try Self.audit(log, &report, tell) }
            bar.clear()
            let problems = report.problems.map { ($0.place, $0.what) }
            try Output.print(output.isJSON ? Self.json(problems, report) : Self.lines(report, path))
            if let jump = try log.reader.clockJump() {
                Output.message(StatsCommand.clockAhead(jump.position.rawValue, seconds: jump.seconds))
            }
            if report.isSound { return }
            Output.message(
                "The store is damaged in \(Number.counted(UInt64(report.problems.count), "place")). "
                    + "Stop writing to it, and restore these parts from a backup. \(Self.copyAgain)")
        } catch StorageError.brokenPage {
            bar.clear()
            try Output.write(Array(brokenPage(at: last).utf8))
            try Output.write(Array(Self.restoreFile.utf8), to: 2)
        }
        throw ExitCode(ExitStatus.damaged.rawValue)
    }

    /// Does at once what the audit of `profiled` does while it is idle.
    static func audit(_ log: EventLog, _ report: inout CheckReport, _ tell: (LogProgress) -> Void) throws {
        let auditor = Auditor(log)
        let users = try log.reader.extent().users
        while try auditor.step(budget: .milliseconds(100)) {
            tell(LogProgress(stage: "audit", done: auditor.report.done, total: users, unit: "users"))
        }
        for difference in auditor.report.differences {
            report.add("user \(difference.user.rawValue), \(difference.place)", "it is not what the log says")
        }
    }

    private static let restoreFile =
        "Stop writing to the store, and restore data.mdb from a backup. \(copyAgain)\n"
    private static let copyAgain =
        "If it is a copy that was made while a program wrote, copy it again with "
        + "`profilecli replay --into`."

    private func brokenPage(at progress: LogProgress?) -> String {
        let place = Self.place(progress)
        let lines =
            output.isJSON
            ? Self.json([("data.mdb", "a page is broken, \(place)")])
            : ["\(Style.red("Damaged")): a page of \(store.path)/data.mdb is broken, \(place)."]
        return Output.shown(lines)
    }

    private static func lines(_ report: CheckReport, _ path: String) -> [String] {
        let counts = [
            (Int(report.events), "event"), (report.users, "user"), (report.names, "name"),
            (report.snapshots, "snapshot"),
        ].map { Number.counted(UInt64($0), $1) }.joined(separator: ", ")
        if report.isSound { return ["\(Style.green("Sound")): \(path) holds \(counts); all checks hold."] }
        let table = Table("PLACE", "WHAT IS WRONG", of: report.problems) { [$0.place, $0.what] }
        return ["\(Style.red("Damaged")): \(path) holds \(counts)."] + table.lines()
    }

    private static func place(_ progress: LogProgress?) -> String {
        guard let progress else { return "which is read when the store is opened" }
        switch progress.stage {
        case "free pages": return "in the list of free pages"
        case "log" where progress.done > 0: return "in table log after position \(Number.grouped(progress.done))"
        default: return "in table \(progress.stage)"
        }
    }

    /// An object for each problem, and one with the counts of `report`, if the check was finished.
    private static func json(_ problems: [(place: String, what: String)], _ report: CheckReport? = nil) -> [String] {
        let lines = problems.map { problem in
            JSONWriter.object { json in
                json.member("place", problem.place)
                json.member("what", problem.what)
            }
        }
        let last = JSONWriter.object { json in
            json.member("sound", problems.isEmpty)
            if let report {
                json.member("events", report.events)
                json.member("users", report.users)
                json.member("names", report.names)
                json.member("snapshots", report.snapshots)
            }
            json.member("problems", problems.count)
        }
        return lines + [last]
    }
}
