internal import ArgumentParser
internal import Foundation
internal import ProfileLog
internal import ProfileLogRequests

struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make, list and revoke the keys that requests need.",
        discussion: """
            As soon as there is a file of keys, every request needs a key with a permission for it. The file keeps \
            only hashes. A running service sees a change with the next request.
            """,
        subcommands: [KeysAdd.self, KeysList.self, KeysRevoke.self])

    /// Runs `body`, and prints a failure as the service does.
    static func reporting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            StartError(error, host: "", port: 0).report()
            throw ExitCode.failure
        }
    }
}

struct KeysAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Make a key, which is shown only once.",
        discussion: """
            Permissions are named as Braze names them (users.track, users.export.ids, …); v1.read and v1.write are \
            for the native API, v1.cluster is for a node that joins and for changes of the stream, metrics is for \
            /metrics, and all is for everything. The status of a cluster needs v1.read.

            EXAMPLES
              profiled keys add --name app --permissions users.track,users.export.ids
              profiled keys add --name join --permissions v1.cluster,v1.read
            """)

    @OptionGroup var store: StoreOptions
    @Option(help: "What to call it: who uses it.") var name: String

    @Option(help: ArgumentHelp("What it may do, with commas between; `all` unless given.", valueName: "names"))
    var permissions = "all"

    private var permissionNames: [String] {
        permissions.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    func validate() throws {
        if name.isEmpty || name.utf8.count > 200 || name.unicodeScalars.contains(where: { $0.value < 0x20 }) {
            throw ValidationError("--name must have 1 to 200 bytes, on one line.")
        }
        let known = API.table.permissions + ["metrics", "all"]
        if permissionNames.isEmpty { throw ValidationError("--permissions must name at least one.") }
        for name in permissionNames where !known.contains(name) {
            throw ValidationError("\(name) is not a permission; the permissions are \(known.joined(separator: ", ")).")
        }
    }

    func run() throws {
        try KeysCommand.reporting {
            let store = try store.place()
            let key = APIKey.random()
            // The store comes first: a folder with other files in it cannot become a store.
            let log =
                try store.keys == nil
                ? EventLog(path: store.path, create: true, projections: RequestStore.projections) : nil
            try store.keyFile.update { keys in
                guard !keys.contains(where: { $0.name == name }) else {
                    throw StartError(
                        "There is already a key called \(name).",
                        remedy: "Take another name, or first revoke the old key with `profiled keys revoke`.")
                }
                let created = Timestamp.now().rfc3339()
                keys.append(StoredKey(key, name: name, created: created, permissions: permissionNames))
            }
            // Else the service does it at its start.
            try? log?.noteKeys()
            // The key is valid now, whatever the disk says, and cannot be shown again.
            let synced = Result { () throws(StartError) in try store.keyFile.sync() }
            try Console.print(key.text)
            try synced.get()
            Console.note(
                "The key \(name) is shown only this once; \(store.keyFile.path) keeps its hash.",
                "Send it as `Authorization: Bearer KEY`: a service with this file now refuses requests without a key.")
        }
    }
}

struct KeysList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "The keys, without their secrets.")

    @OptionGroup var store: StoreOptions
    @Flag(help: "One JSON object a line.") var json = false

    func run() throws {
        try KeysCommand.reporting {
            let keys = try store.place().knownKeys()
            if let keys, !keys.isEmpty { return try print(keys) }
            let meaning =
                keys == nil
                ? "a service accepts requests from this machine without one" : "a service refuses every request"
            Console.note("There are no keys: \(meaning). Next: `profiled keys add --name NAME`.")
        }
    }

    private func print(_ keys: [StoredKey]) throws {
        if json {
            for key in keys {
                let line: AttributeValue = [
                    "id": .string(key.id), "name": .string(key.name), "created": .string(key.created),
                    "permissions": .array(key.permissions.map { .string($0) }),
                ]
                try Console.print(line.json)
            }
            return
        }
        let rows =
            [["ID", "CREATED", "NAME", "PERMISSIONS"]]
            + keys.map { [$0.id, $0.created, $0.name, $0.permissions.joined(separator: ",")] }
        try Console.printTable(rows)
    }
}

struct KeysRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Make a key invalid, for ever.",
        discussion: """
            A running service sees this with the next request. After the last key is revoked, every request is \
            refused, until there is another key or the file is removed.
            """)

    @OptionGroup var store: StoreOptions
    @Argument(help: "Its ID or its name, as `list` shows them.") var key: String

    func run() throws {
        try KeysCommand.reporting {
            let unknown = StartError(
                "There is no key with the ID or name \(key).", remedy: "`profiled keys list` shows the keys.")
            let store = try store.place()
            guard try store.knownKeys() != nil else { throw unknown }
            let name = try store.keyFile.update { keys in
                guard let place = keys.firstIndex(where: { $0.id == key || $0.name == key }) else { throw unknown }
                return keys.remove(at: place).name
            }
            try store.keyFile.sync()
            try Console.print("The key \(name) is revoked.")
        }
    }
}
