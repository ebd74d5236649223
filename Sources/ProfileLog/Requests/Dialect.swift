internal import ProfileLogSnippets

/// The requests of one dialect of the API, on one store.
package protocol Dialect: Sendable {
    static var format: APIFormat { get }
    /// The beginning of its paths, as in `/v1/`.
    static var root: String { get }
    /// The permission of an endpoint that names none itself.
    static func permission(_ method: APIRequest.Method, _ path: String) -> String
    /// The endpoints with their handlers.
    static var handlers: [EndpointHandler<Self>] { get }
    /// Endpoints of the platform that the dialect does not answer.
    static var missing: [MissingEndpoint] { get }
    /// `error`, the answer to `request`, with a better remedy if there is one.
    func explained(_ error: APIError, _ request: APIRequest) -> APIError
}

/// The format of a dialect's requests and answers.
package enum APIFormat: Sendable {
    /// Unknown fields are refused, paths are taken as they are, and an error has its sentence under `error`.
    case native
    /// Unknown fields are ignored, a slash at the end of a path too, and an error has its sentence under `message`.
    case braze
}

extension Dialect {
    package static var missing: [MissingEndpoint] { [] }
    package func explained(_ error: APIError, _ request: APIRequest) -> APIError { error }
}

/// An endpoint that the platform has whose dialect is spoken here, and that is not simulated.
package struct MissingEndpoint: Hashable, Sendable {
    /// Any method of HTTP, as in `PATCH`.
    package let method: String
    /// The path; `{…}` in it is a place for a name.
    package let path: String
    /// The thing to use in its place: one sentence or two.
    package let instead: String

    package init(_ method: String, _ path: String, instead: String) {
        self.method = method
        self.path = path
        self.instead = instead
    }
}

/// An endpoint, and how a dialect answers it.
package struct EndpointHandler<API: Dialect>: Sendable {
    package let endpoint: Endpoint
    /// Refuses the members of a body that no store could take; nil if that needs a store.
    package let check: Check?
    let answer: @Sendable (API, APIRequest) async throws -> APIAnswer

    package typealias Check = @Sendable ([AttributeValue.Member], Endpoint) throws -> Void

    package init(
        _ method: APIRequest.Method, _ path: String, _ summary: String, _ inputs: [EndpointInput],
        _ traits: [EndpointTrait] = [], check: Check? = nil, answers shape: AnswerShape,
        _ answer: @escaping @Sendable (API, APIRequest) async throws -> APIAnswer
    ) {
        endpoint = Endpoint(of: API.self, method, path, summary, inputs, traits, shape)
        self.check = check
        self.answer = answer
    }
}

extension Dialect {
    /// The endpoints.
    package static var endpoints: [Endpoint] { handlers.map(\.endpoint) }

    var answers: [APIRouter.Answer] {
        Self.handlers.map { handler in
            { request in
                do { return try await handler.answer(self, request) } catch let error as APIError {
                    throw explained(error, request)
                }
            }
        }
    }
}
