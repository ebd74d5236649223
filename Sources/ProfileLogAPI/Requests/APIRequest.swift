/// A call of the native JSON API, as a value: what an HTTP request carries, or what a command hands over without one.
public struct APIRequest: Sendable {
    /// What is done to the path.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    /// What is done to the path.
    public var method: Method
    /// The path, as in `/v1/profile`; a name in it is escaped, as `pathPart(_:)` does.
    public var path: String
    /// The query in its order, decoded.
    public var query: [(name: String, value: String)]
    /// The header `Idempotency-Key`.
    public var idempotencyKey: String?
    /// The header `If-Match`: the number of events that the user must have, with or without quotes.
    public var ifMatch: String?
    /// What comes before a path in links of answers, as in `https://profiles.example`; empty for relative links.
    public var baseURL = ""
    /// The service's own URL, as in `http://127.0.0.1:8080`, for addresses in answers that cannot be relative, if
    /// `baseURL` is empty.
    public var localURL: @Sendable () -> String = { "" }
    /// A JSON object; empty for `get`.
    public var body: [UInt8]
    /// What the path names, as the `device` of `/v1/devices/{device}`: taken out of it by the API.
    var parameters: [String: String] = [:]

    /// Makes a request.
    public init(
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
