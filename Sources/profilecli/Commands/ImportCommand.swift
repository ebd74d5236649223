internal import ArgumentParser
internal import ProfileLog

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "import", "Append events from JSON Lines, in chunks that a rerun skips.",
        """
        Each line is one event, in a short form of one of four kinds:
          {"kind":"custom_event","user":"jane","name":"a","properties":{"x":1}}
          {"kind":"custom_attribute","user":"jane","attributes":{"level":7}}
          {"kind":"user_attribute","user":"jane","attribute":"gender","value":"F"}
          {"kind":"purchase","user":"jane","product_id":"p1","currency":"EUR",
           "price":9.5,"quantity":1}   (on one line)
        Each may have its "time", as in "2026-01-31T23:59:59Z".

        Or as `profilecli export` writes it, of the kinds customEventLogged, customAttributesChanged, \
        userAttributesChanged, purchaseLogged, customEventSaved, customAttributesSaved and userAttributeSaved; \
        userCreated is skipped, since the first event makes its user, and so are objectsLeftOut, which is about \
        requests to another store, and erased events, which are counted. All others belong to their store and are \
        refused.

        1,000 lines at a time are stored, whole or not at all, under the file's name (or --name) and the number of the \
        first. So the same command, run again after a stop, with a corrected line or a file that has grown, goes on \
        where it stopped and stores nothing twice.
        """,
        examples: """
            profilecli import events.jsonl
            profilecli generate --events 1000 | profilecli import - --name sample-1
            zcat events.jsonl.gz | profilecli import - --name events
            profilecli import --user-defaults group.com.example.app.plist
            """)

    @OptionGroup var place: PlaceOptions

    @Argument(help: "The file; - reads standard input.", completion: .file(extensions: ["jsonl", "json", "ndjson"]))
    var file: String?

    @Option(help: "Identifies the input for a rerun (default: the file's own name).") var name: String?
    @OptionGroup var userDefaults: UserDefaultsImportOptions

    mutating func validate() throws {
        guard userDefaults.file == nil else {
            if file == nil, name == nil { return }
            throw ValidationError("--user-defaults imports its FILE only, without another file and without --name.")
        }
        guard file != nil else { throw ValidationError("Name the file to import, or - for standard input.") }
        try place.refuseService()
        if let name, name.isEmpty || name.utf8.count > 900 { throw ValidationError("--name must have 1 to 900 bytes.") }
    }

    func run() async throws {
        if let path = userDefaults.file {
            var work = try UserDefaultsImport(path: path, userDefaults)
            return try await work.run(place)
        }
        guard let file else { return }
        // Opened first: a missing file makes no store, and a signal still ends the wait for the writer of a pipe.
        let input = try InputFile(path: file)
        Interrupt.watch()
        let target = try ImportTarget(place.path)
        let name = self.name ?? (file == "-" ? "stdin" : file.split(separator: "/").last.map(String.init) ?? file)
        var work = ImportRun(target: target, file: file, input, name: name)
        try work.run()
        try Output.print([place.isJSON ? work.json() : work.summary()], after: work.done)
    }
}
