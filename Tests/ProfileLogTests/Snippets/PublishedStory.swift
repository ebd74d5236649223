import ProfileLog
import Testing

@testable import ProfileLogSnippets

/// The story of one device, told in order: each save is item 1, 2, 3 …, and each happening is a second after the
/// last.
///
/// `story(.noUserStored).saves(.event("a")).launches(user: 2).then { #expect($0.effects(of: 1) == [.wrongUser]) }`
struct PublishedStory {
    private let policy: PublishedPolicy
    private var inputs: [PublishedInput] = []
    private var items: UInt64 = 0
    private var now: Int64 = 1_000_000_000

    static let group = DeviceStorage.appGroup("group.test")

    init(_ policy: PublishedPolicy) { self.policy = policy }

    /// The time passes, in milliseconds; it may go back.
    func after(_ milliseconds: Int64) -> PublishedStory {
        changed { $0.now += milliseconds * 1000 - 1_000_000 }
    }

    func saves(
        _ content: SavedContent, user: UInt64 = 1, by process: Name = "push", in storage: DeviceStorage = group
    ) -> PublishedStory {
        changed { story in
            story.items += 1
            story.tell(
                .saved(
                    SavedItem(
                        position: Position(rawValue: story.items), user: UserNumber(rawValue: user), process: process,
                        storage: storage, savedAt: story.tick(), content: content)))
        }
    }

    func launches(
        _ kind: LaunchKind = .cold, flushing lists: Set<PendingKind> = PendingKind.all, user: UInt64 = 1
    ) -> PublishedStory {
        changed { $0.tell(.launched(kind, lists: lists, user: UserNumber(rawValue: user), at: $0.tick())) }
    }

    func userChanges(to user: UInt64) -> PublishedStory {
        changed { $0.tell(.userChanged(UserNumber(rawValue: user), at: $0.tick())) }
    }

    func discards(_ items: UInt64...) -> PublishedStory {
        changed { $0.tell(.discarded(items.map(Position.init(rawValue:)), at: $0.tick())) }
    }

    func then(_ body: (PublishedEnd) throws -> Void) rethrows { try body(PublishedEnd(policy, inputs)) }

    private func changed(_ change: (inout PublishedStory) -> Void) -> PublishedStory {
        var story = self
        change(&story)
        return story
    }

    private mutating func tell(_ intent: PublishedInput) { inputs.append(intent) }

    private mutating func tick() -> Timestamp {
        now += 1_000_000
        return Timestamp(rawValue: now)
    }
}

/// Begins a story with these faults switched on.
func story(_ faults: Fault..., under change: (inout PublishedConditions) -> Void = { _ in }) -> PublishedStory {
    var conditions = PublishedConditions()
    change(&conditions)
    return PublishedStory(PublishedPolicy(Set(faults), conditions))
}

/// One call of the SDK for one item.
struct Delivery {
    let item: Position
    let user: UserNumber
    let time: Timestamp
    let content: SavedContent
}

/// The end of a story, for expectations to read.
struct PublishedEnd {
    private(set) var deliveries: [Delivery] = []
    private(set) var outcomes: [UInt64: PublishedOutcome] = [:]
    private(set) var report = WhatIfReport()
    /// The most items that were on the device at once.
    private(set) var mostItems = 0

    init(_ policy: PublishedPolicy, _ inputs: [PublishedInput]) {
        var device = PublishedDevice(policy)
        for intent in inputs {
            add(device.handle(intent))
            mostItems = max(mostItems, device.itemCount)
        }
        add(device.finish())
    }

    private mutating func add(_ outputs: [PublishedOutput]) {
        for output in outputs {
            switch output {
            case .delivered(let item, let user, let time, let content):
                deliveries.append(Delivery(item: item, user: user, time: time, content: content))
            case .ended(let outcome):
                let before = outcomes.updateValue(outcome, forKey: outcome.item.position.rawValue)
                #expect(before == nil, "item \(outcome.item.position.rawValue) ended twice")
                report.add(outcome, on: "phone")
            }
        }
    }

    func deviations(of item: UInt64) -> [Deviation] { outcomes[item]?.deviations ?? [] }
    func effects(of item: UInt64) -> Set<FaultEffect> { Set(deviations(of: item).map(\.effect)) }
    func faults(of item: UInt64) -> Set<Int> { Set(deviations(of: item).map(\.fault.number)) }
    /// Returns the calls of the SDK for the item, one by one.
    func given(_ item: UInt64) -> [SavedContent] {
        deliveries.filter { $0.item.rawValue == item }.map(\.content)
    }
    /// Items in the order in which the SDK was given them.
    var order: [UInt64] { deliveries.map(\.item.rawValue) }
}

extension SavedContent {
    static func event(_ name: Name, _ properties: AttributeValue? = nil) -> SavedContent {
        guard case .object(let members) = properties else { return .event(CustomEvent(name: name)) }
        return .event(CustomEvent(name: name, properties: members))
    }

    static func set(_ name: Name, _ value: AttributeValue) -> SavedContent {
        .attributes([AttributeChange(name, .set(value))])
    }

    static func user(_ attribute: StandardAttribute, _ value: AttributeValue) -> SavedContent {
        .userAttribute(UserAttributeChange(attribute, value))
    }
}
