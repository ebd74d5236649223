import ProfileLog

@testable import ProfileLogFolds
@testable import ProfileLogLog

/// A seeded mix of appends, saves, user changes and launches, as values: to be committed in groups of any size.
struct MixedWork {
    private var random: SeededGenerator
    private var made = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    static func appends(_ count: Int, seed: UInt64, for log: EventLog) throws -> [PreparedAppend] {
        var work = MixedWork(seed: seed)
        return try (0..<count).map { _ in try work.next(for: log) }
    }

    /// The next append. A launch is its intent, and the flush that follows it another append.
    mutating func next(for log: EventLog) throws -> PreparedAppend {
        made += 1
        let device = "device-\(random.next(below: 3))"
        let context = EventContext(source: .app)
        switch random.next(below: 20) {
        case 0: return try PreparedAppend.device(device, .launch(.cold), context)
        case 1, 2:
            return try PreparedAppend.device(device, .flush(.init(limit: 3)), context)
        case 3: return try PreparedAppend.device(device, .changeUser(user()), context)
        default: return try events(device, log)
        }
    }

    private mutating func user() -> UserID {
        switch random.next(below: 6) {
        case 0: .alias(label: "crm", name: "a\(random.next(below: 5))")
        case 1: .externalID(String(repeating: "long-", count: 60) + "\(random.next(below: 4))")
        default: .externalID("user-\(random.next(below: 20))")
        }
    }

    private mutating func events(_ device: String, _ log: EventLog) throws -> PreparedAppend {
        var builder = log.prepare()
        let isSave = random.next(below: 3) == 0
        for _ in 0...random.next(below: 4) {
            var context = EventContext(source: isSave ? .extension : .rest)
            if isSave {
                context.device = device
                context.process = "push"
                context.storage = random.next(below: 4) == 0 ? .privateTo(process: "push") : .appGroup("group.first")
            }
            try builder.add(event(isSave), context, to: isSave ? .device(device) : user())
        }
        let key = random.next(below: 2) == 0 ? "key-\(random.next(below: 3) == 0 ? made / 2 : made)-\(made)" : nil
        return try builder.finish(idempotencyKey: key)
    }

    private mutating func event(_ isSave: Bool) -> ProfileEvent {
        let value = AttributeValue.int(Int64(random.next(below: 1000)))
        let event = CustomEvent(name: Name("Event \(random.next(below: 40))"), properties: [.init("score", value)])
        let changes = [AttributeChange(Name("attribute \(random.next(below: 30))"), .set(value))]
        switch random.next(below: 3) {
        case 0: return isSave ? .customEventSaved(event) : .customEventLogged(event)
        case 1: return isSave ? .customAttributesSaved(changes) : .customAttributesChanged(changes)
        default:
            let change = UserAttributeChange(.homeCity, .string("city \(random.next(below: 50))"))
            return isSave ? .userAttributeSaved(change) : .userAttributesChanged([change])
        }
    }
}
