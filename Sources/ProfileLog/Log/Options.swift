/// How a log is opened.
public struct LogOptions: Sendable {
    /// Items that may wait for a launch on one device; a save beyond is refused.
    public var pendingItemsPerDevice = 10_000
    /// Events that the caches may be behind before they are written.
    public var indexLag = 65_536
    /// Events of one user between two snapshots; 0 writes none.
    public var snapshotInterval = 32
    /// Items in one `pendingFlushed` event.
    public var itemsPerFlush = 500
    /// What time it is: microseconds since 1970 UTC.
    public var now: @Sendable () -> Timestamp = { Timestamp.now() }

    /// The defaults.
    public init() {}
}
