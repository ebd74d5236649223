import ProfileLog

/// Replays a store's states into a shadow and swaps it, again and again, until it is killed.
struct ShadowRun {
    static func run(store: String, threads: Int) throws {
        var options = LogOptions()
        options.usersPerIndexSlice = 3
        options.snapshotInterval = 4
        let log = try EventLog(path: store, options: options)
        Report.line("open")
        while true {
            while try !log.replayIntoShadow(threads: threads, progress: { _ in false }).isComplete {
                Report.line("slice")
            }
            try log.swapShadow()
            Report.line("swap")
        }
    }
}
