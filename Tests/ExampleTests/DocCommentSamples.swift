import ProfileLog

/// The samples in the comments of public declarations, compiled as another package compiles them.
private func samples(_ log: EventLog, _ user: UserInfo, _ receipt: AppendReceipt, _ monday: Timestamp) throws {
    try log.setRules(FoldRules(policies: ["plan": .lastOccurred]))
    try log.setRules(FoldRules(policies: ["visits": .counter, "signup_source": .firstWins]))

    let then = try log.profile(of: user.number, asOf: .time(monday))
    print(then)

    try log.void(receipt.last, actor: "ops", reason: "a test purchase")

    while try !log.replayIntoShadow(threads: 2).isComplete {}
    try log.swapShadow()

    for entry in try log.blame(of: user.number, field: "address.city") {
        print(entry.field, entry.value ?? .null, entry.write.event.position)
    }

    let seen = try log.blame(of: user.number, field: "event:Viewed Home", withLog: true).first
    print(seen?.value ?? 0, seen?.log.map(\.event.context.device) ?? [])

    do {
        let impact = try log.whatIf(AlteredHistory(without: [.event(receipt.last)]))
        print(impact.changed)
    }

    try samplesOfAppends(log, user, receipt)
    let impact = try log.whatIf(AlteredHistory(without: [.source(.import)]))
    print(impact.changed, "of", impact.users, "profiles would differ")
}

private enum Balance: UserProjection {
    static let name = "balance"
    static let revision: UInt32 = 1
    static var initial: Int { 0 }

    static func apply(_ event: borrowing EventView, to balance: inout Int) { balance += 1 }
    static func merge(_ source: Int, into target: inout Int, by event: borrowing EventView) { target += source }
}

private func samplesOfAppends(_ log: EventLog, _ ana: UserInfo, _ earlier: AppendReceipt) throws {
    let user = UserID.externalID("ana")

    let receipt = try log.append(
        [.customEventLogged(CustomEvent(name: "played song"))], to: user, idempotencyKey: "request-1")
    print(receipt)

    try log.append { append in
        append.expect(.externalID("ana"), at: .exactly(ana.version))
        try append.add(.customEventLogged(CustomEvent(name: "gift sent")), to: .externalID("ana"))
        try append.add(.customEventLogged(CustomEvent(name: "gift received")), to: .externalID("bo"))
    }

    try log.update(user, Balance.self) { balance in
        guard balance >= 5 else { return [] }
        return [.customEventLogged(CustomEvent(name: "spent", properties: [.init("coins", .int(5))]))]
    }

    let push = EventContext.extension("PushContent", on: "phone", storage: .appGroup("group.app"))
    print(push)

    try log.change(.merge(source: .externalID("old"), target: .externalID("ana")))
}

private func samplesOfWatching(
    _ log: EventLog, _ writer: LogWriter, _ user: UserID, _ receipt: AppendReceipt
) async throws {
    try await writer.append([.customEventLogged(CustomEvent(name: "played song"))], to: user)

    for try await event in log.events(after: receipt.last, where: EventFilter(kinds: [.customEventLogged])) {
        print(event.position, event.event)
    }

    let noted = try log.cursor(at: receipt.last).description
    if let cursor = HistoryCursor(noted) {
        for try await event in try log.events(after: cursor, live: false) { print(event.position) }
    }
}

private enum Spent: UserProjection {
    static let name = "spent"
    static let revision: UInt32 = 1
    static let initial = 0.0

    static func apply(_ event: borrowing EventView, to spent: inout Double) {
        if case .purchase(let purchase)? = event.content { spent += purchase.price }
    }
}
