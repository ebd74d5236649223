internal import ProfileLogSnippets

/// The names that a condition's text may ask for.
package struct WhereNames {
    /// The names of one kind.
    package enum Kind { case customAttribute, event, product, trait }

    /// Tells whether the store has seen the name, or the trait is declared.
    package var knows: (Name, Kind) throws -> Bool
    /// All of a kind, for a guess.
    package var all: (Kind) throws -> [String]

    package init(knows: @escaping (Name, Kind) throws -> Bool, all: @escaping (Kind) throws -> [String]) {
        (self.knows, self.all) = (knows, all)
    }

    /// The names that `log` has seen.
    package init(_ log: LogReader) {
        self.init(
            knows: { name, kind in
                guard kind == .trait else { return try log.number(of: name) != nil }
                return log.traits.contains { $0.name == name }
            },
            all: { kind in
                if kind == .trait { return log.traits.map(\.name.text) }
                let names = log.catalogueView(try log.state(overStore: CatalogueProjection.self).state)
                return switch kind {
                case .customAttribute: names.attributes.map(\.name.text)
                case .event: names.events.map(\.name.text)
                case .product: names.products.map(\.name.text)
                case .trait: []
                }
            })
    }
}

extension Condition {
    /// Bytes of a condition's text.
    package static let maxTextBytes = 16 << 10

    /// Reads a condition as people write it (docs/where.md).
    ///
    ///     try Condition(where: #"country = "DE" and events.purchase.count >= 3 in 30d"#, names)
    ///
    /// Throws a ``WhereError`` with the column and, for a slip, the nearest word.
    package init(where text: String, _ names: WhereNames) throws {
        self = try WrittenCondition(where: text, names).condition
    }
}

extension WrittenCondition {
    /// As ``Condition/init(where:_:)``, with the place of each part in the text.
    package init(where text: String, _ names: WhereNames) throws {
        let most = Condition.maxTextBytes
        guard text.utf8.count <= most else {
            throw WhereError(column: 1, reason: "is longer than \(most) bytes", remedy: "Shorten it.")
        }
        var parser = WhereParser(tokens: try WhereToken.tokens(of: text), names: names)
        self.init(text: text, whole: try parser.whole())
    }
}

/// Reads a condition's text by recursive descent: `or` binds weakest, then `and`, then `not`.
private struct WhereParser {
    let tokens: [WhereToken]
    let names: WhereNames
    private var index = 0
    private var depth = 0

    /// Parentheses and `not` within each other.
    private static let maxDepth = 64

    init(tokens: [WhereToken], names: WhereNames) { (self.tokens, self.names) = (tokens, names) }

    private var token: WhereToken { tokens[index] }

    mutating func whole() throws -> WrittenCondition.Part {
        let condition = try anyOf()
        guard token.kind == .end else {
            throw refusal(
                "has \(token.shown) where `and`, `or` or the end is expected",
                "Join conditions by `and` or `or`, in lower case.")
        }
        return condition
    }

    private mutating func anyOf() throws -> WrittenCondition.Part {
        let start = token
        var parts = [try allOf()]
        while takes(word: "or") { parts.append(try allOf()) }
        return parts.count == 1 ? parts[0] : part(.any(parts.map(\.condition)), from: start, parts)
    }

    private mutating func allOf() throws -> WrittenCondition.Part {
        let start = token
        var parts = [try negated()]
        while takes(word: "and") { parts.append(try negated()) }
        return parts.count == 1 ? parts[0] : part(.all(parts.map(\.condition)), from: start, parts)
    }

    private mutating func negated() throws -> WrittenCondition.Part {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maxDepth else {
            throw refusal("is nested deeper than \(Self.maxDepth)", "Take a level out.")
        }
        let start = token
        if takes(word: "not") {
            let inner = try negated()
            return part(.not(inner.condition), from: start, [inner])
        }
        if takes("(") {
            let condition = try anyOf()
            try expect(")")
            return condition
        }
        if case .word("exists") = token.kind, tokens[index + 1].kind == .sign("(") {
            index += 2
            let path = try path()
            try expect(")")
            return part(path.condition(.isThere(nil)), from: start)
        }
        let comparison = try comparison()
        return part(comparison, from: start)
    }

