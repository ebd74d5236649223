internal import ArgumentParser
internal import Foundation
internal import ProfileLog

/// The program: an event log of user profiles at the terminal.
@main
struct ProfileCLI: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profilecli",
        abstract: "Save, launch, look up and replay: user profiles from an event log.",
        discussion: """
            Everything that is saved or logged is an event in a store: the folder named by --store, by PROFILELOG_STORE, or \
            ./profilelog. With --url (or PROFILELOG_URL) the same commands talk to a running profiled, with the key in PROFILELOG_KEY \
            if it asks for one. --store, --url and --format may come before or after the subcommand.

            USER is an external ID, or one of
              alias:LABEL:NAME   an alias; in LABEL a backslash before : and \\
              braze:ID           the ID that the store gave, in 24 digits
              email:ADDRESS      a user with this address; one with an external ID first
              phone:NUMBER       a user with this number; one with an external ID first
              device:ID          the user who is on the device now
              id:EXTERNAL_ID     an external ID that begins like one of these

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

            EXIT STATUS
              0 done, 1 failed, 2 damage or a difference found, 64 wrong usage,
              74 the output cannot be written, 75 conflict, 130 stopped by Ctrl-C,
              143 stopped by SIGTERM
            """,
        version: "0.1.0",
        subcommands: [
            SaveCommand.self, LogCommand.self, LaunchCommand.self, DeviceCommand.self, PendingCommand.self,
            RejectedCommand.self, ProfileCommand.self, HistoryCommand.self, TailCommand.self, UsersCommand.self,
            ChangeUserCommand.self, EraseCommand.self, CompactCommand.self, ReplayCommand.self,
            WhatIfCommand.self, ImportCommand.self, ExportCommand.self, CheckCommand.self, StatsCommand.self,
            GenerateCommand.self, SimulateCommand.self,
        ])

    static func main() async {
        Output.holdStandardDescriptors()
        signal(SIGPIPE, SIG_IGN)
        refuseForeignText()
        BrokenPage.endProcess(
            withStatus: ExitStatus.damaged.rawValue,
            saying: "Error: A page of the store's file is broken.\n"
                + StorageError.brokenPage(operation: "read").remedy + "\n")
        do {
            try await work()
        } catch is Output.ReaderHasGone {
            endProcess(ExitStatus.done.rawValue)
        } catch let error as ExitCode {
            endProcess(error.rawValue)
        } catch  where isParserError(error) {
            Output.message(fullMessage(for: error))
            endProcess(exitCode(for: error).rawValue)
        } catch {
            let failure = Failure(error)
            report(failure)
            endProcess(failure.status.rawValue)
        }
    }

    /// Runs the command that was typed, or prints what was asked of the argument parser: help, the version,
    /// completions.
    private static func work() async throws {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            var command =
                if let arranged = try TypedArguments.arranged(arguments) {
                    try parseAsRoot(arranged)
                } else {
                    try WithoutSubcommand.parseAsRoot(arguments)
                }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch  where isParserError(error) && exitCode(for: error).isSuccess {
            try Output.print(WithoutSubcommand.fullMessage(for: error))
        }
    }

    /// Whether the argument parser words `error`: wrong usage, or a request for help. A status alone needs no words.
    private static func isParserError(_ error: any Error) -> Bool {
        if error is ExitCode { return false }
        return error is ValidationError || error is CleanExit
            || String(reflecting: type(of: error)).hasPrefix("ArgumentParser.")
    }

    private static func report(_ failure: Failure) {
        let isStyled = Terminal.hasErrorColours
        let (message, remedy) = (TypedPlace.completing(in: failure.message), TypedPlace.completing(in: failure.remedy))
        Output.message(Style.red("Error: ", if: isStyled) + DisplayWidth.oneLine(message))
        if !remedy.isEmpty { Output.message(DisplayWidth.oneLine(remedy)) }
    }

    /// Swift repairs arguments that are not UTF-8, so another name than the typed one would be stored.
    private static func refuseForeignText() {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let bytes = UnsafeRawBufferPointer(start: argument, count: strlen(argument))
            if String(validating: bytes, as: UTF8.self) != nil { continue }
            report(
                Failure("Argument \(index) is not valid UTF-8.", remedy: "Set the terminal to UTF-8 and type it again.")
            )
            endProcess(ExitStatus.usage.rawValue)
        }
    }
}

/// The program without a subcommand: its help and its completions show the options that may precede one.
private struct WithoutSubcommand: ParsableCommand {
    static let configuration = ProfileCLI.configuration

    @OptionGroup var place: PlaceOptions
}

/// A command that does nothing without one of its subcommands: alone, it prints its help and exits with 64.
protocol CommandGroup: ParsableCommand {}

extension CommandGroup {
    mutating func run() throws {
        Output.message(ProfileCLI.helpMessage(for: Self.self))
        throw ExitCode(ExitStatus.usage.rawValue)
    }
}

extension CommandConfiguration {
    /// What the help says of a subcommand: one sentence, more if it needs more, and examples.
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
