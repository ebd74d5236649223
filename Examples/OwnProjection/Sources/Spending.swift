import ProfileLog

/// The sum that a user paid, in cents by currency.
enum Spending: UserProjection {
    static let name = "spending"
    static let revision: UInt32 = 1
    static var initial: [String: Int64] { [:] }

    static func apply(_ event: borrowing EventView, to spending: inout [String: Int64]) {
        guard case .purchase(let purchase)? = event.content else { return }
        let cents = Int64(exactly: (purchase.price * 100).rounded()) ?? 0
        spending[purchase.currency, default: 0] += cents * Int64(purchase.quantity)
    }

    static func merge(_ source: [String: Int64], into target: inout [String: Int64], by event: borrowing EventView) {
        target.merge(source) { $0 + $1 }
    }
}
