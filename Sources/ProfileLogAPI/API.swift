public import ProfileLog

/// The native JSON API as a function from requests to answers; docs/api.md describes it.
///
/// The service serves it over HTTP and the command line calls it in its own process, so both answer the same.
public final class API: Sendable {
    /// The log that it reads and writes.
    public let log: EventLog
    /// What has been asked of it and stored so far.
    public let activity: APIActivity
    let ephemeral: (any EphemeralStore)?
    /// What the REST API's requests do not say.
    let workspace: Workspace
    let catalogue: LiveState<CatalogueProjection>
    /// Who has which push token: for imports and look-ups by a device alone, so that nothing is folded before the
    /// first.
    let pushTokens: LiveState<PushTokenProjection>
    let exports = ExportFiles()
    let store: RequestStore

    /// The projections that a log for this API keeps states of. Without them all answers are the same, and the first
    /// ones take longer.
    public static let projections: [any Projection.Type] = [
        ProfileProjection.self, UsageProjection.self, CatalogueProjection.self,
    ]

    /// Bytes of a request's body that are read at most.
    public static let maxBodyBytes = 4 << 20

    /// Answers for `log`, and commits on the caller's thread: for programs that do one thing at a time.
    public init(log: EventLog, workspace: Workspace = Workspace()) {
        self.log = log
        self.workspace = workspace
        catalogue = LiveState(log)
        pushTokens = LiveState(log)
        ephemeral = nil
        activity = APIActivity()
        store = RequestStore(log, nil, activity)
    }

    /// Answers for the log of `writer`, which commits for many callers at once. With `ephemeral`, the store may be
    /// emptied and its time set.
    public init(
        writer: LogWriter, workspace: Workspace = Workspace(), ephemeral: (any EphemeralStore)? = nil,
        activity: APIActivity = APIActivity()
    ) {
        log = writer.log
        self.workspace = workspace
        catalogue = LiveState(log)
        pushTokens = LiveState(log)
        self.ephemeral = ephemeral
        self.activity = activity
        store = RequestStore(log, writer, activity)
    }

    /// Decides requests by what the log holds.
    var decider: RequestDecider { RequestDecider(store: store) }

    /// Removes the files that exports made, at the end of a program. The files of a program that is killed are removed
    /// by the next one.
    public func removeExports() { exports.clear() }

    /// Does what `request` asks. Every failure is an answer too: an object with `error`, `remedy` and `code`.
    public func answer(_ request: APIRequest) async -> APIAnswer {
        do {
            var request = request
            let endpoint = try endpoint(for: &request)
            try await PositionWait(&request)?.wait(for: log)
            return try await endpoint.answer(self, request)
        } catch {
            return APIProblem(error).answer(at: request.path)
        }
    }

    /// The endpoint that `request` asks, which gets what its path names.
    private func endpoint(for request: inout APIRequest) throws -> Endpoint {
        guard request.body.count <= Self.maxBodyBytes else {
            throw APIProblem.tooLarge("The body", bytes: Self.maxBodyBytes)
        }
        let matches = Self.matches(request.path)
        if let match = matches.first(where: { $0.endpoint.method == request.method }) {
            request.parameters = match.parameters
            return match.endpoint
        }
        guard !matches.isEmpty else {
            throw APIProblem(
                status: 404, code: "unknown_path", error: "There is nothing at this path.",
                remedy: "GET / lists what there is.")
        }
        throw Self.wrongMethod(path: request.path, matches)
    }

    private typealias Match = (endpoint: Endpoint, parameters: [String: String])

    /// The endpoints at paths that name nothing, by their path.
    private static let plainMatches = Dictionary(
        grouping: endpoints.filter { !$0.path.contains("{") }.map { Match($0, [:]) }, by: \.endpoint.path)
    private static let templates = endpoints.filter { $0.path.contains("{") }

    /// The endpoints at `path`, one for each method, with what the path names.
    private static func matches(_ path: String) -> [Match] {
        plainMatches[path]
            ?? templates.compactMap { endpoint in
                PathTemplate.parameters(of: path, as: endpoint.path).map { (endpoint, $0) }
            }
    }

    /// The endpoint that `method` on `path` asks; nil if there is none.
    public static func endpoint(_ method: APIRequest.Method, _ path: String) -> Endpoint? {
        matches(path).first { $0.endpoint.method == method }?.endpoint
    }

    /// The path of the endpoint at `path`, with `{…}` in place of names, for logs; nil if there is none.
    public static func template(of path: String) -> String? { matches(path).first?.endpoint.path }

    /// The answer to a method that `path` does not know.
    public static func answerToWrongMethod(path: String) -> APIAnswer {
        wrongMethod(path: path, matches(path)).answer(at: path)
    }

    /// The answer to a request for `path` that a browser sends for the page of another site.
    public static func answerToForeignOrigin(path: String) -> APIAnswer {
        APIProblem(
            status: 403, code: "foreign_origin",
            error: "A page of another site may not write here; nothing was stored.",
            remedy: "Send the request without the header Origin, or from a page of this service.", place: "Origin"
        ).answer(at: path)
    }

    /// The answer to a request for `path` that a browser sends to this service under the name of another site.
    public static func answerToForeignHost(path: String) -> APIAnswer {
        APIProblem(
            status: 403, code: "foreign_origin",
            error: "A browser asks for another host, and without keys nothing says whose page it is; nothing was done.",
            remedy: "Ask for the service by its address, or as localhost, or make a key with `profiled keys add`.",
            place: "Host"
        ).answer(at: path)
    }

    /// The answer to a request for `path` that is wrong at `place` before its content matters.
    public static func answerToInvalid(_ place: String, _ reason: String, path: String) -> APIAnswer {
        APIProblem.invalid(place, reason).answer(at: path)
    }

    private static func wrongMethod(path: String, _ matches: [Match]) -> APIProblem {
        let allowed = matches.isEmpty ? "GET" : matches.map(\.endpoint.method.rawValue).joined(separator: ", ")
        return APIProblem(
            status: 405, code: "wrong_method", error: "This path does not know this method.",
            remedy: "Send \(allowed).", allow: allowed)
    }
}
