/// Byte strings with the numbers 0, 1, 2 … in the order of their arrival, and the way back from the bytes to the number.
/// Open addressing over one arena: a look-up allocates nothing.
struct ByteStringTable {
    private var arena: [UInt8] = []
    private var ends: [Int] = []
    private var hashes: [UInt32] = []
    private var slots: [UInt32] = Array(repeating: 0, count: 64)

    /// How many strings there are.
    var count: Int { ends.count }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// The number of `bytes`, or nil.
    func find(_ bytes: UnsafeRawBufferPointer) -> Int? {
        find(bytes, hash: Self.hash(bytes))
    }

    private func find(_ bytes: UnsafeRawBufferPointer, hash: UInt32) -> Int? {
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
    mutating func add(_ bytes: UnsafeRawBufferPointer) -> Int {
        let hash = Self.hash(bytes)
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

    /// Lends the bytes of string number `index`.
    @inline(__always)
    func withBytes<Result>(of index: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = index == 0 ? 0 : ends[index - 1]
        return arena.withUnsafeBytes { body($0.slice(start..<ends[index])) }
    }
}
