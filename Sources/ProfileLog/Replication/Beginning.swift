internal import ProfileLogFacts
internal import ProfileLogLog
internal import ProfileLogStore

/// The end of a store's log when the store begins a stream. A store with the same end may take the message for its own:
/// its start ended before it had it.
///
/// ```
/// last position, uint64 BE | check of that position's cursor, uint32 BE; 0 in an empty log
/// ```
struct Beginning: Hashable, Sendable {
    let bytes: [UInt8]

    /// Reads the end of `log`.
    init(of log: EventLog) throws {
        let end = try log.reader.cursor(at: try log.lastPosition())
        var bytes: [UInt8] = []
        bytes.appendBigEndian(end.position.rawValue)
        bytes.appendBigEndian(end.check ?? 0)
        self.bytes = bytes
    }
}
