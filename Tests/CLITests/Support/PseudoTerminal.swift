import Foundation

/// A terminal of 80 columns that script(1) opens.
enum PseudoTerminal {
    private static let script = URL(filePath: "/usr/bin/script")

    /// All that `profilecli` writes to the terminal when a shell runs it with `command`, and `answers` are typed.
    static func output(
        of command: String, _ cli: CLI, _ environment: [String: String] = [:], answering answers: String? = nil
    ) throws -> String {
        let line = "stty cols 80 rows 24; '\(CLI.program.path)' \(command)"
        var variables = ["TERM": "xterm-256color", "SHELL": "/bin/sh"]
        variables.merge(environment) { $1 }
        return try cli.run(
            ["-qec", line, "/dev/null"], input: answers, environment: variables, command: script
        ).output
    }
}
