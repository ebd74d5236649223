internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI

/// Both dialects on one store.
struct API: Sendable {
    /// All endpoints, to look at without a store.
    static let table = EndpointTable(NativeAPI.endpoints + BrazeAPI.endpoints)

    let log: EventLog
    let auditor: Auditor
    let activity: APIActivity
    private let braze: BrazeAPI
    private let router: APIRouter

    init(
        _ writer: LogWriter, _ workspace: Workspace, _ ephemeral: (any EphemeralStore)?,
        _ activity: APIActivity = APIActivity()
    ) {
        let store = RequestStore(writer.log, writer, activity)
        let braze = BrazeAPI(store, workspace)
        log = writer.log
        auditor = store.auditor
        self.activity = activity
        self.braze = braze
        router = APIRouter(
            NativeAPI(
                store, ephemeral: ephemeral, onErasure: braze.removeOutdatedExports,
                // The task for scheduled sends tries again what fails here.
                onTimeSet: { _ = try? await braze.sendDue() }),
            braze)
    }

    func answer(_ request: APIRequest) async -> APIAnswer { await router.answer(request) }
    func sendDue() async throws -> Int { try await braze.sendDue() }
    func nextDue() throws -> Timestamp? { try braze.nextDue() }
    func removeExports() { braze.removeExports() }
}
