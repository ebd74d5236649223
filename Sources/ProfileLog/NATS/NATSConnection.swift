internal import CNATS
internal import Glibc
internal import Synchronization

/// A connection to one broker. It never comes back: once closed, requests fail at once, those that wait too, and what
/// was not sent never is.
///
/// Any thread may use it: libnats guards its connection by a lock.
final class NATSConnection: Sendable {
    /// Host and port of the broker.
    let broker: String
    private let locked: LockedPointer
    private var handle: OpaquePointer? { locked.pointer }
    private let subscriptions = Mutex(Subscriptions())

    private struct Subscriptions {
        /// All, ended ones too.
        var kept: [NATSSubscription] = []
        /// Inboxes that no request uses.
        var free: [NATSInbox] = []
    }

    /// Connects within `timeout`, which counts once for the connection and the greeting of the broker.
    init(_ server: String, _ settings: NATSSettings, timeout: Duration) throws(NATSError) {
        let options = try NATSOptions.connecting(to: server, settings, timeout: timeout)
        var connected: OpaquePointer?
        try NATSError.check(natsConnection_Connect(&connected, options.handle))
        guard let connected else { throw NATSError(NATS_NO_SERVER) }
        locked = LockedPointer(connected)
        broker = NATSSettings.address(of: server)
        if settings.isEncrypted(server) { Self.limitUnacknowledged(port: broker) }
    }

    deinit {
        // Waits for the library's threads of the connection: then no message can come, and subscriptions may be freed.
        natsConnection_Close(handle)
        subscriptions.withLock { $0 = Subscriptions() }
        natsConnection_Destroy(handle)
    }

    /// Ends all that waits.
    func close() { natsConnection_Close(handle) }

    var isClosed: Bool { natsConnection_IsClosed(handle) }

    /// The broker's `max_payload`, headers included.
    var mostPayload: Int { Int(natsConnection_GetMaxPayload(handle)) }

    /// The broker's words when it did not permit something: it does not answer the request, but sends an error of the
    /// connection.
    var violation: String? {
        var text: UnsafePointer<CChar>?
        let status = natsConnection_GetLastError(handle, &text)
        guard let text else { return nil }
        let message = String(cString: text)
        return status == NATS_NOT_PERMITTED || message.lowercased().contains("permissions violation") ? message : nil
    }

    // MARK: - Messages

    /// Sends without an answer.
    func publish(_ subject: String, _ bytes: [UInt8]) throws(NATSError) {
        try NATSError.check(natsConnection_Publish(handle, subject, bytes, CInt(bytes.count)))
    }

    /// Sends a request and waits for its answer. A timeout tells nothing of what the broker has done or will do.
    func request(
        _ subject: String, _ bytes: [UInt8], headers: [(name: String, value: String)] = [], timeout: Duration
    ) throws(NATSError) -> NATSMessage {
        let inbox = try inbox()
        let reply = inbox.nextSubject()
        try publish(NATSMessage.outgoing(to: subject, bytes, headers: headers, answerTo: reply), by: inbox)
        let answer = try answer(to: reply, in: inbox, timeout: timeout)
        free(inbox)
        return answer
    }

    /// Sends a request that several messages answer, and hands these to `body` until it returns false. Each must come
    /// within `timeout` after the one before.
    func request(
        _ subject: String, _ bytes: [UInt8], timeout: Duration, answers body: (borrowing NATSMessage) -> Answers
    ) throws(NATSError) {
        let inbox = try inbox()
        let reply = inbox.nextSubject()
        try publish(NATSMessage.outgoing(to: subject, bytes, answerTo: reply), by: inbox)
        while true {
            switch body(try answer(to: reply, in: inbox, timeout: timeout)) {
            case .goOn: continue
            case .end: return free(inbox)
            case .giveUp: return inbox.end()
            }
        }
    }

    /// Tells whether a request has more answers.
    enum Answers {
        case goOn
        case end
        /// There may be more, which are not wanted.
        case giveUp
    }

    func subscribe(to subject: String) throws(NATSError) -> NATSSubscription {
        var subscribed: OpaquePointer?
        try NATSError.check(natsConnection_SubscribeSync(&subscribed, handle, subject))
        guard let subscribed else { throw NATSError(NATS_NO_MEMORY) }
        let subscription = NATSSubscription(taking: subscribed)
        subscriptions.withLock { $0.kept.append(subscription) }
        return subscription
    }

    // MARK: - Inboxes

    private func inbox() throws(NATSError) -> NATSInbox {
        if let free = subscriptions.withLock({ $0.free.popLast() }) { return free }
        var created: UnsafeMutablePointer<natsInbox>?
        try NATSError.check(natsInbox_Create(&created))
        guard let created else { throw NATSError(NATS_NO_MEMORY) }
        defer { natsInbox_Destroy(created) }
        let prefix = String(cString: created)
        return NATSInbox(prefix, try subscribe(to: "\(prefix).*"))
    }

    /// Gives an inbox back, after its last answer.
    private func free(_ inbox: NATSInbox) { subscriptions.withLock { $0.free.append(inbox) } }

    private func publish(_ message: consuming NATSMessage, by inbox: NATSInbox) throws(NATSError) {
        let status = natsConnection_PublishMsg(handle, message.handle)
        if status != NATS_OK { inbox.end() }
        try NATSError.check(status)
    }

    /// Waits for an answer. An inbox without one is not used again: "no responders" has no subject when it comes late.
    private func answer(to reply: String, in inbox: NATSInbox, timeout: Duration) throws(NATSError) -> NATSMessage {
        do throws(NATSError) { return try inbox.next(to: reply, timeout: timeout) } catch {
            if error.status == NATS_NO_RESPONDERS { free(inbox) } else { inbox.end() }
            // A broker that does not permit a request says so on the connection, and does not answer.
            if error.status == NATS_TIMEOUT, let violation { throw NATSError(NATS_NOT_PERMITTED, violation) }
            throw error
        }
    }

    // MARK: - The socket

    /// The longest time of sent bytes without an acknowledgement of the broker's machine (tcp(7), TCP_USER_TIMEOUT).
    private static let mostUnacknowledgedMilliseconds: CUnsignedInt = 3000

    /// Ends connections to a broker that takes no bytes for seconds. Without this a write to a broker that was cut off
    /// holds the lock of the library's connection until the system gives up, a quarter of an hour later, and with it
    /// each caller. libnats does not tell its socket, so those of this process to the broker's port get the limit.
    private static func limitUnacknowledged(port broker: String) {
        guard let port = broker.split(separator: ":").last.flatMap({ UInt16($0) }),
            let folder = opendir("/proc/self/fd")
        else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let descriptor = CInt(name), peerPort(of: descriptor) == port else { continue }
            var limit = mostUnacknowledgedMilliseconds
            setsockopt(
                descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &limit, socklen_t(MemoryLayout.size(ofValue: limit)))
        }
    }

    /// The port that a descriptor is connected to, if it is a socket of IP.
    private static func peerPort(of descriptor: CInt) -> UInt16? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout.size(ofValue: address))
        return withUnsafeMutableBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress,
                getpeername(descriptor, start.assumingMemoryBound(to: sockaddr.self), &length) == 0
            else { return nil }
            // The port is at the same place in both.
            let family = CInt(bytes.load(as: sa_family_t.self))
            guard family == AF_INET || family == AF_INET6 else { return nil }
            return UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self))
        }
    }
}
