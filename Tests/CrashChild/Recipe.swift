import ProfileLog

/// One append, made from nothing but numbers: the next process can make the same one again, and every event says in its
/// content to which append it belongs (`ROUND.APPEND.INDEX.COUNT`).
struct Recipe {
    /// `ROUND.APPEND`
    let tag: String
    private(set) var items: [Item] = []
    private(set) var key: String?

    struct Item {
        let user: UserID
        let event: ProfileEvent
        let context: EventContext
    }

    static let devices = ["device-0", "device-1", "device-2"]
    private static let long = String(repeating: "long-", count: 70)

    init(seed: UInt64, round: UInt64, append: UInt64) {
        tag = "\(round).\(append)"
        var random = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ round << 32 &+ append)
        if random.next(below: 10) < 6 { key = "key-\(seed)-\(tag)" }
        let count = 1 + random.next(below: 6)
        let isSave = random.next(below: 3) == 0
        let device = Self.devices[random.next(below: Self.devices.count)]
        var user = Self.user(&random)
        for index in 0..<count {
            if random.next(below: 3) == 0 { user = Self.user(&random) }
            let content = "\(tag).\(index).\(count)"
            var context = EventContext(source: isSave ? .extension : .rest)
            if random.next(below: 2) == 0 {
                let at = 1_767_225_600_000_000 + Int64(random.next(below: 1_000_000)) * 1000
                context.occurredAt = OccurredAt(Timestamp(rawValue: at), utcOffsetMinutes: 60)
            }
            if isSave {
                context.device = device
                context.process = "push"
                context.storage = Self.storage(&random)
                // A private storage belongs to the process that saves.
                if case .privateTo(let owner) = context.storage { context.process = owner }
            }
            let event = isSave ? Self.saved(content, &random) : Self.logged(content, append, &random)
            items.append(Item(user: isSave && index == 0 ? .device(device) : user, event: event, context: context))
        }
    }

    /// The same append with a key, if it has none.
    func keyed() -> Recipe {
        var recipe = self
        recipe.key = key ?? "script-\(tag)"
        return recipe
    }

    /// The append, made for `log`; `expecting` has it refused unless its first user is at this version.
    func prepare(for log: EventLog, expecting: ExpectedVersion = .any) throws(AppendError) -> PreparedAppend {
        var builder = log.prepare()
        for item in items { try builder.add(item.event, item.context, to: item.user) }
        if let first = items.first { builder.expect(first.user, at: expecting) }
        return try builder.finish(idempotencyKey: key, note: Array(tag.utf8))
    }

    /// The fingerprint of the stored events, as one number (FNV-1a).
    var fingerprint: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for item in items {
            for byte in "\(item.event)\(String(describing: item.context.occurredAt))".utf8 {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
            }
        }
        return String(hash, radix: 16)
    }

    private static func user(_ random: inout SeededGenerator) -> UserID {
        switch random.next(below: 10) {
        case 0: .alias(label: "crm", name: "a\(random.next(below: 4))")
        case 1: .email("e\(random.next(below: 4))@example.org")
        case 2: .externalID(long + "\(random.next(below: 3))")
        default: .externalID("user-\(random.next(below: 9))")
        }
    }

    private static func storage(_ random: inout SeededGenerator) -> DeviceStorage {
        switch random.next(below: 5) {
        case 0: .privateTo(process: "push")
        case 1: .privateTo(process: DeviceStorage.app)
        case 2: .appGroup("group.second")
        default: .appGroup("group.first")
        }
    }

    private static func saved(_ content: String, _ random: inout SeededGenerator) -> ProfileEvent {
        switch random.next(below: 3) {
        case 0: .customEventSaved(custom(content, "Saved", &random))
        case 1: .customAttributesSaved([.init("saved", .set(.string(content)))])
        default: .userAttributeSaved(.init(.homeCity, .string(content)))
        }
    }

    private static func logged(_ content: String, _ append: UInt64, _ random: inout SeededGenerator) -> ProfileEvent {
        switch random.next(below: 8) {
        case 0: .userAttributesChanged([.init(.firstName, .string(content)), .init(.gender, .string("F"))])
        case 1, 2:
            // In ascending order of names, as the log gives them back.
            .customAttributesChanged([
                .init("level", .increment(Int64(random.next(below: 5)))),
                .init("seen", .arrayAdd([.int(Int64(random.next(below: 9)))])), .init("tag", .set(.string(content))),
            ])
        case 3:
            .purchaseLogged(
                Purchase(
                    product: "book", currency: "EUR", price: Double(random.next(below: 900)) / 4, quantity: 2,
                    properties: [.init("tag", .string(content))]))
        case 4: .customEventLogged(custom(content, "First seen \(append % 97)", &random))
        default: .customEventLogged(custom(content, "Event \(random.next(below: 5))", &random))
        }
    }

    private static func custom(_ content: String, _ name: String, _ random: inout SeededGenerator) -> CustomEvent {
        var properties: [AttributeValue.Member] = [.init("tag", .string(content))]
        // Now and then a record that takes pages of its own.
        if random.next(below: 40) == 0 {
            let piece = AttributeValue.string(String(repeating: "x", count: 250))
            properties.insert(
                .init("load", .array(Array(repeating: piece, count: 12 + random.next(below: 24)))), at: 0)
        }
        return CustomEvent(name: Name(name), properties: properties)
    }
}
