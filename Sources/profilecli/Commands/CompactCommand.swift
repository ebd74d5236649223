internal import ArgumentParser
internal import ProfileLog

/// `profilecli compact`
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Rewrite the store's file, so that free pages hold nothing.",
        discussion: """
            Everything stays as it is: events, positions, times. What was erased or overwritten is in no byte of the new file, and the \
            free space goes back to the disk. Needs the store alone, so stop profiled first, and room for a second file. Until the new \
            file is complete the old one stands; Ctrl-C leaves the store as it was.

            EXAMPLES
              profilecli compact
              profilecli compact --store profiles
            """)

    @OptionGroup var store: StoreOnlyOption
    @OptionGroup var output: FormatOption

    func run() throws {
        Interrupt.watch()
        var bar = ProgressBar()
        let compaction = try EventLog.compact(path: store.path) {
            bar.update($0)
            return !Interrupt.isRequested
        }
        bar.clear()
        guard compaction.isComplete else {
            throw Failure(
                "The store was not compacted; it is as it was.", remedy: "Run the same command again.",
                status: Interrupt.status)
        }
        if output.isJSON {
            var json = JSONWriter()
            json.beginObject()
            json.key("bytes_before")
            json.value(compaction.bytesBefore)
            json.key("bytes_after")
            json.value(compaction.bytesAfter)
            json.endObject()
            return try Output.print([json.text], after: "The store is compacted")
        }
        let (before, after) = (Number.grouped(compaction.bytesBefore), Number.grouped(compaction.bytesAfter))
        try Output.print(["Compacted: \(before) bytes are \(after) now."], after: "The store is compacted")
    }
}
