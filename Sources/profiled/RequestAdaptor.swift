internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ProfileLogAPI
internal import ServiceLifecycle
internal import Synchronization

/// HTTP requests to calls of the API, and its answers to responses.
final class RequestAdaptor: Sendable {
    private let api: API
    private let overview: Overview
    private let logger: Logger
    /// Set by a failed disk: from then on the store takes nothing more, until the service is started again.
    private let hasFailed = Atomic<Bool>(false)

    init(api: API, storePath: String, logger: Logger) {
        self.api = api
        self.logger = logger
        overview = Overview(storePath: storePath)
    }

    /// Answers one request. Its log line has no query and no body: those hold a person's data.
    func respond(to request: Request) async -> Response {
        let begin = ContinuousClock.now
        let answer = await answer(to: request)
        let level: Logger.Level = answer.status >= 500 ? .error : .info
        let path = Overview.ownPaths.contains(request.uri.path) ? request.uri.path : API.template(of: request.uri.path)
        logger.log(
            level: level, "request",
            metadata: [
                "method": "\(request.method.rawValue)", "path": "\(path ?? "unknown")",
                "status": "\(answer.status)", "bytes": "\(answer.body.count)",
                "ms": "\((ContinuousClock.now - begin) / .milliseconds(1))",
            ].merging(answer.code.map { ["code": "\($0)"] } ?? [:]) { $1 })
        return Self.response(answer, type: answer.type)
    }

    // MARK: - From HTTP

    private func answer(to request: Request) async -> TypedAnswer {
        let path = request.uri.path
        guard let method = APIRequest.Method(rawValue: request.method.rawValue) else {
            return TypedAnswer(API.answerToWrongMethod(path: path))
        }
        if method == .get, path == "/" {
            let wantsHTML = request.headers[.accept]?.contains("text/html") ?? false
            return overview.answer(api, html: wantsHTML)
        }
        if method == .get, path == "/health" {
            return overview.health(api, hasFailed: hasFailed.load(ordering: .relaxed))
        }
        var call = APIRequest(method, path)
        guard let query = QueryText.parameters(request.uri.query ?? "") else {
            return TypedAnswer(API.answerToInvalid("query", "has a % without two hexadecimal digits, or is no UTF-8"))
        }
        call.query = query
        if method == .post {
            if let refusal = Self.refusal(ofOrigin: request) { return TypedAnswer(refusal) }
            guard let body = await Self.body(of: request) else { return TypedAnswer(API.answerToLargeBody) }
            call.body = body
            call.ifMatch = request.headers[.ifMatch]
            call.idempotencyKey = request.headers.first { $0.name.canonicalName == "idempotency-key" }?.value
        }
        let answer = await answer(call)
        if ["outcome_unknown", "closed_after_failure"].contains(answer.code) {
            hasFailed.store(true, ordering: .relaxed)
        }
        return TypedAnswer(answer)
    }

    /// A read that waits for news is woken when the service stops; a write is never cut short.
    private func answer(_ call: APIRequest) async -> APIAnswer {
        guard call.method == .get else { return await api.answer(call) }
        return await cancelWhenGracefulShutdown { [api] in await api.answer(call) }
    }

    private static func body(of request: Request) async -> [UInt8]? {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > API.maxBodyBytes { return nil }
        guard let body = try? await request.body.collect(upTo: API.maxBodyBytes) else { return nil }
        return Array(body.readableBytesView)
    }

    /// A web page of another site may make a browser send a request here: such a one is refused.
    private static func refusal(ofOrigin request: Request) -> APIAnswer? {
        guard let origin = request.headers[.origin], let host = request.head.authority else { return nil }
        if origin == "http://\(host)" || origin == "https://\(host)" { return nil }
        return API.answerToForeignOrigin
    }

    // MARK: - To HTTP

    private static func response(_ answer: TypedAnswer, type: String) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = type
        headers[.cacheControl] = "no-store"
        if let etag = answer.etag { headers[.eTag] = etag }
        if let allow = answer.allow { headers[.allow] = allow }
        if answer.status == 429 { headers[.retryAfter] = "1" }
        return Response(
            status: .init(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}

/// An answer with its media type.
struct TypedAnswer {
    var status: Int
    var body: [UInt8]
    var type: String
    var etag: String?
    var allow: String?
    var code: String?

    init(_ answer: APIAnswer) {
        status = answer.status
        body = answer.body
        type = "application/json"
        etag = answer.etag
        allow = answer.allow
        code = answer.code
    }

    init(status: Int, body: [UInt8], type: String) {
        self.status = status
        self.body = body
        self.type = type
    }
}
