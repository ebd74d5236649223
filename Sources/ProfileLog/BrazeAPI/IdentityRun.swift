internal import ProfileLogRequests

/// Carries out the items of a request that changes IDs of users: one after the other, each whole or not at all.
struct IdentityRun {
    private let items: [IdentityItem]
    private let key: RequestKey?
    private let store: RequestStore
    /// The reason for each item why nothing was done about it; nil if it was done, now or before.
    private(set) var reasons: [String?]
    /// Tells whether something is stored: then the request is not refused as a whole any more.
    private(set) var isBegun = false

    init(_ items: [IdentityItem], of request: APIRequest, _ store: RequestStore) throws {
        self.items = items
        self.store = store
        key = try RequestKey(request)
        reasons = Array(repeating: "was not done", count: items.count)
    }

    /// Does all items. If the request ends when a part of it is stored, the error lists the parts that were done and
    /// those that were not.
    mutating func carryOut() async throws -> [String?] {
        do {
            var place = 0
            while place < items.count {
                let end = items[place...].firstIndex { $0.change.dependsOnUsers } ?? items.count
                place += try await carryOutTogether(place..<end)
                guard place < items.count else { break }
                try await carryOut(place)
                place += 1
            }
        } catch {
            throw apiError(error)
        }
        return reasons
    }

    /// Does several items that depend on no other user in one commit, up to the first that is refused. Gives how many
    /// were done.
    private mutating func carryOutTogether(_ places: Range<Int>) async throws -> Int {
        guard places.count > 1 else { return 0 }
        let view = DecisionView(store.log, .fast)
        var appends: [PreparedAppend] = []
        for place in places {
            // What the first one relies on holds for all: they are stored at once.
            let isFirst = appends.isEmpty
            let decision = try? Self.decide(items, place, key, isBegun: isBegun || !isFirst, view)
            guard let append = decision?.append else { break }
            appends.append(isFirst ? view.completed(append) : append)
        }
        if appends.isEmpty { return 0 }
        let group = appends
        let answers = try await store.perform(evenIfFull: isBegun) { log in
            log.commit(group, endsAtRefusal: true)
        }
        var done = 0
        for (place, answer) in zip(places, answers) {
            switch answer {
            case .success(let receipt):
                store.activity.stored(receipt)
                note(.success(items[place].outcome(receipt)), at: place)
                done += 1
            case .failure(let error): note(.failure(error), at: place)
            }
        }
        switch answers.last {
        case .failure(.outcomeUnknown(let code))?: throw AppendError.outcomeUnknown(code: code)
        case .failure(.outcomePending)?: throw AppendError.outcomePending
        default: break
        }
        return done
    }

    private mutating func carryOut(_ place: Int) async throws {
        let (items, key, isBegun) = (items, key, isBegun)
        do {
            // Once it has begun, the request finds room in the writer's queue.
            let (outcome, receipt) = try await store.decide(evenIfFull: isBegun) { view in
                try Self.decide(items, place, key, isBegun: isBegun, view)
            }
            note(.success(receipt.map(items[place].outcome) ?? outcome), at: place)
        } catch AppendError.unknownUser {
            note(.success((false, "no such user exists")), at: place)
        } catch AppendError.invalid(let field, let reason, _) {
            note(.success((false, "\(field.prefix(1).lowercased())\(field.dropFirst()) \(reason)")), at: place)
        } catch {
            note(.failure(error), at: place)
            throw error
        }
    }

    /// The outcome of an item: whether the log holds something of it, and else why not.
    typealias Outcome = (isStored: Bool, reason: String?)

    private static func decide(
        _ items: [IdentityItem], _ place: Int, _ key: RequestKey?, isBegun: Bool, _ view: DecisionView
    ) throws -> Decision<Outcome> {
        let item = items[place]
        if let key {
            if try key.wasDone(item, view.log) { return Decision((true, nil)) }
            // Of two requests that come under one key at once, one does nothing.
            if !isBegun { try key.requireUnused(by: items, view) }
        }
        do {
            let append = try PreparedAppend.identity(
                item.change.resolved(view), context: EventContext(source: .rest), idempotencyKey: key?.key(of: item),
                note: key?.note() ?? [])
            return Decision((true, nil), storing: append)
        } catch let none as Person.NoSingleUser {
            // The same request, sent twice at once, may have been done in between.
            return Decision(try key?.wasDone(item, view.log) == true ? (true, nil) : (false, none.reason))
        }
    }

    mutating func note(_ outcome: Result<Outcome, any Error>, at place: Int) {
        switch outcome {
        case .success(let outcome):
            if outcome.isStored { isBegun = true }
            reasons[place] = outcome.reason
        case .failure(AppendError.outcomeUnknown), .failure(AppendError.outcomePending):
            reasons[place] = "whether it was done is unknown"
        case .failure: break
        }
    }

    /// Returns the answer if `error` ends the request. Stored parts stay stored, and `dropped` names the parts that
    /// were not done.
    func apiError(_ error: any Error) -> APIError {
        var apiError = APIError(error)
        guard isBegun else { return apiError }
        apiError.denyNothingStored()
        let fact = (error as? AppendError)?.fact ?? apiError.error
        apiError.error = "\(fact) Items that were done: \(reasons.count { $0 == nil }) of \(items.count)."
        let isKeyOurs = if case AppendError.keyReused = error { false } else { key != nil }
        apiError.remedy +=
            isKeyOurs
            ? " Under the same Idempotency-Key what was done is not done again."
            : " Send only the items that `dropped` names."
        apiError.dropped = zip(items, reasons).compactMap { item, reason in
            reason.map { (reason: $0, array: item.array, index: item.index) }
        }
        return apiError
    }
}

extension IdentityItem {
    /// The outcome by the receipt, with a reason only for a merge that changes nothing: it was no merge.
    fileprivate func outcome(_ receipt: AppendReceipt) -> IdentityRun.Outcome {
        guard case .merge = change, receipt.places.isEmpty else { return (!receipt.places.isEmpty, nil) }
        return (false, "the two are the same user")
    }
}

/// The key of a request that changes IDs of users: each item that was done is stored under a key of its own, made of
/// this one and the item's place, with a note that identifies the request.
extension RequestKey {
    /// The key of one item: as long whatever the request's key is.
    fileprivate func key(of item: IdentityItem) -> String {
        "\(Hexadecimal.text(ContentHash.of(Array(text.utf8))))/\(item.array).\(item.index)"
    }

    /// Tells whether `item` was done under this key. Throws if the key was used by another request.
    fileprivate func wasDone(_ item: IdentityItem, _ log: EventLog) throws -> Bool {
        guard let earlier = try log.reader.events.append(underKey: key(of: item)) else { return false }
        _ = try remembered(by: earlier)
        return true
    }

    /// Throws if the key was used by another request, and has the decision hold only if it is not until then.
    fileprivate func requireUnused(by items: [IdentityItem], _ view: DecisionView) throws {
        if let earlier = try view.log.reader.events.append(underKey: text) {
            throw AppendError.keyReused(position: earlier.first)
        }
        view.requireUnused(text)
        for item in items where try !wasDone(item, view.log) { view.requireUnused(key(of: item)) }
    }
}
