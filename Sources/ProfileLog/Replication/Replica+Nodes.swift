internal import ProfileLogFacts
internal import ProfileLogLog
internal import ProfileLogRecords
internal import Synchronization

/// The notes that the nodes of a cluster send each other.
extension Replica {
    private static let noteInterval = Duration.milliseconds(250)

    /// Listens for a moment for another node with this name.
    func refuseSameName() throws {
        Pause.milliseconds(settings.listening.wholeMilliseconds)
        let other = state.withLock { state in
            state.nodes.others(of: instance).first { $0.name == settings.name && $0.age < KnownNodes.writerPatience }
        }
        if let other {
            state.withLock { $0.log = nil }
            throw Self.sameName(other.name, at: other.url)
        }
    }

    /// Tells the other nodes that this one is there, on a thread of its own: brokers that do not answer, or many
    /// batches to apply, must not make it look dead.
    func runNotes() {
        var last = ContinuousClock.now - Self.noteInterval
        while !state.withLock({ $0.isStopping }) {
            let now = ContinuousClock.now
            if now - last >= Self.noteInterval {
                last = now
                stream.tell(ownNote(isLeaving: false).bytes)
            }
            Pause.milliseconds(settings.pollInterval.wholeMilliseconds)
        }
        state.withLock { $0.threads -= 1 }
    }

    /// Keeps what another node of this store tells.
    func take(_ bytes: [UInt8]) {
        guard let note = NodeNote(bytes), note.instance != instance else { return }
        let now = ContinuousClock.now
        state.withLock { state in
            // Without a log it is not known yet whose notes count.
            guard let log = state.log else { return }
            if let store = note.store, store != Hexadecimal.text(log.storeID) {
                state.stranger = Self.stranger(note.name, at: note.url)
                return
            }
            state.nodes.add(note, at: now)
            if let failOver = note.failOver, state.lastFailOver.map({ $0.ended < failOver.ended }) ?? true {
                state.lastFailOver = failOver
            }
            // Of two nodes with one name one writes.
            if note.name == settings.name, note.isLeaving != true, note.instance < instance {
                state.twin = (Self.sameName(note.name, at: note.url), now)
            }
        }
    }

    /// The note that this node sends to the others now.
    func ownNote(isLeaving: Bool) -> NodeNote {
        let status = ownStatus
        let (log, failOver) = state.withLock { ($0.log, $0.lastFailOver) }
        let last = try? log?.reader.replicaPosition()
        var note = NodeNote(status, store: log?.storeID, created: last?.created, isLeaving: isLeaving)
        note.failOver = failOver
        return note
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

    /// The node that writes, if that is another one and it is alive; nil if this node should write itself. While this
    /// node takes no writes, it is any other that does.
    package var writer: NodeStatus? {
        state.withLock { state in
            let others = state.nodes.others(of: instance).filter {
                $0.age < KnownNodes.writerPatience && $0.refusal == nil
            }
            let preferred = state.writer.flatMap { writer in others.first { $0.name == writer.name } }
            return preferred ?? (state.refusal == nil ? nil : others.first)
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
            let most = others.filter { $0.age < KnownNodes.liveness }.map(\.sequence).max() ?? 0
            return ReplicaStatus(
                node: own, others: others, preferred: state.writer?.name, lag: state.currentAt.map { now - $0 },
                missing: most > own.sequence ? most - own.sequence : 0, refusal: state.refusal,
                stranger: state.stranger, stream: state.stream, lastFailOver: state.lastFailOver,
                ownFailOver: state.ownFailOver, hasUndecided: state.leftOver != nil, counts: state.counts)
        }
    }
}
