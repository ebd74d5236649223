internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogBackup

/// `profilecli erasures`
struct ErasuresCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        "erasures", "List the erasures of a store, for copies from before them.",
        examples: """
            profilecli erasures export > erasures.jsonl
            """,
        subcommands: [ErasuresExport.self])
}

/// `profilecli erasures export`
struct ErasuresExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        "export", "Write the register of erasures as JSON Lines: positions and numbers, no personal data.",
        """
        Each line has the position and the time of an erasure, the number of the user and the place of the user's \
        first event. `restore --erasures` and `backup scrub --erasures` read them.
        """,
        examples: """
            profilecli erasures export > erasures.jsonl
            profilecli erasures export --store shop > erasures.jsonl
            """)

    @OptionGroup var store: StoreOnlyOption

    func run() throws {
        let log = try openStore(store.path)
        let register = try ProgressBar.run { try ErasureRegister(of: log, progress: $0) }
        guard let register else {
            throw CommandError(
                "Stopped by \(Interrupt.name).", remedy: "Run the same command again.", status: Interrupt.status)
        }
        try Output.print(register.lines)
    }
}
