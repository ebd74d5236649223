internal import ArgumentParser
internal import CProgram
internal import Foundation
internal import ProfileLog
internal import ProfileLogBackup
internal import ProfileLogNativeAPI

@main
struct ProfileCLI: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profilecli",
        abstract: "Save, launch, look up and replay: user profiles from an event log.",
        discussion: """
            Everything that is saved or logged is an event in a store: the folder named by --store, by \
            PROFILELOG_STORE, or ./profilelog. With --url (or PROFILELOG_URL) the same commands talk to a running \
            profiled, with the key in PROFILELOG_KEY if it asks for one, and a certificate that only --ca (or \
            PROFILELOG_CA) knows; --certificate and --certificate-key are for one that asks for yours. These options, and \
            --store, --url and --format, may come before or after the subcommand.

            \(HelpTopic.user.text)

            \(HelpTopic.when.text)

            `profilecli help TOPIC` explains one of \(HelpTopic.names). Help that is longer than a terminal goes \
            through $PAGER (less, if unset), unless --no-pager comes first.

            EXAMPLES
              profilecli log event jane "played song" -p minutes=3
              profilecli save attribute jane level=7
              profilecli pending
              profilecli launch
              profilecli device settings --offline
              profilecli profile jane
              profilecli history jane
              profilecli --store shop log event jane visited
              profilecli generate --events 100000 --users 5000 | profilecli import -
              profilecli replay --verify

            \(HelpTopic.exitCodes.text)
            """,
        version: version,
        groupedSubcommands: [
            ArgumentParser.CommandGroup(
                name: "Save and log",
                subcommands: [
                    SaveCommand.self, LogCommand.self, TagCommand.self, ChangeUserCommand.self,
                    VoidingCommand<VoidCommand>.self, VoidingCommand<UnvoidCommand>.self,
                ]),
            ArgumentParser.CommandGroup(
                name: "Device and message",
                subcommands: [
                    LaunchCommand.self, DeviceCommand.self, PendingCommand.self, RejectedCommand.self,
                    PushCommand.self, MessagesCommand.self, SendsCommand.self, ScenarioCommand.self,
                ]),
            ArgumentParser.CommandGroup(
                name: "Look up",
                subcommands: [
                    ProfileCommand.self, HistoryCommand.self, UsersCommand.self, NamesCommand.self,
                    TraitsCommand.self, TailCommand.self, StatsCommand.self,
                ]),
            ArgumentParser.CommandGroup(
                name: "Ask why, and what if",
                subcommands: [
                    BlameCommand.self, ExplainCommand.self, DiffCommand.self, WhatIfCommand.self, FoldCommand.self,
                    RulesCommand.self,
                ]),
            ArgumentParser.CommandGroup(
                name: "Import and export",
                subcommands: [
                    ImportCommand.self, ExportCommand.self, GenerateCommand.self, SimulateCommand.self,
                ]),
            ArgumentParser.CommandGroup(
                name: "Store and backup",
                subcommands: [
                    CheckCommand.self, DoctorCommand.self, ReplayCommand.self, CompactCommand.self, EraseCommand.self,
                    ErasuresCommand.self, BackupCommand.self, RestoreCommand.self, ClusterCommand.self,
                    KeyCommand.self,
                ]),
        ])

    static let version = ProgramVersion.text(commit: String(cString: profilelog_commit()))

    static func main() async {
        Output.holdStandardDescriptors()
        signal(SIGPIPE, SIG_IGN)
        if ProgramArguments.areHidden(count: profilelog_argument_count()) {
            end(by: CommandError(ProgramArguments.hiddenFact, remedy: ProgramArguments.hiddenRemedy))
        }
        refuseForeignText()
        BrokenPage.endProcess(
            withStatus: ExitStatus.damaged.rawValue,
            saying: "Error: A page of the store's file is broken.\n"
                + StorageError.brokenPage(operation: "read").commandRemedy + "\n")
        do {
            try await work()
        } catch is Output.ReaderHasGone {
        } catch let error as ExitCode {
            endProcess(error.rawValue)
        } catch  where isParserError(error) {
            // The message repeats what was typed, which may have line feeds of its own.
            let message = CommandLine.arguments.filter { !$0.isPrintable }.reduce(fullMessage(for: error)) {
                $0.replacing($1, with: $1.oneLine)
            }
            message.components(separatedBy: "\n").forEach(Output.message)
            endProcess(exitCode(for: error).rawValue)
        } catch let error as WrongUsage {
            Output.message("Error: \(error.message)")
            error.usage.components(separatedBy: "\n").forEach(Output.message)
            endProcess(ExitStatus.usage.rawValue)
        } catch {
            end(by: CommandError(error))
        }
        endProcess(ExitStatus.done.rawValue)
    }

    /// Wrong arguments that a command finds as it runs: the argument parser would show how to use the program alone.
    private struct WrongUsage: Error {
        let message: String
        let command: any ParsableCommand.Type

        /// The usage, as the argument parser words it for the errors that it finds itself.
        var usage: String {
            let usage = ProfileCLI.usageString(for: command)
            let name = usage.split(separator: " ").prefix { !"<[-(".contains($0.first ?? "<") }.joined(separator: " ")
            let indented = usage.replacing("\n", with: "\n" + String(repeating: " ", count: 7))
            return "Usage: \(indented)\n  See '\(name) --help' for more information."
        }
    }

    /// Runs the command that was typed, or prints the help, the version or completions.
    private static func work() async throws {
        do {
            var arguments = Array(CommandLine.arguments.dropFirst())
            // Scripts ask it often, and the argument parser needs a quarter of the time of a start.
            if arguments == ["--version"] { return try Output.write(Array("\(version)\n".utf8)) }
            if arguments.first == "--no-pager" {
                Pager.isWanted = false
                arguments.removeFirst()
            }
            if let topic = HelpTopic(asked: arguments) { return try Pager.show(topic.text + "\n") }
            let arranged = try TypedArguments.arranged(arguments)
            var command = try arranged.map { try parsed($0) } ?? WithoutSubcommand.parseAsRoot(arguments)
            do {
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            } catch let error as ValidationError {
                throw WrongUsage(message: error.message, command: type(of: command))
            }
        } catch  where isParserError(error) && exitCode(for: error).isSuccess {
            // Texts of the program only: help, version, completions.
            try Pager.show(WithoutSubcommand.fullMessage(for: error) + "\n")
        }
    }

    /// Parses `words`, which begin with the path of a command.
    ///
    /// That command parses its own words. On the way from the root the argument parser makes all of the command's
    /// options once more, in a debug build a sixth of the time of a start. What the command refuses, and a request for
    /// help, is parsed from the root, which knows how to word it.
    private static func parsed(_ words: [String]) throws -> any ParsableCommand {
        var (command, rest): (any ParsableCommand.Type, ArraySlice<String>) = (ProfileCLI.self, words[...])
        while let word = rest.first,
            let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word })
        {
            (command, rest) = (next, rest.dropFirst())
        }
        if command.configuration.subcommands.isEmpty, let parsed = try? command.parseAsRoot(Array(rest)),
            type(of: parsed) == command
        {
            return parsed
        }
        return try parseAsRoot(words)
    }

    /// Tells whether the argument parser words `error`: wrong usage, or a request for help. A status alone needs no
    /// words.
    private static func isParserError(_ error: any Error) -> Bool {
        if error is ExitCode { return false }
        return error is ValidationError || error is CleanExit
            || String(reflecting: type(of: error)).hasPrefix("ArgumentParser.")
    }

    private static func end(by failure: CommandError) -> Never {
        report(failure)
        endProcess(failure.status.rawValue)
    }

    /// Says why something failed, and the next step.
    static func report(_ failure: CommandError) {
        let (message, remedy) = (TypedPlace.completing(in: failure.message), TypedPlace.completing(in: failure.remedy))
        Output.message(Style.red("Error: ", if: Terminal.hasErrorColours) + message)
        if !remedy.isEmpty { Output.message(remedy) }
    }

    /// Swift repairs arguments that are not UTF-8, so another name than the typed one would be stored.
    private static func refuseForeignText() {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let bytes = UnsafeRawBufferPointer(start: argument, count: strlen(argument))
            if String(validating: bytes, as: UTF8.self) != nil { continue }
            end(
                by: CommandError(
                    "Argument \(index) is not valid UTF-8.", remedy: "Set the terminal to UTF-8 and type it again.",
                    status: .usage))
        }
    }
}

