import Foundation
import ProfileLog
import TestSupport
import Testing

/// Drives the log and a naive model with the same random operations, and compares everything. Two instances in one
/// process share the store; real processes do so in `SharedStoreTests`.
@Suite("The log answers as a naive model does")
struct ModelTests {
    @Test(
        "Two hundred random operations give the answers of a naive model",
        arguments: Thoroughness.seeds(short: 12, full: 500))
    func operations(seed: UInt64) throws {
        var run = try ModelRun(seed: seed)
        for _ in 0..<200 { try run.step() }
        try run.compare()
        try run.expectReplayEqualsLive()
    }
}

private struct ModelRun {
    let folder = TemporaryFolder()
    let clock = TestClock()
    var random: SeededGenerator
    var log: EventLog
    /// Another instance on the same store, with caches of its own: what another process sees and does.
    var other: EventLog
    var model = NaiveModel()

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        log = try folder.open(options: .small(clock))
        other = try EventLog(path: folder.path, options: .small(clock, indexLag: 55))
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(random.next() % UInt64(elements.count))]
    }

    mutating func number(_ bound: UInt64) -> Int { Int(random.next() % bound) }

    mutating func step() throws {
        clock.advance(Int64(number(2_000_000)))
        model.now = clock.now.rawValue
        if number(4) == 0 { swap(&log, &other) }
        switch number(100) {
        case 0..<40: try logEvents()
        case 40..<65: try save()
        case 65..<75: try launch()
        case 75..<79: try change()
        case 79..<81: try discard()
        case 81..<84: try retry()
        case 84..<86: try refuse()
        case 86..<89: try log.writeIndex()
        case 89..<91: try damageSnapshots()
        case 91: try log.rebuildCaches()
        case 92..<95: log = try EventLog(path: folder.path, options: .small(clock))
        default: try compare()
        }
    }

    /// Composed and decomposed forms are two users; the last is too long for a plain key.
    mutating func user() -> Name {
        pick(["ana", "bo", "\u{DC}nal", "U\u{308}nal", "田中", Name(String(repeating: "x", count: 300))])
    }

    mutating func device() -> String { pick(["d1", "d2", "d3"]) }

    mutating func event(saved: Bool) -> ProfileEvent {
        switch number(4) {
        case 0:
            let event = CustomEvent(
                name: pick(["played", "paused", "\u{E9}", "e\u{301}"]),
                properties: pick([nil, [], [.init("n", .int(1))]]))
            return saved ? .customEventSaved(event) : .customEventLogged(event)
        case 1:
            let date = AttributeValue.date(OccurredAt(Timestamp(rawValue: Int64(number(50)) * 86_400_000_000)))
            let change =
                number(4) == 0
                ? UserAttributeChange(
                    pick([.dateOfFirstSession, .dateOfLastSession, .markedEmailAsSpamAt]), pick([.null, date]))
                : UserAttributeChange(
                    pick([.email, .firstName, .homeCity]), pick([.null, .string("a@b.cc"), .string("b@b.cc")]))
            return saved ? .userAttributeSaved(change) : .userAttributesChanged([change])
        case 2 where !saved:
            return .purchaseLogged(
                Purchase(product: Name(pick(["p1", "p2"])), currency: "EUR", price: 2.5, quantity: 3))
        default:
            let changes = [AttributeChange(Name(pick(["plan", "tags", "score"])), operation())]
            return saved ? .customAttributesSaved(changes) : .customAttributesChanged(changes)
        }
    }

    mutating func operation() -> AttributeOperation {
        switch number(6) {
        case 0: .set(pick([.int(1), .double(1), .string("é"), .bool(false), .array([.int(1), .int(2)]), .null]))
        case 1: .unset
        case 2: .increment(Int64(number(9)) - 4)
        case 3: .arrayAdd([pick([.int(1), .int(3), .string("t")])])
        case 4: .arrayRemove([pick([.int(1), .string("t")])])
        default: .set(.object([.init("a", .int(Int64(number(3)))), .init("b", .null)]))
        }
    }

    mutating func logEvents() throws {
        var builder = log.prepare()
        for _ in 0...number(6) {
            let (user, event) = (user(), event(saved: false))
            try builder.add(event, .test, to: .externalID(user.text))
            model.log(event, user)
        }
        _ = try log.commit(builder.finish())
    }

    mutating func save() throws {
        let (event, device) = (event(saved: true), device())
        let user = number(3) == 0 ? nil : user()
        let isVisible = number(4) > 0
        var context = EventContext.saved(on: device)
        if !isVisible { context.storage = .privateTo(process: "push") }
        var builder = log.prepare()
        try builder.add(event, context, to: user.map { .externalID($0.text) } ?? .device(device))
        _ = try log.commit(builder.finish())
        model.save(event, user, device: device, isVisible: isVisible)
    }

    mutating func launch() throws {
        let device = device()
        _ = try log.launch(device: device)
        model.launch(device, chunk: 3)
    }

    mutating func change() throws {
        let (device, user) = (device(), user())
        _ = try log.changeUser(device: device, to: .externalID(user.text), context: .test)
        model.change(device, to: user)
    }

    mutating func discard() throws {
        let device = device()
        _ = try log.commit(.discard(device: device, .all, actor: "test", reason: "test", context: .test))
        model.discard(device)
    }

    /// The same append twice under one key counts once; other content under it is refused.
    mutating func retry() throws {
        let key = "key-\(number(1000))-\(model.events)"
        let (user, event) = (user(), event(saved: false))
        let first = try log.append([event], to: .externalID(user.text), idempotencyKey: key)
        model.log(event, user)
        let second = try pick([log, other]).append([event], to: .externalID(user.text), idempotencyKey: key)
        #expect(second.isRepetition && second.first == first.first && second.places == first.places)
        #expect(throws: AppendError.keyReused(position: first.first)) {
            try log.append([event, event], to: .externalID(user.text), idempotencyKey: key)
        }
    }

    mutating func refuse() throws {
        let user = user()
        let actual = UInt64(model.profiles[user]?.version ?? 0)
        #expect(throws: AppendError.self) {
            try log.append(
                [event(saved: false)], to: .externalID(user.text), expecting: .exactly(Version(rawValue: actual + 1)))
        }
    }

    /// Snapshots are disposable: a flipped byte, or none left, and the answers stay the same.
    mutating func damageSnapshots() throws {
        let table = log.environment.tables.snapshots
        let isDropped = number(2) == 0
        try log.environment.withWriteTransaction { transaction in
            if isDropped { return try transaction.clear(table) }
            var rows: [([UInt8], [UInt8])] = []
            try transaction.withCursor(table) { cursor in
                var row = try cursor.first()
                while let found = row {
                    rows.append((Array(found.key), Array(found.value)))
                    row = try cursor.next()
                }
            }
            for (key, value) in rows {
                var damaged = value
                damaged[damaged.count / 2] ^= 1
                try transaction.put(table, key, damaged)
            }
        }
        try compare()
        // `check` names what is damaged; here it is put right.
        if !isDropped { try log.environment.withWriteTransaction { try $0.clear(table) } }
    }

    // MARK: - Comparing

    func compare() throws {
        for log in [log, other] {
            #expect(try log.lastPosition().rawValue == UInt64(model.events))
            #expect(try log.userCount() == UInt64(model.users.count))
            for (index, user) in model.users.enumerated() {
                try compare(user, UserNumber(rawValue: UInt64(index) + 1), log)
            }
            for (device, items) in model.pending {
                let live = try log.reader.devices.pending(on: device)
                #expect(live.map(\.event) == items.map(\.event))
            }
        }
    }

    private func compare(_ user: Name, _ number: UserNumber, _ log: EventLog) throws {
        let info = try #require(try log.reader.users.find(number))
        // An anonymous user is found by the device for as long as no other user is on it.
        if !user.text.hasPrefix("device:") { #expect(try log.find(.externalID(user.text)) == info) }
        let expected = try #require(model.profiles[user])
        let state = try log.profile(of: info.number)
        let view = log.named(state)
        var actual = NaiveModel.Profile(version: Int(info.version.rawValue))
        actual.attributes = Dictionary(uniqueKeysWithValues: view.customAttributes.map { ($0.name, $0.value) })
        actual.standard = Dictionary(uniqueKeysWithValues: view.attributes.map { ($0.name, $0.value) })
        actual.events = Dictionary(uniqueKeysWithValues: view.customEvents.map { ($0.name, Int($0.occurrences.count)) })
        actual.bought = Dictionary(uniqueKeysWithValues: view.purchases.map { ($0.name, Int($0.occurrences.count)) })
        actual.times = Dictionary(
            uniqueKeysWithValues: view.customEvents.map {
                ($0.name, $0.occurrences.first.rawValue...$0.occurrences.last.rawValue)
            })
        actual.revenue = Dictionary(
            uniqueKeysWithValues: view.purchases.map { ($0.name, $0.revenue.map(\.amount).reduce(0, +)) })
        actual.setAt = Dictionary(
            uniqueKeysWithValues: (view.customAttributes + view.attributes).map { ($0.name, Int($0.position.rawValue)) }
        )
        actual.launches = Int(state.launches.count)
        let filter = EventFilter(kinds: Self.kinds)
        actual.history = try log.history(of: info.number, where: filter).map(\.event)
        let backward = try log.history(of: info.number, direction: .backward, where: filter).map(\.event)
        #expect(backward == actual.history.reversed())
        #expect(actual == expected, "\(user)")
    }

    /// The kinds of saved and logged items.
    private static let kinds: Set<EventKind> = [
        .customEventSaved, .customAttributesSaved, .userAttributeSaved, .customEventLogged, .customAttributesChanged,
        .userAttributesChanged, .purchaseLogged,
    ]

    func expectReplayEqualsLive() throws {
        try log.expectSound()
        let one = try log.replay(threads: 1, verify: true)
        #expect(one.isEqual, "\(one.differences)")
        let two = try other.replay(threads: 2)
        #expect(two.digest == one.digest)
    }
}
