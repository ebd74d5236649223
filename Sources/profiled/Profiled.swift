internal import ArgumentParser
internal import CMalloc
internal import CProgram
internal import Foundation
internal import ProfileLog
internal import ProfileLogRequests

@main
struct Profiled: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiled",
        abstract: "Serves a ProfileLog store over HTTP.",
        discussion: """
            `profiled` alone, or with options, is `profiled serve`.

            EXAMPLES
              profiled                        ./profilelog on port 8080
              profiled --store profiles --port 9000
              profiled demo                   a made-up store, for a look in a browser
              profiled --ephemeral --port 0 --port-file port
                                              an empty store for tests, on any
                                              free port, named in the file
              profiled keys add --name app    a key; from then on every request
                                              needs one
              profiled config check           is the configuration good?
              profiled tls self-signed --name localhost
                                              a certificate and its key, for tests
              curl http://127.0.0.1:8080/     what is where
            """,
        version: version,
        subcommands: [
            ServeCommand.self, DemoCommand.self, KeysCommand.self, ConfigCommand.self, TLSCommand.self,
        ],
        defaultSubcommand: ServeCommand.self)

    static let version = ProgramVersion.text(commit: String(cString: profilelog_commit()))

    static func main() async {
        // First: they are no reason to end, also while the service starts.
        HangUps.keep()
        for number in [SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        if ProgramArguments.areHidden(count: profilelog_argument_count()) {
            StartError(ProgramArguments.hiddenFact, remedy: ProgramArguments.hiddenRemedy).report()
            exit(withError: ExitCode.failure)
        }
        ProcessLimits.returnLargeBuffers()
        BrokenPage.endProcess(
            withStatus: 2,
            saying: "profiled: A page of the store's file is broken.\n"
                + StorageError.brokenPage(operation: "read").commandRemedy + "\n")
        // Scripts ask it often, and the argument parser needs a quarter of the time of a start.
        if CommandLine.arguments.dropFirst() == ["--version"] { return print(version) }
        refuseUnknownCommand()
        await main(nil)
    }

    /// Ends the process if a word is typed where a command is expected, and none has that name.
    private static func refuseUnknownCommand() {
        var command: any ParsableCommand.Type = Profiled.self
        var path = "profiled"
        for word in CommandLine.arguments.dropFirst() {
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty || word.hasPrefix("-") || word == "help" { return }
            let names = subcommands.compactMap { $0.configuration.commandName }
            guard let next = subcommands.first(where: { $0.configuration.commandName == word }) else {
                let guess = NearestNames(to: word, among: names).close.first.map { "Did you mean \($0)? " } ?? ""
                StartError(
                    "There is no command \(path) \(word).", remedy: "\(guess)See `\(path) --help` for all."
                ).report()
                exit(withError: ExitCode.validationFailure)
            }
            (command, path) = (next, "\(path) \(word)")
        }
    }
}

/// Limits that the service sets in the C library and the system before it starts.
enum ProcessLimits {
    /// Buffers of at least this size, in bytes, are memory maps of their own and return to the system when freed.
    private static let mappedBytes: Int32 = 256 << 10

    /// Fixes glibc's threshold for memory maps (`mallopt`, `M_MMAP_THRESHOLD`). By default glibc raises it to the
    /// largest freed buffer, and the tables of the index's tail leave holes in the heaps of all threads, which grow
    /// under load.
    static func returnLargeBuffers() {
        #if canImport(Glibc)
            mallopt(M_MMAP_THRESHOLD, mappedBytes)
        #endif
    }

    private static let leastConnections = 8
    /// Open files that are no connections: the store, its locks, exports, and the event loops of each core.
    private static var otherFiles: Int { 48 + 4 * ProcessInfo.processInfo.activeProcessorCount }

    /// Raises the limit of open files to what `wanted` connections need, as far as the hard limit allows. Returns the
    /// connections that it has room for, at most `wanted`.
    static func reserveFiles(forConnections wanted: Int) throws(StartError) -> Int {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return wanted }
        let needed = rlim_t(wanted + otherFiles)
        if limit.rlim_cur < needed {
            limit.rlim_cur = min(limit.rlim_max, needed)
            setrlimit(resource, &limit)
        }
        let files = Int(clamping: limit.rlim_cur)
        let least = leastConnections + otherFiles
        guard files >= min(least, Int(needed)) else {
            throw StartError(
                "The process may open \(files) files (RLIMIT_NOFILE), and the service needs at least \(least).",
                remedy: "Raise the limit: `ulimit -n 4096` in a shell, `LimitNOFILE=4096` for systemd, "
                    + "`--ulimit nofile=4096` for a container.")
        }
        return min(wanted, files - otherFiles)
    }
}
