internal import Glibc

/// The reads of a live store for a backup. None is longer than a part of a segment: an open reader keeps old pages in
/// use.
struct StoreReads {
    let log: EventLog
    /// The most bytes of records that one read transaction copies, and one record more.
    private static let bytesPerRead = 16 << 20
    /// The most names that one read transaction copies.
    private static let namesPerRead = 65_536

    private var tables: Tables { log.environment.tables }

    /// The end of the log and table `meta`, of one moment.
    struct Moment {
        let last: Position
        /// The rows of table `meta`, in the order of their keys.
        let meta: [CommitBatch.MetaRow]

        /// The moment of a store that is of no cluster.
        var alone: Moment { Moment(last: last, meta: CommitBatch.aloneMeta(meta)) }

        private func row(_ name: String) -> [UInt8]? { meta.first { $0.name == name }?.value }

        private func counter(_ name: String) throws(StorageError) -> UInt32 {
            guard let row = row(name) else { return 0 }
            guard row.count == 4 else { throw .damaged(place: "row \(name) of table meta") }
            return row.withUnsafeBytes { $0.bigEndian32() }
        }

        func rewrites() throws(StorageError) -> UInt32 { try counter("rewrites") }
        func nameErasures() throws(StorageError) -> UInt32 { try counter("erasures") }

        func histories() throws(StorageError) -> LogHistories {
            guard let row = row(LogHistories.row) else { return LogHistories() }
            guard let histories = row.withUnsafeBytes({ LogHistories($0) }) else {
                throw .damaged(place: "row \(LogHistories.row) of table meta")
            }
            return histories
        }
    }

    func moment() throws -> Moment {
        try log.environment.withReadTransaction { try moment($0) }
    }

    private func moment(_ transaction: borrowing ReadTransaction) throws -> Moment {
        Moment(last: try last(transaction), meta: try CommitBatch.meta(tables, transaction))
    }

    private func last(_ transaction: borrowing ReadTransaction) throws -> Position {
        try transaction.withCursor(tables.log) { cursor in
            guard let row = try cursor.last() else { return .start }
            guard let number = row.key.number else { throw StorageError.damaged(place: "a key of table log") }
            return Position(rawValue: number)
        }
    }

    // MARK: - Segments

    /// An event `userErased`.
    struct FoundErasure {
        let position: Position
        let user: UserNumber
        let recordedAt: Timestamp

        /// The event of the record at `position`; nil if it is of another kind.
        init?(_ header: RecordHeader, at position: UInt64) {
            guard header.kind == .userErased else { return nil }
            self.position = Position(rawValue: position)
            user = UserNumber(rawValue: header.user)
            recordedAt = Timestamp(rawValue: header.recordedAt)
        }
    }

    /// A segment as the store has it.
    struct LiveSegment {
        let bytes: [UInt8]
        /// The SHA-256 of `bytes`, computed at each call.
        var sha256: [UInt8] { SHA256.hash(bytes) }
        let first, last: Position
        let firstAt, lastAt: Timestamp
        /// The end of the log when the first record was read: later erasures may have changed records since.
        let asOf: Position
        /// Its events `userErased`.
        let erasures: [FoundErasure]
    }

    /// A segment that is being read, in several transactions if it has many bytes.
    struct PartialSegment {
        fileprivate let number: UInt64
        fileprivate var writer: SegmentWriter
        fileprivate var asOf: Position?
        fileprivate var times: (first: Timestamp, last: Timestamp)?
        fileprivate var erasures: [FoundErasure] = []

        /// The segment, which takes the bytes over; nil if it has no record.
        mutating func finished() -> LiveSegment? {
            guard let times, let asOf else { return nil }
            let bytes = writer.finish()
            return LiveSegment(
                bytes: bytes, first: Segment.first(of: number),
                last: Position(rawValue: writer.next.rawValue - 1), firstAt: times.first, lastAt: times.last,
                asOf: asOf, erasures: erasures)
        }