/// The program without a subcommand: its help and its completions show the options that may precede one.
private struct WithoutSubcommand: ParsableCommand {
    static let configuration = ProfileCLI.configuration

    @OptionGroup var place: PlaceOptions
}

/// A command that does nothing without one of its subcommands: by itself it prints its help and exits with 64.
protocol CommandGroup: ParsableCommand {}

extension CommandGroup {
    mutating func run() throws {
        ProfileCLI.helpMessage(for: Self.self).components(separatedBy: "\n").forEach(Output.message)
        throw ExitCode(ExitStatus.usage.rawValue)
    }
}

extension CommandConfiguration {
    /// Makes the help of a subcommand: one sentence, more if it needs more, and examples.
    init(
        _ name: String, _ abstract: String, _ discussion: String = "", examples: String,
        subcommands: [any ParsableCommand.Type] = [], defaultSubcommand: (any ParsableCommand.Type)? = nil
    ) {
        let examples = (["EXAMPLES"] + examples.split(separator: "\n")).joined(separator: "\n  ")
        self.init(
            commandName: name, abstract: abstract,
            discussion: discussion.isEmpty ? examples : "\(discussion)\n\n\(examples)", subcommands: subcommands,
            defaultSubcommand: defaultSubcommand)
    }
}

/// Ends the process at once. `ParsableCommand` has an `exit` of its own, which hides the system's.
func endProcess(_ status: Int32) -> Never { exit(status) }

