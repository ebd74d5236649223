import Foundation
import ProfileLogMachines
import TestSupport
import Testing

@Suite("In-app messages: matching triggers")
struct TriggerMatchTests {
    private static func matches(_ event: TriggerEvent, _ triggers: [TriggerCondition]...) throws -> [Name] {
        let messages = try triggers.enumerated().map { try InAppMessage(id: Name("m\($0)"), triggers: $1) }
        let table = try TriggerTable(messages)
        var found: [Name] = []
        table.forEachMatch(event) { found.append(table.messages[$0].id) }
        return found
    }

    private static func accepts(_ filter: PropertyFilter, _ properties: [AttributeValue.Member]?) throws -> Bool {
        let event = CustomEvent(name: "e", properties: properties)
        return try matches(.customEvent(event), [.customEvent("e", [[filter]])]) == ["m0"]
    }

    @Test("Five types of conditions, any of which matches")
    func types() throws {
        func purchase(_ product: Name) -> TriggerEvent {
            .purchase(Purchase(product: product, currency: "EUR", price: 1))
        }
        let some: [TriggerCondition] = [.purchase(product: "hat"), .sessionStart]
        let any: [TriggerCondition] = [.purchase(), .pushClick(campaign: "spring")]
        let click: [TriggerCondition] = [.pushClick(), .customEvent("e")]
        #expect(try Self.matches(purchase("hat"), some, any, click) == ["m0", "m1"])
        #expect(try Self.matches(purchase("cap"), some, any, click) == ["m1"])
        #expect(try Self.matches(.sessionStart, some, any, click) == ["m0"])
        #expect(try Self.matches(.pushOpened(campaign: "spring"), some, any, click) == ["m1", "m2"])
        #expect(try Self.matches(.pushOpened(), some, any, click) == ["m2"])
        #expect(try Self.matches(.customEvent(CustomEvent(name: "e")), some, any, click) == ["m2"])
        #expect(try Self.matches(.customEvent(CustomEvent(name: "E")), some, any, click) == [])
    }

    @Test("A message with several matching conditions matches once")
    func once() throws {
        #expect(try Self.matches(.sessionStart, [.sessionStart, .sessionStart]) == ["m0"])
        #expect(try Self.matches(.pushOpened(campaign: "c"), [.pushClick(), .pushClick(campaign: "c")]) == ["m0"])
    }

    @Test("Filters: AND of ORs, on events and purchases")
    func filters() throws {
        let filters: TriggerCondition.Filters = [
            [
                try PropertyFilter("a", .number, comparator: 1, .int(1)),
                try PropertyFilter("b", .boolean, comparator: 11),
            ],
            [try PropertyFilter("c", .string, comparator: 1, .string("x"))],
        ]
        func found(_ properties: [AttributeValue.Member]?) throws -> Bool {
            let event = CustomEvent(name: "e", properties: properties)
            let purchase = Purchase(product: "p", currency: "EUR", price: 1, properties: properties)
            let first = try Self.matches(.customEvent(event), [.customEvent("e", filters)]) == ["m0"]
            let second = try Self.matches(.purchase(purchase), [.purchase(filters)]) == ["m0"]
            #expect(first == second)
            return first
        }
        #expect(try found([.init("a", .int(1)), .init("c", .string("x"))]))
        #expect(try found([.init("b", .bool(false)), .init("c", .string("x"))]))
        #expect(try !found([.init("a", .int(2)), .init("c", .string("x"))]))
        #expect(try !found([.init("a", .int(1))]))
        #expect(try !found(nil))
    }

    @Test("Filters never match an event without properties, and `does not exist` matches one with empty ones")
    func noProperties() throws {
        let filter = try PropertyFilter("a", .string, comparator: 12)
        #expect(try !Self.accepts(filter, nil))
        #expect(try Self.accepts(filter, []))
        #expect(try Self.accepts(filter, [.init("a", .null)]))
        #expect(try !Self.accepts(filter, [.init("a", .int(1))]))
    }

    @Test("The type is checked first: a missing value and one of another type are not unequal")
    func typeFirst() throws {
        let number = try PropertyFilter("a", .number, comparator: 2, .int(1))
        #expect(try !Self.accepts(number, []))
        #expect(try !Self.accepts(number, [.init("a", .string("2"))]))
        #expect(try !Self.accepts(number, [.init("a", .bool(true))]))
        #expect(try Self.accepts(number, [.init("a", .double(1.5))]))
        let text = try PropertyFilter("a", .string, comparator: 17, .string("x"))
        #expect(try !Self.accepts(text, []))
        #expect(try !Self.accepts(text, [.init("a", .int(1))]))
        #expect(try Self.accepts(text, [.init("a", .string("y"))]))
        let exists = try PropertyFilter("a", .boolean, comparator: 11)
        #expect(try !Self.accepts(exists, [.init("a", .int(1))]))
        #expect(try Self.accepts(exists, [.init("a", .bool(false))]))
    }

