internal import ProfileLogGuide

/// The requests of one dialect of the API, on one store.
package protocol Dialect: Sendable {
    /// What can be asked, and how it is answered.
    static var handlers: [EndpointHandler<Self>] { get }
}

/// An endpoint, and how a dialect answers it.
package struct EndpointHandler<API: Dialect>: Sendable {
    let endpoint: Endpoint
    let answer: @Sendable (API, APIRequest) async throws -> APIAnswer

    package init(
        _ method: APIRequest.Method, _ path: String, _ summary: String, _ inputs: [EndpointInput],
        _ answer: @escaping @Sendable (API, APIRequest) async throws -> APIAnswer
    ) {
        endpoint = Endpoint(method, path, summary, inputs)
        self.answer = answer
    }
}

extension Dialect {
    /// What can be asked.
    package static var endpoints: [Endpoint] { handlers.map(\.endpoint) }

    fileprivate var answers: [APIRouter.Answer] {
        Self.handlers.map { handler in { request in try await handler.answer(self, request) } }
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
        table = EndpointTable(dialects.flatMap { type(of: $0).endpoints })
        answers = dialects.flatMap(\.answers)
    }

    /// Does what `request` asks. A failure is an answer too: an ``APIProblem`` in the dialect of the path.
    package func answer(_ request: APIRequest) async -> APIAnswer {
        do {
            guard request.body.count <= Self.maxBodyBytes else {
                throw APIProblem.tooLarge("The body", bytes: Self.maxBodyBytes)
            }
            let match = try table.match(request)
            var request = request
            request.parameters = match.parameters
            request.inputs = match.endpoint.inputs
            return try await answers[match.index](request)
        } catch {
            return APIProblem(error).answer(at: request.path)
        }
    }
}

package struct EndpointTable: Sendable {
    package let endpoints: [Endpoint]
    /// Those at paths that name nothing, by their path.
    private let plain: [String: [Match]]
    private let templates: [Match]

    fileprivate typealias Match = (index: Int, endpoint: Endpoint, parameters: [String: String])

    package init(_ endpoints: [Endpoint]) {
        self.endpoints = endpoints
        let all = endpoints.enumerated().map { Match($0, $1, [:]) }
        plain = Dictionary(grouping: all.filter { !$0.endpoint.path.contains("{") }, by: \.endpoint.path)
        templates = all.filter { $0.endpoint.path.contains("{") }
    }

    package func endpoint(_ method: APIRequest.Method, _ path: String) -> Endpoint? {
        matches(path).first { $0.endpoint.method == method }?.endpoint
    }

    /// The path of the endpoint at `path`, with `{…}` in place of names, for logs; nil if there is none.
    package func template(of path: String) -> String? { matches(path).first?.endpoint.path }

    /// Every permission that a key can have, without `all`.
    package var permissions: [String] { Set(endpoints.compactMap(\.permission)).sorted() }

    /// Status 405: `path` does not know the method.
    package func wrongMethod(_ path: String) -> APIProblem {
        let methods = matches(path).map(\.endpoint.method.rawValue)
        let allowed = methods.isEmpty ? "GET" : methods.joined(separator: ", ")
        return APIProblem(
            status: 405, code: "wrong_method", error: "This path does not know this method.",
            remedy: "Send \(allowed).", allow: allowed)
    }

    fileprivate func match(_ request: APIRequest) throws -> Match {
        let matches = matches(request.path)
        if let match = matches.first(where: { $0.endpoint.method == request.method }) { return match }
        if !matches.isEmpty { throw wrongMethod(request.path) }
        throw APIProblem(
            status: 404, code: "unknown_path", error: "There is nothing at this path.",
            remedy: "GET / lists what there is.")
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
    /// What `path` names at the places of `template`, decoded; nil if it is another path, or has a broken escape or no
    /// UTF-8 there.
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
