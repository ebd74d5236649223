/// The waits between two tries to settle a batch, and the time after which another broker is tried.
struct Patience {
    /// Without progress for so long, the broker may be cut off from the others.
    private static let ofBroker = Duration.seconds(3)
    private static let longestWait = 100
    private var milliseconds = 5
    private var brokerSince = ContinuousClock.now

    /// Tells whether the broker had time enough; then the next one has as much.
    mutating func isOver() -> Bool {
        guard ContinuousClock.now - brokerSince >= Self.ofBroker else { return false }
        brokerSince = .now
        return true
    }

    mutating func wait() {
        Pause.milliseconds(milliseconds)
        milliseconds = min(milliseconds * 2, Self.longestWait)
    }
}
