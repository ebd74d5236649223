import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds

/// A random store of a few users whose attributes are set, saved, flushed, voided and merged, while the rules change.
struct RulesStory {
    let log: EventLog
    private let clock: TestClock
    private var random: SeededGenerator
    private var facts: [Position: Bool] = [:]

    static let attributes: [Name] = ["plan", "score", "tags", "free"]

    init(_ log: EventLog, _ clock: TestClock, seed: UInt64) {
        (self.log, self.clock) = (log, clock)
        random = SeededGenerator(seed: seed)
    }

    private mutating func number(_ end: Int) -> Int { random.next(below: end) }
    private mutating func pick<Item>(_ items: [Item]) -> Item { items[number(items.count)] }

    mutating func step() throws {
        clock.advance(1_000_000)
        switch number(40) {
        case 0..<20: try write(saved: false)
        case 20..<28: try write(saved: true)
        case 28..<31: _ = try log.launch(device: "d")
        case 31..<33:
            let (source, target) = (user(), user())
            if try log.find(source) != nil, try log.find(target) != nil {
                _ = try log.commit(.identity(.merge(source: source, target: target), context: .test))
            }
        case 33: try log.writeIndex()
        case 34..<37: try log.setRules(rules())
        default: try log.voidOrUnvoid(one: &facts, using: &random)
        }
    }

    mutating func rules() -> FoldRules {
        var rules = FoldRules()
        for name in Self.attributes + ["home_city"] where number(3) > 0 {
            rules.policies[name] = pick(
                name == "home_city" ? [.lastOccurred, .firstWins] : AttributePolicy.allCases)
        }
        if number(6) == 0 { rules.blockedAttributes = [pick(Self.attributes)] }
        if number(6) == 0 { rules.forcedTypes = [pick(Self.attributes): pick([.number, .string, .array])] }
        return rules
    }

    private mutating func user() -> UserID { .externalID("u\(number(3))") }

    private mutating func write(saved: Bool) throws {
        var context = saved ? EventContext.saved(on: "d") : EventContext(source: .rest)
        // Half of the events happened up to twenty steps before.
        let delay = number(2) * number(20)
        context.occurredAt = OccurredAt(Timestamp(rawValue: clock.now.rawValue - Int64(delay) * 1_000_000))
        let event: ProfileEvent
        if number(6) == 0 {
            let change = UserAttributeChange(.homeCity, pick([.null, "Bonn", "Köln"]))
            event = saved ? .userAttributeSaved(change) : .userAttributesChanged([change])
        } else {
            let change = AttributeChange(pick(Self.attributes), operation())
            event = saved ? .customAttributesSaved([change]) : .customAttributesChanged([change])
        }
        let receipt = try log.append([event], to: user(), context: context)
        facts[receipt.last] = false
    }

    private mutating func operation() -> AttributeOperation {
        let text = AttributeValue.string("t\(number(4))")
        return switch number(9) {
        case 0: .unset
        case 1: .set(.null)
        case 2: .set(text)
        case 3: .set(.int(Int64(number(9))))
        case 4: .set(.double(Double(number(9)) / 4))
        case 5: .set(.array([text, "fixed", text]))
        case 6: .arrayAdd([text])
        case 7: .arrayRemove([text])
        default: .increment(Int64(number(5)))
        }
    }
}

/// The attributes of a user as docs/history.md says ("Which update wins?"), by the list of events and nothing else.
struct RulesOracle {
    let log: EventLog
    /// The rules by position, as `rules` changed them.
    let changes: [(position: Position, rules: FoldRules)]

    struct Field: Hashable {
        var value: AttributeValue
        var at: Timestamp
        var position: Position
    }

    struct Profile {
        var fields: [Name: Field] = [:]
        var removals: [Name: Timestamp] = [:]
        var pending: [Position: (event: ProfileEvent, at: Timestamp)] = [:]
    }

    init(_ log: EventLog) throws {
        self.log = log
        changes = try log.history(of: .system).compactMap { event in
            guard case .rulesChanged(let document) = event.event else { return nil }
            return (event.position, FoldRules(stored: document))
        }
    }

    func profile(of user: UserNumber, at version: Version) throws -> Profile {
        var voided: Set<Position> = []
        for event in try everything(of: user, to: version).sorted(by: { $0.position < $1.position }) {
            if case .eventVoided(let voiding) = event.event { voided.insert(voiding.target) }
            if case .eventUnvoided(let voiding) = event.event { voided.remove(voiding.target) }
        }
        return try fold(user, version, voided)
    }

    private func everything(of user: UserNumber, to version: Version) throws -> [RecordedEvent] {
        try log.history(of: user, to: version).flatMap { event in
            guard case .usersMerged(let merge) = event.event else { return [event] }
            return try [event] + everything(of: merge.source, to: merge.version)
        }
    }

