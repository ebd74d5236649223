internal import ProfileLogSnippets

/// The form of a JSON value in an answer, written as the JSON that it describes:
///
///     static let shape: AnswerShape = ["users": [UserJSON.shape], "total": .integer, "more?": .boolean]
///
/// It is declared next to the code that writes the value. OpenAPI shows it as a JSON Schema, and a debug build compares
/// each success with it (``APIRouter``), so an answer and its description cannot differ.
package indirect enum AnswerShape: Sendable {
    case text, integer, boolean
    /// An integer or a fraction.
    case number
    /// A time in RFC 3339.
    case time
    /// Any JSON value: what clients stored.
    case any
    case array(AnswerShape)
    /// An object with names that clients chose, each with a value of this form.
    case map(AnswerShape)
    case object([Member])
    case orNull(AnswerShape)
    /// A value of one of these forms.
    case either([AnswerShape])
    /// A form that several answers have; OpenAPI describes it once, under this name.
    case named(String, AnswerShape)

    /// A member of an object. In a literal a name with `?` at its end may be missing.
    package struct Member: Sendable {
        package let name: String
        package let shape: AnswerShape
        package let isRequired: Bool

        init(_ name: String, _ shape: AnswerShape) {
            isRequired = !name.hasSuffix("?")
            self.name = isRequired ? name : String(name.dropLast())
            self.shape = shape
        }
    }

    /// The members of both objects; of one name, that of `right`.
    package static func + (left: AnswerShape, right: AnswerShape) -> AnswerShape {
        let replaced = Set(right.members.map(\.name))
        return .object(left.members.filter { !replaced.contains($0.name) } + right.members)
    }

    /// The members of an object; none of another value.
    package var members: [Member] {
        switch self {
        case .object(let members): members
        case .named(_, let shape), .orNull(let shape): shape.members
        default: []
        }
    }
}

extension AnswerShape: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    package init(dictionaryLiteral members: (String, AnswerShape)...) {
        self = .object(members.map(Member.init))
    }

    /// An object with a member of the form `shape` for each of `names`.
    package static func members(_ names: [String], _ shape: AnswerShape) -> AnswerShape {
        .object(names.map { Member($0, shape) })
    }

    /// An array of values of one form.
    package init(arrayLiteral elements: AnswerShape...) {
        self = .array(elements.count == 1 ? elements[0] : .either(elements))
    }
}

// MARK: - Compared with a value

extension AnswerShape {
    /// The place where `value` has another form, as in `users[3].ids`; nil if it has this one. Values are not in it.
    package func difference(in value: AttributeValue) -> String? {
        inner(value).map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
    }

    /// As ``difference(in:)``, from the value on, as in `.ids`. The text of the place is made on the way back: nearly
    /// all values have none.
    private func inner(_ value: AttributeValue) -> String? {
        switch (self, value) {
        case (.any, _), (.text, .string), (.integer, .int), (.number, .int), (.number, .double), (.boolean, .bool),
            (.orNull, .null):
            return nil
        case (.time, .string(let text)): return OccurredAt(iso8601: text) == nil ? " (no time)" : nil
        case (.array(let element), .array(let values)):
            for (index, value) in values.enumerated() {
                if let found = element.inner(value) { return "[\(index)]\(found)" }
            }
            return nil
        case (.map(let shape), .object(let members)):
            for member in members {
                if let found = shape.inner(member.value) { return ".*\(found)" }
            }
            return nil
        case (.object(let shapes), .object(let members)): return Self.inner(shapes, members)
        case (.orNull(let shape), _), (.named(_, let shape), _): return shape.inner(value)
        case (.either(let shapes), _):
            var longest: String?
            for shape in shapes {
                guard let found = shape.inner(value) else { return nil }
                if found.count > longest?.count ?? -1 { longest = found }
            }
            return longest
        default: return " (another type)"
        }
    }

    private static func inner(_ shapes: [Member], _ members: [AttributeValue.Member]) -> String? {
        let known = Dictionary(shapes.map { ($0.name, $0) }) { first, _ in first }
        var required = 0
        for member in members {
            guard let found = known[member.key.text] else { return ".\(member.key.text) (not declared)" }
            if found.isRequired { required += 1 }
            if let difference = found.shape.inner(member.value) { return ".\(member.key.text)\(difference)" }
        }
        // A name is there once.
        if required == shapes.count(where: \.isRequired) { return nil }
        let present = Set(members.map(\.key.text))
        return shapes.first { $0.isRequired && !present.contains($0.name) }.map { ".\($0.name) (missing)" }
    }
}
