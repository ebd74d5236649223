/// A sum of decimal numbers, without rounding and whatever the order: ten times 0.1 is 1.
///
/// A stored double means its shortest decimal text, the one that its sender wrote: 0.1 is one tenth. Equal sums have
/// equal representations, so they are equal and hash alike however they came about.
///
/// ```swift
/// var sum = ExactSum()
/// for _ in 0..<10 { sum.add(0.1) }
/// sum.description  // 1.0
/// ```
package struct ExactSum: Hashable, Sendable {
    /// Amounts of money fit into 128 bits. The rest of the range of a double takes an array.
    fileprivate enum Storage: Hashable, Sendable {
        /// Units of 10^-18, from -10^36 to below 10^36, in two words.
        case words(high: Int64, low: UInt64)
        /// All others.
        case wide(WideDecimal)

        static func units(_ units: Int128) -> Storage {
            .words(high: Int64(truncatingIfNeeded: units >> 64), low: UInt64(truncatingIfNeeded: units))
        }

        /// An `Int128` in its place would double the room of a sum in an array: it is aligned to 16 bytes.
        var units: Int128? {
            guard case .words(let high, let low) = self else { return nil }
            return Int128(high) << 64 | Int128(low)
        }
    }

    fileprivate var storage = Storage.units(0)

    /// Nothing.
    package init() {}

    /// `times` times a whole number.
    package init(_ number: Int64, times: Int64 = 1) { add(Int128(number) * Int128(times), exponent: 0) }

    /// `times` times the shortest decimal text of `number`; nothing for what is no finite number.
    package init(_ number: Double, times: Int64 = 1) { add(number, times: times) }

    /// The number, if `value` is one and finite.
    package init?(_ value: AttributeValue) {
        switch value {
        case .int(let number): self.init(number)
        case .double(let number) where number.isFinite: self.init(number)
        default: return nil
        }
    }

    /// Adds `times` times the shortest decimal text of `number`. What is no finite number, as an earlier program may
    /// have stored it, adds nothing.
    package mutating func add(_ number: Double, times: Int64 = 1) {
        guard let decimal = Decimal(number) else { return }
        add(Int128(decimal.digits) * Int128(times), exponent: decimal.exponent)
    }

    /// Adds another sum.
    package mutating func add(_ other: ExactSum) {
        if let left = storage.units, let right = other.storage.units {
            set(left + right)  // both are far below the largest number of 128 bits
            return
        }
        change { $0.add(other.wide) }
    }

    /// Adds `digits`, below 10^37, times ten to `exponent`.
    private mutating func add(_ digits: Int128, exponent: Int) {
        if let units = storage.units, let more = Self.units(digits, exponent: exponent) {
            set(units + more)
        } else {
            change { $0.add(digits, exponent: exponent) }
        }
    }

    /// The units of a number; nil if they are too many or no whole number.
    private static func units(_ digits: Int128, exponent: Int) -> Int128? {
        guard exponent >= -unitPlaces, exponent <= 0 else { return nil }
        guard let digits = Int64(exactly: digits) else { return nil }
        return Int128(digits) * Int128(powersOfTen[unitPlaces + exponent])  // below 10^37
    }

    private mutating func set(_ units: Int128) {
        storage = .units(units)
        if units < -Self.bound || units >= Self.bound { change { _ in } }
    }

    /// Changes the wide form, and goes back to units where they suffice.
    private mutating func change(_ body: (inout WideDecimal) -> Void) {
        var wide = wide
        storage = .units(0)  // so that the array is not copied
        body(&wide)
        storage = wide.units.map { .units($0) } ?? .wide(wide)
    }

    fileprivate var wide: WideDecimal {
        switch storage {
        case .words:
            var wide = WideDecimal()
            wide.add(storage.units ?? 0, exponent: -Self.unitPlaces)
            return wide
        case .wide(let wide): return wide
        }
    }

    /// Decimal places of a unit.
    fileprivate static let unitPlaces = 18
    /// Units at and beyond this are kept in the wide form, as are those below its negative.
    fileprivate static let bound: Int128 = 1_000_000_000_000_000_000 * 1_000_000_000_000_000_000

    fileprivate static let powersOfTen: [Int64] = (0...18).map { exponent in
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}

extension ExactSum: Comparable {
    package static func < (left: ExactSum, right: ExactSum) -> Bool {
        if let left = left.storage.units, let right = right.storage.units { return left < right }
        return left.wide < right.wide
    }
}

// MARK: - Text

extension ExactSum: CustomStringConvertible {
    /// The nearest double. For sums of up to 15 digits its text is the sum's.
    package var double: Double {
        if let units = storage.units, let (digits, places) = Self.shortened(units), abs(digits) < 1 << 53 {
            // Both are exact doubles, so the one division rounds once and correctly.
            return Double(digits) / Double(Self.powersOfTen[places])
        }
        return Double(wide.text) ?? 0
    }

    /// The value as attributes have it: the nearest double.
    package var value: AttributeValue { .double(double) }

    /// All digits, as JSON has a double: `1.0`, `1e+16`, `9007199254740993.01`.
    package var description: String {
        let nearest = double
        // Any double of 15 digits and less is its text; for others that is not known yet.
        return ExactSum(nearest) == self ? nearest.description : wide.text
    }

    /// The whole number, if it is one of 64 bits.
    package var integer: Int64? {
        guard let units = storage.units else {
            let text = wide.text
            return text.hasSuffix(".0") ? Int64(text.dropLast(2)) : nil
        }
        let (quotient, remainder) = units.quotientAndRemainder(dividingBy: Int128(Self.powersOfTen[Self.unitPlaces]))
        return remainder == 0 ? Int64(exactly: quotient) : nil
    }

    /// `digits` and the least number of decimal places; nil if the digits do not fit.
    fileprivate static func shortened(_ units: Int128) -> (digits: Int64, places: Int)? {
        // Most have few places: what is left after the first division fits 64 bits.
        let (quotient, remainder) = units.quotientAndRemainder(dividingBy: Int128(powersOfTen[12]))
        if remainder == 0, var digits = Int64(exactly: quotient) {
            var places = unitPlaces - 12
            while places > 0, digits % 10 == 0 { (digits, places) = (digits / 10, places - 1) }
            return (digits, places)
        }
        var (digits, places) = (units, unitPlaces)
        while places > 0, digits % 10 == 0 { (digits, places) = (digits / 10, places - 1) }
        return Int64(exactly: digits).map { ($0, places) }
    }
}

// MARK: - Bytes

extension ExactSum {
    /// The stored form of a state: digits and decimal places, or else its text.
    package enum Form: Hashable, Sendable {
        case short(digits: Int64, places: UInt8)
        case text(String)
    }

    /// One form for each sum.
    package var form: Form {
        if let units = storage.units, let (digits, places) = Self.shortened(units) {
            return .short(digits: digits, places: UInt8(places))
        }
        return .text(wide.text)
    }

    /// Returns nil for what is no form of a sum.
    package init?(_ form: Form) {
        switch form {
        case .short(let digits, let places):
            guard places <= Self.unitPlaces else { return nil }
            add(Int128(digits), exponent: -Int(places))
        case .text(let text):
            guard let wide = WideDecimal(text) else { return nil }
            storage = wide.units.map { .units($0) } ?? .wide(wide)
        }
    }
}

// MARK: - Decimals

/// The shortest decimal text of a double, as digits and an exponent of ten.
private struct Decimal {
    var digits: Int64
    var exponent: Int

    private init(digits: Int64, exponent: Int) { (self.digits, self.exponent) = (digits, exponent) }

    /// Returns nil for what is no finite number.
    @inline(__always)
    init?(_ number: Double) {
        // A double has one decimal of up to 15 digits at most: its shortest text is one that reads as the same number.
        // Money has two places, so the first try is the last one.
        var (places, power) = (2, 100.0)
        while places <= 6 {
            let scaled = number * power
            guard scaled.magnitude < 1e15 else { break }
            let digits = Int64(scaled + (scaled < 0 ? -0.5 : 0.5))
            if Double(digits) / power == number {
                self.init(digits: digits, exponent: -places)
                return
            }
            (places, power) = (places + 2, power * 100)
        }
        self.init(textOf: number)
    }

    @inline(never)
    private init?(textOf number: Double) {
        guard number.isFinite else { return nil }
        self.init(number.description)
    }

    /// Reads `-1.5`, `1e+16`; nil for digits beyond 64 bits.
    init?(_ text: String) {
        var (digits, places, exponent) = (Int64(0), 0, 0)
        var isNegative = false
        var isFraction = false
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "-") {
            isNegative = true
            rest.removeFirst()
        }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let (product, isTooLarge) = digits.multipliedReportingOverflow(by: 10)
                if isTooLarge { return nil }
                digits = product + Int64(byte - UInt8(ascii: "0"))
                if isFraction { places += 1 }
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"):
                guard let number = Int(Substring(rest)) else { return nil }
                exponent = number
                rest = rest.suffix(0)
            default: return nil
            }
        }
        self.init(digits: isNegative ? -digits : digits, exponent: exponent - places)
    }
}

