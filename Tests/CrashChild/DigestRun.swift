import ProfileLog

/// A fixed log, and what replaying it gives: the same in debug and in release, on every machine, for ever.
///
/// `profilelog-crashchild digest EMPTY-FOLDER` prints the digests and ends with 0 if they are the known ones.
enum DigestRun {
    /// SHA-256 over all profiles of the fixed log. It changes only with the log's content, or with
    /// `ProfileProjection.revision`.
    private static let expected = "32dc251588e4b108d0830be58d21fda5be0a32ae10da1e8baef98e89eac1a564"

    static func run(store: String) throws -> Bool {
        var options = LogOptions()
        options.indexLag = 500
        options.usersPerIndexSlice = 3
        options.snapshotInterval = 8
        options.itemsPerFlush = 3
        options.now = { Timestamp(rawValue: 1_767_312_000_000_000) }
        let log = try EventLog(path: store, create: true, options: options)
        for append in stride(from: UInt64(1), to: 601, by: 20) {
            let recipes = (append..<append + 20).map { Recipe(seed: 2026, round: 0, append: $0) }
            for answer in log.commit(try recipes.map { try $0.prepare(for: log) }) { _ = try answer.get() }
            _ = try log.launch(device: Recipe.devices[Int(append / 20 % 3)])
        }
        var digests: Set<String> = []
        for threads in [1, 2, 4] {
            let report = try log.replay(threads: threads, verify: threads == 1)
            for difference in report.differences { Report.line("bad \(difference)") }
            Report.line("digest \(threads) \(report.events) \(report.digest)")
            digests.insert(report.digest)
        }
        return digests == [expected]
    }
}
