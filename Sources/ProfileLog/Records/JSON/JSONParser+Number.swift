extension JSONParser {
    /// The number that begins at `next`, with a minus sign or a digit.
    mutating func number() throws(JSONError) -> AttributeValue {
        let first = next
        let isNegative = first.pointee == UInt8(ascii: "-")
        if isNegative { next += 1 }
        var digits = Digits()
        let leading = next
        try readDigits(into: &digits)
        if leading.pointee == UInt8(ascii: "0"), digits.count > 1 { throw error(.leadingZero, at: leading) }
        let integerDigits = digits.count

        guard next < end, Self.continuesNumber(next.pointee) else {
            return try integer(digits, isNegative: isNegative, from: first)
        }
        if next.pointee == UInt8(ascii: ".") {
            next += 1
            try readDigits(into: &digits)
        }
        let exponent = try exponent() - (digits.count - integerDigits)
        let value = try double(digits, exponent: exponent, isNegative: isNegative, from: first)
        if value.magnitude >= 0x1p53, let whole = Self.roundedWhole(digits, exponent, value.magnitude) {
            return .int(isNegative ? -whole : whole)
        }
        return .double(value)
    }

    /// The whole number that the digits say, if the double `magnitude` is another one: `9007199254740993.0` is kept as
    /// an integer.
    private static func roundedWhole(_ digits: Digits, _ exponent: Int, _ magnitude: Double) -> Int64? {
        guard digits.isExact, -19...0 ~= exponent else { return nil }
        var whole = digits.value
        for _ in 0..<(-exponent) {
            guard whole.isMultiple(of: 10) else { return nil }
            whole /= 10
        }
        guard let exact = Int64(exactly: whole), Double(exactly: whole) != magnitude else { return nil }
        return exact
    }

    /// The digits of a number without its point: their count, and their value, exact for up to 19 digits.
    private struct Digits {
        var count = 0
        var value: UInt64 = 0

        var isExact: Bool { count <= 19 }
    }

    /// Reads one digit at least.
    @inline(__always)
    private mutating func readDigits(into digits: inout Digits) throws(JSONError) {
        let first = next
        while next < end {
            let digit = next.pointee &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            digits.value = digits.value &* 10 &+ UInt64(digit)
            next += 1
        }
        guard next > first else { throw error(next < end ? .invalidNumber : .unexpectedEnd) }
        digits.count += next - first
    }

    @inline(__always)
    private static func continuesNumber(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e")
    }

    private mutating func integer(
        _ digits: Digits, isNegative: Bool, from first: UnsafePointer<UInt8>
    ) throws(JSONError) -> AttributeValue {
        let limit = UInt64(Int64.max) + (isNegative ? 1 : 0)
        guard digits.isExact, digits.value <= limit else {
            try refuse(.integerTooLarge, at: first)
            return .int(0)
        }
        let value = Int64(truncatingIfNeeded: digits.value)
        return .int(isNegative ? 0 &- value : value)
    }

    /// Reads `e`, a sign and digits if they are there; 0 if not. An exponent far out of range is clamped, and is still
    /// out of range.
    private mutating func exponent() throws(JSONError) -> Int {
        guard next < end, next.pointee | 0x20 == UInt8(ascii: "e") else { return 0 }
        next += 1
        let isNegative = next < end && next.pointee == UInt8(ascii: "-")
        if isNegative || (next < end && next.pointee == UInt8(ascii: "+")) { next += 1 }
        var digits = Digits()
        try readDigits(into: &digits)
        let size = digits.isExact ? Int(min(digits.value, 1 << 32)) : 1 << 32
        return isNegative ? -size : size
    }

    /// Digits times ten to `exponent`, rounded to the nearest double.
    private mutating func double(
        _ digits: Digits, exponent: Int, isNegative: Bool, from first: UnsafePointer<UInt8>
    ) throws(JSONError) -> Double {
        // Both factors are exact doubles, so the one multiplication or division rounds once and correctly.
        if digits.isExact, digits.value < 1 << 53, -22...22 ~= exponent {
            let value = Double(digits.value)
            let scaled = exponent < 0 ? value / Self.powersOfTen[-exponent] : value * Self.powersOfTen[exponent]
            return isNegative ? -scaled : scaled
        }
        let text = String(decoding: UnsafeBufferPointer(start: first, count: next - first), as: UTF8.self)
        guard let value = Double(text) else { throw error(.invalidNumber, at: first) }
        if !value.isFinite { try refuse(.numberTooLarge, at: first) }
        return value
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20,
        1e21, 1e22,
    ]
}
