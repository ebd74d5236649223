internal import ProfileLogSnippets

/// One method on one path of the API.
package struct Endpoint: Sendable {
    package let method: APIRequest.Method
    /// The path; `{…}` in it is a place for a name.
    package let path: String
    /// Its purpose, in a few words.
    package let summary: String
    /// The inputs, in its query with GET and in its body with POST.
    ///
    /// Endpoints in Braze's format ignore what they do not know, those of the native API refuse it.
    package let inputs: [EndpointInput]
    /// The form of its answer, if it is a success.
    package let answer: AnswerShape
    /// Whether it is part of the native API, and none of Braze's format.
    package let isNative: Bool
    /// Whether a request is answered in microseconds, its commit aside, unless it ``APIRequest/takesLong``.
    package let isBrief: Bool

    init(
        _ method: APIRequest.Method, _ path: String, _ summary: String, _ inputs: [EndpointInput], _ answer: AnswerShape
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        self.inputs = inputs
        self.answer = answer
        isNative = path.hasPrefix("/v1/")
        isBrief = path == "/users/track"
        permission = Self.permission(method, path)
    }

    /// Whether it reads and stores nothing, for as long as its answer needs.
    package var isRead: Bool { method == .get || path == "/users/export/ids" }

    /// The name of the permission for it: `v1.read` or `v1.write`, and Braze's own name for what speaks its format.
    ///
    /// Nil for a file that an export has made: its name cannot be guessed, and Braze's clients ask for it without a
    /// key.
    package let permission: String?

    private static func permission(_ method: APIRequest.Method, _ path: String) -> String? {
        if path.hasPrefix("/v1/") { return method == .get ? "v1.read" : "v1.write" }
        if path.hasPrefix("/exports/") { return nil }
        return exceptions[path] ?? path.split(separator: "/").joined(separator: ".")
    }

    /// Fields whose name at Braze is not the path with dots.
    private static let exceptions = [
        "/v2/subscription/status/set": "subscription.status.set",
        "/subscription/user/status": "subscription.groups.get",
        "/transactional/v1/campaigns/{campaign_id}/send": "transactional.send",
        "/messages/scheduled_broadcasts": "messages.schedule_broadcasts", "/events": "events.get",
        "/custom_attributes": "custom_attributes.get",
    ]

    /// Whether a request may carry an `Idempotency-Key`.
    package var takesIdempotencyKey: Bool {
        guard method == .post else { return false }
        if isNative { return inputs.contains { $0.name == "key" } }
        return !path.hasPrefix("/users/export/") && path != "/sends/id/create"
    }

    /// The types of its answers, as in `Content-Type`.
    package var mediaTypes: [String] {
        if path == "/v1/export" { return ["application/json", "application/jsonl", "text/csv"] }
        return path.hasPrefix("/exports/") ? ["application/zip", "application/gzip"] : ["application/json"]
    }
}

/// A parameter of an endpoint's query, or a member of its body.
package struct EndpointInput: Hashable, Sendable {
    /// The type of its value, in the words of JSON Schema.
    package enum Kind: String, Sendable {
        case string, integer, number, boolean, object, array
        /// Any JSON value.
        case any
    }

    package let name: String
    package let kind: Kind
    package let isRequired: Bool
    /// The least and the largest value of a whole number; nil if it has other limits, or none.
    package let limits: ClosedRange<UInt64>?
    /// The whole number that counts without one.
    package let standard: UInt64?

    package init(
        _ name: String, _ kind: Kind = .string, isRequired: Bool = false, limits: ClosedRange<UInt64>? = nil,
        standard: UInt64? = nil
    ) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.limits = limits
        self.standard = standard
    }

    /// One that must be there.
    package static func required(_ name: String, _ kind: Kind = .string) -> EndpointInput {
        EndpointInput(name, kind, isRequired: true)
    }
}

/// The requests of one dialect of the API, on one store.
package protocol Dialect: Sendable {
    /// The endpoints with their handlers.
    static var handlers: [EndpointHandler<Self>] { get }
    /// Endpoints of the platform that the dialect does not answer.
    static var missing: [MissingEndpoint] { get }
    /// `problem`, the answer to `request`, with a better remedy if there is one.
    func explained(_ problem: APIProblem, _ request: APIRequest) -> APIProblem
}

extension Dialect {
    package static var missing: [MissingEndpoint] { [] }
    package func explained(_ problem: APIProblem, _ request: APIRequest) -> APIProblem { problem }
}