    private func fold(_ user: UserNumber, _ version: Version, _ voided: Set<Position>) throws -> Profile {
        var profile = Profile()
        for event in try log.history(of: user, to: version) where !voided.contains(event.position) {
            let rules = changes.last { $0.position < event.position }?.rules ?? FoldRules()
            let at = event.occurredAt.timestamp
            switch event.event {
            case .usersMerged(let merge):
                self.merge(try fold(merge.source, merge.version, voided), into: &profile, rules)
            case .customAttributesSaved, .userAttributeSaved: profile.pending[event.position] = (event.event, at)
            case .pendingFlushed(let flush):
                for item in flush.flushed {
                    guard let saved = profile.pending.removeValue(forKey: item) else { continue }
                    apply(saved.event, at: saved.at, item, to: &profile, rules)
                }
                for item in flush.rejected { profile.pending[item.position] = nil }
            default: apply(event.event, at: at, event.position, to: &profile, rules)
            }
        }
        return profile
    }

    private func apply(
        _ event: ProfileEvent, at: Timestamp, _ position: Position, to profile: inout Profile, _ rules: FoldRules
    ) {
        switch event {
        case .customAttributesSaved(let changes), .customAttributesChanged(let changes):
            for change in changes { apply(change.operation, change.name, at, position, &profile, rules) }
        case .userAttributeSaved(let change): apply(.set(change.value), "home_city", at, position, &profile, rules)
        case .userAttributesChanged(let changes):
            for change in changes { apply(.set(change.value), "home_city", at, position, &profile, rules) }
        default: break
        }
    }

    private func apply(
        _ operation: AttributeOperation, _ name: Name, _ at: Timestamp, _ position: Position,
        _ profile: inout Profile, _ rules: FoldRules
    ) {
        if rules.blockedAttributes.contains(name) { return }
        var operation = operation
        if let type = rules.forcedTypes[name], !type.allows(operation) {
            guard case .set(let value) = operation, let coerced = type.coerced(value) else { return }
            operation = .set(coerced)
        }
        let policy = rules.policies[name] ?? .lastArrival
        let old = profile.fields[name]
        if policy == .firstWins, old != nil { return }
        if policy == .lastOccurred, let last = old?.at ?? profile.removals[name], at < last { return }
        if operation == .unset || operation == .set(.null) {
            profile.fields[name] = nil
            profile.removals[name] = policy == .lastOccurred ? at : nil
            return
        }
        guard let value = value(operation, old?.value, policy) else { return }
        profile.fields[name] = Field(value: value, at: at, position: position)
        profile.removals[name] = nil
    }

    private func value(
        _ operation: AttributeOperation, _ old: AttributeValue?, _ policy: AttributePolicy
    ) -> AttributeValue? {
        switch policy {
        case .lastArrival, .lastOccurred, .firstWins:
            switch operation {
            case .set(let value): return value
            case .increment(let number):
                guard let old else { return .int(number) }
                if case .int(let before) = old { return .int(before + number) } else { return nil }
            case .arrayAdd(let values):
                guard let before = old.map(array) ?? .some([]) else { return nil }
                return .array(before.filter { !values.contains($0) } + values)
            case .arrayRemove(let values):
                guard let before = old.flatMap(array) else { return nil }
                return .array(before.filter { !values.contains($0) })
            default: return nil
            }
        case .counter:
            switch operation {
            case .set(let number): return sum(old, number)
            case .increment(let number): return sum(old, .int(number))
            default: return nil
            }
        case .setUnion:
            switch operation {
            case .set(.array(let values)), .arrayAdd(let values): return union(old, values)
            case .arrayRemove(let values):
                guard let before = old.flatMap(array) else { return nil }
                return .array(before.filter { !values.contains($0) })
            default: return nil
            }
        }
    }

    private func array(_ value: AttributeValue) -> [AttributeValue]? {
        if case .array(let values) = value { values } else { nil }
    }

    private func sum(_ old: AttributeValue?, _ number: AttributeValue) -> AttributeValue? {
        func double(_ value: AttributeValue?) -> Double? {
            switch value {
            case .int(let number): Double(number)
            case .double(let number): number
            default: nil
            }
        }
        guard let added = double(number) else { return nil }
        guard let before = double(old) else { return number }
        if case .int(let left) = old, case .int(let right) = number { return .int(left + right) }
        return .double(before + added)
    }

    private func union(_ old: AttributeValue?, _ values: [AttributeValue]) -> AttributeValue {
        var elements = old.flatMap(array) ?? []
        for value in values where !elements.contains(value) { elements.append(value) }
        return .array(elements)
    }

    private func merge(_ source: Profile, into target: inout Profile, _ rules: FoldRules) {
        target.pending.merge(source.pending) { own, _ in own }
        for (name, field) in source.fields {
            let policy = rules.policies[name] ?? .lastArrival
            guard let own = target.fields[name] else {
                if policy == .lastOccurred, let removed = target.removals[name], removed >= field.at { continue }
                target.fields[name] = field
                target.removals[name] = nil
                continue
            }
            switch policy {
            case .lastArrival: break
            case .lastOccurred: if field.at > own.at { target.fields[name] = field }
            case .firstWins: if field.position < own.position { target.fields[name] = field }
            case .counter: target.fields[name]?.value = sum(own.value, field.value) ?? own.value
            case .setUnion:
                if let values = array(field.value) { target.fields[name]?.value = union(own.value, values) }
            }
        }
        for (name, at) in source.removals where rules.policies[name] == .lastOccurred {
            if let last = target.fields[name]?.at ?? target.removals[name], last >= at { continue }
            target.fields[name] = nil
            target.removals[name] = at
        }
    }
}
