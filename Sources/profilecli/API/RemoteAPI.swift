internal import Foundation
internal import ProfileLogNativeAPI

/// A running profiled, over HTTP.
struct RemoteAPI: Connection {
    private let base: URL
    private let key: String?

    /// `url` is the service's address, as in `http://127.0.0.1:8080`, and `key` one of its keys.
    init(url: String, key: String?) throws {
        let text = url.contains("://") ? url : "http://\(url)"
        guard let base = URL(string: text), ["http", "https"].contains(base.scheme), base.host?.isEmpty == false else {
            throw Self.unusable(url)
        }
        self.base = base
        self.key = key
    }

    private static func unusable(_ url: String) -> CommandError {
        CommandError(
            "\(url) is not the address of a service.", remedy: "Write it as in http://127.0.0.1:8080.", status: .usage)
    }

    func answer(_ request: APIRequest) async throws -> APIAnswer {
        var http = HTTPClient.Request(
            url: try url(request), isRepeatable: request.method == .get || request.idempotencyKey != nil)
        if let key { http.headers.append(("Authorization", "Bearer \(key)")) }
        if let key = request.idempotencyKey { http.headers.append(("Idempotency-Key", key)) }
        if let version = request.ifMatch { http.headers.append(("If-Match", version)) }
        if request.method == .post {
            http.headers.append(("Content-Type", "application/json"))
            http.body = request.body
        }
        do {
            let answer = try await HTTPClient.shared.send(http)
            return APIAnswer(status: answer.status, body: answer.body, etag: answer.etag)
        } catch {
            throw failure(error)
        }
    }

    /// Returns the failure that the user reads when no answer came.
    private func failure(_ error: HTTPClient.RequestError) -> CommandError {
        let address = base.absoluteString
        switch error {
        case .timeout:
            return CommandError(
                "\(address) did not answer within \(HTTPClient.timeoutSeconds) s: whether a write was done is unknown.",
                remedy: "Look at its log; a write with --key can be run again safely.")
        case .unreached:
            return CommandError(
                "Nothing answers at \(address).",
                remedy: "Start the service (`profiled`) or correct --url; --store works without a service.")
        case .notHTTP: return CommandError("\(address) does not answer by HTTP.", remedy: "Check the address.")
        case .other(let reason):
            return CommandError(
                "The connection to \(address) failed (\(reason)).",
                remedy: "Check that the service runs (`profiled`) and that the address is right.")
        }
    }

    private func url(_ request: APIRequest) throws -> String {
        guard var parts = URLComponents(url: base, resolvingAgainstBaseURL: false) else {
            throw Self.unusable(base.absoluteString)
        }
        let path = parts.percentEncodedPath
        parts.percentEncodedPath = (path.hasSuffix("/") ? String(path.dropLast()) : path) + request.path
        if !request.query.isEmpty {
            parts.percentEncodedQuery = request.query.map { name, value in
                "\(APIRequest.pathPart(name))=\(APIRequest.pathPart(value))"
            }.joined(separator: "&")
        }
        guard let url = parts.string else { throw Self.unusable(base.absoluteString) }
        return url
    }
}
