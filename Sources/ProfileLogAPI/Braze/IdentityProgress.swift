internal import ProfileLog

/// What became so far of the items of a request that changes who is known by which ID.
struct IdentityProgress {
    let items: [IdentityItem]
    let key: IdentityKey?
    /// For each item why nothing was done about it; nil if it was, or if it was so already.
    var reasons: [String?]
    /// Whether something is stored: then the request is no more refused as a whole.
    private(set) var isBegun = false

    /// Throws if `key` stands for another request.
    init(_ items: [IdentityItem], _ key: IdentityKey?, _ log: EventLog) throws {
        self.items = items
        self.key = key
        reasons = Array(repeating: "was not done", count: items.count)
        for (place, isDone) in try (key?.done(items, log) ?? []).enumerated() where isDone { reasons[place] = nil }
    }

    func work(at place: Int) -> IdentityWork { IdentityWork(item: items[place], key: key) }

    /// Notes what the log answered to the items at `places`. Throws what keeps it from taking anything.
    mutating func note(
        _ answers: [Result<AppendReceipt, AppendError>], at places: [Int], _ log: EventLog
    ) throws {
        var failure: (any Error)?
        for (place, answer) in zip(places, answers) {
            do {
                switch answer {
                case .success(let receipt):
                    if receipt.storesSomething { isBegun = true }
                    reasons[place] = work(at: place).reason(receipt)
                case .failure(let error): reasons[place] = try work(at: place).reason(error, log)
                }
            } catch {
                if case AppendError.outcomeUnknown = error { reasons[place] = "whether it was done is unknown" }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// What to answer if `error` ends the request. If something is stored, that stays so, and `dropped` names what was not done.
    func problem(_ error: any Error) -> APIProblem {
        var problem = APIProblem(error)
        guard isBegun else { return problem }
        let fact = (error as? AppendError)?.fact ?? problem.error
        problem.error = "\(fact) Items that were done: \(reasons.count { $0 == nil }) of \(items.count)."
        let isKeyOurs = if case AppendError.keyReused = error { false } else { key != nil }
        problem.remedy +=
            isKeyOurs
            ? " Under the same Idempotency-Key what was done is not done again."
            : " Send only the items that `dropped` names."
        problem.dropped = zip(items, reasons).compactMap { item, reason in
            reason.map { (reason: $0, array: item.array, index: item.index) }
        }
        return problem
    }
}

extension AppendReceipt {
    /// Whether the log holds something of the append, be it from an earlier time.
    var storesSomething: Bool { !places.isEmpty }
}
