package import ProfileLogFacts
package import ProfileLogLog
internal import ProfileLogRecords
internal import ProfileLogStore
internal import Synchronization

/// A node of a cluster: gives this store's batches their place in the stream, and applies those of other nodes.
///
/// `open` looks at the stream, the log is opened with the replica as its transport, and `start` begins to follow the
/// stream on a thread of its own. From then on the log's commits go through `deliver`:
///
/// * One batch is in flight. The expected last sequence lets one message win a place; with a second one in flight, that
///   could be stored after another node's batch.
/// * An answer that is no acknowledgement settles nothing. `settle` looks at the place: this batch is stored, another
///   one is, or nothing, and then the same bytes are sent again with the same expectation.
package final class Replica: CommitTransport {
    /// The node's settings.
    package let settings: ReplicaSettings
    /// The batch that makes the store, if there is none in the folder yet.
    package let creation: CommitBatch?
    let stream: any BatchStream
    let instance = UInt64.random(in: 1 ... .max)
    let state = Mutex(State())

    struct State {
        /// The log, from `start` to `stop`.
        var log: EventLog?
        /// The reason why the node follows the stream no further: it does not fit the store.
        var misfit: StreamError?
        /// The fault that the last look at the stream found; it may pass by itself.
        var fault: StreamError?
        /// The reason why a batch of the cluster could not be stored here; the node tries again.
        var storeFault: StreamError?
        /// A batch that no caller waits for any more.
        var leftOver: UndecidedBatch?
        /// The reason why it has no place yet, if that is the brokers' room.
        var noRoom: StreamError?
        /// The time at which `leftOver` was sent first.
        var leftOverSince: ContinuousClock.Instant?
        /// The writer of the last batch.
        var writer: ReplicaMessage.Writer?
        /// The stream when it was last looked at.
        var stream: StreamState?
        /// The last time at which the node was known to have all batches.
        var currentAt: ContinuousClock.Instant?
        /// The last time at which a leader with a majority answered, or acknowledged a batch.
        var confirmedAt: ContinuousClock.Instant?
        var nodes = KnownNodes()
        /// A running node with this node's name, and when its last note came.
        var twin: (sentence: StreamError, at: ContinuousClock.Instant)?
        /// The number of looks, one after the other, that found fewer batches in the stream than the store has.
        var shorterLooks = 0
        /// The number of looks, one after the other, that found fewer batches in the stream than another node has.
        var lostLooks = 0
        /// Tells whether another node has said for a while that it has more of the stream than reads find.
        var isBehindNotes = false
        /// Tells whether the stream is to be looked at now.
        var wantsCheck = false
        /// The last time at which the brokers did not answer.
        var unservedAt: ContinuousClock.Instant?
        /// A node of another store that sends notes.
        var stranger: StreamError?
        /// The last fail-over of any node, and that of this one.
        var lastFailOver: FailOver?
        var ownFailOver: FailOver?
        var counts = ReplicaCounts()
        var isStopping = false
        /// The time at which a commit had waited in vain for the brokers.
        var waitedInVain: ContinuousClock.Instant?
        /// The threads that run.
        var threads = 0
    }

    init(_ stream: any BatchStream, _ settings: ReplicaSettings, creation: CommitBatch?) {
        (self.stream, self.settings, self.creation) = (stream, settings, creation)
        stream.onNote { [weak self] note in self?.take(note) }
    }

    var writerOfThisNode: ReplicaMessage.Writer { .init(name: settings.name, url: settings.url) }

    // MARK: - CommitTransport

    package var mostBytes: Int { settings.mostBytes }
    package var isReplicated: Bool { true }
    package var deadline: Duration { settings.deadline }

    package func prepare() throws(AppendError) {
        let begin = ContinuousClock.now
        // One commit waits; those behind it are answered at once.
        let isVain = state.withLock { state in
            state.isStopping || state.waitedInVain.map { begin - $0 < settings.publishTimeout } ?? false
        }
        let deadline = isVain ? begin : begin + settings.publishTimeout
        while true {
            guard let refusal = state.withLock({ $0.log == nil ? Self.notJoined : $0.refusal }) else { return }
            // Brokers that do not answer may do so in a moment.
            let now = ContinuousClock.now
            if refusal.kind != .unreachable || now >= deadline {
                if !isVain { state.withLock { $0.waitedInVain = now } }
                throw .unavailable(reason: refusal.reason, remedy: refusal.remedy)
            }
            Pause.milliseconds(5)
        }
    }

    package func deliver(_ batch: CommitBatch, after last: ReplicaPosition?) throws -> ReplicaPosition? {
        guard let last, let log = state.withLock({ $0.log }) else {
            throw AppendError.unavailable(reason: Self.notJoined.reason, remedy: Self.notJoined.remedy)
        }
        let message = ReplicaMessage(.batch, batch.encoded(), of: log.storeID, after: last, by: writerOfThisNode)
        let bytes = message.encoded()
        guard bytes.count <= settings.mostBytes + Self.spareBytes else {
            throw AppendError.tooLarge(limit: "\(settings.mostBytes) bytes, the most that a message of the cluster has")
        }
        switch stream.publish(bytes, after: last.sequence, timeout: settings.publishTimeout) {
        case .stored(let sequence) where sequence == message.sequence:
            published(message)
            return message.position(bytes)
        case .stored(let sequence):
            // Another node's batches are there, or another stream: this one must not be taken for stored.
            stop(Self.unconditional(sequence, wanted: message.sequence))
            throw AppendError.outcomePending
        case .tooLarge(let reason):
            throw AppendError.unavailable(reason: reason, remedy: "Set `max_payload: 8MB` at all brokers.")
        case .full, .undecided:
            state.withLock { $0.counts.undecided += 1 }
            throw UndecidedBatch(batch, message: bytes, after: last)
        }
    }

    /// The bytes of a message's parts around the batch, and of names and lengths that the limit of a commit leaves out.
    private static let spareBytes = 900_000

    package func settle(_ batch: UndecidedBatch) throws(AppendError) -> SettledBatch {
        let begin = ContinuousClock.now
        var patience = Patience()
        while true {
            let isStopping = state.withLock { $0.isStopping }
            do {
                if let settled = try step(batch) {
                    noteFailOver(since: begin)
                    if settled == .refused { state.withLock { $0.counts.refused += 1 } }
                    return settled
                }
            } catch let error as StreamError {
                note(error)
            } catch {
                throw AppendError(stored: error)
            }
            guard state.withLock({ $0.misfit == nil }) else { throw .outcomePending }
            guard !isStopping, ContinuousClock.now < begin + settings.deadline else {
                state.withLock { ($0.leftOver, $0.leftOverSince) = (batch, begin) }
                throw .outcomePending
            }
            if patience.isOver() { changeBroker() }
            patience.wait()
        }
    }

    package func catchUp() throws(AppendError) -> Bool {
        do { return try follow(for: settings.publishTimeout) } catch { throw AppendError(stored: error) }
    }

    /// Looks once what became of a batch, and sends it again if nothing has its place. Nil if that is still open.
    func step(_ undecided: UndecidedBatch) throws -> SettledBatch? {
        let place = undecided.last.sequence + 1
        // The node's thread may have been faster. One read: it goes on.
        if let applied = try position(), applied.sequence == place {
            return applied.hash == SHA256.hash(undecided.message) ? .stored : .refused
        }
        guard let found = try? stream.messages(from: place, count: 1) else { return nil }
        if let first = found.first {
            guard first.sequence == place else {
                // It was applied here and is gone there: what it was cannot be told any more.
                if try sequence() >= place { throw AppendError.outcomePending }
                throw Self.gone(from: place, to: first.sequence - 1)
            }
            let isOwn = first.bytes == undecided.message
            _ = try receive(first)
            if isOwn {
                state.withLock { $0.counts.published += 1 }
                return .stored
            }
            // The place is settled, whether what comes after it can be read or not.
            _ = try? follow(for: settings.publishTimeout)
            return .refused
        }
        // What another node has there must come from the stream. If that lost it, this batch must not take its place.
        if isHeld(place, of: undecided.last.created) { return nil }
        switch stream.publish(undecided.message, after: undecided.last.sequence, timeout: Self.retryTimeout) {
        case .stored(let sequence) where sequence == place:
            // A stream that was made again may have ended where the one before did.
            if let created = try? stream.state().created, created != undecided.last.created { throw Self.anotherStream }
            let message = try ReplicaMessage(decoding: undecided.message)
            published(message)
            _ = try apply(message, undecided.message)
            return .stored
        case .stored(let sequence): throw Self.unconditional(sequence, wanted: place)
        case .full(let reason):
            state.withLock { state in
                state.counts.undecided += 1
                state.noRoom = Self.noRoom(reason)
            }
            // They say so at once, until they have room.
            Pause.milliseconds(50)
            return nil
        case .undecided, .tooLarge:
            state.withLock { state in
                state.counts.undecided += 1
                state.noRoom = nil
            }
            return nil
        }
    }

    /// The wait for the answer to a publish that is tried again: shorter, as a new leader answers at once.
    private static let retryTimeout = Duration.milliseconds(400)

    private func published(_ message: ReplicaMessage) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.counts.published += 1
            state.writer = message.writer
            (state.confirmedAt, state.currentAt) = (now, now)
        }
    }

    func noteFailOver(since begin: ContinuousClock.Instant) {
        let length = ContinuousClock.now - begin + settings.publishTimeout
        guard length > settings.publishTimeout + .seconds(1) else { return }
        let failOver = FailOver(node: settings.name, ended: .now(), length: length)
        state.withLock { ($0.lastFailOver, $0.ownFailOver) = (failOver, failOver) }
    }

    /// Ends the following: the stream does not fit the store.
    func stop(_ misfit: StreamError) { state.withLock { $0.misfit = $0.misfit ?? misfit } }

    func changeBroker() {
        stream.changeBroker()
        state.withLock { $0.counts.brokerChanges += 1 }
    }
}

extension Replica.State {
    /// Tells whether a majority of the brokers was seen in the time `length` before `now`.
    func isConfirmed(for length: Duration, at now: ContinuousClock.Instant) -> Bool {
        confirmedAt.map { now - $0 < length } ?? false
    }

    /// The reason why the node takes no writes.
    var refusal: StreamError? {
        if let twin, ContinuousClock.now - twin.at < KnownNodes.writerPatience { return twin.sentence }
        return misfit ?? storeFault ?? fault ?? (leftOver == nil ? nil : noRoom ?? Replica.unsettled)
    }
}

extension StreamError {
    /// The refusal of a broker, as one that passes when an operator has mended it there.
    var ofBrokers: StreamError { kind == .unfit ? StreamError(.unreachable, sentence, remedy: remedy) : self }

    /// The sentence as a part of another one.
    var reason: String {
        let text = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}

extension AppendError {
    /// Translates what went wrong while a batch of the cluster was applied: the batch is stored there.
    fileprivate init(stored error: any Error) {
        switch error {
        case let error as AppendError: self = error
        case let error as StreamError: self = .unavailable(reason: error.reason, remedy: error.remedy)
        default: self = .outcomePending
        }
    }
}