/// An endpoint that the platform has whose dialect is spoken here, and that is not simulated.
package struct MissingEndpoint: Hashable, Sendable {
    /// Any method of HTTP, as in `PATCH`.
    package let method: String
    /// The path; `{…}` in it is a place for a name.
    package let path: String
    /// The replacement: one sentence or two.
    package let instead: String

    package init(_ method: String, _ path: String, instead: String) {
        self.method = method
        self.path = path
        self.instead = instead
    }
}

/// An endpoint, and how a dialect answers it.
package struct EndpointHandler<API: Dialect>: Sendable {
    let endpoint: Endpoint
    let answer: @Sendable (API, APIRequest) async throws -> APIAnswer

    package init(
        _ method: APIRequest.Method, _ path: String, _ summary: String, _ inputs: [EndpointInput],
        answers shape: AnswerShape, _ answer: @escaping @Sendable (API, APIRequest) async throws -> APIAnswer
    ) {
        endpoint = Endpoint(method, path, summary, inputs, shape)
        self.answer = answer
    }
}

extension Dialect {
    /// The endpoints.
    package static var endpoints: [Endpoint] { handlers.map(\.endpoint) }

    fileprivate var answers: [APIRouter.Answer] {
        Self.handlers.map { handler in
            { request in
                do { return try await handler.answer(self, request) } catch let problem as APIProblem {
                    throw explained(problem, request)
                }
            }
        }
    }
}

/// Answers requests of several dialects: a function from requests to answers; docs/api.md describes it.
///
/// The service calls it for HTTP and the command line in its own process, so both answer the same.
package struct APIRouter: Sendable {
    fileprivate typealias Answer = @Sendable (APIRequest) async throws -> APIAnswer

    private let table: EndpointTable
    private let answers: [Answer]

    /// Bytes of a request's body that are read at most.
    package static let maxBodyBytes = 4 << 20

    package init(_ dialects: any Dialect...) {
        table = EndpointTable(
            dialects.flatMap { type(of: $0).endpoints }, missing: dialects.flatMap { type(of: $0).missing })
        answers = dialects.flatMap(\.answers)
    }

    /// Does what `request` asks. A failure is an answer too: an ``APIProblem`` in the dialect of the path.
    package func answer(_ request: APIRequest) async -> APIAnswer {
        var request = request
        request.path = APIRequest.plain(path: request.path)
        do {
            guard request.body.count <= Self.maxBodyBytes else {
                throw APIProblem.tooLarge("The body", bytes: Self.maxBodyBytes)
            }
            let match = try table.match(request)
            request.parameters = match.parameters
            request.inputs = match.endpoint.inputs
            let answer = try await answers[match.index](request)
            #if DEBUG
                try match.endpoint.check(answer)
            #endif
            return answer
        } catch {
            return APIProblem(error).answer(at: request.path)
        }
    }
}

extension Endpoint {
    /// Fails with status 500 if the JSON of a success has another form than the declared one. Debug builds call it, so
    /// every test of an answer tests its description.
    fileprivate func check(_ answer: APIAnswer) throws {
        guard answer.isSuccess, answer.file == nil, answer.stream == nil, !answer.body.isEmpty else { return }
        guard let place = self.answer.difference(in: try JSON.parse(answer.body, maxDepth: 100))
        else { return }
        throw APIProblem(
            status: 500, code: "undeclared_answer",
            error: "The answer of \(method.rawValue) \(path) has another form than it declares, at \(place).",
            remedy: "Correct the endpoint's `AnswerShape`.")
    }
}

