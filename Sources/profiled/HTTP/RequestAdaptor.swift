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

    /// What to send: a whole answer, or a response that is read while it is sent.
    private enum Outcome {
        case answer(ServiceAnswer)
        case response(Response)
    }

    private struct Exchange {
        let request: Request
        let path: String
        let asked: RequestHeaders
        let connection: ConnectionContext
        let route: Route
        /// Headers of the response that are known before there is an answer.
        var headers: [HTTPField]
    }

    /// Answers one request. Throws for what is not HTTP. The log line has no query and no body: they hold personal
    /// data.
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
            let isLast = answer.status >= 400 && asked.asksFirst
            response = answer.response(exchange.headers, ending: isLast ? connection : nil)
        case .response(let sent): response = sent
        }
        if request.method == .head { response = response.createHeadResponse() }
        let (status, took) = (response.status.code, ContinuousClock.now - begin)
        metrics.record(method: request.method.rawValue, template: exchange.route.template, status: status, took: took)
        logger.log(
            level: status >= 500 && code != "not_reached" ? .error : .info, "request",
            metadata: [
                "id": "\(id)", "method": "\(request.method.rawValue)", "path": "\(exchange.route.template)",
                "status": .stringConvertible(status), "bytes": .stringConvertible(response.body.contentLength ?? 0),
                "ms": .stringConvertible(took / .milliseconds(1)),
            ].merging(
                [("code", code), ("bulk", asked.isBulk ? "true" : nil)].compactMap { key, text in
                    text.map { (key, "\($0)") }
                }
            ) { $1 })
        return response
    }

    // MARK: - By route

    private func outcome(_ exchange: inout Exchange) async throws -> Outcome {
        switch exchange.route {
        case .own(let own): return .answer(answer(to: own, exchange))
        case .endpoint(let endpoint):
            do {
                return try await outcome(of: endpoint, &exchange)
            } catch let refusal as Refusal {
                return .answer(refusal.answer(isNative: endpoint.isNative))
            }
        case .otherMethod, .unknown:
            exchange.headers += limiter.rest(exchange.route.template)?.headers ?? []
            let path = exchange.path
            let method = exchange.request.method
            guard let known = APIRequest.Method(rawValue: method == .head ? "GET" : method.rawValue) else {
                return .answer(ServiceAnswer(API.table.wrongMethod(path).answer(at: path)))
            }
            return .answer(ServiceAnswer(await store.api.answer(APIRequest(known, path))))
        case .otherMethodOfOwn: return .answer(Refusal.wrongMethod.answer(isNative: true))
        case .options(let methods, let template):
            exchange.headers += limiter.rest(template)?.headers ?? []
            return .answer(ServiceAnswer(allowing: methods))
        }
    }

    private func answer(to own: OwnPath, _ exchange: Exchange) -> ServiceAnswer {
        let foreign = access.refusalOfForeignPage(
            exchange.asked, host: exchange.request.head.authority, isWrite: false, path: own.rawValue)
        if let foreign { return ServiceAnswer(foreign) }
        if let permission = own.permission,
            let refusal = access.refusal(exchange.asked[.authorization], permission: permission, isNative: true)
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
            exchange.headers += limiter.rest(endpoint.path)?.headers ?? []
            return .answer(ServiceAnswer(foreign))
        }
        let query = QueryText.parameters(request.uri.query ?? "")
        // An old client's key is in the URL, or in the body, which is then read first.
        let olderKey = query?.first { $0.name == "api_key" }?.value
        let keyMayBeInBody =
            endpoint.method == .post && olderKey == nil
            && access.mayBeOlder(asked[.authorization], isNative: endpoint.isNative)
        if keyMayBeInBody {
            exchange.headers += limiter.emptyHeaders(endpoint.path)
        } else {
            try admit(olderKey, endpoint, &exchange)
        }
        guard let query else {
            let reason = "has a % without two hexadecimal digits, or is no UTF-8"
            return .answer(ServiceAnswer(APIProblem.invalid("query", reason).answer(at: path)))
        }
        var call = APIRequest(endpoint.method, path)
        call.query = query
        call.baseURL = baseURL
        call.localURL = { [connection = exchange.connection] in connection.localURL }
        if endpoint.method == .post {
            call.body = try await bodies.read(request, asked, exchange.connection)
            call.ifMatch = asked[.ifMatch]
            call.idempotencyKey = asked[.idempotencyKey]
        }
        if keyMayBeInBody { try admit(await Self.key(inBody: call.body), endpoint, &exchange) }
        if endpoint.path == EventStreams.path, request.method == .get, asked.accepts("text/event-stream") {
            return stream(call, endpoint, exchange)
        }
        let answer = await answer(call, by: store.api)
        if let stream = answer.stream { return .response(ServiceAnswer.response(stream, exchange.headers)) }
        guard let file = answer.file else { return .answer(ServiceAnswer(answer)) }
        guard let response = ServiceAnswer.response(file, exchange.headers) else { throw Refusal.fileGone }
        return .response(response)
    }

    /// The key in a body, looked for on another thread if that takes long.
    private static func key(inBody body: [UInt8]) async -> String? {
        if body.count < APIRequest.bytesThatTakeLong { return BodyKey.find(in: body) }
        return await withTaskExecutorPreference(globalConcurrentExecutor) { BodyKey.find(in: body) }
    }

    /// Refuses a request without a key for the endpoint, or one too many. Only a request with a key counts.
    private func admit(_ olderKey: String?, _ endpoint: Endpoint, _ exchange: inout Exchange) throws(Refusal) {
        if let refusal = access.refusal(exchange.asked[.authorization], olderKey: olderKey, endpoint) {
            exchange.headers +=
                refusal.status == 401
                ? limiter.emptyHeaders(endpoint.path) : limiter.rest(endpoint.path)?.headers ?? []
            throw refusal
        }
        guard let rest = limiter.rest(endpoint.path, counting: true) else { return }
        exchange.headers += rest.headers
        if rest.isOver { throw rest.refusal }
    }

    private func stream(_ call: APIRequest, _ endpoint: Endpoint, _ exchange: Exchange) -> Outcome {
        do throws(APIRefusal) {
            let feed = try EventFeed(store.api.log, call, lastEventID: exchange.asked[.lastEventID])
            guard let place = streams.takePlace() else { return .answer(Refusal.tooManyStreams.answer(isNative: true)) }
            let authorization = exchange.asked[.authorization]
            return .response(
                streams.response(feed, in: place, exchange.headers, on: exchange.connection) { [access] in
                    access.refusal(authorization, endpoint) == nil
                })
        } catch {
            return .answer(ServiceAnswer(error.answer))
        }
    }

    /// A read that waits for news is woken when the service stops; a write is never cut short.
    private func answer(_ call: APIRequest, by api: API) async -> APIAnswer {
        if call.takesLong { return await withTaskExecutorPreference(SlowPath.shared) { await api.answer(call) } }
        guard call.method == .get else { return await api.answer(call) }
        return await cancelWhenGracefulShutdown { await api.answer(call) }
    }
}
