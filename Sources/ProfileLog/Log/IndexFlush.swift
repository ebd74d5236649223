/// A flush of the index that is cut into transactions.
struct IndexFlush: Sendable {
    /// Where its mark stands in table `checkpoints` while it is under way.
    static let key = Array("flush".utf8)

    /// Tells it from the flush of another process.
    let mark: [UInt8]
    let tail: Guarded<Tail>
    let checkpoint: UInt64
    /// Where the checkpoint will be.
    let target: UInt64
    /// What comes behind the target. It grows with each slice, so that nobody waits for it at the end.
    let successor: Guarded<Tail>
    /// What is not written yet.
    var left = Left.streams(from: 0)

    /// The parts of a flush in their order, and how much is left of the one that is under way. Those before the rest may be ahead of the
    /// checkpoint, since no reader is led astray by them: entries of streams beyond it are ignored, a snapshot is asked for by its
    /// version, who has an ID and which append a key are answered by the tail before the table, and a contact is only a hint.
    enum Left {
        /// Users from this number up.
        case streams(from: UInt64)
        case snapshots(from: UInt64)
        /// Indices in the tail, in the order of their keys.
        case identifiers(ArraySlice<Int>)
        /// Keys of table `contacts`, ascending.
        case contacts(ArraySlice<[UInt8]>)
        case keys(ArraySlice<(hash: [UInt8], position: UInt64)>)
        case rest
    }

    var isNew: Bool {
        if case .streams(from: 0) = left { true } else { false }
    }

    /// A flush of all that `view` has in its tail; its last event was recorded at `recordedAt`.
    init(_ view: LogView, recordedAt: Int64) {
        var random = SystemRandomNumberGenerator()
        mark = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        tail = view.tail
        checkpoint = view.checkpoint
        target = view.last
        let users = view.tail.withReading { $0.userCount(visibleTo: view.last) }
        successor = Guarded(Tail(base: view.last, userCount: users, lastRecordedAt: recordedAt))
    }
}
