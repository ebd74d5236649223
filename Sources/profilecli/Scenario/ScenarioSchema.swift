internal import ProfileLog
internal import ProfileLogNativeAPI

/// The JSON Schema of scenario files, for editors; made of the table of steps. docs/scenario.schema.json is a copy.
enum ScenarioSchema {
    static var lines: [String] {
        let definitions = StepKind.all.enumerated().map { index, kind in
            let comma = index + 1 < StepKind.all.count ? "," : ""
            return "    \(AttributeValue.string(kind.name).json): \(JSONWriter.object(kind.schema.write))\(comma)"
        }
        return [
            "{", "  \"$schema\": \"http://json-schema.org/draft-07/schema#\",",
            "  \"title\": \"A scenario of profilecli\",", "  \"type\": \"object\",",
            "  \"additionalProperties\": false,",
            "  \"required\": [\"steps\"],", "  \"properties\": \(JSONWriter.object(properties)),",
            "  \"definitions\": {",
        ] + definitions + ["  }", "}"]
    }

    /// The keys of the file.
    private static func properties(_ json: inout JSONWriter) {
        for field in StepKind.scenarioFields { json.object(field.name, field.schema.write) }
        json.object("steps") { json in
            json.member("type", "array")
            json.member("minItems", 1)
            json.member("maxItems", Scenario.mostSteps)
            json.object("items") { json in
                let alone = JSONSchema.words(StepKind.all.filter(\.standsAlone).map(\.name))
                json.objects("anyOf", [alone.write, named]) { $1(&$0) }
            }
        }
    }

    /// A step with fields: an object with the step's name as its only key.
    private static func named(_ json: inout JSONWriter) {
        json.member("type", "object")
        json.member("additionalProperties", false)
        json.member("minProperties", 1)
        json.member("maxProperties", 1)
        json.object("properties") { json in
            for kind in StepKind.all {
                json.object(kind.name) { $0.member("$ref", "#/definitions/\(kind.name)") }
            }
        }
    }
}

extension StepKind {
    /// The fields after a step's name: its fields, the value of its short form, or nothing.
    fileprivate var schema: JSONSchema {
        let required = fields.filter(\.isRequired).map(\.name)
        var forms = [JSONSchema.object(allFields.map { ($0.name, $0.schema) }, required: required)]
        if let short = short.flatMap(field) { forms.append(short.schema) }
        if standsAlone { forms.append(.null) }
        return .described("\(meaning)\n\n- \(example)", .anyOf(forms))
    }
}

extension StepField {
    fileprivate var schema: JSONSchema { .described(meaning, kind.schema) }
}

extension StepField.Kind {
    fileprivate var schema: JSONSchema {
        switch self {
        case .text, .time: .text
        case .target: .matching("^/[^ ]*$", types: ["string"])
        case .flag: .flag
        case .integer(let range): .integer(range)
        case .number: .types(["number"])
        case .span: .matching("^[0-9]+[smhd]?$", types: ["string", "integer"])
        case .choice(let words): .words(words)
        case .choices(let words): .anyOf([.words(words), .list(.words(words))])
        case .texts: .anyOf([Self.anyText, .list(Self.anyText)])
        case .object: .types(["object"])
        case .container: .types(["string", "object"])
        case .inAppSettings: .inAppSettings
        case .inAppMessages: .inAppMessages
        case .startup: .startup
        case .contentExtension: .contentExtension
        case .appGroupTargets: .appGroupTargets
        case .workspace: .workspace
        case .any: .any
        }
    }

    private static let anyText = JSONSchema.types(["string", "number", "boolean"])
}
