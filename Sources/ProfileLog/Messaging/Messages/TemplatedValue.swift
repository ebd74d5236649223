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
            let values = try elements.enumerated().map { (index, element) throws(SendError) in
                try TemplatedValue(element, at: "\(place)[\(index)]")
            }
            self = values.allSatisfy { $0.constant != nil } ? .constant(value) : .array(values)
        case .object(let members):
            let values = try members.map { (member) throws(SendError) in
                let place = "\(place).\(TemplateError.shown(member.key.text))"
                return Member(key: member.key, value: try TemplatedValue(member.value, at: place))
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
            return .array(try values.map { (value) throws(RenderError) in try value.render(context) })
        case .object(let members):
            return .object(
                try members.map { (member) throws(RenderError) in
                    .init(member.key, try member.value.render(context))
                })
        }
    }
}
