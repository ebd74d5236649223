internal import ArgumentParser
internal import ProfileLogNativeAPI

/// What was typed, in the order that the argument parser wants: options that precede a subcommand come after it.
///
///     profilecli --store shop log --format json event jane hello
///     profilecli log event --store shop --format json jane hello
enum TypedArguments {
    /// The options that may precede a subcommand.
    private static let leading = ["--store", "--url", "--format"]

    /// `arguments` with the leading options after the subcommand; nil if there is no subcommand.
    ///
    /// Throws if a word is not a subcommand where one must be, or if a leading option has another value further on.
    static func arranged(_ arguments: [String]) throws -> [String]? {
        var command: any ParsableCommand.Type = ProfileCLI.self
        var (path, options, rest) = ([String](), [String](), arguments[...])
        while let word = rest.first {
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty || word.isEmpty || path.isEmpty && word == "help" { break }
            if let name = leading.first(where: { word == $0 || word.hasPrefix($0 + "=") }) {
                let count = word == name ? 2 : 1
                options += rest.prefix(count)
                rest = rest.dropFirst(count)
                continue
            }
            if word.hasPrefix("-") { break }
            guard let next = subcommands.first(where: { $0.configuration.commandName == word }) else {
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
            throw Failure("\(name) is given twice, with different values.", remedy: "Give it once.", status: .usage)
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
    ) -> Failure {
        let near = NearestNames(to: word, among: subcommands.compactMap { $0.configuration.commandName }).close
        let path = (["profilecli"] + path).joined(separator: " ")
        let guess = near.isEmpty ? "" : "Did you mean \(near.prefix(3).joined(separator: " or "))? "
        return Failure(
            "There is no command \(path) \(word).", remedy: "\(guess)See `\(path) --help` for all.", status: .usage)
    }
}
