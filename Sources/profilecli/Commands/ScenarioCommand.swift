internal import ArgumentParser
internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// `profilecli scenario`
struct ScenarioCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        "scenario", "Play files of steps and expectations: devices, saves, launches, REST calls.",
        "docs/scenarios.md describes the files.",
        examples: """
            profilecli scenario new
            profilecli scenario run scenario.yaml
            """,
        subcommands: [ScenarioRun.self, ScenarioCheck.self, ScenarioNew.self, ScenarioSchemaCommand.self])
}

/// FILE …, of scenarios.
struct ScenarioFiles: ParsableArguments {
    @Argument(help: "Scenario files.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String]

    /// Reads all files. If some are wrong, a message names each, and nothing is played.
    func read() throws -> [Scenario] {
        var scenarios: [Scenario] = []
        var failures: [CommandError] = []
        for file in files {
            do throws(CommandError) { scenarios.append(try Scenario(path: file)) } catch { failures.append(error) }
        }
        guard let last = failures.popLast() else { return scenarios }
        for failure in failures { ProfileCLI.report(failure) }
        throw last
    }
}

/// `profilecli scenario run`
struct ScenarioRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "run", "Play scenarios, each on an empty store of its own.",
        """
        A scenario stops at its first step that fails; the others are played all the same. Exits with 0 if all are as \
        expected, with 1 if one is not, and with 64 if a file is wrong: then nothing is played. With --store all are \
        played on one store, which is kept. With --url of a `profiled --ephemeral` the service is emptied before each. \
        PROFILELOG_STORE and PROFILELOG_URL have no effect.
        """,
        examples: """
            profilecli scenario run scenario.yaml
            profilecli scenario run scenarios/*.yaml --report junit.xml
            profilecli scenario run scenario.yaml --watch
            profilecli scenario run scenario.yaml --url http://127.0.0.1:8080
            """)

    @OptionGroup var files: ScenarioFiles

    @Option(help: "A file for a report in JUnit's XML.", completion: .file())
    var report: String?

    @Flag(help: "Play again when a file changes, until Ctrl-C.")
    var watch = false

    @OptionGroup var place: PlaceOptions

    func run() async throws {
        Interrupt.watch()
        if watch { try await playForEver() }
        let passed = try await play(try files.read())
        if Interrupt.isRequested { throw ExitCode(Interrupt.status.rawValue) }
        if !passed { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    /// Plays `scenarios`, prints how it went and writes the report; whether all is as expected.
    private func play(_ scenarios: [Scenario]) async throws -> Bool {
        let place = try await ScenarioPlace(
            store: place.store, url: place.url, tls: place.tls)
        for scenario in scenarios { try place.check(scenario) }
        guard let report else { return try await play(scenarios, in: place).allPassed }
        // Opened first, so that a wrong path is refused before anything is played.
        let file = try OutputFile(report, mode: 0o644)
        return try await file.write { _ in
            let results = try await play(scenarios, in: place)
            if Interrupt.isRequested { throw ExitCode(Interrupt.status.rawValue) }
            try Output.write(Array(ScenarioReport.junit(results).utf8), to: file.descriptor)
            return results.allPassed
        }
    }

    private func play(_ scenarios: [Scenario], in place: ScenarioPlace) async throws -> [ScenarioResult] {
        var results: [ScenarioResult] = []
        for scenario in scenarios {
            let result = await ScenarioPlayer.play(scenario, in: place)
            if Interrupt.isRequested { break }
            try Output.print(self.place.isJSON ? [ScenarioReport.json(result)] : ScenarioReport.lines(result))
            results.append(result)
        }
        if Interrupt.isRequested {
            Output.message("Stopped by \(Interrupt.name); \(results.count) of \(scenarios.count) were played.")
        } else if !self.place.isJSON, scenarios.count > 1 {
            try Output.print(ScenarioReport.summary(results))
        }
        return results
    }

    // MARK: - Watching

    /// Plays whenever a file is another than before. A wrong file is an error that the next change may mend.
    private func playForEver() async throws -> Never {
        var seen: [String]?
        while !Interrupt.isRequested {
            let now = files.files.map(Self.mark)
            if now != seen {
                seen = now
                do { _ = try await play(try files.read()) } catch let error as CommandError { ProfileCLI.report(error) }
                if !Interrupt.isRequested { Output.message("Waiting for a change; Ctrl-C ends it.") }
            }
            for _ in 0..<10 where !Interrupt.isRequested { try await Task.sleep(for: .milliseconds(100)) }
        }
        throw ExitCode(Interrupt.status.rawValue)
    }

    /// Returns a mark that is another after a change of the file at `path`: its number, its size and when it was
    /// written.
    private static func mark(_ path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "" }
        return "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec)"
    }
}

extension [ScenarioResult] {
    fileprivate var allPassed: Bool { allSatisfy { $0.failure == nil } }
}

/// `profilecli scenario check`
struct ScenarioCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        "check", "Read scenarios and play nothing.",
        "Exits with 64 if a file is wrong, and says where and what to write instead.",
        examples: "profilecli scenario check scenarios/*.yaml")

    @OptionGroup var files: ScenarioFiles

    func run() throws {
        let steps = Number.counted(UInt64(try files.read().reduce(0) { $0 + $1.steps.count }), "step")
        Output.message("\(Number.counted(UInt64(files.files.count), "file")) with \(steps): nothing is wrong.")
    }
}

/// `profilecli scenario new`
struct ScenarioNew: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "new", "Write an example with comments: a scenario that passes.",
        "A file that is there already stays as it is.",
        examples: """
            profilecli scenario new
            profilecli scenario new scenarios/game.yaml
            """)

    @Argument(help: "The file (default: scenario.yaml).", completion: .file())
    var file = "scenario.yaml"

    func run() async throws {
        let shown = file.oneLine
        if !OutputFile.isStandardOutput(file), FileManager.default.fileExists(atPath: file) {
            throw CommandError("\(shown) is there already.", remedy: "Name another file.")
        }
        let output = try OutputFile(file, mode: 0o644)
        try await output.write { _ in try Output.write(Array(ScenarioExample.text.utf8), to: output.descriptor) }
        Output.message("Wrote \(shown). \(Suggestion.next("scenario run \(Shell.quoted(file))"))")
    }
}

/// `profilecli scenario schema`
struct ScenarioSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "schema", "Print the JSON Schema of scenario files, for editors.",
        examples: "profilecli scenario schema > scenario.schema.json")

    func run() throws { try Output.print(ScenarioSchema.lines) }
}
