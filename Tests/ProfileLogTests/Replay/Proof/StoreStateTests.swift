import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

/// Counts the events of each kind over the whole store: a projection as an embedder would write it.
private enum KindsSeen: StoreProjection {
    static let name = "kinds"
    static let revision: UInt32 = 1
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
        let log = try folder.open(options: .small(clock), projections: [KindsSeen.self])
        for index in 0..<100 {
            _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("user \(index % 7)"))
        }
        return log
    }

    @Test(
        "A state over the store sees every acknowledged event, before and after its checkpoint, and when reopened"
    )
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
    }

    private func stored(_ log: EventLog) throws -> [UInt8]? { try log.rows(.checkpoints)[Array("kinds".utf8)] }

    @Test("After an erasure no commit waits for a fold of the whole log; who reads the state writes it")
    func erased() throws {
        let log = try openWithManyUsers()
        func append(_ count: Int) throws {
            for index in 0..<count {
                let before = try reached(log) ?? 0
                _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("user \(index % 7)"))
                #expect(try reached(log) ?? 0 <= before + 20)
            }
        }
        try append(100)
        try log.writeIndex()
        #expect(try stored(log) != nil)
        _ = try log.erase([.externalID("user 1")], actor: "a test", reason: "asked to")
        #expect(try stored(log) == nil)
        let state = try log.state(overStore: KindsSeen.self).state
        #expect(state == [.userCreated: 7, .customEventLogged: 100, .userErased: 1])
        #expect(try reached(log) == log.lastPosition().rawValue)
        _ = try log.erase([.externalID("user 2")], actor: "a test", reason: "asked to")
        #expect(try stored(log) == nil)
        try append(200)
        #expect(try reached(log) ?? 0 >= log.reader.statistics().extent.indexed.rawValue)
    }

    /// Returns the position up to which the stored state reaches.
    private func reached(_ log: EventLog) throws -> UInt64? {
        try stored(log)?.withUnsafeBytes { StoreStateRow.read($0, revision: KindsSeen.revision)?.position }
    }

    /// Opens a log with more users than that, so that the caches are that many events late.
    private func openWithManyUsers() throws -> EventLog {
        let options = LogOptions.small(clock, indexLag: 10)
        return try folder.open(options: options, projections: [KindsSeen.self])
    }

    private func append(_ count: Int, _ log: EventLog, through writer: LogWriter? = nil) async throws {
        for index in 0..<count {
            var builder = log.prepare()
            let user = UserID.externalID("user \(index % 60)")
            try builder.add(.customEventLogged(CustomEvent(name: "a")), .test, to: user)
            if let writer {
                _ = try await writer.commit(builder.finish())
            } else {
                _ = try log.commit(builder.finish())
            }
        }
    }

    @Test("However many events the caches take in at once, the stored state follows them after the next commits")
    func manyUsers() async throws {
        let log = try openWithManyUsers()
        try await append(600, log)
        let indexed = try log.reader.statistics().extent.indexed.rawValue
        #expect(indexed > 400)
        // A flush takes in three times the events that are folded after one commit, and each of its slices follows a
        // commit.
        #expect(try #require(try reached(log)) >= indexed)
    }

    @Test("Who closes the writer leaves a state that reaches the log's end")
    func closed() async throws {
        let log = try openWithManyUsers()
        let writer = LogWriter(log)
        try await append(300, log, through: writer)
        await writer.close()
        #expect(try reached(log) == log.lastPosition().rawValue)
    }

    @Test("A state that was read before an erasure is not stored after it")
    func outrun() throws {
        let log = try filled()
        let before = try log.state(overStore: KindsSeen.self)
        _ = try log.erase([.externalID("user 1")], actor: "a test", reason: "asked to")
        let reached = before.position.rawValue
        #expect(try !log.states.keep(KindsSeen.self, before.state, at: reached, seen: reached))
        #expect(try stored(log) == nil)
        let after = try log.state(overStore: KindsSeen.self)
        let end = after.position.rawValue
        _ = try log.states.keep(KindsSeen.self, after.state, at: end, seen: end)
        #expect(try stored(log) != nil)
    }

    @Test("A checkpoint that is damaged is found, and not used, but written again; one that is wrong is found")
    func damaged() throws {
        folder.expectDamage()
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
