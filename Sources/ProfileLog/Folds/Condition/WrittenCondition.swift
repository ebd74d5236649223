/// A condition with the text that people wrote for it, part by part.
///
///     let condition = try WrittenCondition(where: #"country = "DE" and custom.level >= 3"#, names)
///     for finding in try condition.findings(for: ana, at: now) { print(finding.text, finding.holds) }
///
/// The parts are those of ``Condition``: each is evaluated by it, so the whole holds here if it holds in a search.
package struct WrittenCondition: Sendable {
    package let text: String
    package let whole: Part

    package init(text: String, whole: Part) { (self.text, self.whole) = (text, whole) }

    /// An `and`, an `or` or a `not` with the parts that it joins, or a comparison.
    package struct Part: Sendable {
        package let condition: Condition
        /// The characters of the text, counted from 0.
        package let range: Range<Int>
        /// In the order of the text; none of a comparison.
        package let parts: [Part]

        package init(_ condition: Condition, _ range: Range<Int>, _ parts: [Part] = []) {
            (self.condition, self.range, self.parts) = (condition, range, parts)
        }
    }

    package var condition: Condition { whole.condition }

    /// A part, as it came out for a user.
    package struct Finding: Sendable {
        /// The kind of part.
        package enum Kind: String, Sendable { case and, or, not, comparison }

        package let kind: Kind
        /// The number of parts that it is in.
        package let depth: Int
        package let text: String
        /// The characters of the whole text, counted from 0.
        package let range: Range<Int>
        package let holds: Bool
        /// Tells whether it is a reason for how the whole came out: a part that fails in an `and` that fails, or one
        /// that holds in an `or` that holds.
        package let decides: Bool
        /// The field of a comparison, with the user's value; nil for other parts.
        package let subject: Subject?
    }

    /// The subject of a comparison, and what the user has of it.
    package struct Subject: Sendable {
        package let field: Condition.Field
        /// The members of objects on the way from the field's value to the one that is compared.
        package let path: [Name]
        /// The user's value; nil if there is none.
        package let value: AttributeValue?
        /// The value with all its digits, if it is a sum.
        package let sum: ExactSum?
    }

    /// Evaluates each part for `user`. A part comes before those in it, and these in the order of the text.
    package func findings(for user: some ConditionSubject, at now: Timestamp) throws -> [Finding] {
        let user = RememberedSubject(user)
        let characters = Array(text)
        var findings: [Finding] = []
        func add(_ part: Part, holds: Bool, decides: Bool, depth: Int) throws {
            findings.append(
                Finding(
                    kind: .init(part.condition), depth: depth, text: String(characters[part.range]), range: part.range,
                    holds: holds, decides: decides, subject: try part.condition.subject(for: user, at: now)))
            let isNot = findings[findings.count - 1].kind == .not
            for part in part.parts {
                let holdsInside = try part.condition.accepts(user, at: now)
                try add(
                    part, holds: holdsInside, decides: decides && (isNot || holdsInside == holds), depth: depth + 1)
            }
        }
        try add(whole, holds: condition.accepts(user, at: now), decides: true, depth: 0)
        return findings
    }
}

extension WrittenCondition.Finding.Kind {
    fileprivate init(_ condition: Condition) {
        self =
            switch condition {
            case .all: .and
            case .any: .or
            case .not: .not
            case .holds: .comparison
            }
    }
}

extension Condition {
    fileprivate func subject(
        for user: some ConditionSubject, at now: Timestamp
    ) throws -> WrittenCondition.Subject? {
        guard case .holds(let field, var test) = self else { return nil }
        let sum = try user.sum(of: field, at: now)
        var value = try sum?.value ?? user.value(of: field, at: now)
        var path: [Name] = []
        while case .member(let name, let inner) = test {
            (value, test) = (value?[name], inner)
            path.append(name)
        }
        return WrittenCondition.Subject(field: field, path: path, value: value == .null ? nil : value, sum: sum)
    }
}

/// A user whose fields are read once each, however many parts of a condition ask for one.
private final class RememberedSubject<Subject: ConditionSubject>: ConditionSubject {
    private let subject: Subject
    private var values: [Condition.Field: AttributeValue?] = [:]
    private var sums: [Condition.Field: ExactSum?] = [:]

    init(_ subject: Subject) { self.subject = subject }

    func value(of field: Condition.Field, at now: Timestamp) throws -> AttributeValue? {
        if let known = values[field] { return known }
        let value = try subject.value(of: field, at: now)
        values.updateValue(value, forKey: field)
        return value
    }

    func sum(of field: Condition.Field, at now: Timestamp) throws -> ExactSum? {
        if let known = sums[field] { return known }
        let sum = try subject.sum(of: field, at: now)
        sums.updateValue(sum, forKey: field)
        return sum
    }
}
