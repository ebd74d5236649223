internal import Synchronization

/// What a request is called in the log and in its answer: the client's own `X-Request-Id`, or a new one.
enum RequestID {
    private static let mostBytes = 128

    /// The client's, if it is short, printable and without spaces.
    static func of(_ asked: RequestHeaders) -> String {
        guard let given = asked.requestID, (1...mostBytes).contains(given.utf8.count),
            given.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return random() }
        return given
    }

    private static let seed = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
    private static let count = Atomic<UInt64>(0)

    /// A UUID of version 4. It need not be hard to guess, so its bits are mixed of a seed and a count: random ones are a system call.
    private static func random() -> String {
        let count = count.add(1, ordering: .relaxed).newValue
        let high = mixed(seed.0 &+ count) & ~0xF000 | 0x4000
        let low = mixed(seed.1 ^ count) & ~(0b11 << 62) | 0b10 << 62
        return String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for digit in 0..<32 {
                if digit % 4 == 0, (8...20).contains(digit) {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let half = digit < 16 ? high : low
                let value = UInt8(truncatingIfNeeded: half >> UInt64(60 - digit % 16 * 4)) & 0xF
                text[place] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
                place += 1
            }
            return place
        }
    }

    /// The finalizer of SplitMix64: each bit of `value` changes about half of those of the result.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value &* 0x9E37_79B9_7F4A_7C15
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
