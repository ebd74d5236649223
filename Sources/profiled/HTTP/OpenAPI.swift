internal import ProfileLog
internal import ProfileLogRequests
internal import Synchronization

/// The description of the service for programs, in OpenAPI 3.1, made of the endpoints themselves.
enum OpenAPI {
    /// The whole document. `needsKeys` says whether requests need a key, and `own` has the service's own paths.
    static func document(needsKeys: Bool, _ own: [OwnPath]) -> [UInt8] {
        let name = ([needsKeys ? "key" : ""] + own.map(\.rawValue)).joined(separator: " ")
        return ready.withLock { ready in
            if let document = ready[name] { return document }
            let made = document(security: needsKeys ? [["key": []]] : [[:], ["key": []]], own)
            ready[name] = made
            return made
        }
    }

    /// The documents that were asked for.
    private static let ready = Mutex<[String: [UInt8]]>([:])

    private static func document(security: AttributeValue, _ own: [OwnPath]) -> [UInt8] {
        var paths = own.map { own in
            (name: own.rawValue, operations: [("get", operation(own, own.permission == nil ? [] : security))])
        }
        for endpoint in API.table.endpoints {
            let operation = operation(endpoint, endpoint.needsKey ? security : [])
            let place = paths.firstIndex { $0.name == endpoint.path } ?? paths.count
            if place == paths.count { paths.append((endpoint.path, [])) }
            paths[place].operations.append((endpoint.method.rawValue.lowercased(), operation))
        }
        var schemas: [String: AttributeValue] = [
            "Problem": ["type": "object", "properties": .members(errorMembers)]
        ]
        for endpoint in API.table.endpoints { answer(of: endpoint).addNamed(to: &schemas) }
        let document: AttributeValue = [
            "openapi": "3.1.0",
            "info": [
                "title": "ProfileLog", "version": "1",
                "description": "Profiles of users as events. docs/api.md describes what each request does.",
            ],
            "paths": .members(paths.map { ($0.name, .members($0.operations)) }),
            "components": [
                "securitySchemes": ["key": ["type": "http", "scheme": "bearer"]],
                "schemas": .members(schemas.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }),
            ],
        ]
        return Array(document.json.utf8)
    }

    private static let errorMembers: [(String, AttributeValue)] =
        typed(["error", "message", "remedy", "code", "place", "reason"], "string")
        + typed(["actual", "position", "line", "column"], "integer") + typed(["of_store"], "boolean")

    private static func typed(_ names: [String], _ type: AttributeValue) -> [(String, AttributeValue)] {
        names.map { ($0, ["type": type]) }
    }

    // MARK: - Operations

    private static func operation(_ own: OwnPath, _ security: AttributeValue) -> AttributeValue {
        [
            "operationId": .string(id("get", own.rawValue)), "summary": .string(own.summary), "security": security,
            "responses": ["200": ["description": .string(own.summary)], "default": errorAnswer],
        ]
    }

    private static func operation(_ endpoint: Endpoint, _ security: AttributeValue) -> AttributeValue {
        let content = endpoint.mediaTypes.map { type -> (String, AttributeValue) in
            (type, ["schema": type == "application/json" ? answer(of: endpoint).schema : ["type": "string"]])
        }
        let permission = endpoint.takesAnyKey ? "Any key will do" : endpoint.permission.map { "Permission: \($0)" }
        return [
            "operationId": .string(id(endpoint.method.rawValue.lowercased(), endpoint.path)),
            "summary": .string(endpoint.summary),
            "description": permission.map { .string($0) },
            "parameters": .array(parameters(endpoint)),
            "requestBody": endpoint.method == .post ? body(endpoint) : nil,
            "security": security,
            "responses": [
                endpoint.isNative ? "200" : "2XX": ["description": "done", "content": .members(content)],
                "default": errorAnswer,
            ],
        ]
    }

    /// The form of its answer, with a name of its own: generators of clients make a type of it.
    private static func answer(of endpoint: Endpoint) -> AnswerShape {
        if case .named = endpoint.answer { return endpoint.answer }
        if case .any = endpoint.answer { return endpoint.answer }
        return .named("\(id(endpoint.method.rawValue.lowercased(), endpoint.path))_answer", endpoint.answer)
    }

    private static func parameters(_ endpoint: Endpoint) -> [AttributeValue] {
        let inputs = endpoint.inputs
        var headers: [EndpointInput] = []
        if endpoint.takesIdempotencyKey { headers.append(EndpointInput("Idempotency-Key")) }
        if inputs.contains(where: { $0.name == "expect" }) { headers.append(EndpointInput("If-Match")) }
        if endpoint.streamsEvents { headers.append(EndpointInput("Last-Event-ID")) }
        // `name[]` is another way to write `name`, and generators of clients make one name of both.
        let query = endpoint.method == .get ? inputs.filter { !$0.name.hasSuffix("[]") } : []
        let names = endpoint.path.split(separator: "/").filter { $0.first == "{" }
        let inPath = names.map { EndpointInput(String($0.dropFirst().dropLast()), isRequired: true) }
        return inPath.map { parameter($0, in: "path", endpoint) }
            + query.map { parameter($0, in: "query", endpoint) }
            + headers.map { parameter($0, in: "header", endpoint) }
    }

    private static func parameter(
        _ input: EndpointInput, in place: String, _ endpoint: Endpoint
    ) -> AttributeValue {
        [
            "name": .string(input.name), "in": .string(place), "required": .bool(input.isRequired),
            "schema": schema(input, endpoint, mayBeNull: false),
        ]
    }

    private static func body(_ endpoint: Endpoint) -> AttributeValue {
        let required = endpoint.inputs.filter(\.isRequired)
        // A member that is null counts as missing.
        let properties = endpoint.inputs.map { ($0.name, schema($0, endpoint, mayBeNull: !$0.isRequired)) }
        let object: AttributeValue = [
            "type": "object", "properties": .members(properties),
            "required": required.isEmpty ? nil : .array(required.map { .string($0.name) }),
            "additionalProperties": .bool(!endpoint.isNative),
        ]
        return ["required": .bool(!required.isEmpty), "content": ["application/json": ["schema": object]]]
    }

    private static func schema(_ input: EndpointInput, _ endpoint: Endpoint, mayBeNull: Bool) -> AttributeValue {
        let type = AttributeValue.string(input.kind.rawValue)
        let limits = input.limits
        return [
            "type": input.kind == .any ? nil : mayBeNull ? [type, "null"] : type,
            "description": InputWords.description(of: input, endpoint).map { .string($0) },
            // Generators of clients refuse an array without them.
            "items": input.kind == .array ? [:] : nil,
            "minimum": limits.map { AttributeValue($0.lowerBound) },
            "maximum": limits.map { AttributeValue($0.upperBound) },
            "default": input.standard.map { AttributeValue($0) },
        ]
    }

    private static func id(_ method: String, _ path: String) -> String {
        ([method] + path.split { !$0.isLetter && !$0.isNumber }.map(String.init)).joined(separator: "_")
    }

    private static let errorAnswer: AttributeValue = [
        "description": "why it was not done",
        "content": ["application/json": ["schema": ["$ref": "#/components/schemas/Problem"]]],
    ]
}
