import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds

/// A random store with saved and logged facts of a few users, launches, merges, erasures, and voids.
struct VoidStory {
    let log: EventLog
    private let clock: TestClock
    private var random: SeededGenerator
    /// The facts that may be voided, by position, and whether each is void.
    private(set) var facts: [Position: Bool] = [:]
    private let mayErase: Bool

    static let devices = ["d1", "d2"]

    init(_ log: EventLog, _ clock: TestClock, seed: UInt64, mayErase: Bool = false) {
        (self.log, self.clock, self.mayErase) = (log, clock, mayErase)
        random = SeededGenerator(seed: seed)
    }

    private mutating func number(_ end: Int) -> Int { random.next(below: end) }
    private mutating func pick<Item>(_ items: [Item]) -> Item { items[number(items.count)] }

    mutating func step() throws {
        clock.advance(1_000_000)
        switch number(mayErase ? 41 : 40) {
        case 0..<14: try write(saved: false)
        case 14..<22: try write(saved: true)
        case 22..<26: _ = try log.launch(device: pick(Self.devices))
        case 26..<28: _ = try log.changeUser(device: pick(Self.devices), to: user())
        case 28:
            let (source, target) = (user(), user())
            if try log.find(source) != nil, try log.find(target) != nil {
                _ = try log.commit(.identity(.merge(source: source, target: target), context: .test))
            }
        case 29: try log.writeIndex()
        case 40:
            let user = user()
            guard try log.find(user) != nil else { return }
            _ = try log.erase([user], actor: "a test", reason: "asked to")
            for position in facts.keys where try log.event(at: position)?.isErased == true { facts[position] = nil }
        default: try log.voidOrUnvoid(one: &facts, using: &random)
        }
    }

    private mutating func user() -> UserID { .externalID("u\(number(4))") }

    private mutating func write(saved: Bool) throws {
        let event = event(saved: saved)
        let device = pick(Self.devices)
        let id = number(4) == 0 ? UserID.device(device) : user()
        let receipt = try log.append([event], to: id, context: saved ? .saved(on: device) : EventContext(source: .rest))
        facts[receipt.last] = false
    }

    private mutating func event(saved: Bool) -> ProfileEvent {
        switch number(6) {
        case 0:
            let event = CustomEvent(name: pick(["played", "paused"]))
            return saved ? .customEventSaved(event) : .customEventLogged(event)
        case 1:
            let change = UserAttributeChange(
                pick([.email, .homeCity]), pick([.null, "a@b.cc", "b@b.cc"]))
            return saved ? .userAttributeSaved(change) : .userAttributesChanged([change])
        case 2 where !saved:
            return .purchaseLogged(Purchase(product: "p", currency: "EUR", price: 2.5))
        default:
            let change = operation()
            return saved ? .customAttributesSaved([change]) : .customAttributesChanged([change])
        }
    }

    private mutating func operation() -> AttributeChange {
        let text = AttributeValue.string("t\(number(5))")
        return switch number(9) {
        case 0: AttributeChange("plan", .set(pick([.int(Int64(number(9))), text])))
        case 1: AttributeChange("plan", .unset)
        case 2: AttributeChange("score", .increment(Int64(number(9)) + 1))
        case 3: AttributeChange("tags", .set(.array([text, "fixed"])))
        case 4: AttributeChange("tags", .arrayAdd([text]))
        case 5: AttributeChange("tags", .arrayRemove([text]))
        case 6: AttributeChange("home", .set(["city": text, "zip": 1]))
        case 7: AttributeChange("home", .objectMerge([.init("geo", ["lat": text])]))
        default: AttributeChange("home", .objectMerge([.init("city", text)]))
        }
    }
}

/// Folds as the written rule says, by the list of events and nothing else: the slow truth that reads are compared with.
struct VoidOracle {
    let log: EventLog

    /// The state of `user` after `version`.
    func state<P: Projection>(_: P.Type, of user: UserNumber, at version: Version) throws -> P.State {
        var voided: Set<Position> = []
        for event in try everything(of: user, to: version).sorted(by: { $0.position < $1.position }) {
            if case .eventVoided(let voiding) = event.event { voided.insert(voiding.target) }
            if case .eventUnvoided(let voiding) = event.event { voided.remove(voiding.target) }
        }
        return try fold(P.self, user, version, voided)
    }

    /// The events of `user` and of all who were merged into them.
    private func everything(of user: UserNumber, to version: Version) throws -> [RecordedEvent] {
        try log.history(of: user, to: version).flatMap { event in
            guard case .usersMerged(let merge) = event.event else { return [event] }
            return try [event] + everything(of: merge.source, to: merge.version)
        }
    }

    private func fold<P: Projection>(
        _: P.Type, _ user: UserNumber, _ version: Version, _ voided: Set<Position>
    ) throws -> P.State {
        var state = P.initial
        for event in try log.history(of: user, to: version) where !voided.contains(event.position) {
            var merged: P.State?
            if case .usersMerged(let merge) = event.event {
                merged = try fold(P.self, merge.source, merge.version, voided)
            }
            try log.withView { view in
                func seen(_ position: Position) throws -> EventView {
                    EventView(
                        header: try view.header(at: position.rawValue), position: position, names: log.names,
                        effect: event.position)
                }
                if let merged { P.merge(merged, into: &state, by: try seen(event.position)) }
                for item in try log.effective(by: event) where !voided.contains(item.position) {
                    P.apply(try seen(item.position), to: &state)
                }
                if event.event.kind.isSaved || event.event.kind.isQueued {
                    P.applyWaiting(try seen(event.position), to: &state)
                } else {
                    P.apply(try seen(event.position), to: &state)
                }
            }
        }
        return state
    }
}

extension EventLog {
    /// The saved and queued events that take effect by `event`, without erased ones.
    func effective(by event: RecordedEvent) throws -> [RecordedEvent] {
        let items: [Position] =
            switch event.event {
            case .pendingFlushed(let flush): flush.isQueued ? [] : flush.flushed
            case .dataSent(let items): items
            default: []
            }
        return try items.compactMap { try self.event(at: $0) }.filter { !$0.isErased }
    }
}

extension EventLog {
    /// Voids an event of `facts`, chosen at random, or takes its void back. `facts` says which are void.
    func voidOrUnvoid(one facts: inout [Position: Bool], using random: inout SeededGenerator) throws {
        guard let (position, isVoid) = facts.sorted(by: { $0.key < $1.key }).randomElement(using: &random) else {
            return
        }
        if isVoid {
            try unvoid(position, actor: "a test", reason: "it was right")
        } else {
            try void(position, actor: "a test", reason: "it was wrong")
        }
        facts[position] = !isVoid
    }
}
