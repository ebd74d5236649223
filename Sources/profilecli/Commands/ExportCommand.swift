internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "export", "Write the log, or events or profiles of a moment for analysis.",
        """
        Without --events and --profiles: everything in the log as JSON Lines, one event a line, in its order: with \
        positions, versions, both times, and its source. `import` reads lines of the kinds that `import --help` names, \
        and refuses those that only the log makes, such as appLaunched. `replay --into` copies a whole store.

        --events and --profiles write rows for other programs, without the values of erased persons, as of one \
        moment: JSON Lines, CSV, or a table in a SQLite file (docs/export.md). With --into, the same command goes on \
        where a stopped one was.
        """,
        examples: """
            profilecli export > log.jsonl
            profilecli export -o log.jsonl
            profilecli export --kind customEventLogged --kind purchaseLogged -o b.jsonl
            profilecli export --profiles --format csv > profiles.csv
            profilecli export --profiles --as-of monday --format csv --into monday.csv
            profilecli export --profiles --where 'country = "DE"' --into de.jsonl
            profilecli export --events --format sqlite --into events.sqlite
            profilecli export --user-defaults group.com.example.app.plist
            """)

    @Flag(help: "Events for analysis.") var events = false
    @Flag(help: "Profiles for analysis.") var profiles = false

    @Option(parsing: .unconditional, help: .when("For --events and --profiles: the rows at that moment"))
    var asOf: String?

    @Option(help: .init("For --events and --profiles: jsonl, csv or sqlite.", valueName: "format"))
    var format: ExportFormat?

    @Option(
        help: .init(
            "For --events and --profiles: the file to write. It is FILE.partial until it is complete.",
            valueName: "file"), completion: .file())
    var into: String?

    @Flag(help: "With --into: replace the file, or begin again.") var force = false

    @Option(
        name: .customLong("where"),
        help: .init("With --profiles: only users who pass this condition.", valueName: "condition"))
    var condition: String?

    @Option(parsing: .unconditional, help: .init("Begin after this position.", valueName: "position"))
    var after: UInt64 = 0

    @Option(name: .shortAndLong, help: "A file to write instead of standard output.", completion: .file())
    var output: String?

    @OptionGroup var userDefaults: UserDefaultsExportOptions
    @OptionGroup var filter: FilterOptions
    @OptionGroup var traits: TraitsOption
    @OptionGroup var place: StoreOrService

    mutating func validate() throws {
        let isAnalysis = events || profiles
        if userDefaults.file != nil, after > 0 || output != nil || !filter.query.isEmpty || isAnalysis {
            throw ValidationError("--user-defaults writes all that waits to its FILE: omit the other options.")
        }
        if events, profiles { throw ValidationError("--events and --profiles exclude each other: export each alone.") }
        if !isAnalysis, asOf != nil || format != nil || into != nil || force || condition != nil {
            throw ValidationError(
                "--as-of, --format, --into, --force and --where are for --events and --profiles. Add one of the two.")
        }
        if isAnalysis, after > 0 || output != nil {
            throw ValidationError("--after and -o are for the whole log. Use --into for the file of an analysis.")
        }
        if profiles, !filter.bounds.isEmpty {
            throw ValidationError("--kind, --name, --since and --before are about events. Use --where for profiles.")
        }
        if events, condition != nil { throw ValidationError("--where is about profiles. Use --profiles.") }
        if format == .sqlite, into == nil { throw ValidationError("--format sqlite needs --into FILE.") }
        if force, into == nil { throw ValidationError("--force is for --into FILE.") }
    }

    func run() async throws {
        if let path = userDefaults.file {
            var work = try UserDefaultsExport(path: path, userDefaults)
            return try await work.run(place)
        }
        if events || profiles { return try await analyse() }
        let connection = try place.connect()
        let file = try OutputFile(output)
        let count = try await file.write { goOn in try await write(connection, to: file.descriptor, goOn) }
        if let output { Output.message("Wrote \(Number.counted(count, "event")) to \(output).") }
    }

    private func analyse() async throws {
        let format = format ?? .jsonl
        let query = filter.query + parameters(("as_of", asOf.map(LocalMoment.text)), ("where", condition))
        let export = AnalysisExport(table: ExportTable(events ? .events : .profiles), format: format, query: query)
        let connection = try place.connect(traits: traits)
        if let into { return try await export.write(connection, into: into, force: force) }
        if let lines = format.lines { try await export.print(connection, lines) }
    }

    /// Writes all events, and returns how many there are.
    private func write(
        _ connection: any Connection, to descriptor: Int32, _ goOn: () throws -> Void
    ) async throws -> UInt64 {
        var (after, scanned) = ("\(after)", after)
        var count: UInt64 = 0
        var bar = ProgressBar(isShown: Terminal.isError && (!Terminal.isOutput || output != nil))
        defer { bar.clear() }
        var writer = JSONWriter()
        while true {
            let query = filter.query + [("after", after), ("limit", "10000")]
            let (answer, refusal) = try await connection.exchange(
                APIRequest(.get, "/v1/events", query: query), notes: count == 0)
            if let refusal {
                guard answer["code"].text == "other_history" else { throw refusal }
                throw CommandError(
                    "The service began a new log during the export.", remedy: "Run the same command again.")
            }
            for event in answer["events"].elements {
                writer.value(event)
                writer.endLine()
                count += 1
            }
            try Output.write(lines: writer.bytes, to: descriptor)
            writer = JSONWriter()
            try goOn()
            let (now, last) = (answer.count("scanned"), answer.count("last"))
            bar.update(LogProgress(stage: "export", done: min(now, last), total: last))
            if now <= scanned || now >= last { break }
            (after, scanned) = (answer["cursor"].text ?? "\(now)", now)
        }
        return count
    }
}
