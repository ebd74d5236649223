/// Numbers by number, for keys that the log itself gave out. Open addressing: a look-up is a multiplication and a few
/// compares.
struct NumberTable {
    private var keys: [UInt64]
    private var values: [UInt32]
    private(set) var count = 0
    private var shift: UInt64

    /// Marks an empty slot; no user has this number.
    private static let empty = UInt64.max

    init(capacity: Int = 1024) {
        let slots = max(64, (capacity * 2).nextPowerOfTwo)
        keys = Array(repeating: Self.empty, count: slots)
        values = Array(repeating: 0, count: slots)
        shift = UInt64(64 - slots.trailingZeroBitCount)
    }

    @inline(__always)
    private func slot(_ key: UInt64) -> Int { Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> shift) }

    @inline(__always)
    subscript(key: UInt64) -> UInt32? {
        let mask = keys.count - 1
        var slot = slot(key)
        while keys[slot] != Self.empty {
            if keys[slot] == key { return values[slot] }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Sets the value of `key` and gives the one that it had.
    @inline(__always)
    mutating func set(_ key: UInt64, _ value: UInt32) -> UInt32? {
        let mask = keys.count - 1
        var slot = slot(key)
        while keys[slot] != Self.empty {
            if keys[slot] == key {
                let old = values[slot]
                values[slot] = value
                return old
            }
            slot = (slot + 1) & mask
        }
        keys[slot] = key
        values[slot] = value
        count += 1
        if count * 2 > keys.count { grow() }
        return nil
    }

    private mutating func grow() {
        var larger = NumberTable(capacity: keys.count)
        for slot in keys.indices where keys[slot] != Self.empty { _ = larger.set(keys[slot], values[slot]) }
        self = larger
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int { self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
