import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogReplication

@Suite("A node whose stream does not fit takes no writes, says why, and still reads", .serialized)
struct MisfitTests {
    /// The node takes no writes for a reason with `words`, has what it had, and reads it.
    private func expectReadOnly(_ node: ClusterNode, _ words: String, has names: String...) async throws {
        let refusal = try await node.waitForRefusal()
        #expect(refusal?.sentence.contains(words) == true, "\(String(describing: refusal))")
        #expect(refusal?.remedy.isEmpty == false)
        let (truth, sequence) = (try node.truth(), node.sequence)
        let error = try await node.refusal(of: "refused")
        #expect(error?.unavailableReason?.contains(words.prefix(1).lowercased() + words.dropFirst()) == true)
        #expect(try node.truth() == truth && node.sequence == sequence)
        let positions = try node.positions()
        #expect(Set(positions.keys) == Set(names))
    }

    /// Two nodes with the events `first` and `second`, at batch 3.
    private func two(_ brokers: MemoryBrokers) async throws -> (a: ClusterNode, b: ClusterNode) {
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        try await a.append("first")
        try await b.append("second")
        for node in [a, b] { #expect(try await node.wait(for: brokers.last)) }
        return (a, b)
    }

    /// Ends the node, runs `change`, and starts it again on the same folder.
    private func restart(
        _ node: ClusterNode, of brokers: MemoryBrokers, _ change: () async throws -> Void
    ) async throws -> ClusterNode {
        try await node.end()
        try await change()
        return try await ClusterNode.start(node.name, of: brokers, in: node.folder)
    }

    /// A message that follows `last`, as a node of the same store would write it.
    private func message(
        _ batch: CommitBatch = CommitBatch(), of node: ClusterNode, after last: ReplicaPosition
    ) -> [UInt8] {
        ReplicaMessage(
            .batch, batch.encoded(), of: node.log.storeID, after: last, by: .init(name: "x", url: "http://x")
        ).encoded()
    }

    private func last(of node: ClusterNode) throws -> ReplicaPosition {
        try #require(try node.log.reader.replicaPosition())
    }

    // MARK: - Gone and made again

    @Test("A stream that was purged below a node: the node needs a copy")
    func purged() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        let again = try await restart(a, of: brokers) {
            for number in 0..<5 { try await b.append("later-\(number)") }
            brokers.purge(before: brokers.last)
        }
        try await expectReadOnly(again, "The stream no longer has the batches 4 to 7", has: "first", "second")
        try await b.append("last")
    }

