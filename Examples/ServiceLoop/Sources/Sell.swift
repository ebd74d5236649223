import ProfileLog

/// Sells to many callers at once. A `LogWriter` commits all appends that wait together, for one sync.
func sell(_ log: EventLog) async throws {
    let writer = LogWriter(log)

    // A client that got no answer sends the same again, under the same key.
    for _ in 1...2 {
        let gift = try await writer.append(
            [moved(50, "coins earned")], to: "ana", expecting: .noUser, context: .server, idempotencyKey: "gift 1")
        print("The gift is at position \(gift.last)\(gift.isRepetition ? ", a retry" : "").")
    }

    // Without the key it would be another gift, and ana is not new any more.
    do {
        try log.append([moved(50, "coins earned")], to: "ana", expecting: .noUser, context: .server)
    } catch {
        print(error.description, error.remedy)
    }

    // An order costs 5 coins. 64 tasks decide by the same state, and no coin is spent twice.
    let sold = try await withThrowingTaskGroup(of: Int.self) { group in
        for order in 1...64 {
            group.addTask {
                let receipt = try await writer.update(
                    "ana", Coins.self, context: .server, idempotencyKey: "order \(order)"
                ) { coins in
                    coins >= 5 ? [moved(5, "coins spent")] : []
                }
                // Nothing was decided, or the order was sold before.
                return receipt.last < receipt.first || receipt.isRepetition ? 0 : 1
            }
        }
        var sold = 0
        for try await count in group { sold += count }
        return sold
    }
    print("Sold \(sold) of 64 orders; ana has \(try log.state(of: Coins.self, for: "ana")) coins.")

    // Events of two users are stored together or not at all.
    try await writer.append(idempotencyKey: "present 1") { append in
        try append.add(moved(20, "coins earned"), to: "bo", context: .server)
        try append.add(.customEventLogged(CustomEvent(name: "present received")), to: "ana", context: .server)
    }
    await writer.close()
}
