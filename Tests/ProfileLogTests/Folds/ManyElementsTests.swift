import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogRecords

/// Operations on large values look elements up; here they are compared one by one instead.
@Suite("An operation on many elements does what one element after the other does")
struct ManyElementsTests {
    private typealias Member = AttributeValue.Member

    @Test("Values added to and removed from an array", arguments: Thoroughness.seeds(short: 30, full: 2000))
    func array(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let old = Self.values(&random)
        let given = Self.values(&random)
        var added = old
        for value in given {
            added.removeAll { $0 == value }
            added.append(value)
        }
        let removed = old.filter { element in !given.contains { $0 == element } }
        check(.arrayAdd(given), on: old, gives: added, seed)
        check(.arrayRemove(given), on: old, gives: removed, seed)
    }

    @Test("A large array changed step by step", arguments: Thoroughness.seeds(short: 30, full: 2000))
    func operations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let keys = [FieldKey(custom: 1), FieldKey(custom: 2)]
        let rules = [AttributeRule(), AttributeRule(policy: .setUnion)]
        var state = ProfileState()
        var arrays: [[AttributeValue]] = [[], []]
        for position in 1...UInt64.random(in: 1...150, using: &random) {
            let at = Int.random(in: 0...1, using: &random)
            let given = (0..<Int.random(in: 0...10, using: &random)).map { _ in
                // Many are equal; some are longer than all others together.
                let text = String(repeating: "x", count: [3, 20, 20, 300, 2000].randomElement(using: &random) ?? 0)
                return Bool.random(using: &random) ? Self.value(&random) : .string("\(text) \(position % 40)")
            }
            let match = Self.match(&random)
            let operation: AttributeOperation
            var array = arrays[at]
            switch (Int.random(in: 0...30, using: &random), at) {
            case (0, 0): (operation, array) = (.set(.array(given)), given)
            case (1...5, _):
                operation = .arrayRemove(given)
                array.removeAll { given.contains($0) }
            case (6, _):
                operation = .objectsRemove([match])
                array.removeAll { $0[match.key] == match.value }
            case (7...12, 0): (operation, array) = (.objectsAdd(given), array + given)
            case (_, 0):
                operation = .arrayAdd(given)
                for value in given { array = array.filter { $0 != value } + [value] }
            default:
                operation = [.set(.array(given)), .objectsAdd(given), .arrayAdd(given)][Int(position % 3)]
                for value in given where !array.contains(value) { array.append(value) }
            }
            arrays[at] = array
            state.apply(operation, to: keys[at], by: rules[at], position: position, at: Int64(position))
            // A part of the runs goes on from what is stored.
            let bytes = ProfileProjection.encode(state)
            let read = try #require(bytes.withUnsafeBytes { ProfileProjection.decode($0) })
            if seed % 3 == 0, position % 5 == 0 { state = read }
            for (key, array) in zip(keys, arrays) {
                let found = state.fields.value(key)
                #expect(found == .array(array) || found == nil && array.isEmpty, "seed \(seed), @\(position)")
                let stored = state.fields.field(key).map { state.fields.withBytes($0) { Array($0) } }
                var writer = WireWriter()
                if let found { ValueCodec.write(found, to: &writer) }
                #expect(stored ?? [] == Array(writer.bytes), "seed \(seed), @\(position)")
            }
        }
    }

    @Test("Objects updated and removed in an array", arguments: Thoroughness.seeds(short: 30, full: 2000))
    func objects(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let old = Self.values(&random) + Self.objects(&random).map { .object($0) }
        let updates = Self.objects(&random).map {
            AttributeOperation.ObjectUpdate(match: Self.match(&random), object: $0)
        }
        for merging in [false, true] {
            var updated = old
            for update in updates {
                for (index, element) in updated.enumerated() {
                    guard case .object(let members) = element,
                        members.first(where: { $0.key == update.match.key })?.value == update.match.value
                    else { continue }
                    let object = merging ? Self.merged(update.object, members) : update.object
                    updated[index] = .object(object)
                }
            }
            check(.objectsUpdate(updates, merging: merging), on: old, gives: updated, seed)
        }
        let matches = updates.map(\.match)
        let left = old.filter { element in
            guard case .object(let members) = element else { return true }
            return !members.contains { matches.contains($0) }
        }
        check(.objectsRemove(matches), on: old, gives: left, seed)
    }

    @Test("Members merged into an object", arguments: Thoroughness.seeds(short: 30, full: 2000))
    func merge(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let (old, new) = (Self.members(&random, depth: 0), Self.members(&random, depth: 0))
        let merged = AttributeOperation.objectMerge(new).applied(to: .object(old))
        #expect(merged == .object(Self.merged(new, old)), "seed \(seed)")
        for member in old { #expect(AttributeValue.object(old)[member.key] == member.value, "seed \(seed)") }
        #expect(AttributeValue.object(old)["no such"] == nil)
    }

    @Test("Items taken from those that wait", arguments: Thoroughness.seeds(short: 30, full: 2000))
    func pending(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = ProfileState()
        var places = (1...UInt64.random(in: 1...30, using: &random)).map { $0 * 2 }
        // A history in the order of occurrence.
        if seed % 3 == 0 { places.shuffle(using: &random) }
        state.pending = places.map {
            .init(
                position: $0, kind: .customEventSaved, savedAt: 0, device: "d",
                storage: StorageCode(appGroup: 0, process: 1), body: [])
        }
        let wanted = (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt64.random(in: 1...64, using: &random) }
        let taken = state.takePending(wanted.map { Position(rawValue: $0) })
        var expected: [UInt64] = []
        for place in wanted where places.contains(place) && !expected.contains(place) { expected.append(place) }
        #expect(taken.map(\.position) == expected, "seed \(seed)")
        #expect(state.pending.map(\.position) == places.filter { !expected.contains($0) }, "seed \(seed)")
    }

    @Test("Events of a merged user", arguments: Thoroughness.seeds(short: 30, full: 2000))
    func events(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var counts: [UInt32: UInt64] = [:]
        var states = [ProfileState(), ProfileState()]
        for index in states.indices {
            for position in 0..<UInt64.random(in: 0...60, using: &random) {
                let name = UInt32.random(in: 1...40, using: &random)
                states[index].count(name, Timestamp(rawValue: 5), Position(rawValue: position))
                counts[name, default: 0] += 1
            }
        }
        ProfileProjection.merge(states[1], into: &states[0], under: BoundRules.none)
        #expect(states[0].events.map(\.name) == counts.keys.sorted(), "seed \(seed)")
        for event in states[0].events { #expect(event.occurrences.count == counts[event.name], "seed \(seed)") }
    }

    // MARK: - One by one

    private func check(
        _ operation: AttributeOperation, on old: [AttributeValue], gives expected: [AttributeValue], _ seed: UInt64
    ) {
        #expect(operation.applied(to: .array(old)) == .array(expected), "seed \(seed), \(operation)")
        let traced = TracedValue(.array(old), by: 1).applying([.init(operation, .lastArrival, by: 2)])
        #expect(traced.value == .array(expected), "seed \(seed), \(operation)")
    }

    private static func merged(_ new: [Member], _ old: [Member]) -> [Member] {
        var merged = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0.value) })
        for member in new {
            if case .object(let before)? = merged[member.key], case .object(let after) = member.value {
                merged[member.key] = .object(self.merged(after, before))
            } else {
                merged[member.key] = member.value
            }
        }
        return merged.map { Member($0, $1) }.sorted { $0.key < $1.key }
    }

    // MARK: - Made up

    /// Few different values, of all types, so that many are equal or nearly so.
    private static func value(_ random: inout SeededGenerator) -> AttributeValue {
        let number = Int64.random(in: 0...6, using: &random)
        switch Int.random(in: 0...6, using: &random) {
        case 0: return .int(number)
        case 1: return .double(Double(number))
        case 2: return .string("\(number)")
        case 3: return .bool(number > 3)
        case 4: return .array([.int(number)])
        case 5: return ["id": .int(number)]
        default: return .string(["\u{E9}", "e\u{301}"][Int(number) % 2])
        }
    }

    private static func values(_ random: inout SeededGenerator) -> [AttributeValue] {
        (0..<Int.random(in: 0...24, using: &random)).map { _ in value(&random) }
    }

    private static func match(_ random: inout SeededGenerator) -> Member {
        Member(Name("k\(Int.random(in: 0...3, using: &random))"), .int(.random(in: 0...3, using: &random)))
    }

    private static func objects(_ random: inout SeededGenerator) -> [[Member]] {
        (0..<Int.random(in: 0...12, using: &random)).map { _ in
            var members: [Name: AttributeValue] = [:]
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let member = match(&random)
                members[member.key] = member.value
            }
            return members.map { Member($0, $1) }.sorted { $0.key < $1.key }
        }
    }

    private static func members(_ random: inout SeededGenerator, depth: Int) -> [Member] {
        var members: [Name: AttributeValue] = [:]
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            let isObject = depth < 2 && Int.random(in: 0...5, using: &random) == 0
            let key = Name("k\(Int.random(in: 0...40, using: &random))")
            members[key] = isObject ? .object(self.members(&random, depth: depth + 1)) : value(&random)
        }
        return members.map { Member($0, $1) }.sorted { $0.key < $1.key }
    }
}
