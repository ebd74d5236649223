import Foundation
import ProfileLog
import Testing

@Suite("--store, --url, --format and --version may be given before or after the subcommand")
struct GlobalOptionsTests {
    private let cli: CLI

    init() throws {
        cli = try CLI()
        try cli.succeed("log", "event", "ana", "hello", "--store", "shop")
    }

    @Test("A global option gives the same answer in each place, also before a nested subcommand")
    func places() throws {
        let expected = try cli.succeed("stats", "--store", "shop", "--format", "json").output
        for arguments in [
            ["--store", "shop", "stats", "--format", "json"], ["--store=shop", "--format=json", "stats"],
            ["--format", "json", "stats", "--store", "shop"],
            ["--store", "shop", "stats", "--store", "shop", "--format", "json"],
        ] {
            let outcome = try cli.run(arguments)
            #expect(outcome.status == 0 && outcome.output == expected, "\(arguments): \(outcome.errors)")
        }
        for arguments in [
            ["--store", "shop", "log", "event", "ana", "a"], ["log", "--store", "shop", "event", "ana", "b"],
            ["--format", "json", "device", "--store=shop", "list"],
            ["--store", "shop", "device"], ["--store", "shop", "pending", "--format", "json"],
            ["--store", "shop", "check"],
        ] {
            let outcome = try cli.run(arguments)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: cli.store))
        for arguments in [
            ["--version", "stats"], ["stats", "--version"], ["log", "--version", "event"], ["--version"],
        ] {
            #expect(try cli.run(arguments).output.hasPrefix("\(ProgramVersion.number) (commit "), "\(arguments)")
        }
    }

    @Test("Two values for one option are refused, and so is an option that the command does not have")
    func refused() throws {
        for (arguments, message) in [
            (["--store", "a", "stats", "--store", "shop"], "--store is given twice, with different values."),
            (
                ["--format", "json", "device", "--format=table", "show"],
                "--format is given twice, with different values."
            ),
            (["--url", "http://127.0.0.1:1", "stats", "--store", "shop"], "exclude each other"),
            (["--url", "http://127.0.0.1:1", "check"], "store's own files"), (["--store"], "Missing value"),
            (["--store", "shop", "generate"], "Unknown option '--store'"),
            (["--store", "shop", "frobnicate"], "There is no command profilecli frobnicate."),
            (["--store", "shop", "log", "evnt"], "Did you mean event?"), (["--store", "-x", "stats"], "Missing value"),
            (["--verbose", "stats"], "Unknown option '--verbose'"), (["--store", "", "stats"], "must not be empty"),
            (["--certificate", "", "stats"], "--certificate must not be empty"),
            (["--certificate", "a.pem", "stats", "--store", "shop"], "--certificate is for a service."),
            (
                ["--certificate-key", "a.pem", "stats", "--url", "https://127.0.0.1:1"],
                "--certificate-key is there without --certificate."
            ),
            (
                ["--certificate", "a.pem", "stats", "--url", "https://127.0.0.1:1", "--certificate", "b.pem"],
                "--certificate is given twice, with different values."
            ),
        ] {
            let outcome = try cli.run(arguments)
            #expect(outcome.status == 64 && outcome.output.isEmpty, "\(arguments): \(outcome)")
            #expect(outcome.errors.contains(message), "\(arguments): \(outcome.errors)")
        }
        #expect(try cli.run("--url", "http://127.0.0.1:1", "stats").errors.contains("Nothing answers at"))
    }

    @Test("Values that begin with a dash, and what follows --, keep their meaning")
    func dashes() throws {
        for arguments in [
            ["--store=-shop", "log", "event", "ana", "--", "--store"],
            ["log", "event", "ana", "x", "-p", "--format=json", "--store=-shop"],
            ["--store=-shop", "log", "purchase", "ana", "p", "--price", "-9.50", "--currency", "EUR"],
            ["--store=-shop", "launch", "--", "--store"],
        ] {
            let outcome = try cli.run(arguments)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        }
        let history = try cli.run("history", "ana", "--store=-shop", "--format", "json").output
        #expect(history.contains(#""name":"--store""#) && history.contains(#""--format":"json""#), "\(history)")
    }

    @Test("Help and completions offer them before a subcommand")
    func help() throws {
        for arguments in [[], ["--help"], ["help"], ["--store", "shop", "--help"], ["--store", "shop", "help"]] {
            let help = try cli.run(arguments)
            #expect(help.status == 0 && help.output.hasPrefix("OVERVIEW: "), "\(arguments): \(help)")
            for option in ["--store <folder>", "--url <url>", "--format <format>", "--version"] {
                #expect(help.output.contains("\n  \(option) "), "\(arguments): \(option)")
            }
        }
        for arguments in [
            ["help", "stats"], ["--format", "json", "stats", "--help"], ["--store", "s", "help", "stats"],
        ] {
            #expect(try cli.run(arguments).output.contains("USAGE: profilecli stats "), "\(arguments)")
        }
        let group = try cli.run("--store", "shop", "log")
        #expect(group.status == 64 && group.errors.contains("SUBCOMMANDS:"))
        let completions = try cli.succeed("--generate-completion-script", "fish").output
        #expect(
            completions.contains(
                "__profilecli_parse_subcommand 0 'store=' 'url=' 'ca=' 'certificate=' 'certificate-key=' 'format=' "
                    + "'version' 'h/help'\n        switch"))
    }
}
