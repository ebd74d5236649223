public import ProfileLog
internal import Synchronization

/// A clock that a test sets: it shows the same time until the test changes it.
///
/// Each call of ``now`` is safe on any thread.
public final class ManualClock: Sendable {
    private let time: Mutex<Timestamp>

    /// A clock that shows `start`; by default at the beginning of 2026, UTC.
    public init(start: Timestamp = Timestamp(rawValue: 1_767_225_600_000_000)) { time = Mutex(start) }

    /// The time that the clock shows. A log never records an event before its last one, so a clock that is set back
    /// changes nothing there.
    public var now: Timestamp {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    /// Moves the clock on by `duration`, in whole microseconds.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        time.withLock { $0.rawValue += seconds * 1_000_000 + attoseconds / 1_000_000_000_000 }
    }
}
