/// A running flush of the caches, in the memory of the process that writes its next slice.
struct IndexFlush: Sendable {
    /// The number of rows that one search finds: enough to pay for a scan of the whole tail, and few enough to sort
    /// quickly.
    private static let rowsAtOnce = 16_384
    /// A tail with so many candidates is searched in a few milliseconds.
    static let quicklyFound = 65_536

    private(set) var progress: FlushProgress
    let tail: Guarded<Tail>
    /// The tail after the target. It grows with each slice, so the end of the flush is quick.
    let successor: Guarded<Tail>
    private let snapshotInterval: Int
    /// The next rows of the stage in their order; nil before they are searched.
    private var rows: ArraySlice<Int>?
    /// Tells whether these are all that the stage has left.
    private var areAll = false

    /// A flush that goes on at `progress`. `tail` holds the events from its checkpoint to its target, of which the last
    /// was recorded at `recordedAt`.
    init(_ progress: FlushProgress, _ tail: Guarded<Tail>, recordedAt: Int64, snapshotInterval: Int) {
        self.progress = progress
        self.tail = tail
        self.snapshotInterval = snapshotInterval
        let users = tail.withReading { $0.userCount(visibleTo: progress.target) }
        successor = Guarded(Tail(base: progress.target, userCount: users, lastRecordedAt: recordedAt))
    }

    /// Tells whether the rows to write next are known.
    var hasRows: Bool { rows != nil }
    /// The number of entries of the tail that a search looks at.
    var candidates: Int { tail.withReading { $0.candidates(for: progress.stage) } }

    /// The cost of a row of the stage in a slice. A snapshot reads as many records as there are events between two. It
    /// counts for 8 rows at most: a flush that writes a snapshot of every user must end before too much gathers after
    /// it, and the size of slices follows their duration too.
    var rowCost: Int { progress.stage == .snapshots ? max(1, min(snapshotInterval, 8)) : 1 }

    /// Finds the rows to write next, `limit` of them or more.
    mutating func findRows(_ limit: Int) {
        let limit = max(limit, Self.rowsAtOnce)
        let found = tail.withReading { tail in
            tail.rows(of: progress, snapshotInterval: snapshotInterval, limit: limit)
        }
        areAll = found.count < limit
        rows = found[...]
    }

    /// Takes the next rows of the stage, `limit` at most: none if the stage has no more.
    mutating func takeRows(_ limit: Int) -> ArraySlice<Int> {
        guard let known = rows else { return [] }
        let next = known.prefix(limit)
        if let last = next.last { progress.last = tail.withReading { $0.key(of: last, in: progress.stage) } }
        let rest = known.dropFirst(next.count)
        rows = rest.isEmpty && !areAll ? nil : rest
        return next
    }

    /// Goes on to the next stage, and answers whether there is one.
    mutating func beginNextStage() -> Bool {
        guard let stage = progress.stage.next else { return false }
        progress.stage = stage
        progress.last = nil
        rows = nil
        return true
    }

    /// Goes on from the progress of another process with the same flush. Known rows that it has not written are kept;
    /// if it is not yet at the first of them, they are looked for again.
    mutating func moveOn(to further: FlushProgress) {
        if further == progress { return }
        CoverageMark.hit(.flushContinued)
        if further.stage == progress.stage, let known = rows, let last = further.last, !further.precedes(progress) {
            rows = tail.withReading { tail in known.drop { !tail.isRow($0, after: last, in: further.stage) } }
            if rows?.isEmpty == true, !areAll { rows = nil }
        } else {
            rows = nil
        }
        progress = further
    }
}

/// The progress of a flush of the caches: the row `flush` of table `checkpoints`, for as long as one is under way.
///
/// The content of a flush follows only from the log, the checkpoint and the target. So a flush belongs to no process:
/// after a commit, any process writes the next slice.
///
/// ```
/// revision of the caches uint32 BE | number uint64 BE | checkpoint uint64 BE | target uint64 BE
/// | stage | 0, or 1 and the last key | CRC-32C uint32 LE
/// ```
struct FlushProgress: Hashable, Sendable {
    /// The parts of a flush in their order. Rows of `users` and `devices` hold states to which the tail is applied: the
    /// row `flush` tells which of them are ahead of the checkpoint. Other rows ahead of it do no harm. Readers ignore
    /// entries of streams after the checkpoint, ask for a snapshot by version, look up IDs and keys in the tail first,
    /// and take a contact only as a hint.
    enum Stage: UInt8, Sendable {
        case streams = 1
        case snapshots, identifiers, contacts, keys, users
        /// Table `pending` with it: a device's items come with its own row.
        case devices

