/// What an erasure has made of a segment.
extension Segment {
    /// A record that another segment has as a tombstone.
    struct Change: Hashable, Sendable {
        let position: Position
        let user: UInt64
    }

    /// The records that `newer` has as tombstones. Throws with the position of the first record that differs in
    /// another way, and how many do. `newer` begins as this one does, and may have more records.
    func changes(in newer: Segment) throws(OtherRecords) -> [Change] {
        var changes: [Change] = []
        var first: Position?
        var count = 0
        forEachRecord { position, record in
            let comparison: Comparison =
                position > newer.last
                ? .other : newer.withRecord(at: position) { Self.compare(record, with: $0, at: position) }
            switch comparison {
            case .same: break
            case .erased(let change): changes.append(change)
            case .other:
                first = first ?? position
                count += 1
            }
        }
        if let first { throw OtherRecords(first: first, count: count) }
        return changes
    }

    struct OtherRecords: Error {
        let first: Position
        let count: Int
    }

    private enum Comparison {
        case same, other
        case erased(Change)
    }

    private static func compare(
        _ record: UnsafeRawBufferPointer, with newer: UnsafeRawBufferPointer, at position: Position
    ) -> Comparison {
        if record.hasSameBytes(as: newer) { return .same }
        guard let old = RecordHeader(record), let new = RecordHeader(newer), new.isErased, !old.isErased,
            (old.kindNumber, old.user, old.version, old.recordedAt)
                == (new.kindNumber, new.user, new.version, new.recordedAt)
        else { return .other }
        return .erased(Change(position: position, user: old.user))
    }
}