    @Test("Integers are compared exactly, and with doubles as numbers")
    func numbers() throws {
        let large = try PropertyFilter("a", .number, comparator: 1, .int(9_007_199_254_740_993))
        #expect(try !Self.accepts(large, [.init("a", .int(9_007_199_254_740_992))]))
        let two = try PropertyFilter("a", .number, comparator: 1, .double(2))
        #expect(try Self.accepts(two, [.init("a", .int(2))]))
    }

    @Test("A regular expression is a case-insensitive search; equality is not")
    func text() throws {
        let regex = try PropertyFilter("a", .string, comparator: 10, .string("rock|pop$"))
        for (text, isFound) in [("Progressive ROCK!", true), ("K-Pop", true), ("pop song", false)] {
            #expect(try Self.accepts(regex, [.init("a", .string(text))]) == isFound, "\(text)")
        }
        let equals = try PropertyFilter("a", .string, comparator: 1, .string("pop"))
        #expect(try !Self.accepts(equals, [.init("a", .string("Pop"))]))
    }

    @Test("Dates are compared as moments, whatever their offsets")
    func dates() throws {
        let noon = try PropertyFilter("a", .date, comparator: 3, .string("2026-01-01T12:00:00Z"))
        func date(_ seconds: Int64) -> [AttributeValue.Member] {
            let time = Timestamp(rawValue: (1_767_268_800 + seconds) * 1_000_000)
            return [.init("a", .date(OccurredAt(time, utcOffsetMinutes: 120)))]
        }
        #expect(try !Self.accepts(noon, date(0)))
        #expect(try Self.accepts(noon, date(1)))
        #expect(try !Self.accepts(noon, [.init("a", .string("2027-01-01T12:00:00Z"))]))
    }

    @Test("What the SDK logged triggers, sent or not; what is saved does not")
    func logged() {
        let event = CustomEvent(name: "e")
        #expect(TriggerEvent(logged: .customEventLogged(event)) == .customEvent(event))
        #expect(TriggerEvent(logged: .queued(.customEventLogged(event))) == .customEvent(event))
        #expect(TriggerEvent(logged: .customEventSaved(event)) == nil)
        #expect(TriggerEvent(logged: .sessionStarted) == nil)
    }

    // MARK: - The model

    @Test("Random messages and events match as in a simple model", arguments: Thoroughness.seeds(short: 40, full: 1000))
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var hits = 0
        for _ in 0..<25 {
            let messages = try (0..<4).map { try Self.message($0, &random) }
            let table = try TriggerTable(messages)
            for _ in 0..<4 {
                let event = Self.event(&random)
                var found: [Name] = []
                table.forEachMatch(event) { found.append(table.messages[$0].id) }
                let expected = messages.filter { TriggerModel.matches($0, event) }
                    .sorted { ($0.priority, $1.id) > ($1.priority, $0.id) }.map(\.id)
                #expect(found == expected, "seed \(seed): \(messages) \(event)")
                hits += found.count
            }
        }
        #expect(hits > 20, "seed \(seed): the cases hardly match")
    }

    private static let keys: [Name] = ["a", "b", "c"]
    private static let texts = ["pop", "Pop", "rock", "p.p", "", "straße", "e\u{301}", "^ro", "K$"]

    private static func value(_ random: inout SeededGenerator) -> AttributeValue {
        switch random.next(below: 8) {
        case 0: .bool(random.next(below: 2) == 0)
        case 1, 2: .int(Int64(random.next(below: 5) - 2))
        case 3: .double(Double(random.next(below: 9) - 4) / 2)
        case 4, 5: .string(texts[random.next(below: texts.count)])
        case 6: .date(OccurredAt(Timestamp(rawValue: Int64(random.next(below: 3))), utcOffsetMinutes: 60))
        default: [.null, .array([.int(1)]), .object([])][random.next(below: 3)]
        }
    }

    /// Kinds that do not fit together are refused: drawn again.
    private static func filter(_ random: inout SeededGenerator) -> PropertyFilter {
        while true {
            let type = PropertyFilter.PropertyType.allCases[random.next(below: 4)]
            let made = try? PropertyFilter(
                keys[random.next(below: 3)], type, comparator: 1 + random.next(below: 17), value(&random))
            if let made { return made }
        }
    }

    private static func message(_ index: Int, _ random: inout SeededGenerator) throws -> InAppMessage {
        func filters() -> TriggerCondition.Filters {
            (0..<random.next(below: 3)).map { _ in (0...random.next(below: 3)).map { _ in filter(&random) } }
        }
        let triggers: [TriggerCondition] = (0...random.next(below: 2)).map { _ in
            switch random.next(below: 6) {
            case 0: .sessionStart
            case 1: .pushClick(campaign: [nil, "a"][random.next(below: 2)])
            case 2, 3: .purchase(product: [nil, "a", "b"][random.next(below: 3)], filters())
            default: .customEvent(keys[random.next(below: 2)], filters())
            }
        }
        return try InAppMessage(id: Name("m\(index)"), triggers: triggers, priority: Double(random.next(below: 3)))
    }

    private static func event(_ random: inout SeededGenerator) -> TriggerEvent {
        let properties: [AttributeValue.Member]? =
            random.next(below: 6) == 0
            ? nil : keys.filter { _ in random.next(below: 3) > 0 }.map { .init($0, value(&random)) }
        switch random.next(below: 8) {
        case 0: return .sessionStart
        case 1: return .pushOpened(campaign: [nil, "a", "b"][random.next(below: 3)])
        case 2, 3, 4:
            return .purchase(
                Purchase(product: keys[random.next(below: 3)], currency: "EUR", price: 1, properties: properties))
        default: return .customEvent(CustomEvent(name: keys[random.next(below: 2)], properties: properties))
        }
    }
}

