import ProfileLog
import TestSupport
import Testing

@Suite("Users by the beginnings of their identifiers")
struct IdentifierReaderTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let rest = EventContext(source: .rest)

    /// An identifier that leads to a user, in the order of a search.
    private struct Row: Hashable, Comparable, CustomStringConvertible {
        let text: [UInt8]
        let kind: UInt8
        var label: [UInt8] = []
        let user: UInt64

        static func < (left: Row, right: Row) -> Bool {
            if left.text != right.text { return left.text.lexicographicallyPrecedes(right.text) }
            if left.kind != right.kind { return left.kind < right.kind }
            if left.label != right.label { return left.label.lexicographicallyPrecedes(right.label) }
            return left.user < right.user
        }

        init(_ id: UserID, _ user: UserInfo) {
            let normal =
                switch id {
                case .email(let address): address.lowercased()
                case .phone(let number): number.filter(\.isNumber)
                case .alias(_, let name): name
                default: id.parts[0]
                }
            text = Array(normal.utf8)
            kind = id.kindNumber
            if case .alias(let label, _) = id { self.label = Array(label.utf8) }
            self.user = user.number.rawValue
        }

        var description: String { "\(kind):\(String(decoding: text, as: UTF8.self)) → \(user)" }
    }

    // MARK: - A random store

    private static let texts = [
        "a", "ab", "aB", "abc", "b", "A", "é", "e\u{301}", "12", "49", "id:a", "email:a", "ab@x.example", "ab\u{1}c",
    ]
    private static let labels = ["l", "lab", "m", "a:b"]
    private static let emails = ["a@x.example", "AB@x.example", "ab@x.example", "abc@yy.example", "b@x.example"]
    private static let phones = ["+4915112345", "+49 160 9876", "+12025550100"]
    private static let devices = ["a-phone", "ab", "b", "tablet"]

    private static let all: [UserID] =
        texts.map { .externalID($0) } + labels.flatMap { label in texts.map { .alias(label: label, name: $0) } }
        + emails.map { .email($0) } + phones.map { .phone($0) } + devices.map { .device($0) }

    /// Something happens to one of the users; a refusal leaves the store as it is.
    private func act(_ log: EventLog, _ random: inout SeededGenerator) throws {
        func pick<Element>(_ elements: [Element]) -> Element { elements[random.next(below: elements.count)] }
        func known() -> UserID { .externalID(pick(Self.texts)) }
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "e"))
        switch random.next(below: 14) {
        case 0, 1: _ = try? log.append([event], to: known(), context: rest)
        case 2:
            let alias = UserID.alias(label: pick(Self.labels), name: pick(Self.texts))
            _ = try? log.append([event], to: alias, context: rest)
        case 3, 4:
            let email = UserAttributeChange(.email, .string(pick(Self.emails)))
            _ = try? log.append([.userAttributesChanged([email])], to: known(), context: rest)
        case 5:
            let phone = UserAttributeChange(.phone, .string(pick(Self.phones)))
            _ = try? log.append([.userAttributesChanged([phone])], to: known(), context: rest)
        case 6: _ = try? log.append([event], to: pick([.email(pick(Self.emails)), .phone(pick(Self.phones))]))
        case 7: _ = try? log.changeUser(device: pick(Self.devices), to: known())
        case 8: _ = try? log.launch(device: pick(Self.devices))
        case 9:
            let alias = UserID.alias(label: pick(Self.labels), name: pick(Self.texts))
            try? change(.addAlias(alias: alias, user: known()), log)
        case 10:
            let label = pick(Self.labels)
            try? change(
                .renameAlias(
                    alias: .alias(label: label, name: pick(Self.texts)),
                    newAlias: .alias(label: label, name: pick(Self.texts))), log)
        case 11: try? change(.merge(source: pick(Self.all), target: known()), log)
        case 12:
            try? change(.renameExternalID(current: known(), newID: known()), log)
            if random.next(below: 2) == 0 { try? change(.removeExternalID(known()), log) }
        default: if random.next(below: 4) == 0 { _ = try? log.erase([known()], actor: "test", reason: "test") }
        }
    }

    private func change(_ change: IdentityChange, _ log: EventLog) throws {
        _ = try log.commit(.identity(change, context: rest))
    }

    /// Every identifier that leads to a user, found one by one.
    private func rows(_ log: EventLog) throws -> [Row] {
        var rows: Set<Row> = []
        for id in Self.all {
            for user in try log.reader.addresses.users(sharing: id) { rows.insert(Row(id, user)) }
        }
        for number in 0..<(try log.userCount()) {
            let own = try #require(try log.find(UserNumber(rawValue: number + 1)))
            if let user = try log.find(.assignedID(own.brazeID)) { rows.insert(Row(.assignedID(own.brazeID), user)) }
        }
        return rows.sorted()
    }

    /// Searches, each with the rows that it must find.
    private static func searches(_ text: String, _ braze: String) -> [(text: String, isFound: (Row) -> Bool)] {
        func begins(_ row: Row, _ kinds: [UInt8], _ text: String, _ label: (([UInt8]) -> Bool)? = nil) -> Bool {
            kinds.contains(row.kind) && row.text.starts(with: text.utf8) && (label?(row.label) ?? true)
        }
        let digits = text.filter { "0123456789".contains($0) }
        let isNumber = text.allSatisfy { "0123456789 +".contains($0) }
        return [
            (
                text,
                { row in
                    begins(row, [1, 2, 6], text) || begins(row, [4], text.lowercased())
                        || (isNumber && (text.isEmpty || !digits.isEmpty) && begins(row, [5], digits))
                }
            ),
            ("id:\(text)", { begins($0, [1], text) }), ("device:\(text)", { begins($0, [6], text) }),
            ("email:\(text)", { begins($0, [4], text.lowercased()) }),
            ("phone:\(text)", { isNumber && begins($0, [5], digits) }),
            ("alias:l:\(text)", { begins($0, [2], text) { $0.elementsEqual("l".utf8) } }),
            (#"alias:a\:b:\#(text)"#, { begins($0, [2], text) { $0.elementsEqual("a:b".utf8) } }),
            ("alias:l", { begins($0, [2], "") { $0.starts(with: "l".utf8) } }),
            ("braze:\(braze.prefix(4))", { begins($0, [3], "") }), (braze.uppercased(), { begins($0, [3], braze) }),
            (String(braze.prefix(23)), { begins($0, [3], String(braze.prefix(23))) }),
        ]
    }

    /// All rows that a search finds, in pages of up to `limit`.
    private func found(
        _ text: String, isReversed: Bool, limit: () -> Int, _ log: EventLog
    ) throws -> [Row] {
        var (rows, after): ([Row], IdentifierPlace?) = ([], nil)
        let search = IdentifierSearch(text, isReversed: isReversed)
        while true {
            let limit = limit()
            let page = try log.reader.identifiers.page(search, after: after, limit: limit)
            #expect(page.found.count <= limit && !page.isCut)
            rows += page.found.map { Row($0.id, $0.user) }
            guard let next = page.next else { return rows }
            #expect(search.includes(next))
            // As a client keeps it.
            after = try #require(IdentifierPlace(cursor: next.cursor))
            #expect(after == next)
        }
    }

    @Test(
        "A random search finds what a look-up of each identifier finds, forwards and backwards, in pages",
        arguments: Thoroughness.seeds(short: 4, full: 60), [7, 100_000])
    func bruteForce(seed: UInt64, indexLag: Int) throws {
        var random = SeededGenerator(seed: seed)
        let log = try folder.open(options: .small(clock, indexLag: indexLag))
        for step in 1...150 {
            try act(log, &random)
            guard step.isMultiple(of: 50) else { continue }
            if random.next(below: 3) == 0, indexLag < 100 { try log.writeIndex() }
            let all = try rows(log)
            let braze = try #require(try log.find(UserNumber(rawValue: 1))).brazeID
            let usual = ["a", "ab", "4", "+49", "zz"][random.next(below: 5)]
            for text in ["", usual, Self.texts[random.next(below: Self.texts.count)]] {
                for (search, isFound) in Self.searches(text, braze) {
                    // Reads as another form.
                    if search == text, text.contains(":") { continue }
                    let expected = all.filter(isFound)
                    let isReversed = random.next(below: 2) == 0
                    let found = try found(
                        search, isReversed: isReversed, limit: { random.next(below: 8) + 1 }, log)
                    #expect(
                        found == (isReversed ? expected.reversed() : expected),
                        "seed \(seed), step \(step): \(search), reversed: \(isReversed)")
                }
            }
        }
        let before = try rows(log)
        #expect(before.count > 20, "seed \(seed)")
        try log.rebuildCaches()
        let found = try found("", isReversed: false, limit: { 1_000 }, log)
        #expect(found == before.filter { $0.kind != UserID.assignedID("").kindNumber })
    }

    // MARK: - Bounds

    @Test("An address is found in the form that its user was given, and no more when they have another")
    func form() throws {
        let log = try folder.open(options: .small(clock))
        func set(_ email: String) throws {
            _ = try log.append(
                [.userAttributesChanged([UserAttributeChange(.email, .string(email))])], to: "ana", context: rest)
        }
        func found(_ text: String) throws -> [UserID] {
            try log.reader.identifiers.page(IdentifierSearch(text), limit: 9).found.map(\.id)
        }
        try set("Ana@X.example")
        #expect(try found("ANA@x") == [.email("Ana@X.example")])
        try set("new@x.example")
        #expect(try found("ANA@x").isEmpty)
        #expect(try found("new") == [.email("new@x.example")])
    }

    @Test("An identifier that is too long for a key is found as a whole")
    func long() throws {
        let log = try folder.open(options: .small(clock, indexLag: 1))
        let long = UserID.externalID(String(repeating: "x", count: 300))
        _ = try log.append([.customEventLogged(CustomEvent(name: "e"))], to: long, context: rest)
        try log.writeIndex()
        let identifiers = log.reader.identifiers
        #expect(try identifiers.page(IdentifierSearch("x"), limit: 9).found.isEmpty)
        #expect(try identifiers.page(IdentifierSearch(long.description), limit: 9).found.map(\.id) == [long])
        #expect(try identifiers.page(IdentifierSearch(long.description + "y"), limit: 9).found.isEmpty)
    }

    @Test("A page that passes many addresses of before is short, and says where to go on", arguments: [false, true])
    func passed(isReversed: Bool) throws {
        let log = try folder.open(options: .small(clock, indexLag: 400))
        let count = 700
        for address in ["old", "new"] {
            try log.append { append in
                for number in 0..<count {
                    let email = AttributeValue.string("\(address)\(number)@x.example")
                    try append.add(
                        .userAttributesChanged([UserAttributeChange(.email, email)]), rest,
                        to: .externalID("u\(number)"))
                }
            }
        }
        let search = IdentifierSearch("email:old", isReversed: isReversed)
        let first = try log.reader.identifiers.page(search, limit: 10)
        #expect(first.found.isEmpty)
        let next = try #require(first.next)
        let second = try log.reader.identifiers.page(search, after: next, limit: 10)
        #expect(second.found.isEmpty && second.next == nil)
        #expect(try found("email:", isReversed: isReversed, limit: { 300 }, log).count == count)
    }

    @Test("Of aliases with very many labels some are looked at, and the page says that there are more")
    func manyLabels() throws {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        func alias(_ numbers: Range<Int>) throws {
            try log.append { append in
                for number in numbers {
                    try append.add(
                        .customEventLogged(CustomEvent(name: "seen")), rest,
                        to: .alias(label: "label \(number)", name: "jane"))
                }
            }
            try log.writeIndex()
        }
        try alias(0..<IdentifierReader.mostLabels)
        #expect(try !log.reader.identifiers.page(IdentifierSearch("jane"), limit: 10).isCut)
        try alias(IdentifierReader.mostLabels..<IdentifierReader.mostLabels + 1)
        let page = try log.reader.identifiers.page(IdentifierSearch("jane"), limit: 10)
        #expect(page.isCut && page.found.count == 10)
        let one = try log.reader.identifiers.page(IdentifierSearch("alias:label 999:jane"), limit: 10)
        #expect(one.found.count == 1 && !one.isCut)
    }

    @Test("Of an address with very many users some are looked at, and the page says that there are more")
    func shared() throws {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        func share(_ numbers: Range<Int>) throws {
            try log.append { append in
                for number in numbers {
                    try append.add(
                        .userAttributesChanged([UserAttributeChange(.email, "qa@x.example")]), rest,
                        to: .externalID("u\(number)"))
                }
            }
        }
        try share(0..<IdentifierReader.mostHolders)
        let search = IdentifierSearch("qa@")
        #expect(try found("qa@", isReversed: false, limit: { 300 }, log).count == IdentifierReader.mostHolders)
        try share(IdentifierReader.mostHolders..<IdentifierReader.mostHolders + 1)
        #expect(try log.reader.identifiers.page(search, limit: 10).isCut)
        try log.writeIndex()
        let page = try log.reader.identifiers.page(search, limit: 10)
        #expect(page.isCut && page.found.count == 10 && page.next != nil)
    }
}
