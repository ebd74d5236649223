internal import ProfileLog

extension API {
    /// Does one item after the other, each whole or not at all; those that ask for no address share a commit.
    ///
    /// - Returns: for each item why nothing was done about it; nil if it was, or if it was so already.
    func carryOut(_ items: [IdentityItem]) async throws -> [String?] {
        try await perform { log in
            var work = IdentityWork(log: log)
            for item in items { try work.take(item.change) }
            try work.commit()
            return work.reasons
        }
    }
}

/// The items of a request on their way into the log. Lives on the writer's thread, so that nobody comes between look-up and commit.
private struct IdentityWork {
    let log: EventLog
    private(set) var reasons: [String?] = []
    private var gathered: [(item: Int, append: PreparedAppend)] = []

    init(log: EventLog) { self.log = log }

    mutating func take(_ change: IdentityItem.Change) throws {
        // Whoever has the address has it after the items before this one.
        if change.asksForAddress { try commit() }
        do {
            let change = try change.resolved(log)
            gathered.append((reasons.count, try .identity(change, context: EventContext(source: .rest))))
            reasons.append(nil)
        } catch let nobody as IdentityItem.NobodyMeant {
            reasons.append(nobody.reason)
        }
    }

    /// Commits what was taken. An item that the rules forbid gets its reason; what keeps the log from taking anything is thrown.
    mutating func commit() throws {
        if gathered.isEmpty { return }
        let answers = log.commit(gathered.map(\.append))
        for (item, answer) in zip(gathered.map(\.item), answers) {
            if case .failure(let error) = answer { reasons[item] = try Self.reason(error) }
        }
        gathered = []
    }

    private static func reason(_ error: AppendError) throws -> String {
        switch error {
        case .unknownUser: "no such user exists"
        case .invalid(let place, let reason): "\(place.prefix(1).lowercased())\(place.dropFirst()) \(reason)"
        default: throw error
        }
    }
}
