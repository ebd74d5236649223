internal import ArgumentParser
internal import ProfileLog

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "doctor", "Look at a store or a service, its disk and its machine, and say what to do.",
        """
        Looks at the file system, owners and modes, disk, memory, keys, limits, clock, free pages, readers, caches and \
        a sample of the records; with --url at what the service tells: its health and its metrics. Changes nothing. \
        Each line is ok, a warning or an error; the end says what to do, in order.

        EXIT STATUS: 0 without an error, also with warnings; 1 with one.
        """,
        examples: """
            profilecli doctor
            profilecli doctor --store /var/lib/profilelog --deep
            profilecli doctor --backup /backup/profilelog
            profilecli doctor --url http://127.0.0.1:8080 --format json
            """)

    @Flag(help: "Also read everything, and compare every state with the log: as `check --replay`.") var deep = false

    @Option(
        help: .init("The folder of the store's backup: how old it is, and where.", valueName: "folder"),
        completion: .directory)
    var backup: String?

    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if place.isService, deep || backup != nil {
            throw ValidationError("--deep and --backup are for a store's own files. Omit them, or omit --url.")
        }
        if backup == "" { throw ValidationError("--backup must not be empty. Name a folder, or omit it.") }
    }

    func run() async throws {
        var list = FindingList(isJSON: place.isJSON)
        if place.isService {
            try await ServiceDoctor(place.connect()).run { try list.add($0) }
        } else {
            try StoreDoctor(path: place.path, isDeep: deep, backup: backup).run { try list.add($0) }
        }
        try list.end()
        if list.hasErrors { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
