internal import ArgumentParser

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
            let meaning =
                keys == nil
                ? "a service accepts requests from this machine without one"
                : "a service refuses every request"
            KeysCommand.note("There are no keys: \(meaning). Next: `profiled keys add --name NAME`.")
        }
    }

    private static func row(_ key: StoredKey) -> String {
        "\(key.id)  \(key.created)  \(key.name)  \(key.permissions.joined(separator: ","))"
    }

    private static func line(_ key: StoredKey) -> String {
        let line: JSONLiteral = [
            "id": .string(key.id), "name": .string(key.name), "created": .string(key.created),
            "permissions": .array(key.permissions.map { .string($0) }),
        ]
        return String(decoding: line.bytes, as: UTF8.self)
    }
}
