import ProfileLog
import ProfileLogNativeAPI
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogRequests

/// `/v1/cluster`, with a cluster that only says what the test gives it.
@Suite("The cluster over the API")
struct ClusterEndpointTests {
    private final class Fake: ClusterView {
        private struct State {
            var report: ClusterReport
            var refusal: APIError?
            var rebuilds = 0
            var ages: [Duration?] = []
        }

        private let state: Mutex<State>

        init(_ report: ClusterReport, refusing refusal: APIError? = nil) {
            state = Mutex(State(report: report, refusal: refusal))
        }

        var report: ClusterReport { state.withLock { $0.report } }
        var rebuilds: Int { state.withLock { $0.rebuilds } }

        func rebuild() throws {
            let refusal = state.withLock { state in
                if state.refusal == nil { state.rebuilds += 1 }
                return state.refusal
            }
            if let refusal { throw refusal }
        }

        /// The ages that were set.
        var ages: [Duration?] { state.withLock { $0.ages } }

        func keep(for age: Duration?) throws {
            let refusal = state.withLock { state in
                if state.refusal == nil {
                    state.ages.append(age)
                    state.report.stream?.maxAge = age
                }
                return state.refusal
            }
            if let refusal { throw refusal }
        }
    }

    /// Node b of a cluster of two, where a has written last.
    private static var report: ClusterReport {
        var report = ClusterReport(
            cluster: "shop",
            own: .init(
                name: "b", instance: 171, url: "http://b:8080", sequence: 7, position: 40, broker: "n1:4222",
                version: "1"))
        report.others = [
            .init(
                name: "a", url: "http://a:8080", sequence: 8, position: 41, refusal: "No broker answers.",
                version: "1", age: .milliseconds(1_250))
        ]
        report.preferred = "a"
        report.lag = .milliseconds(14)
        report.missing = 1
        report.stream = .init(
            created: "2026-11-27T20:00:00Z", first: 1, last: 8, leader: "n2",
            followers: [(broker: "n3", isCurrent: false), (broker: "n1", isCurrent: true)])
        report.counts.decisionsAgain = 3
        return report
    }

    /// Asks an API of a fresh store whose cluster is `cluster`.
    private func answer(_ request: APIRequest, _ cluster: (any ClusterView)?) async throws -> APIAnswer {
        let folder = TemporaryFolder(prefix: "api")
        defer { withExtendedLifetime(folder) {} }
        let router = APIRouter(NativeAPI(RequestStore(try folder.open()), cluster: cluster))
        return await router.answer(request)
    }

    private func json(_ answer: APIAnswer) -> AttributeValue { (try? JSON.parse(answer.body)) ?? .null }

    private func rebuilding(_ body: String) -> APIRequest {
        APIRequest(.post, "/v1/cluster/rebuild", body: Array(body.utf8))
    }

    @Test("The status has this node, all nodes by name, the stream and the counts")
    func status() async throws {
        let answer = try await answer(APIRequest(.get, "/v1/cluster"), Fake(Self.report))
        let json = json(answer)
        #expect(answer.status == 200, "\(json)")
        #expect(json.at("cluster") == "shop" && json.at("node.name") == "b" && json.at("node.instance") == "ab")
        #expect(json.at("nodes.0.name") == "a" && json.at("nodes.1.name") == "b" && json.at("nodes").count == 2)
        #expect(json.at("nodes.0.is_writer") == true && json.at("nodes.1.is_writer") == false)
        #expect(json.at("nodes.0.writable") == false && json.at("nodes.0.refusal") == "No broker answers.")
        #expect(json.at("nodes.0.age_s") == .double(1.25) && json.at("nodes.0.broker") == .null)
        #expect(json.at("writer") == "a" && json.at("writes_here") == false && json.at("writable") == true)
        #expect(json.at("lag_s") == .double(0.014) && json.at("missing") == 1)
        #expect(json.at("stream.last") == 8 && json.at("stream.max_age_s") == 0)
        #expect(json.at("stream.followers.0.name") == "n1")
        #expect(json.at("stream.followers.1.current") == false)
        #expect(json.at("last_failover") == .null && json.at("counts.decisions_again") == 3)
    }

