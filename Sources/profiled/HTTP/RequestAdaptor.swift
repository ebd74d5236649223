internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ProfileLogNativeAPI
internal import ServiceLifecycle

/// HTTP requests to calls of the API, and its answers to responses.
final class RequestAdaptor: Sendable {
    private let store: LiveStore
    private let overview: Overview
    private let access: Access
    private let limiter: RateLimiter
    private let bodies: BodyReader
    private let streams: EventStreams
    private let metrics: Metrics
    private let connections: Connections
    private let baseURL: String
    private let logger: Logger

    init(
        _ store: LiveStore, _ connections: Connections, keys: KeyRing, metrics: Metrics, options: ServiceOptions,
        logger: Logger
    ) {
        self.store = store
        self.connections = connections
        self.metrics = metrics
        self.logger = logger
        baseURL = options.baseURL?.text ?? ""
        access = Access(keys: keys, serviceHost: options.host)
        overview = Overview(keys: keys, isEphemeral: options.isEphemeral)
        limiter = RateLimiter(options.rateLimits)
        bodies = BodyReader(maxBytesAtOnce: options.bodyMemoryMebibytes << 20)
        streams = EventStreams(
            store: store, metrics: metrics, limit: options.maxStreams, heartbeat: .seconds(options.heartbeatSeconds))
    }

    /// What to send: an answer, or events for as long as the reader stays.
    private enum Outcome {
        case answer(ServiceAnswer)
        case stream(EventFeed, EventStreams.Place)
        case file(Response)
    }

    /// A request on its way.
    private struct Exchange {
        let request: Request
        let path: String
        let asked: RequestHeaders
        let connection: ConnectionContext
        let route: Route
        /// Headers of the response that are known before there is an answer.
        var headers: [HTTPField]
    }

    /// Answers one request. Its log line has no query and no body, which hold a person's data. Throws for what is no
    /// HTTP.
    func respond(to request: Request, _ connection: ConnectionContext) async throws -> Response {
        let begin = ContinuousClock.now
        let asked = RequestHeaders(request.headers)
        let id = asked.id
        let path = Route.path(request.uri.path)
        var exchange = Exchange(
            request: request, path: path, asked: asked, connection: connection,
            route: Route(method: request.method.rawValue, path: path),
            headers: [HTTPField(name: .xRequestID, value: id)])
        // What may take longer would hold up the other connections of the event loop.
        let outcome =
            exchange.route.isBrief
            ? try await self.outcome(&exchange)
            : try await withTaskExecutorPreference(globalConcurrentExecutor) { try await self.outcome(&exchange) }
        var response: Response
        var code: String?
        switch outcome {
        case .answer(let answer):
            code = answer.code
            response =
                answer.status >= 400 && asked.asksFirst
                ? answer.lastResponse(exchange.headers, on: connection) : answer.response(exchange.headers)
        case .stream(let feed, let place):
            response = streams.response(feed, in: place, exchange.headers, on: connection) { [access, exchange] in
                guard case .endpoint(let endpoint) = exchange.route else { return false }
                return access.refusal(asked.authorization, endpoint) == nil
            }
        case .file(let file): response = file
        }
        if request.method == .head { response = response.createHeadResponse() }
        let (status, took) = (response.status.code, ContinuousClock.now - begin)
        metrics.record(
            method: request.method.rawValue, template: exchange.route.template, status: status, took: took)
        logger.log(
            level: status >= 500 && code != "not_reached" ? .error : .info, "request",
            metadata: [
                "id": "\(id)", "method": "\(request.method.rawValue)", "path": "\(exchange.route.template)",
                "status": .stringConvertible(status), "bytes": .stringConvertible(response.body.contentLength ?? 0),
                "ms": .stringConvertible(took / .milliseconds(1)),
            ].merging(Self.remarks(code, asked)) { $1 })
        return response
    }

    /// What a log line has only if there is something to say.
    private static func remarks(_ code: String?, _ asked: RequestHeaders) -> Logger.Metadata {
        var remarks: Logger.Metadata = [:]
        if let code { remarks["code"] = "\(code)" }
        if asked.isBulk { remarks["bulk"] = "true" }
        return remarks
    }

    // MARK: - By route

    private func outcome(_ exchange: inout Exchange) async throws -> Outcome {
        switch exchange.route {
        case .own(let own): return .answer(answer(to: own, exchange))
        case .endpoint(let endpoint): return try await outcome(of: endpoint, &exchange)
        case .otherMethod, .unknown:
            exchange.headers += limiter.standing(exchange.route.template)?.headers ?? []
            let path = exchange.path
            let method = exchange.request.method
            guard let known = APIRequest.Method(rawValue: method == .head ? "GET" : method.rawValue) else {
                return .answer(ServiceAnswer(API.table.wrongMethod(path).answer(at: path)))
            }
            return .answer(ServiceAnswer(await store.api.answer(APIRequest(known, path))))
        case .otherMethodOfOwn: return .answer(Refusal.wrongMethod.answer(isNative: true))
        case .options(let methods, let template):
            exchange.headers += limiter.standing(template)?.headers ?? []
            return .answer(ServiceAnswer(allowing: methods))
        }
    }