package struct EndpointTable: Sendable {
    package let endpoints: [Endpoint]
    /// Endpoints at paths that name nothing, by their path.
    private let plain: [String: [Match]]
    private let templates: [Match]
    private let missing: [MissingEndpoint]

    fileprivate typealias Match = (index: Int, endpoint: Endpoint, parameters: [String: String])

    package init(_ endpoints: [Endpoint], missing: [MissingEndpoint] = []) {
        self.endpoints = endpoints
        self.missing = missing
        let all = endpoints.enumerated().map { Match($0, $1, [:]) }
        plain = Dictionary(grouping: all.filter { !$0.endpoint.path.contains("{") }, by: \.endpoint.path)
        templates = all.filter { $0.endpoint.path.contains("{") }
    }

    package func endpoint(_ method: APIRequest.Method, _ path: String) -> Endpoint? {
        matches(path).first { $0.endpoint.method == method }?.endpoint
    }

    /// The path of the endpoint at `path`, with `{…}` in place of names, for logs; nil if there is none.
    package func template(of path: String) -> String? {
        matches(path).first?.endpoint.path ?? missing(at: path).first?.path
    }

    /// The methods at the path `template`, as in `Allow`.
    package func methods(at template: String) -> String {
        let own = endpoints.filter { $0.path == template }.map(\.method.rawValue)
        return (own.isEmpty ? missing.filter { $0.path == template }.map(\.method) : own).joined(separator: ", ")
    }

    /// Every permission that a key can have, without `all`.
    package var permissions: [String] { Set(endpoints.compactMap(\.permission)).sorted() }

    /// Returns the reason why `method` of HTTP is not answered at `path`: 405 with the right one, 501 for what the
    /// platform has and is not simulated, or 404.
    package func refusal(of method: String, at path: String) -> APIProblem {
        let methods = matches(path).map(\.endpoint.method.rawValue)
        guard methods.isEmpty else {
            let allowed = methods.joined(separator: ", ")
            return APIProblem(
                status: 405, code: "wrong_method", error: "This path does not know this method.",
                remedy: "Send \(allowed).", allow: allowed)
        }
        let missing = missing(at: path)
        if let endpoint = missing.first(where: { $0.method == method }) {
            return APIProblem(
                status: 501, code: "not_simulated",
                error: "Braze has \(endpoint.method) \(endpoint.path); ProfileLog does not simulate it.",
                remedy: endpoint.instead)
        }
        if let first = missing.first {
            let allowed = missing.map(\.method).joined(separator: ", ")
            return APIProblem(
                status: 405, code: "wrong_method",
                error:
                    "Braze has \(first.path) with \(allowed), not with this method; ProfileLog does not simulate it.",
                remedy: first.instead, allow: allowed)
        }
        let paths = Set(endpoints.map(\.path) + self.missing.map(\.path)).filter {
            abs($0.utf8.count - path.utf8.count) <= 2
        }.sorted()
        let nearest = NearestNames(to: path, among: paths, within: 2).close.first
        return APIProblem(
            status: 404, code: "unknown_path", error: "There is nothing at this path.",
            remedy: nearest.map { "Did you mean \($0)? GET / lists what there is." } ?? "GET / lists what there is.")
    }

    fileprivate func match(_ request: APIRequest) throws -> Match {
        guard let match = matches(request.path).first(where: { $0.endpoint.method == request.method }) else {
            throw refusal(of: request.method.rawValue, at: request.path)
        }
        return match
    }

    private func missing(at path: String) -> [MissingEndpoint] {
        let plain = missing.filter { $0.path == path }
        if !plain.isEmpty { return plain }
        let found = missing.filter { PathTemplate.parameters(of: path, as: $0.path) != nil }
        return found.filter { $0.path == found[0].path }
    }

    /// The endpoints at `path`, one for each method, with what the path names.
    private func matches(_ path: String) -> [Match] {
        plain[path]
            ?? templates.compactMap { match in
                PathTemplate.parameters(of: path, as: match.endpoint.path).map { (match.index, match.endpoint, $0) }
            }
    }
}

/// A path of the API that may have places for names, as in `/v1/devices/{device}/launch`.
enum PathTemplate {
    /// Returns the names in `path` at the places of `template`, decoded; nil if it is another path, or has a broken
    /// escape or no UTF-8 there.
    static func parameters(of path: String, as template: String) -> [String: String]? {
        if path == template, !template.utf8.contains(UInt8(ascii: "{")) { return [:] }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let places = template.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == places.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, place) in zip(parts, places) {
            guard place.first == UInt8(ascii: "{") else {
                if part.elementsEqual(place) { continue }
                return nil
            }
            guard !part.isEmpty, let value = decoded(part) else { return nil }
            parameters[String(decoding: place.dropFirst().dropLast(), as: UTF8.self)] = value
        }
        return parameters
    }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}

extension APIRequest {
    /// `path` with one slash in front, and outside of the native API none at the end: clients whose base URL ends in a
    /// slash send two, and some end each path in one.
    package static func plain(path: String) -> String {
        let slash = UInt8(ascii: "/")
        guard path.utf8.count > 1, path.utf8.last == slash || path.utf8.starts(with: "//".utf8) else { return path }
        let inner = path.utf8.drop { $0 == slash }
        let isNative = inner.starts(with: "v1/".utf8)
        let end = isNative ? 0 : inner.reversed().prefix { $0 == slash }.count
        return "/" + String(decoding: inner.dropLast(end), as: UTF8.self)
    }

    /// `name` as one part of a path: every byte that is not plain is `%XX`, a slash and a dot included.
    package static func pathPart(_ name: String) -> String {
        var part = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                part.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                part += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return part
    }
}
