internal import ProfileLogFacts
package import ProfileLogLog
internal import ProfileLogStore
internal import Synchronization

extension Replica {
    /// Without a leader that has a majority for so long, this node may be at a broker that is cut off.
    static let silence = Duration.seconds(3)
    /// The longest time of one turn of the thread that only applies batches.
    private static let slice = Duration.milliseconds(100)

    /// Follows the stream, and applies what comes to `log`, until `stop`.
    ///
    /// A store that is of no cluster begins one. Throws if the stream is another store's, or another node has this
    /// name; where no broker answers, a member starts all the same and waits for them.
    package func start(_ log: EventLog) throws {
        if try log.reader.replicaPosition() == nil {
            try begin(log)
        }
        state.withLock { $0.log = log }
        try refuseSameName()
        let begin = ContinuousClock.now
        let offset = clockOffset(begin)
        do { try check() } catch let error as StreamError { note(error) }
        if let misfit = state.withLock({ $0.misfit }), misfit == Self.otherStore {
            state.withLock { $0.log = nil }
            throw misfit
        }
        state.withLock { $0.threads = 3 }
        startThread("replica") { self.run() }
        startThread("replica-checks") { self.runChecks(since: begin, offset) }
        startThread("replica-notes") { self.runNotes() }
    }

    /// Lets what still waits for a commit end soon. Other nodes hand this one no more writes.
    package func willStop() { state.withLock { $0.isStopping = true } }

    /// Tells the other nodes, and closes the connection; what is undecided, the next start finds in the stream.
    package func stop() {
        willStop()
        let deadline = ContinuousClock.now + .seconds(2)
        while state.withLock({ $0.threads > 0 }), ContinuousClock.now < deadline {
            Pause.milliseconds(5)
        }
        stream.tell(ownNote(isLeaving: true).bytes)
        stream.close()
        state.withLock { $0.log = nil }
    }

    // MARK: - The threads

    private func run() {
        var lastChange = ContinuousClock.now
        while !state.withLock({ $0.isStopping }) {
            let hasNew = followOnce()
            let now = ContinuousClock.now
            let isCutOff = state.withLock { !$0.isConfirmed(for: Self.silence, at: now) } && stream.broker != nil
            if isCutOff, now - lastChange >= Self.silence {
                lastChange = now
                changeBroker()
            }
            if !hasNew { Pause.milliseconds(settings.pollInterval.wholeMilliseconds) }
        }
        state.withLock { $0.threads -= 1 }
    }

    /// Settles what is left over, and applies what is new; true if there was something.
    private func followOnce() -> Bool {
        if state.withLock({ $0.misfit != nil }) { return false }
        do {
            if let leftOver = state.withLock({ $0.leftOver }) {
                guard try settleLeftOver(leftOver) else { return false }
                if let begin = state.withLock({ $0.leftOverSince }) { noteFailOver(since: begin) }
                state.withLock { ($0.leftOver, $0.storeFault) = (nil, nil) }
                return true
            }
            let isNew = try follow(for: Self.slice)
            state.withLock { state in
                state.storeFault = nil
                // The brokers answer again: is it still the same stream? What a broker may not know yet takes its time.
                if state.fault?.kind == .unreachable, state.lostLooks == 0, state.shorterLooks == 0 {
                    state.wantsCheck = true
                }
            }
            return isNew
        } catch let error as StreamError {
            note(error)
        } catch StorageError.closed {
            // The node ends.
        } catch {
            state.withLock { $0.storeFault = Self.notStored(error) }
            Pause.milliseconds(100)
        }
        return false
    }

    /// Looks once what became of a batch that no caller waits for; false if that is still open.
    private func settleLeftOver(_ batch: UndecidedBatch) throws -> Bool {
        do {
            guard let settled = try step(batch) else {
                Pause.milliseconds(20)
                return false
            }
            if settled == .refused { state.withLock { $0.counts.refused += 1 } }
        } catch AppendError.outcomePending {
            // Its place was applied, and is gone from the stream: only the key of the append can tell.
        }
        return true
    }

    /// Keeps what was wrong: for good if the stream does not fit, for now otherwise.
    func note(_ error: StreamError) {
        switch error.kind {
        case .unfit: stop(error)
        // A broker that begins may not know the stream yet.
        case .missing: state.withLock { $0.fault = Self.missing }
        case .unreachable: state.withLock { ($0.fault, $0.unservedAt) = (error, ContinuousClock.now) }
        }
    }

