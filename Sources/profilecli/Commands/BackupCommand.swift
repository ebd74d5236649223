internal import ArgumentParser
internal import Foundation
internal import ProfileLog
internal import ProfileLogBackup
internal import ProfileLogNativeAPI

/// `profilecli backup`
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "backup", "Back a store up into a folder, or look at a backup.",
        """
        `profilecli backup FOLDER` is `profilecli backup run FOLDER`. A folder named like a subcommand is \
        `./verify`. `restore` rebuilds a store from a backup; docs/backup.md describes the files.
        """,
        examples: """
            profilecli backup /backup/shop --store shop
            profilecli backup verify /backup/shop
            profilecli backup list /backup/shop
            """,
        subcommands: [
            BackupRunCommand.self, BackupVerifyCommand.self, BackupListCommand.self, BackupScrubCommand.self,
        ], defaultSubcommand: BackupRunCommand.self)
}

extension ArgumentHelp {
    fileprivate static let backup = ArgumentHelp("The folder of the backup.", valueName: "folder")
}

/// `profilecli backup run`
struct BackupRunCommand: TakesArguments {
    static let configuration = CommandConfiguration(
        "run", "Copy what is new in the log into a backup, and erase there what was erased.",
        """
        The store may be in use. The first run copies everything, later ones what is new; a run that was stopped goes \
        on. Until a run is complete, the backup is that of the run before. The keys of the service, as hashes, are \
        copied from keys.json in the store's folder or from --keys, and the files that --workspace and --config name; \
        a file that is not named stays in the backup as it was.

        What a backup has it keeps: a damaged record of the store stops the run, and so does one that differs from the \
        backup without an erasure that explains it. The folder is made if there is none; name one on another disk.

        `-` in place of the folder writes a tar archive of the whole backup to standard output.
        """,
        examples: """
            profilecli backup /backup/shop --store shop
            profilecli backup run /backup/shop --store shop --format json
            profilecli backup /backup/shop --workspace workspace.yaml
            profilecli backup /backup/shop --config /etc/profilelog/profiled.yaml
            profilecli backup - --store shop > shop.tar
            """)

    @Argument(help: .init("The folder of the backup, or - for standard output.", valueName: "folder"))
    var folder: String

    @Option(help: .init("A workspace file to keep with the log.", valueName: "file"), completion: .file())
    var workspace: String?

    @Option(
        help: .init("The configuration of the service, profiled.yaml, to keep with the log.", valueName: "file"),
        completion: .file())
    var config: String?

    @Option(
        help: .init("The service's file of keys, if it is not keys.json in the store's folder.", valueName: "file"),
        completion: .file())
    var keys: String?

    @OptionGroup var store: StoreOnlyOption
    @OptionGroup var output: FormatOption

    mutating func validate() throws {
        if folder.isEmpty { throw ValidationError("The folder must not be empty. Name one, or - for standard output.") }
    }

    private static let mostSettingsBytes = 16 << 20

    func run() throws {
        if folder == "-", isatty(STDOUT_FILENO) == 1 {
            throw ValidationError("The archive would be written to the terminal. Redirect it, as in `> backup.tar`.")
        }
        let log = try openStore(store.path)
        // Before the folder of the backup is touched.
        let settings = try self.settings()
        let target: any BackupTarget
        if folder == "-" {
            target = BackupArchive(modified: .now()) { try Output.write($0) }
        } else {
            target = try BackupFolder(path: folder, store: store.path)
        }
        BackupRun.yieldToWriters()
        var backup = BackupRun(log: log, target: target)
        backup.program = ProfileCLI.version
        backup.settings = settings
        let report = try ProgressBar.run { try backup.run(progress: $0) }
        if let warning = report.warning { Output.message(warning) }
        for file in report.repaired {
            Output.message("\(file) had lost its content, and was written again from the store: check that disk.")
        }
        guard report.isComplete else {
            throw CommandError(
                folder == "-"
                    ? "Stopped by \(Interrupt.name); the archive is not complete."
                    : "Stopped by \(Interrupt.name); the backup ends at position \(report.position.rawValue) now.",
                remedy: "Run the same command again\(folder == "-" ? "" : ": it goes on there").",
                status: Interrupt.status)
        }
        if folder == "-" { return Output.message(Self.sentence(report)) }
        try Output.print([output.isJSON ? Self.json(report) : Self.sentence(report)], after: "The backup is complete")
    }

