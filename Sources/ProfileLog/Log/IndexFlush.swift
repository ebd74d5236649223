/// A flush of the caches, as the process that writes its next slice has it in memory.
struct IndexFlush: Sendable {
    /// How many rows are looked for at once: so many that the look at the whole tail pays, and so few that they are
    /// quickly in order.
    private static let rowsAtOnce = 16_384
    /// A tail with so many candidates is looked through in a few milliseconds.
    static let quicklyFound = 65_536

    private(set) var progress: FlushProgress
    let tail: Guarded<Tail>
    /// What comes after the target. It grows with each slice, so that no one waits for it at the end.
    let successor: Guarded<Tail>
    private let snapshotInterval: Int
    /// The next rows of the stage in their order; nil if they were not looked for yet.
    private var rows: ArraySlice<Int>?
    /// Whether these are all that the stage has left.
    private var areAll = false

    /// A flush that goes on at `progress`. `tail` holds what lies between its checkpoint and its target, the last of
    /// which was recorded at `recordedAt`.
    init(_ progress: FlushProgress, _ tail: Guarded<Tail>, recordedAt: Int64, snapshotInterval: Int) {
        self.progress = progress
        self.tail = tail
        self.snapshotInterval = snapshotInterval
        let users = tail.withReading { $0.userCount(visibleTo: progress.target) }
        successor = Guarded(Tail(base: progress.target, userCount: users, lastRecordedAt: recordedAt))
    }

    /// Whether the rows to write next are known.
    var hasRows: Bool { rows != nil }
    /// How much must be looked at to find them.
    var candidates: Int { tail.withReading { $0.candidates(for: progress.stage) } }

    /// What a row of the stage is counted for. A snapshot looks up as many records as there are events between two; it
    /// counts for fewer rows, as a flush in which all users get one must end before too much gathers after it, and
    /// slices go by the time that they take too.
    var rowCost: Int { progress.stage == .snapshots ? max(1, min(snapshotInterval, 8)) : 1 }

    /// Looks for the rows to write next, `limit` of them or more.
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

    /// Goes on where another process has come with the same flush.
    mutating func moveOn(to further: FlushProgress) {
        if further != progress { (progress, rows) = (further, nil) }
    }
}

/// How far a flush of the caches has come: the row `flush` of table `checkpoints`, for as long as one is under way.
///
/// What a flush writes follows from the log, the checkpoint and the target alone. So it belongs to no process: after a
/// commit, any process writes the next slice, and goes on with what another one left.
///
/// ```
/// revision of the caches uint32 BE | number uint64 BE | checkpoint uint64 BE | target uint64 BE | stage | 0, or 1 and the last key | CRC-32C uint32 LE
/// ```
struct FlushProgress: Hashable, Sendable {
    /// The parts of a flush in their order. `users` and `devices` hold states that the tail is applied to: which of
    /// their rows are ahead of the checkpoint is told by this row. No reader is led astray by the others that are
    /// ahead: entries of streams beyond it are ignored, a snapshot is asked for by its version, who has an ID and which
    /// append a key are answered by the tail before the table, and a contact is only a hint.
    enum Stage: UInt8, Sendable {
        case streams = 1
        case snapshots, identifiers, contacts, keys, users
        /// Table `pending` with it: a device's items come with its own row.
        case devices

        var next: Stage? { Stage(rawValue: rawValue + 1) }
    }

    static let key = Array("flush".utf8)
    /// Rows that another program wrote may say something else than today's, also before there is a checkpoint that
    /// tells it.
    private static let revision = IndexCheckpoint.currentRevision
    /// Bytes of the row that earlier programs wrote: a random mark. They wrote nothing ahead of the checkpoint that a
    /// reader applies the tail to.
    private static let markBytes = 16

    /// Random: when the caches were dropped, a flush starts again that has the same checkpoint and the same target.
    let number: UInt64
    /// How far the caches reach until the flush is done.
    let checkpoint: UInt64
    /// How far they reach then.
    let target: UInt64
    var stage = Stage.streams
    /// The greatest key of the stage that is written; nil if none is. For users their number, big-endian; for devices
    /// their ID.
    var last: [UInt8]?

    init(checkpoint: UInt64, target: UInt64, number: UInt64 = .random(in: .min ... .max)) {
        self.number = number
        self.checkpoint = checkpoint
        self.target = target
    }

    /// Nil if the row is damaged, or of another program.
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
        let checksum = bytes.withUnsafeBytes { crc32c($0) }
        withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// The flush that is under way from `checkpoint`, in a log that ends at `last`; nil if none is. Throws if rows may
    /// be ahead of the checkpoint and it cannot be told which.
    static func read(
        _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable, checkpoint: UInt64, last: UInt64
    ) throws(StorageError) -> FlushProgress? {
        guard let row = try transaction.get(tables.checkpoints, key), row.count != markBytes else { return nil }
        guard let progress = FlushProgress(row), progress.checkpoint == checkpoint, progress.target > checkpoint,
            progress.target <= last
        else { throw .damaged(place: "row flush of table checkpoints") }
        return progress
    }

    /// As `read`; nil also if it cannot be told: the caches are as good as without a checkpoint then, and a new flush
    /// empties them.
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

    /// Whether the row of `user` in table `users` has reached the target.
    func hasWritten(user: UInt64) -> Bool {
        if stage != .users { return stage.rawValue > Stage.users.rawValue }
        return last.map { last in user <= last.withUnsafeBytes { $0.bigEndian64() } } ?? false
    }

    /// Whether the rows of `device` in the tables `devices` and `pending` have reached the target.
    func hasWritten(device: Name) -> Bool {
        guard stage == .devices, let last else { return false }
        return !last.lexicographicallyPrecedes(device.text.utf8)
    }
}

/// How many rows a slice of a flush writes: fewer if slices take long, as each row may be on a page of its own.
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

    /// Follows the time that the rows of a slice took, begun at `begin`.
    mutating func learn(since begin: ContinuousClock.Instant) {
        let duration = now() - begin
        if duration > Self.long { rows = min(most, max(Self.least, rows / 2)) }
        if duration < Self.short { rows = min(most, rows * 2) }
    }
}
