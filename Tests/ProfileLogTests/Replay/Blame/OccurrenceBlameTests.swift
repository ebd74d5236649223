import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogReplay

@Suite("Which events raised a count")
struct OccurrenceBlameTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")
    private let played = OccurrenceBlame.Subject.event("played")

    private func open(indexLag: Int = 7, snapshotInterval: Int = 4) throws -> EventLog {
        var options = LogOptions.small(clock, indexLag: indexLag)
        options.snapshotInterval = snapshotInterval
        return try folder.open(options: options)
    }

    private func append(_ event: ProfileEvent, to user: UserID? = nil, _ log: EventLog) throws -> Position {
        clock.advance(1000)
        return try log.append([event], to: user ?? ana).last
    }

    private func blame(
        _ subject: OccurrenceBlame.Subject?, _ log: EventLog, withLog: Bool = false
    ) throws -> [OccurrenceBlame] {
        let user = try #require(try log.find(ana)).number
        let found = try log.reader.blameWithCounts(of: user, field: subject?.text, withLog: withLog).counts
        try CountingWalk.expectEqual(user, "a told story", log)
        return found
    }

    // MARK: - Against a walk over the events

    @Test(
        "Counts, times and writers are those of a plain walk over the events",
        arguments: Thoroughness.seeds(short: 6, full: 96))
    func oracle(seed: UInt64) throws {
        let log = try open(indexLag: Int(seed % 3) * 9 + 3, snapshotInterval: Int(seed % 4) * 2)
        var story = VoidStory(log, clock, seed: seed, mayErase: seed % 2 == 0)
        for _ in 0..<160 { try story.step() }
        for user in try log.users(limit: 100) where !user.isErased {
            try CountingWalk.expectEqual(user.number, "seed \(seed), user \(user.number.rawValue)", log)
        }
    }

    // MARK: - What it says

    @Test("A saved event names its device, its process, the flush and the launch")
    func saved() throws {
        let log = try open()
        let first = try append(.customEventLogged(CustomEvent(name: "played")), log)
        let saved = try log.append(
            [.customEventSaved(CustomEvent(name: "played"))], to: ana, context: .saved(on: "phone")
        ).last
        #expect(try blame(played, log).map(\.count) == [1])
        _ = try log.launch(device: "phone")
        _ = try append(.customEventLogged(CustomEvent(name: "paused")), log)
        let entry = try #require(try blame(played, log, withLog: true).first)
        #expect(entry.count == 2 && entry.log.map(\.event.position) == [first, saved])
        #expect(entry.log.map(\.value) == [1, 2])
        #expect(entry.write.event.position == saved && entry.write.event.context.device == "phone")
        #expect(entry.write.event.context.process == "push")
        #expect(try entry.write.effect.flatMap { try log.event(at: $0) }?.event.kind == .pendingFlushed)
        #expect(try entry.write.launch.flatMap { try log.event(at: $0) }?.event.kind == .appLaunched)
        #expect(try blame(nil, log).map(\.subject) == [.event("paused"), played])
        let field = try log.blame(.customEvent("played"), of: ana)
        #expect(field.map(\.field) == ["event:played"] && field.first?.value == 2)
        #expect(field.first?.write == entry.write)
        _ = try append(.customAttributesChanged([.init("event:played", .set("a"))]), log)
        #expect(try log.blame(.customAttribute("event:played"), of: ana).first?.value == "a")
        #expect(try log.blame(.customEvent("played"), of: ana).first?.value == 2)
    }

    @Test("A product counts how many were bought")
    func product() throws {
        let log = try open()
        _ = try append(.purchaseLogged(Purchase(product: "shoes", currency: "EUR", price: 5, quantity: 3)), log)
        let last = try append(.purchaseLogged(Purchase(product: "shoes", currency: "USD", price: 5)), log)
        let entry = try #require(try blame(.product("shoes"), log, withLog: true).first)
        #expect(entry.count == 4 && entry.log.map(\.value) == [3, 4] && entry.write.event.position == last)
        #expect(try blame(.event("shoes"), log).isEmpty && blame(.product("boots"), log).isEmpty)
    }

    @Test("What the SDK kept while it was offline took effect when it was sent")
    func queued() throws {
        let log = try open()
        var settings = SettingsChange()
        settings.isOnline = false
        _ = try log.change(settings, of: "phone")
        let context = EventContext(source: .app, device: "phone")
        let queued = try log.append(
            [.customEventLogged(CustomEvent(name: "played"))], to: ana, context: context, idempotencyKey: "k1"
        ).last
        let user = try #require(try log.find(ana)).number
        #expect(try log.reader.blameWithCounts(of: user, withLog: true).counts.isEmpty)
        settings.isOnline = true
        _ = try log.change(settings, of: "phone")
        let entry = try #require(try log.reader.blameWithCounts(of: user).counts.first)
        #expect(entry.count == 1 && entry.write.event.position == queued && entry.write.request == "k1")
        #expect(try entry.write.effect.flatMap { try log.event(at: $0) }?.event.kind == .dataSent)
        #expect(
            try log.reader.blameWithCounts(of: user, withLog: true).counts.first?.log.map(\.effect) == [
                entry.write.effect
            ])
    }

    @Test("Void events count nowhere, and are in the log at their place")
    func voided() throws {
        let log = try open()
        let positions = try (0..<3).map { _ in try append(.customEventLogged(CustomEvent(name: "played")), log) }
        let void = try log.void(positions[2], actor: "ops", reason: "a test").last
        let entry = try #require(try blame(played, log, withLog: true).first)
        #expect(entry.count == 2 && entry.write.event.position == positions[1])
        #expect(entry.log.map(\.event.position) == positions && entry.log.map(\.void) == [nil, nil, void])
        for position in positions[..<2] { _ = try log.void(position, actor: "ops", reason: "a test") }
        #expect(try blame(played, log).isEmpty)
        let none = try #require(try blame(played, log, withLog: true).first)
        #expect(none.count == 0 && none.first == nil && none.log.count == 3)
    }

    @Test("What a merge brought names the user whose event it was, and the merge")
    func merged() throws {
        let log = try open()
        let (bo, cleo) = (UserID.externalID("bo"), UserID.externalID("cleo"))
        let own = try append(.customEventLogged(CustomEvent(name: "played")), log)
        _ = try append(.customEventLogged(CustomEvent(name: "seen")), to: bo, log)
        let theirs = try append(.customEventLogged(CustomEvent(name: "played")), to: cleo, log)
        let source = try #require(try log.find(cleo)).number
        _ = try log.commit(.identity(.merge(source: cleo, target: bo), context: .test))
        let merge = try log.commit(.identity(.merge(source: bo, target: ana), context: .test)).last
        let entry = try #require(try blame(played, log, withLog: true).first)
        #expect(entry.count == 2 && entry.log.map(\.event.position) == [own, theirs])
        #expect(entry.write.event.user == source && entry.write.merge == merge)
        #expect(entry.log.map(\.merge) == [nil, merge])
    }

    @Test("An event that the rules block is not counted")
    func blocked() throws {
        let log = try open()
        let first = try append(.customEventLogged(CustomEvent(name: "played")), log)
        var rules = FoldRules()
        rules.blockedEvents = ["played"]
        _ = try log.setRules(rules)
        _ = try append(.customEventLogged(CustomEvent(name: "played")), log)
        let entry = try #require(try blame(played, log, withLog: true).first)
        #expect(entry.count == 1 && entry.write.event.position == first && entry.log.count == 1)
    }

    @Test("As of a version, later events count for neither counts nor attributes", arguments: [false, true])
    func past(withLog: Bool) throws {
        let log = try open()
        func step(_ level: Int64) throws {
            _ = try append(.customEventLogged(CustomEvent(name: "played")), log)
            _ = try append(.customAttributesChanged([AttributeChange("level", .set(.int(level)))]), log)
        }
        try step(1)
        let user = try #require(try log.find(ana))
        let (attributes, counts) = try log.reader.blameWithCounts(of: user.number, withLog: withLog)
        for level in 2...9 { try step(Int64(level)) }
        _ = try log.void(counts[0].write.event.position, actor: "a test", reason: "wrong")
        let past = try log.reader.blameWithCounts(of: user.number, asOf: user.version, withLog: withLog)
        #expect(past.attributes == attributes && past.counts == counts)
        #expect(try log.reader.blameWithCounts(of: user.number, withLog: withLog).counts.first?.count == 8)
    }

    @Test("Events and products are named with a word before the colon")
    func names() {
        #expect(OccurrenceBlame.Subject("event:a:b c") == .event("a:b c"))
        #expect(OccurrenceBlame.Subject("product:shoes") == .product("shoes"))
        for wrong in ["event:", "event", "Event:a", "products:a", ":a", ""] {
            #expect(OccurrenceBlame.Subject(wrong) == nil, "\(wrong)")
        }
        #expect(played.text == "event:played")
    }
}

