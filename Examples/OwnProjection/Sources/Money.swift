import ProfileLog

/// Amounts by currency, in cents: whole numbers add up without rounding, in any order. Sums beyond 64 bits wrap around:
/// a fold must not fail.
struct Money: Codable, Equatable, Sendable {
    private var cents: [String: Int64] = [:]

    /// Adds what `purchase` cost; a negative price is a refund.
    mutating func add(_ purchase: Purchase) {
        let price = Int64(exactly: (purchase.price * 100).rounded()) ?? 0
        cents[purchase.currency, default: 0] &+= price &* Int64(purchase.quantity)
    }

    mutating func add(_ other: Money) { cents.merge(other.cents) { $0 &+ $1 } }
}

extension Money: CustomStringConvertible {
    var description: String {
        if cents.isEmpty { return "nothing" }
        return cents.sorted { $0.key < $1.key }.map { currency, cents in
            let (whole, rest) = cents.magnitude.quotientAndRemainder(dividingBy: 100)
            return "\(currency) \(cents < 0 ? "-" : "")\(whole).\(rest < 10 ? "0" : "")\(rest)"
        }.joined(separator: ", ")
    }
}
