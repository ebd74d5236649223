internal import ProfileLog
internal import ProfileLogAPI
internal import Synchronization

/// The store that the service speaks for: one for its whole life, or one after the other if it is made for tests.
final class LiveStore: Sendable {
    private struct State: Sendable {
        var api: API
        var writer: LogWriter
        var hasFailed = false
        var isClosed = false
    }

    private let workspace: Workspace
    private let state: Mutex<State>

    init(_ writer: LogWriter, _ workspace: Workspace, ephemeral: (any EphemeralStore)? = nil) {
        self.workspace = workspace
        state = Mutex(
            State(api: API(writer: writer, workspace: workspace, ephemeral: ephemeral), writer: writer))
    }

    /// The API of the store as it is now. A request keeps the one that it began with.
    var api: API { state.withLock { $0.api } }

    /// Whether a failed disk has had the store as it is now take nothing more: until the service is started again, or the store replaced.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    /// The disk failed under `api`. Of a store that was replaced meanwhile, that is nothing to anybody.
    func fail(_ api: API) {
        state.withLock { state in
            if state.api === api { state.hasFailed = true }
        }
    }

    /// Puts another store in place and closes the one before, whose writes are stored first, and tells its folder. Nil if the service
    /// is ending.
    func replace(with writer: LogWriter, ephemeral: any EphemeralStore) async -> String? {
        let previous = state.withLock { state -> LogWriter? in
            if state.isClosed { return nil }
            let previous = state.writer
            state.writer = writer
            state.api = API(
                writer: writer, workspace: workspace, ephemeral: ephemeral, activity: state.api.activity)
            state.hasFailed = false
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
        api.removeExports()
    }
}
