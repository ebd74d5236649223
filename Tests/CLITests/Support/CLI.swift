import Foundation
import TestSupport
import Testing

/// Runs the built `profilecli` as a process, on a store in a temporary folder of its own.
final class CLI: Sendable {
    /// The temporary folder; removed with this.
    let folder: URL
    /// The store that commands use.
    var store: String { folder.appending(path: "store").path }
    /// The file of that store.
    var file: URL { folder.appending(path: "store/data.mdb") }

    /// The outcome of a run.
    struct Outcome: Sendable {
        let status: Int32
        let output: String
        let errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    init() throws {
        folder = TestFolders.new("profilecli")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Makes a store whose file holds `data`.
    convenience init(_ data: Data) throws {
        try self.init()
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
        try data.write(to: file)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The program.
    static let program = ChildProcess.built("profilecli")

    /// Runs `profilecli` with `arguments`, in the temporary folder, with `PROFILELOG_STORE` naming the store.
    @discardableResult
    func run(
        _ arguments: String..., input: String? = nil, environment: [String: String] = [:]
    ) throws -> Outcome {
        try run(arguments, input: input, environment: environment)
    }

    /// Runs `profilecli`, or `command` in place of it.
    @discardableResult
    func run(
        _ arguments: [String], input: String? = nil, environment: [String: String] = [:], command: URL? = nil
    ) throws -> Outcome {
        var variables = ["PATH": "/usr/bin:/bin", "PROFILELOG_STORE": store, "LANG": "C.UTF-8"]
        variables.merge(environment) { $1 }
        let run = UUID().uuidString
        let (output, errors) = (folder.appending(path: "\(run).out"), folder.appending(path: "\(run).err"))
        let inputFile = folder.appending(path: "\(run).in")
        try Data((input ?? "").utf8).write(to: inputFile)
        let process = try ChildProcess(
            command ?? Self.program, arguments, in: folder, environment: variables, input: .file(inputFile),
            output: .file(output), errors: .file(errors))
        return Outcome(
            status: process.waitForEnd(), output: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8))
    }

    /// Runs a shell script in which `$0` is `profilecli`, and `$@` are `arguments`.
    @discardableResult
    func shell(
        _ script: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> Outcome {
        try run(
            ["-c", script, Self.program.path] + arguments, environment: environment,
            command: URL(filePath: "/bin/bash"))
    }

    /// Runs `profilecli` and requires that it succeeds.
    @discardableResult
    func succeed(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> Outcome {
        try succeed(arguments, sourceLocation: sourceLocation)
    }

    @discardableResult
    func succeed(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) throws -> Outcome {
        let outcome = try run(arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)", sourceLocation: sourceLocation)
        return outcome
    }

    /// Writes `text` into a file of the temporary folder and gives its path.
    func write(_ text: String, as name: String) throws -> String {
        let url = folder.appending(path: name)
        try Data(text.utf8).write(to: url)
        return url.path
    }
}
