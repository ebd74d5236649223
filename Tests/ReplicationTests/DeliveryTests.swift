import ProfileLog
import ProfileLogReplication
import ProfileLogRequests
import TestSupport
import Testing

@Suite("What becomes of an append whose publish is not acknowledged", .serialized)
struct DeliveryTests {
    typealias Fault = MemoryBrokers.PublishFault

    /// Both nodes have the same rows, and each of `names` once. Returns their positions at `a`.
    private func expectOnce(
        _ names: String..., at nodes: [ClusterNode], of brokers: MemoryBrokers
    ) async throws -> [Position] {
        for node in nodes { #expect(try await node.wait(for: brokers.last)) }
        for node in nodes.dropFirst() { #expect(try node.truth() == nodes[0].truth(), "\(node.name)") }
        let positions = try nodes[0].positions()
        for name in names { #expect(positions[name]?.count == 1, "\(name)") }
        return names.compactMap { positions[$0]?.first }
    }

    @Test(
        "An append is stored once, and its caller told where, though the first answer says something else",
        arguments: [Fault.lost, .answerLost, .refusedThoughStored, .full, .fullThoughStored])
    func firstAnswer(fault: Fault) async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        try await a.append("before")
        brokers.script(fault)
        let receipt = try await a.append("event")
        try await a.append("after")
        let positions = try await expectOnce("before", "event", "after", at: [a, b], of: brokers)
        #expect(receipt.last == positions[1] && !receipt.isRepetition)
        #expect(a.replica.status.counts.undecided == 1)
        #expect(brokers.last == 4)
    }

    @Test(
        "An append that the leader keeps without a majority is stored once, when it gets one", arguments: [false, true])
    func limbo(isDropped: Bool) async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        brokers.script(.limbo)
        // The same bytes are refused until then, although no message is at the place.
        brokers.beforePublish(3) {
            if isDropped { brokers.dropProposals() } else { brokers.release() }
        }
        let receipt = try await a.append("event")
        #expect(try await expectOnce("event", at: [a, b], of: brokers) == [receipt.last])
        #expect(brokers.last == 2)
    }

    @Test("A message that arrives late, after the same bytes were stored, is not stored again")
    func delayed() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        brokers.script(.delayed)
        let receipt = try await a.append("event")
        brokers.release()
        try await b.append("after")
        #expect(try await expectOnce("event", "after", at: [a, b], of: brokers)[0] == receipt.last)
        #expect(brokers.last == 3)
    }

