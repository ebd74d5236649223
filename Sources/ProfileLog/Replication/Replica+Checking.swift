internal import ProfileLogFacts
internal import ProfileLogLog
internal import Synchronization

/// The looks at the stream: whether it is as it must be, and fits the store.
extension Replica {
    /// The time between two looks at the stream while something is wrong, and between two glances.
    private static let quickInterval = Duration.seconds(1)
    /// The shortest time between two looks.
    private static let leastInterval = Duration.milliseconds(250)
    /// Without a majority for so long, longer than an election takes, the node says so.
    private static let longestElection = Duration.seconds(10)

    /// Looks at the stream from time to time, on a thread of its own: monitoring ports that do not answer must not
    /// delay what is followed. At once if the brokers answer again, or the clock is set.
    ///
    /// `offset` is the clock's at `start`, before the first look.
    func runChecks(since start: ContinuousClock.Instant, _ offset: Duration) {
        var lastCheck = start
        var lastGlance = start
        var lastOffset = offset
        while !state.withLock({ $0.isStopping }) {
            let (isWanted, isFit) = state.withLock { state in
                let isFit = state.misfit == nil && state.fault == nil && state.stream != nil && !state.isBehindNotes
                return (state.wantsCheck, isFit)
            }
            let now = ContinuousClock.now
            let offset = clockOffset(start)
            let most = settings.mostClockError
            let isClockSet = offset - lastOffset > most || lastOffset - offset > most
            if now - lastGlance >= Self.quickInterval {
                lastGlance = now
                glance()
            }
            if isWanted && now - lastCheck >= Self.leastInterval || isClockSet
                || now - lastCheck >= (isFit ? settings.checkInterval : Self.quickInterval)
            {
                (lastCheck, lastOffset) = (now, offset)
                state.withLock { $0.wantsCheck = false }
                do { try check() } catch let error as StreamError { note(error) } catch {}
            }
            Pause.milliseconds(settings.pollInterval.wholeMilliseconds)
        }
        state.withLock { $0.threads -= 1 }
    }

    /// Lets the brokers keep each batch for `age` from now on; nil: for ever. A node that was away for longer needs a
    /// copy. Throws while the stream is not that of this store.
    package func keep(for age: Duration?) throws(StreamError) {
        let (log, misfit) = state.withLock { ($0.log, $0.misfit) }
        guard log != nil else { throw Self.notJoined }
        if let misfit { throw misfit }
        try stream.keep(for: age)
        glance()
    }

    /// Looks whether the stream has a leader and a majority.
    private func glance() {
        let asked = ContinuousClock.now
        if var found = try? stream.glance() {
            state.withLock { state in
                found.faults = state.stream?.faults ?? []
                state.stream = found
                if found.hasMajority { state.confirmedAt = asked }
            }
        }
        state.withLock { state in
            if state.fault == nil, !state.isConfirmed(for: Self.longestElection, at: .now) {
                state.fault = Self.lostMajority
            }
        }
    }

    /// The time on this machine's clock, less the time that went by since `start`: it changes when the
    /// clock is set.
    func clockOffset(_ start: ContinuousClock.Instant) -> Duration {
        guard let log = state.withLock({ $0.log }) else { return .zero }
        return .microseconds(log.options.now().rawValue) - (ContinuousClock.now - start)
    }

    /// Looks whether the stream is as it must be, and is that of this store. Writes go on only when all was looked at.
    func check() throws {
        guard let log = state.withLock({ $0.log }), let last = try log.reader.replicaPosition() else { return }
        let notes = notesThatCount()
        var found = try look()
        if state.withLock({ $0.misfit != nil }) {
            try forgiveRebuilt(last, found)
            try forgiveRestored(last, found, log)
        } else {
            do {
                guard try isWhole(found, last, log) else { return }
            } catch let error as StreamError where error.kind == .unfit {
                // Batches that were applied in between fit, and those before them may be gone from the stream since.
                guard try log.reader.replicaPosition() == last else { return state.withLock { $0.wantsCheck = true } }
                throw error
            }
            if notes.holder(beyond: found) != nil {
                // A broker that has just become the leader may not know all yet.
                found = try look()
                if let holder = notes.holder(beyond: found) { return noteLost(after: found.last, holder) }
            }
            state.withLock { $0.lostLooks = 0 }
        }
        let fault = found.faults.first ?? clockFault(found)
        state.withLock { state in
            state.fault = fault ?? (state.isConfirmed(for: Self.longestElection, at: .now) ? nil : Self.lostMajority)
        }
    }

    /// Returns what the brokers say of the stream, and keeps it.
    private func look() throws(StreamError) -> StreamState {
        let asked = ContinuousClock.now
        let found: StreamState
        do throws(StreamError) { found = try stream.state() } catch { throw error.ofBrokers }
        state.withLock { state in
            state.stream = found
            if found.hasMajority { state.confirmedAt = asked }
        }
        return found
    }

    /// Tells whether the stream has the store's last batch, or goes on after it. Throws if it is another one.
    private func isWhole(_ found: StreamState, _ last: ReplicaPosition, _ log: EventLog) throws -> Bool {
        // A rebuilt stream goes on after the last batch: its first message proves it.
        guard found.created == last.created || found.last > last.sequence else { throw Self.anotherStream }
        if found.last < last.sequence {
            // A leader that is cut off tells an old end.
            guard found.hasMajority else { return false }
            try noteShorter(found.last, than: last.sequence)
            return false
        }
        if found.first > last.sequence + 1 { throw Self.gone(from: last.sequence + 1, to: found.first - 1) }
        _ = try compare(last, log)
        state.withLock { $0.shorterLooks = 0 }
        return true
    }

