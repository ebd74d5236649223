internal import Foundation
internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI

/// The place where scenarios are played.
enum ScenarioPlace: Sendable {
    /// A fresh store in a temporary folder, for each scenario.
    case temporary
    /// A store that is kept: all scenarios are played on it.
    case store(path: String)
    /// A service; with `hasClock` it is a service for tests, which is emptied before each scenario.
    case service(RemoteAPI, url: String, hasClock: Bool)

    /// The place that the options name. A service says whether it is for tests. The environment names no place: a run
    /// that forgets `--url` must not empty or change a service.
    init(store: String?, url: String?, tls: ClientTLS) async throws {
        if let url {
            let service = try RemoteAPI(
                url: url, key: Terminal.environment("PROFILELOG_KEY"), tls: tls)
            let question = APIRequest(.post, "/v1/clock", body: Array(#"{"advance":0}"#.utf8))
            let (answer, refusal) = try await service.exchange(question)
            if let refusal, answer["code"].text != "not_ephemeral" { throw refusal }
            self = .service(service, url: url, hasClock: refusal == nil)
        } else if let store {
            self = .store(path: store)
        } else {
            self = .temporary
        }
    }

    /// Refuses a scenario that cannot be played here.
    func check(_ scenario: Scenario) throws(CommandError) {
        guard case .service(_, let url, let hasClock) = self else { return }
        if scenario.workspace != nil {
            Output.message(
                "\(scenario.file.oneLine): the workspace of the service at \(url) counts, not that of the file.")
        }
        if hasClock { return }
        let wait = scenario.steps.first { if case .wait = $0.kind.action { true } else { false } }
        guard wait != nil || scenario.start != nil else { return }
        let what = wait.map { ":\($0.line): `wait`" } ?? ": `start`"
        throw CommandError(
            "\(scenario.file.oneLine)\(what) needs a clock that can be set, and the service at \(url) "
                + "keeps its store.",
            remedy: "Start a service for tests with `profiled --ephemeral`, or play it without --url.", status: .usage)
    }

    /// Runs `body` in a world for `scenario`, which is taken down afterwards.
    func play(_ scenario: Scenario, _ body: (ScenarioWorld) async throws -> Void) async throws {
        let start = scenario.start ?? Scenario.standardStart
        switch self {
        case .temporary:
            let folder = try Self.temporaryFolder()
            defer { folder.remove() }
            try await body(
                ScenarioWorld(scenario, start: start) {
                    try EventLog(path: "\(folder.path)/store", create: true, options: $0)
                })
        case .store(let path):
            try await body(ScenarioWorld(scenario, start: start) { try openStore(path, create: true, options: $0) })
        case .service(let service, _, let hasClock):
            if hasClock {
                // Fixtures are recorded now, and no clock may be set to before the last event.
                _ = try await service.post("/v1/reset") { $0.member("fixtures", false) }
                _ = try await service.post("/v1/clock") { $0.member("set", start.rfc3339()) }
            }
            try await body(ScenarioWorld(service: service))
        }
    }
}

extension ScenarioPlace {
    private static func temporaryFolder() throws -> ScratchFolder {
        do throws(ScratchFolder.FolderError) {
            return try ScratchFolder.inMemory(prefix: "profilecli-scenario-")
        } catch {
            throw CommandError(
                "No temporary folder can be made in \(error.parent): \(String(cString: strerror(error.code))).",
                remedy: "Free some space, or name another folder in the environment variable TMPDIR.")
        }
    }
}

/// The connection for the requests of a scenario, and the clock there.
struct ScenarioWorld: Sendable {
    let connection: any Connection
    /// The clock of a store in this process, and what sends there; those of a service are moved by requests.
    private let local: (clock: StoreClock, braze: BrazeAPI)?

    /// A service.
    fileprivate init(service: RemoteAPI) { (connection, local) = (service, nil) }

    /// The store that `open` opens. The clock begins at `start`, or at the time of the last event if that is later: a
    /// log does not go back in time.
    fileprivate init(_ scenario: Scenario, start: Timestamp, _ open: (LogOptions) throws -> EventLog) throws {
        let clock = StoreClock()
        clock.set(to: start)
        var options = LogOptions()
        options.now = { clock.now() }
        let log = try open(options)
        if let last = try log.event(at: log.lastPosition())?.recordedAt { clock.set(to: max(start, last)) }
        try scenario.workspace?.declare(in: log)
        let store = RequestStore(log)
        let braze = BrazeAPI(store, scenario.workspace ?? Workspace())
        connection = LocalAPI(APIRouter(NativeAPI(store), braze))
        local = (clock, braze)
    }

    /// Lets time pass; requests that are due by then are sent.
    func wait(seconds: Int64) async throws {
        guard let (clock, braze) = local else {
            _ = try await connection.post("/v1/clock") { $0.member("advance", seconds) }
            return
        }
        guard clock.advance(byMicroseconds: seconds * 1_000_000) else {
            throw CommandError("`advance` leads beyond the year 9999.", remedy: "Correct it and try again.")
        }
        try await braze.sendDue()
    }
}
