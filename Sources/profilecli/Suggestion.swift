internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI
internal import Synchronization

enum Suggestion {
    /// `Next: profilecli COMMAND`, with the store or service that was named.
    static func next(_ command: String) -> String { "Next: profilecli \(TypedPlace.completing(command))" }

    /// `profile USER` for a user of an answer. Who has only an address may have another one now: then by the Braze ID.
    static func profile(of user: JSONObject) -> String {
        guard let id = user["id"].text else { return "users" }
        guard UserID(id).isAddress else { return "profile \(Shell.user(id))" }
        return user["braze_id"].text.map { "profile braze:\($0)" } ?? "users"
    }

    static func launching(_ device: String) -> String {
        device == DefaultDevice.name ? "launch" : "launch \(Shell.device(device))"
    }

    /// Suggests the command after which an SDK sends that keeps items for the reason `why`; a launch, if it keeps
    /// nothing.
    static func afterQueueing(_ why: String?, _ device: String) -> String {
        let name = Shell.device(device)
        return switch why {
        case "offline": "device settings \(name) --online"
        case "disabled": "device settings \(name) --enable-sdk"
        case "no_instance": "push initialize \(name)"
        case "manual", "interval": "device send \(name)"
        default: launching(device)
        }
    }
}

/// The store or service that was named on the command line, for the commands in hints and remedies.
enum TypedPlace {
    enum Place: Sendable {
        case store(String)
        /// `--url`, and the files for TLS.
        case service([Part])
    }

    /// An option with its value.
    struct Part: Sendable {
        let name: String
        let value: String
    }

    private static let place = Mutex<Place?>(nil)

    /// Takes note of `--store` or `--url`; what the environment says needs no repetition.
    static func note(_ typed: Place) { place.withLock { $0 = typed } }

    /// Commands that work on a store's own files, and so have no `--url`.
    private static let storeOnly: Set<Substring> = [
        "backup", "check", "compact", "erasures", "replay", "restore", "simulate",
    ]
    /// Subcommands of `backup` that look at the backup alone.
    private static let ofBackup: Set<Substring> = ["verify", "list", "scrub"]
    /// Options of `replay` that a service has too.
    private static let shadowOptions: Set<Substring> = ["--shadow", "--swap", "--discard"]

    /// `command`, which begins with the name of a subcommand, followed by the place.
    static func completing(_ command: String) -> String {
        let words = command.split(separator: " ")
        guard let name = words.first, name != "generate", words.last != "--help", let place = place.withLock({ $0 })
        else { return command }
        if name == "backup", words.count > 1, ofBackup.contains(words[1]) { return command }
        return switch place {
        case .store(let folder): "\(command) \(Shell.option("--store", folder))"
        case .service
        where storeOnly.contains(name) && shadowOptions.isDisjoint(with: words)
            || words.starts(with: ["cluster", "leave"]):
            "\(command) --store FOLDER"
        case .service(let parts):
            ([command] + parts.map { Shell.option($0.name, $0.value) }).joined(separator: " ")
        }
    }

    /// `text` with the place added to every command that is written in it as `` `profilecli …` ``.
    static func completing(in text: String) -> String {
        text.replacing(/`profilecli ([^`]+)`/) { match in
            let command = String(match.output.1)
            let isPlaced = command.contains(" --store") || command.contains(" --url")
            return "`profilecli \(isPlaced ? command : completing(command))`"
        }
    }
}

/// Text as a shell reads it.
enum Shell {
    /// `text` as one word of a shell. What must not be printed, and a backquote, is made by printf(1).
    static func quoted(_ text: String) -> String {
        if !text.isPrintable || text.contains("`") { return printed(text) }
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || "0"..."9" ~= scalar || "-_./:@+=,%".unicodeScalars.contains(scalar)
        }
        return isPlain && !text.isEmpty && !text.hasPrefix("=") ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// Every byte but those of plain words as an octal escape: within `"$(printf '…')"` no shell reads them
    /// otherwise.
    private static func printed(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ":@_.".unicodeScalars.contains(scalar))
            let bytes = String(scalar).utf8.map { "\\" + String(Int($0) | 0o1000, radix: 8).dropFirst() }
            return isPlain ? String(scalar) : bytes.joined()
        }.joined()
        // Substitution takes line feeds at the end away, and this form, which not every shell has, does not.
        return text.utf8.last == 0x0A ? "$'\(escaped)'" : "\"$(printf '\(escaped)')\""
    }

    /// `option` and its value, also where that begins as an option does.
    static func option(_ option: String, _ value: String) -> String {
        option + (value.hasPrefix("-") ? "=" : " ") + quoted(value)
    }

    static func user(_ id: String) -> String { quoted(id.hasPrefix("-") ? "id:\(id)" : id) }
    static func device(_ name: String) -> String { name.hasPrefix("-") ? option("--device", name) : quoted(name) }
}

