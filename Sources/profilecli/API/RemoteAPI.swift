internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ProfileLogNativeAPI

/// A running profiled, over HTTP.
struct RemoteAPI: Connection {
    private let base: URL
    private let key: String?

    /// Longer than the longest time for which the service holds a request for new events.
    private static let timeout = TimeAmount.seconds(120)

    /// Lives as long as the process. A failed connection is told at once: the command's user tries again.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.timeout.read = timeout
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

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
        var http = HTTPClientRequest(url: try url(request))
        http.method = HTTPMethod(rawValue: request.method.rawValue)
        if let key { http.headers.add(name: "Authorization", value: "Bearer \(key)") }
        if let key = request.idempotencyKey { http.headers.add(name: "Idempotency-Key", value: key) }
        if let version = request.ifMatch { http.headers.add(name: "If-Match", value: version) }
        if request.method == .post {
            http.headers.add(name: "Content-Type", value: "application/json")
            http.body = .bytes(ByteBuffer(bytes: request.body))
        }
        do {
            let response = try await Self.client.execute(http, timeout: Self.timeout)
            let body = try await response.body.collect(upTo: .max)
            return APIAnswer(
                status: Int(response.status.code), body: Array(body.readableBytesView),
                etag: response.headers.first(name: "ETag"))
        } catch {
            throw failure(error)
        }
    }

    /// What the user reads when no answer came.
    private func failure(_ error: any Error) -> Failure {
        let address = base.absoluteString
        switch error {
        case let error as HTTPClientError where [.deadlineExceeded, .readTimeout].contains(error):
            return Failure(
                "\(address) did not answer within \(Self.timeout.nanoseconds / 1_000_000_000) s: "
                    + "whether a write was done is unknown.",
                remedy: "Look at its log; a write with --key can be run again safely.")
        case _ where Self.isUnreached(error):
            return Failure(
                "Nothing answers at \(address).",
                remedy: "Start the service (`profiled`) or correct --url; --store works without a service.")
        case is HTTPParserError:
            return Failure("\(address) does not answer by HTTP.", remedy: "Check the address.")
        default:
            let reason = (error as? HTTPClientError)?.shortDescription ?? "\(type(of: error))"
            return Failure(
                "The connection to \(address) failed (\(reason)).",
                remedy: "Check that the service runs (`profiled`) and that the address is right.")
        }
    }

    private static func isUnreached(_ error: any Error) -> Bool {
        error is NIOConnectionError || error as? HTTPClientError == .connectTimeout
            || (error as? IOError)?.errnoCode == ECONNREFUSED
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
