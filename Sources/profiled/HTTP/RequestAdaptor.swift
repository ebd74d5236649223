internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ProfileLogNativeAPI
internal import ProfileLogRequests
internal import ServiceLifecycle
internal import Synchronization

/// HTTP requests to calls of the API, and its answers to responses.
final class RequestAdaptor: Sendable {
    private let store: LiveStore
    private let overview: Overview
    private let access: Access
    /// The access by the port for operators.
    private let adminAccess: Access
    private let crossOrigins: CrossOrigins
    private let own: [OwnPath]
    private let console: ConsoleFiles
    private let limiter: RateLimiter
    private let bodies: BodyReader
    private let streams: EventStreams
    private let reads: Reads
    private let metrics: Metrics
    private let health: HealthReasons
    private let connections: Connections
    private let certificates: TLSCertificates?
    /// The node of a cluster that the service is; nil for a store of its own.
    private let cluster: ClusterNode?
    /// Hands writes to the node that writes; nil without a cluster.
    private let forwarder: WriteForwarder?
    private let baseURL: String
    private let scheme: String
    /// Requests that take at least so many milliseconds get a line with their phases; 0 for none.
    private let slowMilliseconds: Atomic<Int>
    /// The seconds by which the store may lag behind its cluster in answers to reads; 0 for any.
    private let mostLagSeconds: Atomic<Int>
    private let logger: Logger

    init(
        _ store: LiveStore, _ connections: Connections, _ certificates: TLSCertificates?, _ cluster: ClusterNode?,
        keys: KeyRing, metrics: Metrics, health: HealthReasons, live: LiveSettings, forwarder: WriteForwarder?,
        logger: Logger
    ) {
        self.store = store
        self.forwarder = forwarder
        self.connections = connections
        self.certificates = certificates
        self.cluster = cluster
        self.metrics = metrics
        self.health = health
        self.logger = logger
        let options = live.current
        baseURL = options.baseURL?.text ?? ""
        slowMilliseconds = Atomic(options.slowRequestMilliseconds)
        mostLagSeconds = Atomic(options.maxLag?.count ?? 0)
        scheme = options.scheme
        crossOrigins = CrossOrigins(options.crossOrigins)
        access = Access(
            keys: keys, serviceHost: options.host, publicOrigin: options.baseURL?.origin, crossOrigins: crossOrigins,
            speaksTLS: options.tlsFiles != nil)
        adminAccess = Access(
            keys: keys, serviceHost: options.adminHost, publicOrigin: nil, crossOrigins: CrossOrigins([]),
            speaksTLS: false)
        own = OwnPath.main(hasAdminPort: options.adminPort != nil)
        console = ConsoleFiles(folder: options.console)
        overview = Overview(keys: keys, isEphemeral: options.isEphemeral, own: own)
        limiter = RateLimiter(options.rateLimits)
        bodies = BodyReader(maxBytesAtOnce: options.bodyMemoryMebibytes << 20)
        reads = Reads(timeout: options.readTimeout.duration)
        streams = EventStreams(store: store, metrics: metrics, live: live)
    }

    /// Changes these parts at a reload: the rest asks ``LiveSettings`` itself.
    var reloadHook: ReloadHook {
        ReloadHook { [limiter, bodies, reads, crossOrigins, self] old, new in
            return {
                crossOrigins.replace(by: new.crossOrigins)
                self.slowMilliseconds.store(new.slowRequestMilliseconds, ordering: .relaxed)
                self.mostLagSeconds.store(new.maxLag?.count ?? 0, ordering: .relaxed)
                limiter.replace(by: new.rateLimits)
                bodies.addRoom((new.bodyMemoryMebibytes - old.bodyMemoryMebibytes) << 20)
                reads.timeout = new.readTimeout.duration
            }
        }
    }

    private struct Exchange {
        let request: Request
        let path: String
        let asked: RequestHeaders
        let connection: ConnectionContext
        /// The names in the client's certificate; empty without one.
        let client: [String]
        let route: Route
        /// Tells whether it came by the port for operators.
        let isAdmin: Bool
        let reads: Reads
        /// Headers of the response that are known before there is an answer.
        var headers: [HTTPField]
        /// The error, in one word.
        var code: String?

        /// Identifies the request in log and answer.
        var id: String { headers.first { $0.name == .xRequestID }?.value ?? asked.id }

