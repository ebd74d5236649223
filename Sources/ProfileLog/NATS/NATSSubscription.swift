internal import CNATS

/// A subscription whose messages a thread of ours takes; it ends with this value.
struct NATSSubscription: ~Copyable {
    private let handle: OpaquePointer

    init(taking handle: OpaquePointer) { self.handle = handle }

    deinit { natsSubscription_Destroy(handle) }

    /// Waits for the next message. Throws at the end of `timeout`, and at once when the connection is closed.
    func next(timeout: Duration) throws(NATSError) -> NATSMessage {
        var message: OpaquePointer?
        try NATSError.check(natsSubscription_NextMsg(&message, handle, timeout.milliseconds))
        guard let message else { throw NATSError(NATS_TIMEOUT) }
        return NATSMessage(taking: message)
    }
}

extension Duration {
    /// Whole milliseconds, at least one: libnats takes no 0.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
