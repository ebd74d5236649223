internal import ProfileLogSnippets

/// A request of the API, native or in Braze's format, as a value: from HTTP, or from a command without a network.
package struct APIRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    package var method: Method
    /// The path, as in `/v1/profile`; a name in it is escaped, as `pathPart(_:)` does.
    package var path: String
    /// The query in its order, decoded.
    package var query: [(name: String, value: String)]
    package var idempotencyKey: String?
    /// The header `If-Match`: the number of events that the user must have, with or without quotes.
    package var ifMatch: String?
    /// The beginning of links in answers, as in `https://profiles.example`; empty for relative links.
    package var baseURL = ""
    /// The service's own URL, as in `http://127.0.0.1:8080`, for addresses in answers that cannot be relative, if
    /// `baseURL` is empty.
    package var localURL: @Sendable () -> String = { "" }
    /// The key with which it was sent; nil if it needs none. Throws if the key is not valid.
    package var key: @Sendable () throws -> SentKey? = { nil }
    /// A JSON object; empty for `get`.
    package var body: [UInt8]
    /// The names in the path, as the `device` of `/v1/devices/{device}`: taken out of it by the API.
    package internal(set) var parameters: [String: String] = [:]
    /// The inputs of its endpoint; nil before one is found.
    package var inputs: [EndpointInput]?

    package init(
        _ method: Method, _ path: String, query: [(name: String, value: String)] = [], idempotencyKey: String? = nil,
        ifMatch: String? = nil, body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.idempotencyKey = idempotencyKey
        self.ifMatch = ifMatch
        self.body = body
    }
}

/// A key of the service, without its secret.
package struct SentKey: Sendable {
    /// The name that its owner gave it.
    package let name: String
    /// The names of its permissions, or `all`.
    package let permissions: [String]

    package init(name: String, permissions: [String]) { (self.name, self.permissions) = (name, permissions) }
}

extension APIRequest {
    /// Bytes of a body from which on a request takes long to decide: some 50 objects, a third of a millisecond.
    package static let bytesThatTakeLong = 8 << 10

    /// Tells whether deciding it may take long: its body is large, or sets subscription groups. All profiles with the
    /// same e-mail address get these, and all groups of each are read and written. What else turns out to depend on
    /// many users moves to the slow path by itself (``RequestStore/decide(evenIfFull:_:)``).
    package var takesLong: Bool {
        // Letters and `_` in a key may be written as escapes of these forms.
        body.count >= Self.bytesThatTakeLong || contains("subscription_group")
            || contains(#"\u005"#) || contains(#"\u006"#) || contains(#"\u007"#)
    }

    private func contains(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            body.withUnsafeBytes { body in
                var rest = body[...]
                while let place = rest.firstIndex(of: text[0]) {
                    rest = rest[place...]
                    if rest.starts(with: text) { return true }
                    rest = rest.dropFirst()
                }
                return false
            }
        }
    }

    /// Refuses `If-Match`, which would have to hold for many users.
    package func refuseIfMatch(remedy: String = "Send the request without it.") throws {
        if ifMatch != nil { throw APIError.invalid("If-Match", "has no meaning here", remedy: remedy) }
    }

    /// The members of the object that a body must be.
    package static func members(
        of body: [UInt8], maxDepth: Int, remedy: String
    ) throws -> [AttributeValue.Member] {
        func apiError(_ error: String) -> APIError {
            APIError(status: 400, code: "invalid_json", error: error, remedy: remedy, place: "body")
        }
        if body.isEmpty { throw apiError("The body is empty.") }
        guard case .object(let members) = try JSON.parse(body, maxDepth: maxDepth) else {
            throw apiError("The body is no JSON object.")
        }
        return members
    }
}
