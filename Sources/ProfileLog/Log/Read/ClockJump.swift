/// Events that were recorded while the clock was ahead. Every later event has a time at least as late, until the clock
/// has caught up.
package struct ClockJump: Hashable, Sendable {
    /// The first of these events.
    package var position: Position
    /// The time at which that event was recorded.
    package var recordedAt: Timestamp
    /// The difference from the clock now, in seconds.
    package var seconds: Int64
}

extension LogReader {
    /// The first event whose time is more than a minute ahead of the clock (docs/decisions/0007); nil if there is none.
    package func clockJump() throws -> ClockJump? {
        let now = options.now()
        let last = try past.lastPosition(recordedBy: Timestamp(rawValue: now.rawValue + 60_000_000))
        return try event(at: last.next).map { event in
            ClockJump(
                position: event.position, recordedAt: event.recordedAt,
                seconds: (event.recordedAt.rawValue - now.rawValue) / 1_000_000)
        }
    }
}
