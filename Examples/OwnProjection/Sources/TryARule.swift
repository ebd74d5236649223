import ProfileLog

/// The sum that a user paid, in cents by currency, where a negative price does not count.
enum NetSpending: UserProjection {
    static let name = "net-spending"
    static let revision: UInt32 = 1
    static var initial: [String: Int64] { [:] }

    static func apply(_ event: borrowing EventView, to spending: inout [String: Int64]) {
        if case .purchase(let purchase)? = event.content, purchase.price < 0 { return }
        Spending.apply(event, to: &spending)
    }
}

/// Counts whose state would change under other histories and rules. Writes nothing.
func tryRules(_ log: EventLog, purchase: Position) throws {
    let impact = try log.whatIf(AlteredHistory(without: [.source(.import)]), threads: 2)
    print("\(impact.changed) of \(impact.users) profiles would change")

    let sold = Purchase(product: "book", currency: "EUR", price: 12.5)
    let corrected = try log.whatIf(AlteredHistory(corrections: [purchase: .purchaseLogged(sold)]))
    print("\(corrected.changed) with the corrected purchase")

    let ruled = try log.whatIf(AlteredHistory(rules: FoldRules(policies: ["level": .firstWins])))
    print("\(ruled.changed) if the first level stayed")

    let tried = Replayer<NetSpending>(log, threads: 2)
    try tried.run()
    var changed = 0
    try tried.forEachUser { user, version, net in
        let spending = try log.state(Spending.self, of: user, asOf: version)
        if net != spending { changed += 1 }
    }
    print("\(changed) if refunds did not count")
}
