internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogBackup
internal import ProfileLogNativeAPI

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "restore", "Rebuild a store from a backup, whole or up to a position or a time.",
        """
        The store is written next to its folder and gets its name when it is complete: same events, positions, times \
        and names, with caches. Stopped or killed, it leaves no store; the same command begins again. A folder that \
        has a store is refused. With --replace that store is moved to a folder next to it, FOLDER.before-TIME, and \
        nothing is deleted.

        The settings that the backup has come into the folder of the store: keys.json, which a service reads there, \
        profiled.yaml and workspace.yaml. `backup list` shows their files in the backup.

        With --to, the store ends with the event at that position, or with the last one that was recorded at that \
        time or before. Names that came later are absent.

        A restored store begins a new history: back it up into a new folder, and consumers of its events see that \
        `history` has changed. Persons who were erased after the backup was made come back, unless --erasures names \
        the newest erasures: a file of `profilecli erasures export`, or the backup that is still written.

        --dry-run reads all that would be restored, compares every checksum, and writes nothing.
        """,
        examples: """
            profilecli restore /backup/shop --store shop
            profilecli restore /backup/shop --store drill --to yesterday --dry-run
            profilecli restore /backup/shop --store drill --to '2026-01-31 14:03'
            profilecli restore /backup/shop --store shop --to 1200 --replace
            profilecli restore old --store shop --erasures erasures.jsonl
            """)

    @Argument(help: .init("The folder of the backup.", valueName: "backup"), completion: .directory)
    var backup: String

    @OptionGroup var store: StoreOnlyOption

    @Option(
        parsing: .unconditional,
        help: .init("The last position, or the time of recording to which.", valueName: "position|time"))
    var to: String?

    @Option(
        help: .init("Erasures that the backup does not know.", valueName: "file"), completion: .file())
    var erasures: String?

    @Flag(help: "Move a store that is in the folder aside.") var replace = false
    @Flag(help: "Read and compare everything; write nothing.") var dryRun = false
    @OptionGroup var output: FormatOption

    mutating func validate() throws { _ = try end() }

    /// The end that `--to` names.
    private func end() throws -> Restore.End {
        guard let to else { return .whole }
        if let position = UInt64(to) { return .position(Position(rawValue: position)) }
        let text = LocalMoment.time(to)
        if let time = Moment.time(text, now: .now()) { return .time(time) }
        var reason = "--to must be a position, as in 1000, or a time, as in yesterday or 2026-01-31T12:00:00Z."
        do throws(TimeError) {
            _ = try OccurredAt(reading: text)
        } catch {
            if let remedy = error.remedy { reason = "--to \(error.reason). \(remedy)" }
        }
        throw ValidationError(reason)
    }

    func run() throws {
        let restore = try Restore(
            BackupReader(path: backup), to: end(), erasures: erasures.map { try ErasureRegister.read($0) })
        let folder = try RestoreFolder(path: store.path, replacing: replace, backup: backup)
        var report: RestoreReport
        do {
            report = try ProgressBar.run { progress in
                if dryRun { return try restore.verify(progress: progress) }
                return try restore.run(into: folder, projections: RequestStore.projections, progress: progress)
            }
        } catch RestoreError.stopped {
            throw CommandError(
                "Stopped by \(Interrupt.name); no store was made.", remedy: RestoreError.stopped.remedy,
                status: Interrupt.status)
        }
        if dryRun { report.settings = restore.reader.manifest.settings.map(\.name) }
        try Output.print(output.isJSON ? [json(report)] : lines(report), after: dryRun ? nil : "The store is restored")
        if erasures == nil {
            Output.message(
                "Erasures after \(restore.reader.manifest.written.rfc3339()), when the backup was made, are not known: "
                    + "--erasures names them.")
        }
    }

    private func lines(_ report: RestoreReport) -> [String] {
        let events = report.end.rawValue
        let time = events == 0 ? "" : ", recorded at \(Phrase.time(.string(report.recordedAt.rfc3339())))"
        let what = "\(Number.counted(events, "event")) up to position \(events)\(time)"
        if dryRun {
            let sound = "Sound: \(what), can be restored into \(store.path). Nothing was written."
            if report.settings.isEmpty { return [sound] }
            return [sound, "Settings that come with it: \(report.settings.joined(separator: ", "))."]
        }
        var lines = ["Restored \(what), into \(store.path) in \(Phrase.rate(events, in: report.elapsed))."]
        if report.erasedEvents > 0 {
            lines.append(
                "Erased after the backup was made, and so here: \(Number.counted(report.erasedEvents, "event")) of "
                    + "\(Number.counted(UInt64(report.erasedUsers), "user")).")
        }
        if !report.settings.isEmpty {
            lines.append("Settings, in \(store.path): \(report.settings.joined(separator: ", ")).")
        }
        // A service looks there for the keys alone.
        let toCopy = report.settings.filter { $0 != "keys.json" }
        if !toCopy.isEmpty {
            let them = toCopy.count == 1 ? "it" : "them"
            lines.append(
                "On a new machine, copy \(toCopy.joined(separator: " and ")) to where the service reads \(them), "
                    + "as /etc/profilelog.")
        }
        if let aside = report.movedAside { lines.append("The store that was there is now in \(aside).") }
        return lines + ["History \(report.history.text) begins: back the store up into a new folder."]
    }

    private func json(_ report: RestoreReport) -> String {
        JSONWriter.object { json in
            json.member("position", report.end.rawValue)
            json.member("recorded_at", report.end == .start ? nil : report.recordedAt)
            json.member("names", UInt64(report.names))
            json.member("history", dryRun ? .null : .string(report.history.text))
            json.member("erased_users", report.erasedUsers)
            json.member("erased_events", report.erasedEvents)
            json.member("settings", report.settings)
            json.member("moved_aside", report.movedAside.map { .string($0) } ?? .null)
            json.member("dry_run", dryRun)
            json.member("log_seconds", report.elapsedOfTruth.inSeconds)
            json.member("seconds", report.elapsed.inSeconds)
        }
    }
}
