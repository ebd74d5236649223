import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds

@Suite("Voiding events")
struct VoidTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")

    private func set(_ name: Name, _ value: AttributeValue, _ log: EventLog) throws -> Position {
        clock.advance(1000)
        return try log.append([.customAttributesChanged([.init(name, .set(value))])], to: ana).last
    }

    private func value(_ name: Name, _ log: EventLog, at version: Version = Version(rawValue: .max)) throws
        -> AttributeValue?
    {
        let user = try #require(try log.find(ana))
        return log.customAttribute(name, of: try log.profile(of: user.number, asOf: version))
    }

    // MARK: - Against the written rule

    @Test(
        "At every version a state is what a fold of the events that are not voided gives",
        arguments: Thoroughness.seeds(short: 6, full: 72))
    func asOf(seed: UInt64) throws {
        let log = try folder.log(clock, indexLag: Int(seed % 3) * 9 + 3, snapshotInterval: Int(seed % 4) * 2)
        var story = VoidStory(log, clock, seed: seed, mayErase: seed % 3 == 0)
        for _ in 0..<90 { try story.step() }
        let oracle = VoidOracle(log: log)
        for user in try log.users(limit: 100) {
            for version in 0...user.version.rawValue {
                let version = Version(rawValue: version)
                let profile = ProfileProjection.encode(try log.profile(of: user.number, asOf: version))
                let expected = try oracle.state(ProfileProjection.self, of: user.number, at: version)
                #expect(
                    profile == ProfileProjection.encode(expected),
                    "seed \(seed), user \(user.number.rawValue), version \(version.rawValue)")
                let usage = try log.state(UsageProjection.self, of: user.number, asOf: version)
                #expect(try usage == oracle.state(UsageProjection.self, of: user.number, at: version))
            }
        }
        for threads in [1, 2] {
            let report = try log.replay(threads: threads, verify: true)
            #expect(report.isEqual, "seed \(seed): \(report.differences)")
        }
        try log.expectSound()
        try log.writeIndex()
        #expect(try log.replay(verify: true).isEqual)
        try log.rebuildCaches()
    }

    @Test("A replay that is stopped anywhere and goes on comes to the same end", arguments: UInt64(0)..<8)
    func resumed(seed: UInt64) throws {
        let log = try folder.log(clock)
        var story = VoidStory(log, clock, seed: seed)
        for _ in 0..<70 { try story.step() }
        let whole = Replayer<ProfileProjection>(log)
        try whole.run()
        let halted = Replayer<ProfileProjection>(log, threads: 2)
        try halted.run(to: Position(rawValue: seed * 11 % (try log.lastPosition().rawValue)))
        try halted.run()
        #expect(halted.digest() == whole.digest())
    }

    @Test("A void and its unvoid are inverses", arguments: UInt64(0)..<8)
    func inverse(seed: UInt64) throws {
        let log = try folder.log(clock)
        var story = VoidStory(log, clock, seed: seed)
        for _ in 0..<60 { try story.step() }
        for (position, isVoid) in story.facts.sorted(by: { $0.key < $1.key }) where !isVoid {
            let owner = try #require(try log.event(at: position)).user
            let user = try log.reader.users.canonicalUser(of: owner)
            let before = try log.profile(of: user)
            try log.void(position, actor: "a test", reason: "wrong")
            let receipt = try log.unvoid(position, actor: "a test", reason: "right")
            #expect(receipt.places.map(\.user) == [user])
            let after = try log.profile(of: user)
            #expect(log.named(after) == log.named(before), "seed \(seed), position \(position.rawValue)")
            #expect(after.sessions == before.sessions && after.flushes == before.flushes)
            #expect(after.firstSeen == before.firstSeen && after.lastSeen == before.lastSeen)
        }
    }

    // MARK: - What it means

    @Test("A state before the void shows what was believed then, one after it what is right", arguments: [0, 1, 4])
    func belief(snapshotInterval: Int) throws {
        let log = try folder.log(clock, indexLag: 1, snapshotInterval: snapshotInterval)
        _ = try set("plan", "free", log)
        let wrong = try set("plan", "gold", log)
        for level in 0..<20 { _ = try set("level", .int(Int64(level)), log) }
        let before = try #require(try log.find(ana)?.version)
        let void = try log.void(wrong, actor: "ops", reason: "a test").places[0].version
        #expect(try value("plan", log, at: before) == "gold")
        #expect(try value("plan", log, at: void) == "free")
        #expect(try value("plan", log) == "free" && value("level", log) == 19)
        for level in 20..<40 { _ = try set("level", .int(Int64(level)), log) }
        #expect(try value("plan", log) == "free" && value("plan", log, at: before) == "gold")
        try log.unvoid(wrong, actor: "ops", reason: "it was right")
        #expect(try value("plan", log) == "gold" && value("plan", log, at: void) == "free")
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("A void item that waits is flushed like others, and changes nothing")
    func pending() throws {
        let log = try folder.log(clock)
        let saved = ProfileEvent.customAttributesSaved([.init("plan", .set("gold"))])
        let item = try log.append([saved], to: ana, context: .saved(on: "phone")).last
        let other = try log.append(
            [.customAttributesSaved([.init("level", .set(1))])], to: ana, context: .saved(on: "phone")
        ).last
        try log.void(item, actor: "ops", reason: "a test")
        let user = try #require(try log.find(ana)).number
        #expect(try log.profile(of: user).pending.map(\.position) == [other.rawValue])
        #expect(try log.reader.devices.pending(on: "phone").map(\.position) == [item, other])
        _ = try log.launch(device: "phone")
        guard case .flushed = try log.reader.items.outcome(of: item) else {
            Issue.record("the item was not flushed")
            return
        }
        #expect(try value("plan", log) == nil && value("level", log) == 1)
        try log.unvoid(item, actor: "ops", reason: "it was right")
        #expect(try value("plan", log) == "gold")
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("The void of an event of a merged user is one of the user who took it over")
    func merged() throws {
        let log = try folder.log(clock, indexLag: 1, snapshotInterval: 2)
        let bo = UserID.externalID("bo")
        let event = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: bo).last
        _ = try set("level", 1, log)
        let own = try #require(try log.find(bo)).number
        _ = try log.commit(.identity(.merge(source: bo, target: ana), context: .test))
        for level in 0..<10 { _ = try set("level", .int(Int64(level)), log) }
        let user = try #require(try log.find(ana)).number
        #expect(try log.profile(of: user).events.count == 1)
        #expect(try log.void(event, actor: "ops", reason: "a test").places.map(\.user) == [user])
        #expect(try log.profile(of: user).events.isEmpty)
        // What the merged user was does not change.
        #expect(try log.profile(of: own).events.count == 1)
        #expect(try log.replay(threads: 2, verify: true).isEqual)
    }

    @Test("An erasure takes voids with it")
    func erased() throws {
        let log = try folder.log(clock)
        let position = try set("plan", "gold", log)
        try log.void(position, actor: "canary-actor", reason: "canary-reason")
        _ = try log.erase([ana], actor: "ops", reason: "asked to")
        #expect(throws: (any Error).self) { try log.unvoid(position, actor: "ops", reason: "a test") }
        let user = UserNumber(rawValue: 1)
        #expect(try log.history(of: user).dropLast().allSatisfy(\.isErased))
        #expect(try log.profile(of: user).fields.fields.isEmpty)
        #expect(try log.replay(verify: true).isEqual)
    }

    // MARK: - Refusals and retries

    @Test("What cannot be void is refused, with the reason, and nothing is stored")
    func refused() throws {
        let log = try folder.log(clock)
        let position = try set("plan", "gold", log)
        _ = try log.append([.customEventSaved(CustomEvent(name: "e"))], to: ana, context: .saved(on: "phone"))
        _ = try log.launch(device: "phone")
        let kinds: [EventKind] = [.userCreated, .appLaunched, .pendingFlushed, .sessionStarted]
        let last = try log.lastPosition()
        for event in try log.history(of: UserNumber(rawValue: 1)) where kinds.contains(event.event.kind) {
            let error = #expect(throws: AppendError.self) {
                try log.void(event.position, actor: "ops", reason: "a test")
            }
            #expect(error?.description.contains("only what was saved or logged can be void") == true)
        }
        for beyond in [0, last.rawValue + 1, .max] {
            let error = #expect(throws: AppendError.self) {
                try log.void(Position(rawValue: beyond), actor: "ops", reason: "a test")
            }
            #expect(error?.description.contains("the log ends at position \(last.rawValue)") == true)
        }
        #expect(throws: AppendError.self) { try log.unvoid(position, actor: "ops", reason: "a test") }
        #expect(throws: AppendError.self) { try log.void(position, actor: "", reason: "a test") }
        #expect(throws: AppendError.self) { try log.void(position, actor: "ops", reason: "") }
        #expect(try log.lastPosition() == last)
        let void = try log.void(position, actor: "ops", reason: "a test").last
        let twice = #expect(throws: AppendError.self) { try log.void(position, actor: "ops", reason: "a test") }
        #expect(twice?.description.contains("is void already, since position \(void.rawValue)") == true)
        #expect(throws: AppendError.self) { try log.void(void, actor: "ops", reason: "a test") }
        #expect(try log.lastPosition() == void)
    }

    @Test("A void sent again under its key changes nothing, also after an erasure")
    func retried() throws {
        let log = try folder.log(clock)
        let position = try set("plan", "gold", log)
        let first = try log.void(position, actor: "ops", reason: "a test", idempotencyKey: "k")
        let again = try log.void(position, actor: "ops", reason: "a test", idempotencyKey: "k")
        #expect(again.isRepetition && again.places == first.places && again.first == first.first)
        #expect(throws: AppendError.keyReused(position: first.first)) {
            try log.unvoid(position, actor: "ops", reason: "a test", idempotencyKey: "k")
        }
        _ = try log.erase([ana], actor: "ops", reason: "asked to")
        #expect(try log.void(position, actor: "ops", reason: "a test", idempotencyKey: "k").isRepetition)
    }

    @Test("Several voids of one commit see each other")
    func together() throws {
        let log = try folder.log(clock)
        let position = try set("plan", "gold", log)
        let request = VoidRequest(position, isVoid: true, actor: "ops", reason: "a test")
        var back = request
        back.isVoid = false
        let appends = try [request, request, back, back, request].map { try PreparedAppend.void($0, context: .test) }
        let stored = log.commit(appends).map { (try? $0.get()) != nil }
        #expect(stored == [true, false, true, false, true])
        #expect(try value("plan", log) == nil)
    }
}
