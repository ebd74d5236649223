/// Looks at the bytes of JSON strings eight at a time, for the parser and the writer alike.
enum JSONScan {
    /// A run of string content that is copied unchanged.
    struct PlainRun {
        /// The first byte after the run: a quotation mark, a backslash, a control character, or the end of the input.
        let end: UnsafePointer<UInt8>
        /// Tells whether all of the run is ASCII.
        let isASCII: Bool
    }

    /// The longest run from `start` without a quotation mark, a backslash or a control character.
    @inline(__always)
    static func plainRun(from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>) -> PlainRun {
        var next = start
        var seen: UInt64 = 0
        while end - next >= 8 {
            let word = UInt64(littleEndian: UnsafeRawPointer(next).loadUnaligned(as: UInt64.self))
            let stops = stopMarks(in: word)
            if stops != 0 {
                let bits = stops.trailingZeroBitCount - 7  // of the bytes before the stop
                seen |= word & ((1 << UInt64(bits)) &- 1)
                return PlainRun(end: next + bits / 8, isASCII: seen & highBits == 0)
            }
            seen |= word
            next += 8
        }
        while next < end, !isStop(next.pointee) {
            seen |= UInt64(next.pointee)
            next += 1
        }
        return PlainRun(end: next, isASCII: seen & highBits == 0)
    }

    /// The first byte from `start` that begins no well-formed UTF-8 sequence before `end`, or nil if all do.
    ///
    /// The ranges are those of table 3-7 of the Unicode standard: the bounds on the second byte exclude overlong forms
    /// and surrogates.
    static func firstInvalidUTF8(
        from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8>? {
        var next = start
        while next < end {
            let lead = next.pointee
            if lead < 0x80 {
                next += 1
                continue
            }
            let length: Int
            let second: ClosedRange<UInt8>
            switch lead {
            case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
            case 0xE0: (length, second) = (3, 0xA0...0xBF)
            case 0xED: (length, second) = (3, 0x80...0x9F)
            case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
            case 0xF0: (length, second) = (4, 0x90...0xBF)
            case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
            case 0xF4: (length, second) = (4, 0x80...0x8F)
            default: return next
            }
            guard end - next >= length, second.contains(next[1]) else { return next }
            if length > 2, next[2] & 0xC0 != 0x80 { return next }
            if length > 3, next[3] & 0xC0 != 0x80 { return next }
            next += length
        }
        return nil
    }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080
    private static let lowBits: UInt64 = 0x0101_0101_0101_0101

    private static func isStop(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20
    }

    /// The high bit of each byte of `word` that ends a run. Borrows may mark more bytes, but only after a correct mark:
    /// the lowest mark is always correct.
    @inline(__always)
    private static func stopMarks(in word: UInt64) -> UInt64 {
        let quotes = word ^ (lowBits &* 0x22)
        let backslashes = word ^ (lowBits &* 0x5C)
        let controls = (word &- (lowBits &* 0x20)) & ~word
        return (controls | ((quotes &- lowBits) & ~quotes) | ((backslashes &- lowBits) & ~backslashes)) & highBits
    }
}
