internal import ArgumentParser
internal import ProfileLog

/// `profilecli compact`
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "compact", "Rewrite the store's file without its free pages.",
        """
        Everything stays as it is: events, positions, times. What was erased or overwritten is in no byte of the new file, and the \
        free space goes back to the disk. Needs the store alone, so stop profiled first, and room for a second file. The old \
        file stays until the new one is complete; Ctrl-C leaves the store as it was.
        """,
        examples: """
            profilecli compact
            profilecli compact --store profiles
            """)

    @OptionGroup var store: StoreOnlyOption
    @OptionGroup var output: FormatOption

    func run() throws {
        let compaction = try ProgressBar.run { try EventLog.compact(path: store.place.path, progress: $0) }
        guard compaction.isComplete else {
            throw Failure(
                "The store was not compacted, and is unchanged.", remedy: "Run the same command again.",
                status: Interrupt.status)
        }
        if output.isJSON {
            let line = JSONWriter.object { json in
                json.member("bytes_before", compaction.bytesBefore)
                json.member("bytes_after", compaction.bytesAfter)
            }
            return try Output.print([line], after: "The store is compacted")
        }
        let (before, after) = (Number.grouped(compaction.bytesBefore), Number.grouped(compaction.bytesAfter))
        try Output.print(["Compacted: \(before) bytes are \(after) now."], after: "The store is compacted")
    }
}
