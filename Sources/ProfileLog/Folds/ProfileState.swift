/// The state of one user. Values stay in their stored form until they are read: a fold over millions of events builds
/// no strings.
public struct ProfileState: Sendable {
    /// Events folded so far.
    package var version: Version = .none
    /// Position of the last event folded.
    package var lastPosition: Position = .start
    /// Position of `userCreated`.
    package var created: Position = .start
    /// The earliest time at which something happened; nil before the first event.
    package var firstSeen: Timestamp?
    /// The latest time at which something happened; nil before the first event.
    package var lastSeen: Timestamp?
    /// Launches of the app on devices of this user.
    package var launches = Occurrences()
    /// Sessions of the app on devices of this user.
    package internal(set) var sessions = Occurrences()
    /// Saved items that launches made effective.
    package var flushes = Occurrences()

    package var fields = FieldStore()
    package var events: [NamedOccurrences] = []
    package var purchases: [PurchaseSummary] = []
    package var pending: [PendingEntry] = []
    /// How often an event was voided or unvoided.
    package var voids: UInt64 = 0
    /// When attributes without a value were removed, of those whose policy was to keep what occurred last.
    package internal(set) var removals: [FieldKey: Int64] = [:]

    /// How often something happened, first and last.
    public struct Occurrences: Hashable, Sendable {
        /// How often.
        public var count: UInt64 = 0
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

        package struct Revenue: Hashable, Sendable {
            package let currency: String
            package var amount: Double
        }
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
        if !found {
            let offset = append(value)
            fields.insert(
                Field(key: key, position: position, at: at, offset: offset, length: UInt32(value.count)), at: index)
            return
        }
        let old = fields[index]
        fields[index].position = position
        fields[index].at = at
        fields[index].length = UInt32(value.count)
        if value.count <= Int(old.length) {
            let offset = Int(old.offset)
            arena.withUnsafeMutableBytes { arena in
                UnsafeMutableRawBufferPointer(rebasing: arena[offset..<(offset + value.count)]).copyMemory(from: value)
            }
            garbage += Int(old.length) - value.count
        } else {
            garbage += Int(old.length)
            fields[index].offset = append(value)
        }
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
