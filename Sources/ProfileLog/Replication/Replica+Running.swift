internal import ProfileLogFacts
package import ProfileLogLog
internal import ProfileLogStore
internal import Synchronization

extension Replica {
    private static let noteInterval = Duration.milliseconds(250)
    /// The time between two looks at the stream's configuration, and while it is unfit.
    private static let checkInterval = Duration.seconds(60)
    private static let quickCheckInterval = Duration.seconds(1)
    /// Without a note of another node, or any answer, for so long, this one may be at a broker that is cut off.
    private static let silence = Duration.seconds(3)
    /// The longest time of one turn of the thread that only applies batches.
    private static let slice = Duration.milliseconds(100)

    /// Follows the stream, and applies what comes to `log`, until `stop`.
    ///
    /// A store that is of no cluster begins one. Throws if the stream is another store's, or another node has this name;
    /// where no broker answers, a member starts all the same and waits for them.
    package func start(_ log: EventLog) throws {
        if try log.reader.replicaPosition() == nil {
            try begin(log)
        }
        state.withLock { $0.log = log }
        try refuseSameName()
        do { try check() } catch let error as StreamError { note(error) }
        if let misfit = state.withLock({ $0.misfit }), misfit == Self.otherStore {
            state.withLock { $0.log = nil }
            throw misfit
        }
        state.withLock { $0.threads = 2 }
        startThread("replica") { self.run() }
        startThread("replica-notes") { self.runNotes() }
    }

    /// Listens for a moment for another node with this name.
    private func refuseSameName() throws {
        Pause.milliseconds(settings.listening.wholeMilliseconds)
        let other = state.withLock { state in
            state.nodes.others(of: instance).first { $0.name == settings.name && $0.age < KnownNodes.writerPatience }
        }
        if let other {
            state.withLock { $0.log = nil }
            throw Self.sameName(other.name, at: other.url)
        }
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
        stream.tell(NodeNote(ownStatus, isLeaving: true).bytes)
        stream.close()
        state.withLock { $0.log = nil }
    }

    // MARK: - The threads

    private func run() {
        var lastCheck = ContinuousClock.now
        var lastChange = ContinuousClock.now
        var servedAt = ContinuousClock.now
        while !state.withLock({ $0.isStopping }) {
            let hasNew = followOnce()
            let now = ContinuousClock.now
            let isFit = state.withLock { $0.misfit == nil && $0.fault == nil && $0.stream != nil }
            if now - lastCheck >= (isFit ? Self.checkInterval : Self.quickCheckInterval) {
                lastCheck = now
                do { try check() } catch let error as StreamError { note(error) } catch {}
            }
            if state.withLock({ $0.fault?.kind != .unreachable && $0.leftOver == nil }) { servedAt = now }
            let isUnserved = now - servedAt >= Self.silence && stream.broker != nil
            if isUnserved || isCutOff(now), now - lastChange >= Self.silence {
                lastChange = now
                changeBroker()
            }
            if !hasNew { Pause.milliseconds(settings.pollInterval.wholeMilliseconds) }
        }
        state.withLock { $0.threads -= 1 }
    }

    /// Tells the other nodes that this one is there, on a thread of its own: brokers that do not answer, or many batches
    /// to apply, must not make it look dead.
    private func runNotes() {
        var last = ContinuousClock.now - Self.noteInterval
        while !state.withLock({ $0.isStopping }) {
            let now = ContinuousClock.now
            if now - last >= Self.noteInterval {
                last = now
                stream.tell(NodeNote(ownStatus, isLeaving: false).bytes)
            }
            Pause.milliseconds(settings.pollInterval.wholeMilliseconds)
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
            state.withLock { $0.storeFault = nil }
            // The brokers answer again: is it still the same stream?
            if let fault = state.withLock({ $0.fault }), fault.kind == .unreachable { try check() }
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
        case .unreachable: state.withLock { $0.fault = error }
        }
    }

    /// The store has all that the broker had at `time`. That is current unless another node has more, or the broker is
    /// cut off, or the stream may be another one.
    func noteEnd(seenAt time: ContinuousClock.Instant) {
        guard let sequence = try? sequence() else { return }
        state.withLock { state in
            guard state.misfit == nil, state.shorterLooks == 0, state.fault.map({ $0.kind == .unfit }) ?? true else {
                return
            }
            let others = state.nodes.others(of: instance).filter { $0.age < .seconds(10) }
            let isInTouch = others.isEmpty || others.contains { $0.age < .seconds(1) }
            guard isInTouch, others.allSatisfy({ $0.sequence <= sequence }) else { return }
            state.currentAt = max(state.currentAt ?? time, time)
        }
    }

    /// Tells whether no node that was there a minute ago is heard, and no broker acknowledged anything.
    private func isCutOff(_ now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            let others = state.nodes.others(of: instance, at: now).filter { $0.age < .seconds(60) }
            if others.isEmpty || others.contains(where: { $0.age < Self.silence }) { return false }
            return state.acknowledgedAt.map { now - $0 >= Self.silence } ?? true
        }
    }

    // MARK: - The stream's configuration

    /// Looks whether the stream is as it must be, and is that of this store. Writes go on only when all was looked at.
    private func check() throws {
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

    // MARK: - The nodes

    func take(_ bytes: [UInt8]) {
        guard let note = NodeNote(bytes), note.instance != instance else { return }
        let now = ContinuousClock.now
        state.withLock { state in
            if note.isLeaving == true {
                state.nodes.remove(note.instance)
            } else {
                state.nodes.add(note.status, at: now)
            }
            // Of two nodes with one name one writes.
            if note.name == settings.name, note.isLeaving != true, note.instance < instance {
                state.twin = (Self.sameName(note.name, at: note.url), now)
            }
        }
    }

    /// The node as the others see it.
    var ownStatus: NodeStatus {
        let (log, refusal) = state.withLock { ($0.log, $0.refusal) }
        return NodeStatus(
            name: settings.name, instance: instance, url: settings.url,
            sequence: (try? log?.reader.replicaPosition()?.sequence) ?? 0,
            position: (try? log?.lastPosition()) ?? .start, refusal: refusal?.sentence, broker: stream.broker,
            version: settings.version, age: .zero)
    }

    /// The node that writes, if that is another one and it is alive; nil if this node should write itself.
    package var writer: NodeStatus? {
        state.withLock { state in
            guard let writer = state.writer, writer.name != settings.name else { return nil }
            return state.nodes.others(of: instance).first {
                $0.name == writer.name && $0.age < KnownNodes.writerPatience && $0.refusal == nil
            }
        }
    }

    /// Tells whether the last note of the other node called `name` is younger than a second.
    package func hears(_ name: String) -> Bool {
        state.withLock { state in
            state.nodes.others(of: instance).contains { $0.name == name && $0.age < KnownNodes.writerPatience }
        }
    }

    /// The cluster as this node sees it now.
    package var status: ReplicaStatus {
        let own = ownStatus
        let now = ContinuousClock.now
        return state.withLock { state in
            let others = state.nodes.others(of: instance, at: now)
            let most = others.filter { $0.age < .seconds(10) }.map(\.sequence).max() ?? 0
            return ReplicaStatus(
                node: own, others: others, preferred: state.writer?.name, lag: state.currentAt.map { now - $0 },
                missing: most > own.sequence ? most - own.sequence : 0, refusal: state.refusal, stream: state.stream,
                lastFailOver: state.lastFailOver, hasUndecided: state.leftOver != nil, counts: state.counts)
        }
    }
}

extension Duration {
    var wholeMilliseconds: Int { Int(self / .milliseconds(1)) }
}