    @Test("A message that arrives late, while the node waits, is the one that is stored")
    func arrivesLater() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        brokers.script(.delayed, .lost)
        brokers.beforePublish(3) { brokers.release() }
        let receipt = try await a.append("event")
        #expect(try await expectOnce("event", at: [a, b], of: brokers) == [receipt.last])
        #expect(brokers.last == 2)
    }

    @Test("A second answer, which comes while the node cannot see its message, acknowledges the append")
    func secondAnswer() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        brokers.script(.answerLost, .secondAnswer)
        a.stream.isStale = true
        let receipt = try await a.append("event")
        a.stream.isStale = false
        #expect(try await expectOnce("event", at: [a, b], of: brokers) == [receipt.last])
        #expect(brokers.last == 2)
    }

    @Test("A node at a broker that lags stores nothing twice, and sees another node's batch when the broker does")
    func staleReads() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        a.stream.isStale = true
        let first = try await b.append("first")
        // The place is taken, and looks free: the same bytes are refused until the broker knows.
        brokers.beforePublish(3) { a.stream.isStale = false }
        let second = try await a.append("second")
        #expect(try await expectOnce("first", "second", at: [a, b], of: brokers) == [first.last, second.last])
        #expect(brokers.last == 3)
    }

    @Test("While the brokers have no room an append is undecided, writes are told why, and with room it is stored once")
    func full() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers, .init(deadline: .milliseconds(100)))
        let b = try await ClusterNode.start("b", of: brokers)
        brokers.chances = [.full: 1_000]
        #expect(try await a.refusal(of: "event", key: "k") == .outcomePending)
        #expect(try await a.refusal(of: "other")?.unavailableReason?.contains("maximum bytes exceeded") == true)
        #expect(brokers.last == 1 && a.sequence == 1)
        brokers.chances = [:]
        #expect(try await a.wait { !$0.replica.status.hasUndecided })
        let receipt = try await a.append("event", key: "k")
        #expect(receipt.isRepetition)
        #expect(try await expectOnce("event", at: [a, b], of: brokers) == [receipt.last])
        #expect(try a.positions()["other"] == nil && brokers.last == 2)
    }

    @Test(
        "An append that is undecided at its deadline is stored later, and its key tells where",
        arguments: [false, true])
    func deadline(isDropped: Bool) async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers, .init(deadline: .milliseconds(100)))
        let b = try await ClusterNode.start("b", of: brokers)
        try await a.append("before")
        brokers.script(.limbo)
        #expect(try await a.refusal(of: "event", key: "k") == .outcomePending)
        #expect(try await a.wait { $0.replica.status.hasUndecided })
        // Nothing is decided on top of it, and reads go on.
        #expect(try await a.refusal(of: "other")?.isUnavailable == true)
        #expect(try a.positions()["before"]?.count == 1 && a.positions()["event"] == nil)
        if isDropped { brokers.dropProposals() } else { brokers.release() }
        #expect(try await a.wait { !$0.replica.status.hasUndecided })
        let receipt = try await a.append("event", key: "k")
        #expect(receipt.isRepetition)
        let positions = try await expectOnce("before", "event", at: [a, b], of: brokers)
        #expect(positions[1] == receipt.last && brokers.last == 3)
        // The other node knows the key too.
        #expect(try await b.append("event", key: "k").last == receipt.last)
    }

    @Test("An undecided append whose place another node took is not stored, and a retry under its key is, once")
    func overtaken() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers, .init(deadline: .milliseconds(100)))
        let b = try await ClusterNode.start("b", of: brokers)
        brokers.script(.limbo)
        #expect(try await a.refusal(of: "event", key: "k") == .outcomePending)
        a.stream.isCut = true
        brokers.dropProposals()
        let first = try await b.append("first")
        a.stream.isCut = false
        #expect(try await a.wait(for: brokers.last))
        #expect(try a.positions()["event"] == nil)
        let receipt = try await a.append("event", key: "k")
        #expect(!receipt.isRepetition)
        #expect(try await expectOnce("first", "event", at: [a, b], of: brokers) == [first.last, receipt.last])
    }

    // MARK: - Two nodes at once

    /// Lets `b` append just before the next publish of `a`.
    private func letFirst(
        _ b: ClusterNode, _ brokers: MemoryBrokers, _ append: @escaping @Sendable (ClusterNode) throws -> Void
    ) {
        brokers.beforePublish {
            do { try append(b) } catch { Issue.record("the other node's append: \(error)") }
        }
    }

    @Test("An append whose place another node took is decided again, at the next place", .hits(.decidedAgain))
    func decidedAgain() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        letFirst(b, brokers) { b in try b.appendNow("first") }
        let receipt = try await a.append("second")
        let positions = try await expectOnce("first", "second", at: [a, b], of: brokers)
        #expect(positions[0] < positions[1] && positions[1] == receipt.last)
        #expect(a.replica.status.counts.refused == 1 && a.replica.status.counts.published == 1)
        // By the version after the other event.
        #expect(try receipt.users.values.max() == b.log.find(.ana)?.version)
    }

    @Test("The same append under one key at two nodes at once is one event, and both callers are told its position")
    func sameKey() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        letFirst(b, brokers) { b in try b.appendNow("event", key: "k") }
        let receipt = try await a.append("event", key: "k")
        #expect(receipt.isRepetition)
        #expect(try await expectOnce("event", at: [a, b], of: brokers) == [receipt.last])
    }

    @Test("Other content under one key at two nodes at once is refused at the second one")
    func otherContent() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        letFirst(b, brokers) { b in try b.appendNow("first", key: "k") }
        let refusal = try await a.refusal(of: "second", key: "k")
        let positions = try await expectOnce("first", at: [a, b], of: brokers)
        // The key is at the first event of the append, which makes the user.
        guard case .keyReused(let position)? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(position <= positions[0])
    }

    @Test("Equal appends without a key at two nodes at once are two events, and each caller is told its own")
    func equalBytes() async throws {
        let brokers = MemoryBrokers()
        let clock = Timestamp(rawValue: 1_800_000_000_000_000)
        var setup = ClusterNode.Setup()
        setup.options.now = { clock }
        let (a, b) = try await ClusterNode.startTwo(of: brokers, setup)
        try await a.append("event")
        #expect(try await b.wait(for: brokers.last))
        // From here both decide the same bytes: the same time, user, version and name.
        letFirst(b, brokers) { b in try b.appendNow("event") }
        let receipt = try await a.append("event")
        for node in [a, b] { #expect(try await node.wait(for: brokers.last)) }
        let positions = try a.positions()["event"] ?? []
        #expect(positions.count == 3 && positions.last == receipt.last)
        #expect(try a.truth() == b.truth())
    }

    @Test("Two nodes that expect the same version of a user: one is stored, and the other refused by the new version")
    func sameVersion() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        let version = try #require(try await a.append("event").users.values.first)
        #expect(try await b.wait(for: brokers.last))
        letFirst(b, brokers) { b in try b.appendNow("first", expecting: .exactly(version)) }
        await #expect(throws: AppendError.self) { try await a.append("second", expecting: .exactly(version)) }
        _ = try await expectOnce("event", "first", at: [a, b], of: brokers)
        #expect(try a.positions()["second"] == nil)
    }

    @Test("A node that lags reads what it lacks before it refuses an append by what it has")
    func lagging() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers)
        // It looks at the stream by itself only once a second.
        let b = try await ClusterNode.start("b", of: brokers, .init(pollInterval: .seconds(1)))
        let version = try #require(try await a.append("event").users.values.first)
        let receipt = try await b.append("next", expecting: .exactly(version))
        #expect(try await expectOnce("event", "next", at: [a, b], of: brokers)[1] == receipt.last)
    }

    @Test("A request that a lagging node would refuse, or find done, is decided by what the cluster has")
    func laggingRequest() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers)
        let b = try await ClusterNode.start("b", of: brokers, .init(pollInterval: .seconds(1)))
        let store = RequestStore(b.log, b.writer)
        try await a.append("event")
        let (isKnown, receipt) = try await store.decide { view -> Decision<Bool> in
            Decision(try view.find(.ana) != nil)
        }
        #expect(isKnown && receipt == nil)
        try await a.append("event", to: .bo)
        let version = try await store.decide { view -> Decision<Version> in
            guard let bo = try view.find(.bo) else { throw AppendError.unknownUser(.bo) }
            return Decision(bo.version)
        }.value
        #expect(try version == a.log.find(.bo)?.version)
        // What the cluster does not know either is refused.
        await #expect(throws: AppendError.unknownUser(.externalID("x"))) {
            _ = try await store.decide { _ -> Decision<Bool> in throw AppendError.unknownUser(.externalID("x")) }
        }
        #expect(brokers.last == 3)
    }

    @Test("An append whose place another node takes each time is refused at its deadline, and a later one is stored")
    func alwaysSecond() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers, .init(deadline: .milliseconds(100)))
        let b = try await ClusterNode.start("b", of: brokers)
        // An end, should the append be decided again for ever.
        let rounds = Guarded(5_000)
        @Sendable func letFirstEachTime() {
            brokers.beforePublish {
                guard rounds.withReading({ $0 }) > 0 else { return }
                rounds.withWriting { $0 -= 1 }
                do { try b.appendNow("first", to: .bo) } catch { Issue.record("the other node's append: \(error)") }
                letFirstEachTime()
            }
        }
        letFirstEachTime()
        let error = try await a.refusal(of: "second")
        #expect(error?.unavailableReason?.contains("took each place first") == true, "\(String(describing: error))")
        rounds.withWriting { $0 = 0 }
        #expect(try a.positions()["second"] == nil)
        try await a.append("second")
        for node in [a, b] { #expect(try await node.wait(for: brokers.last)) }
        #expect(try a.positions()["second"]?.count == 1 && a.truth() == b.truth())
    }

    @Test("A node that lags erases, voids and merges what it does not know yet")
    func laggingVerbs() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers)
        let b = try await ClusterNode.start("b", of: brokers, .init(pollInterval: .seconds(1)))
        let erased = Guarded<Erasure?>(nil)
        try await onOwnThread {
            let position = try a.appendNow("void", to: .ana).last
            try b.log.void(position, actor: "a test", reason: "a test")
            try a.appendNow("erased", to: .bo)
            erased.withWriting { $0 = try? b.log.erase([.bo], actor: "a test", reason: "asked to") }
            try a.appendNow("merged", to: .externalID("old"))
            try b.log.change(.merge(source: .externalID("old"), target: .ana))
        }
        #expect(erased.withReading { $0?.users.count } == 1)
        _ = try await expectOnce("void", "merged", at: [a, b], of: brokers)
        #expect(try a.log.find(.bo) == nil && b.log.find(.bo) == nil)
    }

    @Test("A launch that is decided again reports what it did once")
    func launch() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        let saved = try await onOwnThread {
            try (0..<3).map { number in
                try a.log.append([.saved("kept-\(number)")], to: .ana, context: .saving(on: "phone")).last
            }
        }
        // The second commit of a launch, in which the SDK hands over, meets another node's batch.
        brokers.beforePublish(2) { _ = try? b.appendNow("between", to: .bo) }
        let report = try await onOwnThread { try a.log.launch(device: "phone") }
        #expect(report.outcomes.keys.sorted() == saved)
        // Each position is that of the stored event, none that of a decision that was given up.
        #expect(!report.flushed.isEmpty)
        for position in report.flushed {
            guard case .pendingFlushed? = try a.log.event(at: position)?.event else {
                Issue.record("\(position) is no flush")
                continue
            }
        }
        _ = try await expectOnce("between", at: [a, b], of: brokers)
        #expect(try a.log.waiting(on: "phone") == [] && b.log.waiting(on: "phone") == [])
        #expect(try a.log.replay(verify: true).digest == b.log.replay(verify: true).digest)
    }

    @Test("An erasure that is decided again erases what came in between too, on all nodes")
    func erasure() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        try await a.append("event", to: .bo)
        try await a.append("other")
        #expect(try await b.wait(for: brokers.last))
        letFirst(b, brokers) { b in try b.appendNow("between", to: .bo) }
        let erasure = try await onOwnThread { try a.log.erase([.bo], actor: "a test", reason: "asked to") }
        _ = try await expectOnce("other", at: [a, b], of: brokers)
        #expect(erasure.users.count == 1)
        for node in [a, b] {
            let positions = try node.positions()
            #expect(positions["event"] == nil && positions["between"] == nil)
            #expect(try node.log.find(.bo) == nil)
        }
    }

    // MARK: - Sizes

    @Test("An append that is larger than a message is refused with the limit, and a smaller one is not")
    func tooLarge() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers, .init(mostBytes: 100_000))
        let refused = try await onOwnThread { () -> AppendError? in
            let value = AttributeValue.string(String(repeating: "x", count: 250))
            let event = CustomEvent(name: "large", properties: [.init("text", value)])
            do throws(AppendError) {
                _ = try a.log.append(Array(repeating: .customEventLogged(event), count: 6_000), to: .ana)
            } catch { return error }
            return nil
        }
        guard case .tooLarge? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(a.sequence == 1 && brokers.last == 1)
        try await a.append("small")
        #expect(brokers.last == 2)
    }

    @Test("Appends of many callers that are more than a message go in several, each whole")
    func groups() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers, .init(mostBytes: 1_000))
        let answers = try await onOwnThread {
            var appends: [PreparedAppend] = []
            for number in 0..<60 {
                var builder = a.log.prepare()
                try builder.add(.happened("event-\(number)"), EventContext(source: .app), to: .ana)
                appends.append(try builder.finish(idempotencyKey: "key-\(number)"))
            }
            return try a.log.commit(appends).map { try $0.get().last }
        }
        #expect(answers == answers.sorted() && Set(answers).count == 60)
        #expect(brokers.last > 2)
        for node in [a, b] { #expect(try await node.wait(for: brokers.last)) }
        let positions = try b.positions()
        for number in 0..<60 { #expect(positions["event-\(number)"] == [answers[number]]) }
    }
}
