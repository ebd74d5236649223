/// A history of a log: a restore begins a new one, as another event may follow the last one that it restored
/// (docs/decisions/0017).
///
/// A store that was never restored has none in its rows: its events are of the ``original`` history.
package struct LogHistory: Hashable, Sendable {
    /// Eight random bytes.
    package let id: UInt64
    /// The first position that is of this history, and not of the one before it.
    package let from: Position
    /// The time at which it began, by the clock of the machine that restored the store.
    package let begun: Timestamp

    package init(id: UInt64, from: Position, begun: Timestamp) {
        (self.id, self.from, self.begun) = (id, from, begun)
    }

    /// The history of a store that was never restored.
    package static let original = LogHistory(id: 0, from: Position(rawValue: 1), begun: Timestamp(rawValue: 0))

    /// The ID as 16 hexadecimal digits, as answers and backups have it.
    package var text: String { Self.text(of: id) }

    /// As `text`, for the ID alone.
    package static func text(of id: UInt64) -> String {
        let digits = String(id, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// A new history after position `last`.
    package static func new(after last: Position, at begun: Timestamp) -> LogHistory {
        LogHistory(
            id: UInt64.random(in: 1 ... .max), from: Position(rawValue: last.rawValue + 1), begun: begun)
    }
}

/// The histories of a log, from the first to the newest. A position is of the last one that begins at it or before it.
///
/// Stored as row `histories` of table `meta`, 24 bytes each, all numbers big-endian:
///
/// ```
/// ID, 8 bytes | first position, uint64 | time in microseconds, int64
/// ```
package struct LogHistories: Hashable, Sendable {
    /// In the order of their first positions, each after the one before. Empty if the store was never restored.
    package private(set) var list: [LogHistory] = []

    package init() {}

    /// Makes the list; nil unless each begins after the one before.
    package init?(_ list: [LogHistory]) {
        guard zip(list, list.dropFirst()).allSatisfy({ $0.from < $1.from }),
            list.allSatisfy({ $0.from > .start && $0.id != 0 })
        else { return nil }
        self.list = list
    }

    /// The newest: the history of the next event.
    package var newest: LogHistory { list.last ?? .original }

    /// The history of the event at `position`.
    package func history(at position: Position) -> LogHistory { list.last { $0.from <= position } ?? .original }

    /// The histories of a log that ends at `last`: one that begins later than its next event is none of it.
    package func upTo(_ last: Position) -> LogHistories {
        var histories = self
        histories.list = list.filter { $0.from.rawValue <= last.rawValue + 1 }
        return histories
    }

    /// The histories of a log that was restored up to `last`: a new history follows. One that had no event there is
    /// forgotten.
    package func restored(to last: Position, at begun: Timestamp) -> LogHistories {
        var histories = self
        histories.list = list.filter { $0.from <= last } + [.new(after: last, at: begun)]
        return histories
    }

    /// The last position up to which a log with `other` has the same history; nil if all of what both have is common.
    package func commonEnd(with other: LogHistories) -> Position? {
        let common = zip(list, other.list).prefix { $0 == $1 }.count
        let starts = [list, other.list].compactMap { common < $0.count ? $0[common].from : nil }
        return starts.min().map { Position(rawValue: $0.rawValue - 1) }
    }

    // MARK: - The row

    /// The name of the row of table `meta`.
    package static let row = "histories"
    private static let bytesOfOne = 24

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for history in list {
            bytes.appendBigEndian(history.id)
            bytes.appendBigEndian(history.from.rawValue)
            bytes.appendBigEndian(history.begun.rawValue)
        }
        return bytes
    }

    /// Reads the row; nil if the bytes are not those of one.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count % Self.bytesOfOne == 0 else { return nil }
        self.init(
            stride(from: 0, to: bytes.count, by: Self.bytesOfOne).map { begin in
                LogHistory(
                    id: bytes.bigEndian64(at: begin), from: Position(rawValue: bytes.bigEndian64(at: begin + 8)),
                    begun: Timestamp(rawValue: Int64(bitPattern: bytes.bigEndian64(at: begin + 16))))
            })
    }
}

extension CommitBatch {
    /// The histories of a store.
    package static func histories(
        _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> LogHistories {
        guard let row = try transaction.get(tables.meta, Array(LogHistories.row.utf8)) else { return LogHistories() }
        guard let histories = LogHistories(row) else {
            throw StorageError.damaged(place: "row \(LogHistories.row) of table meta")
        }
        return histories
    }

    /// The rows of table `meta` for a copy of the log that ends at `last` for now: a copy begins no history, and has
    /// none of later positions.
    package static func meta(
        _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable, upTo last: Position
    ) throws -> [MetaRow] {
        try meta(tables, transaction).compactMap { row in
            guard row.name == LogHistories.row else { return row }
            // One that is damaged is copied as it is: `check` names it.
            guard let histories = row.value.withUnsafeBytes({ LogHistories($0) }) else { return row }
            let kept = histories.upTo(last)
            return kept.list.isEmpty ? nil : MetaRow(name: row.name, value: kept.bytes)
        }
    }
}

extension LogReader {
    /// The histories of the log.
    package func histories() throws -> LogHistories {
        try withView { try CommitBatch.histories($0.tables, $0) }
    }

    /// The newest history of the log.
    package func history() throws -> LogHistory { try histories().newest }
}

extension EventLog {
    /// The newest history of the log: a restore begins another one.
    package func history() throws -> LogHistory { try reader.history() }
}
