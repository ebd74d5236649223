internal import ArgumentParser
internal import ProfileLog

/// The options of the backup that the service writes.
struct BackupOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("backup"),
        help: ArgumentHelp("Back the store up into this folder while the service runs.", valueName: "folder"))
    var folder: String?

    @Option(
        name: .customLong("backup-every"),
        help: ArgumentHelp("How long after a backup the next one begins: 30s, 1m, 24h.", valueName: "duration"))
    var every = Interval(.seconds(60))

    @Option(
        name: .customLong("backup-verify-every"),
        help: ArgumentHelp("How often the backup is read whole and compared.", valueName: "duration"))
    var verifyEvery = Interval(.seconds(86_400))

    /// A duration of a second or more, as in `30s`, `1m`, `24h`.
    struct Interval: ExpressibleByArgument, Sendable {
        let duration: Duration

        init(_ duration: Duration) { self.duration = duration }

        init?(argument: String) {
            guard let duration = DurationText.parse(argument), duration >= .seconds(1), duration <= .seconds(31_536_000)
            else { return nil }
            self.duration = duration
        }

        var defaultValueDescription: String {
            let seconds = duration.components.seconds
            return seconds % 3600 == 0 ? "\(seconds / 3600)h" : seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
        }
    }

    func validate() throws {
        if folder?.isEmpty == true { throw ValidationError("--backup must not be empty.") }
    }

    /// What the service does; nil without a folder. Its files of settings are at these paths.
    func plan(keys: String, workspace: String?) -> BackupPlan? {
        folder.map { folder in
            BackupPlan(
                folder: folder, every: every.duration, verifyEvery: verifyEvery.duration, keys: keys,
                workspace: workspace)
        }
    }
}
