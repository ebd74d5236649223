import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog
@testable import ProfileLogReplay

@Suite("Who set an attribute")
struct BlameTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")

    private func change(_ name: Name, _ operation: AttributeOperation, _ log: EventLog) throws -> Position {
        clock.advance(1000)
        return try log.append([.customAttributesChanged([.init(name, operation)])], to: ana).last
    }

    private func blame(_ field: String?, _ log: EventLog, withLog: Bool = false) throws -> [FieldBlame] {
        try log.blame(of: #require(try log.find(ana)).number, field: field, withLog: withLog)
    }

    // MARK: - Against a replay, step by step

    @Test(
        "Every value is blamed on the event that a replay, step by step, sees write it",
        arguments: Thoroughness.seeds(short: 6, full: 96))
    func oracle(seed: UInt64) throws {
        let log = try folder.log(clock, indexLag: Int(seed % 3) * 9 + 3, snapshotInterval: Int(seed % 4) * 2)
        var story = VoidStory(log, clock, seed: seed)
        for _ in 0..<110 { try story.step() }
        for user in try log.users(limit: 100) {
            var replay = SteppedReplay(log: log)
            try replay.run(user.number, to: user.version)
            let found = try log.blame(of: user.number)
            let place = "seed \(seed), user \(user.number.rawValue)"
            #expect(Set(found.map(\.field)) == Set(replay.fields.values.flatMap { $0.leaves.keys }), "\(place)")
            for entry in found {
                let expected = try #require(replay.fields[entry.attribute]?.leaves[entry.field], "\(place)")
                let actual = SteppedReplay.Leaf(
                    value: entry.value, position: entry.write.event.position, effect: entry.write.effect,
                    previous: entry.previous?.value, previousPosition: entry.previous?.position)
                #expect(actual == expected, "\(place), \(entry.field)")
            }
            try compareWithWhole(found, user.number, place, log)
        }
    }

    /// A walk from snapshots finds what the walk through the whole history does.
    private func compareWithWhole(_ found: [FieldBlame], _ user: UserNumber, _ place: String, _ log: EventLog) throws {
        var whole = try log.blame(of: user, withLog: true)
        for index in whole.indices {
            #expect(whole[index].log.last { $0.void == nil && $0.value != nil } != nil, "\(place)")
            #expect(whole[index].logPlace?.total == whole[index].log.count, "\(place)")
            whole[index].log = []
            whole[index].logPlace = nil
        }
        #expect(whole == found, "\(place)")
        for name in Set(found.map(\.attribute)) {
            let own = try log.blame(of: user, field: name.text)
            #expect(own == found.filter { $0.attribute == name }, "\(place)")
        }
    }

    @Test("The blame of one attribute reads no event before the snapshot that its last write follows")
    func fromSnapshot() throws {
        folder.expectDamage()
        let log = try folder.log(clock, indexLag: 10_000)
        // A large state has a snapshot at each second, fourth, … multiple of 256.
        let note = String(repeating: "a note ", count: 4)
        for start in stride(from: 0, to: 1_500, by: 100) {
            var builder = log.prepare(capacity: 100)
            for index in start..<(start + 100) {
                let change = AttributeChange(Name("field \(index % 40)"), .set(.string("\(note) \(index)")))
                try builder.add(.customAttributesChanged([change]), .test, to: ana)
            }
            _ = try log.commit(builder.finish())
        }
        try log.writeIndex()
        let user = try #require(try log.find(ana)).number
        let kept = try #require(
            try log.withView { try log.states.snapshot(ProfileProjection.self, user.rawValue, upTo: 1_500, $0) })
        #expect(kept.version < 1_500 - 256, "\(kept.version)")
        let whole = try log.blame(of: user)
        for position in 2...kept.version { try log.damage(.log, withNumberKey(position) { Array($0) }) { $0[9] ^= 1 } }
        for index in 0..<40 {
            let found = try log.blame(of: user, field: "field \(index)")
            #expect(found == whole.filter { $0.field == "field \(index)" } && found.count == 1)
            #expect(found.first?.previous?.value == .string("\(note) \(index < 20 ? 1_440 + index : 1_400 + index)"))
        }
        #expect(try log.blame(of: user) == whole)
    }

    // MARK: - What it says

    @Test("A saved value names its device, its launch and the flush with which it took effect")
    func saved() throws {
        let log = try folder.log(clock)
        let first = try change("plan", .set("free"), log)
        let saved = try log.append(
            [.customAttributesSaved([.init("plan", .set("gold"))])], to: ana, context: .saved(on: "phone")
        ).last
        _ = try log.launch(device: "phone")
        let entry = try #require(try blame("plan", log).first)
        #expect(entry.value == "gold" && entry.write.event.position == saved)
        #expect(entry.replaced == .init(value: "free", position: first))
        #expect(entry.write.event.context.device == "phone" && entry.write.event.context.process == "push")
        let effect = try #require(entry.write.effect)
        #expect(try log.event(at: effect)?.event.kind == .pendingFlushed)
        let launch = try #require(entry.write.launch)
        #expect(try log.event(at: launch)?.event.kind == .appLaunched)
    }

    @Test("Each part of an object or an array has its own writer")
    func nested() throws {
        let log = try folder.log(clock)
        let set = try change("home", .set(["city": "Bonn", "geo": ["lat": 1, "lon": 2]]), log)
        let merged = try change("home", .objectMerge([.init("geo", ["lat": 5])]), log)
        let entries = try blame("home", log)
        #expect(entries.map(\.field) == ["home.city", "home.geo.lat", "home.geo.lon"])
        #expect(entries.map(\.write.event.position) == [set, merged, set])
        #expect(entries[1].replaced == .init(value: 1, position: set))
        #expect(try blame("home.geo", log).map(\.field) == ["home.geo.lat", "home.geo.lon"])
        #expect(try blame("home.geo.lat", log).first?.value == 5)
        #expect(try blame("home.nowhere", log).isEmpty)

        let pets = try change("pets", .set([["name": "a", "age": 1], ["name": "b", "age": 2]]), log)
        let updated = try change(
            "pets",
            .objectsUpdate([.init(match: .init("name", "b"), object: [.init("age", 3)])], merging: true),
            log)
        let added = try change("pets", .objectsAdd([["name": "c"]]), log)
        let writers = try blame("pets", log).map { "\($0.field) \($0.write.event.position.rawValue)" }
        #expect(
            writers == [
                "pets[0].age \(pets.rawValue)", "pets[0].name \(pets.rawValue)", "pets[1].age \(updated.rawValue)",
                "pets[1].name \(pets.rawValue)", "pets[2].name \(added.rawValue)",
            ])
        #expect(try blame("pets[1].age", log).first?.replaced == .init(value: 2, position: pets))
    }

    @Test("Each event of a long append has its key, and no event of another append", arguments: [false, true])
    func requests(imported: Bool) throws {
        let log = try folder.log(clock)
        var count = 0
        func append(_ key: String?) throws {
            var builder = log.prepare(capacity: 300)
            let begin = clock.now.rawValue
            for index in 0..<75 {
                let events: [ProfileEvent] = [
                    .customAttributesChanged([.init(Name("\(key ?? "none") \(index)"), .set(1))]),
                    .customEventLogged(CustomEvent(name: Name("\(key ?? "none") \(index)"))),
                ]
                // Of an import each event has a time of its own, before the store was made.
                count += 1
                let time = imported ? Timestamp(rawValue: begin - 3_600_000_000 + Int64(count)) : nil
                try builder.add(events.map { ($0, .test, ana, time) })
            }
            _ = try log.commit(builder.finish(idempotencyKey: key))
        }
        for key in [nil, "k1", "k2", nil] { try append(key) }
        let user = try #require(try log.find(ana)).number
        for withLog in [false, true] {
            let (attributes, counts) = try log.reader.blameWithCounts(of: user, withLog: withLog)
            #expect(attributes.count == 225 && counts.count == 225)
            for entry in attributes.shuffled() + counts.map(FieldBlame.init) {
                let name = entry.field.split(separator: ":").last?.prefix { $0 != " " }
                let key = name == "none" ? nil : name.map(String.init)
                #expect(entry.write.request == key, "\(entry.field)")
                #expect(entry.log.allSatisfy { $0.request == key }, "\(entry.field)")
            }
            // Whichever is asked for first.
            for name in ["k1 74", "k2 74", "k1 3", "none 74"] {
                let key = try #require(name.split(separator: " ").first)
                let found = try log.blame(of: user, field: name, withLog: withLog).first
                #expect(found?.write.request == (key == "none" ? nil : String(key)), "\(name)")
            }
        }
        #expect(try log.check().problems.isEmpty)
    }

    @Test("The log has all values, void ones and removals included")
    func allValues() throws {
        let log = try folder.log(clock)
        let first = try change("plan", .set("free"), log)
        let wrong = try change("plan", .set("gold"), log)
        let gone = try change("plan", .unset, log)
        let last = try change("plan", .set("basic"), log)
        let void = try log.void(wrong, actor: "ops", reason: "a test").last
        let entry = try #require(try blame("plan", log, withLog: true).first)
        #expect(entry.log.map(\.value) == ["free", "gold", nil, "basic"])
        #expect(entry.log.map(\.event.position) == [first, wrong, gone, last])
        #expect(entry.log.map(\.void) == [nil, void, nil, nil])
        #expect(entry.previous == nil)
        _ = try change("plan", .unset, log)
        let removed = try #require(try blame("plan", log).first)
        #expect(removed.value == nil && removed.replaced == .init(value: "basic", position: last))
        #expect(try blame("score", log).isEmpty)
    }

    @Test("What a merge brought names the user whose it was, and the merge")
    func merged() throws {
        let log = try folder.log(clock)
        let bo = UserID.externalID("bo")
        _ = try log.append([.customAttributesChanged([.init("plan", .set("free"))])], to: bo)
        let theirs = try log.append([.customAttributesChanged([.init("plan", .set("gold"))])], to: bo).last
        let own = try change("level", .set(1), log)
        _ = try log.append([.customAttributesChanged([.init("level", .set(7))])], to: bo)
        let source = try #require(try log.find(bo)).number
        let merge = try log.commit(.identity(.merge(source: bo, target: ana), context: .test)).last
        let entry = try #require(try blame("plan", log, withLog: true).first)
        #expect(entry.value == "gold" && entry.write.event.position == theirs)
        #expect(entry.write.event.user == source && entry.write.merge == merge)
        #expect(entry.log.map(\.value) == ["free", "gold"] && entry.previous?.value == "free")
        let kept = try #require(try blame("level", log, withLog: true).first)
        #expect(kept.write.event.position == own && kept.write.merge == nil && kept.log.count == 1)
    }

    @Test("A name with dots is found before a part, and a standard attribute apart from a custom one of its name")
    func names() throws {
        let log = try folder.log(clock)
        _ = try change("a.b", .set(1), log)
        _ = try change("a", .set(["b": 2, "c": 3]), log)
        #expect(try blame("a.b", log).map(\.value) == [1])
        #expect(try blame("a.c", log).map(\.value) == [3])
        _ = try change("home_city", .set("x"), log)
        _ = try log.append([.userAttributesChanged([.init(.homeCity, "Bonn")])], to: ana)
        #expect(try blame("home_city", log).map(\.value) == ["Bonn", "x"])
        for wrong in ["", "a.", "a[", "a[x]", "a[-1]", ".a"] { #expect(try blame(wrong, log).isEmpty, "\(wrong)") }
    }
}

