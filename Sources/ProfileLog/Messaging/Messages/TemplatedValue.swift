/// A JSON value whose texts are templates, compiled once and rendered for each user.
indirect enum TemplatedValue: Hashable, Sendable {
    case constant(AttributeValue)
    case text(Template)
    case array([TemplatedValue])
    case object([Member])

    struct Member: Hashable, Sendable {
        var key: Name
        var value: TemplatedValue
    }

    /// Compiles all texts in `value`, which is at `place`.
    init(_ value: AttributeValue, at place: String) throws(SendError) {
        switch value {
        case .string(let text):
            do throws(TemplateError) {
                let template = try Template(text)
                self = template.constant.map { .constant(.string($0)) } ?? .text(template)
            } catch {
                throw SendError(error.description, at: place, remedy: error.remedy)
            }
        case .array(let elements):
            var values: [TemplatedValue] = []
            for (index, element) in elements.enumerated() {
                values.append(try TemplatedValue(element, at: "\(place)[\(index)]"))
            }
            self = values.allSatisfy { $0.constant != nil } ? .constant(value) : .array(values)
        case .object(let members):
            var values: [Member] = []
            for member in members {
                let place = "\(place).\(TemplateError.shown(member.key.text))"
                values.append(Member(key: member.key, value: try TemplatedValue(member.value, at: place)))
            }
            self = values.allSatisfy { $0.value.constant != nil } ? .constant(value) : .object(values)
        default: self = .constant(value)
        }
    }

    /// The value that every user gets; nil if it depends on the user.
    var constant: AttributeValue? { if case .constant(let value) = self { value } else { nil } }

    /// The value for one user.
    func render(_ context: RenderContext) throws(RenderError) -> AttributeValue {
        switch self {
        case .constant(let value): return value
        case .text(let template): return .string(try template.render(context))
        case .array(let values):
            var rendered: [AttributeValue] = []
            for value in values { rendered.append(try value.render(context)) }
            return .array(rendered)
        case .object(let members):
            var rendered: [AttributeValue.Member] = []
            for member in members { rendered.append(.init(member.key, try member.value.render(context))) }
            return .object(rendered)
        }
    }
}