        fileprivate mutating func add(_ record: UnsafeRawBufferPointer, _ position: UInt64) throws {
            // Throws for a wrong checksum: a damaged record must not replace a good one.
            let header = try RecordHeader(record, at: position)
            let time = Timestamp(rawValue: header.recordedAt)
            times = (times?.first ?? time, time)
            if let erasure = FoundErasure(header, at: position) { erasures.append(erasure) }
            writer.append(record)
        }
    }

    func reading(_ number: UInt64, history: UInt64, expecting bytes: Int = 0) -> PartialSegment {
        PartialSegment(
            number: number,
            writer: SegmentWriter(store: log.storeID, history: history, number: number, expecting: bytes))
    }

    /// Reads the segment `number` up to `end`, or to its own end. The log reaches to there. It has about as many bytes
    /// as `expecting` says, if that is known.
    func segment(
        _ number: UInt64, history: UInt64, to end: Position = Position(rawValue: .max), expecting bytes: Int = 0
    ) throws -> LiveSegment {
        let end = min(end, Segment.last(of: number))
        var reading = reading(number, history: history, expecting: bytes)
        while reading.writer.next <= end {
            try log.environment.withReadTransaction { transaction in
                let last = try last(transaction)
                if last < end {
                    throw StorageError.damaged(place: "position \(last.next.rawValue) of the log is missing")
                }
                try read(&reading, to: end, asOf: last, transaction)
            }
        }
        guard let segment = reading.finished() else {
            throw StorageError.damaged(place: "position \(Segment.first(of: number).rawValue) of the log is missing")
        }
        return segment
    }

    /// Reads up to `end`, or as much as fits into one transaction.
    private func read(
        _ reading: inout PartialSegment, to end: Position, asOf last: Position, _ transaction: borrowing ReadTransaction
    ) throws {
        reading.asOf = reading.asOf ?? last
        let (first, most) = (reading.writer.next.rawValue, reading.writer.size + Self.bytesPerRead)
        try OpenStore.scanRecords(tables, from: first, to: end.rawValue, transaction) { position, record in
            try reading.add(record, position)
            return reading.writer.size < most
        }
    }

    // MARK: - The end of a run

    /// The end of the log, of one moment: the segment that is not closed, the names and table `meta`.
    struct End {
        let moment: Moment
        /// The last segment; nil if that is closed, or the log is empty.
        let open: LiveSegment?
        /// The rows of table `names`.
        let names: [[UInt8]]
    }

    /// Reads the end of the log after the `closed` segments. Nil if there is another closed segment by now.
    func end(after closed: UInt64, history: UInt64) throws -> End? {
        var reading = reading(closed + 1, history: history)
        var names = PartialNames()
        let full = Segment.last(of: closed + 1)
        while true {
            var isClosed = false
            let end: End? = try log.environment.withReadTransaction { transaction in
                let last = try last(transaction)
                isClosed = last >= full
                if isClosed { return nil }
                try read(&reading, to: last, asOf: last, transaction)
                let hasAllNames = try read(&names, transaction)
                if reading.writer.next <= last || !hasAllNames { return nil }
                return End(moment: try moment(transaction), open: reading.finished(), names: names.rows)
            }
            if isClosed { return nil }
            if let end { return end }
        }
    }

    /// The names and table `meta` as they are now, for a run that stops early.
    func names() throws -> (moment: Moment, rows: [[UInt8]]) {
        var names = PartialNames()
        while true {
            let moment: Moment? = try log.environment.withReadTransaction { transaction in
                guard try read(&names, transaction) else { return nil }
                return try self.moment(transaction)
            }
            if let moment { return (moment, names.rows) }
        }
    }

    /// Names that are being read, in several transactions if there are many.
    private struct PartialNames {
        var rows: [[UInt8]] = []
        /// The counter of erasures of names when they were read: one that comes later empties rows.
        var erasures: UInt32 = 0
    }

