import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogLog

/// Delivers at once or not at all.
protocol ImmediateTransport: CommitTransport {
    func deliver(_ batch: CommitBatch) throws
}

extension ImmediateTransport {
    var mostBytes: Int { .max }
    var isReplicated: Bool { false }
    func prepare() {}
    func settle(_ batch: UndecidedBatch) -> SettledBatch { .stored }
    func catchUp() -> Bool { false }

    func deliver(_ batch: CommitBatch, after last: ReplicaPosition?) throws -> ReplicaPosition? {
        try deliver(batch)
        return nil
    }
}

/// Keeps what is delivered, as bytes.
final class RecordingTransport: ImmediateTransport {
    private let batches = Mutex<[[UInt8]]>([])

    func deliver(_ batch: CommitBatch) { batches.withLock { $0.append(batch.encoded()) } }

    /// Takes the events delivered since the last call.
    func take() -> [[UInt8]] {
        batches.withLock { batches in
            defer { batches = [] }
            return batches
        }
    }
}

/// A store and a replica that gets nothing but its encoded batches. Their options differ, so that their caches do.
@Suite("A store that applies another one's batches equals it")
struct ReplicaTests {
    @Test(
        "A replica equals its origin after each of a hundred random steps",
        arguments: Thoroughness.seeds(short: 6, full: 240))
    func steps(seed: UInt64) throws {
        var run = try ReplicaRun(seed: seed)
        for _ in 0..<100 { try run.step() }
        try run.expectProof()
    }

    @Test("A batch that erases other events than the store has is refused, and changes nothing")
    func otherErasure() throws {
        var run = try ReplicaRun(seed: 1)
        for _ in 0..<20 { try run.step() }
        try run.append("ana")
        try run.follow()
        try run.log.writeIndex()
        _ = try run.log.erase([.externalID("ana")], actor: "a test", reason: "asked to")
        let batches = run.transport.take()
        var wrong = try CommitBatch(decoding: try #require(batches.last))
        wrong.tombstones.removeLast()
        wrong.tombstones.append(.init(position: 1, tombstone: [1]))
        let before = try run.replica.rows(.log)
        #expect(throws: StorageError.self) { try run.replica.committer.apply(wrong) }
        #expect(try run.replica.rows(.log) == before)
        for batch in batches { try run.replica.committer.apply(CommitBatch(decoding: batch)) }
        try run.expectSame()
        try run.expectProof()
    }

    @Test("A batch that does not follow the end of the log is refused", .hits(.batchGap))
    func gap() throws {
        let folder = TemporaryFolder()
        let log = try folder.open()
        #expect(throws: StorageError.damaged(place: "a batch begins at position 9 where position 1 is next")) {
            try log.committer.apply(CommitBatch(firstPosition: 9, bytes: [0], ends: [1]))
        }
    }

    @Test("A batch that the transport refuses is not applied, and the next append is")
    func refused() throws {
        let folder = TemporaryFolder()
        let transport = RefusingTransport()
        var options = LogOptions()
        options.transport = transport
        let log = try folder.open(options: options)
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        _ = try log.append([event], to: .externalID("ana"))
        transport.isRefusing.store(true, ordering: .relaxed)
        #expect(throws: AppendError.self) { try log.append([event], to: .externalID("bo")) }
        #expect(throws: AppendError.self) {
            try log.erase([.externalID("ana")], actor: "a test", reason: "asked to")
        }
        #expect(try log.lastPosition().rawValue == 2)
        transport.isRefusing.store(false, ordering: .relaxed)
        #expect(try log.append([event], to: .externalID("bo")).first.rawValue == 3)
    }
}

/// As a replicated log that another store was faster at.
private final class RefusingTransport: ImmediateTransport {
    let isRefusing = Atomic(false)

    func deliver(_ batch: CommitBatch) throws {
        if isRefusing.load(ordering: .relaxed) { throw StorageError.damaged(place: "another batch came first") }
    }
}

private struct ReplicaRun {
    let folder = TemporaryFolder()
    let copy = TemporaryFolder()
    let clock = TestClock()
    let transport = RecordingTransport()
    var random: SeededGenerator
    var log: EventLog
    var replica: EventLog

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        var options = LogOptions.small(clock)
        options.transport = transport
        log = try folder.open(options: options)
        let creation = try CommitBatch(decoding: try #require(transport.take().first))
        replica = try EventLog(
            path: copy.path, create: true, options: Self.replicaOptions, projections: [ProfileProjection.self],
            creation: creation)
        try expectSame()
    }

