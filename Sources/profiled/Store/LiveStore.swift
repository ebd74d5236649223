internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI
internal import Synchronization

/// The store that the service serves: one for its whole life, or one after the other if it is made for tests.
final class LiveStore: Sendable {
    private struct State: Sendable {
        var api: API
        var writer: LogWriter
        var isClosed = false
    }

    private let workspace: Workspace
    private let state: Mutex<State>

    init(_ writer: LogWriter, _ workspace: Workspace, ephemeral: (any EphemeralStore)? = nil) {
        self.workspace = workspace
        state = Mutex(
            State(api: API(writer, workspace, ephemeral), writer: writer))
    }

    /// The API of the store as it is now. A request keeps the one that it began with.
    var api: API { state.withLock { $0.api } }

    /// Why the store takes no writes, or cannot be read; nil while it can do both. A store that refused a write after a
    /// failure never takes another: until the service is started again, or the store is replaced.
    var failure: StorageError? {
        let log = api.log
        if let refusal = log.writeRefusal { return refusal }
        do {
            _ = try log.lastPosition()
            return nil
        } catch {
            return error as? StorageError ?? .brokenPage(operation: "read")
        }
    }

    /// The last event's position; nil if it cannot be read.
    var lastPosition: UInt64? { try? api.log.lastPosition().rawValue }

    /// Puts another store in place and closes the one before, whose writes are stored first. The closed one's folder;
    /// nil if the service is ending.
    func replace(with writer: LogWriter, ephemeral: any EphemeralStore) async -> String? {
        let previous = state.withLock { state -> LogWriter? in
            if state.isClosed { return nil }
            let previous = state.writer
            state.writer = writer
            state.api = API(writer, workspace, ephemeral, state.api.activity)
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
