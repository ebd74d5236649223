internal import ArgumentParser
internal import ProfileLog

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "export", "Write the log as JSON Lines, one event a line.",
        "Everything in the log, in its order: with positions, versions, both times, and its source.",
        examples: """
            profilecli export > log.jsonl
            profilecli export -o log.jsonl
            profilecli export --kind customEventLogged --kind purchaseLogged -o b.jsonl
            profilecli export --user-defaults group.com.example.app.plist
            """)

    @Option(parsing: .unconditional, help: .init("Begin after this position.", valueName: "position"))
    var after: UInt64 = 0

    @Option(name: .shortAndLong, help: "A file to write instead of standard output.", completion: .file())
    var output: String?

    @OptionGroup var userDefaults: UserDefaultsExportOptions
    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: StoreOrService

    mutating func validate() throws {
        if userDefaults.file != nil, after > 0 || output != nil || !filter.query.isEmpty {
            throw ValidationError("--user-defaults writes all that waits to its FILE: omit the other options.")
        }
    }

    func run() async throws {
        if let path = userDefaults.file {
            var work = try UserDefaultsExport(path: path, userDefaults)
            return try await work.run(place)
        }
        let connection = try place.connect()
        let file = try OutputFile(output)
        let count = try await file.write { goOn in try await write(connection, to: file.descriptor, goOn) }
        if let output { Output.message("Wrote \(Number.counted(count, "event")) to \(output).") }
    }

    /// Writes all events, and returns how many there are.
    private func write(
        _ connection: any Connection, to descriptor: Int32, _ goOn: () throws -> Void
    ) async throws -> UInt64 {
        var after = after
        var count: UInt64 = 0
        /// The store that is exported: a service may begin another one.
        var store: String?
        var bar = ProgressBar(isShown: Terminal.isError && (!Terminal.isOutput || output != nil))
        defer { bar.clear() }
        var writer = JSONWriter()
        while true {
            let query = filter.query + [("after", "\(after)"), ("limit", "10000")]
            let answer = try await connection.get("/v1/events", query)
            guard store == nil || answer["store"].text == store else {
                throw Failure("The service began a new log during the export.", remedy: "Run the same command again.")
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
            let (scanned, last) = (answer.count("scanned"), answer.count("last"))
            bar.update(LogProgress(stage: "export", done: min(scanned, last), total: last))
            if scanned <= after || scanned >= last { break }
            after = scanned
        }
        return count
    }
}