/// A number with all digits that a sum of doubles can have, in limbs to the base of 10^18: one limb has the places of a
/// unit, 18 are below it, and 18 above.
///
/// All limbs but the last are from 0 to below the base; the last has the sign. So each number has one form, and the
/// order of numbers is that of their limbs from the last to the first.
private struct WideDecimal: Hashable, Sendable {
    private var limbs = [Int64](repeating: 0, count: 37)

    /// Places below the point.
    private static let places = 324
    private static let placesPerLimb = 18
    private static let base: Int128 = 1_000_000_000_000_000_000
    /// The limb with the lowest unit of `ExactSum`, and the one after the highest.
    private static let unitLimbs = 17..<19

    init() {}

    /// Adds `digits`, below 10^37, times ten to `exponent`.
    mutating func add(_ digits: Int128, exponent: Int) {
        let place = exponent + Self.places
        let (limb, shift) = place.quotientAndRemainder(dividingBy: Self.placesPerLimb)
        let (high, low) = digits.quotientAndRemainder(dividingBy: Self.base)
        let factor = Int128(ExactSum.powersOfTen[shift])
        add(low * factor, to: limb)
        // Below 10^19, so that the product is below 10^37.
        add(high * factor, to: limb + 1)
    }

    mutating func add(_ other: WideDecimal) {
        for (index, limb) in other.limbs.enumerated() where limb != 0 { add(Int128(limb), to: index) }
    }