/// Replays the events that count, one by one, and writes down after each what every part of an attribute became.
private struct SteppedReplay {
    let log: EventLog
    var fields: [Name: Field] = [:]
    private var pending: [Position: RecordedEvent] = [:]

    init(log: EventLog) { self.log = log }

    struct Leaf: Hashable {
        var value: AttributeValue?
        var position: Position
        var effect: Position?
        var previous: AttributeValue?
        var previousPosition: Position?
    }

    struct Field {
        var value: AttributeValue
        /// The last write of it or of a part.
        var position: Position
        var leaves: [String: Leaf] = [:]
    }

    mutating func run(_ user: UserNumber, to version: Version) throws {
        let voided = try log.reader.events.voided(of: user)
        try run(user, to: version, voided)
    }

    private mutating func run(_ user: UserNumber, to version: Version, _ voided: VoidedEvents) throws {
        for event in try log.history(of: user, to: version) where !voided.contains(event.position.rawValue) {
            switch event.event {
            case .usersMerged(let merge):
                var source = SteppedReplay(log: log)
                try source.run(merge.source, to: merge.version, voided)
                // An opt-out comes with its address: the one rule of a merge that these stories can meet.
                fields.merge(source.fields) { own, _ in own }
                pending.merge(source.pending) { own, _ in own }
            case .pendingFlushed(let flush):
                for position in flush.flushed {
                    guard let item = pending.removeValue(forKey: position) else { continue }
                    apply(item, effect: event.position)
                }
            case let content where content.kind.isSaved: pending[event.position] = event
            default: apply(event, effect: event.position)
            }
        }
    }

