internal import ArgumentParser
internal import Foundation
internal import ProfileLog
internal import ProfileLogRequests

/// `profiled keys add`
struct KeysAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Make a key, which is shown only once.",
        discussion: """
            Permissions are named as Braze names them (users.track, users.export.ids, …); v1.read and v1.write are for the \
            native API, metrics is for /metrics, and all is for everything.

            EXAMPLES
              profiled keys add --name app --permissions users.track,users.export.ids
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: "What to call it: who uses it.")
    var name: String

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
            throw ValidationError("\(name) is no permission; the permissions are \(known.joined(separator: ", ")).")
        }
    }

    func run() throws {
        try KeysCommand.reporting {
            let key = APIKey.random()
            // The store comes first: a folder with other files in it cannot become a store.
            if store.keys == nil {
                _ = try EventLog(path: store.path, create: true, projections: RequestStore.projections)
            }
            try store.keyFile.update { keys in
                guard !keys.contains(where: { $0.name == name }) else {
                    throw StartFailure(
                        "There is already a key called \(name).",
                        remedy: "Take another name, or first revoke the old key with `profiled keys revoke`.")
                }
                keys.append(
                    StoredKey(
                        key, name: name, created: Timestamp.now().rfc3339(), permissions: permissionNames))
            }
            // The key is valid now, whatever the disk says, and cannot be shown again.
            let synced = Result { () throws(StartFailure) in try store.keyFile.sync() }
            try KeysCommand.print(key.text)
            try synced.get()
            KeysCommand.note(
                """
                The key \(name) is shown only this once; \(store.keyFile.path) keeps its hash.
                Send it as `Authorization: Bearer KEY`: a service with this file now refuses requests without a key.
                """)
        }
    }
}
