/// The state of one user. Values stay in their stored form until they are read: a fold over millions of events builds
/// no strings.
public struct ProfileState: Sendable {
    // A fold over many users waits for memory. What most events change comes first, in 64 bytes.

    /// Events folded so far.
    package var version: Version = .none
    /// Position of the last event folded.
    package var lastPosition: Position = .start
    /// The earliest and the latest time at which something happened; the first is later than the last before the first
    /// event.
    private var seen = (first: Int64.max, last: Int64.min)
    package var fields = FieldStore()
    package var events: [NamedOccurrences] = []

    /// Position of `userCreated`.
    package var created: Position = .start
    /// Launches, sessions and flushes; empty for users without any.
    private var activity: [Occurrences] = []
    package var purchases: [PurchaseSummary] = []
    /// The sum of orders, less refunds, by currency in ascending order.
    package var orders: [Revenue] = []
    package var pending: [PendingEntry] = []
    /// The number of times that an event was voided or unvoided.
    package var voids: UInt64 = 0
    /// The time at which attributes without a value were removed, of those whose policy was to keep what occurred last.
    package internal(set) var removals: [FieldKey: Int64] = [:]

    /// The earliest time at which something happened; nil before the first event.
    package var firstSeen: Timestamp? { seen.first > seen.last ? nil : Timestamp(rawValue: seen.first) }
    /// The latest time at which something happened; nil before the first event.
    package var lastSeen: Timestamp? { seen.first > seen.last ? nil : Timestamp(rawValue: seen.last) }
    /// Launches of the app on devices of this user.
    package internal(set) var launches: Occurrences {
        get { activity(0) }
        set { setActivity(0, newValue) }
    }
    /// Sessions of the app on devices of this user.
    package internal(set) var sessions: Occurrences {
        get { activity(1) }
        set { setActivity(1, newValue) }
    }
    /// Saved items that launches made effective.
    package internal(set) var flushes: Occurrences {
        get { activity(2) }
        set { setActivity(2, newValue) }
    }

    private func activity(_ index: Int) -> Occurrences { activity.isEmpty ? Occurrences() : activity[index] }

    private mutating func setActivity(_ index: Int, _ occurrences: Occurrences) {
        if activity.isEmpty {
            if occurrences.count == 0 { return }
            activity = Array(repeating: Occurrences(), count: 3)
        }
        activity[index] = occurrences
    }

    /// Something happened to the user at `time`.
    @inline(__always)
    mutating func see(_ time: Int64) {
        seen.first = min(seen.first, time)
        seen.last = max(seen.last, time)
    }

    /// The number of occurrences, with the first and the last.
    package struct Occurrences: Hashable, Sendable {
        /// The count.
        package var count: UInt64 = 0
        /// The earliest time.
        package var first = Timestamp(rawValue: .max)
        /// The latest time.
        package var last = Timestamp(rawValue: .min)
        /// The event that was counted last.
        package var position: Position = .start

        @inline(__always)
        mutating func add(at time: Timestamp, _ position: Position, times: UInt64 = 1) {
            count += times
            first = min(first, time)
            last = max(last, time)
            self.position = position
        }
    }

    package struct NamedOccurrences: Hashable, Sendable {
        package let name: UInt32
        package var occurrences = Occurrences()
    }

    package struct PurchaseSummary: Hashable, Sendable {
        package let product: UInt32
        package var occurrences = Occurrences()
        /// Price times quantity, by currency in ascending order.
        package var revenue: [Revenue] = []
    }

    /// The sum paid in one currency.
    package struct Revenue: Hashable, Sendable {
        package let currency: String
        package var amount: ExactSum
    }

    /// The sum paid for products and by orders, by currency in ascending order.
    package var totalRevenue: [Revenue] {
        var total = orders
        for purchase in purchases {
            for revenue in purchase.revenue { total.add(revenue.amount, revenue.currency) }
        }
        return total
    }

    /// A saved item that waits for a launch, or something that the SDK has not sent: its storage, and its record's
    /// body.
    package struct PendingEntry: Hashable, Sendable {
        package let position: UInt64
        let kind: EventKind
        package let savedAt: Int64
        package let device: Name
        package let storage: StorageCode
        let body: [UInt8]
        /// Whether the SDK has it already.
        package var isQueued = false
    }
}

