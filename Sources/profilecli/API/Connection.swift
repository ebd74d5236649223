internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// What answers requests of the API: a store in this process, or a service.
protocol Connection: Sendable {
    func answer(_ request: APIRequest) async throws -> APIAnswer
}

extension Connection {
    /// The object that answers `request`, and what it means if that is a refusal.
    func exchange(_ request: APIRequest) async throws -> (object: JSONObject, refusal: Failure?) {
        let answer = try await answer(request)
        guard let object = try? JSONObject(answer.body) else {
            throw Failure(
                "The answer (status \(answer.status)) is not a JSON object.",
                remedy: "Check that the address is that of a profiled: GET / there says what it is.")
        }
        return (object, answer.isSuccess ? nil : Failure(object, status: answer.status))
    }

    func send(_ request: APIRequest) async throws -> JSONObject {
        let (object, refusal) = try await exchange(request)
        if let refusal { throw refusal }
        return object
    }

    func post(_ path: String, _ write: (inout JSONWriter) throws -> Void) async throws -> JSONObject {
        try await send(APIRequest(.post, path, body: Array(JSONWriter.object(write).utf8)))
    }

    func get(_ path: String, _ query: [(name: String, value: String)] = []) async throws -> JSONObject {
        try await send(APIRequest(.get, path, query: query))
    }
}

/// The parameters of a query whose values are not nil.
func parameters(_ parameters: (name: String, value: String?)...) -> [(name: String, value: String)] {
    parameters.compactMap { name, value in value.map { (name, $0) } }
}

/// The store's own API, called without a network.
struct LocalAPI: Connection {
    private let api: APIRouter

    init(_ log: EventLog) { self.init(APIRouter(NativeAPI(RequestStore(log)))) }

    init(_ api: APIRouter) { self.api = api }

    func answer(_ request: APIRequest) async throws -> APIAnswer { await api.answer(request) }
}

/// A store that does not exist yet: the first valid request makes it. Until then requests go to an empty store in a
/// temporary folder, so that a mistyped one makes no store.
final class NewStoreAPI: Connection {
    private let path: String
    private let made = Mutex<LocalAPI?>(nil)

    init(_ path: String) { self.path = path }

    func answer(_ request: APIRequest) async throws -> APIAnswer {
        if let store = made.withLock({ $0 }) { return try await store.answer(request) }
        if let refusal = try await Self.refusal(of: request) { return refusal }
        let store = LocalAPI(try openStore(path, create: true))
        made.withLock { $0 = store }
        return try await store.answer(request)
    }

    /// How an empty store refuses `request`; nil if it accepts it, or if no temporary store can be made.
    private static func refusal(of request: APIRequest) async throws -> APIAnswer? {
        guard let folder = try? ScratchFolder(prefix: "profilecli-"),
            let log = try? EventLog(path: "\(folder.path)/store", create: true)
        else { return nil }
        defer { folder.remove() }
        let answer = try await LocalAPI(log).answer(request)
        return (400..<500).contains(answer.status) ? answer : nil
    }
}

/// A running profiled, over HTTP.
struct RemoteAPI: Connection {
    private let base: URL
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
            parts.percentEncodedQuery = request.query.map { name, value in
                "\(APIRequest.pathPart(name))=\(APIRequest.pathPart(value))"
            }.joined(separator: "&")
        }
        guard let url = parts.url else { throw Self.unusable(base.absoluteString) }
        return url
    }
}
