/// A part of a profile that can be blamed.
public enum BlameSubject: Hashable, Sendable {
    /// A standard attribute.
    case attribute(StandardAttribute)
    /// A custom attribute, or the part of its value at `path`: `city`, or `[0].name`.
    case customAttribute(Name, path: String = "")
    /// The count of a custom event.
    case customEvent(Name)
    /// The count of a product that was bought.
    case product(Name)
}

extension LogReader {
    /// As ``EventLog/blame(_:of:withLog:)``.
    package func blame(_ subject: BlameSubject?, of user: UserNumber, withLog: Bool) throws -> [FieldBlame] {
        try withView { view in
            let search = try BlameSearch(self, view, of: user, asOf: nil, withLog: withLog)
            switch subject {
            case nil: return try search.attributes(nil)
            case .attribute(let attribute):
                return try search.answer([(FieldKey(standard: UInt32(attribute.rawValue)), [])])
            case .customAttribute(let name, let path):
                guard let steps = [FieldBlame.Step](path.isEmpty || path.hasPrefix("[") ? path[...] : ".\(path)") else {
                    throw AppendError.invalid(
                        place: "The path \(path)", reason: "leads to no part of a value",
                        remedy: "Name members and elements as in `city` or `[0].name`.")
                }
                return try names.number(name).map { try search.answer([(FieldKey(custom: $0), steps)]) } ?? []
            case .customEvent(let name): return try search.occurrences(of: .event(name)).map(FieldBlame.init)
            case .product(let name): return try search.occurrences(of: .product(name)).map(FieldBlame.init)
            }
        }
    }
}