        mutating func response(_ answer: APIAnswer) async throws -> Response {
            code = answer.code
            let answer = await answer.packed(for: asked)
            if let stream = answer.stream { return answer.response(headers, stream, reads, connection) }
            let isLast = answer.status >= 400 && asked.asksFirst
            return try answer.response(headers, ending: isLast ? connection : nil)
        }
    }

    /// Answers one request, of the port for operators if `isAdmin`. Throws for what is not HTTP. The log line has no
    /// query and no body: they hold personal data.
    func respond(to request: Request, _ connection: ConnectionContext, isAdmin: Bool) async throws -> Response {
        let begin = ContinuousClock.now
        let asked = RequestHeaders(request.headers)
        let id = asked.id
        let sent = request.uri.path
        // A place of the console may end with a slash.
        let path = ConsolePath(sent) == nil ? API.table.plain(sent) : sent
        let route = route(request.method.rawValue, path, isAdmin: isAdmin)
        var exchange = Exchange(
            request: request, path: path, asked: asked, connection: connection,
            client: clientNames(asked, connection), route: route, isAdmin: isAdmin, reads: reads,
            headers: [HTTPField(name: .xRequestID, value: id)])
        if let cluster { exchange.headers.append(cluster.header) }
        if !isAdmin { exchange.headers += crossOrigins.headers(for: asked, methods: route.methods) }
        let slow = slowMilliseconds.load(ordering: .relaxed)
        let phases = slow > 0 ? RequestPhases() : nil
        metrics.begin()
        defer { metrics.end() }
        var response = try await RequestPhases.$current.withValue(phases) {
            // What may take longer would hold up the other connections of the event loop.
            exchange.route.isBrief
                ? try await self.response(&exchange)
                : try await withTaskExecutorPreference(globalConcurrentExecutor) { try await self.response(&exchange) }
        }
        if request.method == .head { response = response.createHeadResponse() }
        let (status, code, took) = (response.status.code, exchange.code, ContinuousClock.now - begin)
        metrics.record(
            method: request.method.rawValue, template: exchange.route.template, status: status, code: code, took: took)
        let isError = status >= 500 && !["not_reached", "not_simulated"].contains(code)
        var times: Logger.Metadata = [:]
        if let phases, took >= .milliseconds(slow) {
            times = Self.times(took, phases.measured, beyond: .milliseconds(slow))
        }
        // Only called for a line that is written.
        func mainFacts(_ times: Logger.Metadata) -> Logger.Metadata {
            var facts = times
            facts["id"] = "\(id)"
            facts["method"] = "\(request.method.rawValue)"
            facts["path"] = "\(exchange.route.logged(path))"
            facts["status"] = .stringConvertible(status)
            return facts
        }
        func allFacts(_ times: Logger.Metadata) -> Logger.Metadata {
            var facts = mainFacts(times)
            facts["bytes"] = .stringConvertible(response.body.contentLength ?? 0)
            facts["ms"] = Self.milliseconds(took)
            if let code { facts["code"] = "\(code)" }
            if asked.isBulk { facts["bulk"] = "true" }
            return facts
        }
        // An error has one line.
        if isError {
            logger.error("request", metadata: allFacts(times))
        } else {
            if !times.isEmpty { logger.notice("slow request", metadata: mainFacts(times)) }
            logger.info("request", metadata: allFacts([:]))
        }
        return response
    }

    /// The times of a request that took at least as long as `slow`; empty if it only waited for news.
    private static func times(
        _ took: Duration, _ times: RequestPhases.Times, beyond slow: Duration
    ) -> Logger.Metadata {
        let own = took - times.news
        if own < slow { return [:] }
        let phases = [RequestPhases.Phase.read, .decide, .wait, .commit, .sync]
        var metadata: Logger.Metadata = [
            "ms": milliseconds(own), "other_ms": milliseconds(phases.reduce(own) { $0 - times[$1] }),
        ]
        for phase in phases { metadata["\(phase.rawValue)_ms"] = milliseconds(times[phase]) }
        return metadata
    }

    /// With one decimal.
    private static func milliseconds(_ duration: Duration) -> Logger.MetadataValue {
        .stringConvertible((duration / .milliseconds(1) * 10).rounded() / 10)
    }