    /// A batch that another node told of for so long is in the stream, and a read finds it, unless the brokers lost it.
    static let noteLead = Duration.seconds(1)

    /// The store has all that the broker had at `time`. That is current unless another node has more, or no majority
    /// was seen lately, or the stream may be another one.
    func noteEnd(seenAt time: ContinuousClock.Instant) {
        guard let log = state.withLock({ $0.log }), let last = try? log.reader.replicaPosition() else { return }
        let sequence = last.sequence
        state.withLock { state in
            let holder = state.nodes.furthest(in: last.created, since: time - KnownNodes.liveness)
            state.isBehindNotes = holder.map { $0.sequence > sequence && time - $0.since >= Self.noteLead } ?? false
            guard state.misfit == nil, state.shorterLooks == 0, state.fault.map({ $0.kind == .unfit }) ?? true else {
                return
            }
            // A broker that is cut off answers reads too: it has an old end of the stream.
            let others = state.nodes.others(of: instance).filter { $0.age < KnownNodes.liveness }
            guard state.isConfirmed(for: Self.silence, at: time), others.allSatisfy({ $0.sequence <= sequence }) else {
                return
            }
            state.currentAt = max(state.currentAt ?? time, time)
        }
    }

    // MARK: - Batches of other nodes

    /// Applies what is in the stream after the last batch of this store, for some time at most: another node may write
    /// as fast as this one applies. Returns false if there was nothing.
    func follow(for most: Duration) throws -> Bool {
        let begin = ContinuousClock.now
        var isNew = false
        while true {
            let asked = ContinuousClock.now
            let messages = try read(from: try sequence() + 1, count: Self.mostMessages)
            for message in messages { isNew = try receive(message) || isNew }
            if Self.isEnd(messages) {
                noteEnd(seenAt: asked)
                return isNew
            }
            if ContinuousClock.now - begin >= most { return isNew }
        }
    }

    private static let mostMessages = 200
    /// Of a read with more bytes, the limit may have been the end.
    private static let mostBytesAtEnd = 2_000_000

    /// Tells whether the stream had no more messages than these.
    private static func isEnd(_ messages: [StreamMessage]) -> Bool {
        messages.count < mostMessages && messages.reduce(0) { $0 + $1.bytes.count } < mostBytesAtEnd
    }

    /// Messages of the stream. What a broker refuses is no misfit: it says nothing of the store.
    func read(from sequence: UInt64, count: Int) throws(StreamError) -> [StreamMessage] {
        do throws(StreamError) { return try stream.messages(from: sequence, count: count) } catch {
            throw error.ofBrokers
        }
    }

    /// The last sequence that the store has.
    func sequence() throws -> UInt64 { try position()?.sequence ?? 0 }

    /// The last batch that the store has; nil before the first one.
    func position() throws -> ReplicaPosition? {
        guard let log = state.withLock({ $0.log }) else { throw StorageError.closed }
        return try log.reader.replicaPosition()
    }

    /// Applies a message of the stream; false if the store has it already.
    func receive(_ received: StreamMessage) throws -> Bool {
        let message = try ReplicaMessage(decoding: received.bytes)
        guard let log = state.withLock({ $0.log }) else { throw StorageError.closed }
        guard message.storeID == log.storeID else { throw Self.otherStore }
        let last = try log.reader.replicaPosition() ?? .start(of: message.created)
        if received.sequence <= last.sequence { return false }
        guard received.sequence == last.sequence + 1 else {
            throw Self.gone(from: last.sequence + 1, to: received.sequence - 1)
        }
        guard message.sequence == received.sequence, message.previousHash == last.hash,
            message.kind == .begin || message.created == last.created
        else { throw Self.other(received.sequence) }
        return try apply(message, received.bytes)
    }

    func apply(_ message: ReplicaMessage, _ bytes: [UInt8]) throws -> Bool {
        guard let log = state.withLock({ $0.log }) else { throw StorageError.closed }
        let isNew = try log.committer.apply(message.placed(bytes))
        state.withLock { state in
            state.writer = message.writer
            if isNew, message.writer != writerOfThisNode { state.counts.applied += 1 }
        }
        return isNew
    }
}

extension Duration {
    var wholeMilliseconds: Int { Int(self / .milliseconds(1)) }
}
