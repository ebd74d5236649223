import ProfileLog
import ProfileLogTesting

/// The samples in the comments of public declarations, compiled as another package compiles them.
private func samples(_ log: EventLog, _ receipt: AppendReceipt, _ monday: Timestamp) throws {
    try log.setRules(FoldRules(policies: ["plan": .lastOccurred]))
    try log.setRules(FoldRules(policies: ["visits": .counter, "signup_source": .firstWins]))

    let then = try log.profile(of: "ana", asOf: .time(monday))
    print(then)

    let (balance, version) = try log.read { moment in
        (try moment.state(of: Balance.self, for: "ana"), try moment.find("ana")?.version)
    }
    print(balance, version ?? 0)

    var silver: [UserID] = []
    try log.forEachUser { user, profile in
        if profile["plan"] == "silver" { silver.append(user.id) }
    }
    print(silver)

    let minutes = try log.state(of: MinutesPlayed.self, for: "ana", asOf: .version(7))
    print(minutes)

    let orders = UserTrait.count(.purchases, within: .seconds(30 * 86_400))
    print(try log.value(of: orders, for: "ana") ?? 0)

    do {
        let genre = UserTrait.mostFrequent(.event("played song"), property: "genre", within: .seconds(86_400))
        let now = try log.value(of: genre, for: "ana")
        print(now ?? .null)
    }

    for change in try log.changes(of: "ana", from: .time(monday)) { print(change.field, change.after ?? .null) }

    var total: Int64 = 0
    try log.forEachState(of: MinutesPlayed.self, threads: 2) { _, minutes in total += minutes }
    print(total)

    try log.void(receipt.last, actor: "ops", reason: "a test purchase")

    try log.rebuildStates(threads: 2)

    let proof = try log.replay(MinutesPlayed.self, verify: true)
    print(proof.isEqual ? "equal" : proof.differences.joined(separator: ", "))

    for entry in try log.blame(.customAttribute("address", path: "city"), of: "ana") {
        print(entry.field, entry.value ?? .null, entry.write.event.position)
    }

    let seen = try log.blame(.customEvent("Viewed Home"), of: "ana", withLog: true).first
    print(seen?.value ?? 0, seen?.log.map(\.event.context.device) ?? [])

    do {
        let impact = try log.whatIf(AlteredHistory(without: [.event(receipt.last)]))
        print(impact.changed)
    }

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

private func samplesOfAppends(_ log: EventLog, _ ana: UserInfo) throws {
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

    let events = [ProfileEvent.customEventLogged(CustomEvent(name: "played song"))]
    do { try log.append(events, to: user) } catch let error as any LogError { print(error.description, error.remedy) }

    let monday = Timestamp(iso8601: "2026-03-02T12:00:00Z")
    print(monday as Any)

    let push = EventContext.extension("PushContent", on: "phone", storage: .appGroup("group.app"))
    print(push)

    try log.set(.online(true), .sendsEvery(seconds: 10), on: "phone")

    try log.change(.merge(source: .externalID("old"), target: .externalID("ana")))
}

private func samplesOfExchange(_ log: EventLog, _ other: EventLog) throws {
    var lines: [String] = []
    try log.exportEvents { lines.append($0) }
    let counts = try other.importEvents(lines, named: "events of the shop")
    print(counts.stored, counts.skipped)
}

private func samplesOfWatching(
    _ log: EventLog, _ writer: LogWriter, _ user: UserID, _ receipt: AppendReceipt
) async throws {
    try await writer.append([.customEventLogged(CustomEvent(name: "played song"))], to: user)

    log.onCommit { receipt, missed in
        if missed > 0 { print("\(missed) commits before this one were not told") }
        print("committed up to \(receipt.last), of \(receipt.users.count) users")
    }

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

private func samplesOfTesting() throws {
    let store = try TemporaryLog(projections: [Spent.self])
    try store.log.append([.customEventLogged(CustomEvent(name: "seen"))], to: .externalID("ana"))
    store.clock.advance(by: .seconds(60))
    try store.reopen()

    let song = CustomEvent(name: "played song", properties: [.init("minutes", 3)])
    let minutes = try fold(MinutesPlayed.self, given: [.logged(song), .saved(song), .launch, .void(0)])
    print(minutes)

    try checkLaws(of: MinutesPlayed.self, given: [.logged(song), .saved(song), .launch, .merge])
}
