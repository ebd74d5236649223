import Foundation
import ProfileLog
import ProfileLogReplication
import TestSupport
import Testing

@Suite("How a cluster begins, and how nodes come to it", .serialized)
struct BeginningTests {
    typealias Fault = MemoryBrokers.PublishFault

    private let brokers = MemoryBrokers()

    /// A store alone, with two events, in a folder.
    private func storeAlone() async throws -> TemporaryFolder {
        let folder = TemporaryFolder(prefix: "node-alone")
        try await onOwnThread {
            let log = try EventLog(path: folder.path, create: true)
            try log.append([.happened("first"), .happened("second")], to: .ana)
            log.close()
        }
        return folder
    }

    private func refusal(_ folder: TemporaryFolder? = nil, isCut: Bool = false) async throws -> StreamError? {
        do {
            _ = try await ClusterNode.start("x", of: brokers, in: folder, .init(isCut: isCut))
            return nil
        } catch let error as StreamError {
            return error
        }
    }

    @Test("Two empty nodes that start at once make one store")
    func atOnce() async throws {
        async let first = ClusterNode.start("a", of: brokers)
        async let second = ClusterNode.start("b", of: brokers)
        let (a, b) = try await (first, second)
        #expect(a.log.storeID == b.log.storeID)
        #expect(brokers.last == 1)
        try await a.append("event")
        #expect(try await b.wait(for: 2))
        #expect(try a.truth() == b.truth())
    }

    @Test(
        "A store is made once, whatever answers its creation gets",
        arguments: [Fault.lost, .answerLost, .refusedThoughStored, .delayed, .limbo])
    func creation(fault: Fault) async throws {
        brokers.script(fault)
        if fault == .limbo { brokers.beforePublish(3) { [brokers] in brokers.release() } }
        let a = try await ClusterNode.start("a", of: brokers)
        brokers.release()
        #expect(brokers.last == 1 && a.sequence == 1)
        let b = try await ClusterNode.start("b", of: brokers)
        #expect(a.log.storeID == b.log.storeID)
        try await b.append("event")
        #expect(try await a.wait(for: 2))
        #expect(try a.truth() == b.truth())
    }

    @Test("A node that died between the creation and its store makes the same store")
    func diedAtCreation() async throws {
        let stream = brokers.connect("a")
        let folder = TemporaryFolder(prefix: "node-a")
        let creation = try await onOwnThread {
            try Replica.open(stream, ReplicaSettings(name: "a", url: "http://a:8080"), folder: folder.path).creation
        }
        stream.close()
        #expect(creation != nil)
        let a = try await ClusterNode.start("a", of: brokers, in: folder)
        let b = try await ClusterNode.start("b", of: brokers)
        #expect(brokers.last == 1)
        #expect(try a.truth() == b.truth())
    }

    @Test("A new node takes all from message 1: appends, launches and erasures")
    func newNode() async throws {
        let a = try await ClusterNode.start("a", of: brokers)
        try await onOwnThread {
            for number in 0..<20 {
                try a.log.append([.happened("event-\(number)")], to: .externalID("user-\(number % 4)"))
                try a.log.append([.saved("kept-\(number)")], to: .ana, context: .saving(on: "phone"))
            }
            try a.log.launch(device: "phone")
            _ = try a.log.erase([.externalID("user-1")], actor: "a test", reason: "asked to")
            try a.log.noteKeys()
        }
        let b = try await ClusterNode.start("b", of: brokers)
        #expect(try await b.wait(for: brokers.last))
        #expect(try a.truth() == b.truth())
        #expect(try a.log.replay(verify: true).digest == b.log.replay(verify: true).digest)
        #expect(try b.log.find(.externalID("user-1")) == nil)
    }

    @Test(
        "A store alone begins the cluster of an empty stream, and goes on", arguments: [nil, Fault.answerLost, .lost])
    func alone(fault: Fault?) async throws {
        let folder = try await storeAlone()
        if let fault { brokers.script(fault) }
        let a = try await ClusterNode.start("a", of: brokers, in: folder)
        #expect(brokers.last == 1 && a.sequence == 1)
        let receipt = try await a.append("third")
        #expect(receipt.last.rawValue == 4)  // and the user
        #expect(Set(try a.positions().keys) == ["first", "second", "third"])
        try await a.end()
        let again = try await ClusterNode.start("a", of: brokers, in: folder)
        try await again.append("fourth")
        #expect(brokers.last == 3 && again.sequence == 3)
    }

    // MARK: - A start that ends around its first message

    /// Starts node `a` from a store alone, and ends it so that its store never had message 1 of the stream.
    private func storeThatBegan() async throws -> TemporaryFolder {
        let (folder, image) = (try await storeAlone(), TemporaryFolder(prefix: "node-image"))
        try FileManager.default.createDirectory(at: image.url, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: folder.path + "/data.mdb", toPath: image("data.mdb"))
        let a = try await ClusterNode.start("a", of: brokers, in: folder)
        #expect(brokers.last == 1)
        try await a.kill()
        return image
    }