    private mutating func add(_ number: Int128, to first: Int) {
        var carry = number
        var index = first
        while carry != 0 {
            let sum = Int128(limbs[index]) + carry
            if index == limbs.count - 1 {
                limbs[index] = Int64(truncatingIfNeeded: sum)
                return
            }
            var (quotient, remainder) = sum.quotientAndRemainder(dividingBy: Self.base)
            if remainder < 0 { (quotient, remainder) = (quotient - 1, remainder + Self.base) }
            limbs[index] = Int64(remainder)
            carry = quotient
            index += 1
        }
    }

    private var isNegative: Bool { (limbs.last ?? 0) < 0 }

    /// The number in units, if `ExactSum` keeps it in units.
    var units: Int128? {
        let units = Self.unitLimbs
        guard limbs[..<units.lowerBound].allSatisfy({ $0 == 0 }) else { return nil }
        let above = limbs[units.upperBound...]
        let low = Int128(limbs[units.lowerBound]) + Int128(limbs[units.lowerBound + 1]) * Self.base
        if above.allSatisfy({ $0 == 0 }) { return low }
        let isSigned = above.last == -1 && above.dropLast().allSatisfy { Int128($0) == Self.base - 1 }
        return isSigned ? low - ExactSum.bound : nil
    }

    static func < (left: WideDecimal, right: WideDecimal) -> Bool {
        for (left, right) in zip(left.limbs, right.limbs).reversed() where left != right { return left < right }
        return false
    }

    /// All digits, with one place after the point at least: `-1.0`.
    var text: String {
        var magnitude = self
        if isNegative {
            magnitude = WideDecimal()
            for (index, limb) in limbs.enumerated() where limb != 0 { magnitude.add(-Int128(limb), to: index) }
        }
        let digits = magnitude.limbs.reversed().map { limb in
            let text = String(limb)
            return String(repeating: "0", count: max(0, Self.placesPerLimb - text.utf8.count)) + text
        }.joined()
        let whole = digits.dropLast(Self.places).drop { $0 == "0" }
        var fraction = digits.suffix(Self.places)
        while fraction.count > 1, fraction.last == "0" { fraction.removeLast() }
        return (isNegative ? "-" : "") + (whole.isEmpty ? "0" : whole) + "." + fraction
    }

    /// Reads what `text` writes; nil for other text.
    init?(_ text: String) {
        let isNegative = text.hasPrefix("-")
        let parts = (isNegative ? text.dropFirst() : text[...]).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count <= Self.places else { return nil }
        guard parts[0].utf8.count <= limbs.count * Self.placesPerLimb - Self.places else { return nil }
        var exponent = -parts[1].utf8.count
        for character in (parts[0] + parts[1]).utf8.reversed() {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
            let digit = Int128(character - UInt8(ascii: "0"))
            add(isNegative ? -digit : digit, exponent: exponent)
            exponent += 1
        }
        guard self.text == text else { return nil }
    }
}
