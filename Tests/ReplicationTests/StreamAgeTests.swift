import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogReplication

@Suite("The time for which the brokers keep a batch")
struct StreamAgeTests {
    @Test(
        "A node whose setting is not the stream's age warns with the command that sets it, in units that are whole",
        arguments: [
            (nil, 604_800, "for ever, and --stream-max-age of this node says for 7 d.", "7d"),
            (604_800, nil, "for 7 d, and --stream-max-age of this node says for ever.", "forever"),
            (86_400, 129_600, "for 1 d, and --stream-max-age of this node says for 36 h.", "36h"),
            (90, 120, "for 90 s, and --stream-max-age of this node says for 2 min.", "2m"),
            (61, 60, "for 61 s, and --stream-max-age of this node says for 1 min.", "1m"),
        ] as [(Int64?, Int64?, String, String)])
    func warning(found: Int64?, wanted: Int64?, sentence: String, option: String) throws {
        let warning = StreamAge.warning(found: found.map { .seconds($0) }, wanted: wanted.map { .seconds($0) })
        let told = try #require(warning)
        #expect(told.sentence == "The brokers keep batches \(sentence)")
        #expect(told.remedy.contains("`profilecli cluster stream --max-age \(option)`"))
    }

    @Test("A node whose setting is the stream's age warns of nothing", arguments: [nil, 60, 604_800] as [Int64?])
    func equal(seconds: Int64?) {
        let age = seconds.map { Duration.seconds($0) }
        #expect(StreamAge.warning(found: age, wanted: age) == nil)
    }

    @Test("A node sets the age for all, and writes go on")
    func set() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        #expect(a.replica.status.stream?.maxAge == nil)
        try await onOwnThread { try b.replica.keep(for: .seconds(604_800)) }
        #expect(b.replica.status.stream?.maxAge == .seconds(604_800))
        #expect(try await a.wait { $0.replica.status.stream?.maxAge == .seconds(604_800) })
        try await a.append("event")
        #expect(a.replica.status.refusal == nil && b.replica.status.refusal == nil)
        try await onOwnThread { try a.replica.keep(for: nil) }
        #expect(a.replica.status.stream?.maxAge == nil)
    }

    @Test("The age of another store's stream, or of one that is not reached, is not changed")
    func refused() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers)
        a.stream.isCut = true
        await #expect(throws: StreamError.self) { try await onOwnThread { try a.replica.keep(for: .seconds(60)) } }
        #expect(try await a.waitForRefusal() != nil)
        brokers.delete()
        brokers.create()
        a.stream.isCut = false
        #expect(try await a.wait { $0.replica.status.refusal?.kind == .unfit })
        await #expect(throws: StreamError.self) { try await onOwnThread { try a.replica.keep(for: .seconds(60)) } }
        #expect(try a.stream.state().maxAge == nil)
    }
}