/// The exit status of the program. The numbers are a contract.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// The store is damaged, or `replay --verify` or `whatif --fail-on-difference` found a difference.
    case damaged = 2
    case usage = 64
    case unwritable = 74
    /// Another append came first, or the idempotency key has other content.
    case conflict = 75
    case interrupted = 130
    case terminated = 143
}

/// The reason why a command failed: one sentence, the next step, and the exit status.
struct CommandError: Error {
    var message: String
    var remedy: String
    var status: ExitStatus
    /// Nothing listens at the address of a service.
    var isUnreached = false

    init(_ message: String, remedy: String, status: ExitStatus = .failed) {
        (self.message, self.remedy, self.status) = (message, remedy, status)
    }

    init(_ error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as Output.CannotWrite:
            self.init("The output cannot be written: \(error.reason).", remedy: error.remedy, status: .unwritable)
        case AppendError.refused(.diskFull), StorageError.diskFull:
            self.init(StorageError.diskFull.description, remedy: Self.diskFullRemedy)
        case let error as AppendError:
            self.init(error.description, remedy: error.commandRemedy, status: error.exitStatus)
        case let error as StorageError:
            self.init(error.description, remedy: error.commandRemedy, status: error.isDamage ? .damaged : .failed)
        case let error as RestoreError: self.init(error.description, remedy: error.remedy)
        case let error as BackupError:
            self.init(error.description, remedy: error.remedy, status: error.isDamage ? .damaged : .failed)
        case let error as MomentError: self.init(error.description, remedy: error.commandRemedy)
        case let error as ScratchFolder.FolderError: self.init(error.description, remedy: error.remedy)
        case let error as JSONError: self.init(error.description, remedy: "Correct it and run the command again.")
        default:
            self.init(
                "The command failed for an unexpected reason.",
                remedy: "Run `profilecli check`, and report what you did: \(type(of: error)).")
        }
    }
}

extension AppendError {
    var exitStatus: ExitStatus {
        switch self {
        case .versionConflict, .conflict, .keyReused, .overloaded, .closed, .unavailable: .conflict
        case .refused(let error) where error.isDamage: .damaged
        case .invalid, .unknownUser, .unknownDevice, .pendingFull, .tooLarge, .refused: .failed
        case .outcomePending, .outcomeUnknown: .failed
        }
    }
}