/// Counts by a walk over the recorded events of a user and of all who were merged into them.
private struct CountingWalk {
    struct Tally: Equatable {
        var count: UInt64 = 0
        var first: Timestamp?
        var last: Timestamp?
        var position = Position.start
        var log: [Entry] = []
    }

    struct Entry: Equatable {
        var position: Position
        var effect: Position?
        var launch: Position?
        var merge: Position?
        var void: Position?
        var count: UInt64
    }

    var tallies: [OccurrenceBlame.Subject: Tally] = [:]
    private let log: EventLog
    private let voided: VoidedEvents
    private let rules: RulesTimeline?

    static func expectEqual(_ user: UserNumber, _ place: String, _ log: EventLog) throws {
        let walk = try CountingWalk(log, user)
        let found = try log.reader.blameWithCounts(of: user, withLog: true).counts
        #expect(Set(found.map(\.subject)) == Set(walk.tallies.keys), "\(place)")
        for blame in found {
            let tally = Tally(
                count: blame.count, first: blame.first, last: blame.last,
                position: blame.count == 0 ? .start : blame.write.event.position, log: blame.log.map(Entry.init))
            #expect(tally == walk.tallies[blame.subject], "\(place), \(blame.subject.text)")
            #expect(
                try log.reader.blameWithCounts(of: user, field: blame.subject.text, withLog: true).counts == [blame],
                "\(place)")
        }
        // Without the log the answer comes from the profile, and is the same.
        let short = try log.reader.blameWithCounts(of: user).counts
        let counted = found.filter { $0.count > 0 }.map { blame in
            var blame = blame
            blame.log = []
            blame.logPlace = nil
            return blame
        }
        #expect(short == counted, "\(place)")
    }

    private init(_ log: EventLog, _ user: UserNumber) throws {
        self.log = log
        voided = try log.reader.events.voided(of: user)
        rules = try log.withView { try log.states.rules($0) }
        let version = try #require(try log.reader.users.find(user)).version
        for (subject, last) in try lastCounted(user, version) { tallies[subject, default: Tally()].position = last }
        try count(try everything(of: user, to: version).sorted { $0.event.position < $1.event.position })
    }

    private func everything(
        of user: UserNumber, to version: Version, _ merge: Position? = nil
    ) throws -> [(event: RecordedEvent, merge: Position?)] {
        try log.history(of: user, to: version).flatMap { event in
            guard case .usersMerged(let merged) = event.event else { return [(event, merge)] }
            return try [(event, merge)]
                + everything(of: merged.source, to: merged.version, merge ?? event.position)
        }
    }

    private static func counted(_ event: ProfileEvent) -> (subject: OccurrenceBlame.Subject, quantity: UInt64)? {
        switch event {
        case .customEventLogged(let event), .customEventSaved(let event): (.event(event.name), 1)
        case .purchaseLogged(let purchase): (.product(purchase.product), UInt64(purchase.quantity))
        default: nil
        }
    }

    private func isBlocked(_ event: ProfileEvent, at effect: Position) -> Bool {
        guard case .event(let name)? = Self.counted(event)?.subject else { return false }
        return rules?.rules(at: effect.rawValue).rules.blockedEvents.contains(name) == true
    }

    private mutating func count(_ events: [(event: RecordedEvent, merge: Position?)]) throws {
        var waiting: [Position: (event: RecordedEvent, merge: Position?)] = [:]
        for (event, merge) in events {
            if case .pendingFlushed(let flush) = event.event {
                for rejected in flush.rejected { waiting[rejected.position] = nil }
                for position in flush.flushed {
                    guard let item = waiting.removeValue(forKey: position) else { continue }
                    add(item.event, item.merge, effect: event.position, launch: flush.launch)
                }
            } else if case .pendingDiscarded(let discard) = event.event {
                for position in discard.positions { waiting[position] = nil }
            } else if let void = voided.void(of: event.position.rawValue) {
                guard let (subject, _) = Self.counted(event.event) else { continue }
                let count = tallies[subject]?.count ?? 0
                tallies[subject, default: Tally()].log.append(
                    Entry(
                        position: event.position, merge: merge, void: Position(rawValue: void), count: count))
            } else if event.event.kind.isSaved {
                waiting[event.position] = (event, merge)
            } else {
                add(event, merge, effect: event.position, launch: nil)
            }
        }
    }

    private mutating func add(_ event: RecordedEvent, _ merge: Position?, effect: Position, launch: Position?) {
        guard let (subject, quantity) = Self.counted(event.event), !isBlocked(event.event, at: effect) else { return }
        var tally = tallies[subject] ?? Tally()
        let at = event.occurredAt.timestamp
        tally.count += quantity
        tally.first = tally.first.map { min($0, at) } ?? at
        tally.last = tally.last.map { max($0, at) } ?? at
        tally.log.append(
            Entry(position: event.position, effect: effect, launch: launch, merge: merge, count: tally.count))
        tallies[subject] = tally
    }

    /// The event that was counted last: in a user's own order; of two who were merged the later one.
    private func lastCounted(
        _ user: UserNumber, _ version: Version
    ) throws -> [OccurrenceBlame.Subject: Position] {
        var last: [OccurrenceBlame.Subject: Position] = [:]
        var waiting: [Position: RecordedEvent] = [:]
        try lastCounted(user, version, &last, &waiting)
        return last
    }

    private func lastCounted(
        _ user: UserNumber, _ version: Version, _ last: inout [OccurrenceBlame.Subject: Position],
        _ waiting: inout [Position: RecordedEvent]
    ) throws {
        for event in try log.history(of: user, to: version) where !voided.contains(event.position.rawValue) {
            switch event.event {
            case .usersMerged(let merge):
                var theirs: [OccurrenceBlame.Subject: Position] = [:]
                try lastCounted(merge.source, merge.version, &theirs, &waiting)
                last.merge(theirs) { max($0, $1) }
            case .pendingFlushed(let flush):
                for position in flush.flushed {
                    guard let item = waiting.removeValue(forKey: position),
                        let (subject, _) = Self.counted(item.event), !isBlocked(item.event, at: event.position)
                    else { continue }
                    last[subject] = item.position
                }
            case let content where content.kind.isSaved: waiting[event.position] = event
            case let content:
                guard let (subject, _) = Self.counted(content), !isBlocked(content, at: event.position) else {
                    continue
                }
                last[subject] = event.position
            }
        }
    }
}

extension CountingWalk.Entry {
    fileprivate init(_ write: FieldWrite) {
        guard case .int(let count)? = write.value else { preconditionFailure("An occurrence has the count after it.") }
        self.init(
            position: write.event.position, effect: write.effect, launch: write.launch, merge: write.merge,
            void: write.void, count: UInt64(count))
    }
}
