internal import Foundation
internal import ProfileLog
internal import ProfileLogAPI
internal import Synchronization

/// The stores of a service for tests: one after the other, in a temporary folder, all by one clock.
final class EphemeralStores: EphemeralStore {
    let clock = StoreClock()
    private let folder: ScratchFolder
    private let fixtures: Fixtures?
    private let workspace: Workspace
    private let metrics: ServiceMetrics
    private let count = Atomic<Int>(0)
    /// Set once, before the first request.
    private let store = Mutex<LiveStore?>(nil)

    init(fixtures: Fixtures?, workspace: Workspace, metrics: ServiceMetrics) throws(StartFailure) {
        self.fixtures = fixtures
        self.workspace = workspace
        self.metrics = metrics
        do throws(ScratchFolder.Failure) {
            folder = try ScratchFolder(prefix: "profiled-ephemeral-")
        } catch {
            throw StartFailure(
                "No temporary folder can be made in \(error.parent): \(String(cString: strerror(error.code))).",
                remedy: "Free some space, or name another folder in the environment variable TMPDIR.")
        }
    }

    /// The first store, with the fixtures.
    func start() throws -> LiveStore {
        let log = try newLog(withFixtures: true)
        let store = LiveStore(LogWriter(log), workspace, ephemeral: self)
        self.store.withLock { $0 = store }
        return store
    }

    func reset(withFixtures: Bool) async throws -> UInt64 {
        guard let store = store.withLock({ $0 }) else { throw AppendError.closed }
        clock.release()
        let log = try newLog(withFixtures: withFixtures)
        let events = try log.lastPosition().rawValue
        let writer = LogWriter(log)
        guard let previous = await store.replace(with: writer, ephemeral: self) else {
            await writer.close()
            throw AppendError.closed
        }
        // Requests that still read it keep the file open, nameless, until they end.
        try? FileManager.default.removeItem(atPath: previous)
        return events
    }

    /// Removes everything.
    func remove() { folder.remove() }

    private func newLog(withFixtures: Bool) throws -> EventLog {
        let number = count.add(1, ordering: .relaxed).newValue
        var options = LogOptions()
        options.now = { [clock] in clock.now() }
        options.onCommit = { [metrics] in metrics.record($0) }
        let log = try EventLog(
            path: "\(folder.path)/store-\(number)", create: true, options: options, projections: API.projections)
        if withFixtures { try fixtures?.load(into: log) }
        return log
    }
}
