internal import Foundation
internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI
internal import Synchronization

/// The stores of a service for tests: one after the other, in a temporary folder, each with a clock of its own.
final class EphemeralStores: Sendable {
    private let folder: ScratchFolder
    private let fixtures: Fixtures?
    private let workspace: Workspace
    private let metrics: Metrics
    private let count = Atomic<Int>(0)
    /// Set once, before the first request.
    private let store = Mutex<LiveStore?>(nil)

    init(fixtures: Fixtures?, workspace: Workspace, metrics: Metrics) throws(StartFailure) {
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

    /// One of the stores, as its API sees it.
    private struct Current: EphemeralStore {
        let stores: EphemeralStores
        let clock = StoreClock()

        func reset(withFixtures: Bool) async throws -> (events: UInt64, clock: StoreClock) {
            try await stores.reset(withFixtures: withFixtures)
        }
    }

    /// The first store, with the fixtures.
    func start() throws -> LiveStore {
        let first = Current(stores: self)
        let log = try newLog(clock: first.clock, withFixtures: true)
        let store = LiveStore(LogWriter(log), workspace, ephemeral: first)
        self.store.withLock { $0 = store }
        return store
    }

    private func reset(withFixtures: Bool) async throws -> (events: UInt64, clock: StoreClock) {
        guard let store = store.withLock({ $0 }) else { throw AppendError.closed }
        let next = Current(stores: self)
        let log = try newLog(clock: next.clock, withFixtures: withFixtures)
        let events = try log.lastPosition().rawValue
        let writer = LogWriter(log)
        guard let previous = await store.replace(with: writer, ephemeral: next) else {
            await writer.close()
            try? FileManager.default.removeItem(atPath: log.path)
            throw AppendError.closed
        }
        // Requests that still read it keep the file open, without a name, until they end.
        try? FileManager.default.removeItem(atPath: previous)
        return (events, next.clock)
    }

    /// Removes everything.
    func remove() { folder.remove() }

    /// A log in a folder of its own. The folder is removed if the log cannot be opened or the fixtures cannot be
    /// stored.
    private func newLog(clock: StoreClock, withFixtures: Bool) throws -> EventLog {
        let number = count.add(1, ordering: .relaxed).newValue
        var options = LogOptions()
        options.now = { clock.now() }
        options.onCommit = { [metrics] in metrics.record($0) }
        let path = "\(folder.path)/store-\(number)"
        do {
            let log = try EventLog(path: path, create: true, options: options, projections: RequestStore.projections)
            if withFixtures { try fixtures?.load(into: log) }
            return log
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }
}