    /// The files of settings that there are.
    private func settings() throws -> [(name: String, content: [UInt8])] {
        var files: [(name: String, content: [UInt8])] = []
        let usualKeys = store.path + "/keys.json"
        if let keys {
            files.append(("keys.json", try Self.keyHashes(keys)))
        } else if FileManager.default.fileExists(atPath: usualKeys) {
            let content = try NamedFile.bytes(
                usualKeys, atMost: Self.mostSettingsBytes, remedy: "Run the backup as the user who owns the store.")
            files.append(("keys.json", content))
        }
        if let workspace {
            let content = try NamedFile.bytes(
                workspace, atMost: Self.mostSettingsBytes, remedy: "Check --workspace and the file's permissions.")
            files.append(("workspace.yaml", content))
        }
        if let config { files.append(("profiled.yaml", try Self.serviceConfiguration(config))) }
        return files
    }

    /// The file of keys at `path`. One with a key itself must not come into a backup.
    private static func keyHashes(_ path: String) throws(CommandError) -> [UInt8] {
        let content = try NamedFile.bytes(
            path, atMost: mostSettingsBytes, remedy: "Check --keys and the file's permissions.")
        guard case .array? = try? JSON.parse(content)["keys"] else {
            throw CommandError(
                "The file \(path.oneLine) is no file of keys, which has the hash of each.",
                remedy: "Name with --keys the file that `profiled keys` writes: the setting `keys`, or keys.json.",
                status: .usage)
        }
        return content
    }

    /// The configuration at `path`. It names the files of secrets and has none, but a key that was named by mistake
    /// must not come into a backup.
    private static func serviceConfiguration(_ path: String) throws(CommandError) -> [UInt8] {
        let content = try NamedFile.bytes(
            path, atMost: mostSettingsBytes, remedy: "Check --config and the file's permissions.")
        do throws(YAMLFileError) {
            // A service knows more about it; this tells a configuration from another file.
            _ = try YAMLNode(yaml: String(decoding: content, as: UTF8.self), withAnchors: false)?.members()
        } catch {
            // Without what the parser says, which may show a part of the file.
            throw CommandError(
                "The file \(path.oneLine) is no configuration of a service: line \(error.line) is no `key: value`.",
                remedy: "Name profiled.yaml with --config; `profiled config check` looks at one.", status: .usage)
        }
        return content
    }

    private static func sentence(_ report: BackupReport) -> String {
        let place = report.path == "-" ? "to standard output" : "into \(report.path)"
        var text =
            "Backed up \(Number.counted(report.events, "new event")) \(place), up to position "
            + "\(Number.grouped(report.position.rawValue)): "
            + "\(Number.counted(UInt64(report.segmentsWritten), "segment")) written, "
            + "\(Number.bytes(report.bytesWritten))."
        if report.segmentsRewritten > 0 {
            text += " \(Number.counted(UInt64(report.segmentsRewritten), "segment")) had what was erased since."
        }
        return text
    }

    private static func json(_ report: BackupReport) -> String {
        JSONWriter.object { json in
            json.member("folder", report.path)
            json.member("position", report.position.rawValue)
            json.member("new_events", report.events)
            json.member("segments", report.segments)
            json.member("segments_written", report.segmentsWritten)
            json.member("segments_rewritten", report.segmentsRewritten)
            json.member("bytes_written", report.bytesWritten)
            json.member("bytes", report.bytes)
            json.member("erased_users", report.erasures)
            json.member("repaired", report.repaired)
            json.member("on_file_system_of_store", report.isOnFileSystemOfStore)
        }
    }
}

