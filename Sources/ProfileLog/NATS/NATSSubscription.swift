internal import CNATS

/// A subscription of a connection, from which a thread of ours takes the messages.
///
/// It is freed with its connection, never before: libnats 3.4 looks a subscription up and locks it without a reference
/// of its own, so that a message that comes while it is freed ends the process (nats.c issue 637, mended in 3.5.1).
/// For this reason, too, requests have inboxes of ours (`NATSInbox`): the library frees its own when it closes.
final class NATSSubscription: Sendable {
    private let locked: LockedPointer
    private var handle: OpaquePointer? { locked.pointer }

    init(taking handle: OpaquePointer) { locked = LockedPointer(handle) }

    deinit { natsSubscription_Destroy(handle) }

    /// Waits for the next message. Throws at the end of `timeout`, and at once when the connection is closed.
    func next(timeout: Duration) throws(NATSError) -> NATSMessage {
        var message: OpaquePointer?
        try NATSError.check(natsSubscription_NextMsg(&message, handle, timeout.milliseconds))
        guard let message else { throw NATSError(NATS_TIMEOUT) }
        return NATSMessage(taking: message)
    }

    /// Lets the broker send no more.
    func end() { natsSubscription_Unsubscribe(handle) }
}

extension Duration {
    /// Whole milliseconds, at least one: libnats takes no 0.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
