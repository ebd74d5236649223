internal import ArgumentParser
internal import ProfileLog

struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "compact", "Rewrite the store's file without its free pages.",
        """
        Everything stays as it is: events, positions, times. What was erased or overwritten is in no byte of the new \
        file, and the free space goes back to the disk. Needs the store alone, so stop profiled first, and room for a \
        second file. The old file stays until the new one is complete; Ctrl-C leaves the store as it was.
        """,
        examples: """
            profilecli compact
            profilecli compact --store profiles
            """)

    @OptionGroup var store: StoreOnlyOption
    @OptionGroup var output: FormatOption

    func run() throws {
        let compaction = try ProgressBar.run { try EventLog.compaction(of: store.path, progress: $0) }
        guard compaction.isComplete else {
            throw CommandError(
                "The store was not compacted, and is unchanged.", remedy: "Run the same command again.",
                status: Interrupt.status)
        }
        let (before, after) = (compaction.bytesBefore, compaction.bytesAfter)
        let json = JSONWriter.object { json in
            json.member("bytes_before", before)
            json.member("bytes_after", after)
        }
        let sentence = "Compacted: \(Number.grouped(before)) bytes are \(Number.grouped(after)) now."
        try Output.print([output.isJSON ? json : sentence], after: "The store is compacted")
    }
}
