import Foundation
import Synchronization
import TestSupport
import Testing

/// Runs the built `profilecli` as a process, on a store in a temporary folder of its own.
final class CLI: Sendable {
    private let temporary: TemporaryFolder
    /// The temporary folder; its stores are checked and it is removed with this.
    var folder: URL { temporary.url }
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

    init(_ ending: TemporaryFolder.Ending = .sound, location: SourceLocation = #_sourceLocation) throws {
        temporary = try .made(ending, prefix: "profilecli", location: location)
    }

    /// Makes a store whose file holds `data`.
    convenience init(
        _ data: Data, _ ending: TemporaryFolder.Ending = .sound, location: SourceLocation = #_sourceLocation
    ) throws {
        try self.init(ending, location: location)
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// Makes a copy of the store that `commands` made; `files` are in the folder. Many tests begin alike: each command
    /// runs once for all tests that begin with it.
    convenience init(
        after commands: [[String]], files: [String: String] = [:], _ ending: TemporaryFolder.Ending = .sound,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let store = try CLI.prepared.withLock { try CLI.store(after: Setup(commands: commands, files: files), &$0) }
        try self.init(store, ending, location: location)
        for (name, text) in files { _ = try write(text, as: name) }
    }

    private struct Setup: Hashable {
        var commands: [[String]]
        var files: [String: String]
    }

    private static let prepared = Mutex<[Setup: Data]>([:])

    private static func store(after setup: Setup, _ known: inout [Setup: Data]) throws -> Data {
        if let data = known[setup] { return data }
        var before = setup
        let command = before.commands.removeLast()
        let cli = try before.commands.isEmpty ? CLI() : CLI(store(after: before, &known))
        for (name, text) in setup.files { _ = try cli.write(text, as: name) }
        let outcome = try cli.run(command)
        try #require(outcome.status == 0, "\(command): \(outcome.errors)")
        // A scenario makes a store of its own.
        let name = command.firstIndex(of: "--store").map { command[$0 + 1] } ?? "store"
        let data = try Data(contentsOf: cli.folder.appending(path: "\(name)/data.mdb"))
        known[setup] = data
        return data
    }

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

    /// The files of the folder `name` in the temporary folder, by their paths in it; the lock of a backup is none.
    func contents(of name: String) throws -> [String: Data] {
        let root = folder.appending(path: name).path
        var files: [String: Data] = [:]
        for path in FileManager.default.enumerator(atPath: root)?.compactMap({ $0 as? String }) ?? [] {
            var isFolder: ObjCBool = false
            guard path != "lock", FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder),
                !isFolder.boolValue
            else { continue }
            files[path] = try Data(contentsOf: URL(filePath: "\(root)/\(path)"))
        }
        return files
    }

    /// Writes files, as `contents(of:)` gives them, into the folder `name`.
    func restore(_ files: [String: Data], as name: String) throws {
        for (path, data) in files {
            let file = folder.appending(path: "\(name)/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file)
        }
    }
}
