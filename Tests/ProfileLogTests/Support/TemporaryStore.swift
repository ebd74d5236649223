import ProfileLog
import Synchronization
import TestSupport

extension TemporaryFolder {
    /// The log in this folder, made if it is missing, with small lags and the projections of users.
    func log(_ clock: TestClock, indexLag: Int = 7, snapshotInterval: Int = 4) throws -> EventLog {
        var options = LogOptions.small(clock, indexLag: indexLag)
        options.snapshotInterval = snapshotInterval
        return try open(options: options, projections: [ProfileProjection.self, UsageProjection.self])
    }
}

/// A clock that tests set.
final class TestClock: Sendable {
    private let time: Mutex<Int64>

    init(_ start: Int64 = 1_800_000_000_000_000) { time = Mutex(start) }

    var now: Timestamp { Timestamp(rawValue: time.withLock { $0 }) }

    func advance(_ microseconds: Int64) { time.withLock { $0 += microseconds } }
}

extension LogOptions {
    /// Small lags, so that short tests cross every boundary.
    static func small(_ clock: TestClock, indexLag: Int = 40) -> LogOptions {
        var options = LogOptions()
        options.indexLag = indexLag
        options.usersPerIndexSlice = 2
        options.snapshotInterval = 8
        options.itemsPerFlush = 3
        options.now = { clock.now }
        return options
    }
}

extension EventContext {
    static let test = EventContext(source: .app)

    static func saved(on device: String, group: Name = "group.test", at: Int64? = nil) -> EventContext {
        EventContext(
            source: .extension, occurredAt: at.map { OccurredAt(Timestamp(rawValue: $0)) }, process: "push",
            device: device,
            storage: .appGroup(group))
    }
}
