internal import ProfileLog
internal import ProfileLogAPI

/// Something that answers requests of the native JSON API: a store in this process, or a service.
protocol Connection: Sendable {
    func answer(_ request: APIRequest) async throws -> APIAnswer
}

extension Connection {
    /// The object with which `request` is answered. A refusal is thrown, as a `Failure`.
    func send(_ request: APIRequest) async throws -> JSONObject {
        let answer = try await answer(request)
        guard let object = try? JSONObject(answer.body) else {
            throw Failure(
                "The answer (status \(answer.status)) is no JSON object.",
                remedy: "Check that the address is that of a profiled: GET / there says what it is.")
        }
        guard answer.isSuccess else { throw Failure(object, status: answer.status) }
        return object
    }

    /// As `send`, with an object as the body.
    func post(_ path: String, _ write: (inout JSONWriter) throws -> Void) async throws -> JSONObject {
        var writer = JSONWriter()
        writer.beginObject()
        try write(&writer)
        writer.endObject()
        return try await send(APIRequest(.post, path, body: writer.bytes))
    }

    /// As `send`, with a query.
    func get(_ path: String, _ query: [(name: String, value: String)] = []) async throws -> JSONObject {
        try await send(APIRequest(.get, path, query: query))
    }
}

/// The store's own API, called without a network.
struct LocalAPI: Connection {
    private let api: API

    init(_ log: EventLog) { api = API(log: log) }

    func answer(_ request: APIRequest) async throws -> APIAnswer { await api.answer(request) }
}