// MARK: - Refusals of the API

extension CommandError {
    /// Translates a refusal of the API for someone who typed a command.
    init(_ answer: JSONObject, status: Int) {
        let code = answer["code"].text ?? ""
        // With the option in place of the request's field.
        let (place, reason) = (answer["place"].text, answer["reason"].text)
        // A device can be an argument too.
        let isState = place == "device" && reason?.hasPrefix("must") == false
        let typed = place.flatMap { isState ? "The device" : Self.typedName($0) }.flatMap { typed in
            reason.map { "\(typed) \($0)." }
        }
        self.init(
            typed ?? answer["error"].text ?? "The request failed with status \(status).",
            remedy: Self.typedRemedy(code, answer) ?? answer["remedy"].text.map(Self.withCommands) ?? "Try again.",
            status: answer.flag("of_store") ? .failed : Self.exitStatus(code))
    }

    /// A field that is invalid came from the command line: wrong usage, unless only this store refuses it.
    private static func exitStatus(_ code: String) -> ExitStatus {
        switch code {
        case "invalid": .usage
        case "damaged": .damaged
        case "version_conflict", "key_reused", "overloaded", "busy", "closed", "unavailable": .conflict
        default: .failed
        }
    }

    /// Returns the text that was typed for a field of a request; nil for a place that the API describes in words.
    static func typedName(_ field: String) -> String? {
        let parts = field.split(separator: ".", maxSplits: 1)
        if parts.count == 2, parts[0] == "properties" { return "The property \(parts[1])" }
        if parts.count == 2, parts[0] == "attributes" { return "The attribute \(parts[1])" }
        return switch field {
        case "user", "name", "attribute", "value", "product", "position", "a", "b": field.uppercased()
        case "actor": "--by"
        case "positions": "--position"
        case "properties": TypedOption.typed(of: "-p", "--property", "--string")
        case "attributes": "KEY=VALUE"
        case "time": TypedOption.typed(of: "--at", "--time")
        case "of": "--plot"
        case "order": "--occurred"
        case "flush_interval_s": "--flush-interval"
        case "session_timeout_s": "--session-timeout"
        // Every other field is named after its option.
        case let field where field.allSatisfy { $0.isLowercase || $0 == "_" }: option(field[...])
        default: nil
        }
    }

    static func option(_ field: Substring) -> String { "--" + field.replacing("_", with: "-") }

    /// The next step where the API speaks of what a program sends; nil where its own words fit.
    private static func typedRemedy(_ code: String, _ answer: JSONObject) -> String? {
        switch code {
        case "version_conflict":
            "Look at the user again, decide again, and run the command with --expect \(answer["actual"].cell)."
        case "other_history": "Compare what you keep with the log, or begin at its start with --after 0."
        case "key_reused": "Use a new --key for new content."
        case "invalid_key": "Put a key of the service into the variable PROFILELOG_KEY; `profiled keys add` makes one."
        case "too_large": "Split it into several commands."
        case "disk_full": diskFullRemedy
        case "outcome_unknown", "outcome_pending":
            "Look with `profilecli history` what is stored. A write with --key can be run again safely."
        default: nil
        }
    }

    private static let commands = [
        ("GET /v1/users", "users"), ("GET /v1/devices", "device"), ("GET /v1/rejected", "rejected"),
        ("GET /v1/history", "history"), ("GET /v1/sends", "sends"), ("POST /v1/devices/{device}/launch", "launch"),
        ("GET /v1/replay", "replay --shadow"), ("GET /v1/erase", "users"), ("GET /v1/cluster", "cluster status"),
        ("POST /v1/cluster/rebuild", "cluster rebuild"),
    ]

    /// `remedy` with commands in place of requests.
    private static func withCommands(_ remedy: String) -> String {
        commands.reduce(remedy) { text, row in text.replacing("`\(row.0)`", with: "`profilecli \(row.1)`") }
    }

    /// The next step on a full disk.
    static var diskFullRemedy: String {
        let key = TypedOption.isGiven("--key") ? ", with the same --key" : ""
        return "Free some space and run the same command again\(key)."
    }
}
