internal import Foundation
public import ProfileLog
internal import Synchronization

/// A log for one test, in a folder of its own. With the last reference it is closed, and the folder is removed.
///
/// ```swift
/// let store = try TemporaryLog(projections: [Spent.self])
/// try store.log.append([.customEventLogged(CustomEvent(name: "seen"))], to: .externalID("ana"))
/// store.clock.advance(by: .seconds(60))
/// try store.reopen()
/// ```
///
/// The folder lies in memory (`/dev/shm`) where the system has that, unless `TMPDIR` names a place: no test cuts the
/// power, and most of the time of an append is the sync of the disk.
public final class TemporaryLog: Sendable {
    /// The clock of the log.
    public let clock: ManualClock
    private let folder: String
    private let options: LogOptions
    private let projections: [any Projection.Type]
    private let opened: Mutex<EventLog>

    /// A new, empty log, opened with `projections`.
    ///
    /// - Parameter snapshotInterval: events of one user between two snapshots. With 1, each ``reopen()`` stores the
    ///   states that changed, so that the next read uses them.
    public init(projections: [any Projection.Type] = [], snapshotInterval: Int = 1) throws {
        let clock = ManualClock()
        var options = LogOptions()
        options.snapshotInterval = snapshotInterval
        options.now = { clock.now }
        let folder = "\(Self.parent)/\(Self.prefix)\(getpid())-\(UUID().uuidString)"
        let log = try EventLog(path: folder, create: true, options: options, projections: projections)
        (self.clock, self.folder, self.options, self.projections) = (clock, folder, options, projections)
        opened = Mutex(log)
    }

    /// The log. After ``reopen()`` it is another one.
    public var log: EventLog { opened.withLock { $0 } }

    /// Closes the log, which stores the states of its projections, and opens it again, as a program that was restarted.
    public func reopen() throws {
        try opened.withLock { log in
            log.close()
            log = try EventLog(path: folder, options: options, projections: projections)
        }
    }

    deinit {
        log.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static let prefix = "profilelog-testing-"

    /// The folder of all such folders. What processes that died left there is removed once.
    private static let parent: String = {
        let files = FileManager.default
        let isAsked = ProcessInfo.processInfo.environment["TMPDIR"] != nil
        let hasMemory = !isAsked && files.isWritableFile(atPath: "/dev/shm")
        let parent = hasMemory ? "/dev/shm" : files.temporaryDirectory.path
        for name in (try? files.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
            let process = name.dropFirst(prefix.count).prefix { $0 != "-" }
            guard let process = pid_t(process), kill(process, 0) != 0, errno == ESRCH else { continue }
            try? files.removeItem(atPath: "\(parent)/\(name)")
        }
        return parent
    }()
}
