/// Appends Protocol-buffers wire encoding to bytes that grow as needed.
@usableFromInline
package struct WireWriter: ~Copyable {
    @usableFromInline package private(set) var start: UnsafeMutablePointer<UInt8>
    @usableFromInline package var count = 0
    @usableFromInline package var capacity: Int

    package init(capacity: Int = 512) {
        self.capacity = max(capacity, 64)
        start = .allocate(capacity: self.capacity)
    }

    deinit { start.deallocate() }

    /// The bytes written so far; valid until the next write.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    package mutating func removeAll() { count = 0 }

    /// Drops all bytes after the first `count`.
    package mutating func truncate(to count: Int) { self.count = count }

    @inlinable
    @inline(__always)
    package mutating func reserve(_ more: Int) {
        if count + more > capacity { grow(more) }
    }

    @usableFromInline
    @inline(never)
    package mutating func grow(_ more: Int) {
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
    }

    @inlinable
    @inline(__always)
    package mutating func byte(_ value: UInt8) {
        reserve(1)
        start[count] = value
        count += 1
    }

    @inlinable
    @inline(__always)
    package mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        reserve(bytes.count)
        UnsafeMutableRawPointer(start + count).copyMemory(from: base, byteCount: bytes.count)
        count += bytes.count
    }

    @inlinable
    @inline(__always)
    package mutating func varint(_ value: UInt64) {
        reserve(10)
        var rest = value
        while rest >= 0x80 {
            start[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            count += 1
            rest >>= 7
        }
        start[count] = UInt8(truncatingIfNeeded: rest)
        count += 1
    }

    /// Fixed-width little-endian numbers, as the wire has them.
    @inlinable
    @inline(__always)
    package mutating func littleEndian<Number: FixedWidthInteger>(_ value: Number) {
        reserve(MemoryLayout<Number>.size)
        UnsafeMutableRawPointer(start + count).storeBytes(of: value.littleEndian, as: Number.self)
        count += MemoryLayout<Number>.size
    }

    @inline(__always)
    mutating func tag(_ field: UInt32, _ type: WireType) { varint(UInt64(field) << 3 | UInt64(type.rawValue)) }

    @inline(__always)
    package mutating func field(_ field: UInt32, varint value: UInt64) {
        tag(field, .varint)
        varint(value)
    }

    @inline(__always)
    package mutating func field(_ field: UInt32, signed value: Int64) {
        self.field(field, varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    @inline(__always)
    mutating func field(_ field: UInt32, double value: Double) {
        tag(field, .fixed64)
        littleEndian(value.bitPattern)
    }

    @inline(__always)
    package mutating func field(_ field: UInt32, text: borrowing String) {
        tag(field, .bytes)
        text.withRawUTF8 { utf8 in
            varint(UInt64(utf8.count))
            raw(utf8)
        }
    }

    /// Writes `text` as its 16 bytes; false, with nothing written, if it is not a UUID (`UUIDText`).
    @inline(__always)
    mutating func field(_ field: UInt32, uuid text: UnsafeRawBufferPointer) -> Bool {
        reserve(12 + UUIDText.bytes)
        let begin = count
        tag(field, .bytes)
        byte(UInt8(UUIDText.bytes))
        guard UUIDText.read(text, to: start + count) else {
            count = begin
            return false
        }
        count += UUIDText.bytes
        return true
    }

    mutating func field(_ field: UInt32, bytes: [UInt8]) {
        tag(field, .bytes)
        varint(UInt64(bytes.count))
        bytes.withUnsafeBytes { raw($0) }
    }

    /// Begins a message within the message; give the result to `endMessage`.
    @inline(__always)
    package mutating func beginMessage(_ field: UInt32) -> Int {
        tag(field, .bytes)
        byte(0)
        return count
    }

    /// Puts the length before what was written since `beginMessage`; more than 127 bytes are moved to make room for it.
    @inline(__always)
    package mutating func endMessage(_ begin: Int) {
        let length = count - begin
        if length < 0x80 {
            start[begin - 1] = UInt8(length)
        } else {
            insertLongLength(begin, length)
        }
    }

    @inline(never)
    private mutating func insertLongLength(_ begin: Int, _ length: Int) {
        var extra = 0
        var rest = length
        while rest >= 0x80 {
            extra += 1
            rest >>= 7
        }
        reserve(extra)
        let body = UnsafeMutableRawPointer(start + begin)
        (body + extra).copyMemory(from: body, byteCount: length)
        count = begin - 1
        varint(UInt64(length))
        count += length
    }
}

/// The layout of a field's value.
@usableFromInline
package enum WireType: UInt8, Sendable {
    case varint = 0
    case fixed64 = 1
    case bytes = 2
    case fixed32 = 5

    /// As `init(rawValue:)`, which other targets cannot inline.
    @inlinable
    package init?(bits: UInt8) {
        switch bits {
        case 0: self = .varint
        case 1: self = .fixed64
        case 2: self = .bytes
        case 5: self = .fixed32
        default: return nil
        }
    }
}