    /// The part of the text from `start` to the last token that was taken.
    private func part(
        _ condition: Condition, from start: WhereToken, _ parts: [WrittenCondition.Part] = []
    ) -> WrittenCondition.Part {
        .init(condition, start.column - 1..<tokens[index - 1].lastColumn, parts)
    }

    // MARK: - Comparisons

    private static let relations: [String: ValueTest.Relation] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, ">": .greater, ">=": .greaterOrEqual, "<": .less,
        "<=": .lessOrEqual,
    ]
    private static let words = ["in", "contains", "matches"]

    private mutating func comparison() throws -> Condition {
        var path = try path()
        if case .sign(let sign) = token.kind, let relation = Self.relations[sign] {
            index += 1
            let test = try value(of: path) { value throws(WhereError) in try path.test(relation, value) }
            if case .count(let counted, _) = path.field, takes(word: "in") {
                path.field = .count(counted, within: try span())
            }
            return path.condition(test)
        }
        let isNegated = takes(word: "not")
        guard case .word(let word) = token.kind, Self.words.contains(word) else {
            let question: String? =
                if case .word(let word) = token.kind { NearestNames(to: word, among: Self.words).question() } else {
                    nil
                }
            throw refusal(
                "has \(token.shown) where a comparison is expected",
                question
                    ?? "The comparisons are =, !=, >, >=, <, <=, in, contains, matches; "
                    + "`exists(…)` asks whether it is there."
            )
        }
        index += 1
        let test: ValueTest
        switch word {
        case "in":
            try expect("(")
            var tests: [ValueTest] = []
            repeat {
                tests.append(try value(of: path) { value throws(WhereError) in try path.test(.equal, value) })
            } while takes(",")
            try expect(")")
            test = .any(tests)
        case "contains":
            let value = try literal()
            let element = ValueTest.element(ValueTest.compares(.equal, value) ?? .equal(value))
            test = .any([element] + (value.asText.map { [.textAround($0)] } ?? []))
        default:
            guard case .quoted(let text) = token.kind else {
                throw refusal("has \(token.shown) where a pattern is expected", "Write a regular expression in quotes.")
            }
            do throws(TextPattern.PatternError) {
                let pattern = try TextPattern(text)
                index += 1
                return path.condition(.pattern(pattern, isFound: !isNegated))
            } catch {
                throw refusal("has a pattern that \(error.reason)", error.remedy)
            }
        }
        return path.condition(isNegated ? .all([.isThere(nil), .not(test)]) : test)
    }

    /// A time relative to now, or a value that `test` turns into a test; its errors get the value's column.
    private mutating func value(
        of path: WherePath, _ test: (AttributeValue) throws(WhereError) -> ValueTest
    ) throws -> ValueTest {
        let start = token
        if case .span(let span) = token.kind {
            guard case .sign(let sign) = tokens[index - 1].kind, let relation = Self.relations[sign], path.isOrHasTime
            else {
                throw refusal("has a span where none can be", "Compare a time with it, as in `last_seen > 7d ago`.")
            }
            index += 1
            if takes(word: "ago") { return .sinceNow(relation, -span) }
            if takes(word: "ahead") { return .sinceNow(relation, span) }
            throw refusal("has a span without a direction", "Write `ago` or `ahead` after it.")
        }
        let value = try literal()
        do throws(WhereError) {
            return try test(value)
        } catch {
            throw WhereError(column: start.column, reason: error.reason, remedy: error.remedy)
        }
    }

    private mutating func literal() throws(WhereError) -> AttributeValue {
        let value: AttributeValue
        switch token.kind {
        case .quoted(let text): value = .string(text)
        case .number(let number): value = number
        case .word("true"): value = .bool(true)
        case .word("false"): value = .bool(false)
        case .word("null"): throw refusal("compares with null", "Write `exists(…)` or `not exists(…)`.")
        case .word: throw refusal("has \(token.shown) where a value is expected", "Put texts in quotes.")
        default:
            throw refusal(
                "has \(token.shown) where a value is expected", "Write a number, true, false or a text in quotes.")
        }
        index += 1
        return value
    }

    private mutating func span() throws(WhereError) -> Int64 {
        guard case .span(let span) = token.kind else {
            throw refusal("has \(token.shown) where a span is expected", "Write one as in 30d, 12h or 15m.")
        }
        index += 1
        return span
    }

    // MARK: - Words

    private mutating func takes(word: String) -> Bool {
        guard token.kind == .word(word) else { return false }
        index += 1
        return true
    }

    private mutating func takes(_ sign: String) -> Bool {
        guard token.kind == .sign(sign) else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ sign: String) throws(WhereError) {
        guard takes(sign) else { throw refusal("has \(token.shown) where `\(sign)` is expected", "Add `\(sign)`.") }
    }

    private func refusal(_ reason: String, _ remedy: String, at token: WhereToken? = nil) -> WhereError {
        WhereError(column: (token ?? self.token).column, reason: reason, remedy: remedy)
    }

    // MARK: - Paths

    /// `country`, `custom.address.city`, `custom.cars[].brand`, `events.purchase.count`.
    private mutating func path() throws -> WherePath {
        let start = token
        let first = try name()
        switch first {
        case "custom":
            let name = try named(.customAttribute, "an attribute")
            return WherePath(field: .customAttribute(name), steps: try steps())
        case "traits": return WherePath(field: .trait(try named(.trait, "a trait")), steps: try steps())
        case "events":
            let name = try named(.event, "an event")
            return try counted(.event(name), ["count", "first", "last"])
        case "purchases":
            let name = try named(.product, "a product")
            return try counted(.product(name), ["count", "first", "last", "revenue"])
        case "sessions", "launches":
            return try counted(first == "sessions" ? .sessions : .launches, ["count", "first", "last"])
        default: break
        }
        if let field = WherePath.fields[first] { return WherePath(field: field) }
        if let attribute = ReservedField.attribute(Name(first)) {
            return WherePath(field: .attribute(attribute), steps: try steps())
        }
        let known = WherePath.groups + WherePath.fields.keys.sorted() + StandardAttribute.allCases.map(\.name)
        let nearest = NearestNames(to: first, among: known)
        throw refusal(
            "names an unknown field",
            try names.knows(Name(first), .customAttribute)
                ? "Did you mean the custom attribute? Write `custom.` before its name."
                : nearest.question()
                    ?? "Attributes of your own are `custom.NAME`; "
                    + "other fields are \(nearest.all.joined(separator: ", ")).",
            at: start)
    }

    private mutating func name() throws(WhereError) -> String {
        switch token.kind {
        case .word(let word), .quoted(let word):
            index += 1
            return word
        // A name of digits.
        case .number(.int(let number)) where number >= 0:
            index += 1
            return "\(number)"
        default:
            throw refusal(
                "has \(token.shown) where a field is expected",
                "Write a field as in `country`, `custom.level` or `events.purchase.count`.")
        }
    }

    /// `.NAME`, a name that the store has seen.
    private mutating func named(_ kind: WhereNames.Kind, _ what: String) throws -> Name {
        guard takes(".") else { throw refusal("lacks the name of \(what)", "Write `.` and the name.") }
        let start = token
        let name = Name(try name())
        if try names.knows(name, kind) { return name }
        let nearest = NearestNames(to: name.text, among: try names.all(kind))
        var error = refusal(
            kind == .trait ? "names a trait that is not declared" : "names \(what) that the store has never seen",
            nearest.question() ?? Self.remedy(kind), at: start)
        error.isOfStore = kind != .trait
        throw error
    }

    private static func remedy(_ kind: WhereNames.Kind) -> String {
        kind == .trait
            ? "Declare it in the workspace file, and name that file with --workspace or PROFILELOG_WORKSPACE."
            : "Correct the name; one with spaces is in quotes, as in events.\"Viewed Home\".count."
    }

    private mutating func counted(_ what: Condition.Counted, _ known: [String]) throws -> WherePath {
        let start = token
        let word = takes(".") ? try name() : ""
        switch word {
        case "count": return WherePath(field: .count(what))
        case "first": return WherePath(field: .first(what))
        case "last": return WherePath(field: .last(what))
        case "revenue": if case .product(let name) = what { return WherePath(field: .revenue(name)) }
        default: break
        }
        let nearest = NearestNames(to: word, among: known)
        throw refusal(
            word.isEmpty ? "lacks what to ask" : "asks for something unknown",
            nearest.close.first.map { "Did you mean `.\($0)`?" }
                ?? "Write one of \(known.map { ".\($0)" }.joined(separator: ", ")).", at: start)
    }

    private mutating func steps() throws(WhereError) -> [WherePath.Step] {
        var steps: [WherePath.Step] = []
        while true {
            if takes("[]") {
                steps.append(.anyElement)
            } else if takes(".") {
                steps.append(.member(Name(try name())))
            } else {
                return steps
            }
            guard steps.count <= Self.maxDepth else { throw refusal("has a longer path than any value", "Shorten it.") }
        }
    }
}

