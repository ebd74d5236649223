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
    package func difference(in value: AttributeValue, at place: String = "") -> String? {
        switch (self, value) {
        case (.any, _), (.text, .string), (.integer, .int), (.number, .int), (.number, .double), (.boolean, .bool),
            (.orNull, .null):
            return nil
        case (.time, .string(let text)): return OccurredAt(iso8601: text) == nil ? "\(place) (no time)" : nil
        case (.array(let element), .array(let values)):
            for (index, value) in values.enumerated() {
                if let found = element.difference(in: value, at: "\(place)[\(index)]") { return found }
            }
            return nil
        case (.map(let shape), .object(let members)):
            for member in members {
                if let found = shape.difference(in: member.value, at: place + ".*") { return found }
            }
            return nil
        case (.object(let shapes), .object(let members)): return Self.difference(shapes, members, at: place)
        case (.orNull(let shape), _), (.named(_, let shape), _): return shape.difference(in: value, at: place)
        case (.either(let shapes), _):
            let differences = shapes.map { $0.difference(in: value, at: place) }
            return differences.contains(nil) ? nil : differences.compactMap { $0 }.max { $0.count < $1.count }
        default: return "\(place) (another type)"
        }
    }

    private static func difference(
        _ shapes: [Member], _ members: [AttributeValue.Member], at place: String
    ) -> String? {
        let known = Dictionary(shapes.map { ($0.name, $0) }) { first, _ in first }
        for member in members {
            let inside = place.isEmpty ? member.key.text : "\(place).\(member.key.text)"
            guard let shape = known[member.key.text]?.shape else { return "\(inside) (not declared)" }
            if let found = shape.difference(in: member.value, at: inside) { return found }
        }
        let present = Set(members.map(\.key.text))
        let missing = shapes.first { $0.isRequired && !present.contains($0.name) }
        return missing.map { "\(place.isEmpty ? "" : place + ".")\($0.name) (missing)" }
    }
}
