internal import ArgumentParser
internal import ProfileLog

/// `profilecli replay`
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Fold the whole log anew: into fresh profiles, or into a fresh store.",
        discussion: """
            Without --into, nothing is written: the log is folded into fresh profiles, and their digest is printed. Two stores with \
            the same digest hold the same profiles. With --verify the fresh profiles are compared with the live ones, now and after \
            every launch; exit status 2 says that they differ.

            With --into, the store is rebuilt in another folder: same events, positions and times. A copy that was stopped goes on \
            where it stopped when the same command runs again.

            EXAMPLES
              profilecli replay --verify
              profilecli replay --threads 4
              profilecli replay --until 1000
              profilecli replay --until 2026-01-31T12:00:00Z --into past-store
              profilecli replay --into mended --mend-clock
            """)

    @OptionGroup var store: StoreOnlyOption
    @OptionGroup var output: FormatOption

    @Option(
        name: .long, help: ArgumentHelp("A folder for the rebuilt store; made if missing.", valueName: "folder"),
        completion: .directory)
    var into: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Stop behind this position, or at this time of recording.", valueName: "position|time"))
    var until: String?

    @Flag(
        name: .long,
        help: "With --into: events that a clock recorded that was ahead get the time of now, in the copy.")
    var mendClock = false

    @Flag(name: .long, help: "Prove that the live profiles are what the log says.")
    var verify = false

    @Option(name: .long, parsing: .unconditional, help: "Threads that fold.")
    var threads = 1

    mutating func validate() throws {
        guard 1...256 ~= threads else { throw ValidationError("--threads must be from 1 to 256.") }
        if let until, PositionOrTime(until) == nil {
            throw ValidationError("--until must be a position, as in 1000, or a time, as in 2026-01-31T12:00:00Z.")
        }
        if into == nil, mendClock { throw ValidationError("--mend-clock changes a copy. Name its folder with --into.") }
        if into != nil, verify { throw ValidationError("--into always verifies the copy. Leave out --verify.") }
    }

    func run() throws {
        Interrupt.watch()
        if let into, try StoreFolder(path: into) == .foreign {
            throw Failure(
                StorageError.notAStore(path: into).description,
                remedy: "Name an empty or a new folder with --into; nothing was changed in this one.")
        }
        let log = try store.open()
        let until = try self.until.flatMap(PositionOrTime.init).map { try $0.position(in: log) }
        var bar = ProgressBar()
        let progress: (LogProgress) -> Bool = {
            bar.update($0)
            return !Interrupt.isRequested
        }
        let report =
            if let into {
                try log.replay(
                    into: into, until: until, latest: mendClock ? log.options.now() : nil, progress: progress)
            } else {
                try log.replay(threads: threads, until: until, verify: verify, progress: progress)
            }
        bar.clear()
        guard report.isComplete else {
            Output.message("Stopped after \(Number.counted(report.events, "event")).")
            let hint = into == nil ? "." : ": the copy goes on where it stopped."
            throw Failure(
                "The replay did not come to its end.", remedy: "Run the same command again\(hint)",
                status: Interrupt.status)
        }
        try Output.print(output.isJSON ? Self.json(report) : lines(report))
        guard report.isEqual else {
            Output.message(
                TypedPlace.completing(
                    in: "Live and replayed profiles differ. Run `profilecli check` to see what is damaged."))
            throw ExitCode(ExitStatus.damaged.rawValue)
        }
    }

    private func lines(_ report: ReplayReport) -> [String] {
        let seconds = report.elapsed.inSeconds
        let rate = seconds > 0 ? UInt64(Double(report.events) / seconds) : 0
        var lines = [
            "Replayed \(Number.counted(report.events, "event")) of \(Number.counted(UInt64(report.users), "user")) in "
                + "\(DurationText.compact(report.elapsed)) (\(Number.grouped(rate)) events/s)."
        ]
        if let into { lines.append("The rebuilt store is in \(into).") }
        if verify || into != nil {
            let verdict = report.isEqual ? Style.green("Equal") : Style.red("Different")
            var compared = Number.counted(UInt64(report.users), "user")
            compared += " (\(Number.counted(UInt64(report.compared), "profile")), now and after every launch)"
            if let devices = report.devices { compared += " and \(Number.counted(UInt64(devices), "device"))" }
            lines.append("\(verdict): \(compared) compared with a fresh fold.")
            if report.devices == nil {
                lines.append(
                    "Not compared: what waits on devices, which is known for the log's end alone. Leave out --until.")
            }
            lines += report.differences.map { "  differs: \($0)" }
        }
        return lines + ["Digest \(report.digest)"]
    }

    private static func json(_ report: ReplayReport) -> [String] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("events")
        writer.value(report.events)
        writer.key("users")
        writer.value(report.users)
        writer.key("seconds")
        writer.value(report.elapsed.inSeconds)
        writer.key("digest")
        writer.value(report.digest)
        writer.key("compared")
        writer.value(report.compared)
        writer.key("devices_compared")
        if let devices = report.devices { writer.value(devices) } else { writer.null() }
        writer.key("equal")
        writer.value(report.isEqual)
        writer.key("differences")
        writer.beginArray()
        for difference in report.differences { writer.value(difference) }
        writer.endArray()
        writer.endObject()
        return [writer.text]
    }
}
