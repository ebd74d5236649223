import Foundation
import ProfileLog
import ProfileLogReplication
import TestSupport
import Testing

/// Steps that a test does once at the next delivery of a node: before it, or after the answer and before the store has
/// it.
private final class Door: Sendable {
    private let closures = Guarded<(before: Step?, after: Step?)>((nil, nil))

    typealias Step = @Sendable () throws -> Void

    func before(_ body: @escaping Step) { closures.withWriting { $0.before = body } }
    func after(_ body: @escaping Step) { closures.withWriting { $0.after = body } }

    fileprivate func passBefore() throws {
        let body = closures.withWriting { $0.before.take() }
        try body?()
    }

    fileprivate func passAfter() throws {
        let body = closures.withWriting { $0.after.take() }
        try body?()
    }
}

/// A replica with a door around its deliveries.
private struct TransportWithDoor: CommitTransport {
    let replica: Replica
    let door: Door

    var mostBytes: Int { replica.mostBytes }
    var isReplicated: Bool { replica.isReplicated }
    func prepare() throws(AppendError) { try replica.prepare() }
    func settle(_ batch: UndecidedBatch) throws(AppendError) -> SettledBatch { try replica.settle(batch) }
    func catchUp() throws(AppendError) -> Bool { try replica.catchUp() }

    func deliver(_ batch: CommitBatch, after last: ReplicaPosition?) throws -> ReplicaPosition? {
        try door.passBefore()
        let answer = Result { try replica.deliver(batch, after: last) }
        try door.passAfter()
        return try answer.get()
    }
}

/// A commit is not in the file until LMDB writes it at its end: a copy that is made before is what a kill leaves.
@Suite("A node that dies around a delivery", .serialized)
struct DyingNodeTests {
    private let brokers = MemoryBrokers()
    private let door = Door()
    private let image = TemporaryFolder(prefix: "node-killed")

    private var setup: ClusterNode.Setup {
        let door = door
        return ClusterNode.Setup(
            deadline: .milliseconds(100), transport: { TransportWithDoor(replica: $0, door: door) })
    }

    private func start() async throws -> (a: ClusterNode, b: ClusterNode) {
        let nodes = try await ClusterNode.startTwo(of: brokers)
        try await nodes.a.end()
        let a = try await ClusterNode.start("a", of: brokers, in: nodes.a.folder, setup)
        try await a.append("before")
        try await a.append("of bo", to: .bo)
        return (a, nodes.b)
    }

    /// Copies the file of a store as it is now.
    private func copying(_ node: ClusterNode) -> Door.Step {
        let (path, image) = (node.folder.path, image)
        return {
            try FileManager.default.createDirectory(at: image.url, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: image("data.mdb"))
        }
    }

    /// Kills `a`, and starts it from what the kill left. It has batch `sequence` before it reaches a broker.
    private func startAgain(_ a: ClusterNode, at sequence: UInt64) async throws -> ClusterNode {
        try await a.kill()
        let again = try await ClusterNode.start("a", of: brokers, in: image, .init(isCut: true))
        #expect(again.sequence == sequence)
        again.stream.isCut = false
        #expect(try await again.wait(for: brokers.last))
        #expect(try await again.wait { $0.replica.status.refusal == nil })
        return again
    }

    @Test("An append that was acknowledged before the store had it is at its position when the node starts again")
    func afterAcknowledgement() async throws {
        let (a, b) = try await start()
        door.after(copying(a))
        let receipt = try await a.append("event", key: "k")
        let again = try await startAgain(a, at: 3)
        #expect(try again.positions()["event"] == [receipt.last])
        #expect(try await again.append("event", key: "k").last == receipt.last)
        try await again.append("after")
        #expect(try await b.wait(for: brokers.last))
        #expect(try again.truth() == b.truth())
        try again.log.expectSound()
    }

    @Test("An append whose publish was never sent is nowhere, and a retry under its key stores it once")
    func beforePublish() async throws {
        let (a, b) = try await start()
        let copy = copying(a)
        door.before {
            try copy()
            throw AppendError.closed
        }
        #expect(try await a.refusal(of: "event", key: "k") == .closed)
        let again = try await startAgain(a, at: 3)
        #expect(try again.positions()["event"] == nil)
        let receipt = try await again.append("event", key: "k")
        #expect(!receipt.isRepetition)
        #expect(try await b.wait(for: brokers.last))
        #expect(try b.positions()["event"] == [receipt.last])
    }

    @Test(
        "An append that no one acknowledged when the node died is stored once or not at all, and a retry settles it",
        arguments: [false, true])
    func undecided(isDropped: Bool) async throws {
        let (a, b) = try await start()
        brokers.script(.limbo)
        door.after(copying(a))
        #expect(try await a.refusal(of: "event", key: "k") == .outcomePending)
        try await a.kill()
        if isDropped { brokers.dropProposals() } else { brokers.release() }
        let again = try await startAgain(a, at: 3)
        let receipt = try await again.append("event", key: "k")
        #expect(receipt.isRepetition == !isDropped)
        #expect(try await b.wait(for: brokers.last))
        #expect(try again.positions()["event"] == [receipt.last] && b.positions()["event"] == [receipt.last])
        #expect(try again.truth() == b.truth())
    }

    @Test("A store whose disk fails after the acknowledgement takes the batch from the stream before all else")
    func failedDisk() async throws {
        let (a, b) = try await start()
        // As `Committer` throws it when a commit fails that has its place.
        door.after { throw AppendError.outcomePending }
        #expect(try await a.refusal(of: "event", key: "k") == .outcomePending)
        let next = try await a.append("next")
        let receipt = try await a.append("event", key: "k")
        #expect(receipt.isRepetition && receipt.last < next.last)
        #expect(try await b.wait(for: brokers.last))
        #expect(try a.positions()["event"] == [receipt.last] && b.positions()["event"] == [receipt.last])
        #expect(try a.truth() == b.truth())
    }

    @Test("An erasure that was acknowledged before the store had it is done when the node starts again")
    func erasure() async throws {
        let (a, b) = try await start()
        // With caches and states of the person, which must go too.
        try await onOwnThread { try a.log.writeIndex() }
        door.after(copying(a))
        let erasure = try await onOwnThread { try a.log.erase([.bo], actor: "a test", reason: "asked to") }
        let again = try await startAgain(a, at: 3)
        #expect(try again.log.find(.bo) == nil && again.positions()["of bo"] == nil)
        #expect(try again.log.lastPosition() == erasure.position)
        #expect(try await b.wait(for: brokers.last))
        #expect(try again.truth() == b.truth())
        try again.log.expectSound()
    }
}
