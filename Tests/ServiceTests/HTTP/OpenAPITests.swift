import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("The description for programs")
struct OpenAPITests {
    private static let ownPaths = ["/", "/openapi.json", "/metrics", "/health", "/health/live", "/health/ready"]

    private func members(_ value: AttributeValue) -> [(name: String, value: AttributeValue)] {
        guard case .object(let members) = value else { return [] }
        return members.map { ($0.key.text, $0.value) }
    }

    private func values(_ value: AttributeValue) -> [AttributeValue] {
        guard case .array(let values) = value else { return [] }
        return values
    }

    @Test("The OpenAPI document has every endpoint, and no other")
    func endpoints() async throws {
        try await withService { service in
            let document = try await service.get("/openapi.json").json
            #expect(document.at("openapi") == "3.1.0")
            var described: Set<String> = []
            var ids: Set<String> = []
            for path in members(document.at("paths")) {
                for operation in members(path.value) {
                    described.insert("\(operation.name.uppercased()) \(path.name)")
                    #expect(ids.insert(operation.value.at("operationId").text).inserted, "\(path.name)")
                    let inPath = values(operation.value.at("parameters")).filter { $0.at("in") == "path" }
                    let names = inPath.map { "{\($0.at("name").text)}" }
                    #expect(names == path.name.split(separator: "/").map(String.init).filter { $0.hasPrefix("{") })
                    #expect(inPath.allSatisfy { $0.at("required") == true })
                }
            }
            let known =
                API.table.endpoints.map { "\($0.method.rawValue) \($0.path)" } + Self.ownPaths.map { "GET \($0)" }
            #expect(described == Set(known))
            // And what it names is there.
            for path in Self.ownPaths { #expect(try await service.get(path).status == 200, "\(path)") }
        }
    }

    @Test("A key is demanded where one is needed: nowhere without keys, and never of health")
    func security() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        for hasKeys in [false, true] {
            if hasKeys {
                let made = try await run(["keys", "add", "--store", "store", "--name", "app"], in: folder)
                #expect(made.code == 0)
            }
            let service = try await Service(in: folder)
            let paths = try await service.get("/openapi.json").json.at("paths")
            for path in members(paths) {
                for operation in members(path.value) {
                    let choices = values(operation.value.at("security"))
                    let isOptional = choices.isEmpty || choices.contains { $0.count == 0 }
                    let isOpen = ["/", "/openapi.json", "/health", "/health/live", "/health/ready", "/exports/{file}"]
                        .contains(path.name)
                    #expect(isOptional == (isOpen || !hasKeys), "\(path.name)")
                }
            }
            #expect(try await service.stop() == 0)
        }
    }

