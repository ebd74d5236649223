import ProfileLog
import TestSupport
import Testing

@Suite("Asking the past")
struct PastTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    /// A store with logs, saves, launches, merges and erasures, in the order of `seed`.
    private func filled(_ seed: UInt64, steps: Int = 150) throws -> EventLog {
        var random = SeededGenerator(seed: seed)
        func number(_ bound: UInt64) -> Int { Int(random.next() % bound) }
        let log = try folder.open(options: .small(clock))
        for _ in 0..<steps {
            clock.advance(Int64(number(3) * 1_000_000))
            let user = UserID.externalID("u\(number(6))")
            let at = OccurredAt(Timestamp(rawValue: clock.now.rawValue - Int64(number(200) * 1_000_000)))
            let change = AttributeChange(
                Name("a\(number(4))"), [.set(.int(Int64(number(9)))), .increment(1), .unset][number(3)])
            let event = CustomEvent(name: Name("e\(number(3))"))
            switch number(20) {
            case 0..<4:
                _ = try log.append(
                    [.customAttributesChanged([change])], to: user, context: EventContext(source: .app, occurredAt: at))
            case 4..<7:
                _ = try log.append(
                    [.customEventLogged(event)], to: user, context: EventContext(source: .rest, occurredAt: at))
            case 7..<13:
                let saved: [ProfileEvent] = [.customAttributesSaved([change]), .customEventSaved(event)]
                let context = EventContext.saved(on: "d\(number(2))", at: at.timestamp.rawValue)
                _ = try log.append([saved[number(2)]], to: user, context: context)
            case 13..<16: _ = try log.launch(device: "d\(number(2))")
            case 16:
                let other = UserID.externalID("u\(number(6))")
                let users = try (log.find(user)?.number, log.find(other)?.number)
                guard let source = users.0, let target = users.1, source != target else { continue }
                _ = try log.commit(.identity(.merge(source: user, target: other), context: .test))
            case 17: if number(6) == 0 { _ = try log.erase([user], actor: "a test", reason: "asked to") }
            case 18: try log.writeIndex()
            default: _ = try log.commit(.discard(device: "d0", .all, actor: "test", reason: "test", context: .test))
            }
        }
        return log
    }

    private func users(_ log: EventLog) throws -> [UserInfo] {
        try log.users(limit: .max).filter { !$0.isErased }
    }

    @Test(
        "As of every version, the profile is a fold of the events up to it",
        arguments: Thoroughness.seeds(short: 6, full: 200))
    func versions(seed: UInt64) throws {
        let log = try filled(seed)
        for user in try users(log) {
            let events = try log.history(of: user.number)
            for event in events {
                let state = try log.profile(of: user.number, asOf: .version(event.version))
                let expected = try PastModel(recorded: events.filter { $0.version <= event.version }) {
                    try log.history(of: $0, to: $1)
                }
                #expect(PastModel(log.named(state)) == expected, "user \(user.number) at \(event.version)")
                // The position right before another event of the user gives the same.
                let next = events.first { $0.version > event.version }?.position.rawValue
                let last = try Position(rawValue: next.map { $0 - 1 } ?? log.lastPosition().rawValue)
                for position in [event.position, last] {
                    #expect(try log.profile(of: user.number, asOf: .position(position)).version == event.version)
                }
            }
        }
    }

    @Test(
        "In the order of occurrence, a profile is a fold of the sorted events",
        arguments: Thoroughness.seeds(short: 6, full: 200))
    func occurred(seed: UInt64) throws {
        let log = try filled(seed)
        let last = clock.now.rawValue
        for user in try users(log) {
            for until in [Int64.max] + stride(from: last - 300_000_000, through: last, by: 30_000_000) {
                let (moment, end): (Moment, _) =
                    until == .max ? (.now, .max) : (.time(Timestamp(rawValue: until)), until)
                try compare(user, log, moment, until: end, recorded: .max)
            }
            for version in stride(from: 1, through: user.version.rawValue, by: 7) {
                try compare(user, log, .version(Version(rawValue: version)), until: .max, recorded: version)
            }
        }
    }

    private func compare(
        _ user: UserInfo, _ log: EventLog, _ moment: Moment, until end: Int64, recorded: UInt64
    ) throws {
        let events = try log.history(of: user.number, to: Version(rawValue: recorded))
        func history(_ user: UserNumber, _ version: Version) throws -> [RecordedEvent] {
            try log.history(of: user, to: version)
        }
        /// Returns the items that took effect, as far as these events and those of merged users tell.
        func flushed(_ events: [RecordedEvent]) throws -> Set<Position> {
            try events.reduce(into: []) { positions, event in
                if case .pendingFlushed(let flush) = event.event { positions.formUnion(flush.flushed) }
                if case .usersMerged(let merge) = event.event {
                    positions.formUnion(try flushed(history(merge.source, merge.version)))
                }
            }
        }
        let expected = try PastModel(
            occurred: events, until: Timestamp(rawValue: end), effective: flushed(events), history: history)
        do {
            let state = try log.profile(of: user.number, asOf: moment, order: .occurred)
            #expect(PastModel(log.named(state)) == expected, "user \(user.number) at \(moment)")
        } catch MomentError.beforeUser {
            #expect(events.allSatisfy { $0.occurredAt.timestamp.rawValue > end })
        }
    }

    @Test(
        "As of a position, users, devices and profiles are those of a copy that ends there",
        arguments: Thoroughness.seeds(short: 4, full: 100))
    func copies(seed: UInt64) throws {
        let log = try filled(seed)
        let last = try log.lastPosition().rawValue
        for position in [1, last / 3, last * 2 / 3, last].map(Position.init(rawValue:)) {
            let target = TemporaryFolder()
            _ = try log.replay(into: target.path, until: position)
            let copy = try EventLog(path: target.path, options: .small(clock))
            let erased = Set(try log.users(limit: .max).filter(\.isErased).map(\.number))
            let then = try log.reader.past.users(
                after: UserNumber(rawValue: 0), limit: .max, in: PastHistory(to: position))
            #expect(then.total == (try copy.userCount()))
            for (user, expected) in zip(then.users, try copy.users(limit: .max)) where !erased.contains(expected.number)
            {
                #expect(user.info == expected, "at \(position)")
                #expect(user.canonical == (try copy.reader.users.canonicalUser(of: expected.number)))
                let state = try log.profile(of: expected.number, asOf: .position(position))
                #expect(
                    try ProfileProjection.encode(state) == ProfileProjection.encode(copy.profile(of: expected.number)))
            }
            let devices = try log.reader.deviceStates(in: PastHistory(to: position))
            for device in Set(devices.keys).union(try copy.reader.devices.all()) {
                #expect(
                    try devices[device] ?? DeviceState() == copy.reader.devices.state(of: device.text),
                    "\(device) at \(position)")
                #expect(
                    try log.reader.deviceState(of: device, in: PastHistory(to: position)) == devices[device],
                    "\(device) alone at \(position)")
            }
        }
    }

    @Test(
        "A difference has what two naive folds differ in, of all users too",
        arguments: Thoroughness.seeds(short: 4, full: 100))
    func differences(seed: UInt64) throws {
        let log = try filled(seed)
        var random = SeededGenerator(seed: seed)
        let last = try log.lastPosition().rawValue
        let ends = [random.next() % last + 1, random.next() % last + 1].sorted()
        let (from, to) = (Position(rawValue: ends[0]), Position(rawValue: ends[1]))
        var changed: [UserNumber: [FieldChange]] = [:]
        try log.reader.past.forEachChangedUser(
            after: UserNumber(rawValue: 0), from: PastHistory(to: from), to: PastHistory(to: to)
        ) { user, before, after in
            #expect((before == nil) == (user.created > from))
            changed[user.number] = log.reader.changes(from: before, to: after)
            return true
        }
        for user in try users(log)
        where try log.reader.users.canonicalUser(of: user.number) == user.number && user.created <= to {
            let models = try [from, to].map { position in
                let events = try log.history(of: user.number).filter { $0.position <= position }
                return try PastModel(recorded: events) { try log.history(of: $0, to: $1) }
            }
            let changes = changed[user.number] ?? []
            var (values, counts) = (models[0].values, models[0].events)
            for change in changes {
                switch change.group {
                case .customAttributes:
                    #expect(values[change.path[0]] == change.before && change.before != change.after)
                    values[change.path[0]] = change.after
                case .customEvents:
                    if case .int(let count)? = change.after { counts[change.path[0]] = UInt64(count) }
                default: continue
                }
            }
            #expect(values == models[1].values && counts == models[1].events, "user \(user.number)")
        }
    }

    @Test("Members of objects are compared one by one")
    func objects() throws {
        let log = try folder.open(options: .small(clock))
        func set(_ street: String, _ tags: [AttributeValue]) throws {
            let address = AttributeValue.object([
                .init("city", .string("Köln")), .init("street", .string(street)), .init("tags", .array(tags)),
            ])
            let changes = [AttributeChange("address", .set(address)), AttributeChange("same", .set(.int(1)))]
            _ = try log.append([.customAttributesChanged(changes)], to: .externalID("ana"))
        }
        try set("Domplatte 1", [])
        try set("Hohe Straße 2", [.int(1)])
        let ana = try #require(try log.find(.externalID("ana"))).number
        let (before, after) = try (
            log.profile(of: ana, asOf: .version(Version(rawValue: 2))), log.profile(of: ana, asOf: .now)
        )
        let changes = log.reader.changes(from: before, to: after).filter { $0.group == .customAttributes }
        #expect(changes.map(\.field) == ["address.street", "address.tags"])
        #expect(changes.first?.before == .string("Domplatte 1") && changes.first?.after == .string("Hohe Straße 2"))
        #expect(changes.first?.position?.rawValue == 3)
        #expect(log.reader.changes(from: after, to: after).isEmpty)
    }

    @Test("A launch is between the versions before it and after its last flush")
    func launches() throws {
        let log = try folder.open(options: .small(clock))
        let ana = UserID.externalID("ana")
        for round in 1...3 {
            for item in 1...round * 2 {
                clock.advance(1_000_000)
                let saved = ProfileEvent.customEventSaved(CustomEvent(name: Name("e\(item)")))
                _ = try log.append([saved], to: ana, context: .saved(on: "d"))
            }
            _ = try log.changeUser(device: "d", to: ana, context: .test)
            _ = try log.launch(device: "d")
        }
        let number = try #require(try log.find(ana)).number
        for (asked, round) in [(1, 1), (2, 2), (3, 3), (-1, 3), (-3, 1)] {
            let read = try log.reader.past.launch(asked, of: number)
            #expect(read.number == round && read.count == 3)
            let states = try [read.before, read.after].map { try log.profile(of: number, asOf: $0) }
            #expect(states.map(\.launches.count) == [UInt64(round) - 1, UInt64(round)])
            #expect(states[0].pending.count == round * 2 && states[1].pending.isEmpty)
            #expect(states[1].flushes.count - states[0].flushes.count == UInt64(round * 2))
        }
        for asked in [0, 4, -4] {
            #expect(throws: MomentError.beyondLaunches(count: 3)) { try log.reader.past.launch(asked, of: number) }
        }
    }

    @Test("A moment that nothing has is refused with what there is")
    func beyond() throws {
        let log = try folder.open(options: .small(clock))
        for name in ["ana", "bo"] {
            clock.advance(1_000_000)
            _ = try log.append([.customEventLogged(CustomEvent(name: "x"))], to: .externalID(name))
        }
        let bo = try #require(try log.find(.externalID("bo"))).number
        #expect(throws: MomentError.beyondLog(last: Position(rawValue: 4))) {
            try log.profile(of: bo, asOf: .position(Position(rawValue: 5)))
        }
        #expect(throws: MomentError.beyondUser(last: Version(rawValue: 2))) {
            try log.profile(of: bo, asOf: .version(Version(rawValue: 3)))
        }
        let early = Timestamp(rawValue: clock.now.rawValue - 500_000)
        for moment in [.position(Position(rawValue: 2)), .time(early), .version(.none)] as [Moment] {
            #expect(throws: MomentError.beforeUser(created: Position(rawValue: 3))) {
                try log.profile(of: bo, asOf: moment)
            }
        }
        #expect(throws: MomentError.versionOfAll) { try log.reader.past.position(at: .version(Version(rawValue: 1))) }
    }

    @Test("A time after now is refused, unless an event was recorded then while the clock was ahead")
    func future() throws {
        let log = try folder.open(options: .small(clock))
        _ = try log.append([.customEventLogged(CustomEvent(name: "x"))], to: .externalID("ana"))
        let ana = try #require(try log.find(.externalID("ana"))).number
        let recorded = clock.now
        for step in [5_000_000, -9_000_000] as [Int64] {
            clock.advance(step)
            let latest = max(clock.now, recorded)
            let (now, later) = (Moment.time(latest), Moment.time(Timestamp(rawValue: latest.rawValue + 1)))
            #expect(try log.reader.past.position(at: now) == log.lastPosition())
            #expect(try log.profile(of: ana, asOf: now).version.rawValue == 2)
            for order in [EventOrder.recorded, .occurred] {
                #expect(try log.profile(of: ana, asOf: now, order: order).version.rawValue == 2)
                #expect(throws: MomentError.beyondNow(latest)) { try log.profile(of: ana, asOf: later, order: order) }
            }
            #expect(throws: MomentError.beyondNow(latest)) { try log.reader.past.position(at: later) }
            #expect(throws: MomentError.beyondNow(latest)) { try log.profile(of: ana, asOf: later) }
        }
    }
}