/// The subject of a comparison: a field of the user, or something inside its value.
struct WherePath {
    var field: Condition.Field
    var steps: [Step] = []

    enum Step { case member(Name), anyElement }

    /// The first words of paths.
    static let groups = ["custom", "traits", "events", "purchases", "sessions", "launches"]
    /// Fields with a name of one word.
    static let fields: [String: Condition.Field] = [
        "first_seen": .firstSeen, "last_seen": .lastSeen, "last_used_app": .lastUsedApp, "created_at": .created,
        "total_revenue": .totalRevenue, "pending": .pending, "version": .version, "external_id": .externalID,
        "braze_id": .brazeID,
    ]

    func condition(_ test: ValueTest) -> Condition {
        .holds(
            field,
            steps.reversed().reduce(test) { test, step in
                switch step {
                case .member(let name): .member(name, test)
                case .anyElement: .element(test)
                }
            })
    }

    private enum Kind { case number, time, text, any }

    private var kind: Kind {
        switch field {
        case .count, .revenue, .totalRevenue, .pending, .version: .number
        case .first, .last, .firstSeen, .lastSeen, .lastUsedApp, .created: .time
        case .externalID, .brazeID: .text
        case .attribute(let attribute) where attribute.isTime: .time
        case .attribute, .customAttribute, .trait: .any
        }
    }

