import ProfileLog

@testable import ProfileLogBrazeAPI
@testable import ProfileLogNativeAPI
@testable import ProfileLogRequests

/// The two dialects on one store, as `profiled` has them.
struct API: Sendable {
    static let table = EndpointTable([NativeAPI.self, BrazeAPI.self])

    let store: RequestStore
    let braze: BrazeAPI
    private let router: APIRouter

    init(log: EventLog, workspace: Workspace = Workspace()) { self.init(RequestStore(log), workspace) }

    init(writer: LogWriter, workspace: Workspace = Workspace()) {
        self.init(RequestStore(writer.log, writer), workspace)
    }

    private init(_ store: RequestStore, _ workspace: Workspace) {
        self.store = store
        let braze = BrazeAPI(store, workspace)
        self.braze = braze
        router = APIRouter(NativeAPI(store, onErasure: braze.removeOutdatedExports), braze)
    }

    var log: EventLog { store.log }
    var activity: APIActivity { store.activity }
    var workspace: Workspace { braze.workspace }

    func answer(_ request: APIRequest) async -> APIAnswer { await router.answer(request) }
}
