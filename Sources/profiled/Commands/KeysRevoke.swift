internal import ArgumentParser

/// `profiled keys revoke`
struct KeysRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Make a key invalid, for ever.",
        discussion: """
            A running service sees this with the next request. After the last key is revoked, every request is refused, until \
            there is another key or the file is removed.
            """)

    @OptionGroup var store: StoreOptions

    @Argument(help: "Its ID or its name, as `list` shows them.")
    var key: String

    func run() throws {
        try KeysCommand.reporting {
            let unknown = StartFailure(
                "There is no key with the ID or name \(key).",
                remedy: "`profiled keys list` shows the keys.")
            guard try store.knownKeys() != nil else { throw unknown }
            let name = try store.keyFile.update { keys in
                guard let place = keys.firstIndex(where: { $0.id == key || $0.name == key }) else { throw unknown }
                return keys.remove(at: place).name
            }
            try store.keyFile.sync()
            try KeysCommand.print("The key \(name) is revoked.")
        }
    }
}