    private mutating func apply(_ event: RecordedEvent, effect: Position) {
        switch event.event {
        case .customAttributesChanged(let changes), .customAttributesSaved(let changes):
            for change in changes { apply(change.operation, change.name, event, effect) }
        case .userAttributesChanged(let changes):
            for change in changes { apply(change, event, effect) }
        case .userAttributeSaved(let change): apply(change, event, effect)
        default: break
        }
    }

    private mutating func apply(_ change: UserAttributeChange, _ event: RecordedEvent, _ effect: Position) {
        let name = Name(change.attribute.name)
        let before = fields[name]?.value
        apply(.set(change.value), name, event, effect)
        // A new address from REST makes the user subscribed (spec/rest-api 1.4).
        if change.attribute == .email, change.value != .null, change.value != before, event.context.source == .rest {
            apply(.set("subscribed"), Name(StandardAttribute.emailSubscribe.name), event, effect)
        }
    }

    private mutating func apply(
        _ operation: AttributeOperation, _ name: Name, _ event: RecordedEvent, _ effect: Position
    ) {
        let old = fields[name]
        guard let value = operation.applied(to: old?.value) else {
            fields[name] = nil
            return
        }
        if case .increment = operation, old?.value == value { return }
        var hasMeaning = true
        switch (operation, old?.value) {
        case (.arrayAdd, nil), (.arrayAdd, .array?), (.arrayRemove, .array?), (.set, _), (.increment, nil),
            (.increment, .int?), (.objectMerge, _):
            break
        default: hasMeaning = false
        }
        if !hasMeaning { return }
        var field = Field(value: value, position: event.position)
        for (path, leaf) in Self.leaves(of: value, name.text) {
            if leaf == [] {
                field.leaves[path] = Leaf(
                    value: leaf, position: event.position, effect: effect, previous: old?.value,
                    previousPosition: old?.position)
            } else if Self.written(by: operation, path, leaf, name.text, old: old?.value) {
                let previous = Self.isAdding(operation, to: old) ? nil : old?.leaves[path]
                field.leaves[path] = Leaf(
                    value: leaf, position: event.position, effect: effect, previous: previous?.value,
                    previousPosition: previous?.position)
            } else {
                field.leaves[path] = Self.kept(path, leaf, old)
            }
        }
        fields[name] = field
    }

