internal import ArgumentParser
internal import Foundation

/// `profiled keys`
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
        } catch let error where !(error is ExitCode) {
            let failure = StartFailure(error, host: "", port: 0)
            note(failure.description)
            throw ExitCode.failure
        }
    }

    /// Prints a message for people, on standard error.
    static func note(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8)) }

    static func print(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
