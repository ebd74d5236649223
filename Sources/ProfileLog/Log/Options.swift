/// The options of a log.
public struct LogOptions: Sendable {
    /// Items that may wait for a launch on one device; a save beyond is refused.
    package var pendingItemsPerDevice = 10_000
    /// Events that the caches may lag by before they are written; with more users than that, as many as there are
    /// users, up to 2^20.
    package var indexLag = 65_536
    /// Users whose rows one slice of such a writing, or of a replay into a shadow, touches at most: each may be on its
    /// own page.
    package var usersPerIndexSlice = 2_048
    /// Events of one user between two snapshots; 0 writes none.
    public var snapshotInterval = 32
    /// Items in one `pendingFlushed` event.
    package var itemsPerFlush = 500
    /// The mode of a new store's files, whatever the umask is; its folder may be entered by those who may read them. A
    /// store holds personal data, so by default only its owner may read it.
    public var fileMode: UInt32 = 0o600
    /// The current time: microseconds since 1970 UTC.
    public var now: @Sendable () -> Timestamp = { Timestamp.now() }

    /// In-app messages that the first session declares if none are declared then: a list that `InAppMessage.list`
    /// accepts.
    package var inAppMessages: AttributeValue = .array([])

    /// The fold rules before the first change of rules. They are not in the log, so who reads the store must open it
    /// with the same.
    package var rules = FoldRules()

    /// Called after each commit of appends that stored events, launches included, on the committing thread and before
    /// the next commit. It must be short and must not use the log. Not called after an erasure, nor for the events of a
    /// copy.
    package var onCommit: (@Sendable (CommitReport) -> Void)?

    /// The greatest lag of the caches in events, however many users there are; and how many one flush writes.
    var greatestLag: UInt64 = 1 << 20
    /// Blocks of records whose addresses are kept in memory.
    var addressBlocks = AddressCache.mostBlocks

    /// The transport of decided batches before they are applied.
    package var transport: any CommitTransport = LocalTransport()

    /// The defaults.
    public init() {}

    /// Refuses values that no log can work with.
    func check() throws(AppendError) {
        try Self.check("itemsPerFlush", itemsPerFlush, 1...100_000)  // a flush is one event, which has a largest size
        try Self.check("indexLag", indexLag, 1...1 << 30)
        try Self.check("usersPerIndexSlice", usersPerIndexSlice, 1...1 << 30)
        try Self.check("snapshotInterval", snapshotInterval, 0...Int.max)
        guard fileMode & 0o600 == 0o600, fileMode & ~0o666 == 0 else {
            throw .invalid(place: "The option fileMode", reason: "must be from 0600 to 0666, without execution")
        }
        try Self.check("pendingItemsPerDevice", pendingItemsPerDevice, 0...Int.max)
    }

    private static func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws(AppendError) {
        if range.contains(value) { return }
        let most = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
        throw .invalid(place: "The option \(name)", reason: "must be \(range.lowerBound) \(most), not \(value)")
    }
}

extension LogOptions {
    /// The lag in events at which the caches are written: as many as there are users, so that enough events pay for a
    /// flush, which touches nearly every page of `streams`.
    func lagLimit(_ users: UInt64) -> Int {
        max(indexLag, Int(min(users, greatestLag)))
    }
}
