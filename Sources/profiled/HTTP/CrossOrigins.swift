internal import ArgumentParser
internal import HTTPTypes
internal import Synchronization

/// The origin of a page, as browsers send it in `Origin`: `https://app.example:8443`.
struct WebOrigin: ExpressibleByArgument, SettingElement {
    let text: String

    /// Reads an origin; nil for what no browser sends, for `*`, and for `null`, which any page can be.
    init?(argument: String) {
        guard let url = ServiceOptions.BaseURL(argument: argument), url.text.count(where: { $0 == "/" }) == 2,
            !url.text.contains("@"), !url.text.contains("*")
        else { return nil }
        text = url.origin
    }
}

/// The origins whose pages may read and write here by script (CORS, of the Fetch standard).
///
/// Such a page needs a key like any other client: what a browser adds by itself, as the client's certificate, counts
/// nothing, so `Access-Control-Allow-Credentials` is never sent.
final class CrossOrigins: Sendable {
    private let origins: Mutex<Set<String>>

    init(_ origins: [WebOrigin]) { self.origins = Mutex(Set(origins.map(\.text))) }

    func replace(by new: [WebOrigin]) { origins.withLock { $0 = Set(new.map(\.text)) } }

    /// Tells whether `origin`, as a browser sends it, is one of them.
    func allow(_ origin: String?) -> Bool {
        guard let origin else { return false }
        return origins.withLock { $0.contains(origin) }
    }

    /// The headers of an answer; `methods` are those of its path if it answers `OPTIONS`.
    func headers(for asked: RequestHeaders, methods: String?) -> [HTTPField] {
        let (isEmpty, isAllowed) = origins.withLock { origins in
            (origins.isEmpty, asked[.origin].map { origins.contains($0) } ?? false)
        }
        if isEmpty { return [] }
        // Caches must not give one origin's answer to another, nor to a client without one.
        let vary = HTTPField(name: .vary, value: "Origin")
        guard isAllowed, let origin = asked[.origin] else { return [vary] }
        let allowed = [vary, HTTPField(name: .accessControlAllowOrigin, value: origin)]
        guard let methods, asked[.askedMethod] != nil else {
            return allowed + [HTTPField(name: .accessControlExposeHeaders, value: Self.readable)]
        }
        return allowed + [
            HTTPField(name: .accessControlAllowMethods, value: methods),
            HTTPField(name: .accessControlAllowHeaders, value: Self.sendable),
            HTTPField(name: .accessControlMaxAge, value: "600"),
        ]
    }

    /// The headers that the service reads, beyond those that every page may send.
    private static let sendable =
        "Authorization, Content-Encoding, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Braze-Bulk, "
        + "X-Request-Id"
    /// The headers of answers, beyond those that every page may read.
    private static let readable =
        "ETag, Link, Retry-After, X-ProfileLog-Lag, X-ProfileLog-Node, X-ProfileLog-Position, X-RateLimit-Limit, "
        + "X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"
}
