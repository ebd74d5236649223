/// Updates and matches of array elements as plain objects, with the member names of the REST format (spec/rest-api
/// 1.5).
enum OperationForm {
    static let identifierKey: Name = "$identifier_key"
    static let identifierValue: Name = "$identifier_value"
    static let newObject: Name = "$new_object"

    static func value(_ match: AttributeOperation.ObjectMatch) -> AttributeValue {
        .object([.init(identifierKey, .string(match.key.text)), .init(identifierValue, match.value)])
    }

    static func value(_ update: AttributeOperation.ObjectUpdate) -> AttributeValue {
        .object([
            .init(identifierKey, .string(update.match.key.text)),
            .init(identifierValue, update.match.value),
            .init(newObject, .object(update.object)),
        ])
    }

    static func match(_ value: AttributeValue) -> AttributeOperation.ObjectMatch? {
        guard case .string(let key) = value[identifierKey], let expected = value[identifierValue] else { return nil }
        return .init(key: Name(key), value: expected)
    }

    static func update(_ value: AttributeValue) -> AttributeOperation.ObjectUpdate? {
        guard let match = match(value), case .object(let object) = value[newObject] else { return nil }
        return .init(match: match, object: object)
    }
}
