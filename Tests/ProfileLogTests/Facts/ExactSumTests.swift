import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFacts

/// Decimal digits added one by one, each at its place: shares nothing with `ExactSum`.
private struct DigitModel {
    private var digits = [Int](repeating: 0, count: 720)
    private static let point = 360

    mutating func add(_ number: Double, times: Int = 1) {
        var text = Substring(number.description)
        let sign = text.hasPrefix("-") ? -times : times
        if text.hasPrefix("-") { text.removeFirst() }
        let parts = text.split(separator: "e")
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let fraction = mantissa.count > 1 ? mantissa[1] : ""
        var place = Self.point - fraction.count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        for digit in (mantissa[0] + fraction).reversed() {
            digits[place] += sign * (digit.wholeNumberValue ?? 0)
            place += 1
        }
    }

    /// -1, 0 or 1, and the digits of the magnitude without zeros at the ends, with a point.
    var number: (sign: Int, text: String) {
        func carried(_ sign: Int) -> [Int]? {
            var (carry, result) = (0, digits)
            for index in result.indices {
                let sum = sign * digits[index] + carry
                carry = sum >= 0 ? sum / 10 : -((9 - sum) / 10)
                result[index] = sum - carry * 10
            }
            return carry == 0 ? result : nil
        }
        let (sign, magnitude) = carried(1).map { (1, $0) } ?? (-1, carried(-1) ?? [])
        let text = magnitude.reversed().map(String.init).joined()
        let whole = text.dropLast(Self.point).drop { $0 == "0" }
        var fraction = text.suffix(Self.point)
        while fraction.last == "0" { fraction.removeLast() }
        if whole.isEmpty, fraction.isEmpty { return (0, "0") }
        return (sign, (whole.isEmpty ? "0" : whole) + (fraction.isEmpty ? "" : "." + fraction))
    }
}

@Suite("Sums of decimals")
struct ExactSumTests {
    /// A number as people have it in their logs, or one that no log has.
    private static func number(_ random: inout SeededGenerator) -> Double {
        switch random.next(below: 12) {
        case 0..<5: return Double(random.next(below: 2_000_001) - 1_000_000) / 100
        case 5: return Double(random.next(below: 2_000_001) - 1_000_000) / 10_000
        case 6: return Double(random.next(below: 1000)) / 3
        case 7: return Double(random.next(below: 1 << 50)) * 8
        case 8: return 1e15 + Double(random.next(below: 100)) / 100
        case 9: return Double(random.next(below: 3) - 1) / 1000
        case 10:
            let extremes = [1e-18, 1e-19, .leastNonzeroMagnitude, -.leastNormalMagnitude, 1e22, 1e300, -1e300]
            return extremes[random.next(below: 7)]
        default:
            let number = Double(bitPattern: random.next())
            return number.isFinite ? number : 0.1
        }
    }

    /// The digits of a text of `ExactSum`, as `DigitModel` writes them.
    private static func plain(_ text: String) -> (sign: Int, text: String) {
        var model = DigitModel()
        if text.contains("e") {
            // Each exponent is that of a double.
            model.add(Double(text) ?? .nan)
            return model.number
        }
        var digits = text.drop { $0 == "-" }
        if digits.hasSuffix(".0") { digits.removeLast(2) }
        return digits == "0" ? (0, "0") : (text.hasPrefix("-") ? -1 : 1, String(digits))
    }

    @Test(
        "Any order and any grouping give one sum, with the digits of addition by hand",
        arguments: Thoroughness.seeds(short: 40, full: 1000))
    func order(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // Some have only money, the others everything.
        let isMoney = seed % 2 == 0
        var terms: [(number: Double, times: Int)] = []
        for _ in 0..<random.next(below: 40) + 1 {
            let number =
                isMoney ? Double(random.next(below: 20_001) - 10_000) / 100 : Self.number(&random)
            terms.append((number, random.next(below: 4) == 0 ? random.next(below: 100) + 1 : 1))
            // What comes goes again, now and then.
            if random.next(below: 3) == 0 { terms.append((-number, terms[terms.count - 1].times)) }
        }
        var model = DigitModel()
        for term in terms { model.add(term.number, times: term.times) }
        var sums: [ExactSum] = []
        for _ in 0..<4 {
            terms.shuffle(using: &random)
            var groups = [ExactSum](repeating: ExactSum(), count: random.next(below: 5) + 1)
            for term in terms { groups[random.next(below: groups.count)].add(term.number, times: Int64(term.times)) }
            sums.append(groups.reduce(into: ExactSum()) { $0.add($1) })
        }
        let sum = sums[0]
        #expect(sums.allSatisfy { $0 == sum && $0.hashValue == sum.hashValue && $0.form == sum.form })
        #expect(ExactSum(sum.form) == sum)
        #expect(Self.plain(sum.description) == model.number, "\(terms)")
        let (sign, text) = model.number
        #expect(sum.double == Double((sign < 0 ? "-" : "") + text))
        // The order is that of the differences.
        let other = Self.number(&random)
        model.add(-other)
        #expect((sum < ExactSum(other)) == (model.number.sign < 0))
        #expect((sum == ExactSum(other)) == (model.number.sign == 0))
        // Taken away again, nothing is left.
        var rest = sum
        for term in terms { rest.add(-term.number, times: Int64(term.times)) }
        #expect(rest == ExactSum())
    }

    @Test(
        "Sums as JSON has them",
        arguments: [
            ([0.1, 0.1, 0.1], "0.3"), ([0.3, -0.1, -0.1, -0.1], "0.0"), ([0.5, 0.5], "1.0"), ([1e16], "1e+16"),
            ([9_007_199_254_740_992, 1, 0.01], "9007199254740993.01"), ([1e15, 0.01], "1000000000000000.01"),
            ([-1e15, -0.01], "-1000000000000000.01"), ([1e22, -0.5], "9999999999999999999999.5"),
            ([33.333333333333336, 66.66666666666667], "100.000000000000006"), ([1e-7, 1e-7], "2e-07"),
        ] as [([Double], String)])
    func text(numbers: [Double], text: String) {
        #expect(numbers.reduce(into: ExactSum()) { $0.add($1) }.description == text)
    }

    @Test("Whole numbers of 64 bits stay exact")
    func integers() {
        var sum = ExactSum(Int64.max)
        sum.add(ExactSum(Int64.max))
        #expect(sum.description == "18446744073709551614.0" && sum.integer == nil)
        sum.add(ExactSum(-Int64.max))
        #expect(sum.integer == .max)
    }

    @Test(
        "A form that no sum has is refused",
        arguments: ["", "1", "-", "01.0", "1.50", "1.", ".5", "-0.0", "1e5", "1.0.0", "é.0"])
    func form(text: String) { #expect(ExactSum(.text(text)) == nil) }
}
