internal import ProfileLog
internal import ProfileLogAPI

/// The description of the service for programs, in OpenAPI 3.1: made of the endpoints themselves, so that it cannot name others.
enum OpenAPI {
    /// The whole document.
    static let document: [UInt8] = {
        var json = JSONWriter()
        json.beginObject()
        json.member("openapi", "3.1.0")
        json.object("info") { json in
            json.member("title", "ProfileLog")
            json.member("version", "1")
            json.member("description", "Profiles of users as events. docs/api.md describes what each request does.")
        }
        json.object("paths") { json in
            for path in paths {
                json.object(path) { json in
                    if let own = OwnPath(rawValue: path) { operation(own, &json) }
                    for endpoint in API.endpoints where endpoint.path == path { operation(endpoint, &json) }
                }
            }
        }
        json.object("components", components)
        json.endObject()
        return json.bytes
    }()

    private static var paths: [String] {
        var seen: Set<String> = []
        return (OwnPath.allCases.map(\.rawValue) + API.endpoints.map(\.path)).filter { seen.insert($0).inserted }
    }

    // MARK: - Operations

    private static func operation(_ own: OwnPath, _ json: inout JSONWriter) {
        json.object("get") { json in
            json.member("operationId", id("get", own.rawValue))
            json.member("summary", own.summary)
            security(isNeeded: own.permission != nil, &json)
            json.object("responses") { json in
                json.object("200") { $0.member("description", own.summary) }
                problem(&json)
            }
        }
    }

    private static func operation(_ endpoint: Endpoint, _ json: inout JSONWriter) {
        let method = endpoint.method.rawValue.lowercased()
        json.object(method) { json in
            json.member("operationId", id(method, endpoint.path))
            json.member("summary", endpoint.summary)
            if let permission = endpoint.permission { json.member("description", "Permission: \(permission)") }
            parameters(endpoint, &json)
            if endpoint.method == .post { body(endpoint, &json) }
            security(isNeeded: endpoint.permission != nil, &json)
            json.object("responses") { json in
                json.object(endpoint.isNative ? "200" : "2XX") { json in
                    json.member("description", "done")
                    json.object("content") { json in
                        for type in endpoint.mediaTypes {
                            let isJSON = type == "application/json"
                            json.object(type) {
                                $0.object("schema") { $0.member("type", isJSON ? "object" : "string") }
                            }
                        }
                        if endpoint.path == EventStreams.path {
                            json.object("text/event-stream") { $0.object("schema") { $0.member("type", "string") } }
                        }
                    }
                }
                problem(&json)
            }
        }
    }

    private static func parameters(_ endpoint: Endpoint, _ json: inout JSONWriter) {
        let inputs = endpoint.inputs ?? []
        json.key("parameters")
        json.beginArray()
        for part in endpoint.path.split(separator: "/") where part.first == "{" {
            parameter(EndpointInput(String(part.dropFirst().dropLast()), isRequired: true), in: "path", &json)
        }
        if endpoint.method == .get { for input in inputs { parameter(input, in: "query", &json) } }
        if endpoint.takesIdempotencyKey {
            parameter(EndpointInput("Idempotency-Key"), in: "header", &json)
        }
        if inputs.contains(where: { $0.name == "expect" }) {
            parameter(EndpointInput("If-Match"), in: "header", &json)
        }
        if endpoint.path == EventStreams.path { parameter(EndpointInput("Last-Event-ID"), in: "header", &json) }
        json.endArray()
    }

    private static func parameter(_ input: EndpointInput, in place: String, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("name", input.name)
        json.member("in", place)
        json.key("required")
        json.value(input.isRequired)
        json.object("schema") { json in schema(input, &json) }
        json.endObject()
    }

    private static func body(_ endpoint: Endpoint, _ json: inout JSONWriter) {
        let inputs = endpoint.inputs
        let required = (inputs ?? []).filter(\.isRequired)
        json.object("requestBody") { json in
            json.key("required")
            json.value(!required.isEmpty)
            json.object("content") { json in
                json.object("application/json") { json in
                    json.object("schema") { json in
                        json.member("type", "object")
                        if let inputs {
                            json.object("properties") { json in
                                for input in inputs { json.object(input.name) { schema(input, &$0) } }
                            }
                        }
                        if !required.isEmpty {
                            json.key("required")
                            json.beginArray()
                            for input in required { json.value(input.name) }
                            json.endArray()
                        }
                        json.key("additionalProperties")
                        json.value(!endpoint.isNative)
                    }
                }
            }
        }
    }

    private static func schema(_ input: EndpointInput, _ json: inout JSONWriter) {
        if input.kind != .any { json.member("type", input.kind.rawValue) }
        for (key, number) in [
            ("minimum", input.limits?.lowerBound), ("maximum", input.limits?.upperBound), ("default", input.standard),
        ] {
            guard let number else { continue }
            json.key(key)
            json.value(number)
        }
    }

    // MARK: - What all have

    private static func id(_ method: String, _ path: String) -> String {
        let words = path.split { !$0.isLetter && !$0.isNumber }
        return ([method] + words.map(String.init)).joined(separator: "_")
    }

    private static func security(isNeeded: Bool, _ json: inout JSONWriter) {
        json.key("security")
        json.beginArray()
        if isNeeded {
            json.beginObject()
            json.key("key")
            json.beginArray()
            json.endArray()
            json.endObject()
        }
        json.endArray()
    }

    private static func problem(_ json: inout JSONWriter) {
        json.object("default") { json in
            json.member("description", "why it was not done")
            json.object("content") { json in
                json.object("application/json") { json in
                    json.object("schema") { $0.member("$ref", "#/components/schemas/Problem") }
                }
            }
        }
    }

    private static func components(_ json: inout JSONWriter) {
        json.object("securitySchemes") { json in
            json.object("key") { json in
                json.member("type", "http")
                json.member("scheme", "bearer")
            }
        }
        json.object("schemas") { json in
            json.object("Problem") { json in
                json.member("type", "object")
                json.object("properties") { json in
                    for name in ["error", "message", "remedy", "code", "place", "reason"] {
                        json.object(name) { $0.member("type", "string") }
                    }
                }
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ text: String) {
        key(name)
        value(text)
    }

    /// An object under a key.
    fileprivate mutating func object(_ name: String, _ write: (inout JSONWriter) -> Void) {
        key(name)
        beginObject()
        write(&self)
        endObject()
    }
}