    /// Reads on, as much as one transaction may. False if there are more names.
    private func read(_ names: inout PartialNames, _ transaction: borrowing ReadTransaction) throws -> Bool {
        let erasures = try moment(transaction).nameErasures()
        if names.erasures != erasures { names = PartialNames(erasures: erasures) }
        var bytes = 0
        return try transaction.withCursor(tables.names) { cursor in
            var key: [UInt8] = []
            key.appendBigEndian(UInt32(names.rows.count + 1))
            var row = try cursor.seek(key)
            while let found = row {
                let number = names.rows.count + 1
                guard found.key.count == 4, found.key.bigEndian32() == UInt32(number) else {
                    throw StorageError.damaged(place: "row \(number) of table names is missing")
                }
                guard RecordHeader.hasRightChecksum(found.value) else {
                    throw StorageError.damaged(place: "row \(number) of table names fails its checksum")
                }
                names.rows.append(Array(found.value))
                bytes += found.value.count
                if bytes >= Self.bytesPerRead || names.rows.count % Self.namesPerRead == 0 { return false }
                row = try cursor.next()
            }
            return true
        }
    }

    // MARK: - Erasures

    /// The records that the erasure of `user` concerns.
    func erasedPositions(of user: UserNumber) throws -> ErasedPositions {
        try log.erasedPositions(of: user.rawValue)
    }

    /// The erasures that a restored store keeps next to its log, which does not tell of them.
    func unrecordedErasures() throws -> [RegisteredErasure] {
        do throws(BackupError) {
            return try ErasureRegister.read("\(log.path)/\(ErasureRegister.fileName)").erasures
        } catch {
            if case .unreachable(_, let code) = error, code == ENOENT { return [] }
            throw error
        }
    }

    /// The erasures of the log, with an entry for each user: reads every record. Nil if `progress` stopped it.
    func erasures(progress: (LogProgress) -> Bool) throws -> [RegisteredErasure]? {
        let start = try moment()
        let (last, histories) = (start.last, try start.histories())
        var found: [FoundErasure] = []
        var position: UInt64 = 0
        while position < last.rawValue {
            let end = min(last.rawValue, position + Segment.positions)
            try log.environment.withReadTransaction { transaction in
                try OpenStore.scan(tables, from: position + 1, to: end, transaction) { at, header in
                    if let erasure = FoundErasure(header, at: at) { found.append(erasure) }
                    return true
                }
            }
            position = end
            if !progress(LogProgress(stage: "erasures", done: position, total: last.rawValue)) { return nil }
        }
        let ofLog = try found.flatMap { try entries(of: $0, erasedPositions(of: $0.user), histories) }
        return try ofLog + unrecordedErasures()
    }

    /// The entries of an erasure in the register.
    func entries(
        of erasure: FoundErasure, _ erased: ErasedPositions, _ histories: LogHistories
    ) -> [RegisteredErasure] {
        erased.users.map { user in
            RegisteredErasure(
                position: erasure.position, user: user.number, recordedAt: erasure.recordedAt,
                history: histories.history(at: erasure.position).id, first: user.first, firstAt: user.firstAt)
        }
    }
}

extension ErasureRegister {
    /// The erasures of a log; nil if `progress` stopped the work.
    package init?(of log: EventLog, progress: (LogProgress) -> Bool = { _ in true }) throws {
        guard let erasures = try StoreReads(log: log).erasures(progress: progress) else { return nil }
        self.init(store: log.storeID, erasures: Self.sorted(erasures))
    }

    /// Each erasure once, in the order of their positions.
    static func sorted(_ erasures: [RegisteredErasure]) -> [RegisteredErasure] {
        Set(erasures).sorted { ($0.position, $0.history, $0.user) < ($1.position, $1.history, $1.user) }
    }
}
