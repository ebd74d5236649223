internal import CNATS
internal import Glibc
internal import ProfileLogReplication
internal import ProfileLogStore
internal import Synchronization

/// Keeps one connection to one of several brokers, by a thread of its own: connects, takes the notes that come, and
/// connects to the next broker when a connection ends, for ever. libnats gets one address at a time, so its random
/// order of several is not used: the node's name says where it begins.
final class NATSLink: Sendable {
    private struct State {
        var connection: NATSConnection?
        /// The reason why the last round through all brokers made no connection; nil while a round has not ended.
        var failure: StreamError?
        var isClosed = false
        var note: (@Sendable ([UInt8]) -> Void)?
    }

    /// The longest wait for one broker's connection.
    private static let connectTimeout = Duration.seconds(1)
    /// The wait after a round without a connection.
    private static let pause = Duration.milliseconds(250)
    /// The time for which a connection is kept after its end.
    private static let grace = Duration.seconds(3)

    private let settings: NATSSettings
    private let state = Mutex(State())

    init(_ settings: NATSSettings) { self.settings = settings }

    func start() { startThread("nats-link") { self.run() } }

    // MARK: - For callers

    /// The connection. Waits until `deadline` while one is being made; throws at once if no broker could be reached.
    func connection(until deadline: ContinuousClock.Instant) throws(StreamError) -> NATSConnection {
        while true {
            let (connection, failure, isClosed) = state.withLock { ($0.connection, $0.failure, $0.isClosed) }
            if let connection, !connection.isClosed { return connection }
            if isClosed {
                throw StreamError(.unreachable, "The node has left its brokers.", remedy: "Start the node again.")
            }
            if let failure { throw failure }
            if ContinuousClock.now >= deadline { throw unanswered(Self.list(settings.servers)) }
            usleep(2000)
        }
    }

    /// The connection, if there is one now.
    var current: NATSConnection? {
        guard let connection = state.withLock({ $0.connection }), !connection.isClosed else { return nil }
        return connection
    }

    /// Leaves the broker for the next one.
    func changeBroker() {
        let left = state.withLock { state in
            state.failure = nil
            defer { state.connection = nil }
            return state.connection
        }
        left?.close()
    }

    func onNote(_ body: @escaping @Sendable ([UInt8]) -> Void) { state.withLock { $0.note = body } }

    func close() {
        let left = state.withLock { state in
            state.isClosed = true
            state.note = nil
            defer { state.connection = nil }
            return state.connection
        }
        left?.close()
    }

    // MARK: - The thread

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func run() {
        var next = settings.firstServer
        // A connection is freed some time after its end: the library may be about to close it by a thread of its own.
        var ended: [(connection: NATSConnection, time: ContinuousClock.Instant)] = []
        while !isClosed {
            ended.removeAll { ContinuousClock.now - $0.time > Self.grace }
            guard let (connection, index) = connect(from: next) else {
                usleep(UInt32(Self.pause.milliseconds * 1000))
                continue
            }
            let begin = ContinuousClock.now
            receive(by: connection)
            ended.append((connection, .now))
            // A broker that takes connections and ends them at once.
            if ContinuousClock.now - begin < Self.pause { usleep(UInt32(Self.pause.milliseconds * 1000)) }
            next = (index + 1) % settings.servers.count
        }
        usleep(UInt32(Self.grace.milliseconds * 1000))
    }

    /// Tries each broker once, and gives the index of the one that it is connected to.
    private func connect(from first: Int) -> (NATSConnection, index: Int)? {
        var failures: [StreamError] = []
        for step in settings.servers.indices where !isClosed {
            let index = (first + step) % settings.servers.count
            let server = settings.servers[index]
            do throws(NATSError) {
                let connection = try NATSConnection(server, settings, timeout: Self.connectTimeout)
                let isWanted = state.withLock { state in
                    if state.isClosed { return false }
                    (state.connection, state.failure) = (connection, nil)
                    return true
                }
                if isWanted { return (connection, index) }
                connection.close()
            } catch {
                failures.append(error.meaning(at: NATSSettings.address(of: server)))
            }
        }
        // One broker that refuses tells more than others that are down.
        let failure = failures.first { $0.kind == .unfit } ?? unanswered(Self.list(settings.servers))
        state.withLock { $0.failure = failure }
        return nil
    }

    /// Hands over notes until the connection ends.
    private func receive(by connection: NATSConnection) {
        if let notes = try? connection.subscribe(to: settings.notes) {
            while !connection.isClosed {
                do throws(NATSError) {
                    let note = try notes.next(timeout: .seconds(1)).bytes
                    state.withLock { $0.note }?(note)
                } catch  where error.status == NATS_TIMEOUT {
                    continue
                } catch {
                    break
                }
            }
        }
        connection.close()
        state.withLock { state in
            if state.connection === connection { (state.connection, state.failure) = (nil, nil) }
        }
    }

    private func unanswered(_ brokers: String) -> StreamError {
        StreamError(
            .unreachable, "No broker answers: \(brokers).",
            remedy: "Start the brokers, or look at their addresses and the network; the node goes on trying.")
    }

    private static func list(_ servers: [String]) -> String {
        servers.map { NATSSettings.address(of: $0) }.joined(separator: ", ")
    }
}
