/// Reproducible random numbers: the same seed always gives the same numbers, on every machine.
///
/// This is xoshiro256** by Blackman and Vigna, its state filled by splitmix64. Not for secrets. `Int.random(in:using:)`
/// and `shuffle(using:)` of the standard library may differ between versions of Swift. Where output must never change,
/// use `next(below:)`.
package struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
    private var a: UInt64
    private var b: UInt64
    private var c: UInt64
    private var d: UInt64

    /// Makes the generator of `seed`; any number will do, and neighbouring seeds give unrelated numbers.
    package init(seed: UInt64) {
        var mixer = SplitMix64(state: seed)
        a = mixer.next()
        b = mixer.next()
        c = mixer.next()
        d = mixer.next()
    }

    /// The next 64 random bits.
    @inline(__always)
    package mutating func next() -> UInt64 {
        let result = Self.rotated(b &* 5, by: 7) &* 9
        let shifted = b << 17
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = Self.rotated(d, by: 45)
        return result
    }

    /// A number from 0 up to and without `bound`; one draw, with a bias too small to see unless `bound` is above 2^40.
    ///
    /// - Precondition: `bound` is above 0.
    @inline(__always)
    package mutating func next(below bound: Int) -> Int {
        precondition(bound > 0, "there is no number below \(bound)")
        return Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    private static func rotated(_ value: UInt64, by bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
}

/// A mixed counter (splitmix64): turns one seed into several that look unrelated.
private struct SplitMix64 {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        let first = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        let second = (first ^ (first >> 27)) &* 0x94D0_49BB_1331_11EB
        return second ^ (second >> 31)
    }
}
