/// The last batch of a replicated log that a store has: its sequence in the stream, and a hash over all up to it.
///
/// Stored as row `replica` of table `meta`, in the same transaction as the batch, so all stores of a cluster have the
/// same bytes at the same sequence:
///
/// ```
/// sequence, uint64 big-endian | SHA-256 of the message, 32 bytes | the time at which the stream was made, as its text
/// ```
package struct ReplicaPosition: Hashable, Sendable {
    /// The sequence of the batch's message in the stream; 0 before the first one.
    package let sequence: UInt64
    /// The hash of the message. Each message has the hash of the one before, so it is over all of them.
    package let hash: [UInt8]
    /// The time at which the stream was made, as the broker tells it: another stream has another one.
    package let created: String

    package init(sequence: UInt64, hash: [UInt8], created: String) {
        (self.sequence, self.hash, self.created) = (sequence, hash, created)
    }

    /// The position before the first message of a stream.
    package static func start(of created: String) -> ReplicaPosition {
        ReplicaPosition(sequence: 0, hash: noHash, created: created)
    }

    package static let hashBytes = 32
    /// The hash before the first message.
    package static let noHash = [UInt8](repeating: 0, count: hashBytes)

    // MARK: - The row

    /// The name of the row of table `meta`.
    package static let row = "replica"

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendBigEndian(sequence)
        return bytes + hash + Array(created.utf8)
    }

    /// The rows of table `meta` of a store that has it.
    package var rows: [CommitBatch.MetaRow] { CommitBatch.joinedMeta(self) }

    /// Reads the row; nil if the bytes are not those of one.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        let front = 8 + Self.hashBytes
        guard bytes.count >= front, let created = String(exactly: bytes.slice(front..<bytes.count)) else { return nil }
        self.init(sequence: bytes.bigEndian64(), hash: Array(bytes.slice(8..<front)), created: created)
    }
}

/// A batch with its place in a replicated log.
package struct PlacedBatch: Sendable {
    package let batch: CommitBatch
    /// The place; the store has it after the batch.
    package let position: ReplicaPosition
    /// The hash of the message before it.
    package let previousHash: [UInt8]

    package init(_ batch: CommitBatch, at position: ReplicaPosition, after previousHash: [UInt8]) {
        (self.batch, self.position, self.previousHash) = (batch, position, previousHash)
    }

    /// Tells whether the batch comes next in a store whose last batch is `last`; false if the store has it already.
    /// Throws if it does not fit: a batch of another log, or one after a gap.
    func isNext(after last: ReplicaPosition?) throws(StorageError) -> Bool {
        let last = last ?? ReplicaPosition(sequence: position.sequence - 1, hash: previousHash, created: "")
        if position.sequence <= last.sequence { return false }
        guard position.sequence == last.sequence + 1 else {
            throw .damaged(place: "batch \(position.sequence) of the cluster where batch \(last.sequence + 1) is next")
        }
        guard previousHash == last.hash else {
            throw .damaged(place: "batch \(position.sequence) of the cluster follows another batch \(last.sequence)")
        }
        return true
    }
}

extension CommitBatch {
    /// The last batch of a replicated log that the store has; nil if the store is in no cluster.
    package static func replicaPosition(
        _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> ReplicaPosition? {
        guard let row = try transaction.get(tables.meta, Array(ReplicaPosition.row.utf8)) else { return nil }
        guard let position = ReplicaPosition(row) else {
            throw StorageError.damaged(place: "row \(ReplicaPosition.row) of table meta")
        }
        return position
    }
}

extension LogReader {
    /// The last batch of a replicated log that the store has; nil if the store is in no cluster.
    package func replicaPosition() throws -> ReplicaPosition? {
        try withView { try CommitBatch.replicaPosition($0.tables, $0) }
    }
}
