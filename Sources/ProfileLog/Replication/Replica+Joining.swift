internal import ProfileLogFacts
internal import ProfileLogLog
internal import Synchronization

extension Replica {
    /// Joins the cluster of `stream`, and makes the stream if there is none. The store in `folder` may be a member of
    /// the cluster, a store alone that begins one, or absent; the log is opened with `creation` then.
    ///
    /// A member of a cluster whose brokers do not answer can be opened too: it is read only until they do. Throws if
    /// the node cannot be of the cluster, with the next step.
    package static func open(
        _ stream: any BatchStream, _ settings: ReplicaSettings, folder: String
    ) throws(StreamError) -> Replica {
        let exists: Bool
        do { exists = try EventLog.exists(path: folder) } catch { throw StreamError(wrapping: error) }
        if exists { return Replica(stream, settings, creation: nil) }
        return Replica(stream, settings, creation: try creation(stream, settings))
    }

    /// The batch of message 1, which makes the store: that of another node, or this node's own if the stream is empty.
    private static func creation(
        _ stream: any BatchStream, _ settings: ReplicaSettings
    ) throws(StreamError) -> CommitBatch {
        let found = try makeStream(stream)
        if let fault = found.faults.first { throw fault }
        let id = ReplicaMessage.newID()
        let own = ReplicaMessage(
            .batch, CommitBatch.creation(of: id, at: .now()).encoded(), of: id, after: .start(of: found.created),
            by: .init(name: settings.name, url: settings.url))
        guard found.first <= 1 else { throw needsCopy }
        // A broker that lags may not have a message yet that is there.
        let bytes = found.last == 0 ? own.encoded() : nil
        let first = try firstMessage(at: 1, of: stream, publishing: bytes, settings)
        guard first.sequence == 1 else { throw needsCopy }
        let message = try ReplicaMessage(decoding: first.bytes)
        guard message.kind == .batch, var batch = try? CommitBatch(decoding: message.batch) else { throw needsCopy }
        batch.meta += message.position(first.bytes).rows
        return batch
    }

    /// Waits until a message is at `sequence` or after it, and returns it. Until then it publishes `bytes` for that
    /// place: what becomes of them, the next look tells.
    private static func firstMessage(
        at sequence: UInt64, of stream: any BatchStream, publishing bytes: [UInt8]?, _ settings: ReplicaSettings
    ) throws(StreamError) -> StreamMessage {
        let deadline = ContinuousClock.now + settings.joining
        var patience = Patience()
        while true {
            if let first = try? stream.messages(from: sequence, count: 1).first { return first }
            guard ContinuousClock.now < deadline else { throw noMajority }
            if let bytes { _ = stream.publish(bytes, after: sequence - 1, timeout: settings.publishTimeout) }
            if patience.isOver() { stream.changeBroker() }
            patience.wait()
        }
    }

    private static func makeStream(_ stream: any BatchStream) throws(StreamError) -> StreamState {
        do throws(StreamError) { return try stream.state() } catch {
            guard error.kind == .missing else { throw error }
        }
        try stream.create(first: 1)
        return try stream.state()
    }

    /// Lets a store that is of no cluster begin the cluster of an empty stream. A start before may have ended between
    /// the message and the store: then the message is there, and the store goes on from it.
    func begin(_ log: EventLog) throws {
        let found = try Self.makeStream(stream)
        if let fault = found.faults.first { throw fault }
        guard found.last == 0 else {
            guard let first = try stream.messages(from: found.first, count: 1).first,
                try ReplicaMessage(decoding: first.bytes).storeID == log.storeID
            else { throw Self.otherStore }
            return try adopt(first, log, after: .start(of: found.created))
        }
        try publishBegin(log, after: .start(of: found.created))
    }

    /// Publishes a message without a batch after `last`, and applies what is at its place then.
    private func publishBegin(_ log: EventLog, after last: ReplicaPosition) throws {
        let end = try Beginning(of: log)
        let message = ReplicaMessage(.begin, end.bytes, of: log.storeID, after: last, by: writerOfThisNode)
        let first = try Self.firstMessage(
            at: last.sequence + 1, of: stream, publishing: message.encoded(), settings)
        try adopt(first, log, after: last)
    }

