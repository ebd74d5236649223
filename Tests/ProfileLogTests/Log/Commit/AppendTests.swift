import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog
@testable import ProfileLogRecords

@Suite("Appending")
struct AppendTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock))
    }

    private let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))

    @Test("Versions count a user's events, positions all events")
    func places() throws {
        let log = try open()
        let first = try log.append([played, played], to: .externalID("ana"))
        let second = try log.append([played], to: .externalID("bo"))
        #expect(first.first.rawValue == 1 && first.last.rawValue == 3)
        #expect(second.places.map(\.version.rawValue) == [1, 2])
        #expect(second.last.rawValue == 5)
    }

    @Test("Many properties are in the order of their names' numbers, whatever order they come in")
    func manyProperties() throws {
        let log = try open()
        let names = (10..<70).map { "p\($0)" }
        for name in names.reversed() {
            _ = try log.append(
                [.customEventLogged(CustomEvent(name: "played", properties: [.init(Name(name), 0)]))],
                to: .externalID("ana"))
        }
        let properties = names.enumerated().map { AttributeValue.Member(Name($1), .int(Int64($0))) }
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "played", properties: properties))
        let place = try #require(try log.append([event], to: .externalID("ana")).places.first)
        #expect(try log.history(of: place.user, from: place.version).map(\.event) == [event])
        let record = try #require(try log.rows(.log).values.max { $0.count < $1.count })
        try record.withUnsafeBytes { record in
            let header = try #require(RecordHeader(record))
            let body = try #require(RecordBody(header.body))
            let numbers = body.entries.compactMap { ValueCodec.read($0)?.name }
            #expect(numbers.count == 60 && numbers == numbers.sorted())
        }
    }

    @Test("Half of an append asks for the users of its own events alone", arguments: [false, true])
    func split(isFirst: Bool) throws {
        let log = try open()
        let users = [UserID.assignedID("nobody"), .externalID("ana")]
        var builder = log.prepare()
        for user in isFirst ? users.reversed() : users { try builder.add(played, .test, to: user) }
        let halves = try builder.finish(idempotencyKey: "key").split(at: 1, restKey: "rest")
        let (good, bad) = isFirst ? halves : (halves.rest, halves.beginning)
        #expect(try log.commit(good).places.count == 2)
        #expect(throws: AppendError.unknownUser(users[0])) { try log.commit(bad) }
        #expect(try log.find(users[1])?.version.rawValue == 2)
    }

    @Test(
        "An expected version that is not the user's refuses the append and nothing else of its group",
        .hits(.versionConflict))
    func expectedVersion() throws {
        let log = try open()
        var builders: [PreparedAppend] = []
        for expected in [ExpectedVersion.noUser, .noUser, .exactly(Version(rawValue: 2)), .any] {
            var builder = log.prepare()
            try builder.add(played, .test, to: .externalID("ana"))
            builder.expect(.externalID("ana"), at: expected)
            builders.append(try builder.finish())
        }
        let answers = log.commit(builders)
        #expect(
            answers[1]
                == .failure(
                    .versionConflict(user: .externalID("ana"), expected: .noUser, actual: Version(rawValue: 2))))
        #expect(try answers[2].get().last.rawValue == 3)
        #expect(try answers[3].get().last.rawValue == 4)
    }

    @Test("Appends in order end at the first that is refused, others go on", .hits(.endedAtRefusal))
    func endsAtRefusal() throws {
        let log = try open()
        for (first, last, endsAtRefusal) in [("a", "b", true), ("c", "d", false)] {
            let appends = try [.externalID(first), UserID.assignedID("nobody"), .externalID(last)].map { user in
                var builder = log.prepare()
                try builder.add(played, .test, to: user)
                return try builder.finish()
            }
            let answers = log.commit(appends, endsAtRefusal: endsAtRefusal)
            #expect(answers.count == (endsAtRefusal ? 2 : 3))
            #expect(try log.find(.externalID(first)) != nil)
            #expect(try (log.find(.externalID(last)) == nil) == endsAtRefusal)
        }
    }

    @Test("An append over several users is stored whole, or not at all")
    func atomic() throws {
        let log = try open()
        _ = try log.append([played], to: .externalID("ana"))
        var builder = log.prepare()
        try builder.add(played, .test, to: .externalID("new"))
        try builder.add(played, .test, to: .externalID("ana"))
        builder.expect(.externalID("ana"), at: .exactly(Version(rawValue: 9)))
        let append = try builder.finish()
        #expect(throws: AppendError.self) { try log.commit(append) }
        #expect(try log.lastPosition().rawValue == 2)
        #expect(try log.find(.externalID("new")) == nil)
    }

    @Test(
        "A key is remembered after a reopening, with users that its append made, and its note",
        .hits(.repetition, .repetitionSynced))
    func keys() throws {
        var log = try open()
        func send() throws -> AppendReceipt {
            var builder = log.prepare()
            try builder.add(played, .test, to: .externalID("ana"))
            try builder.add(played, .test, to: .externalID("bo"))
            return try log.commit(builder.finish(idempotencyKey: "k", note: [7]))
        }
        let first = try send()
        try log.writeIndex()
        log = try open()
        let again = try send()
        #expect(again.isRepetition && again.places == first.places && again.note == [7])
        #expect(first.places.count == 4)
    }

    @Test(
        "What must never be in a log is refused with its place",
        arguments: [
            ProfileEvent.customEventLogged(CustomEvent(name: "")),
            .customEventLogged(CustomEvent(name: Name(String(repeating: "é", count: 256)))),
            .customEventLogged(CustomEvent(name: "a", properties: [.init("p", .double(.nan))])),
            .customEventLogged(CustomEvent(name: "a", properties: [.init("p", .int(1)), .init("p", .int(2))])),
            .customEventLogged(CustomEvent(name: "a", properties: [.init("p", .array([.double(.infinity)]))])),
            .customEventLogged(
                CustomEvent(name: "a", properties: [.init("p", .string(String(repeating: "x", count: 2 << 20)))])),
            .customAttributesChanged([]),
            .userAttributesChanged([UserAttributeChange(.gender, .string("x"))]),
            .purchaseLogged(Purchase(product: "p", currency: "eur", price: 1)),
            .purchaseLogged(Purchase(product: "p", currency: "EUR", price: 1, quantity: 0)),
            .customEventSaved(CustomEvent(name: "a")),
        ])
    func invalid(event: ProfileEvent) throws {
        let log = try open()
        #expect {
            try log.append([event], to: .externalID("ana"))
        } throws: { error in
            if case AppendError.invalid = error { true } else { false }
        }
        #expect(try log.lastPosition() == .start)
    }

    @Test("After a commit with the clock ten years ahead, writing goes on at that time, and the jump is reported")
    func clockAhead() throws {
        let log = try open()
        let right = clock.now
        let tenYears: Int64 = 315_576_000_000_000
        _ = try log.append([played], to: .externalID("ana"))
        #expect(try log.reader.clockJump() == nil)
        clock.advance(tenYears)
        _ = try log.append([played], to: .externalID("ana"))
        #expect(try log.reader.clockJump() == nil)
        clock.advance(-tenYears)
        for _ in 0..<3 { _ = try log.append([played], to: .externalID("ana")) }
        let ahead = Timestamp(rawValue: right.rawValue + tenYears)
        let times = try log.events(from: Position(rawValue: 1), limit: 10).events.map(\.recordedAt)
        #expect(times == [right, right, ahead, ahead, ahead, ahead])
        let jump = ClockJump(position: Position(rawValue: 3), recordedAt: ahead, seconds: tenYears / 1_000_000)
        #expect(try log.reader.clockJump() == jump)
    }

    @Test("A copy can give the time of now to what a clock that was ahead recorded: all else stays")
    func mendedClock() throws {
        let log = try open()
        let tenYears: Int64 = 315_576_000_000_000
        _ = try log.append([played], to: .externalID("ana"), idempotencyKey: "first")
        clock.advance(tenYears)
        _ = try log.append([played], to: .externalID("ana"))
        clock.advance(3_600_000_000 - tenYears)
        _ = try log.append([played], to: .externalID("ana"), idempotencyKey: "last")
        let folder = TemporaryFolder()
        let report = try log.replay(into: folder.path, latest: clock.now)
        #expect(report.isComplete && report.isEqual)
        let copy = try EventLog(path: folder.path, options: .small(clock))
        #expect(try copy.reader.clockJump() == nil)
        let all = { (log: EventLog) in try log.events(from: Position(rawValue: 1), limit: 10).events }
        let (before, after) = (try all(log), try all(copy))
        #expect(after.count == before.count && after.map(\.event) == before.map(\.event))
        #expect(after.map(\.recordedAt) == before.map { min($0.recordedAt, clock.now) })
        #expect(try copy.append([played], to: .externalID("ana"), idempotencyKey: "last").isRepetition)
    }

    @Test("A save beyond the bound of a device is refused; a discard makes room")
    func pendingBound() throws {
        var options = LogOptions.small(clock)
        options.pendingItemsPerDevice = 2
        let log = try folder.open(options: options)
        let saved = ProfileEvent.customEventSaved(CustomEvent(name: "played"))
        for _ in 0..<2 { _ = try log.append([saved], to: .device("d"), context: .saved(on: "d")) }
        #expect(throws: AppendError.pendingFull(limit: 2)) {
            try log.append([saved], to: .device("d"), context: .saved(on: "d"))
        }
        _ = try log.commit(.discard(device: "d", .all, actor: "test", reason: "full", context: .test))
        _ = try log.append([saved], to: .device("d"), context: .saved(on: "d"))
    }

    @Test("NFC and NFD are two users, two names, two attributes")
    func bytes() throws {
        let log = try open()
        _ = try log.append([played], to: .externalID("\u{E9}"))
        _ = try log.append([played], to: .externalID("e\u{301}"))
        #expect(try log.userCount() == 2)
    }
}