        var next: Stage? { Stage(rawValue: rawValue + 1) }
    }

    static let key = Array("flush".utf8)
    /// Another program's rows may mean something else, also before there is a checkpoint that tells it.
    private static let revision = IndexCheckpoint.currentRevision
    /// Size of the row that earlier programs wrote: a random mark. They wrote no states ahead of the checkpoint.
    private static let markBytes = 16

    /// Random: after the caches were dropped, a new flush may have the same checkpoint and target.
    let number: UInt64
    /// The checkpoint until the flush is done.
    let checkpoint: UInt64
    /// The checkpoint after the flush.
    let target: UInt64
    var stage = Stage.streams
    /// The greatest written key of the stage; nil if none is written. For users their number, big-endian; for devices
    /// their ID.
    var last: [UInt8]?

    init(checkpoint: UInt64, target: UInt64, number: UInt64 = .random(in: .min ... .max)) {
        self.number = number
        self.checkpoint = checkpoint
        self.target = target
    }

    /// Returns nil if the row is damaged, or of another program.
    private init?(_ row: UnsafeRawBufferPointer) {
        guard row.count >= 34, RecordHeader.hasRightChecksum(row), row.bigEndian32() == Self.revision,
            let stage = Stage(rawValue: row[28])
        else { return nil }
        self.init(
            checkpoint: row.bigEndian64(at: 12), target: row.bigEndian64(at: 20), number: row.bigEndian64(at: 4))
        self.stage = stage
        if row[29] == 1 { last = Array(row.slice(30..<(row.count - 4))) }
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendBigEndian(Self.revision)
        bytes.appendBigEndian(number)
        bytes.appendBigEndian(checkpoint)
        bytes.appendBigEndian(target)
        bytes.append(stage.rawValue)
        bytes.append(last == nil ? 0 : 1)
        bytes += last ?? []
        bytes.appendChecksum()
        return bytes
    }

    /// The flush that runs from `checkpoint` in a log that ends at `last`; nil if none does. Throws if rows may be
    /// ahead of the checkpoint and the row does not tell which.
    static func read(
        _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable, checkpoint: UInt64, last: UInt64
    ) throws(StorageError) -> FlushProgress? {
        guard let row = try transaction.get(tables.checkpoints, key), row.count != markBytes else { return nil }
        guard let progress = FlushProgress(row), progress.checkpoint == checkpoint, progress.target > checkpoint,
            progress.target <= last
        else { throw .damaged(place: "row flush of table checkpoints") }
        return progress
    }

    /// As `read`, but nil where that throws: such caches are used no more than caches without a checkpoint, and a new
    /// flush empties them.
    static func known(
        _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable, checkpoint: UInt64, last: UInt64
    ) throws(StorageError) -> FlushProgress? {
        do {
            return try read(tables, transaction, checkpoint: checkpoint, last: last)
        } catch .damaged {
            return nil
        }
    }

    func isSameFlush(as other: FlushProgress) -> Bool {
        number == other.number && checkpoint == other.checkpoint && target == other.target
    }

    /// Tells whether fewer rows of the same stage are written.
    func precedes(_ other: FlushProgress) -> Bool {
        guard let reached = other.last else { return false }
        return last.map { $0.lexicographicallyPrecedes(reached) } ?? true
    }

    /// Tells whether the row of `user` in table `users` has reached the target.
    func hasWritten(user: UInt64) -> Bool {
        if stage != .users { return stage.rawValue > Stage.users.rawValue }
        return last.map { last in user <= last.withUnsafeBytes { $0.bigEndian64() } } ?? false
    }

    /// Tells whether the rows of `device` in the tables `devices` and `pending` have reached the target.
    func hasWritten(device: Name) -> Bool {
        guard stage == .devices, let last else { return false }
        return !last.lexicographicallyPrecedes(device.text.utf8)
    }
}

/// The number of rows in a slice of a flush. Slow slices make it smaller, as each row may be on its own page.
struct SliceSize {
    private static let least = 128
    private static let (short, long) = (Duration.milliseconds(10), Duration.milliseconds(25))

    private let most: Int
    private(set) var rows: Int
    let now: @Sendable () -> ContinuousClock.Instant

    init(most: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.most = most
        self.now = now
        rows = most
    }

    /// Adapts to the time that the rows of a slice took, begun at `begin`.
    mutating func learn(since begin: ContinuousClock.Instant) {
        let duration = now() - begin
        if duration > Self.long { rows = min(most, max(Self.least, rows / 2)) }
        if duration < Self.short { rows = min(most, rows * 2) }
    }
}
