internal import Synchronization

/// A position of one history: `11-5f3a9c0d`, the position and a check of the event there.
///
/// A store that was restored from a backup, cut, or copied and then used may have another event at a position than the
/// one that a consumer has read. So what a consumer keeps has a check, of what stays the same for as long as the event
/// is in the log, also when it is erased: the store's ID, the position, and the event's user, version and time of
/// recording. It needs no row in the store: a copy that has the event accepts the cursor, and any other log refuses it.
public struct HistoryCursor: Hashable, Sendable, CustomStringConvertible {
    /// The position.
    package let position: Position
    /// The check; nil in a plain number, which a person typed and which is taken as it is, and before the first event.
    package let check: UInt32?

    /// Reads the text of a cursor, or a plain number; nil for anything else.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        // As a position that can be followed by another one.
        guard let position = UInt64(digits: parts[0]), position < .max else { return nil }
        self.position = Position(rawValue: position)
        guard parts.count == 2 else {
            check = nil
            return
        }
        let digits = String(Substring(parts[1]))
        guard digits.utf8.count == 8, digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
            let number = UInt32(digits, radix: 16)
        else { return nil }
        check = number
    }

    /// The cursor of the event in log `store` at `position`.
    init(_ store: [UInt8], _ position: UInt64, user: UInt64, version: UInt64, recordedAt: Int64) {
        self.position = Position(rawValue: position)
        if position == 0 {
            check = nil
            return
        }
        // FNV-1a, with a last mix. Stored by consumers: never change it.
        var bits: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { bits = (bits ^ UInt64(byte)) &* 0x100_0000_01B3 }
        store.forEach(add)
        for number in [position, user, version, UInt64(bitPattern: recordedAt)] {
            for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        bits = (bits ^ bits >> 29) &* 0xBF58_476D_1CE4_E5B9
        check = UInt32(truncatingIfNeeded: bits >> 32)
    }

    /// The text that `init(_:)` reads, for a consumer to keep.
    public var description: String {
        guard let check else { return "\(position.rawValue)" }
        let digits = String(check, radix: 16)
        return "\(position.rawValue)-" + String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension UInt64 {
    /// Reads digits only: no sign.
    fileprivate init?(digits: Substring.UTF8View) {
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = UInt64(Substring(digits))
        else { return nil }
        self = number
    }
}

/// The cursor belongs to another history than the log.
package struct OtherHistory: Error {
    package let position: Position
    /// The last position of the log.
    package let last: Position
}

extension LogReader {
    /// Tells whether other stores apply the same batches, so that this one may lack an event that a client has seen.
    package var isOfCluster: Bool { store.options.transport.isReplicated }

    /// The cursor of `position`; without a check if that is before the first event, or after the last one.
    package func cursor(at position: Position) throws -> HistoryCursor {
        try withView { view in
            let known = try position.rawValue > view.last ? nil : store.cursor(at: position.rawValue, view)
            return known ?? HistoryCursor(plain: position)
        }
    }

    package func cursor(of event: RecordedEvent) -> HistoryCursor {
        HistoryCursor(
            storeID, event.position.rawValue, user: event.user.rawValue, version: event.version.rawValue,
            recordedAt: event.recordedAt.rawValue)
    }

    /// Throws `OtherHistory` if `cursor` has a check, and is not of an event of this log.
    package func refuseForeign(_ cursor: HistoryCursor) throws {
        guard cursor.check != nil else { return }
        try withView { view in
            let position = cursor.position.rawValue
            if try position <= view.last && store.cursor(at: position, view) == cursor { return }
            throw OtherHistory(position: cursor.position, last: Position(rawValue: view.last))
        }
    }
}

extension HistoryCursor {
    fileprivate init(plain position: Position) { (self.position, check) = (position, nil) }
}

extension OpenStore {
    /// The cursor of the event at `position`; nil if its record is missing or damaged.
    func cursor(
        at position: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws(StorageError) -> HistoryCursor? {
        if position == 0 { return HistoryCursor(storeID, 0, user: 0, version: 0, recordedAt: 0) }
        guard let record = try transaction.get(environment.tables.log, position), let header = RecordHeader(record)
        else { return nil }
        return HistoryCursor(
            storeID, position, user: header.user, version: header.version, recordedAt: header.recordedAt)
    }

    /// Refuses a log in which another event is at the place of the last one that this process saw: the file was
    /// overwritten in place, by one that has as many commits. Nil if it is the same log.
    func otherHistory(_ transaction: borrowing some Reading & ~Copyable) throws(StorageError) -> StorageError? {
        guard let known = lastSeen.withLock({ $0 }), let now = try cursor(at: known.position.rawValue, transaction)
        else { return nil }
        return now == known ? nil : environment.refuseOverwritten()
    }
}
