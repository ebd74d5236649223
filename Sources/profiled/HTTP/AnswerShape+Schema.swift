internal import ProfileLog
internal import ProfileLogRequests

extension AnswerShape {
    /// The JSON Schema, with `$ref` in place of what has a name.
    var schema: AttributeValue {
        switch self {
        case .text: ["type": "string"]
        case .time: ["type": "string", "format": "date-time"]
        case .integer: ["type": "integer"]
        case .number: ["type": "number"]
        case .boolean: ["type": "boolean"]
        case .any: [:]
        case .array(let element): ["type": "array", "items": element.schema]
        case .map(let value): ["type": "object", "additionalProperties": value.schema]
        case .object(let members): Self.schema(of: members)
        case .orNull(let shape): ["anyOf": [shape.schema, ["type": "null"]]]
        case .either(let shapes): ["anyOf": .array(shapes.map(\.schema))]
        case .named(let name, _): ["$ref": .string("#/components/schemas/\(name)")]
        }
    }

    private static func schema(of members: [Member]) -> AttributeValue {
        let required = members.filter(\.isRequired).map { AttributeValue.string($0.name) }
        return [
            "type": "object", "properties": .members(members.map { ($0.name, $0.shape.schema) }),
            "required": required.isEmpty ? nil : .array(required), "additionalProperties": .bool(false),
        ]
    }

    /// Adds the schemas of all that has a name in it, by name.
    func addNamed(to schemas: inout [String: AttributeValue]) {
        switch self {
        case .text, .time, .integer, .number, .boolean, .any: break
        case .array(let shape), .map(let shape), .orNull(let shape): shape.addNamed(to: &schemas)
        case .object(let members): for member in members { member.shape.addNamed(to: &schemas) }
        case .either(let shapes): for shape in shapes { shape.addNamed(to: &schemas) }
        case .named(let name, let shape):
            guard schemas[name] == nil else { return }
            schemas[name] = shape.schema
            shape.addNamed(to: &schemas)
        }
    }
}