    /// Options of the replica: nothing of its clock and sizes may be seen in the truth.
    private static var replicaOptions: LogOptions {
        var options = LogOptions()
        options.indexLag = 17
        options.usersPerIndexSlice = 3
        options.snapshotInterval = 5
        options.now = { Timestamp(rawValue: 1) }
        return options
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[random.next(below: elements.count)] }

    mutating func user() -> UserID { .externalID(pick(["ana", "bo", "cy", "田中", "dee"])) }

    mutating func device() -> String { pick(["d1", "d2", "d3"]) }

    mutating func step() throws {
        clock.advance(Int64(random.next(below: 2_000_000)))
        switch random.next(below: 100) {
        case 0..<30: try append(nil)
        case 30..<50: try save()
        case 50..<62: _ = try log.launch(device: device())
        case 62..<68: _ = try? log.changeUser(device: device(), to: user(), context: .test)
        case 68..<74: try changeIdentity()
        case 74..<80: try importFile()
        case 80..<90:
            let users = (0...random.next(below: 2)).map { _ in user() }
            _ = try log.erase(users, actor: "a test", reason: "asked to")
        case 90..<94: try log.writeIndex()
        case 94..<97: try reopen()
        default: _ = try replica.writeIndex()
        }
        try follow()
    }

    mutating func event() -> ProfileEvent {
        // A name of few users is forgotten with them.
        let name = Name(pick(["played", "paused", "rare-\(random.next(below: 30))"]))
        switch random.next(below: 3) {
        case 0: return .customEventLogged(CustomEvent(name: name, properties: [.init("n", .int(1))]))
        case 1:
            let address = pick(["a@b.cc", "b@b.cc"])
            return .userAttributesChanged([UserAttributeChange(.email, .string(address))])
        default: return .customAttributesChanged([AttributeChange(name, .set(.int(2)))])
        }
    }

    mutating func append(_ user: String?) throws {
        let user = user.map { UserID.externalID($0) } ?? self.user()
        let key: String? = random.next(below: 3) == 0 ? "key-\(random.next(below: 1000))" : nil
        _ = try? log.append((0...random.next(below: 3)).map { _ in event() }, to: user, idempotencyKey: key)
    }

    mutating func save() throws {
        let device = device()
        var builder = log.prepare()
        let event = ProfileEvent.customEventSaved(CustomEvent(name: Name(pick(["saved", "kept"]))))
        try builder.add(event, .saved(on: device), to: random.next(below: 2) == 0 ? .device(device) : user())
        _ = try log.commit(builder.finish())
    }

    mutating func changeIdentity() throws {
        let change: IdentityChange =
            switch random.next(below: 3) {
            case 0: .addAlias(alias: .alias(label: "l", name: pick(["x", "y"])), user: user())
            case 1: .renameExternalID(current: user(), newID: user())
            default: .merge(source: user(), target: user())
            }
        // Refused where the rules forbid it; that leaves nothing.
        _ = try? log.commit(.identity(change, context: .test))
    }

    /// Chunks of many users, each under a key: the second run of the same file changes nothing.
    mutating func importFile() throws {
        let key = "import-\(random.next(below: 1 << 30))"
        var appends: [PreparedAppend] = []
        for chunk in 0..<3 {
            var builder = log.prepare()
            for _ in 0..<4 { try builder.add(event(), EventContext(source: .import), to: user()) }
            appends.append(try builder.finish(idempotencyKey: "\(key)-\(chunk)"))
        }
        for _ in 0..<2 { _ = log.commit(appends, endsAtRefusal: true) }
    }

    mutating func reopen() throws {
        let options = log.options
        log = try EventLog(path: folder.path, options: options)
        replica = try EventLog(path: copy.path, options: Self.replicaOptions)
    }

    func follow() throws {
        for batch in transport.take() { try replica.committer.apply(CommitBatch(decoding: batch)) }
        try expectSame()
    }

    func expectSame() throws {
        for table in Table.Name.allCases where table.isTruth {
            #expect(try log.rows(table) == replica.rows(table), "table \(table.rawValue)")
        }
    }

    func expectProof() throws {
        let (ours, theirs) = try (log.replay(verify: true), replica.replay(verify: true))
        #expect(ours.isEqual && theirs.isEqual, "\(ours.differences) \(theirs.differences)")
        #expect(ours.digest == theirs.digest)
        for device in ["d1", "d2", "d3"] {
            #expect(try log.reader.devices.pending(on: device) == replica.reader.devices.pending(on: device))
        }
        for log in [log, replica] {
            try log.expectSound()
            try log.writeIndex()
            try log.expectSound()
        }
        let caches: [Table.Name] = [.users, .identifiers, .streams, .keys, .devices, .pending]
        for table in caches { #expect(try log.rows(table) == replica.rows(table), "table \(table.rawValue)") }
    }
}