    /// The names in the client's certificate. A browser shows it whatever page sends the request, so with the page of
    /// another origin it counts nothing. That of a forwarded request is the other node's, not the client's.
    private func clientNames(_ asked: RequestHeaders, _ connection: ConnectionContext) -> [String] {
        if certificates?.files.clientCA == nil || asked[.forwarded] != nil || crossOrigins.allow(asked[.origin]) {
            return []
        }
        return connections.clientNames(at: connection.channel)
    }

    // MARK: - By route

    private func route(_ method: String, _ path: String, isAdmin: Bool) -> Route {
        let ownPath = OwnPath(rawValue: path)
        let isHere = isAdmin ? ownPath?.isForOperators == true : ownPath.map { own.contains($0) } ?? true
        return isHere ? Route(method: method, path: path) : .unknown
    }

    private func response(_ exchange: inout Exchange) async throws -> Response {
        do {
            switch exchange.route {
            case .own(let own): return try await exchange.response(answer(to: own, exchange))
            case .console(let path):
                try access.refuseForeignPage(
                    exchange.asked, host: exchange.request.head.authority, isWrite: false)
                return try await exchange.response(console.answer(to: path, exchange.asked))
            case .endpoint(let endpoint): return try await response(of: endpoint, &exchange)
            case .unknown where exchange.isAdmin:
                return try await exchange.response(APIError.notForOperators.answer)
            case .unknown where OwnPath(rawValue: exchange.path) != nil:
                return try await exchange.response(APIError.forOperators.answer)
            case .otherMethod, .unknown:
                exchange.headers += limiter.rest(exchange.route.template)?.headers ?? []
                let method = exchange.request.method
                throw API.table.refusal(of: method == .head ? "GET" : method.rawValue, at: exchange.path)
            case .otherMethodOfOwn, .otherMethodOfConsole:
                return try await exchange.response(APIError.wrongMethodOfService.answer)
            case .options(let methods, let template):
                exchange.headers += limiter.rest(template)?.headers ?? []
                return try await exchange.response(APIAnswer(allowing: methods))
            }
        } catch let error as APIError {
            return try await exchange.response(error.answer(in: API.table.format(at: exchange.path)))
        }
    }

    private func answer(to own: OwnPath, _ exchange: Exchange) throws(APIError) -> APIAnswer {
        let host = exchange.request.head.authority
        if exchange.isAdmin {
            try adminAccess.refuseForeignHost(exchange.asked, host)
        } else {
            try access.refuseForeignPage(exchange.asked, host: host, isWrite: false)
        }
        if !exchange.isAdmin, let permission = own.permission,
            let refusal = access.refusal(
                exchange.asked[.authorization], permission: permission, isNative: true, client: exchange.client)
        {
            return refusal.answer
        }
        switch own {
        case .overview: return overview.answer(store.api)
        case .openAPI: return APIAnswer(status: 200, body: OpenAPI.document(needsKeys: access.keys.isClosed, self.own))
        case .metrics:
            return metrics.answer(
                store, connections.counts, reads.counts, health, certificates?.report, cluster)
        case .live: return overview.live
        case .health: return overview.health(store, health.reasons)
        case .ready: return overview.ready(store, health.reasons, cluster?.report.unready)
        }
    }

