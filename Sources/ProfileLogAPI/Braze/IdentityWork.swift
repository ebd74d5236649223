internal import ProfileLog

extension API {
    /// Does one item of `request` after the other, each whole or not at all; those that ask for no address share a
    /// commit. What ends the request when something of it is stored is thrown with what was done and what was not.
    ///
    /// - Returns: for each item why nothing was done about it; nil if it was, or if it was so already.
    func carryOut(_ items: [IdentityItem], of request: APIRequest) async throws -> [String?] {
        var progress = try IdentityProgress(items, IdentityKey(request), log)
        do {
            try await carryOut(&progress)
        } catch {
            throw progress.problem(error)
        }
        return progress.reasons
    }

    private func carryOut(_ progress: inout IdentityProgress) async throws {
        var gathered: [(place: Int, append: PreparedAppend)] = []
        for place in progress.items.indices where progress.reasons[place] != nil {
            let work = progress.work(at: place)
            if work.item.change.asksForAddress {
                // Whoever has the address has it after the items before this one.
                try await commit(gathered, &progress)
                gathered = []
                try await settle(place, &progress)
            } else {
                do {
                    gathered.append((place, try work.append(log)))
                } catch {
                    progress.reasons[place] = try work.reason(error, log)
                }
            }
        }
        try await commit(gathered, &progress)
    }

    private func commit(
        _ gathered: [(place: Int, append: PreparedAppend)], _ progress: inout IdentityProgress
    ) async throws {
        if gathered.isEmpty { return }
        let appends = gathered.map(\.append)
        try await store(gathered.map(\.place), &progress) { log in log.commit(appends) }
    }

    /// Does an item that asks for an address. Those who have it may be many: they are looked up while others write, and once more if somebody
    /// comes between look-up and commit; at last where nobody of this process does.
    private func settle(_ place: Int, _ progress: inout IdentityProgress) async throws {
        let work = progress.work(at: place)
        do {
            for _ in 0..<Self.attemptsBesideOthers {
                let append = try await performBeside { log in try work.append(log) }
                do {
                    return try await store([place], &progress) { log in log.commit([append]) }
                } catch AppendError.versionConflict {}
            }
            try await store([place], &progress) { log in
                try untilItHolds {
                    let answers = log.commit([try work.append(log)])
                    if case .failure(.versionConflict) = answers[0] { _ = try answers[0].get() }
                    return answers
                }
            }
        } catch {
            progress.reasons[place] = try work.reason(error, log)
        }
    }

    /// Runs `commit` on the writer's thread, and notes what became of the items at `places`.
    ///
    /// A request that has begun finds room there. Until then it is looked up, where nobody of this process comes between, whether its key is
    /// still its own.
    private func store(
        _ places: [Int], _ progress: inout IdentityProgress,
        _ commit: @escaping @Sendable (EventLog) throws -> [Result<AppendReceipt, AppendError>]
    ) async throws {
        let (items, key, isBegun) = (progress.items, progress.key, progress.isBegun)
        let answers = try await perform(evenIfFull: isBegun) { log in
            if !isBegun { _ = try key?.done(items, log) }
            return try commit(log)
        }
        for case .success(let receipt) in answers where receipt.storesSomething { activity.stored(receipt) }
        try progress.note(answers, at: places, log)
    }
}

/// An item of a request on its way into the log.
struct IdentityWork: Sendable {
    let item: IdentityItem
    let key: IdentityKey?

    /// What is to be stored, by what `log` holds now: if those who were looked up are as they are when it is.
    func append(_ log: EventLog) throws -> PreparedAppend {
        let (change, found) = try item.change.resolved(log)
        return try PreparedAppend.identity(
            change, by: found, context: EventContext(source: .rest), idempotencyKey: key?.key(of: item),
            note: key?.note ?? [])
    }

    /// Of what changes nothing, only a merge is worth a word: it was no merge.
    func reason(_ receipt: AppendReceipt) -> String? {
        guard case .merge = item.change, receipt.places.isEmpty else { return nil }
        return "the two are the same user"
    }

    /// What the rules that forbid the item say; what keeps the log from taking anything is thrown.
    func reason(_ error: any Error, _ log: EventLog) throws -> String? {
        switch error {
        case let nobody as IdentityItem.NobodyMeant:
            // The same request, sent twice at once, may have been done meanwhile.
            try key?.wasDone(item, log) == true ? nil : nobody.reason
        case AppendError.unknownUser: "no such user exists"
        case AppendError.invalid(let place, let reason): "\(place.prefix(1).lowercased())\(place.dropFirst()) \(reason)"
        default: throw error
        }
    }
}
