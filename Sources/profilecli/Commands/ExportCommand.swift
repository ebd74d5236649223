internal import ArgumentParser
internal import ProfileLog

/// `profilecli export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the log as JSON Lines, one event a line.",
        discussion: """
            Everything that is in the log, in its order: with positions, versions, both times, and where it came from.

            EXAMPLES
              profilecli export > log.jsonl
              profilecli export -o log.jsonl
              profilecli export --kind customEventLogged --kind purchaseLogged -o b.jsonl
              profilecli export --user-defaults group.com.example.app.plist
            """)

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Begin behind this position.", valueName: "position"))
    var after: UInt64 = 0

    @Option(name: .shortAndLong, help: "A file to write instead of standard output.", completion: .file())
    var output: String?

    @OptionGroup var userDefaults: UserDefaultsExportOptions

    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: StoreOrService

    mutating func validate() throws {
        if userDefaults.file != nil, after > 0 || output != nil || !filter.query.isEmpty {
            throw ValidationError("--user-defaults writes all that waits to its FILE: leave out the other options.")
        }
    }

    func run() async throws {
        if let path = userDefaults.file {
            var work = try UserDefaultsExport(path: path, userDefaults)
            return try await work.run(place)
        }
        let connection = try place.connect()
        let file = try OutputFile(output)
        var count: UInt64 = 0
        try await file.write { goOn in count = try await write(connection, to: file.descriptor, goOn) }
        if let output { Output.message("Wrote \(Number.counted(count, "event")) to \(output).") }
    }

    /// Writes all events, and tells how many they are.
    private func write(
        _ connection: any Connection, to descriptor: Int32, _ goOn: () throws -> Void
    ) async throws -> UInt64 {
        var after = after
        var count: UInt64 = 0
        /// The store that is exported: the service may be told to begin another one.
        var store: String?
        var bar = ProgressBar(isShown: Terminal.isError && (!Terminal.isOutput || output != nil))
        defer { bar.clear() }
        var writer = JSONWriter()
        while true {
            let query = filter.query + [("after", "\(after)"), ("limit", "10000")]
            let answer = try await connection.get("/v1/events", query)
            guard store == nil || answer["store"].text == store else {
                throw Failure("The log was begun anew while it was exported.", remedy: "Run the same command again.")
            }
            store = answer["store"].text
            for event in answer["events"].elements {
                writer.value(event)
                writer.endLine()
                count += 1
            }
            try Output.write(writer.bytes, to: descriptor)
            writer = JSONWriter()
            try goOn()
            let scanned = UInt64(max(0, answer["scanned"].integer ?? 0))
            let last = UInt64(max(0, answer["last"].integer ?? 0))
            bar.update(LogProgress(stage: "export", done: min(scanned, last), total: last))
            if scanned <= after || scanned >= last { break }
            after = scanned
        }
        return count
    }
}
