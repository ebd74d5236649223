/// Attribute values by key, in stored form, in one arena.
package struct FieldStore: Sendable {
    package internal(set) var fields: [Field] = []
    var arena: [UInt8] = []
    var garbage = 0

    /// Begins to load the attributes: the record is read while they come.
    @inline(__always)
    func prefetch() {
        fields.prefetch()
        arena.prefetch()
    }

    package struct Field: Sendable {
        package let key: FieldKey
        /// Bytes that are reserved for a large array (`ArrayRegion`); 0 for other values.
        var room: UInt32 = 0
        package var position: UInt64
        package var at: Int64
        var offset: UInt32
        var length: UInt32

        /// The bytes in the arena.
        @inline(__always)
        var extent: Int { Int(max(length, room)) }
    }

    @inline(__always)
    func index(of key: FieldKey) -> (index: Int, found: Bool) {
        let index = fields.lowerBound { $0.key.rawValue < key.rawValue }
        return (index, index < fields.count && fields[index].key == key)
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
        let (offset, room) = (Int(field.offset), field.extent)
        (field.position, field.at, field.length, field.room) = (position, at, length, 0)
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
        compactIfWorthwhile()
    }

    mutating func set(_ key: FieldKey, _ value: AttributeValue, position: UInt64, at: Int64) {
        var writer = WireWriter()
        ValueCodec.write(value, to: &writer)
        set(key, writer.bytes, position: position, at: at)
    }

    mutating func remove(_ key: FieldKey) {
        let (index, found) = index(of: key)
        guard found else { return }
        garbage += fields[index].extent
        fields.remove(at: index)
    }

    @inline(__always)
    mutating func append(_ value: UnsafeRawBufferPointer) -> UInt32 {
        let offset = UInt32(arena.count)
        arena.append(contentsOf: value)
        return offset
    }

    @inline(__always)
    mutating func compactIfWorthwhile() {
        if garbage > 512, garbage > arena.count / 2 { compact() }
    }

    private mutating func compact() {
        var fresh: [UInt8] = []
        fresh.reserveCapacity(arena.count - garbage)
        for index in fields.indices {
            let begin = Int(fields[index].offset)
            fields[index].offset = UInt32(fresh.count)
            fresh.append(contentsOf: arena[begin..<(begin + fields[index].extent)])
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
