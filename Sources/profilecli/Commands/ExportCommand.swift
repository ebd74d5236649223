internal import ArgumentParser
internal import ProfileLog

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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
              profilecli export --kind customEventLogged --kind purchaseLogged | profilecli import - --store other
              profilecli export --user-defaults group.com.company.app.plist --device phone-1
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
        var descriptor = STDOUT_FILENO
        if let output {
            descriptor = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else {
                throw Failure(
                    "The file \(output) cannot be written: \(String(cString: strerror(errno))).",
                    remedy: "Check the path and the folder's permissions.")
            }
        }
        var after = after
        var count: UInt64 = 0
        var bar = ProgressBar(isShown: Terminal.isError && (!Terminal.isOutput || output != nil))
        var writer = JSONWriter()
        while true {
            let query = filter.query + [("after", "\(after)"), ("limit", "10000")]
            let answer = try await connection.get("/v1/events", query)
            for event in answer["events"].elements {
                writer.value(event)
                writer.endLine()
                count += 1
            }
            try Output.write(writer.bytes, to: descriptor)
            writer = JSONWriter()
            let scanned = UInt64(max(0, answer["scanned"].integer ?? 0))
            let last = UInt64(max(0, answer["last"].integer ?? 0))
            bar.update(LogProgress(stage: "export", done: min(scanned, last), total: last))
            if scanned <= after || scanned >= last { break }
            after = scanned
        }
        bar.clear()
        if let output {
            close(descriptor)
            Output.message("Wrote \(Number.counted(count, "event")) to \(output).")
        }
    }
}
