public import Glibc

/// Runs `body` on the key of `number`: one byte that counts the bytes after it, then the number, big-endian without
/// leading zeros.
///
/// Such keys sort as the numbers do, and take four bytes up to 16 million where a fixed width takes eight.
@inlinable
@inline(__always)
package func withNumberKey<Result, Failure: Error>(
    _ number: UInt64, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
    let count = (71 - number.leadingZeroBitCount) / 8
    var key = (UInt64(0), UInt64(0))
    return try withUnsafeMutableBytes(of: &key) { (key) throws(Failure) in
        key[0] = UInt8(truncatingIfNeeded: count)
        key.storeBytes(of: (number << UInt64(64 - 8 * count)).bigEndian, toByteOffset: 1, as: UInt64.self)
        return try body(UnsafeRawBufferPointer(rebasing: key[0...count]))
    }
}

/// `Array.withUnsafeBytes` with typed errors.
@inlinable
@inline(__always)
package func withTypedBytes<Result, Failure: Error>(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
    try bytes.withUnsafeBufferPointer { (buffer) throws(Failure) in try body(UnsafeRawBufferPointer(buffer)) }
}

extension UnsafeRawBufferPointer {
    /// The number in a key of `withNumberKey`; nil if the bytes are not such a key.
    @inlinable
    @inline(__always)
    package var number: UInt64? {
        guard let length = first.map(Int.init), length <= 8, count == length + 1 else { return nil }
        if length > 0, self[1] == 0 { return nil }
        var number: UInt64 = 0
        for index in 1..<count { number = number << 8 | UInt64(self[index]) }
        return number
    }

    /// The big-endian number in the eight bytes from `offset`.
    @inlinable
    @inline(__always)
    package func bigEndian64(at offset: Int = 0) -> UInt64 {
        UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The big-endian number in the four bytes from `offset`.
    @inlinable
    @inline(__always)
    package func bigEndian32(at offset: Int = 0) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The part in `range`, with offsets from its own start.
    @inlinable
    @inline(__always)
    package func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[range]) }

    /// Tells whether both hold the same bytes.
    @inlinable
    @inline(__always)
    package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard count > 0, let left = baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, count) == 0
    }

    /// Less than zero, zero or more: these bytes come before, are equal to or come after those of `other` in the order
    /// of keys.
    @inlinable
    @inline(__always)
    package func order(to other: UnsafeRawBufferPointer) -> Int {
        let common = Swift.min(count, other.count)
        if common > 0, let left = baseAddress, let right = other.baseAddress {
            let order = memcmp(left, right, common)
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }
}

extension [UInt8] {
    /// Appends `value` in big-endian order.
    @inlinable
    package mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
