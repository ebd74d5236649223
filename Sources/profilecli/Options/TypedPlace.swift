internal import Synchronization

/// The store or service as it was named on the command line, for the commands that hints and remedies suggest: without it they
/// would work on another store.
enum TypedPlace {
    enum Place: Sendable {
        case store(String)
        case service(url: String)
    }

    private static let place = Mutex<Place?>(nil)

    /// Takes note of `--store` or `--url`; what the environment says needs no repetition.
    static func note(_ typed: Place) { place.withLock { $0 = typed } }

    /// Commands that work on a store's own files, and so have no `--url`.
    private static let storeOnly: Set<Substring> = ["check", "compact", "import", "replay", "simulate"]
    /// Commands that need neither.
    private static let placeless: Set<Substring> = ["generate"]

    /// `command`, which begins with the name of a subcommand, with the place behind it.
    static func completing(_ command: String) -> String {
        let words = command.split(separator: " ")
        guard let name = words.first, !placeless.contains(name), !words.contains("--help"), let place = typed
        else { return command }
        return switch place {
        case .store(let folder): "\(command) \(Shell.option("--store", folder))"
        case .service where storeOnly.contains(name): "\(command) --store FOLDER"
        case .service(let url): "\(command) \(Shell.option("--url", url))"
        }
    }

    /// `text` with the place behind every command that stands in it as `` `profilecli …` ``.
    static func completing(in text: String) -> String {
        let begin = "`profilecli "
        var parts = text.components(between: begin)
        for index in parts.indices.dropFirst() {
            guard let end = parts[index].firstIndex(of: "`") else { continue }
            let command = String(parts[index][..<end])
            let isPlaced = command.contains(" --store") || command.contains(" --url")
            parts[index] = (isPlaced ? command : completing(command)) + parts[index][end...]
        }
        return parts.joined(separator: begin)
    }

    private static var typed: Place? { place.withLock { $0 } }
}

extension String {
    /// The parts around each `separator`.
    fileprivate func components(between separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
