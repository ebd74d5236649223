/// The idempotency keys of appends: the first record of an append stores its key, and how many records it has.
package struct AppendKeys: Sendable {
    /// Positions that were looked at, ascending: those of an append with a key, or of records without one.
    private var known: [(positions: Range<UInt64>, key: String?)] = []
    /// A feed goes through a whole log.
    private static let mostKnown = 4_096
    /// The greatest distance of two times of recording in one append: an import has 10,000 lines under a key, each with
    /// a new user and a change of its device at most.
    private static let longestImport: UInt64 = 30_000

    package init() {}

    /// The key of the append with the record at `position`; nil if it had none, or was erased.
    ///
    /// Goes back to the first record of the append. Each record is looked at once, in any order of calls. The records
    /// of an append have one time, unless they were imported with their times, which are before the store was made.
    package mutating func key(
        at position: UInt64, _ header: RecordHeader, in view: borrowing LogView
    ) throws -> String? {
        let index = known.lowerBound { $0.positions.upperBound <= position }
        if index < known.count, known[index].positions.contains(position) { return known[index].key }
        let floor = index > 0 ? known[index - 1].positions.upperBound : 1
        let time = header.recordedAt
        var (first, header) = (position, header)
        var log: Cursor?
        while true {
            if let field = AppendField.first(in: header.body) {
                let key = field.isErased ? nil : String(decoding: field.key, as: UTF8.self)
                let end = first + min(field.count, view.last - first + 1)
                remember(first..<max(end, first + 1), key, at: index)
                if position < end { return key }
                first = end
                break
            }
            guard first > floor, let before = try Self.header(before: first, &log, view) else { break }
            if before.recordedAt != time {
                guard position - first < Self.longestImport, try time < CommitBatch.created(view.tables, view) else {
                    break
                }
            }
            (first, header) = (first - 1, before)
        }
        remember(first..<position + 1, nil, at: known.lowerBound { $0.positions.upperBound <= position })
        return nil
    }

    /// Moves `log`, a cursor that is on `position`, to the record before. Returns nil for a damaged record: the records
    /// after it may belong to another append.
    private static func header(
        before position: UInt64, _ log: inout Cursor?, _ view: borrowing LogView
    ) throws -> RecordHeader? {
        if let budget = view.budget { try budget.check(at: position - 1) }
        do {
            var cursor: Cursor
            if let known = log.take() {
                cursor = known
            } else {
                cursor = try Cursor(view.handle, view.tables.log)
                _ = try cursor.find(position)
            }
            let row = try cursor.previous()
            log = consume cursor
            guard let row, row.key.number == position - 1 else { return nil }
            return try RecordHeader(row.value, at: position - 1)
        } catch is StorageError {
            return nil
        }
    }

    private mutating func remember(_ positions: Range<UInt64>, _ key: String?, at index: Int) {
        if known.count < Self.mostKnown { return known.insert((positions, key), at: index) }
        known = [(positions, key)]
    }
}
