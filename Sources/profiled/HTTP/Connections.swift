internal import HummingbirdCore
internal import NIOCore
internal import Synchronization

/// The open connections, and which of them give way to new ones.
///
/// A connection *works* from the end of a request until the end of its answer; else it *waits* for a whole request: it
/// is idle, or its request is half sent. At a limit the connection that has waited longest is closed. So a silent
/// client blocks no other client. One whose TLS handshake is not done is closed before those that wait longer. While as
/// many connections work as are allowed, new ones stay in the system's queue.
final class Connections: AvailableConnectionsDelegate {
    struct Counts {
        var open = 0
        var closed = 0
        /// Refused because their address had too many that work.
        var refused = 0
        /// Ended before their TLS handshake was done.
        var handshakesCut = 0
    }

    /// Tells a ``ConnectionHandler`` to close its connection, at once or after the answer on which it works.
    struct GiveWay {}

    fileprivate struct Connection {
        let channel: any Channel
        let address: String
        /// The time since which it waits for a whole request; nil while it works.
        var waitingSince: NIODeadline?
        /// Tells whether its TLS handshake is not done yet.
        var isInHandshake: Bool
        /// The names in its client's certificate; empty without one.
        var clientNames: [String] = []
    }

    fileprivate struct State {
        var limit: Int
        var limitPerAddress: Int
        var open: [Int: Connection] = [:]
        var openByAddress: [String: Int] = [:]
        /// Connections whose client has a certificate, by their channels.
        var certified: [ObjectIdentifier: Int] = [:]
        var lastID = 0
        var working = 0
        /// Tells whether new connections stay in the system's queue.
        var isFull = false
        var counts = Counts()
    }

    private let state: Mutex<State>

    init(limit: Int, limitPerAddress: Int) {
        state = Mutex(State(limit: limit, limitPerAddress: limitPerAddress))
    }

    /// The most that are open at once.
    var limit: Int { state.withLock { $0.limit } }

    /// Takes other limits. Connections that are one too many stay until new ones come.
    func setLimit(_ limit: Int, perAddress limitPerAddress: Int) {
        state.withLock { ($0.limit, $0.limitPerAddress) = (limit, limitPerAddress) }
    }

    var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.open = state.open.count
            return counts
        }
    }

    /// Adds a connection and returns its number. Closes waiting ones if that is one too many; nil if none of its
    /// address waits.
    func add(_ channel: any Channel, isInHandshake: Bool = false) -> Int? {
        let address = channel.remoteAddress?.ipAddress ?? ""
        let (id, closed) = state.withLock { state -> (Int?, [any Channel]) in
            var closed: [any Channel] = []
            if state.openByAddress[address, default: 0] >= state.limitPerAddress {
                guard let channel = state.removeLongestWaiting(at: address) else {
                    state.counts.refused += 1
                    return (nil, [])
                }
                closed.append(channel)
            }
            while state.open.count >= state.limit, let channel = state.removeLongestWaiting() { closed.append(channel) }
            state.lastID += 1
            state.open[state.lastID] = Connection(
                channel: channel, address: address, waitingSince: .now(), isInHandshake: isInHandshake)
            state.openByAddress[address, default: 0] += 1
            return (state.lastID, closed)
        }
        for channel in closed { channel.pipeline.fireUserInboundEventTriggered(GiveWay()) }
        return id
    }

    /// The connection's TLS handshake is done: it waits for its first request from now on. `clientNames` are those in
    /// its client's certificate.
    func endHandshake(_ id: Int, clientNames: [String]) {
        state.withLock { state in
            guard let connection = state.open[id] else { return }
            state.open[id]?.isInHandshake = false
            state.open[id]?.waitingSince = .now()
            if clientNames.isEmpty { return }
            state.open[id]?.clientNames = clientNames
            state.certified[ObjectIdentifier(connection.channel)] = id
        }
    }

    /// The names in the certificate of the client at `channel`; empty without one.
    func clientNames(at channel: any Channel) -> [String] {
        state.withLock { state in
            state.certified[ObjectIdentifier(channel)].flatMap { state.open[$0]?.clientNames } ?? []
        }
    }

    func begin(_ id: Int) {
        state.withLock { state in
            guard state.open[id]?.waitingSince != nil else { return }
            state.open[id]?.waitingSince = nil
            state.working += 1
        }
    }

    /// The connection's last answer is written. True if the connection must end, as others wait for it: it works until
    /// the answer is sent and ``remove(_:)`` is called.
    func finish(_ id: Int) -> Bool {
        state.withLock { state in
            guard let connection = state.open[id], connection.waitingSince == nil else { return false }
            if state.isFull {
                state.counts.closed += 1
                return true
            }
            state.working -= 1
            state.open[id]?.waitingSince = .now()
            return false
        }
    }

    func remove(_ id: Int) {
        state.withLock { state in
            if let connection = state.remove(id), connection.waitingSince == nil { state.working -= 1 }
        }
    }

    // MARK: - AvailableConnectionsDelegate

    func isAcceptingNewConnections() -> Bool {
        state.withLock { state in
            state.isFull = state.working >= state.limit
            return !state.isFull
        }
    }

    // `add` and `remove` count, as they know which connection it is.
    func connectionOpened() {}
    func connectionClosed() {}
}

extension Connections.State {
    fileprivate mutating func remove(_ id: Int) -> Connections.Connection? {
        guard let connection = open.removeValue(forKey: id) else { return nil }
        if connection.isInHandshake { counts.handshakesCut += 1 }
        certified[ObjectIdentifier(connection.channel)] = nil
        let others = openByAddress[connection.address, default: 1] - 1
        openByAddress[connection.address] = others > 0 ? others : nil
        return connection
    }

    /// Removes the connection that has waited longest, of `address` or of all, and one in its handshake before the
    /// others. O(open connections). Of all, the newest are kept for a second: their first request may be on its way.
    fileprivate mutating func removeLongestWaiting(at address: String? = nil) -> (any Channel)? {
        let now = NIODeadline.now()
        var longest: (id: Int, since: NIODeadline, isInHandshake: Bool)?
        for (id, connection) in open where address == nil || connection.address == address {
            guard let since = connection.waitingSince else { continue }
            if let longest {
                if longest.isInHandshake, !connection.isInHandshake { continue }
                if longest.isInHandshake == connection.isInHandshake, since >= longest.since { continue }
            }
            if address == nil, id > lastID - 16, now - since < .seconds(1) { continue }
            longest = (id, since, connection.isInHandshake)
        }
        guard let longest else { return nil }
        counts.closed += 1
        return remove(longest.id)?.channel
    }
}
