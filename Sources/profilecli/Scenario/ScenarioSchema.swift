internal import ProfileLog
internal import ProfileLogNativeAPI

/// The JSON Schema of scenario files, for editors; made of the table of steps. docs/scenario.schema.json is a copy.
enum ScenarioSchema {
    static var lines: [String] {
        let definitions = StepKind.all.enumerated().map { index, kind in
            let comma = index + 1 < StepKind.all.count ? "," : ""
            return "    \(AttributeValue.string(kind.name).json): \(JSONWriter.object { define(kind, &$0) })\(comma)"
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
        for field in StepKind.scenarioFields { json.object(field.name) { schema(field, &$0) } }
        json.object("steps") { json in
            json.member("type", "array")
            json.member("minItems", 1)
            json.member("maxItems", Scenario.mostSteps)
            json.object("items") { json in
                json.anyOf([
                    { $0.member("enum", StepKind.all.filter(\.standsAlone).map(\.name)) },
                    { json in
                        beginObject(&json)
                        json.member("minProperties", 1)
                        json.member("maxProperties", 1)
                        json.object("properties") { json in
                            for kind in StepKind.all {
                                json.object(kind.name) { $0.member("$ref", "#/definitions/\(kind.name)") }
                            }
                        }
                    },
                ])
            }
        }
    }

    /// Defines the fields after a step's name: its fields, the value of its short form, or nothing.
    private static func define(_ kind: StepKind, _ json: inout JSONWriter) {
        json.member("description", "\(kind.meaning)\n\n- \(kind.example)")
        var forms: [(inout JSONWriter) -> Void] = [
            { json in
                beginObject(&json)
                let required = kind.fields.filter(\.isRequired).map(\.name)
                if !required.isEmpty { json.member("required", required) }
                json.object("properties") { json in
                    for field in kind.allFields { json.object(field.name) { schema(field, &$0) } }
                }
            }
        ]
        if let short = kind.short.flatMap(kind.field) { forms.append { schema(short, &$0) } }
        if kind.standsAlone { forms.append { $0.member("type", "null") } }
        json.anyOf(forms)
    }

    private static func beginObject(_ json: inout JSONWriter) {
        json.member("type", "object")
        json.member("additionalProperties", false)
    }

    private static func schema(_ field: StepField, _ json: inout JSONWriter) {
        json.member("description", field.meaning)
        switch field.kind {
        case .text, .time: json.member("type", ["string", "number"])
        case .target:
            json.member("type", "string")
            json.member("pattern", "^/[^ ]*$")
        case .flag: json.member("type", "boolean")
        case .integer(let range):
            json.member("type", "integer")
            json.member("minimum", range.lowerBound)
            json.member("maximum", range.upperBound)
        case .number: json.member("type", "number")
        case .span:
            json.member("type", ["string", "integer"])
            json.member("pattern", "^[0-9]+[smhd]?$")
        case .choice(let words): json.member("enum", words)
        case .choices(let words): one(orMany: { $0.member("enum", words) }, &json)
        case .texts: one(orMany: { $0.member("type", ["string", "number", "boolean"]) }, &json)
        case .object: json.member("type", "object")
        case .inAppSettings: JSONSchema.inAppSettings.write(to: &json)
        case .inAppMessages: JSONSchema.inAppMessages.write(to: &json)
        case .startup: JSONSchema.startup.write(to: &json)
        case .contentExtension: JSONSchema.contentExtension.write(to: &json)
        case .appGroupTargets: JSONSchema.appGroupTargets.write(to: &json)
        case .list: json.member("type", "array")
        case .container: json.member("type", ["string", "object"])
        case .workspace: JSONSchema.workspace.write(to: &json)
        case .any: break
        }
    }

    private static func one(orMany element: @escaping (inout JSONWriter) -> Void, _ json: inout JSONWriter) {
        json.anyOf([
            element,
            { json in
                json.member("type", "array")
                json.object("items", element)
            },
        ])
    }
}

extension JSONWriter {
    /// Writes the schema of a value with several forms: one of `forms`.
    fileprivate mutating func anyOf(_ forms: [(inout JSONWriter) -> Void]) {
        objects("anyOf", forms) { $1(&$0) }
    }
}