/// The device of requests that name none.
enum DefaultDevice { static let name = "phone" }

/// A command that its group runs by itself, and that takes arguments: `backup DIR` is `backup run DIR`.
protocol TakesArguments: ParsableCommand {}

/// The typed arguments, in the order that the argument parser wants: options that precede a subcommand come after it.
///
///     profilecli --store shop log --format json event jane hello
///     profilecli log event --store shop --format json jane hello
enum TypedArguments {
    private static let leading = ["--store", "--url", "--ca", "--certificate", "--certificate-key", "--format"]

    /// `arguments` with the leading options after the subcommand; nil if there is no subcommand. Throws for an unknown
    /// subcommand, and for a leading option with another value further on.
    static func arranged(_ arguments: [String]) throws -> [String]? {
        var command: any ParsableCommand.Type = ProfileCLI.self
        var (path, options, rest) = ([String](), [String](), arguments[...])
        while let word = rest.first {
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty || word.isEmpty { break }
            if path.isEmpty, word == "help" {
                // It knows no command that does not exist.
                _ = try arranged(Array(rest.dropFirst()))
                break
            }
            if let name = leading.first(where: { word == $0 || word.hasPrefix($0 + "=") }) {
                let count = word == name ? 2 : 1
                options += rest.prefix(count)
                rest = rest.dropFirst(count)
                continue
            }
            if word.hasPrefix("-") { break }
            guard let next = subcommands.first(where: { $0.configuration.commandName == word }) else {
                if command.configuration.defaultSubcommand is any TakesArguments.Type { break }
                throw unknown(word, path, subcommands)
            }
            command = next
            path.append(word)
            rest = rest.dropFirst()
        }
        if path.isEmpty { return nil }
        // A group alone shows its help, and has no options.
        let isGroup = !command.configuration.subcommands.isEmpty && command.configuration.defaultSubcommand == nil
        if isGroup || options.isEmpty { return path + rest }
        for name in leading where values(of: name, in: options + rest.prefix { $0 != "--" }).count > 1 {
            throw CommandError(
                "\(name) is given twice, with different values.", remedy: "Give it once.", status: .usage)
        }
        return path + options + rest
    }

    private static func values(of name: String, in words: [String]) -> Set<String> {
        var values = Set(words.filter { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) })
        for (word, next) in zip(words, words.dropFirst()) where word == name { values.insert(next) }
        return values
    }

    private static func unknown(
        _ word: String, _ path: [String], _ subcommands: [any ParsableCommand.Type]
    ) -> CommandError {
        let near = NearestNames(to: word, among: subcommands.compactMap { $0.configuration.commandName }).close
        let path = (["profilecli"] + path).joined(separator: " ")
        let guess = near.isEmpty ? "" : "Did you mean \(near.prefix(3).joined(separator: " or "))? "
        return CommandError(
            "There is no command \(path) \(word).", remedy: "\(guess)See `\(path) --help` for all.", status: .usage)
    }
}

/// The options of the command line, as they were typed.
enum TypedOption {
    static func isGiven(_ name: String) -> Bool {
        CommandLine.arguments.contains { $0 == name || $0.hasPrefix(name + "=") }
    }

    /// The one of `names` that was typed, for an option with several; the first one if it was none of them.
    static func typed(of names: String...) -> String { names.first(where: isGiven) ?? names[0] }
}
