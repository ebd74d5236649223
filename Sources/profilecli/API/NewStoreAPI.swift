internal import ProfileLog
internal import ProfileLogAPI
internal import Synchronization

/// A store that is not there yet. The first request that is not refused makes it.
///
/// Until then each request is tried on an empty store in a temporary folder: one that was mistyped leaves nothing behind.
final class NewStoreAPI: Connection {
    private let make: @Sendable () throws -> EventLog
    private let made = Mutex<LocalAPI?>(nil)

    /// The store that `option` names, in a vacant folder.
    init(_ option: StoreOption) { make = { try option.open(create: true) } }

    func answer(_ request: APIRequest) async throws -> APIAnswer {
        if let store = made.withLock({ $0 }) { return try await store.answer(request) }
        if let refusal = try await Self.refusal(of: request) { return refusal }
        let store = LocalAPI(try make())
        made.withLock { $0 = store }
        return try await store.answer(request)
    }

    /// What an empty store has against `request`; nil if it has nothing, or if none can be made to ask.
    private static func refusal(of request: APIRequest) async throws -> APIAnswer? {
        guard let folder = try? ScratchFolder(prefix: "profilecli-"),
            let log = try? EventLog(path: "\(folder.path)/store", create: true)
        else { return nil }
        defer { folder.remove() }
        let answer = try await LocalAPI(log).answer(request)
        return (400..<500).contains(answer.status) ? answer : nil
    }
}