    @Test("A store alone whose start died after the first message of the cluster goes on from that message")
    func diedAtBeginning() async throws {
        let a = try await ClusterNode.start("a", of: brokers, in: try await storeThatBegan())
        #expect(brokers.last == 1 && a.sequence == 1)
        try await a.append("third")
        #expect(Set(try a.positions().keys) == ["first", "second", "third"])
        #expect(brokers.last == 2 && a.sequence == 2)
    }

    @Test("A store alone that got events after its start died is not taken for the one that began the cluster")
    func changedAfterBeginning() async throws {
        let folder = try await storeThatBegan()
        try await onOwnThread {
            let log = try EventLog(path: folder.path)
            try log.append([.happened("alone")], to: .ana)
            log.close()
        }
        await #expect(throws: StreamError.self) { try await ClusterNode.start("a", of: brokers, in: folder) }
        #expect(brokers.last == 1)
    }

    @Test("A copy of the store that began a cluster is no node of it under another name")
    func copyOfBeginning() async throws {
        let folder = try await storeThatBegan()
        let error = try #require(try await refusal(folder))
        #expect(error.sentence.contains("has batches already") && error.remedy.contains("--join"))
        _ = try await ClusterNode.start("a", of: brokers, in: folder)
    }

    @Test("A store alone whose first message is stored after its start gave up goes on from that message")
    func storedAfterTheStart() async throws {
        let folder = try await storeAlone()
        brokers.script(.limbo)
        do {
            _ = try await ClusterNode.start("a", of: brokers, in: folder, .init(joining: .milliseconds(50)))
            Issue.record("the start did not wait for the message")
        } catch let error as StreamError {
            #expect(error.kind == .unreachable)
        }
        brokers.release()
        #expect(brokers.last == 1)
        let a = try await ClusterNode.start("a", of: brokers, in: folder)
        #expect(brokers.last == 1 && a.sequence == 1)
        try await a.append("third")
    }

    @Test("A node without a copy cannot join a cluster that began from a store with events")
    func needsCopyOfBeginning() async throws {
        let a = try await ClusterNode.start("a", of: brokers, in: try await storeAlone())
        let error = try #require(try await refusal())
        #expect(error.sentence.contains("began from a store that had events") && error.remedy.contains("--join"))
        try await a.append("third")
    }

    @Test("A node without a copy cannot join a cluster whose stream was purged", arguments: [false, true])
    func needsCopyOfPurged(isEmpty: Bool) async throws {
        let a = try await ClusterNode.start("a", of: brokers)
        for name in ["first", "second"] { try await a.append(name) }
        brokers.purge(before: isEmpty ? 4 : 3)
        let error = try #require(try await refusal())
        #expect(error.sentence.contains("no longer has its first batch") && error.remedy.contains("--join"))
        try await a.append("third")
    }

    @Test("A store alone cannot come to a stream that has batches, and stays as it was")
    func aloneOnUsedStream() async throws {
        let a = try await ClusterNode.start("a", of: brokers)
        try await a.append("event")
        let folder = try await storeAlone()
        let error = try #require(try await refusal(folder))
        #expect(error.kind == .unfit && !error.remedy.isEmpty)
        let log = try folder.open(create: false)
        try log.append([.happened("third")], to: .ana)
        #expect(brokers.last == 2)
    }

    @Test("A new node that reaches no broker says so, and makes no store")
    func noBroker() async throws {
        let folder = TemporaryFolder(prefix: "node-x")
        #expect(try await refusal(folder, isCut: true)?.kind == .unreachable)
        #expect(throws: StorageError.self) { try EventLog(path: folder.path) }
        #expect(!brokers.hasStream)
    }

    @Test("Each node knows the others, who wrote last, and that it has all batches")
    func status() async throws {
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        try await a.append("event")
        #expect(try await b.wait(for: brokers.last))
        #expect(try await b.wait { b in b.replica.status.others.contains { $0.name == "a" && $0.sequence == 2 } })
        let status = b.replica.status
        #expect(status.node.name == "b" && status.preferred == "a" && status.missing == 0 && status.lag != nil)
        #expect(b.replica.writer?.url == "http://a:8080")
        #expect(a.replica.writer == nil)
        // The preferred node stops: the other one writes at once.
        try await a.end()
        #expect(try await b.wait { $0.replica.writer == nil })
        try await b.append("next")
        #expect(b.replica.status.preferred == "b")
    }

    @Test("A node whose preferred writer is killed writes itself")
    func killedWriter() async throws {
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        try await a.append("event")
        #expect(try await b.wait { $0.replica.writer?.name == "a" })
        try await a.kill()
        #expect(try await b.wait { $0.replica.writer == nil })
        try await b.append("next")
    }
}
