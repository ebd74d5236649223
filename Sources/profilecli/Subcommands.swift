internal import ArgumentParser
internal import ProfileLogAPI

/// The tree of commands, for words that are none of them.
enum Subcommands {
    /// Refuses the first of `arguments` that stands where a subcommand must and is none, and names those that it may have meant.
    static func check(_ arguments: some Sequence<String>) throws {
        var command: any ParsableCommand.Type = ProfileCLI.self
        var path = ["profilecli"]
        for argument in arguments {
            let subcommands = command.configuration.subcommands
            if argument.hasPrefix("-") || argument.isEmpty || subcommands.isEmpty { return }
            if path.count == 1, argument == "help" { return }
            guard let next = subcommands.first(where: { $0.configuration.commandName == argument }) else {
                throw unknown(argument, path, subcommands)
            }
            command = next
            path.append(argument)
        }
    }

    private static func unknown(
        _ word: String, _ path: [String], _ subcommands: [any ParsableCommand.Type]
    ) -> Failure {
        let near = NearestNames(to: word, among: subcommands.compactMap { $0.configuration.commandName }).close.prefix(
            3)
        let path = path.joined(separator: " ")
        let guess = near.isEmpty ? "" : "Did you mean \(near.joined(separator: " or "))? "
        return Failure(
            "There is no command \(path) \(word).", remedy: "\(guess)See `\(path) --help` for all.", status: .usage)
    }
}
