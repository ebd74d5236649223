internal import Foundation
internal import ProfileLogNativeAPI

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A running profiled, over HTTP.
struct RemoteAPI: Connection {
    private let base: URL
    /// The key of the caller; nil if none was given.
    private let key: String?

    /// Longer than the longest time for which the service holds a request for new events.
    private static let timeoutSeconds = 120.0

    /// `url` is the service's address, as in `http://127.0.0.1:8080`, and `key` one of its keys.
    init(url: String, key: String?) throws {
        let text = url.contains("://") ? url : "http://\(url)"
        guard let base = URL(string: text), ["http", "https"].contains(base.scheme), base.host?.isEmpty == false else {
            throw Self.unusable(url)
        }
        self.base = base
        self.key = key
    }

    private static func unusable(_ url: String) -> Failure {
        Failure(
            "\(url) is not the address of a service.", remedy: "Write it as in http://127.0.0.1:8080.", status: .usage)
    }

    func answer(_ request: APIRequest) async throws -> APIAnswer {
        var http = URLRequest(url: try url(request), timeoutInterval: Self.timeoutSeconds)
        http.httpMethod = request.method.rawValue
        if let key { http.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        if let key = request.idempotencyKey { http.setValue(key, forHTTPHeaderField: "Idempotency-Key") }
        if let version = request.ifMatch { http.setValue(version, forHTTPHeaderField: "If-Match") }
        if request.method == .post {
            http.setValue("application/json", forHTTPHeaderField: "Content-Type")
            http.httpBody = Data(request.body)
        }
        let (data, response) = try await Self.load(http, from: base)
        guard let response = response as? HTTPURLResponse else {
            throw Failure("\(base.absoluteString) does not answer by HTTP.", remedy: "Check the address.")
        }
        return APIAnswer(
            status: response.statusCode, body: Array(data), etag: response.value(forHTTPHeaderField: "ETag"))
    }

    private static func load(_ request: URLRequest, from base: URL) async throws -> (Data, URLResponse) {
        do {
            return try await URLSession.shared.data(for: request)
        } catch let error as URLError {
            let address = base.absoluteString
            switch error.code {
            case .timedOut:
                throw Failure(
                    "\(address) did not answer within \(Int(timeoutSeconds)) s: whether a write was done is unknown.",
                    remedy: "Look at its log; a write with --key can be run again safely.")
            case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed:
                throw Failure(
                    "Nothing answers at \(address).",
                    remedy: "Start the service (`profiled`) or correct --url; --store works without a service.")
            default:
                throw Failure(
                    "The connection to \(address) failed (code \(error.code.rawValue)).",
                    remedy: "Check that the service runs (`profiled`) and that the address is right.")
            }
        }
    }

    private func url(_ request: APIRequest) throws -> URL {
        guard var parts = URLComponents(url: base, resolvingAgainstBaseURL: false) else {
            throw Self.unusable(base.absoluteString)
        }
        let path = parts.percentEncodedPath
        parts.percentEncodedPath = (path.hasSuffix("/") ? String(path.dropLast()) : path) + request.path
        if !request.query.isEmpty {
            parts.percentEncodedQuery = request.query.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }
                .joined(separator: "&")
        }
        guard let url = parts.url else { throw Self.unusable(base.absoluteString) }
        return url
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// Every other byte as `%XX`: a `+` or an `&` in an ID stays what it is.
    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }
}
