public import ProfileLog

/// The native JSON API as a function from requests to answers; docs/api.md describes it.
///
/// The service puts it behind HTTP and the command line calls it in its own process, so both answer the same.
public struct API: Sendable {
    /// The log that it reads and writes.
    public let log: EventLog
    private let writer: LogWriter?

    /// Bytes of a request's body that are read at most.
    public static let maxBodyBytes = 4 << 20

    /// Answers for `log`, and commits on the caller's thread: for programs that do one thing at a time.
    public init(log: EventLog) {
        self.log = log
        writer = nil
    }

    /// Answers for the log of `writer`, which commits for many callers at once.
    public init(writer: LogWriter) {
        log = writer.log
        self.writer = writer
    }

    /// Does what `request` asks. Every failure is an answer too: an object with `error`, `remedy` and `code`.
    public func answer(_ request: APIRequest) async -> APIAnswer {
        do {
            return try await endpoint(for: request).answer(self, request)
        } catch {
            return APIProblem(error).answer
        }
    }

    private func endpoint(for request: APIRequest) throws -> Endpoint {
        guard request.body.count <= Self.maxBodyBytes else {
            throw APIProblem.tooLarge("The body", bytes: Self.maxBodyBytes)
        }
        let found = Self.endpoints.filter { $0.path == request.path }
        if let endpoint = found.first(where: { $0.method == request.method }) { return endpoint }
        if found.isEmpty {
            throw APIProblem(
                status: 404, code: "unknown_path", error: "There is nothing at \(APIProblem.shown(request.path)).",
                remedy: "GET / lists what there is.")
        }
        throw Self.wrongMethod(path: request.path, allowed: found.map(\.method.rawValue).joined(separator: ", "))
    }

    /// The answer to a method that `path` does not know.
    public static func answerToWrongMethod(path: String) -> APIAnswer {
        let methods = endpoints.filter { $0.path == path }.map(\.method.rawValue)
        return wrongMethod(path: path, allowed: methods.isEmpty ? "GET" : methods.joined(separator: ", ")).answer
    }

    /// The answer to a body of more than `maxBodyBytes`.
    public static var answerToLargeBody: APIAnswer { APIProblem.tooLarge("The body", bytes: maxBodyBytes).answer }

    /// The answer to a request that a browser sends for the page of another site.
    public static var answerToForeignOrigin: APIAnswer {
        APIProblem(
            status: 403, code: "foreign_origin",
            error: "A page of another site may not write here; nothing was stored.",
            remedy: "Send the request without the header Origin, or from a page of this service.", place: "Origin"
        ).answer
    }

    /// The answer to a request that is wrong at `place` before its content matters.
    public static func answerToInvalid(_ place: String, _ reason: String) -> APIAnswer {
        APIProblem.invalid(place, reason).answer
    }

    private static func wrongMethod(path: String, allowed: String) -> APIProblem {
        APIProblem(
            status: 405, code: "wrong_method", error: "\(APIProblem.shown(path)) does not know this method.",
            remedy: "Send \(allowed).", allow: allowed)
    }

    // MARK: - Committing

    func commit(_ append: PreparedAppend) async throws(AppendError) -> AppendReceipt {
        if let writer { return try await writer.commit(append) }
        return try log.commit(append)
    }

    /// Runs work that commits several times, on the writer's thread if there is one.
    func perform<Value: Sendable>(_ work: @escaping @Sendable (EventLog) throws -> Value) async throws -> Value {
        if let writer { return try await writer.perform(work) }
        return try work(log)
    }
}
