internal import ProfileLogSnippets

extension WrittenCondition {
    /// Writes a condition that people wrote in another form, as a segment of the workspace file, in the language of
    /// docs/where.md.
    ///
    /// An array or an object as a value is written as JSON, which that language lacks, and so is `everybody`.
    package init(writing condition: Condition) {
        var writer = WhereWriter()
        let whole = writer.write(condition)
        self.init(text: writer.text, whole: whole)
    }
}

extension WrittenCondition.Subject {
    /// The field as conditions name it: `custom.address.city`, `events.purchase.count in 30d`.
    package var name: String {
        path.reduce(WherePath.name(of: field)) { WherePath.join($0, $1) } + WherePath.window(of: field)
    }
}

private struct WhereWriter {
    private(set) var text = ""

    mutating func write(_ condition: Condition) -> WrittenCondition.Part {
        let start = text.count
        var parts: [WrittenCondition.Part] = []
        switch condition {
        case .all(let conditions) where conditions.isEmpty: text += "everybody"
        case .any(let conditions) where conditions.isEmpty: text += "nobody"
        case .all(let conditions): parts = write(conditions, joinedBy: " and ")
        case .any(let conditions): parts = write(conditions, joinedBy: " or ")
        case .not(let inner):
            text += "not "
            parts = write([inner], joinedBy: "")
        case .holds(let field, let test):
            text += test.text(of: WherePath.name(of: field)).text + WherePath.window(of: field)
        }
        return .init(condition, start..<text.count, parts)
    }

    private mutating func write(_ conditions: [Condition], joinedBy word: String) -> [WrittenCondition.Part] {
        var parts: [WrittenCondition.Part] = []
        for condition in conditions {
            if !parts.isEmpty { text += word }
            let needsParentheses = condition.isJoined
            if needsParentheses { text += "(" }
            parts.append(write(condition))
            if needsParentheses { text += ")" }
        }
        return parts
    }
}

extension Condition {
    /// Tells whether its text has an `and` or an `or` that parentheses must keep from others.
    fileprivate var isJoined: Bool {
        switch self {
        case .all(let conditions), .any(let conditions):
            conditions.count > 1 || conditions.first.map(\.isJoined) ?? false
        case .not: false
        case .holds(let field, let test): test.text(of: WherePath.name(of: field)).isJoined
        }
    }
}

extension WherePath {
    /// The field as text, without a window.
    static func name(of field: Condition.Field) -> String {
        switch field {
        case .attribute(let attribute): attribute.name
        case .customAttribute(let name): join("custom", name)
        case .trait(let name): join("traits", name)
        case .count(let counted, _): name(of: counted) + ".count"
        case .first(let counted): name(of: counted) + ".first"
        case .last(let counted): name(of: counted) + ".last"
        case .revenue(let product): name(of: .product(product)) + ".revenue"
        case .totalRevenue, .firstSeen, .lastSeen, .lastUsedApp, .created, .pending, .version, .externalID, .brazeID:
            fields.first { $0.value == field }?.key ?? ""
        }
    }

    private static func name(of counted: Condition.Counted) -> String {
        switch counted {
        case .event(let name): join("events", name)
        case .product(let name): join("purchases", name)
        case .sessions: "sessions"
        case .launches: "launches"
        }
    }

    /// The window of a count: ` in 30d`; empty without one.
    static func window(of field: Condition.Field) -> String {
        if case .count(_, let span?) = field { " in " + spanText(span) } else { "" }
    }

    /// Adds a name to a path; one that is no word in quotes.
    static func join(_ path: String, _ name: Name) -> String {
        "\(path).\(WhereToken.isWord(name.text) ? name.text : quoted(name.text))"
    }

    static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    private static let units: [(seconds: Int64, name: String)] = [(86_400, "d"), (3_600, "h"), (60, "m")]

    /// A span in its largest unit that is whole: `30d`.
    static func spanText(_ microseconds: Int64) -> String {
        let seconds = microseconds / 1_000_000
        let unit = units.first { seconds > 0 && seconds.isMultiple(of: $0.seconds) } ?? (1, "s")
        return "\(seconds / unit.seconds)\(unit.name)"
    }
}

extension ValueTest {
    /// The test of what `path` names, as text, and whether the text has an `and` or an `or` outside of parentheses.
    fileprivate func text(of path: String) -> (text: String, isJoined: Bool) {
        switch self {
        case .isThere(nil): ("exists(\(path))", false)
        case .isThere(let type?): ("\(path) is of type \(type.word)", false)
        case .isMissing: ("not exists(\(path))", false)
        case .flag(let flag): ("\(path) = \(flag)", false)
        case .number(let relation, let number): ("\(path) \(relation.sign) \(number.value.json)", false)
        case .time(let relation, let time): ("\(path) \(relation.sign) \"\(time.rfc3339())\"", false)
        case .sinceNow(let relation, let offset):
            (
                "\(path) \(relation.sign) \(WherePath.spanText(Int64(clamping: offset.magnitude))) "
                    + (offset > 0 ? "ahead" : "ago"), false
            )
        case .text(let text): ("\(path) = \(WherePath.quoted(text))", false)
        case .otherText(let text): ("\(path) != \(WherePath.quoted(text))", false)
        case .textAround(let part): ("\(path) contains \(WherePath.quoted(part))", false)
        case .pattern(_, let isFound): ("\(path) \(isFound ? "matches" : "not matches") a pattern", false)
        case .same(let value): ("\(path) = \(value.json)", false)
        case .element(let test): test.text(of: path + "[]")
        case .member(let name, let test): test.text(of: WherePath.join(path, name))
        case .not(let test): Self.negated(test.text(of: path))
        case .all(let tests): Self.joined(tests, by: " and ", path)
        // A text that reads as a time equals that time too.
        case .any(let tests):
            if tests.count == 2, tests[0].isOfText, case .time = tests[1] {
                tests[0].text(of: path)
            } else {
                Self.joined(tests, by: " or ", path)
            }
        }
    }

    private var isOfText: Bool {
        switch self {
        case .text, .otherText: true
        default: false
        }
    }

    private static func negated(_ test: (text: String, isJoined: Bool)) -> (text: String, isJoined: Bool) {
        (test.isJoined ? "not (\(test.text))" : "not \(test.text)", false)
    }

    private static func joined(
        _ tests: [ValueTest], by word: String, _ path: String
    ) -> (text: String, isJoined: Bool) {
        let texts = tests.map { $0.text(of: path) }
        if texts.count == 1 { return texts[0] }
        return (texts.map { $0.isJoined ? "(\($0.text))" : $0.text }.joined(separator: word), true)
    }
}

extension ValueTest.Relation {
    fileprivate var sign: String {
        switch self {
        case .equal: "="
        case .notEqual: "!="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .less: "<"
        case .lessOrEqual: "<="
        }
    }
}
