import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogReplication

@Suite("The last fail-over is known at every node")
struct FailOverTests {
    @Test("Every node tells the newest fail-over and who waited, also one that starts again")
    func told() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        #expect(b.replica.status.lastFailOver == nil)
        a.replica.noteFailOver(since: ContinuousClock.now - .seconds(6))
        let first = try #require(a.replica.status.lastFailOver)
        #expect(first.node == "a" && first.length >= .seconds(6) && a.replica.status.ownFailOver == first)
        #expect(try await b.wait { $0.replica.status.lastFailOver == first })
        // Not b's own: its metric counts what its batches waited for.
        #expect(b.replica.status.ownFailOver == nil)

        b.replica.noteFailOver(since: ContinuousClock.now - .seconds(4))
        let second = try #require(b.replica.status.lastFailOver)
        #expect(second.node == "b" && second.ended >= first.ended)
        #expect(try await a.wait { $0.replica.status.lastFailOver == second })
        #expect(a.replica.status.ownFailOver == first)

        try await a.end()
        let again = try await ClusterNode.start("a", of: brokers, in: a.folder)
        #expect(try await again.wait { $0.replica.status.lastFailOver == second })
        #expect(again.replica.status.ownFailOver == nil)
    }

    @Test("A note with an older fail-over does not replace a newer one, and a wait of a moment is none")
    func older() async throws {
        let node = try await ClusterNode.start("a", of: MemoryBrokers())
        node.replica.noteFailOver(since: ContinuousClock.now)
        #expect(node.replica.status.lastFailOver == nil)
        func hear(_ ended: Int64) {
            var note = node.replica.ownNote(isLeaving: false)
            (note.name, note.instance) = ("b", 7)
            note.failOver = FailOver(node: "b", ended: Timestamp(rawValue: ended), length: .seconds(5))
            node.replica.take(note.bytes)
        }
        for (ended, last) in [(20, 20), (10, 20), (30, 30)] as [(Int64, Int64)] {
            hear(ended)
            #expect(node.replica.status.lastFailOver?.ended.rawValue == last)
        }
    }

    @Test("A note of a program that tells of no fail-over, or more than this one knows, is understood")
    func otherVersion() throws {
        let text = """
            {"name":"x","instance":7,"url":"http://x","sequence":3,"position":2,"version":"0.0.9","news":{"a":[1]}}
            """
        let note = try #require(NodeNote(Array(text.utf8)))
        #expect(note.failOver == nil && note.status.sequence == 3)
    }
}