    @Test("A stream that is purged while a node cannot reach it: the node needs a copy")
    func purgedMeanwhile() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        a.stream.isCut = true
        for number in 0..<5 { try await b.append("later-\(number)") }
        brokers.purge(before: brokers.last)
        a.stream.isCut = false
        #expect(try await a.wait { $0.hasStopped })
        try await expectReadOnly(a, "The stream no longer has the batches 4 to 7", has: "first", "second")
    }

    @Test("A stream that is purged up to what all nodes have goes on, also for a node that starts again")
    func purgedInTime() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        brokers.purge(before: brokers.last + 1)
        try await a.append("third")
        let again = try await restart(b, of: brokers) { brokers.purge(before: 4) }
        try await again.append("fourth")
        #expect(try await a.wait(for: brokers.last))
        #expect(try a.truth() == again.truth())
    }

    @Test("A stream that is deleted stops its nodes")
    func deleted() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        brokers.delete()
        for node in [a, b] {
            try await expectReadOnly(node, "The brokers have no stream of this cluster", has: "first", "second")
        }
        #expect(!brokers.hasStream)
    }

    @Test("A stream that is missing at the start of a member is not made again by itself")
    func missing() async throws {
        let brokers = MemoryBrokers()
        let (a, _) = try await two(brokers)
        let again = try await restart(a, of: brokers) { brokers.delete() }
        try await expectReadOnly(again, "The brokers have no stream of this cluster", has: "first", "second")
        #expect(!brokers.hasStream)
    }

    @Test("A stream that was made again empty is another stream, or a shorter one", arguments: [UInt64(1), 4])
    func recreated(first: UInt64) async throws {
        let brokers = MemoryBrokers()
        let (a, _) = try await two(brokers)
        let again = try await restart(a, of: brokers) {
            brokers.delete()
            brokers.create(first: first)
        }
        try await expectReadOnly(again, "The brokers' stream is another one", has: "first", "second")
        #expect(brokers.last == first - 1)
    }

    @Test(
        "A running node gets nothing acknowledged by a stream that was made again under it", arguments: [UInt64(1), 4])
    func recreatedMeanwhile(first: UInt64) async throws {
        let brokers = MemoryBrokers()
        let setup = ClusterNode.Setup(deadline: .milliseconds(100))
        let a = try await ClusterNode.start("a", of: brokers, setup)
        try await a.append("first")
        try await a.append("second")
        a.stream.isCut = true
        _ = try await a.waitForRefusal()
        brokers.delete()
        brokers.create(first: first)
        a.stream.isCut = false
        #expect(try await a.wait { $0.replica.status.refusal?.kind != .unreachable })
        #expect(try await a.refusal(of: "third") != nil)
        #expect(a.sequence == 3)
        #expect(try a.positions()["third"] == nil)
    }

    @Test("A stream that was made again and has grown past a node is another one; nothing of it is applied")
    func grownPast() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        try await b.end()
        a.stream.isCut = true
        brokers.delete()
        brokers.create()
        var last = ReplicaPosition.start(of: "another time")
        for _ in 0..<6 {
            let bytes = message(of: a, after: last)
            brokers.inject(bytes)
            last = try ReplicaMessage(decoding: bytes).position(bytes)
        }
        a.stream.isCut = false
        #expect(try await a.wait { $0.hasStopped })
        #expect(a.sequence == 3 && brokers.last == 6)
        #expect(try await a.refusal(of: "third")?.isUnavailable == true)
        #expect(Set(try a.positions().keys) == ["first", "second"])
    }

    @Test("A node that comes back to a rebuilt stream of its own length writes nothing there")
    func rebuiltMeanwhile() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        // b goes on from batch 3 without a, and the stream is rebuilt from b, while a had batch 4 alone.
        b.stream.isCut = true
        try await a.append("of-a")
        a.stream.isCut = true
        brokers.delete()
        brokers.create(first: 4)
        let begin = ReplicaMessage(
            .begin, [], of: a.log.storeID,
            after: ReplicaPosition(sequence: 3, hash: try last(of: b).hash, created: "2026-01-01T00:00:00.2Z"),
            by: .init(name: "b", url: "http://b:8080")
        ).encoded()
        brokers.inject(begin)
        _ = try await a.waitForRefusal()
        // a has batch 4, and so has the stream: another one.
        a.stream.isCut = false
        #expect(try await a.wait { $0.replica.status.refusal?.kind != .unreachable })
        #expect(try await a.refusal(of: "lost")?.isUnavailable == true)
        #expect(brokers.last == 4)
        #expect(try await a.wait { $0.hasStopped })
        b.stream.isCut = false
        try await b.append("of-b")
        #expect(try b.positions()["of-a"] == nil && a.positions()["of-b"] == nil)
    }

    // MARK: - Lost by the brokers

    @Test("A node does not write on where the brokers lost batches that another node has")
    func lostBatch() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        b.stream.isStale = true
        try await a.append("third")
        let lost = try #require(brokers.message(at: 4))
        brokers.loseLast(1)
        b.stream.isStale = false
        try await expectReadOnly(
            b, "The stream ends at batch 3, and the node a has 4: the brokers lost batches", has: "first", "second")
        #expect(brokers.last == 3)
        // The refusal stays while nothing changes, also when other brokers are asked.
        #expect(try await b.wait { $0.hasStopped })
        // The brokers find the batch again.
        brokers.inject(lost)
        #expect(try await b.wait { $0.sequence == 4 && $0.replica.status.refusal == nil })
        try await b.append("fourth")
        #expect(try await a.wait(for: brokers.last))
        #expect(try a.truth() == b.truth())
    }

    @Test("A node whose last batch the brokers lost stops after some looks, and goes on when they find it")
    func lostOwnBatch() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        try await b.end()
        let lost = try #require(brokers.message(at: 3))
        let again = try await restart(a, of: brokers) { brokers.loseLast(1) }
        try await expectReadOnly(
            again, "The stream ends at batch 2, and this node's store has 3", has: "first", "second")
        #expect(try await again.wait { $0.hasStopped })
        brokers.inject(lost)
        #expect(try await again.wait { $0.replica.status.refusal == nil })
        try await again.append("third")
        #expect(brokers.last == 4)
    }

    @Test("A node that starts on a shortened stream writes nothing while another node has more")
    func lostBatchAtStart() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        try await b.end()
        try await a.append("third")
        brokers.loseLast(1)
        var setup = ClusterNode.Setup()
        setup.listening = .milliseconds(600)
        let again = try await ClusterNode.start("b", of: brokers, in: b.folder, setup)
        try await expectReadOnly(again, "The stream ends at batch 3, and the node a has 4", has: "first", "second")
        #expect(brokers.last == 3)
    }

    @Test("An undecided batch does not take the place of a lost one that another node has")
    func undecidedAtLostPlace() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers)
        let b = try await ClusterNode.start("b", of: brokers, .init(deadline: .milliseconds(100)))
        try await a.append("first")
        #expect(try await b.wait(for: 2))
        b.stream.isStale = true
        // Another leader drops what b sent, and a is first there; b sends its batch again and again.
        brokers.script(.limbo)
        brokers.beforePublish(2) {
            brokers.dropProposals()
            do { try a.appendNow("second") } catch { Issue.record("the other node's append: \(error)") }
        }
        #expect(try await b.refusal(of: "event", key: "k") == .outcomePending)
        let created = try last(of: a).created
        #expect(try await b.wait { $0.replica.isHeld(3, of: created) })
        // A publish that began before that has ended.
        try await Task.sleep(for: .milliseconds(50))
        let lost = try #require(brokers.message(at: 3))
        brokers.loseLast(1)
        b.stream.isStale = false
        #expect(try await b.refusal(of: "other")?.isUnavailable == true)
        #expect(brokers.last == 2 && b.replica.status.hasUndecided)
        // The brokers find the batch again: the place is another node's.
        brokers.inject(lost)
        #expect(try await b.wait(for: 3))
        #expect(try await b.wait { $0.replica.status.refusal == nil })
        let receipt = try await b.append("event", key: "k")
        #expect(!receipt.isRepetition)
        #expect(try await a.wait(for: brokers.last))
        #expect(try a.truth() == b.truth() && a.positions()["event"]?.count == 1)
    }

    @Test("A node goes on when the node that has what the brokers lost is gone")
    func lostForGood() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        b.stream.isStale = true
        try await a.append("third")
        brokers.loseLast(1)
        b.stream.isStale = false
        #expect(try await b.waitForRefusal()?.sentence.contains("the node a has 4") == true)
        try await a.end()
        #expect(try await b.wait { $0.replica.status.refusal == nil })
        try await b.append("fourth")
        #expect(try b.positions()["fourth"]?.count == 1)
    }

    @Test("A node whose reads lag behind the note of another one finds nothing wrong with the stream")
    func lateReads() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        b.stream.isStale = true
        try await a.append("third")
        let looks = brokers.looks
        // The first of these is whole when the second one begins.
        #expect(try await b.wait { _ in brokers.looks >= looks + 2 })
        #expect(b.replica.status.refusal == nil && b.sequence == 3)
        b.stream.isStale = false
        try await b.append("fourth")
        #expect(try await a.wait(for: brokers.last))
        #expect(try a.truth() == b.truth())
    }

    @Test("More batches of another stream, as a node tells of them, stop no one")
    func moreOfAnotherStream() async throws {
        let brokers = MemoryBrokers()
        let (_, b) = try await two(brokers)
        let stream = brokers.connect("x")
        stream.tell(note("x", of: b, sequence: 99, created: "another time"))
        #expect(try await b.wait { $0.replica.status.others.contains { $0.name == "x" } })
        let looks = brokers.looks
        try await onOwnThread { try b.replica.check() }
        #expect(brokers.looks == looks + 1)
        #expect(b.replica.status.refusal == nil)
        try await b.append("third")
    }

    /// A note of a node that does not exist.
    private func note(
        _ name: String, of node: ClusterNode, store: [UInt8]? = nil, sequence: UInt64, created: String
    ) -> [UInt8] {
        var status = node.replica.ownStatus
        (status.name, status.instance, status.sequence) = (name, 7, sequence)
        status.url = "http://\(name):8080"
        return NodeNote(status, store: store ?? node.log.storeID, created: created, isLeaving: false).bytes
    }

    @Test("The notes of a node of another store are ignored, and the operator is told")
    func stranger() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        let created = try last(of: b).created
        let stream = brokers.connect("x")
        let other = [UInt8](repeating: 1, count: ReplicaMessage.idBytes)
        // With the name of a node, too: it is none of this cluster.
        for name in ["x", "a"] { stream.tell(note(name, of: b, store: other, sequence: 99, created: created)) }
        for node in [a, b] {
            #expect(
                try await node.wait { node in
                    let status = node.replica.status
                    let isTold = status.stranger?.sentence.contains("The node a at http://a") == true
                    return isTold && !status.others.isEmpty
                })
            let status = node.replica.status
            #expect(status.missing == 0 && status.refusal == nil && status.others.count == 1)
            #expect(status.stranger?.remedy.contains("--cluster") == true)
        }
        try await a.append("third")
    }

    // MARK: - Looks at the stream

    @Test("A look at the stream that gets no answer does not delay what is followed")
    func slowLook() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers, .init(checkInterval: .seconds(3_600)))
        // This node looks at the stream again and again.
        let b = try await ClusterNode.start("b", of: brokers, .init(checkInterval: .zero))
        brokers.holdsLooks = true
        let looks = brokers.looks
        #expect(try await b.wait { _ in brokers.looks > looks })
        try await a.append("event")
        #expect(try await b.wait(for: brokers.last))
        brokers.holdsLooks = false
        #expect(try a.truth() == b.truth())
    }

    @Test("A clock that is set while the node runs is looked at before the next look at the stream is due")
    func clockSet() async throws {
        let brokers = MemoryBrokers()
        brokers.setClock { Timestamp.now() }
        let offset = Guarded(Int64(0))
        var setup = ClusterNode.Setup()
        setup.checkInterval = .seconds(3_600)
        setup.options.now = { Timestamp(rawValue: Timestamp.now().rawValue + offset.withReading { $0 } * 1_000_000) }
        let a = try await ClusterNode.start("a", of: brokers, setup)
        try await a.append("event")
        offset.withWriting { $0 = 40 }
        try await expectReadOnly(a, "This machine's clock is 40 s ahead of the brokers' clock", has: "event")
        offset.withWriting { $0 = 0 }
        #expect(try await a.wait { $0.replica.status.refusal == nil })
        try await a.append("next")
    }

    // MARK: - Other messages

    @Test("The stream of another store is refused at the start, and while running")
    func otherStore() async throws {
        let (brokers, others) = (MemoryBrokers(), MemoryBrokers())
        let a = try await ClusterNode.start("a", of: brokers)
        let other = try await ClusterNode.start("b", of: others)
        try await other.append("foreign")
        try await a.append("first")
        try await a.end()
        await #expect(throws: StreamError.self) {
            try await ClusterNode.start("a", of: others, in: a.folder)
        }
        let again = try await ClusterNode.start("a", of: brokers, in: a.folder)
        brokers.inject(try #require(others.message(at: 2)))
        try await expectReadOnly(again, "The stream belongs to another store", has: "first")
    }

    enum Wrong: String, CaseIterable, CustomTestStringConvertible {
        case previousHash, sequence, again, older, created, garbage, damaged, format
        var testDescription: String { rawValue }
    }

    @Test("A message that does not follow the last batch is not applied, and the node stops", arguments: Wrong.allCases)
    func wrongMessage(wrong: Wrong) async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        let end = try last(of: a)
        var bytes =
            switch wrong {
            case .previousHash:
                message(of: a, after: ReplicaPosition(sequence: 3, hash: ReplicaPosition.noHash, created: end.created))
            case .sequence:
                message(of: a, after: ReplicaPosition(sequence: 4, hash: end.hash, created: end.created))
            case .created: message(of: a, after: ReplicaPosition(sequence: 3, hash: end.hash, created: "another time"))
            case .again: try #require(brokers.message(at: 3))
            case .older: try #require(brokers.message(at: 2))
            case .garbage: [UInt8](repeating: 7, count: 300)
            case .damaged, .format: message(of: a, after: end)
            }
        if wrong == .damaged { bytes[bytes.count / 2] ^= 1 }
        if wrong == .format { bytes[3] = 9 }
        brokers.inject(bytes)
        let words =
            switch wrong {
            case .garbage: "A message of the stream is of format"
            case .damaged: "A message of the stream is no batch of ProfileLog"
            case .format: "A message of the stream is of format 9"
            default: "Batch 4 of the stream does not follow"
            }
        for node in [a, b] {
            try await expectReadOnly(node, words, has: "first", "second")
            #expect(node.sequence == 3)
        }
    }

    @Test("An erasure that is delivered twice, or out of order, is refused and changes nothing")
    func erasure() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        try await a.append("other", to: .bo)
        _ = try await onOwnThread { try a.log.erase([.ana], actor: "a test", reason: "asked to") }
        #expect(try await b.wait(for: brokers.last))
        let erasure = try #require(brokers.message(at: brokers.last))
        let placed = try ReplicaMessage(decoding: erasure).placed(erasure)
        let truth = try b.truth()
        // The store has it.
        #expect(try await onOwnThread { try b.log.committer.apply(placed) } == false)
        // At another place, or after another batch, it does not fit.
        for (sequence, hash) in [(brokers.last + 1, try last(of: b).hash), (brokers.last + 2, placed.previousHash)] {
            let position = ReplicaPosition(sequence: sequence, hash: placed.position.hash, created: "")
            let wrong = PlacedBatch(placed.batch, at: position, after: hash)
            await #expect(throws: StorageError.self) {
                try await onOwnThread { try b.log.committer.apply(wrong) }
            }
        }
        #expect(try b.truth() == truth)
        brokers.inject(erasure)
        for node in [a, b] { try await expectReadOnly(node, "Batch 6 of the stream", has: "other") }
        #expect(try a.truth() == truth && b.truth() == truth)
    }

    // MARK: - The node itself

    @Test("A second node of one name is refused at its start, and the first goes on")
    func sameName() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers)
        await #expect(throws: StreamError.self) {
            var setup = ClusterNode.Setup()
            setup.listening = .milliseconds(600)
            _ = try await ClusterNode.start("a", of: brokers, setup)
        }
        #expect(try await a.wait { $0.replica.status.refusal == nil })
        try await a.append("event")
    }

    @Test("Of two running nodes of one name at most one takes writes")
    func sameNameUnheard() async throws {
        let brokers = MemoryBrokers()
        brokers.carriesNotes = false
        let a = try await ClusterNode.start("a", of: brokers)
        let other = try await ClusterNode.start("a", of: brokers)
        brokers.carriesNotes = true
        @Sendable func isTold(_ node: ClusterNode) -> Bool {
            node.replica.status.refusal?.sentence.contains("with the name a") == true
        }
        #expect(try await a.wait { isTold($0) || isTold(other) })
        let (later, first) = isTold(a) ? (a, other) : (other, a)
        try await first.append("event")
        #expect(try await later.wait(for: brokers.last))
    }

    @Test(
        "A node whose clock is wrong by more than 30 seconds takes no writes until it is right",
        arguments: [Int64(-40), 40])
    func clock(seconds: Int64) async throws {
        let brokers = MemoryBrokers()
        let offset = Guarded(seconds)
        brokers.setClock {
            Timestamp(rawValue: Timestamp.now().rawValue + offset.withReading { $0 } * 1_000_000)
        }
        let a = try await ClusterNode.start("a", of: brokers)
        try await expectReadOnly(a, "This machine's clock is")
        offset.withWriting { $0 = 2 }
        #expect(try await a.wait { $0.replica.status.refusal == nil })
        try await a.append("event")
    }

    @Test("A stream that is not as it must be stops writes until it is")
    func unfit() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers)
        try await a.append("event")
        let fault = StreamError(.unfit, "The stream has 1 replica.", remedy: "Give it 3.")
        let again = try await restart(a, of: brokers) { brokers.faults = [fault] }
        #expect(try await again.waitForRefusal() == fault)
        let error = try await again.refusal(of: "refused")
        #expect(error == .unavailable(reason: "the stream has 1 replica", remedy: "Give it 3."))
        brokers.faults = []
        #expect(try await again.wait { $0.replica.status.refusal == nil })
        try await again.append("next")
    }

    @Test("A member that reaches no broker at its start reads, and writes when it does")
    func noBroker() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        try await a.end()
        try await b.append("third")
        let again = try await ClusterNode.start("a", of: brokers, in: a.folder, .init(isCut: true))
        try await expectReadOnly(again, "No broker answers", has: "first", "second")
        again.stream.isCut = false
        #expect(try await again.wait(for: brokers.last))
        #expect(try await again.wait { $0.replica.status.refusal == nil })
        try await again.append("fourth")
        #expect(try await b.wait(for: brokers.last))
        #expect(try again.truth() == b.truth())
    }

    @Test("A node at a broker that is cut off from the others takes another one, and writes")
    func isolatedBroker() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        brokers.isolate(broker: try #require(a.stream.brokerNumber))
        try await b.append("third")
        let receipt = try await a.append("fourth")
        #expect(try await b.wait(for: brokers.last))
        #expect(try b.positions()["fourth"] == [receipt.last])
        #expect(a.replica.status.counts.brokerChanges > 0)
        #expect(try a.truth() == b.truth())
    }

    @Test("A node that starts at a broker that is cut off does not take the stream for a shorter one")
    func isolatedStart() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        // The third connection is to the third broker, which knows 3 batches from now on.
        brokers.isolate(broker: 2)
        try await a.append("third")
        let again = try await restart(a, of: brokers) {}
        #expect(again.sequence == 4)
        #expect(try await again.wait { $0.replica.status.refusal == nil && $0.stream.brokerNumber != 2 })
        try await again.append("fourth")
        #expect(try await b.wait(for: brokers.last))
        #expect(try again.truth() == b.truth())
    }

    // MARK: - Rebuilding

    @Test("A rebuilt stream goes on after the last batch, and the other node goes on by the chain")
    func rebuild() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        brokers.delete()
        for node in [a, b] { #expect(try await node.wait { $0.hasStopped }) }
        try await onOwnThread { try a.replica.rebuild() }
        #expect(brokers.first == 4)
        try await a.append("third")
        #expect(try await b.wait { $0.sequence >= brokers.last })
        #expect(try await b.wait { $0.replica.status.refusal == nil })
        try await b.append("fourth")
        #expect(try await a.wait(for: brokers.last))
        #expect(try a.truth() == b.truth())
        let again = try await restart(b, of: brokers) {}
        try await again.append("fifth")
        #expect(try await a.wait(for: brokers.last))
        #expect(try a.truth() == again.truth())
    }

    /// Two nodes that lost their stream: the first has a batch that the second lacks, and knows of.
    private func oneBehind(_ brokers: MemoryBrokers) async throws -> (a: ClusterNode, b: ClusterNode) {
        let (a, b) = try await two(brokers)
        b.stream.isCut = true
        try await a.append("third")
        brokers.delete()
        b.stream.isCut = false
        for node in [a, b] { #expect(try await node.wait { $0.hasStopped }) }
        #expect(try await b.wait { $0.replica.status.others.contains { $0.sequence == 4 } })
        return (a, b)
    }

    @Test("A stream is not rebuilt from a node that has less than one that was stopped")
    func rebuildOfLessThanStopped() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await oneBehind(brokers)
        try await a.end()
        #expect(try await b.wait { $0.replica.status.others.isEmpty })
        await #expect(throws: StreamError.self) { try await onOwnThread { try b.replica.rebuild() } }
        #expect(!brokers.hasStream)
        let again = try await ClusterNode.start("a", of: brokers, in: a.folder)
        #expect(try await again.wait { $0.hasStopped })
        try await onOwnThread { try again.replica.rebuild() }
        #expect(brokers.first == 5)
    }

    @Test("A stream that a node has made again is not made again by another one, also where no note tells of it")
    func rebuiltTwice() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        brokers.delete()
        for node in [a, b] { #expect(try await node.wait { $0.hasStopped }) }
        brokers.carriesNotes = false
        try await onOwnThread {
            try a.replica.rebuild()
            try a.appendNow("third")
        }
        await #expect(throws: StreamError.self) { try await onOwnThread { try b.replica.rebuild() } }
        #expect(brokers.first == 4 && brokers.last == 5)
        #expect(try await b.wait { $0.sequence >= brokers.last && $0.replica.status.refusal == nil })
        #expect(try b.positions()["third"]?.count == 1 && a.truth() == b.truth())
    }

    @Test("A stream whose batches a late broker does not show yet is not deleted for a rebuild")
    func rebuildWithLateBroker() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await two(brokers)
        brokers.delete()
        for node in [a, b] { #expect(try await node.wait { $0.hasStopped }) }
        brokers.create()
        for node in [a, b] { #expect(try await node.wait { $0.replica.status.refusal?.kind == .unfit }) }
        brokers.carriesNotes = false
        b.stream.isStale = true
        try await onOwnThread {
            try a.replica.rebuild()
            try a.appendNow("third")
        }
        await #expect(throws: Replica.unread) { try await onOwnThread { try b.replica.rebuild() } }
        #expect(brokers.first == 4 && brokers.last == 5)
        b.stream.isStale = false
        #expect(try await b.wait { $0.sequence >= brokers.last && $0.replica.status.refusal == nil })
        #expect(try b.positions()["third"]?.count == 1 && a.truth() == b.truth())
    }

    @Test("A batch that was undecided when the stream was lost does not take the first place of the one made again")
    func rebuiltWithUndecided() async throws {
        let brokers = MemoryBrokers()
        let setup = ClusterNode.Setup(deadline: .milliseconds(100), checkInterval: .milliseconds(50))
        let a = try await ClusterNode.start("a", of: brokers, setup)
        try await a.append("first")
        brokers.script(.limbo)
        #expect(try await a.refusal(of: "undecided") == .outcomePending)
        #expect(try await a.wait { $0.replica.status.hasUndecided })
        brokers.delete()
        #expect(try await a.wait { $0.replica.status.refusal?.kind == .missing })
        // The node's own thread runs while the message that begins the stream is on its way.
        brokers.beforePublish { Pause.milliseconds(200) }
        try await onOwnThread { try a.replica.rebuild() }
        try await a.append("second")
        #expect(Set(try a.positions().keys) == ["first", "second"])
        #expect(brokers.first == 3 && brokers.last == 4)
    }

    @Test("A sound stream is not rebuilt")
    func soundRebuild() async throws {
        let brokers = MemoryBrokers()
        let (a, _) = try await two(brokers)
        await #expect(throws: StreamError.self) { try await onOwnThread { try a.replica.rebuild() } }
        #expect(brokers.first == 1 && brokers.last == 3)
        try await a.append("third")
    }

    @Test("A stream is not rebuilt from a node that has less than another one")
    func rebuildOfLess() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await oneBehind(brokers)
        await #expect(throws: StreamError.self) { try await onOwnThread { try b.replica.rebuild() } }
        #expect(!brokers.hasStream)
        try await onOwnThread { try a.replica.rebuild() }
        try await a.append("fourth")
        // What b lacks is in no stream.
        #expect(try await b.wait { $0.hasStopped })
        #expect(b.sequence == 3)
    }
}
