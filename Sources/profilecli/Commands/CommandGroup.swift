internal import ArgumentParser

/// A command that does nothing without one of its subcommands: alone, it shows its help and is wrong usage.
protocol CommandGroup: ParsableCommand {}

extension CommandGroup {
    mutating func run() throws {
        Output.message(ProfileCLI.helpMessage(for: Self.self))
        throw ExitCode(ExitStatus.usage.rawValue)
    }
}