    /// Tells whether elements come at the end of an array, where nothing was before.
    private static func isAdding(_ operation: AttributeOperation, to old: Field?) -> Bool {
        if case .arrayAdd = operation, case .array? = old?.value { true } else { false }
    }

    private static func leaves(of value: AttributeValue, _ path: String) -> [(String, AttributeValue)] {
        switch value {
        case .array(let items) where !items.isEmpty:
            items.enumerated().flatMap { leaves(of: $1, "\(path)[\($0)]") }
        case .object(let members) where !members.isEmpty:
            members.flatMap { leaves(of: $0.value, "\(path).\($0.key.text)") }
        default: [(path, value)]
        }
    }

    private static func written(
        by operation: AttributeOperation, _ path: String, _ leaf: AttributeValue, _ name: String, old: AttributeValue?
    ) -> Bool {
        switch (operation, old) {
        case (.arrayAdd(let added), .array?): added.contains(leaf)
        case (.arrayRemove, .array?): false
        case (.objectMerge(let members), .object?):
            leaves(of: .object(members), name).contains { $0.0 == path }
        default: true
        }
    }

    /// The leaf as it was before the operation: elements of an array are found by their value.
    private static func kept(_ path: String, _ leaf: AttributeValue, _ old: Field?) -> Leaf? {
        if case .array(let items)? = old?.value, let index = items.firstIndex(of: leaf) {
            let name = path.prefix { $0 != "[" }
            return old?.leaves["\(name)[\(index)]"]
        }
        return old?.leaves[path]
    }
}