    private func response(of endpoint: Endpoint, _ exchange: inout Exchange) async throws -> Response {
        let (request, path, asked) = (exchange.request, exchange.path, exchange.asked)
        do {
            try access.refuseForeignPage(asked, host: request.head.authority, isWrite: endpoint.method == .post)
        } catch {
            exchange.headers += limiter.rest(endpoint.path)?.headers ?? []
            throw error
        }
        let query = QueryText.parameters(request.uri.query ?? "")
        // An old client's key is in the URL, or in the body, which is then read first.
        let olderKey = query?.first { $0.name == "api_key" }?.value
        // Looks at the file of keys, so once.
        let needsKey = access.keys.isClosed
        let keyMayBeInBody =
            needsKey && endpoint.method == .post && olderKey == nil
            && Access.mayBeOlder(asked[.authorization], isNative: endpoint.isNative)
        if keyMayBeInBody {
            exchange.headers += limiter.emptyHeaders(endpoint.path)
        } else {
            try admit(olderKey, endpoint, &exchange, needsKey: needsKey)
        }
        guard let query else {
            throw APIError.invalid("query", "has a % without two hexadecimal digits, or is no UTF-8")
        }
        var call = APIRequest(endpoint.method, path)
        call.query = query
        call.baseURL = baseURL
        call.localURL = { [connection = exchange.connection, scheme] in connection.localURL(scheme: scheme) }
        call.key = { [access, authorization = asked[.authorization], client = exchange.client] in
            try access.key(authorization, client: client)
        }
        if endpoint.method == .post {
            let connection = exchange.connection
            call.body = try await RequestPhases.awaiting(.read) { [bodies] in
                try await bodies.read(request, asked, connection)
            }
            call.ifMatch = asked[.ifMatch].map { Gzip.tag(ofPlain: $0) }
            call.idempotencyKey = asked[.idempotencyKey]
        }
        if keyMayBeInBody { try admit(await Self.key(inBody: call.body), endpoint, &exchange, needsKey: true) }
        if endpoint.isRead, !endpoint.isOfNode, let cluster {
            // Before the read: what it tells is at least of this moment.
            exchange.headers.append(cluster.lagHeader)
            let seconds = mostLagSeconds.load(ordering: .relaxed)
            if let refusal = cluster.refusalOfRead(beyond: seconds > 0 ? .seconds(seconds) : nil) { throw refusal }
        }
        if endpoint.streamsEvents, request.method == .get, asked.accepts(Endpoint.eventStream) {
            return try stream(call, endpoint, exchange)
        }
        var mayBeElsewhere = false
        switch try await forwarder?.outcome(call, endpoint, request, asked, id: exchange.id, client: exchange.client) {
        case .answered(let answer): return try await exchange.response(answer)
        case .here(let isOpen): mayBeElsewhere = isOpen
        case nil: break
        }
        let api = store.api
        var answer = try await answer(call, endpoint, exchange.connection, by: api.router)
        if mayBeElsewhere { answer = try WriteForwarder.certain(answer) }
        if endpoint.isForwarded, answer.isSuccess, let position = cluster?.positionHeader(api.log) {
            exchange.headers.append(position)
        }
        return try await exchange.response(answer)
    }

    /// The key in a body, looked for on another thread if that takes long.
    private static func key(inBody body: [UInt8]) async -> String? {
        if body.count < APIRequest.bytesThatTakeLong { return BodyKey.find(in: body) }
        return await withTaskExecutorPreference(globalConcurrentExecutor) { BodyKey.find(in: body) }
    }

    /// Refuses a request without a key for the endpoint, or one too many. Only a request with a key counts.
    private func admit(
        _ olderKey: String?, _ endpoint: Endpoint, _ exchange: inout Exchange, needsKey: Bool
    ) throws(APIError) {
        if needsKey,
            let refusal = access.refusal(
                exchange.asked[.authorization], olderKey: olderKey, client: exchange.client, endpoint)
        {
            exchange.headers +=
                refusal.status == 401
                ? limiter.emptyHeaders(endpoint.path) : limiter.rest(endpoint.path)?.headers ?? []
            throw refusal
        }
        guard let rest = limiter.rest(endpoint.path, counting: true) else { return }
        exchange.headers += rest.headers
        if rest.isOver { throw rest.error }
    }

    private func stream(
        _ call: APIRequest, _ endpoint: Endpoint, _ exchange: Exchange
    ) throws(APIError) -> Response {
        let feed = try EventFeed(store.api.log, call, lastEventID: exchange.asked[.lastEventID])
        guard let place = streams.takePlace() else { throw .tooManyStreams }
        let (authorization, client) = (exchange.asked[.authorization], exchange.client)
        return streams.response(feed, in: place, exchange.headers, on: exchange.connection) { [access] in
            access.refusal(authorization, client: client, endpoint) == nil
        }
    }

    /// A read that waits for news is woken when the service stops; a write is never cut short.
    private func answer(
        _ call: APIRequest, _ endpoint: Endpoint, _ connection: ConnectionContext, by api: APIRouter
    ) async throws -> APIAnswer {
        if endpoint.isRead {
            return try await cancelWhenGracefulShutdown { [reads] in
                // A client that closes its side then no longer waits, as with a stream of events.
                try await reads.answer(while: { connection.isOpen }, becomingLong: connection.endWithInput) {
                    await api.answer(call)
                }
            }
        }
        if call.takesLong { return await withTaskExecutorPreference(SlowPath.shared) { await api.answer(call) } }
        return await api.answer(call)
    }
}
