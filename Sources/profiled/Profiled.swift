internal import ArgumentParser
internal import ProfileLog

/// The service: the JSON API of one store, over HTTP.
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
              profiled --ephemeral --port 0 --port-file port
                                              an empty store for tests, on any
                                              free port, named in the file
              profiled keys add --name app    a key; from then on every request
                                              needs one
              curl http://127.0.0.1:8080/     what is where
            """,
        version: "0.1.0",
        subcommands: [ServeCommand.self, KeysCommand.self],
        defaultSubcommand: ServeCommand.self)

    static func main() async {
        ProcessLimits.returnLargeBuffers()
        BrokenPage.endProcess(
            withStatus: 2,
            saying: "profiled: A page of the store's file is broken.\n"
                + StorageError.brokenPage(operation: "read").remedy + "\n")
        await main(nil)
    }
}