    @Test("A node that knows nothing yet and may not write says so in the declared form")
    func unknown() async throws {
        var report = ClusterReport(
            cluster: "shop", own: .init(name: "b", url: "u", sequence: 0, position: 0, version: "1"))
        report.refusal = .init("No broker answers.", remedy: "Start them.")
        report.warnings = [.init("A monitor does not answer.", remedy: "Correct it.")]
        report.failOver = .init(node: "a", ended: Timestamp(rawValue: 0), length: .milliseconds(4_700))
        let json = json(try await answer(APIRequest(.get, "/v1/cluster"), Fake(report)))
        #expect(json.at("lag_s") == .null && json.at("stream") == .null && json.at("writer") == .null)
        #expect(json.at("writable") == false && json.at("refusal.remedy") == "Start them.")
        #expect(json.at("warnings.0.error") == "A monitor does not answer." && json.at("warnings").count == 1)
        #expect(json.at("last_failover.length_s") == .double(4.7), "\(json)")
        #expect(json.at("last_failover.node") == "a")
    }

    @Test("A service that has its store alone answers 404, after it has refused what it does not know")
    func alone() async throws {
        for request in [APIRequest(.get, "/v1/cluster"), rebuilding("{}"), rebuilding("")] {
            let answer = try await answer(request, nil)
            #expect(answer.status == 404 && answer.code == "no_cluster", "\(json(answer))")
        }
        #expect(try await answer(APIRequest(.get, "/v1/cluster", query: [("x", "1")]), nil).status == 400)
        #expect(json(try await answer(rebuilding(#"{"x":1}"#), nil)).at("place") == "x")
    }

