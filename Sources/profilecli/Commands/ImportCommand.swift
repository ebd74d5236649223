internal import ArgumentParser
internal import ProfileLog

/// `profilecli import`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Append events from JSON Lines, in chunks that a rerun skips.",
        discussion: """
            Each line is one event, in the form that `profilecli export` writes or in a short form:
              {"kind":"custom_event","user":"jane","time":"2026-01-01T00:00:00Z","name":"played song","properties":{"minutes":3}}
              {"kind":"custom_attribute","user":"jane","time":"2026-01-01T00:00:01Z","attributes":{"level":7}}
              {"kind":"user_attribute","user":"jane","time":"2026-01-01T00:00:02Z","attribute":"email","value":"jane@example.org"}
              {"kind":"purchase","user":"jane","product_id":"p1","currency":"EUR","price":9.5,"quantity":1}

            1,000 lines at a time are stored, whole or not at all, under the file's name (or --name) and the number of the first. So \
            the same command, run again after a stop or a corrected line, goes on where it stopped and stores nothing twice.

            EXAMPLES
              profilecli import events.jsonl
              profilecli generate --events 100000 --users 5000 | profilecli import - --name sample-1
              zcat events.jsonl.gz | profilecli import - --name events
            """)

    @OptionGroup var store: StoreOnlyOption
    @OptionGroup var output: FormatOption

    @Argument(help: "The file; - reads standard input.", completion: .file(extensions: ["jsonl", "json", "ndjson"]))
    var file: String

    @Option(name: .long, help: "What a rerun is recognised by; the file's own name unless given.")
    var name: String?

    mutating func validate() throws {
        if let name, name.isEmpty || name.utf8.count > 900 { throw ValidationError("--name must have 1 to 900 bytes.") }
    }

    func run() throws {
        Interrupt.watch()
        let log = try openAfterFile()
        let name = self.name ?? (file == "-" ? "stdin" : file.split(separator: "/").last.map(String.init) ?? file)
        var work = ImportRun(log: log, file: file, name: name)
        try work.run()
        try Output.print(output.isJSON ? work.json() : work.summary())
    }

    /// A missing file must not leave an empty store behind.
    private func openAfterFile() throws -> EventLog {
        if file != "-" { _ = try LineReader(path: file, blockBytes: 1) }
        return try store.open(create: true)
    }
}