    @Test("A member that may be missing may be null, as the document says")
    func null() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            let paths = try await service.get("/openapi.json").json.at("paths")
            for endpoint in API.table.endpoints where endpoint.method == .post {
                let operation = members(paths).first { $0.name == endpoint.path }?.value.at("post") ?? .null
                let schema = operation.at("requestBody.content")[Name("application/json")]?.at("schema") ?? .null
                let path = endpoint.path.replacingOccurrences(of: "{device}", with: "d")
                for input in endpoint.inputs where !input.isRequired && input.kind != .any {
                    let type = schema.at("properties")[Name(input.name)]?.at("type") ?? .null
                    #expect(type == .array([.string(input.kind.rawValue), "null"]), "\(path) \(input.name)")
                    let answer = try await service.post(path, #"{"\#(input.name)":null}"#)
                    let without = try await service.post(path, "{}")
                    #expect(answer.status == without.status, "\(path) \(input.name): \(answer.json)")
                    #expect(answer.json.at("place") == without.json.at("place"), "\(path) \(input.name)")
                }
            }
        }
    }

    /// Endpoints that remember what they did under a key, or need not.
    private static let keyed: Set<String> = [
        "/users/track", "/users/track/sync", "/users/track/bulk", "/users/alias/new", "/users/alias/update",
        "/users/identify", "/users/merge", "/users/external_ids/rename", "/users/external_ids/remove", "/users/delete",
        "/subscription/status/set", "/v2/subscription/status/set", "/v1/save/event", "/v1/save/attributes",
        "/v1/save/user-attribute", "/v1/log/event", "/v1/log/attributes", "/v1/log/user-attribute", "/v1/log/purchase",
        "/v1/batch", "/v1/void", "/v1/unvoid", "/messages/send", "/campaigns/trigger/send", "/canvas/trigger/send",
        "/transactional/v1/campaigns/{campaign_id}/send",
        "/messages/schedule/create", "/messages/schedule/update", "/messages/schedule/delete",
        "/campaigns/trigger/schedule/create", "/campaigns/trigger/schedule/update",
        "/campaigns/trigger/schedule/delete", "/canvas/trigger/schedule/create", "/canvas/trigger/schedule/update",
        "/canvas/trigger/schedule/delete",
    ]

    @Test("Every POST tells the members of its body and whether it takes a key, every answer its type")
    func bodies() async throws {
        try await withService { service in
            let paths = try await service.get("/openapi.json").json.at("paths")
            for endpoint in API.table.endpoints {
                guard case .object(let all)? = paths[Name(endpoint.path)] else { continue }
                let method = endpoint.method.rawValue.lowercased()
                let operation = all.first { $0.key.text == method }?.value ?? .null
                if endpoint.method == .post {
                    let schema = operation.at("requestBody.content")[Name("application/json")]?.at("schema")
                    #expect((schema?.at("properties").count ?? 0) > 0, "\(endpoint.path)")
                }
                let headers = values(operation.at("parameters")).filter { $0.at("in") == "header" }
                let takesKey = headers.contains { $0.at("name") == "Idempotency-Key" }
                #expect(takesKey == Self.keyed.contains(endpoint.path), "\(endpoint.path)")
                let answer = members(operation.at("responses"))[0].value.at("content")
                let ofFiles = ["/exports/{file}": "application/zip", "/v1/cluster/copy": "application/x-tar"]
                let file = ofFiles[endpoint.path]
                #expect((answer[Name(file ?? "application/json")] ?? .null) != .null)
                if file != nil { #expect(answer[Name("application/json")] == nil) }
            }
        }
    }

    @Test("A native endpoint takes what is declared, and refuses all else by name")
    func inputs() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            for endpoint in API.table.endpoints where endpoint.isNative {
                let inputs = endpoint.inputs
                let path = endpoint.path.replacingOccurrences(of: "{device}", with: "d")
                var remedy: String
                var declared = inputs.map(\.name).sorted()
                if endpoint.method == .get {
                    let required = inputs.filter(\.isRequired).map { "&\($0.name)=x" }.joined()
                    let answer = try await service.get("\(path)?unknown=1\(required)")
                    #expect(answer.json.at("place") == "unknown")
                    remedy = answer.json.at("remedy").text
                    // Taken by all reads before they look at their own.
                    declared.removeAll { ["wait_for", "timeout"].contains($0) }
                    remedy.replace("The parameters are ", with: "")
                } else {
                    let answer = try await service.post(path, #"{"unknown":1}"#)
                    #expect(answer.json.at("place") == "unknown")
                    remedy = answer.json.at("remedy").text
                    remedy.replace("The fields are ", with: "")
                }
                #expect(remedy == declared.joined(separator: ", ") + ".", "\(endpoint.path)")
            }
        }
    }

    @Test("A GET in Braze's format has all its parameters, with their limits")
    func brazeParameters() async throws {
        let people = ["external_id", "email", "phone"].map { "\($0) array" }
        let series = [
            "length integer required", "unit string", "ending_at string", "app_id string", "segment_id string",
        ]
        let expected = [
            "/events/list": ["page integer 0...2147483647 0"], "/events": ["cursor string"],
            "/custom_attributes": ["cursor string"], "/purchases/product_list": ["page integer 0...2147483647 0"],
            "/subscription/status/get": ["subscription_group_id string required"] + people,
            "/subscription/user/status": people + ["limit integer 1...100 100", "offset integer 0...2147483647 0"],
            "/exports/{file}": [], "/events/data_series": ["event string required"] + series,
            "/sessions/data_series": series, "/purchases/quantity_series": ["product string"] + series,
            "/purchases/revenue_series": ["product string"] + series, "/kpi/dau/data_series": series,
            "/kpi/mau/data_series": series, "/kpi/new_users/data_series": series,
            "/kpi/uninstalls/data_series": series,
            "/segments/data_series": ["segment_id string required"] + series.prefix(3),
            "/segments/list": ["page integer 0...2147483647 0", "sort_direction string"],
            "/segments/details": ["segment_id string required"],
            "/messages/scheduled_broadcasts": ["end_time string required"],
        ]
        try await withService { service in
            let paths = try await service.get("/openapi.json").json.at("paths")
            let endpoints = API.table.endpoints.filter { $0.method == .get && !$0.isNative }
            #expect(Set(endpoints.map(\.path)) == Set(expected.keys))
            for endpoint in endpoints {
                let path = try #require(members(paths).first { $0.name == endpoint.path })
                let parameters = values(path.value.at("get.parameters")).filter { $0.at("in") == "query" }
                let described = parameters.map { parameter in
                    let schema = parameter.at("schema")
                    var words = [parameter.at("name").text, schema.at("type").text]
                    if case .int(let least) = schema.at("minimum"), case .int(let most) = schema.at("maximum"),
                        case .int(let standard) = schema.at("default")
                    {
                        words += ["\(least)...\(most)", "\(standard)"]
                    }
                    if parameter.at("required") == true { words.append("required") }
                    return words.joined(separator: " ")
                }
                #expect(described == expected[endpoint.path], "\(endpoint.path)")
                for input in endpoint.inputs {
                    // Without a workspace there is no segment.
                    guard let limits = input.limits, !endpoint.path.hasPrefix("/segments/data") else { continue }
                    let event = endpoint.path == "/events/data_series" ? "&event=x" : ""
                    func status(_ value: String) async throws -> Int {
                        try await service.get("\(endpoint.path)?email=a@example.com&\(input.name)=\(value)\(event)")
                            .status
                    }
                    for value in [limits.lowerBound, limits.upperBound] { #expect(try await status("\(value)") == 200) }
                    for value in ["\(Int(limits.lowerBound) - 1)", "\(limits.upperBound + 1)", "x", ""] {
                        #expect(try await status(value) == 400, "\(endpoint.path)?\(input.name)=\(value)")
                    }
                }
            }
        }
    }

    @Test("Arrays have items, as generators of clients want, and inputs that many endpoints share are described")
    func words() async throws {
        try await withService { service in
            let paths = try await service.get("/openapi.json").json.at("paths")
            let batch = paths[Name("/v1/batch")]?.at("post.requestBody.content")[Name("application/json")]?.at("schema")
            #expect(batch?.at("properties.items.items") == .object([]))
            #expect(batch?.at("properties.key.description").text.contains("retry") == true)
            let profile = values(paths[Name("/v1/profile")]?.at("get.parameters") ?? .null)
            let asOf = profile.first { $0.at("name") == "as_of" }
            #expect(asOf?.at("schema.description").text.hasPrefix("a moment of the past") == true)
        }
    }

    @Test("What is required is required")
    func required() async throws {
        try await withService { service in
            for endpoint in API.table.endpoints where endpoint.isNative {
                for input in endpoint.inputs where input.isRequired {
                    let others = endpoint.inputs.filter { $0.isRequired && $0 != input }
                    let answer: Service.Reply
                    if endpoint.method == .get {
                        answer = try await service.get(endpoint.path)
                    } else {
                        // Others that a request may need all the same: a user is one of them.
                        let names = endpoint.inputs.map(\.name)
                        var members = others.map { #""\#($0.name)":\#(Self.sample($0))"# }
                        if names.contains("user"), input.name != "user", !others.contains(where: { $0.name == "user" })
                        {
                            members.append(#""user":"u""#)
                        }
                        let path = endpoint.path.replacingOccurrences(of: "{device}", with: "d")
                        answer = try await service.post(path, "{\(members.joined(separator: ","))}")
                    }
                    #expect(answer.status == 400, "\(endpoint.path) \(input.name)")
                    #expect(answer.json.at("place") == .string(input.name), "\(endpoint.path) \(input.name)")
                }
            }
        }
    }

    private static func sample(_ input: EndpointInput) -> String {
        switch (input.name, input.kind) {
        case ("attribute", _): #""gender""#
        case ("currency", _): #""EUR""#
        case (_, .string), (_, .any): #""x""#
        case (_, .integer), (_, .number): "1"
        case (_, .boolean): "true"
        case (_, .object): #"{"a":1}"#
        case (_, .array): "[]"
        }
    }
}
