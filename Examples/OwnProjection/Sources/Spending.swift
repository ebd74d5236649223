import ProfileLog

/// The sum that a user paid, in cents by currency.
enum Spending: Projection {
    static let name = "spending"
    static let revision: UInt32 = 1
    static var initial: [String: Int64] { [:] }

    static func apply(_ event: borrowing EventView, to spending: inout [String: Int64]) {
        guard event.kind == .purchaseLogged, case .purchaseLogged(let purchase) = event.recorded()?.event
        else { return }
        let cents = Int64(exactly: (purchase.price * 100).rounded()) ?? 0
        spending[purchase.currency, default: 0] += cents * Int64(purchase.quantity)
    }

    static func merge(_ source: [String: Int64], into target: inout [String: Int64]) {
        target.merge(source) { $0 + $1 }
    }

    static func encode(_ spending: [String: Int64]) -> [UInt8] {
        Array(spending.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n").utf8)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> [String: Int64]? {
        var spending: [String: Int64] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let cents = Int64(words[1]) else { return nil }
            spending[String(words[0])] = cents
        }
        return spending
    }
}