    /// Tells whether its values are times, or may be.
    var isOrHasTime: Bool { kind == .time || kind == .any }

    /// The comparison with `value`, which must be one that the field can have. The column of an error is the caller's.
    func test(_ relation: ValueTest.Relation, _ value: AttributeValue) throws(WhereError) -> ValueTest {
        var value = value
        switch kind {
        case .number:
            guard value.asNumber != nil else {
                throw Self.refusal("compares a number with something else", "Write a number.")
            }
        case .time:
            let wanted =
                "Write one in quotes, as in \"2026-01-31\" or \"2026-01-31T12:00:00Z\", or a span, as in `7d ago`."
            guard let text = value.asText else { throw Self.refusal("compares a time with something else", wanted) }
            do throws(TimeError) {
                value = .date(try OccurredAt(reading: text))
            } catch {
                throw error.remedy.map { Self.refusal("has a time that \(error.reason)", $0) }
                    ?? Self.refusal("compares a time with something else", wanted)
            }
        case .text:
            guard value.asText != nil, relation == .equal || relation == .notEqual else {
                throw Self.refusal("compares an ID with no text, or by its order", "Use = or != and a text in quotes.")
            }
        case .any:
            if steps.isEmpty, case .attribute(let attribute) = field, !attribute.isNested {
                do throws(TrackError) {
                    value = try attribute.comparable(value)
                } catch {
                    switch error {
                    case .field(let reason):
                        throw Self.refusal("has a value that \(reason)", "Write one that a profile can have.")
                    case .object:
                        throw Self.refusal("has a value that is no e-mail address", "Write one, or use `matches`.")
                    }
                }
            }
        }
        guard let test = ValueTest.compares(relation, value) else {
            if let text = value.asText {
                do throws(TimeError) {
                    _ = try OccurredAt(reading: text)
                } catch {
                    if let remedy = error.remedy {
                        throw Self.refusal("has a time that \(error.reason)", remedy)
                    }
                }
            }
            throw Self.refusal("orders by what has no order", "Compare with a number or a time, or use = or !=.")
        }
        return test
    }

    private static func refusal(_ reason: String, _ remedy: String) -> WhereError {
        WhereError(column: 1, reason: reason, remedy: remedy)
    }
}
