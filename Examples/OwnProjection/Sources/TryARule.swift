import ProfileLog

/// The money that a user spent, where a negative price does not count.
enum SpendingWithoutRefunds: UserProjection {
    static let name = "spending-without-refunds"
    static let revision: UInt32 = 1
    static let initial = Money()

    static func apply(_ event: borrowing EventView, to money: inout Money) {
        if case .purchase(let purchase)? = event.content, purchase.price >= 0 { money.add(purchase) }
    }

    static func merge(_ source: Money, into target: inout Money, by event: borrowing EventView) { target.add(source) }
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

    var spent: [UserNumber: Money] = [:]
    try log.forEachState(of: Spending.self, threads: 2) { user, money in spent[user.number] = money }
    var changed = 0
    try log.forEachState(of: SpendingWithoutRefunds.self, threads: 2) { user, money in
        if money != spent[user.number] { changed += 1 }
    }
    print("\(changed) if refunds did not count")
}
