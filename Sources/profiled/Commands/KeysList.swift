internal import ArgumentParser
internal import ProfileLog

/// `profiled keys list`
struct KeysList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "The keys, without their secrets.")

    @OptionGroup var store: StoreOptions

    @Flag(help: "One JSON object a line.")
    var json = false

    func run() throws {
        try KeysCommand.reporting {
            let keys = try store.knownKeys()
            for key in keys ?? [] { try KeysCommand.print(json ? Self.line(key) : Self.row(key)) }
            guard keys?.isEmpty ?? true else { return }
            let meaning = keys == nil ? "a service lets this machine in without one" : "nobody comes in"
            KeysCommand.note("There are no keys: \(meaning). Next: `profiled keys add --name NAME`.")
        }
    }

    private static func row(_ key: StoredKey) -> String {
        "\(key.id)  \(key.created)  \(key.name)  \(key.permissions.joined(separator: ","))"
    }

    private static func line(_ key: StoredKey) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.key("id")
        json.value(key.id)
        json.key("name")
        json.value(key.name)
        json.key("created")
        json.value(key.created)
        json.key("permissions")
        json.beginArray()
        for permission in key.permissions { json.value(permission) }
        json.endArray()
        json.endObject()
        return json.text
    }
}