/// Matching by the words of spec/device 5.1, without tables: regular expressions by Foundation, numbers as decimals.
private enum TriggerModel {
    static func matches(_ message: InAppMessage, _ event: TriggerEvent) -> Bool {
        message.triggers.contains { condition in
            switch (condition, event) {
            case (.sessionStart, .sessionStart): true
            case (.pushClick(let wanted), .pushOpened(let campaign)): wanted == nil || wanted == campaign
            case (.purchase(let product, let filters), .purchase(let purchase)):
                (product == nil || product == purchase.product) && accepts(filters, purchase.properties)
            case (.customEvent(let name, let filters), .customEvent(let event)):
                name == event.name && accepts(filters, event.properties)
            default: false
            }
        }
    }

    private static func accepts(_ filters: [[PropertyFilter]], _ properties: [AttributeValue.Member]?) -> Bool {
        guard !filters.isEmpty else { return true }
        guard let properties else { return false }
        return filters.allSatisfy { list in list.contains { accepts($0, properties) } }
    }

    private static func accepts(_ filter: PropertyFilter, _ properties: [AttributeValue.Member]) -> Bool {
        let value = properties.last { $0.key == filter.key }?.value
        let isMissing = value == nil || value == .null
        if filter.comparator.rawValue == 12 { return isMissing }
        guard let value, type(of: value) == filter.type else { return false }
        if filter.comparator.rawValue == 11 { return true }
        guard let wanted = filter.value else { return false }
        switch filter.comparator.rawValue {
        case 10, 17:
            guard case .string(let pattern) = wanted, case .string(let text) = value,
                let regex = try? NSRegularExpression(pattern: pattern, options: .caseInsensitive)
            else { return false }
            let range = NSRange(text.startIndex..<text.endIndex, in: text)
            return (regex.firstMatch(in: text, range: range) != nil) == (filter.comparator.rawValue == 10)
        case 1: return isEqual(value, wanted)
        case 2: return !isEqual(value, wanted)
        case 3: return number(value) > number(wanted)
        case 4: return number(value) >= number(wanted)
        case 5: return number(value) < number(wanted)
        default: return number(value) <= number(wanted)
        }
    }

    private static func type(of value: AttributeValue) -> PropertyFilter.PropertyType? {
        switch value {
        case .bool: .boolean
        case .int, .double: .number
        case .string: .string
        case .date: .date
        default: nil
        }
    }

    private static func isEqual(_ left: AttributeValue, _ right: AttributeValue) -> Bool {
        if case .string(let left) = left, case .string(let right) = right { return Data(left.utf8) == Data(right.utf8) }
        if case .bool = left { return left == right }
        return number(left) == number(right)
    }

    private static func number(_ value: AttributeValue) -> Decimal {
        switch value {
        case .int(let int): Decimal(int)
        case .double(let double): Decimal(double)
        case .date(let date): Decimal(date.timestamp.rawValue)
        default: .nan
        }
    }
}
