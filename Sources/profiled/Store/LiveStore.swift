internal import Foundation
internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI
internal import Synchronization

/// The two dialects on one store.
struct API: Sendable {
    /// All endpoints, to look at without a store.
    static let table = EndpointTable([NativeAPI.self, BrazeAPI.self])

    let store: RequestStore
    let braze: BrazeAPI
    let router: APIRouter

    var log: EventLog { store.log }

    init(
        _ writer: LogWriter, _ workspace: Workspace, _ ephemeral: (any EphemeralStore)?,
        _ activity: APIActivity = APIActivity(), cluster: ClusterNode? = nil, copies: StoreCopies? = nil
    ) {
        store = RequestStore(writer.log, writer, activity)
        let braze = BrazeAPI(store, workspace)
        self.braze = braze
        router = APIRouter(
            NativeAPI(
                store, ephemeral: ephemeral, cluster: cluster, copying: copies,
                onErasure: braze.removeOutdatedExports,
                // The task for scheduled sends tries again what fails here.
                onTimeSet: { _ = try? await braze.sendDue() }),
            braze)
    }
}

/// The store that the service serves; one for tests can be replaced.
final class LiveStore: Sendable {
    private struct State: Sendable {
        var api: API
        var writer: LogWriter
        var isClosed = false
    }

    private let workspace: Workspace
    private let state: Mutex<State>

    init(
        _ writer: LogWriter, _ workspace: Workspace, ephemeral: (any EphemeralStore)? = nil,
        cluster: ClusterNode? = nil, copies: StoreCopies? = nil
    ) {
        self.workspace = workspace
        let api = API(writer, workspace, ephemeral, cluster: cluster, copies: copies)
        state = Mutex(State(api: api, writer: writer))
    }

    /// The API of the store as it is now. A request keeps the one that it began with.
    var api: API { state.withLock { $0.api } }

    /// The reason why the store cannot be written or read; nil while it can. After a failed write it refuses all
    /// others, until the service is started again, or the store is replaced.
    var failure: StorageError? {
        if let refusal = api.log.writeRefusal { return refusal }
        do {
            _ = try api.log.lastPosition()
            return nil
        } catch {
            return error as? StorageError ?? .brokenPage(operation: "read")
        }
    }

    var lastPosition: UInt64? { try? api.log.lastPosition().rawValue }

    /// Replaces the store, and closes the old one after its writes. Returns its folder; nil if the service is ending.
    func replace(with writer: LogWriter, ephemeral: any EphemeralStore) async -> String? {
        let previous = state.withLock { state -> LogWriter? in
            if state.isClosed { return nil }
            let previous = state.writer
            state.writer = writer
            state.api = API(writer, workspace, ephemeral, state.api.store.activity)
            return previous
        }
        await previous?.close()
        return previous?.log.path
    }

    /// Takes nothing more, and returns when everything that was accepted is on the disk.
    func close() async {
        let (api, writer) = state.withLock { state in
            state.isClosed = true
            return (state.api, state.writer)
        }
        await writer.close()
        api.braze.removeExports()
    }
}

/// The stores of a service for tests, in a temporary folder. Each has its own clock and replaces the one before.
final class EphemeralStores: Sendable {
    private let folder: ScratchFolder
    private let fixtures: Fixtures?
    private let workspace: Workspace
    private let metrics: Metrics
    private let count = Atomic<Int>(0)
    private let store = Mutex<LiveStore?>(nil)

    /// Makes no store yet. They will be in `folder`, or in a new temporary one.
    init(
        fixtures: Fixtures?, workspace: Workspace, metrics: Metrics, in folder: ScratchFolder? = nil
    ) throws(ScratchFolder.FolderError) {
        (self.fixtures, self.workspace, self.metrics) = (fixtures, workspace, metrics)
        if let folder { self.folder = folder } else { self.folder = try ScratchFolder(prefix: "profiled-ephemeral-") }
    }

    private struct Current: EphemeralStore {
        let stores: EphemeralStores
        let clock = StoreClock()

        func reset(withFixtures: Bool) async throws -> (events: UInt64, clock: StoreClock) {
            try await stores.reset(withFixtures: withFixtures)
        }
    }

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

    func remove() { folder.remove() }

    /// A log in a folder of its own, which is removed if the log cannot be opened or the fixtures cannot be stored.
    private func newLog(clock: StoreClock, withFixtures: Bool) throws -> EventLog {
        let number = count.add(1, ordering: .relaxed).newValue
        var options = LogOptions()
        options.now = { clock.now() }
        // Declared by the first session: the clock may still be set to an earlier time.
        if let messages = workspace.messages { options.inAppMessages = messages }
        if let policies = workspace.policies { options.rules = policies }
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