    @Test("A rebuild is done once, and not if the node has gone on since the caller looked")
    func rebuild() async throws {
        let fake = Fake(Self.report)
        let late = try await answer(rebuilding(#"{"sequence":6}"#), fake)
        #expect(late.status == 409 && late.code == "other_sequence" && json(late).at("actual") == 7)
        #expect(fake.rebuilds == 0)
        let done = try await answer(rebuilding(#"{"sequence":7}"#), fake)
        #expect(done.status == 200 && json(done).at("rebuilt") == true && json(done).at("node.name") == "b")
        #expect(fake.rebuilds == 1)
        #expect(try await answer(rebuilding("{}"), fake).status == 200)
        #expect(fake.rebuilds == 2)
    }

    @Test("A rebuild that the node refuses has its sentence and the next step")
    func refused() async throws {
        let refusal = APIError(status: 409, code: "not_rebuilt", error: "Node a has more.", remedy: "Ask a.")
        let answer = try await answer(rebuilding("{}"), Fake(Self.report, refusing: refusal))
        #expect(answer.status == 409 && answer.code == "not_rebuilt")
        #expect(json(answer).at("error") == "Node a has more." && json(answer).at("remedy") == "Ask a.")
    }

    private func setting(_ body: String) -> APIRequest {
        APIRequest(.post, "/v1/cluster/stream", body: Array(body.utf8))
    }

    @Test("The age of batches is set in seconds, 0 for ever, and the answer has it")
    func age() async throws {
        let fake = Fake(Self.report)
        let week = try await answer(setting(#"{"max_age_s":604800}"#), fake)
        #expect(week.status == 200 && json(week).at("stream.max_age_s") == 604_800, "\(json(week))")
        let ever = try await answer(setting(#"{"max_age_s":0}"#), fake)
        #expect(ever.status == 200 && json(ever).at("stream.max_age_s") == 0)
        #expect(fake.ages == [.seconds(604_800), nil])
    }

    @Test(
        "An age that no stream may have is refused by name, and nothing is asked of the brokers",
        arguments: [
            "{}", #"{"max_age_s":59}"#, #"{"max_age_s":-1}"#, #"{"max_age_s":315360001}"#,
            #"{"max_age_s":null}"#, #"{"max_age_s":"7d"}"#, #"{"max_age_s":60.5}"#,
        ])
    func wrongAge(body: String) async throws {
        let fake = Fake(Self.report)
        let answer = try await answer(setting(body), fake)
        #expect(answer.status == 400 && json(answer).at("place") == "max_age_s", "\(json(answer))")
        #expect(fake.ages.isEmpty)
    }

    @Test("An age that the brokers do not take has the node's sentence, and a service alone has no stream")
    func ageRefused() async throws {
        let refusal = APIError(status: 409, code: "not_changed", error: "It is another one.", remedy: "Look.")
        let refused = try await answer(setting(#"{"max_age_s":60}"#), Fake(Self.report, refusing: refusal))
        #expect(refused.status == 409 && refused.code == "not_changed")
        let alone = try await answer(setting(#"{"max_age_s":60}"#), nil)
        #expect(alone.status == 404 && alone.code == "no_cluster")
    }

    // MARK: - Lag

    @Test(
        "The lag is written in seconds with three decimals, or as unknown",
        arguments: [
            (nil, "unknown"), (.zero, "0.000"), (.microseconds(900), "0.000"), (.milliseconds(14), "0.014"),
            (.milliseconds(61_230), "61.230"), (.seconds(-1), "0.000"),
        ] as [(Duration?, String)])
    func lag(lag: Duration?, text: String) { #expect(ClusterReport.lagText(lag) == text) }

    @Test("A read is refused beyond the greatest lag, and where the lag is not known; without a limit never")
    func mostLag() throws {
        #expect(ClusterReport.refusal(ofReadAt: nil, beyond: nil) == nil)
        #expect(ClusterReport.refusal(ofReadAt: .seconds(900), beyond: nil) == nil)
        #expect(ClusterReport.refusal(ofReadAt: .seconds(5), beyond: .seconds(5)) == nil)
        for lag in [.seconds(6), nil] as [Duration?] {
            let refusal = try #require(ClusterReport.refusal(ofReadAt: lag, beyond: .seconds(5)))
            #expect(refusal.status == 503 && refusal.code == "lagging")
            #expect(refusal.answer.headers.contains { $0.name == "Retry-After" })
        }
    }

    @Test("A node counts as alive until no note came for three seconds")
    func alive() {
        var report = Self.report
        #expect(report.aliveNodes == 2)
        report.others[0].age = .seconds(3)
        #expect(report.aliveNodes == 1)
    }

    @Test("What tells of a node is answered however far it lags, and what reads its store is not")
    func ofNode() throws {
        for (method, path, isOfNode) in [
            (APIRequest.Method.get, "/v1/cluster", true), (.post, "/v1/cluster/rebuild", true),
            (.post, "/v1/cluster/stream", true), (.get, "/v1/key", true),
            (.get, "/v1/profile", false), (.get, "/v1/status", false), (.post, "/users/export/ids", false),
        ] {
            let endpoint = try #require(API.table.endpoint(method, path), "\(path)")
            #expect(endpoint.isOfNode == isOfNode, "\(path)")
        }
        #expect(API.table.endpoint(.post, "/v1/cluster/rebuild")?.permission == "v1.cluster")
        #expect(API.table.endpoint(.post, "/v1/cluster/stream")?.permission == "v1.cluster")
        #expect(API.table.endpoint(.get, "/v1/cluster")?.permission == "v1.read")
    }

    // MARK: - Writes

    @Test("A write that the cluster does not take, or does not settle, is 503 with Retry-After in both dialects")
    func writes() throws {
        let unavailable = AppendError.unavailable(reason: "no broker answers", remedy: "Start them.")
        for (error, code) in [(unavailable, "unavailable"), (AppendError.outcomePending, "outcome_pending")] {
            for format in [APIFormat.native, .braze] {
                let answer = APIError(error).answer(in: format)
                #expect(answer.status == 503 && answer.code == code)
                #expect(answer.headers.contains { $0.name == "Retry-After" && $0.value == "1" })
                let sentence = json(answer).at(format == .native ? "error" : "message").text
                #expect(sentence.contains("nothing was stored") == (code == "unavailable"), "\(sentence)")
                #expect(!json(answer).at("remedy").text.isEmpty)
            }
        }
    }
}
