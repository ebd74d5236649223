import ProfileLog
import Synchronization

/// The stream of a cluster that has one node: each batch gets the next place.
final class OneNodeStream: CommitTransport {
    private let ends = Mutex<[UInt64: UInt64]>([:])

    /// The last position of the log after each batch that had records, by its sequence.
    var lastPositions: [UInt64: UInt64] { ends.withLock { $0 } }

    var mostBytes: Int { .max }
    var isReplicated: Bool { true }
    func prepare() {}
    func settle(_ batch: UndecidedBatch) -> SettledBatch { .stored }
    func catchUp() -> Bool { false }

    func deliver(_ batch: CommitBatch, after last: ReplicaPosition?) -> ReplicaPosition? {
        let last = last ?? .start(of: "2026-11-27T20:00:00Z")
        let place = Self.next(last)
        ends.withLock { ends in
            ends[place.sequence] =
                batch.count > 0 ? batch.firstPosition + UInt64(batch.count) - 1 : ends[last.sequence]
        }
        return place
    }

    /// The place after `last`.
    static func next(_ last: ReplicaPosition) -> ReplicaPosition {
        ReplicaPosition(sequence: last.sequence + 1, hash: SHA256.hash(last.hash), created: last.created)
    }
}

extension EventLog {
    /// Makes the store one of a cluster, as the first batch that comes from the stream does.
    @discardableResult
    func join() throws -> ReplicaPosition {
        let place = OneNodeStream.next(.start(of: "2026-11-27T20:00:00Z"))
        try restore(CommitBatch(meta: CommitBatch.joinedMeta(place)))
        return place
    }
}

extension LogOptions {
    /// The options of the node of a cluster of its own.
    func ofNode(_ stream: OneNodeStream = OneNodeStream()) -> LogOptions {
        var options = self
        options.transport = stream
        return options
    }
}
