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

    let impact = try log.whatIf(AlteredHistory(without: [.source(.import)]))
    print(impact.changed, "of", impact.users, "profiles would differ")
}
