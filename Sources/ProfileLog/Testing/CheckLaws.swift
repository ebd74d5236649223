public import ProfileLog

/// Checks that the projection keeps each ``Law`` along the history `steps`. Throws ``LawBroken`` for the first that it
/// breaks.
///
/// ```swift
/// try checkLaws(of: MinutesPlayed.self, given: [.logged(song), .saved(song), .launch, .merge])
/// ```
///
/// A law holds for the histories that were tried only: give one with all that the projection reads, and with several
/// names. Its time grows with the square of the number of steps.
///
/// - Parameter exceptions: laws that are not checked.
public func checkLaws<P: UserProjection>(
    of _: P.Type, given steps: [Given], except exceptions: Set<Law> = []
) throws {
    try LawCheck(history: NamedProjection<P>.history, steps: steps).run(except: exceptions)
}

/// As for a user, of a projection over the whole store.
public func checkLaws<P: StoreProjection>(
    of _: P.Type, given steps: [Given], except exceptions: Set<Law> = []
) throws {
    try LawCheck(history: NamedProjection<P>.history, steps: steps).run(except: exceptions)
}

/// As for a user, of a projection by device.
public func checkLaws<P: DeviceProjection>(
    of _: P.Type, given steps: [Given], except exceptions: Set<Law> = []
) throws {
    try LawCheck(history: NamedProjection<P>.history, steps: steps).run(except: exceptions)
}

/// The laws along one history.
private struct LawCheck<P: Projection> {
    let history: FoldedHistory<P>
    let steps: [Given]

    func run(except exceptions: Set<Law>) throws {
        let laws = Set(Law.allCases).subtracting(exceptions)
        // Opened without the projection, so no state is ever stored: each read folds from the first event.
        var fresh = try Playback(projections: [])
        var twin = try Playback(projections: [])
        var stored = try Playback(projections: [P.self])
        // The number of a step, and the state after it.
        var states: [(step: Int?, state: P.State)] = [(nil, P.initial)]
        if laws.contains(.equalBytes) { try checkBytes(of: P.initial, P.initial, nil) }
        if laws.contains(.roundTrip) { try checkRoundTrip(of: P.initial, nil) }
        for (index, step) in steps.enumerated() {
            try fresh.play(step)
            let state = try history.read(fresh.log)
            states.append((index, state))
            if laws.contains(.equalBytes) {
                try twin.play(step)
                try checkBytes(of: state, history.read(twin.log), index)
            }
            if laws.contains(.roundTrip) { try checkRoundTrip(of: state, index) }
            if laws.contains(.everySnapshot) {
                try stored.play(step)
                try checkSnapshot(stored, state, index)
            }
        }
        if laws.contains(.mergeOfNothing), P.scope == .user { try checkMerges(of: states) }
        if laws.contains(.voidedEqualsAbsent) { try checkVoids() }
    }

    private func broken(_ law: Law, _ step: Int?, _ fact: String) -> LawBroken {
        LawBroken(law: law, step: step, projection: P.name, words: step.map { steps[$0].words } ?? "", fact: fact)
    }

    // MARK: - Coding

    private func checkBytes(of state: P.State, _ twin: P.State, _ step: Int?) throws {
        let bytes = P.encode(state)
        func check(_ other: [UInt8]?, _ fact: String) throws {
            if let other, other != bytes { throw broken(.equalBytes, step, fact) }
        }
        try check(P.encode(state), "the same state has other bytes when it is encoded again")
        try check(P.encode(twin), "the same history in another log gives other bytes")
        // Another copy of a set has another order.
        guard let copy = decoded(bytes), let second = decoded(bytes) else { return }
        if P.encode(copy) != P.encode(second) {
            throw broken(.equalBytes, step, "two states that were decoded from the same bytes have different bytes")
        }
    }

    private func checkRoundTrip(of state: P.State, _ step: Int?) throws {
        let bytes = P.encode(state)
        guard let copy = decoded(bytes) else {
            throw broken(.roundTrip, step, "decode gives nil for the \(bytes.count) bytes of encode")
        }
        if P.encode(copy) != bytes { throw broken(.roundTrip, step, "the decoded state has other bytes") }
        // A state with NaN does not equal itself.
        if let state = state as? any Equatable, state.equals(state), !state.equals(copy) {
            throw broken(.roundTrip, step, "the decoded state is not equal to the state")
        }
    }

    private func decoded(_ bytes: [UInt8]) -> P.State? { bytes.withUnsafeBytes { P.decode($0) } }

    private func checkSnapshot(_ stored: borrowing Playback, _ state: P.State, _ step: Int) throws {
        // From the state that was stored after the step before.
        let later = try history.read(stored.log)
        if P.encode(later) != P.encode(state) {
            throw broken(
                .everySnapshot, step, "the state that was stored before it leads to another state than the first event")
        }
        try stored.store.reopen()
    }

    // MARK: - Merges

    private func checkMerges(of states: [(step: Int?, state: P.State)]) throws {
        var playback = try Playback(projections: [])
        try playback.play(.merge)
        try playback.log.forEachEvent(of: Playback.user) { event in
            guard event.kind == .usersMerged else { return true }
            for (step, state) in states {
                let bytes = P.encode(state)
                var target = state
                P.merge(P.initial, into: &target, by: event)
                if P.encode(target) != bytes {
                    throw broken(.mergeOfNothing, step, "the initial state, merged into the state, changes it")
                }
                target = P.initial
                P.merge(state, into: &target, by: event)
                if P.encode(target) != bytes {
                    throw broken(.mergeOfNothing, step, "the state, merged into the initial one, gives another state")
                }
            }
            return false
        }
    }

    // MARK: - Voids

    private func checkVoids() throws {
        var voided = try Playback(projections: [P.self])
        var ends: [Position] = []
        for step in steps {
            try voided.play(step)
            ends.append(try voided.log.lastPosition())
        }
        for index in voidable {
            try voided.void(index)
            let state = try history.read(voided.log)
            // With as many events after each step, so that later positions and times are the same.
            var absent = try Playback(projections: [])
            for (other, step) in steps.enumerated() {
                if other == index { try absent.skip(step) } else { try absent.play(step) }
                try absent.fill(upTo: ends[other])
            }
            try absent.fill(upTo: voided.log.lastPosition())
            if P.encode(state) != P.encode(try history.read(absent.log)) {
                throw broken(.voidedEqualsAbsent, index, "once it is void, the state is not the one without it")
            }
            try voided.unvoid(index)
        }
    }

    /// The steps that can be void at the end: what the list itself voids, discards or erases cannot.
    private var voidable: [Int] {
        let named = Set(steps.compactMap(\.named))
        let lastErasure = steps.lastIndex { if case .erase = $0 { true } else { false } } ?? -1
        return steps.indices.filter { index in
            guard index > lastErasure, !named.contains(index) else { return false }
            switch steps[index] {
            case .logged, .saved: return true
            case .launch, .void, .unvoid, .discard, .otherUser, .merge, .erase, .offline, .online, .at: return false
            }
        }
    }
}

extension Equatable {
    fileprivate func equals(_ other: Any) -> Bool { other as? Self == self }
}