/// `profilecli backup verify`
struct BackupVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "verify", "Read a backup whole, and say whether it can be restored.",
        """
        Compares the size, the hash and each checksum of every file with the manifest, as a restore does. Changes \
        nothing, and needs no store. Exits with 2 if something is damaged: then it names each file.

        With --drill the backup is also restored into a temporary folder, checked and compared there, and removed. \
        --absent proves that a text, such as an address of an erased person, is in no byte of the folder and in no \
        event; it decodes every event, which takes longer.
        """,
        examples: """
            profilecli backup verify /backup/shop
            profilecli backup verify /backup/shop --drill
            profilecli backup verify /backup/shop --absent jane@example.com
            """)

    @Argument(help: .backup, completion: .directory) var folder: String
    @Flag(help: "Restore it into a temporary folder, and check that store.") var drill = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("A text that must be nowhere in it. Repeatable.", valueName: "text"))
    var absent: [String] = []

    @OptionGroup var output: FormatOption

    mutating func validate() throws {
        if absent.contains("") { throw ValidationError("--absent must not be empty: each file holds no text.") }
    }

    func run() throws {
        let report = try ProgressBar.run { update in
            try BackupVerifier(path: folder).verify(absent: absent, progress: update)
        }
        guard report.isComplete else { throw Self.stopped }
        var problems = report.problems.map(\.description)
        problems += report.found.map { "\($0.text) holds a text of --absent." }
        if problems.isEmpty, drill { problems += try drilled() }
        let manifest = report.manifest
        if output.isJSON {
            try Output.print(
                JSONWriter.object { json in
                    json.member("sound", problems.isEmpty)
                    json.member("position", manifest.position.rawValue)
                    json.member("segments", manifest.segments.count)
                    json.member("bytes", manifest.files.reduce(0) { $0 + $1.bytes })
                    json.member("drilled", drill && report.isSound)
                    json.member("problems", problems)
                })
        } else if problems.isEmpty {
            let what = drill ? "was restored and checked" : "can be restored"
            let none = absent.isEmpty ? "" : " Nothing in it holds a text of --absent."
            try Output.print(
                "Sound: \(Number.counted(manifest.position.rawValue, "event")) in "
                    + "\(Number.counted(UInt64(manifest.segments.count), "segment")), \(what).\(none)")
        } else {
            try Output.print(problems)
        }
        if problems.isEmpty { return }
        throw CommandError(
            "The backup in \(folder) is not as it must be in \(Number.counted(UInt64(problems.count), "place")).",
            remedy: report.problems.isEmpty && !report.found.isEmpty
                ? "Erase the person in the store and run the backup, or `profilecli backup scrub` for a copy."
                : "Bring these files back from a copy, or back the store up into a new folder. "
                    + "Keep this one until then.",
            status: .damaged)
    }

    private static var stopped: CommandError {
        CommandError(
            "Stopped by \(Interrupt.name); nothing was changed.", remedy: "Run the same command again.",
            status: Interrupt.status)
    }

    /// Restores the backup into a temporary folder, and returns what is wrong with that store.
    private func drilled() throws -> [String] {
        let scratch = try ScratchFolder(prefix: "profilecli-drill-")
        defer { scratch.remove() }
        let restore = try Restore(BackupReader(path: folder))
        do {
            return try ProgressBar.run { update in
                try restore.drill(
                    in: scratch.path + "/store", projections: RequestStore.projections, progress: update)
            }.problems
        } catch RestoreError.stopped {
            throw Self.stopped
        }
    }
}

