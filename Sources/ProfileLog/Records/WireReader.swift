/// Reads Protocol-buffers wire encoding. Invalid bytes end the reading: `isBad` is set, and there are no more fields.
@usableFromInline
package struct WireReader {
    @usableFromInline package var next: UnsafeRawPointer
    @usableFromInline package let end: UnsafeRawPointer
    /// Tells whether the bytes are not a valid message.
    @usableFromInline package private(set) var isBad = false

    /// Reads `bytes`, which must outlive the reader.
    @inlinable
    @inline(__always)
    package init(_ bytes: UnsafeRawBufferPointer) {
        next = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        end = next + bytes.count
    }

    @inlinable
    @inline(__always)
    package init(from start: UnsafeRawPointer, to end: UnsafeRawPointer) {
        next = start
        self.end = end
    }

    @inlinable @inline(__always) package var isAtEnd: Bool { next >= end }

    /// The bytes that were not read yet.
    @inlinable @inline(__always) package var rest: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: next, count: end - next)
    }

    @usableFromInline
    package struct Field {
        @usableFromInline package let number: UInt32
        @usableFromInline package let type: WireType

        @inlinable
        init(number: UInt32, type: WireType) {
            self.number = number
            self.type = type
        }
    }

    /// The next field's number and type, or nil at the end (and when the bytes are bad).
    @inlinable
    @inline(__always)
    package mutating func field() -> Field? {
        if next >= end { return nil }
        let tag = varint()
        guard !isBad, tag >> 3 <= 0x1FFF_FFFF, tag >> 3 > 0, let type = WireType(bits: UInt8(tag & 7)) else {
            fail()
            return nil
        }
        return Field(number: UInt32(tag >> 3), type: type)
    }

    @inlinable
    @inline(__always)
    package mutating func varint() -> UInt64 {
        if next < end {
            let first = next.load(as: UInt8.self)
            if first < 0x80 {
                next += 1
                return UInt64(first)
            }
        }
        return longVarint()
    }

    @inlinable
    package mutating func longVarint() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while next < end, shift < 64 {
            let byte = next.load(as: UInt8.self)
            next += 1
            if shift == 63, byte > 1 { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        fail()
        return 0
    }

    /// A count of items that follow, each of at least one byte; fails if the bytes are too short for it.
    package mutating func count() -> Int {
        let count = varint()
        if count <= UInt64(end - next) { return Int(count) }
        fail()
        return 0
    }

    @inlinable
    @inline(__always)
    package mutating func signed() -> Int64 {
        let raw = varint()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    /// A signed number of milliseconds, as microseconds.
    @inlinable
    @inline(__always)
    package mutating func milliseconds() -> Int64 { signed() &* 1000 }

    @inlinable
    @inline(__always)
    package mutating func double() -> Double { Double(bitPattern: fixed64()) }

    @inlinable
    @inline(__always)
    package mutating func fixed64() -> UInt64 {
        guard end - next >= 8 else {
            fail()
            return 0
        }
        defer { next += 8 }
        return UInt64(littleEndian: next.loadUnaligned(as: UInt64.self))
    }

    @inlinable
    @inline(__always)
    package mutating func bytes() -> UnsafeRawBufferPointer {
        let count = varint()
        guard count <= UInt64(end - next) else {
            fail()
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        defer { next += Int(count) }
        return UnsafeRawBufferPointer(start: next, count: Int(count))
    }

    /// Goes to the value of the first field of this number; false if there is none. Fields are in ascending order.
    @inlinable
    @inline(__always)
    package mutating func seek(_ number: UInt32) -> Bool {
        while let field = field(), field.number <= number {
            if field.number == number { return true }
            skip(field.type)
        }
        return false
    }

    /// The bytes of the next field of this number; others are skipped. Nil at the end.
    @inlinable
    @inline(__always)
    package mutating func bytes(of number: UInt32) -> UnsafeRawBufferPointer? {
        while let field = field() {
            if field.number == number, field.type == .bytes { return bytes() }
            skip(field.type)
        }
        return nil
    }

    /// Text; fails if it is not UTF-8.
    package mutating func text() -> String {
        guard let text = String(exactly: bytes()) else {
            fail()
            return ""
        }
        return text
    }

    @inlinable
    @inline(__always)
    package mutating func skip(_ type: WireType) {
        switch type {
        case .varint: _ = varint()
        case .fixed64: _ = fixed64()
        case .bytes: _ = bytes()
        case .fixed32:
            if end - next >= 4 { next += 4 } else { fail() }
        }
    }

    /// Marks the bytes as bad and ends the reading.
    @usableFromInline
    package mutating func fail() {
        isBad = true
        next = end
    }
}

extension String {
    /// The text whose UTF-8 is `bytes`; nil if they are not UTF-8. Decoding repairs invalid bytes, so the result is
    /// compared.
    @inlinable
    @inline(__always)
    package init?(exactly bytes: UnsafeRawBufferPointer) {
        self = String(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
        guard withRawUTF8({ $0.hasSameBytes(as: bytes) }) else { return nil }
    }
}
