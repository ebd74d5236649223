internal import ProfileLogFacts
internal import ProfileLogLog
internal import Synchronization

/// The looks at the stream: whether it is as it must be, and fits the store.
extension Replica {
    /// Looks whether the stream is as it must be, and is that of this store. Writes go on only when all was looked at.
    func check() throws {
        guard let log = state.withLock({ $0.log }), let last = try log.reader.replicaPosition() else { return }
        let found: StreamState
        do throws(StreamError) { found = try stream.state() } catch { throw error.ofBrokers }
        state.withLock { $0.stream = found }
        if state.withLock({ $0.misfit != nil }) {
            try forgiveRebuilt(last, found)
            try forgiveRestored(last, found, log)
        } else {
            // A rebuilt stream goes on after the last batch: its first message proves it.
            guard found.created == last.created || found.last > last.sequence else { throw Self.anotherStream }
            if found.last < last.sequence { return try noteShorter(found.last, than: last.sequence) }
            if found.first > last.sequence + 1 { throw Self.gone(from: last.sequence + 1, to: found.first - 1) }
            _ = try compare(last, log)
            state.withLock { $0.shorterLooks = 0 }
        }
        let fault = found.faults.first ?? clockFault(found)
        state.withLock { $0.fault = fault }
    }

    /// Keeps that the stream seems to end before the store. A broker that is cut off tells old numbers, so others are
    /// asked before the node stops.
    private func noteShorter(_ end: UInt64, than sequence: UInt64) throws {
        let error = Self.shorter(last: end, than: sequence)
        let looks = state.withLock { state in
            state.fault = error
            state.shorterLooks += 1
            return state.shorterLooks
        }
        guard looks < Self.mostShorterLooks else { throw error }
        changeBroker()
    }

    private static let mostShorterLooks = 4

    /// Goes on with a stream that was rebuilt after the last batch of this store, which its next message proves.
    private func forgiveRebuilt(_ last: ReplicaPosition, _ found: StreamState) throws {
        guard found.created != last.created,
            let message = try read(from: last.sequence + 1, count: 1).first,
            let next = try? ReplicaMessage(decoding: message.bytes), next.kind == .begin,
            message.sequence == last.sequence + 1, next.sequence == message.sequence, next.previousHash == last.hash
        else { return }
        state.withLock { ($0.misfit, $0.leftOver, $0.shorterLooks) = (nil, nil, 0) }
    }

    /// Goes on with the stream if it has the store's last batch again: the brokers that lost it, or others of that name,
    /// are gone.
    private func forgiveRestored(_ last: ReplicaPosition, _ found: StreamState, _ log: EventLog) throws {
        let mayPass = state.withLock { $0.misfit == Self.anotherStream || $0.shorterLooks >= Self.mostShorterLooks }
        guard mayPass, found.created == last.created,
            found.last >= last.sequence, try compare(last, log)
        else { return }
        state.withLock { ($0.misfit, $0.shorterLooks) = (nil, 0) }
    }

    /// Compares the last batch of the store with the stream's message of that sequence; false if that is not there any
    /// more.
    private func compare(_ last: ReplicaPosition, _ log: EventLog) throws -> Bool {
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