/// Attribute values by key, in stored form, in one arena.
package struct FieldStore: Sendable {
    package private(set) var fields: [Field] = []
    private var arena: [UInt8] = []
    private var garbage = 0

    /// Begins to load the attributes: the record is read while they come.
    @inline(__always)
    func prefetch() {
        fields.prefetch()
        arena.prefetch()
    }

    package struct Field: Sendable {
        package let key: FieldKey
        package var position: UInt64
        package var at: Int64
        var offset: UInt32
        var length: UInt32
    }

    @inline(__always)
    func index(of key: FieldKey) -> (index: Int, found: Bool) {
        var low = 0
        var high = fields.count
        while low < high {
            let middle = (low + high) / 2
            if fields[middle].key.rawValue < key.rawValue { low = middle + 1 } else { high = middle }
        }
        return (low, low < fields.count && fields[low].key == key)
    }

    mutating func set(_ key: FieldKey, _ value: UnsafeRawBufferPointer, position: UInt64, at: Int64) {
        let (index, found) = index(of: key)
        let length = UInt32(value.count)
        guard found else {
            // Most users have several attributes: room for the first ones at once.
            if fields.isEmpty {
                fields.reserveCapacity(4)
                arena.reserveCapacity(64)
            }
            let offset = append(value)
            fields.insert(Field(key: key, position: position, at: at, offset: offset, length: length), at: index)
            return
        }
        var field = fields[index]
        let (offset, room) = (Int(field.offset), Int(field.length))
        (field.position, field.at, field.length) = (position, at, length)
        if value.count <= room {
            arena.withUnsafeMutableBytes { arena in
                UnsafeMutableRawBufferPointer(rebasing: arena[offset..<(offset + value.count)]).copyMemory(from: value)
            }
            garbage += room - value.count
        } else {
            garbage += room
            field.offset = append(value)
        }
        fields[index] = field
        if garbage > 512, garbage > arena.count / 2 { compact() }
    }

    mutating func remove(_ key: FieldKey) {
        let (index, found) = index(of: key)
        guard found else { return }
        garbage += Int(fields[index].length)
        fields.remove(at: index)
    }

    @inline(__always)
    private mutating func append(_ value: UnsafeRawBufferPointer) -> UInt32 {
        let offset = UInt32(arena.count)
        arena.append(contentsOf: value)
        return offset
    }

    private mutating func compact() {
        var fresh: [UInt8] = []
        fresh.reserveCapacity(arena.count - garbage)
        for index in fields.indices {
            let begin = Int(fields[index].offset)
            fields[index].offset = UInt32(fresh.count)
            fresh.append(contentsOf: arena[begin..<(begin + Int(fields[index].length))])
        }
        arena = fresh
        garbage = 0
    }

    package func withBytes<Result>(
        _ field: Field, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let begin = Int(field.offset)
        return try arena.withUnsafeBytes { try body($0.slice(begin..<(begin + Int(field.length)))) }
    }

    package func value(_ key: FieldKey) -> AttributeValue? { field(key).flatMap { value($0) } }

    /// The value of one of the fields.
    package func value(_ field: Field) -> AttributeValue? { withBytes(field) { ValueCodec.read($0)?.value } }

    /// The field of an attribute; nil if it has no value.
    package func field(_ key: FieldKey) -> Field? {
        let (index, found) = index(of: key)
        return found ? fields[index] : nil
    }
}

/// A standard or a custom attribute as one number: custom attributes come after the standard ones.
package struct FieldKey: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    @inline(__always)
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    @inline(__always)
    package init(custom name: UInt32) { rawValue = 0x100 + name }
    @inline(__always)
    package init(standard number: UInt32) { rawValue = number & 0xFF }

    package var standard: StandardAttribute? {
        rawValue < 0x100 ? StandardAttribute(rawValue: UInt8(rawValue)) : nil
    }
    package var customName: UInt32 { rawValue - 0x100 }
    package var isCustom: Bool { rawValue >= 0x100 }
}