    // MARK: - Batches that other nodes have

    /// The notes by which a look at the stream is judged. They were there before the look, so the stream has what they
    /// tell of.
    private struct Notes {
        let nodes: KnownNodes
        let since: ContinuousClock.Instant

        /// The node that has batches of the stream after its end.
        func holder(beyond found: StreamState) -> KnownNodes.Holder? {
            nodes.furthest(in: found.created, since: since).flatMap { $0.sequence > found.last ? $0 : nil }
        }
    }

    private func notesThatCount() -> Notes {
        let now = ContinuousClock.now
        return state.withLock { state in
            // Notes go through the brokers too: after they were away, the last ones before that count.
            let wasServed = state.unservedAt.map { now - $0 >= KnownNodes.liveness } ?? true
            return Notes(
                nodes: state.nodes, since: now - (wasServed ? KnownNodes.liveness : KnownNodes.memory))
        }
    }

    /// Tells whether another node has said for a while that it has the batch at `place` of the stream made at
    /// `created`.
    func isHeld(_ place: UInt64, of created: String) -> Bool {
        let notes = notesThatCount()
        guard let holder = notes.nodes.furthest(in: created, since: notes.since) else { return false }
        return holder.sequence >= place && ContinuousClock.now - holder.since >= Self.noteLead
    }

    /// Keeps that another node has batches which the stream has not: what this node would write is at their places.
    private func noteLost(after end: UInt64, _ holder: KnownNodes.Holder) {
        let isSure = state.withLock { state in
            state.lostLooks += 1
            let isSure = state.lostLooks >= Self.mostShorterLooks
            state.fault = Self.lost(after: end, holder.name, has: holder.sequence, sure: isSure)
            return isSure
        }
        if !isSure { changeBroker() }
    }

    /// Keeps that the stream seems to end before the store. A broker that is cut off tells old numbers, so others are
    /// asked before the node stops.
    private func noteShorter(_ end: UInt64, than sequence: UInt64) throws {
        let error = state.withLock { state in
            state.shorterLooks += 1
            let isSure = state.shorterLooks >= Self.mostShorterLooks
            let error = Self.shorter(last: end, than: sequence, sure: isSure)
            state.fault = error
            return error
        }
        if error.kind == .unfit { throw error }
        changeBroker()
    }

    private static let mostShorterLooks = 4

    /// Goes on with a stream that was rebuilt after the last batch of this store, which its next message proves.
    private func forgiveRebuilt(_ last: ReplicaPosition, _ found: StreamState) throws {
        guard try isRebuilt(found, after: last) == true else { return }
        state.withLock { ($0.misfit, $0.leftOver, $0.shorterLooks) = (nil, nil, 0) }
    }

    /// Tells whether the stream is another one that goes on after the last batch of this store. Nil if it has a message
    /// there that no broker shows yet.
    func isRebuilt(_ found: StreamState, after last: ReplicaPosition) throws -> Bool? {
        if found.created == last.created { return false }
        guard let message = try read(from: last.sequence + 1, count: 1).first else {
            return found.last > last.sequence ? nil : false
        }
        guard let next = try? ReplicaMessage(decoding: message.bytes), next.kind == .begin else { return false }
        return message.sequence == last.sequence + 1 && next.sequence == message.sequence
            && next.previousHash == last.hash
    }

    /// Goes on with the stream if it has the store's last batch again: the brokers that lost it, or others of that
    /// name, are gone.
    private func forgiveRestored(_ last: ReplicaPosition, _ found: StreamState, _ log: EventLog) throws {
        let mayPass = state.withLock { state in
            state.misfit == Self.anotherStream || state.misfit == Self.missing
                || state.shorterLooks >= Self.mostShorterLooks
        }
        guard mayPass, found.created == last.created,
            found.last >= last.sequence, try compare(last, log)
        else { return }
        state.withLock { ($0.misfit, $0.shorterLooks) = (nil, 0) }
    }

    /// Compares the last batch of the store with the stream's message of that sequence; false if that is not there any
    /// more.
    func compare(_ last: ReplicaPosition, _ log: EventLog) throws -> Bool {
        guard let message = try read(from: max(last.sequence, 1), count: 1).first else { return false }
        let decoded = try ReplicaMessage(decoding: message.bytes)
        guard decoded.storeID == log.storeID else { throw Self.otherStore }
        if message.sequence == last.sequence {
            guard decoded.position(message.bytes).hash == last.hash else { throw Self.anotherStream }
            state.withLock { $0.writer = $0.writer ?? decoded.writer }
            return true
        }
        if message.sequence == last.sequence + 1, decoded.previousHash != last.hash { throw Self.anotherStream }
        return false
    }

    private func clockFault(_ found: StreamState) -> StreamError? {
        guard let time = found.time, let log = state.withLock({ $0.log }) else { return nil }
        let error = log.options.now().rawValue - time.rawValue
        guard Duration.microseconds(abs(error)) > settings.mostClockError else { return nil }
        return Self.wrongClock(seconds: Int(error / 1_000_000))
    }
}
