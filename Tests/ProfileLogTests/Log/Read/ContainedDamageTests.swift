import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("Damage refuses the appends that need it, and no other; no answer counts by it")
struct ContainedDamageTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))

    /// `ana` and `bo` with five events each, all indexed; ana's row of `streams` is damaged.
    private func anaDamaged() throws -> EventLog {
        folder.expectDamage()
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        for _ in 0..<5 {
            for user in ["ana", "bo"] { _ = try log.append([played], to: .externalID(user)) }
        }
        try log.writeIndex()
        let ana = try #require(try log.find(.externalID("ana")))
        try log.damage(.streams, KeyCoding.stream(user: ana.number.rawValue, version: 1)) { $0[$0.count - 1] ^= 1 }
        return try EventLog(path: folder.path, options: .small(clock, indexLag: 10_000))
    }

    private func append(to users: String...) -> (EventLog) throws -> PreparedAppend {
        let event = played
        return { log in
            var builder = log.prepare()
            for user in users { try builder.add(event, EventContext(source: .app), to: .externalID(user)) }
            return try builder.finish()
        }
    }

    @Test("Of appends that are committed together, those that do not need it are stored")
    func group() throws {
        let log = try anaDamaged()
        let last = try log.lastPosition().rawValue
        let answers = log.commit([
            try append(to: "bo")(log), try append(to: "ana")(log), try append(to: "bo")(log),
            try append(to: "cleo")(log),
        ])
        #expect(answers.map(isDamage) == [false, true, false, false])
        #expect(try log.lastPosition().rawValue == last + 4)
        #expect(try log.find(.externalID("bo"))?.version.rawValue == 8)
    }

    @Test(
        "Nothing of an append is stored if a part of it was recorded when the damage was met",
        .hits(.damageRefused, .givenUp, .tailTakenBack))
    func half() throws {
        let log = try anaDamaged()
        let last = try log.lastPosition().rawValue
        let answers = log.commit([
            try append(to: "bo")(log), try append(to: "new", "bo", "ana")(log), try append(to: "bo")(log),
        ])
        #expect(answers.map(isDamage) == [false, true, false])
        #expect(try log.lastPosition().rawValue == last + 2)
        #expect(try log.find(.externalID("new")) == nil)
        #expect(try log.find(.externalID("bo"))?.version.rawValue == 8)
        #expect(try EventLog(path: folder.path, options: .small(clock)).find(.externalID("bo"))?.version.rawValue == 8)
    }

    @Test("A damaged record under a key is not taken for other content")
    func keyed() throws {
        folder.expectDamage()
        let log = try folder.open(options: .small(clock))
        let receipt = try log.append([played], to: .externalID("ana"), idempotencyKey: "k1")
        for _ in 0..<40 { _ = try log.append([played], to: .externalID("bo")) }
        try log.writeIndex()
        let first = receipt.first.rawValue
        // The content's hash ends some bytes before the name's number and the checksum.
        try log.damage(.log, withNumberKey(first) { Array($0) }) { $0[$0.count - 16] ^= 1 }
        let again = try EventLog(path: folder.path, options: .small(clock))
        let damaged = StorageError.damaged(place: "the record at position \(first) fails its checksum")
        #expect(throws: AppendError.refused(damaged)) {
            try again.append([played], to: .externalID("ana"), idempotencyKey: "k1")
        }
    }

    @Test("A fold over the whole store does not believe a damaged record, and keeps no state that does")
    func wholeStore() throws {
        folder.expectDamage()
        let log = try folder.open(options: .small(clock))
        let receipt = try log.append([played], to: .externalID("ana"))
        for _ in 0..<40 { _ = try log.append([played], to: .externalID("bo")) }
        let position = receipt.places.count == 2 ? receipt.first.rawValue + 1 : receipt.first.rawValue
        try log.damage(.log, withNumberKey(position) { Array($0) }) { $0[$0.count - 5] ^= 1 }
        let damaged = StorageError.damaged(place: "the record at position \(position) fails its checksum")
        #expect(throws: damaged) { try log.state(overStore: CatalogueProjection.self) }
        #expect(throws: damaged) { try LiveState<CatalogueProjection>(log).catchUp() }
    }

    /// Returns the greatest lag of the caches while both users get `count` events each.
    private func greatestLag(_ log: EventLog, _ count: Int) throws -> UInt64 {
        var greatest: UInt64 = 0
        for round in 0..<2 * count {
            _ = try log.append([played], to: .externalID(round % 2 == 0 ? "ana" : "bo"))
            let (last, indexed) = try (log.lastPosition().rawValue, log.reader.extent().indexed.rawValue)
            greatest = max(greatest, last - indexed)
        }
        return greatest
    }

    @Test("A record that the caches know stops neither the caches from being written nor a user from being erased")
    func behindCheckpoint() throws {
        folder.expectDamage()
        var log = try folder.open(options: .small(clock, indexLag: 10))
        for _ in 0..<3 { _ = try log.append([played], to: .externalID("ana")) }
        try log.writeIndex()
        try log.damage(.log, withNumberKey(3) { Array($0) }) { $0[$0.count - 5] ^= 1 }
        for _ in 0..<2 {
            #expect(try greatestLag(log, 100) < 60)
            #expect(log.store.tail.withReading { $0.entries.count } < 60)
            log = try EventLog(path: folder.path, options: .small(clock, indexLag: 10))
        }
        let ana = try #require(try log.find(.externalID("ana")))
        #expect(throws: StorageError.damaged(place: "the record at position 3 fails its checksum")) {
            try log.profile(of: ana.number)
        }
        #expect(try log.erase([.externalID("bo")], actor: "test", reason: "asked").events > 200)
        // The record's user cannot be told, so a version is missing as well.
        #expect(try log.check().problems.map(\.place) == ["log 3", "log 4"])
    }

    @Test("A log that refuses to have its caches rebuilt is not asked again after every commit", .hits(.cachesRemade))
    func refusedOnce() throws {
        let log = try folder.open(options: .small(clock, indexLag: 10))
        for _ in 0..<5 { _ = try log.append([played], to: .externalID("ana")) }
        try log.writeIndex()
        for _ in 0..<5 { _ = try log.append([played], to: .externalID("ana")) }
        let record = withNumberKey(3) { Array($0) }
        try log.damage(.log, record) { $0[$0.count - 5] ^= 1 }
        try log.damage(.streams, KeyCoding.stream(user: 1, version: 1)) { $0[$0.count - 1] ^= 1 }
        let indexed = try log.reader.extent().indexed
        for _ in 0..<20 { _ = try log.append([played], to: .externalID("ana")) }
        // If it were asked, it would not refuse any more.
        try log.damage(.log, record) { $0[$0.count - 5] ^= 1 }
        log.caches.writeIndexIfDue()
        #expect(try log.reader.extent().indexed == indexed)
        try log.rebuildCaches()
    }

    private func isDamage(_ answer: Result<AppendReceipt, AppendError>) -> Bool {
        if case .failure(.refused(.damaged)) = answer { true } else { false }
    }
}
