internal import ProfileLog

extension API {
    /// Does one item of `request` after the other, each whole or not at all; those that ask for no address share a
    /// commit.
    ///
    /// - Returns: for each item why nothing was done about it; nil if it was, or if it was so already.
    func carryOut(_ items: [IdentityItem], of request: APIRequest) async throws -> [String?] {
        let key = try IdentityKey(request)
        return try await perform { log in
            var work = IdentityWork(log: log, key: key)
            try key?.refuseOthers(log)
            let done = try items.map { try key?.wasDone($0, log) ?? false }
            for (item, isDone) in zip(items, done) { try work.take(item, isDone: isDone) }
            try work.commit()
            return work.reasons
        }
    }
}

/// The items of a request on their way into the log. Lives on the writer's thread, so that no other request comes
/// between look-up and commit.
private struct IdentityWork {
    let log: EventLog
    let key: IdentityKey?
    private(set) var reasons: [String?] = []
    private var gathered: [(place: Int, item: IdentityItem, append: PreparedAppend)] = []

    init(log: EventLog, key: IdentityKey?) {
        self.log = log
        self.key = key
    }

    mutating func take(_ item: IdentityItem, isDone: Bool) throws {
        if isDone {
            reasons.append(nil)
            return
        }
        do {
            if item.change.asksForAddress {
                // Whoever has the address has it after the items before this one.
                try commit()
                let receipt = try untilItHolds { try log.commit(append(item)) }
                reasons.append(Self.reason(receipt, item))
            } else {
                gathered.append((reasons.count, item, try append(item)))
                reasons.append(nil)
            }
        } catch let nobody as IdentityItem.NobodyMeant {
            reasons.append(nobody.reason)
        } catch let error as AppendError {
            reasons.append(try Self.reason(error))
        }
    }

    private func append(_ item: IdentityItem) throws -> PreparedAppend {
        try PreparedAppend.identity(
            item.change.resolved(log), context: EventContext(source: .rest), idempotencyKey: key?.key(of: item),
            note: key?.note ?? [])
    }

    /// Commits what was taken. An item that the rules forbid gets its reason; what keeps the log from taking anything
    /// is thrown.
    mutating func commit() throws {
        if gathered.isEmpty { return }
        let answers = log.commit(gathered.map(\.append))
        for ((place, item, _), answer) in zip(gathered, answers) {
            switch answer {
            case .success(let receipt): reasons[place] = Self.reason(receipt, item)
            case .failure(let error): reasons[place] = try Self.reason(error)
            }
        }
        gathered = []
    }

    /// Of what changes nothing, only a merge is worth a word: it was no merge.
    private static func reason(_ receipt: AppendReceipt, _ item: IdentityItem) -> String? {
        guard case .merge = item.change, receipt.places.isEmpty else { return nil }
        return "the two are the same user"
    }

    private static func reason(_ error: AppendError) throws -> String {
        switch error {
        case .unknownUser: "no such user exists"
        case .invalid(let place, let reason): "\(place.prefix(1).lowercased())\(place.dropFirst()) \(reason)"
        default: throw error
        }
    }
}
