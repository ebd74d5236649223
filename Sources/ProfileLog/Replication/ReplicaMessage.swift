internal import ProfileLogFacts
internal import ProfileLogLog
internal import ProfileLogRecords
internal import ProfileLogStore

/// A message of the stream: one batch, and what makes it fit in one place of one cluster only.
///
/// ```
/// format uint32 BE | kind uint8 | store ID, 16 bytes | batch ID, 16 bytes | wanted sequence uint64 BE |
/// SHA-256 of the message before, 32 bytes | the time at which the stream was made | writer's name | writer's URL |
/// batch (`CommitBatch.encoded`, or `Beginning.bytes`) | CRC-32C of all before it, uint32 LE
/// ```
///
/// The last four parts before the checksum are a length (varint) and as many bytes. The condition on the publish lets
/// one message win a place; the content lets a node see that the place is the one that was meant.
struct ReplicaMessage: Hashable, Sendable {
    /// Raised when the layout changes.
    static let format: UInt32 = 1

    enum Kind: UInt8, Sendable {
        /// A batch of a node.
        case batch = 1
        /// A store begins a stream, or goes on in another one: there is no batch, but where its log ends.
        case begin = 2
    }

    /// The node that wrote it.
    struct Writer: Hashable, Sendable {
        let name: String
        let url: String
    }

    var kind: Kind
    var storeID: [UInt8]
    /// Random: two nodes may decide equal batches, and only one of them is in the log.
    var batchID: [UInt8]
    /// The sequence that it must have.
    var sequence: UInt64
    var previousHash: [UInt8]
    /// The time at which the stream was made, as the brokers tell it.
    var created: String
    var writer: Writer
    /// The encoded batch; of `begin`, the end of the store's log (``Beginning``).
    var batch: [UInt8]

    static let idBytes = 16

    static func newID() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<idBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// The message that comes after `last`.
    init(_ kind: Kind, _ batch: [UInt8], of storeID: [UInt8], after last: ReplicaPosition, by writer: Writer) {
        self.kind = kind
        self.storeID = storeID
        batchID = Self.newID()
        (sequence, previousHash, created) = (last.sequence + 1, last.hash, last.created)
        self.writer = writer
        self.batch = batch
    }

    // MARK: - Bytes

    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(batch.count + 256)
        bytes.appendBigEndian(Self.format)
        bytes.append(kind.rawValue)
        bytes += storeID
        bytes += batchID
        bytes.appendBigEndian(sequence)
        bytes += previousHash
        var writer = WireWriter(capacity: batch.count + 256)
        for part in [Array(created.utf8), Array(self.writer.name.utf8), Array(self.writer.url.utf8), batch] {
            writer.varint(UInt64(part.count))
            part.withUnsafeBytes { writer.raw($0) }
        }
        bytes += Array(writer.bytes)
        bytes.appendChecksum()
        return bytes
    }

    /// The message with these bytes. Throws a sentence if they are none that this program reads.
    init(decoding bytes: [UInt8]) throws(StreamError) {
        let front = 4 + 1 + 2 * Self.idBytes + 8 + ReplicaPosition.hashBytes
        guard bytes.count > front + 4 else { throw Self.unreadable }
        let message: ReplicaMessage? = try withTypedBytes(bytes) { (raw) throws(StreamError) in
            let format = raw.bigEndian32()
            guard format == Self.format else { throw Self.newer(format) }
            guard RecordHeader.hasRightChecksum(raw) else { return nil }
            return ReplicaMessage(raw, front: front)
        }
        guard let message else { throw Self.unreadable }
        self = message
    }

    private init?(_ raw: UnsafeRawBufferPointer, front: Int) {
        guard let kind = Kind(rawValue: raw[4]) else { return nil }
        self.kind = kind
        var begin = 5
        func take(_ count: Int) -> [UInt8] {
            defer { begin += count }
            return Array(raw.slice(begin..<(begin + count)))
        }
        storeID = take(Self.idBytes)
        batchID = take(Self.idBytes)
        sequence = raw.bigEndian64(at: begin)
        begin += 8
        previousHash = take(ReplicaPosition.hashBytes)
        var reader = WireReader(raw.slice(front..<(raw.count - 4)))
        created = String(decoding: reader.bytes(), as: UTF8.self)
        let name = String(decoding: reader.bytes(), as: UTF8.self)
        writer = Writer(name: name, url: String(decoding: reader.bytes(), as: UTF8.self))
        batch = Array(reader.bytes())
        if reader.isBad || !reader.isAtEnd { return nil }
    }

    private static let unreadable = StreamError(
        .unfit, "A message of the stream is no batch of ProfileLog.",
        remedy: "Give the cluster a stream of its own (`--cluster NAME`).")

    private static func newer(_ format: UInt32) -> StreamError {
        StreamError(
            .unfit, "A message of the stream is of format \(format); this program knows format \(Self.format).",
            remedy: "Upgrade this node first.")
    }

    // MARK: - Its place

    /// The position of a store that has applied the message with these `bytes`.
    func position(_ bytes: [UInt8]) -> ReplicaPosition {
        ReplicaPosition(sequence: sequence, hash: SHA256.hash(bytes), created: created)
    }

    /// The batch with its place, for a message with these `bytes`.
    func placed(_ bytes: [UInt8]) throws -> PlacedBatch {
        let batch = kind == .begin ? CommitBatch() : try CommitBatch(decoding: batch)
        return PlacedBatch(batch, at: position(bytes), after: previousHash)
    }
}
