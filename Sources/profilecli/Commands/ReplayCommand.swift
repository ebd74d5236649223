internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "replay", "Fold the whole log again: into fresh profiles, a shadow of the stored states, or a fresh store.",
        """
        Without an option, nothing is written: the log is folded into fresh profiles, and their digest is printed. Two \
        stores with the same digest hold the same profiles. With --verify the fresh profiles are compared with the \
        live ones, now and after every launch; exit status 2 says that they differ.

        With --into, the store is rebuilt in another folder: same events, positions and times, and the \
        keys of the service (keys.json). A copy that was stopped goes on where it stopped when the same command runs \
        again.

        With --shadow, the states that make reads fast are folded again next to those that are read, while readers and \
        writers go on. Stopped or killed, it goes on where it stopped when the same command runs again, with --where \
        only if the same users pass. --swap makes these states the live ones in one transaction, --discard gives them \
        up. A program whose projections have another revision is prepared so while the older one runs; a new profiled \
        also does it by itself, after its start. With --verify, the states that this run folds are compared with the \
        live ones; exit status 2 says that a live state is not what its events say.

        --user and --where choose users, up to 1,000. A replay cannot be limited to kinds of events: a state is the \
        fold of all events of its user. To fold without some of them, see `profilecli whatif --help`.
        """,
        examples: """
            profilecli replay --verify
            profilecli replay --threads 4
            profilecli replay --until 1000
            profilecli replay --until 2026-01-31T12:00:00Z --into past-store
            profilecli replay --into mended --mend-clock
            profilecli replay --shadow --threads 2 --verify
            profilecli replay --swap
            profilecli replay --shadow --user ana --swap
            profilecli replay --shadow --where 'custom.level >= 3' --swap
            profilecli replay --discard
            """)

    @OptionGroup var place: PlaceOptions

    @Option(
        help: .init("A folder for the rebuilt store; made if missing.", valueName: "folder"), completion: .directory)
    var into: String?

    @Option(
        parsing: .unconditional,
        help: .init("Stop after this position, or at this time of recording.", valueName: "position|time"))
    var until: String?

    @Flag(help: "With --into: events recorded while the clock was ahead get the present time in the copy.")
    var mendClock = false

    @Flag(help: "Prove that the live profiles, or states, are what the log says.") var verify = false
    @Flag(help: "Fold the stored states again, next to those that are read.") var shadow = false
    @Flag(help: "Make the states of the shadow the live ones.") var swap = false
    @Flag(help: "Give the shadow up.") var discard = false
    @Option(help: .init("With --shadow: the states of this user alone. Repeatable.", valueName: "user"))
    var user: [String] = []
    @Option(
        name: .customLong("where"),
        help: .init(
            "With --shadow: the states of the users who pass this condition now (docs/where.md).",
            valueName: "condition"))
    var condition: String?
    @Option(parsing: .unconditional, help: "Threads that fold.") var threads = 1

    mutating func validate() throws {
        guard 1...256 ~= threads else { throw ValidationError("--threads must be from 1 to 256.") }
        if let until, UInt64(until) == nil {
            do throws(TimeError) {
                _ = try OccurredAt(reading: LocalMoment.time(until))
            } catch {
                throw ValidationError(
                    error.remedy.map { "--until \(error.reason). \($0)" }
                        ?? "--until must be a position, as in 1000, or a time, as in 2026-01-31T12:00:00Z.")
            }
        }
        if into == nil, mendClock { throw ValidationError("--mend-clock changes a copy. Name its folder with --into.") }
        if into != nil, verify { throw ValidationError("--into always verifies the copy. Omit --verify.") }
        if shadow || swap || discard { return try checkShadow() }
        if !user.isEmpty || condition != nil {
            throw ValidationError("--user and --where choose states of a shadow. Add --shadow.")
        }
        try place.refuseService()
    }

    private func checkShadow() throws {
        if into != nil { throw ValidationError("--into makes a store, and --shadow states of this one. Omit one.") }
        if discard, shadow || swap {
            throw ValidationError("--discard gives up what --shadow makes. Omit one of them.")
        }
        if !shadow, verify || until != nil || !user.isEmpty || condition != nil || threads != 1 {
            throw ValidationError("--verify, --until, --user, --where and --threads are for the replay. Add --shadow.")
        }
        if !user.isEmpty, condition != nil { throw ValidationError("--user and --where choose users. Omit one.") }
        if let until, UInt64(until) == nil { throw ValidationError("With --shadow, --until must be a position.") }
        guard 1...16 ~= threads else { throw ValidationError("With --shadow, --threads must be from 1 to 16.") }
    }

    func run() async throws {
        guard shadow || swap || discard else { return try replayWhole() }
        let connection = try place.connect(projections: RequestStore.projections)
        let replay = ShadowReplay(connection: connection, isJSON: place.isJSON)
        if discard { return try await replay.discard() }
        if shadow {
            try await replay.fold(
                users: user, condition: condition, until: until.flatMap { UInt64($0) }, threads: threads,
                verify: verify, isLast: !swap)
        }
        if swap { try await replay.swap() }
    }

    private func replayWhole() throws {
        if let into, try StoreFolder(path: into) == .foreign {
            throw CommandError(
                StorageError.notAStore(path: into).description,
                remedy: "Name an empty or a new folder with --into; nothing was changed in this one.")
        }
        let log = try openStore(place.path)
        let until = try lastPosition(of: log)
        let hasKeys = try into.map { try KeysFile.copy(from: place.path, into: $0) } ?? false
        let report = try ProgressBar.run { progress in
            if let into {
                let latest = mendClock ? log.options.now() : nil
                return try log.replay(into: into, until: until, latest: latest, progress: progress)
            }
            return try log.replay(threads: threads, until: until, verify: verify, progress: progress)
        }
        guard report.isComplete else {
            let hint = into == nil ? "." : ": the copy goes on where it stopped."
            throw CommandError(
                "Stopped by \(Interrupt.name) after \(Number.counted(report.events, "event")).",
                remedy: "Run the same command again\(hint)", status: Interrupt.status)
        }
        try Output.print(place.isJSON ? [json(report, hasKeys)] : lines(report, hasKeys))
        if into != nil, !hasKeys, try log.store.hadKeys() {
            Output.message(
                "Requests for the store need keys, and the copy has none: its folder had no keys.json. "
                    + "Give a service on the copy the same file with --keys.")
        }
        guard report.isEqual else {
            Output.message(
                TypedPlace.completing(
                    in: "Live and replayed profiles differ. Run `profilecli check` to see what is damaged."))
            throw ExitCode(ExitStatus.damaged.rawValue)
        }
    }

    /// The position that `--until` names in `log`; nil for its end.
    private func lastPosition(of log: EventLog) throws -> Position? {
        guard let until else { return nil }
        guard let position = UInt64(until).map(Position.init(rawValue:)) else {
            return try Moment.time(LocalMoment.time(until), now: .now()).map {
                try log.reader.past.lastPosition(recordedBy: $0)
            }
        }
        do {
            return try log.reader.past.position(at: .position(position))
        } catch MomentError.beyondLog(let last) {
            throw CommandError(
                "--until is beyond the log's last position, \(last.rawValue).", remedy: "Ask for an earlier one.")
        }
    }

    private func lines(_ report: ReplayReport, _ hasKeys: Bool) -> [String] {
        var lines = [
            "Replayed \(Number.counted(report.events, "event")) of \(Number.counted(UInt64(report.users), "user")) in "
                + "\(Phrase.rate(report.events, in: report.elapsed))."
        ]
        if let into {
            lines.append("The rebuilt store is in \(into)\(hasKeys ? ", with the keys of this one" : "").")
        }
        if verify || into != nil {
            let verdict = report.isEqual ? Style.green("Equal") : Style.red("Different")
            var compared = Number.counted(UInt64(report.users), "user")
            compared += " (\(Number.counted(UInt64(report.compared), "profile")), now and after every launch)"
            if let devices = report.devices { compared += " and \(Number.counted(UInt64(devices), "device"))" }
            lines.append("\(verdict): \(compared) compared with a fresh fold.")
            if report.devices == nil {
                lines.append(
                    "Not compared: what waits on devices, which is only known for the log's end. Omit --until.")
            }
            lines += report.differences.map { "  differs: \($0)" }
        }
        return lines + ["Digest \(report.digest)"]
    }

    private func json(_ report: ReplayReport, _ hasKeys: Bool) -> String {
        JSONWriter.object { json in
            json.member("events", report.events)
            json.member("users", report.users)
            json.member("seconds", report.elapsed.inSeconds)
            json.member("digest", report.digest)
            json.member("compared", report.compared)
            json.member("devices_compared", report.devices.map { .int(Int64($0)) } ?? .null)
            json.member("equal", report.isEqual)
            json.member("differences", report.differences)
            if into != nil { json.member("keys_copied", hasKeys) }
        }
    }
}
