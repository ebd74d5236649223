internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "import", "Append events from JSON Lines or CSV, in chunks that a rerun skips.",
        """
        Each line is one event, in a short form of one of four kinds:
          {"kind":"custom_event","user":"jane","name":"a","properties":{"x":1}}
          {"kind":"custom_attribute","user":"jane","attributes":{"level":7}}
          {"kind":"user_attribute","user":"jane","attribute":"gender","value":"F"}
          {"kind":"purchase","user":"jane","product_id":"p1","currency":"EUR",
           "price":9.5,"quantity":1}   (on one line)
        Each may have its "time", as in "2026-01-31T23:59:59Z", or as a number of seconds, milliseconds or \
        microseconds since 1970, and its idempotency "key". Values and operations are those \
        of `log`: {"inc":1}, {"add":["a"]}, {"$time":"2026-01-31"}, null.

        Or as `profilecli export` writes it, of the kinds customEventLogged, customAttributesChanged, \
        userAttributesChanged, purchaseLogged, customEventSaved, customAttributesSaved and userAttributeSaved; \
        userCreated is skipped, since the first event makes its user, and so are objectsLeftOut, which is about \
        requests to another store, and erased events, which are counted. All others belong to their store and are \
        refused.

        1,000 lines at a time are stored, whole or not at all, under the file's name (or --name) and the number of the \
        first. So the same command, run again after a stop, with a corrected line or a file that has grown, goes on \
        where it stopped and stores nothing twice. With --id a line that comes again in any file is skipped by its ID. \
        A gzip file is unpacked as it is read.

        CSV (RFC 4180, with a header) and JSON Lines of other programs need a map: --suggest prints one, and \
        docs/import.md has examples: events of a shop, orders, and those of trackers.
        """,
        examples: """
            profilecli import events.jsonl
            profilecli generate --events 1000 | profilecli import - --name sample-1
            profilecli import events.jsonl.gz --id messageId --skip-invalid skipped.jsonl
            profilecli import --suggest orders.csv > map.yaml
            profilecli import orders.csv --map map.yaml
            profilecli import events.jsonl --url http://127.0.0.1:8080
            profilecli import --user-defaults group.com.example.app.plist
            """)

    @OptionGroup var place: PlaceOptions

    @Argument(
        help: "The file; - reads standard input.",
        completion: .file(extensions: ["jsonl", "json", "ndjson", "csv", "tsv", "gz"]))
    var file: String?

    @Option(help: "Identifies the input for a rerun (default: the file's own name).") var name: String?

    @Option(
        help: .init(
            "The field that identifies a line: one that was stored before, by any import, is skipped.",
            valueName: "field"))
    var id: String?

    @Option(
        help: .init(
            "Skip lines that cannot be imported, and write to this file which and why; exit status 1.",
            valueName: "file"), completion: .file())
    var skipInvalid: String?

    @Option(
        help: .init("How rows of CSV, or of other JSON, become events (docs/import.md).", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var map: String?

    @Flag(help: "Only print a map for the file, guessed from its first rows.") var suggest = false

    @Option(
        help: .init(
            "What separates the fields of CSV: a sign, tab or space (default: as the header shows).", valueName: "sign")
    )
    var delimiter: String?

    @Flag(help: "Each line has its own \"recorded_at\", ascending. For an empty store.") var recorded = false

    @Option(
        help: .init(
            "The unit of times that are numbers: s, ms or us (default: the one that gives the years 2000 to 2199).",
            valueName: "unit"))
    var timeUnit: EpochUnit?

    @Flag(help: "Take times before 1970 and more than a year ahead too, as from an export.") var anyTime = false

    @OptionGroup var userDefaults: UserDefaultsImportOptions

    mutating func validate() throws {
        guard userDefaults.file == nil else {
            let others = [id, skipInvalid, map, delimiter].contains { $0 != nil } || timeUnit != nil || anyTime
            if file == nil, name == nil, !others, !recorded, !suggest { return }
            throw ValidationError("--user-defaults imports its FILE only, without another file and other options.")
        }
        guard let file else { throw ValidationError("Name the file to import, or - for standard input.") }
        if recorded {
            guard place.url == nil else {
                throw ValidationError("--recorded fills an empty store by its own files. Omit --url.")
            }
            try place.refuseService()
        }
        if let name, name.isEmpty || name.utf8.count > 900 { throw ValidationError("--name must have 1 to 900 bytes.") }
        if let id, id.isEmpty || id.utf8.count > 255 { throw ValidationError("--id must have 1 to 255 bytes.") }
        if let delimiter {
            guard ImportMap.Delimiter(delimiter) != nil else {
                throw ValidationError("--delimiter must be one sign, tab or space.")
            }
            if map == nil, !suggest { throw ValidationError("--delimiter is for CSV. Add --map FILE.") }
        }
        if suggest, map != nil || id != nil || skipInvalid != nil || recorded {
            throw ValidationError("--suggest only prints a map. Omit the other options.")
        }
        let isTable = [".csv", ".tsv", ".csv.gz", ".tsv.gz"].contains { file.lowercased().hasSuffix($0) }
        if isTable, map == nil, !suggest {
            throw ValidationError(
                "CSV needs a map: `profilecli import --suggest \(Shell.quoted(file)) > map.yaml` writes one. "
                    + "Look at it, then add --map map.yaml.")
        }
    }

    func run() async throws {
        if let path = userDefaults.file {
            var work = try UserDefaultsImport(path: path, userDefaults)
            return try await work.run(place)
        }
        guard let file else { return }
        // Opened first: a missing file makes no store, and a signal still ends the wait for the writer of a pipe.
        let input = try InputFile(path: file)
        let delimiter = delimiter.flatMap { ImportMap.Delimiter($0) }
        if suggest {
            let suggestion = try ImportSuggestion(input, file: file, delimiter: delimiter)
            return try Output.print(suggestion.lines())
        }
        var source = ImportSource(delimiter: delimiter)
        var options = ImportOptions()
        if let map {
            var read = try YAMLFile.read(map, guide: "docs/import.md") { (text) throws(YAMLFileError) in
                try ImportMap(yaml: text)
            }
            if let id { read.identify(by: id) }
            if !recorded { read.omitRecording() }
            (source.map, options.idField) = (read, read.idColumn)
        } else {
            options.idField = id
        }
        if recorded { options.latestRecording = .now() }
        options.times = ImportTimes(unit: timeUnit, takesAny: anyTime, now: .now())
        let skipped = try skipInvalid.map { try SkippedLines($0, besides: input) }
        Interrupt.watch()
        let name = self.name ?? (file == "-" ? "stdin" : Self.name(of: file))
        let target: any ImportTarget
        if place.isService {
            options.keepsLines = true
            target = ImportService(
                connection: try place.connect(), name: name, idField: options.idField, sendsIDs: map != nil,
                times: options.times)
        } else {
            target = try ImportStore(place.path, mustBeEmpty: recorded)
        }
        var work = ImportRun(
            target: target, file: file, input, name: name, source, options, skipped: skipped)
        try await work.run()
        try Output.print([place.isJSON ? work.json() : work.summary()], after: work.done)
        if work.hasSkipped { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    /// The file's own name: a packed file has the name of the file in it.
    private static func name(of file: String) -> String {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        return name.hasSuffix(".gz") && name.utf8.count > 3 ? String(name.dropLast(3)) : name
    }
}

extension EpochUnit: ExpressibleByArgument {}
