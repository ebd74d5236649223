/// How far a flush of the caches has come: the row `flush` of table `checkpoints`, for as long as one is under way.
///
/// What a flush writes follows from the log, the checkpoint and the target alone. So it belongs to nobody: whoever has committed, in whatever
/// process, writes the next slice, and what a process left when it ended is gone on with.
///
/// ```
/// revision of the caches uint32 BE | number uint64 BE | checkpoint uint64 BE | target uint64 BE | stage | 0, or 1 and the last key | CRC-32C uint32 LE
/// ```
struct FlushProgress: Hashable, Sendable {
    /// The parts of a flush in their order. `users` and `devices` hold states that the tail is applied to: which of their rows are ahead of
    /// the checkpoint is told by this row. No reader is led astray by the others that are ahead: entries of streams beyond it are ignored, a
    /// snapshot is asked for by its version, who has an ID and which append a key are answered by the tail before the table, and a
    /// contact is only a hint.
    enum Stage: UInt8, Sendable {
        case streams = 1
        case snapshots, identifiers, contacts, keys, users
        /// Table `pending` with it: a device's items come with its own row.
        case devices

        var next: Stage? { Stage(rawValue: rawValue + 1) }
    }

    static let key = Array("flush".utf8)
    /// Rows that another program wrote may say something else than today's, also before there is a checkpoint that tells it.
    private static let revision = IndexCheckpoint.currentRevision
    /// Bytes of the row that earlier programs wrote: a random mark. They wrote nothing ahead of the checkpoint that a reader applies the tail to.
    private static let markBytes = 16

    /// Random: when the caches were dropped, a flush begins anew that has the same checkpoint and the same target.
    let number: UInt64
    /// How far the caches reach until the flush is done.
    let checkpoint: UInt64
    /// How far they reach then.
    let target: UInt64
    var stage = Stage.streams
    /// The greatest key of the stage that is written; nil if none is. For users their number, big-endian; for devices their ID.
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

    /// The flush that is under way from `checkpoint`, in a log that ends at `last`; nil if none is. Throws if rows may be ahead of the
    /// checkpoint and nobody can tell which.
    static func read(
        _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable, checkpoint: UInt64, last: UInt64
    ) throws(StorageError) -> FlushProgress? {
        guard let row = try transaction.get(tables.checkpoints, key), row.count != markBytes else { return nil }
        guard let progress = FlushProgress(row), progress.checkpoint == checkpoint, progress.target > checkpoint,
            progress.target <= last
        else { throw .damaged(place: "row flush of table checkpoints") }
        return progress
    }

    /// As `read`; nil also if nobody can tell: the caches are as good as without a checkpoint then, and a new flush empties them.
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

    /// Whether fewer rows of the same stage are written.
    func isBehind(_ other: FlushProgress) -> Bool {
        guard let reached = other.last else { return false }
        return last.map { $0.lexicographicallyPrecedes(reached) } ?? true
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
