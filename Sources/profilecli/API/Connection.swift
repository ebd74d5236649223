internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI
internal import Synchronization

/// A connection that answers requests of the API: a store in this process, or a service.
protocol Connection: Sendable {
    func answer(_ request: APIRequest) async throws -> APIAnswer
}

extension Connection {
    /// The object that answers `request`, and the failure if that is a refusal. What the answer of a GET says of an
    /// empty list is printed, unless `notes` is false: where earlier pages had something.
    func exchange(
        _ request: APIRequest, notes: Bool = true
    ) async throws -> (object: JSONObject, refusal: CommandError?) {
        try read(try await answer(request), of: request, notes: notes)
    }

    private func read(
        _ answer: APIAnswer, of request: APIRequest, notes: Bool
    ) throws -> (object: JSONObject, refusal: CommandError?) {
        guard let object = try? JSONObject(answer.body) else {
            throw CommandError(
                "The answer (status \(answer.status)) is not a JSON object.",
                remedy: "Check that the address is that of a profiled: GET / there says what it is.")
        }
        // The sentences of writes have their notes.
        if notes, answer.isSuccess, request.method == .get { object["note"].text.map(Output.note) }
        return (object, answer.isSuccess ? nil : CommandError(object, status: answer.status))
    }

    func send(_ request: APIRequest, notes: Bool = true) async throws -> JSONObject {
        let (object, refusal) = try await exchange(request, notes: notes)
        if let refusal { throw refusal }
        return object
    }

    func post(_ path: String, _ write: (inout JSONWriter) throws -> Void) async throws -> JSONObject {
        try await send(APIRequest(.post, path, body: Array(JSONWriter.object(write).utf8)))
    }

    /// As `post`, with the name of the node that answered; nil for what is no node of a cluster.
    func postToNode(
        _ path: String, _ write: (inout JSONWriter) throws -> Void
    ) async throws -> (object: JSONObject, node: String?) {
        let request = APIRequest(.post, path, body: Array(try JSONWriter.object(write).utf8))
        let answer = try await answer(request)
        let (object, refusal) = try read(answer, of: request, notes: true)
        if let refusal { throw refusal }
        return (object, answer.headers.first { $0.name == WriteForwarder.nodeHeader }?.value)
    }

    func get(_ path: String, _ query: Parameters = [], notes: Bool = true) async throws -> JSONObject {
        try await send(APIRequest(.get, path, query: query), notes: notes)
    }
}

/// The parameters of a query.
typealias Parameters = [(name: String, value: String)]

/// The parameters whose values are not nil.
func parameters(_ parameters: (name: String, value: (any CustomStringConvertible)?)...) -> Parameters {
    parameters.compactMap { name, value in value.map { (name, $0.description) } }
}

/// The store's own API, called without a network.
struct LocalAPI: Connection {
    private let api: APIRouter

    init(_ log: EventLog, traits: [ComputedTrait] = [], segments: [Segment] = []) {
        let store = RequestStore(log)
        (store.traits, store.segments) = (traits, segments)
        self.init(APIRouter(NativeAPI(store)))
    }

    init(_ api: APIRouter) { self.api = api }

    func answer(_ request: APIRequest) async throws -> APIAnswer { await api.answer(request) }
}

/// A store that does not exist yet: the first request that stores something makes it.
///
/// Until then requests go to an empty store in a temporary folder, so a mistyped one, or a dry run, makes no store.
final class NewStoreAPI: Connection {
    private let path: String
    private let made = Mutex<LocalAPI?>(nil)

    init(_ path: String) { self.path = path }

    func answer(_ request: APIRequest) async throws -> APIAnswer {
        if let store = made.withLock({ $0 }) { return try await store.answer(request) }
        if let answer = try await Self.answerStoringNothing(to: request) { return answer }
        let store = LocalAPI(try openStore(path, create: true))
        made.withLock { $0 = store }
        return try await store.answer(request)
    }

    /// Returns the answer of an empty store to `request`; nil if it stores something, or if no temporary store can be
    /// made.
    private static func answerStoringNothing(to request: APIRequest) async throws -> APIAnswer? {
        guard let folder = try? ScratchFolder(prefix: "profilecli-"),
            let log = try? EventLog(path: "\(folder.path)/store", create: true)
        else { return nil }
        defer { folder.remove() }
        let answer = try await LocalAPI(log).answer(request)
        let storesSomething = (try? log.lastPosition()).map { $0 > .start } ?? true
        let isDone = answer.isSuccess && storesSomething || answer.status >= 500
        return isDone ? nil : answer
    }
}
