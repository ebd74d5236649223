import ProfileLog

/// The time that a device takes to match an event against its in-app messages: 1,000 devices with 100 messages each,
/// whose conditions are compiled once for all.
///
/// `profilelog-crashchild match - EVENTS` prints one line of JSON.
enum MatchRun {
    private static let (devices, messages) = (1_000, 100)
    private static let properties: [Name] = ["album", "genre", "minutes", "new"]

    static func run(events: Int) throws {
        let table = try TriggerTable(InAppMessage.list(.array((0..<messages).map(message)), at: "messages"))
        var states = (0..<devices).map { device in
            var state = InAppState()
            let session = InAppContent.session(table.messages.map(\.id).sorted(), catalogue: 1)
            state.apply(
                MessageStep(.sent, of: "", by: .inAppMessage, content: session), user: UInt64(device + 1), position: 1,
                at: 0)
            return state
        }
        var random = SeededGenerator(seed: 1)
        var microseconds: [Double] = []
        var (steps, now) = (0, Int64(0))
        let clock = ContinuousClock()
        for _ in 0..<events {
            let device = Int.random(in: 0..<devices, using: &random)
            let event = TriggerEvent.customEvent(event(using: &random))
            now += 50_000
            let begin = clock.now
            let machine = InAppMachine(
                state: states[device], table: table, device: .init(user: UInt64(device + 1)), now: now)
            let reaction = machine.handle(.event(event), cause: Position(rawValue: 1))
            microseconds.append((clock.now - begin) / .microseconds(1))
            steps += reaction.steps.count
            for step in reaction.steps {
                states[device].apply(step, user: UInt64(device + 1), position: 2, at: now)
            }
            if states[device].screen != nil {
                states[device].apply(
                    MessageStep(.closed, of: states[device].screen?.message ?? "", by: .inAppMessage),
                    user: UInt64(device + 1), position: 3, at: now)
            }
        }
        microseconds.sort()
        func rank(_ share: Double) -> Double { microseconds[Int(Double(microseconds.count - 1) * share)] }
        Report.line(
            "{\"events\":\(events),\"steps\":\(steps),\"p50_us\":\(rank(0.5)),\"p99_us\":\(rank(0.99)),"
                + "\"max_us\":\(rank(1))}")
    }

    /// Makes a message for one of ten events, so that ten messages wait for each, with one to three filters.
    private static func message(_ number: Int) -> AttributeValue {
        let filters: [[(Name, String, Int64, AttributeValue)]] = [
            [("genre", "string", 1, .string(["pop", "rock", "jazz"][number % 3]))],
            [("minutes", "number", 3, .int(Int64(number % 10))), ("new", "boolean", 1, .bool(true))],
            [("album", "string", 10, .string("^a.*\(number % 7)$"))],
        ]
        let lists = filters.prefix(1 + number % 3).map { list in
            AttributeValue.array(
                list.map { key, type, comparator, value in
                    .object([
                        .init("comparator", .int(comparator)), .init("property_key", .string(key.text)),
                        .init("property_type", .string(type)), .init("property_value", value),
                    ])
                })
        }
        let trigger = AttributeValue.object([
            .init("event_name", .string("event \(number % 10)")), .init("property_filters", .array(Array(lists))),
            .init("type", .string("custom_event_property")),
        ])
        return .object([
            .init("id", .string("message \(number)")), .init("priority", .int(Int64(number))),
            .init("re_eligibility", .int(60)), .init("trigger_conditions", .array([trigger])),
        ])
    }

    private static func event(using random: inout SeededGenerator) -> CustomEvent {
        let values: [AttributeValue] = [
            .string("album \(Int.random(in: 0..<10, using: &random))"),
            .string(["pop", "rock", "jazz", "folk"][Int.random(in: 0..<4, using: &random)]),
            .int(Int64.random(in: 0..<10, using: &random)), .bool(Bool.random(using: &random)),
        ]
        return CustomEvent(
            name: Name("event \(Int.random(in: 0..<10, using: &random))"),
            properties: zip(properties, values).map { .init($0, $1) })
    }
}