    private func answer(to own: OwnPath, _ exchange: Exchange) -> ServiceAnswer {
        let foreign = access.refusalOfForeignPage(
            exchange.asked, host: exchange.request.head.authority, isWrite: false, path: own.rawValue)
        if let foreign { return ServiceAnswer(foreign) }
        if let permission = own.permission,
            let refusal = access.refusal(exchange.asked.authorization, permission: permission, isNative: true)
        {
            return refusal.answer(isNative: true)
        }
        switch own {
        case .overview: return overview.answer(store.api, html: exchange.asked.accepts("text/html"))
        case .openAPI: return ServiceAnswer(status: 200, body: OpenAPI.document(needsKeys: access.keys.isClosed))
        case .metrics: return metrics.answer(store.api, connections.counts)
        case .live: return overview.live
        case .health, .ready: return overview.health(store)
        }
    }

    private func outcome(of endpoint: Endpoint, _ exchange: inout Exchange) async throws -> Outcome {
        let (request, path, asked) = (exchange.request, exchange.path, exchange.asked)
        let foreign = access.refusalOfForeignPage(
            asked, host: request.head.authority, isWrite: endpoint.method == .post, path: path)
        if let foreign {
            exchange.headers += limiter.standing(endpoint.path)?.headers ?? []
            return .answer(ServiceAnswer(foreign))
        }
        let query = QueryText.parameters(request.uri.query ?? "")
        // An old client's key is in the URL, or in the body, which is then read first.
        let olderKey = query?.first { $0.name == "api_key" }?.value
        let keyMayBeInBody =
            endpoint.method == .post && olderKey == nil
            && access.mayBeOlder(asked.authorization, isNative: endpoint.isNative)
        if !keyMayBeInBody, let refusal = refusal(olderKey, endpoint, &exchange) {
            return .answer(refusal.answer(isNative: endpoint.isNative))
        }
        if keyMayBeInBody { exchange.headers += limiter.emptyHeaders(endpoint.path) }
        guard let query else {
            return .answer(
                ServiceAnswer(
                    APIProblem.invalid(
                        "query", "has a % without two hexadecimal digits, or is no UTF-8"
                    ).answer(at: path)))
        }
        var call = APIRequest(endpoint.method, path)
        call.query = query
        call.baseURL = baseURL
        call.localURL = { [connection = exchange.connection] in connection.localURL }
        if endpoint.method == .post {
            switch await bodies.read(request, asked, exchange.connection) {
            case .whole(let body): call.body = body
            case .refused(let refusal): return .answer(refusal.answer(isNative: endpoint.isNative))
            case .unreadable(let error): throw error
            }
            call.ifMatch = asked.ifMatch
            call.idempotencyKey = asked.idempotencyKey
        }
        if keyMayBeInBody, let refusal = refusal(await Self.key(inBody: call.body), endpoint, &exchange) {
            return .answer(refusal.answer(isNative: endpoint.isNative))
        }
        if endpoint.path == EventStreams.path, request.method == .get, asked.accepts("text/event-stream") {
            return stream(call, lastEventID: asked.lastEventID)
        }
        let answer = await answer(call, by: store.api)
        guard let file = answer.file else { return .answer(ServiceAnswer(answer)) }
        if let response = ServiceAnswer.response(file, exchange.headers) { return .file(response) }
        return .answer(Refusal.fileGone.answer(isNative: endpoint.isNative))
    }

    /// The key in a body, looked for on another thread if that takes long.
    private static func key(inBody body: [UInt8]) async -> String? {
        if body.count < APIRequest.bytesThatTakeLong { return BodyKey.find(in: body) }
        return await withTaskExecutorPreference(globalConcurrentExecutor) { BodyKey.find(in: body) }
    }

    /// Why a request is not done: it has no key for the endpoint, or is one too many. Only one that has a key counts.
    private func refusal(_ olderKey: String?, _ endpoint: Endpoint, _ exchange: inout Exchange) -> Refusal? {
        if let refusal = access.refusal(exchange.asked.authorization, olderKey: olderKey, endpoint) {
            exchange.headers +=
                refusal.status == 401
                ? limiter.emptyHeaders(endpoint.path) : limiter.standing(endpoint.path)?.headers ?? []
            return refusal
        }
        guard let standing = limiter.take(endpoint) else { return nil }
        exchange.headers += standing.headers
        return standing.isOver ? standing.refusal : nil
    }

    private func stream(_ call: APIRequest, lastEventID: String?) -> Outcome {
        do throws(APIRefusal) {
            let feed = try EventFeed(store.api.log, call, lastEventID: lastEventID)
            return streams.takePlace().map { .stream(feed, $0) }
                ?? .answer(Refusal.tooManyStreams.answer(isNative: true))
        } catch {
            return .answer(ServiceAnswer(error.answer))
        }
    }

    /// A read that waits for news is woken when the service stops; a write is never cut short.
    private func answer(_ call: APIRequest, by api: API) async -> APIAnswer {
        if call.takesLong {
            return await withTaskExecutorPreference(SlowPath.shared) { await api.answer(call) }
        }
        guard call.method == .get else { return await api.answer(call) }
        return await cancelWhenGracefulShutdown { await api.answer(call) }
    }
}
