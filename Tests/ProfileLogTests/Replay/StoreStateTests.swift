import Testing

@testable import ProfileLog

/// Counts the events of each kind over the whole store: a projection as an embedder would write it.
private enum KindsSeen: Projection {
    static let name = "kinds"
    static let revision: UInt32 = 1
    static let scope = ProjectionScope.store
    static var initial: [EventKind: UInt64] { [:] }

    static func apply(_ event: borrowing EventView, to state: inout [EventKind: UInt64]) {
        if let kind = event.kind { state[kind, default: 0] += 1 }
    }

    static func encode(_ state: [EventKind: UInt64]) -> [UInt8] {
        state.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { kind, count in
            [kind.rawValue] + withUnsafeBytes(of: count.littleEndian) { Array($0) }
        }
    }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> [EventKind: UInt64]? {
        guard bytes.count % 9 == 0 else { return nil }
        var state: [EventKind: UInt64] = [:]
        for offset in stride(from: 0, to: bytes.count, by: 9) {
            guard let kind = EventKind(rawValue: bytes[offset]) else { return nil }
            state[kind] = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self))
        }
        return state
    }
}

@Suite("A state over the whole store is a checkpoint and a fold of what follows")
struct StoreStateTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func filled() throws -> EventLog {
        let log = try EventLog(path: folder.path, create: true, options: .small(clock), projections: [KindsSeen.self])
        for index in 0..<100 {
            _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("user \(index % 7)"))
        }
        return log
    }

    @Test("It sees every acknowledged event, before and after its checkpoint is written, and after a reopening")
    func current() throws {
        let log = try filled()
        let expected: [EventKind: UInt64] = [.userCreated: 7, .customEventLogged: 100]
        #expect(try log.state(overStore: KindsSeen.self) == (expected, Position(rawValue: 107)))
        try log.writeIndex()
        #expect(try log.rows(.checkpoints)[Array("kinds".utf8)] != nil)
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("user 1"))
        let reopened = try EventLog(path: folder.path, projections: [KindsSeen.self])
        #expect(try reopened.state(overStore: KindsSeen.self).state[.customEventLogged] == 101)
        let replayer = Replayer<KindsSeen>(log, threads: 2)
        try replayer.run()
        #expect(try KindsSeen.encode(replayer.state) == KindsSeen.encode(log.state(overStore: KindsSeen.self).state))
        try log.expectSound()
    }

    private func stored(_ log: EventLog) throws -> [UInt8]? { try log.rows(.checkpoints)[Array("kinds".utf8)] }

    @Test("After an erasure no flush folds the whole log; who reads the state writes it for the next one")
    func erased() throws {
        let options = LogOptions.small(clock, indexLag: 10)
        let log = try EventLog(path: folder.path, create: true, options: options, projections: [KindsSeen.self])
        func append(_ count: Int) throws {
            for index in 0..<count {
                _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("user \(index % 7)"))
            }
        }
        try append(100)
        try log.writeIndex()
        #expect(try stored(log) != nil)
        _ = try log.erase([.externalID("user 1")], actor: "a test", reason: "asked to")
        #expect(try stored(log) == nil)
        try append(60)
        #expect(try log.statistics().extent.indexed.rawValue > 150)
        #expect(try stored(log) == nil)
        let state = try log.state(overStore: KindsSeen.self).state
        #expect(state == [.userCreated: 8, .customEventLogged: 160, .userErased: 1])
        let row = try #require(try stored(log))
        // From here on the flush carries it along.
        try append(60)
        #expect(try stored(log) != row)
        try log.expectSound()
    }

    @Test("A state that was read before an erasure is not stored behind it")
    func outrun() throws {
        let log = try filled()
        let before = try log.state(overStore: KindsSeen.self)
        _ = try log.erase([.externalID("user 1")], actor: "a test", reason: "asked to")
        try log.keep(KindsSeen.self, before.state, at: before.position.rawValue)
        #expect(try stored(log) == nil)
        let after = try log.state(overStore: KindsSeen.self)
        try log.keep(KindsSeen.self, after.state, at: after.position.rawValue)
        #expect(try stored(log) != nil)
        try log.expectSound()
    }

    @Test("A checkpoint that is damaged is found, and not used, but written anew; one that is wrong is found")
    func damaged() throws {
        let log = try filled()
        try log.writeIndex()
        let key = Array("kinds".utf8)
        try log.damage(.checkpoints, key) { $0[14] ^= 1 }
        #expect(try log.check().problems.map(\.place) == ["checkpoints kinds"])
        #expect(try log.state(overStore: KindsSeen.self).state[.customEventLogged] == 100)
        try log.expectSound()
        let forged = StoreStateRow.bytes(revision: 1, position: 50, state: KindsSeen.encode([.customEventLogged: 1]))
        try log.damage(.checkpoints, key) { $0 = forged }
        #expect(try log.check().problems.map(\.place) == ["checkpoints kinds"])
    }
}
