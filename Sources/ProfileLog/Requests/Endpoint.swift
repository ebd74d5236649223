internal import ProfileLogSnippets

/// One method on one path of the API, with all that the router, the service and OpenAPI know about it.
///
/// An endpoint is declared once, in the table of its dialect: nothing else looks at its path to decide something.
package struct Endpoint: Sendable {
    package let method: APIRequest.Method
    /// The path; `{…}` in it is a place for a name.
    package let path: String
    /// Its purpose, in a few words.
    package let summary: String
    /// The inputs, in its query with GET and in its body with POST.
    package let inputs: [EndpointInput]
    /// The form of its answer, if it is a success.
    package let answer: AnswerShape
    package let format: APIFormat
    /// Tells whether a request is answered in microseconds, its commit aside, unless it ``APIRequest/takesLong``.
    package private(set) var isBrief = false
    /// Tells whether it reads and stores nothing, for as long as its answer needs.
    package private(set) var isRead: Bool
    /// Tells whether a request may carry an `Idempotency-Key`.
    package private(set) var takesIdempotencyKey: Bool
    /// The name of the permission for it; nil if it needs no key, or any.
    package private(set) var permission: String?
    /// Tells whether it needs a key where keys are needed, and any will do.
    package private(set) var takesAnyKey = false
    /// Tells whether it is about the node that is asked, and not about what the store holds: it is answered however
    /// far the node's store lags behind its cluster, and by no other node.
    package private(set) var isOfNode = false
    /// The types of its answers, as in `Content-Type`.
    package private(set) var mediaTypes = ["application/json"]

    init<API: Dialect>(
        of _: API.Type, _ method: APIRequest.Method, _ path: String, _ summary: String, _ inputs: [EndpointInput],
        _ traits: [EndpointTrait], _ answer: AnswerShape
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        self.inputs = inputs
        self.answer = answer
        format = API.format
        isRead = method == .get
        permission = API.permission(method, path)
        takesIdempotencyKey = method == .post && (API.format == .braze || inputs.contains { $0.name == "key" })
        for trait in traits {
            switch trait {
            case .isBrief: isBrief = true
            case .isRead: isRead = true
            case .takesNoIdempotencyKey: takesIdempotencyKey = false
            case .needsNoKey: permission = nil
            case .takesAnyKey: (permission, takesAnyKey) = (nil, true)
            case .permission(let name): permission = name
            case .isOfNode: isOfNode = true
            case .answers(let types): mediaTypes = types
            }
        }
    }

    /// Tells whether a request needs a key where keys are needed.
    package var needsKey: Bool { permission != nil || takesAnyKey }

    /// Tells whether a node of a cluster hands its requests to the node that writes.
    package var isForwarded: Bool { method == .post && !isRead && !isOfNode }

    /// Tells whether it is part of the native API, and none of Braze's format.
    package var isNative: Bool { format == .native }

    /// The media type of server-sent events.
    package static let eventStream = "text/event-stream"

    /// Tells whether it sends events for as long as the client stays, if the client asks for them.
    package var streamsEvents: Bool { mediaTypes.contains(Self.eventStream) }
}

/// A difference of one endpoint from most of its dialect.
package enum EndpointTrait: Sendable {
    /// Answered in microseconds, its commit aside.
    case isBrief
    /// A POST that reads and stores nothing.
    case isRead
    /// A POST that is no append: a repeated one is done again.
    case takesNoIdempotencyKey
    /// A GET whose path cannot be guessed, as that of a file.
    case needsNoKey
    /// A key with whatever permission will do.
    case takesAnyKey
    /// The name of the permission, where the dialect's rule has another one.
    case permission(String)
    /// About the node that is asked, and not about what the store holds.
    case isOfNode
    /// Media types, if they are not only JSON.
    case answers([String])
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

extension Endpoint {
    /// Fails with status 500 if the JSON of a success has another form than the declared one. Debug builds call it, so
    /// every test of an answer tests its description.
    func check(_ answer: APIAnswer) throws {
        guard answer.isSuccess, answer.file == nil, answer.stream == nil, !answer.body.isEmpty else { return }
        guard let place = self.answer.difference(in: try JSON.parse(answer.body, maxDepth: 100))
        else { return }
        throw APIError(
            status: 500, code: "undeclared_answer",
            error: "The answer of \(method.rawValue) \(path) has another form than it declares, at \(place).",
            remedy: "Correct the endpoint's `AnswerShape`.")
    }
}