/// `profilecli backup list`
struct BackupListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "list", "Show what a backup holds, by its manifest.",
        "Each position up to the last one is a point to which `restore` can go. Reads no other file.",
        examples: """
            profilecli backup list /backup/shop
            profilecli backup list /backup/shop --segments
            profilecli backup list /backup/shop --format json
            """)

    @Argument(help: .backup, completion: .directory) var folder: String
    @Flag(help: "Show each segment of the log, with the times of its events.") var segments = false
    @OptionGroup var output: FormatOption

    func run() throws {
        let manifest = try BackupReader(path: folder).manifest
        if output.isJSON { return try Output.print(Self.json(manifest)) }
        try Output.print(segments ? Self.segmentTable(manifest).lines() : Self.table(manifest).lines())
    }

    private static func time(_ time: Timestamp) -> String { Phrase.time(.string(time.rfc3339())) }

    private static func table(_ manifest: Manifest) -> Table {
        var table = Table("WHAT", "VALUE!")
        table.add("events", Number.grouped(manifest.position.rawValue))
        if manifest.position > .start { table.add("last event", time(manifest.recordedAt)) }
        table.add("made", time(manifest.written))
        table.add("verified", manifest.verified.map(time) ?? "never, by a service")
        table.add("segments", Number.grouped(manifest.segments.count))
        table.add("names", Number.grouped(UInt64(manifest.nameCount)))
        table.add("bytes", Number.grouped(manifest.files.reduce(0) { $0 + $1.bytes }))
        table.add("erased users", Number.grouped(manifest.erasures.count))
        let settings = manifest.settings.map(\.file.name).joined(separator: ", ")
        table.add("settings", settings.isEmpty ? "none" : settings)
        table.add("store", Hexadecimal.text(manifest.store))
        table.add("history", LogHistory.text(of: manifest.history))
        table.add("program", manifest.program)
        return table
    }

    private static func segmentTable(_ manifest: Manifest) -> Table {
        Table("#FROM", "#TO", "FIRST EVENT!", "LAST EVENT!", "#BYTES", "FILE!", of: manifest.segments) { segment in
            [
                "\(segment.first.rawValue)", "\(segment.last.rawValue)", time(segment.firstAt), time(segment.lastAt),
                Number.grouped(segment.file.bytes), segment.file.name,
            ]
        }
    }

    private static func json(_ manifest: Manifest) -> String {
        JSONWriter.object { json in
            json.member("store", Hexadecimal.text(manifest.store))
            json.member("history", LogHistory.text(of: manifest.history))
            json.member("position", manifest.position.rawValue)
            json.member(
                "recorded_at", manifest.position > .start ? AttributeValue.string(manifest.recordedAt.rfc3339()) : .null
            )
            json.member("made_at", manifest.written.rfc3339())
            json.member("verified_at", manifest.verified.map { AttributeValue.string($0.rfc3339()) } ?? .null)
            json.member("program", manifest.program)
            json.member("names", UInt64(manifest.nameCount))
            json.member("bytes", manifest.files.reduce(0) { $0 + $1.bytes })
            json.member("erased_users", manifest.erasures.count)
            json.member("settings", manifest.settings.map(\.name))
            json.objects("settings_files", manifest.settings) { json, settings in
                json.member("name", settings.name)
                json.member("file", settings.file.name)
                json.member("bytes", settings.file.bytes)
            }
            json.objects("segments", manifest.segments) { json, segment in
                json.member("file", segment.file.name)
                json.member("bytes", segment.file.bytes)
                json.member("first", segment.first.rawValue)
                json.member("last", segment.last.rawValue)
                json.member("first_at", segment.firstAt.rfc3339())
                json.member("last_at", segment.lastAt.rfc3339())
            }
        }
    }
}

/// `profilecli backup scrub`
struct BackupScrubCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "scrub", "Erase in a copy of a backup what was erased in the store since.",
        """
        The folder that `backup` or a service writes needs no scrub: each run erases there by itself. A copy kept \
        elsewhere does. Events of erased users become tombstones, as in the store; positions stay.
        """,
        examples: """
            profilecli backup scrub /copy/shop --from-store shop
            profilecli backup scrub /copy/shop --erasures erasures.jsonl
            """)

    @Argument(help: .backup, completion: .directory) var folder: String

    @Option(help: .init("The store that the backup is of.", valueName: "folder"), completion: .directory)
    var fromStore: String?

    @Option(
        help: .init("A file of `erasures export`, or a newer backup of the store.", valueName: "file"),
        completion: .file())
    var erasures: String?

    @OptionGroup var output: FormatOption

    mutating func validate() throws {
        if (fromStore == nil) == (erasures == nil) {
            throw ValidationError("The erasures come from a store or from a file. Add --from-store or --erasures.")
        }
    }

    func run() throws {
        // Before the folder is opened, which makes one that is missing.
        _ = try BackupReader(path: folder)
        let log = try fromStore.map { try openStore($0) }
        let target = try BackupFolder(path: folder, store: fromStore)
        let report = try ProgressBar.run { update -> BackupScrub.Report in
            if let log {
                guard let register = try ErasureRegister(of: log, progress: update) else { return .stopped }
                return try BackupScrub(target).scrub(register, log: log, progress: update)
            }
            return try BackupScrub(target).scrub(ErasureRegister.read(erasures ?? ""), progress: update)
        }
        guard report.isComplete else {
            throw CommandError(
                "Stopped by \(Interrupt.name); the backup is as it was.", remedy: "Run the same command again.",
                status: Interrupt.status)
        }
        let json = JSONWriter.object { json in
            json.member("segments", report.segments)
            json.member("names", report.names)
            json.member("erased_users", report.erasures)
        }
        let sentence =
            "Scrubbed \(folder): \(Number.counted(UInt64(report.segments), "segment")) and "
            + "\(Number.counted(UInt64(report.names), "name")) had what was erased; "
            + "\(Number.counted(UInt64(max(0, report.erasures)), "erased user")) came into its register."
        try Output.print([output.isJSON ? json : sentence], after: "The backup is scrubbed")
    }
}
