/// Byte strings with the numbers 0, 1, 2 … in the order of their arrival, and the number of given bytes. Open
/// addressing over one arena: a look-up allocates nothing.
package struct ByteStringTable {
    private var arena: [UInt8] = []
    private var ends: [Int] = []
    private var hashes: [UInt32] = []
    private var slots: [UInt32] = Array(repeating: 0, count: 64)
    private let seed = UInt64.random(in: .min ... .max)

    package init() {}

    /// The number of strings.
    package var count: Int { ends.count }

    /// Multiply and fold, eight bytes at a time, from a random seed: SipHash took a tenth of an append.
    @inline(__always)
    private func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var hash = seed ^ UInt64(bytes.count)
        guard bytes.count >= 8, let base = bytes.baseAddress else {
            return UInt32(truncatingIfNeeded: Self.mix(hash ^ bytes.reduce(0) { $0 << 8 | UInt64($1) }))
        }
        // The last eight bytes may overlap those before them, so that no byte needs a step of its own.
        let last = bytes.count - 8
        for offset in stride(from: 0, to: last, by: 8) {
            hash = Self.mix(hash ^ base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        hash = Self.mix(hash ^ base.loadUnaligned(fromByteOffset: last, as: UInt64.self))
        return UInt32(truncatingIfNeeded: hash)
    }

    @inline(__always)
    private static func mix(_ value: UInt64) -> UInt64 {
        let (high, low) = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return high ^ low
    }

    /// The number of `bytes`, or nil.
    package func find(_ bytes: UnsafeRawBufferPointer) -> Int? {
        find(bytes, hash: hash(bytes))
    }

    /// The number of the UTF-8 of `text`, or nil.
    ///
    /// `readonly` says that the call changes nothing: without it the compiler copies the table for each call.
    @_effects(readonly)
    package func find(_ text: borrowing String) -> Int? {
        text.withRawUTF8 { find($0, hash: hash($0)) }
    }

    @inline(__always)
    private func find(_ bytes: UnsafeRawBufferPointer, hash: UInt32) -> Int? {
        let slots = slots.span
        let hashes = hashes.span
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            if hashes[index] == hash, withBytes(of: index, { $0.hasSameBytes(as: bytes) }) { return index }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Adds `bytes`, which must not be there yet, and gives its number.
    @discardableResult
    package mutating func add(_ bytes: UnsafeRawBufferPointer) -> Int {
        let hash = hash(bytes)
        arena.append(contentsOf: bytes)
        ends.append(arena.count)
        hashes.append(hash)
        if ends.count * 2 > slots.count {
            slots = Array(repeating: 0, count: slots.count * 2)
            for index in hashes.indices { place(index) }
        } else {
            place(ends.count - 1)
        }
        return ends.count - 1
    }

    private mutating func place(_ index: Int) {
        let mask = slots.count - 1
        var slot = Int(hashes[index]) & mask
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = UInt32(index + 1)
    }

    /// As `withBytes(of:_:)`, for a body that may fail.
    package func withThrowingBytes<Result>(of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result
    {
        let start = index == 0 ? 0 : ends[index - 1]
        return try arena.withUnsafeBytes { try body($0.slice(start..<ends[index])) }
    }

    /// Lends the bytes of string number `index`.
    @inline(__always)
    package func withBytes<Result>(of index: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = index == 0 ? 0 : ends[index - 1]
        return arena.withUnsafeBytes { body($0.slice(start..<ends[index])) }
    }
}