    /// Applies a message of this node that begins the stream after `last`, if it says that it comes after all that
    /// `log` has: this start's, or one of a start that ended before its store had it. Another node's copy of the store
    /// needs the row too, and what the copy has besides its events is not in the message.
    private func adopt(_ received: StreamMessage, _ log: EventLog, after last: ReplicaPosition) throws {
        let message = try ReplicaMessage(decoding: received.bytes)
        let end = try Beginning(of: log)
        guard message.kind == .begin, message.storeID == log.storeID, message.writer.name == settings.name,
            message.batch == end.bytes, received.sequence == last.sequence + 1, message.sequence == received.sequence,
            message.previousHash == last.hash, message.created == last.created
        else { throw Self.notEmpty }
        _ = try log.committer.apply(message.placed(received.bytes))
        state.withLock { $0.writer = message.writer }
    }

    private func deleteStream() throws(StreamError) {
        do throws(StreamError) { try stream.delete() } catch {
            if error.kind != .missing { throw error }
        }
    }

    /// Makes the stream again from this store: its next message is the one after the last that the store has. Other
    /// nodes with the same last batch go on by themselves; those with fewer need a copy.
    ///
    /// Refused while the stream fits this node, or another node or the stream itself had more.
    package func rebuild() throws(StreamError) {
        let isUnfit = state.withLock { $0.misfit != nil || $0.fault?.kind == .missing }
        guard let log = state.withLock({ $0.log }), isUnfit else { throw Self.isFit }
        if state.withLock({ $0.misfit }) == Self.otherStore { throw Self.otherStore }
        do { try remake(log) } catch { throw StreamError(wrapping: error) }
    }

    private func remake(_ log: EventLog) throws {
        guard let last = try log.reader.replicaPosition() else { throw Self.notEmpty }
        // Also a node that was stopped since: only its store has what it has more.
        let ahead = state.withLock { state in
            state.nodes.others(of: instance, withLeft: true).first {
                $0.sequence > last.sequence && $0.age < KnownNodes.memory
            }
        }
        if let ahead { throw Self.behind(ahead, at: last.sequence) }
        if let found = try streamIfAny() { try refuseDeletion(of: found, after: last, log) }
        // What could not be settled is of the stream that is gone, and must not come before the message that begins
        // this.
        state.withLock { ($0.misfit, $0.leftOver) = ($0.misfit ?? Self.missing, nil) }
        try deleteStream()
        try stream.create(first: last.sequence + 1)
        let created = try stream.state().created
        try publishBegin(log, after: ReplicaPosition(sequence: last.sequence, hash: last.hash, created: created))
        state.withLock { ($0.misfit, $0.fault, $0.leftOver) = (nil, nil, nil) }
    }

    /// The stream; nil if the brokers say that there is none.
    private func streamIfAny() throws(StreamError) -> StreamState? {
        do throws(StreamError) { return try stream.state() } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    /// Throws if the stream has, or may have, what only its messages can bring back. A broker that is late shows fewer
    /// messages than the leader tells of.
    private func refuseDeletion(of found: StreamState, after last: ReplicaPosition, _ log: EventLog) throws {
        if found.created != last.created {
            // Another node has made it again, and may have written to it since: its notes come a moment later.
            guard let isAhead = try isRebuilt(found, after: last) else { throw Self.unread }
            if isAhead { throw Self.isRebuilt }
            return
        }
        // What they had in between may be on no node.
        if found.first > last.sequence + 1 { throw Self.gone(from: last.sequence + 1, to: found.first - 1) }
        if found.last < last.sequence { return }
        let hasLast: Bool
        do { hasLast = try compare(last, log) } catch let error as StreamError where error.kind != .unfit {
            throw error
        } catch { return }
        if hasLast { throw Self.isSound }
        if found.first <= last.sequence { throw Self.unread }
    }
}

extension StreamError {
    /// `error` as a sentence for operators.
    init(wrapping error: any Error) {
        switch error {
        case let error as StreamError: self = error
        case let error as any LogError: self.init(.unfit, error.description, remedy: error.remedy)
        default: self.init(.unfit, "\(error)", remedy: "See `profilecli cluster status`.")
        }
    }
}
