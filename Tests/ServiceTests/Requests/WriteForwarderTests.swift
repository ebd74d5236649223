import ProfileLog
import Synchronization
import Testing

@testable import ProfileLogRequests

/// A node hands its writes to the node that writes. The other nodes and the way to them are fakes, so that each failure
/// comes when the test says so.
///
///     this node   asks who writes ── sends ── looks at the notes ── … ── answer, here, or pending
///     node b                         got it ── notes ── notes ── silence
@Suite("Writes that another node should do")
struct WriteForwarderTests {
    private static let b = WritingNode(name: "b", url: "http://b.example:8080")

    /// The other nodes, as this one knows them.
    private final class Nodes: WritingNodes {
        private let state: Mutex<(writer: WritingNode?, isHeard: Bool)>

        init(writer: WritingNode? = WriteForwarderTests.b) { state = Mutex((writer, true)) }

        var writer: WritingNode? { state.withLock { $0.writer } }
        func hears(_ name: String) -> Bool { state.withLock { $0.isHeard && $0.writer?.name == name } }
        func silence() { state.withLock { $0.isHeard = false } }
    }

    /// The way to the other nodes: `body` is what becomes of each request.
    private final class Connections: NodeConnections {
        private let state = Mutex<(sent: [ForwardedWrite], places: [WritingNode], isClosed: Bool)>(([], [], false))
        private let body: @Sendable () async -> NodeAnswer

        init(_ body: @escaping @Sendable () async -> NodeAnswer) { self.body = body }

        var sent: [ForwardedWrite] { state.withLock { $0.sent } }
        var places: [WritingNode] { state.withLock { $0.places } }
        var isClosed: Bool { state.withLock { $0.isClosed } }

        func send(_ write: ForwardedWrite, to node: WritingNode) async -> NodeAnswer {
            state.withLock { state in
                state.sent.append(write)
                state.places.append(node)
            }
            return await body()
        }

        func close() async { state.withLock { $0.isClosed = true } }
    }

    /// One node with its fakes.
    private struct Trial {
        let nodes: Nodes
        let connections: Connections
        let counts = ForwardingCounts()
        let forwarder: WriteForwarder

        /// `pause` runs between two looks at the notes.
        init(
            _ nodes: Nodes = Nodes(), patience: Duration = .zero,
            pause: @escaping @Sendable () async throws -> Void = { await Task.yield() },
            body: @escaping @Sendable () async -> NodeAnswer
        ) {
            self.nodes = nodes
            connections = Connections(body)
            forwarder = WriteForwarder(
                of: "a", nodes, over: connections, counts: counts, patience: patience, pause: pause)
        }

        func answer(hasKey: Bool = false) async throws(APIError) -> APIAnswer? {
            guard case .answered(let answer) = try await forwarded(hasKey: hasKey) else { return nil }
            return answer
        }

        private func forwarded(hasKey: Bool) async throws(APIError) -> WriteForwarder.Outcome {
            try await forwarder.outcome(
                of: ForwardedWrite("/v1/log/event?x=1", headers: [("X", "1")], body: [1, 2]) { hasKey })
        }

        /// Sends one request, and tells how it ended.
        func outcome(hasKey: Bool = false) async -> String {
            do throws(APIError) {
                switch try await forwarded(hasKey: hasKey) {
                case .answered(let answer): return "\(answer.status)"
                case .here(mayBeElsewhere: false): return "here"
                case .here(mayBeElsewhere: true): return "here too"
                }
            } catch {
                return "\(error.status) \(error.code)"
            }
        }

        func count(_ outcome: ForwardingCounts.Outcome) -> UInt64? { counts.counts?[outcome] }
    }

    private static func reply(
        _ status: Int, _ body: String, _ headers: [(name: String, value: String)] = []
    ) -> NodeAnswer {
        .answered(NodeReply(status: status, headers: headers, body: Array(body.utf8)))
    }

    // MARK: - Answers

    @Test("The answer of the node that writes is passed on, with its name and the headers that matter")
    func answered() async throws {
        let trial = Trial {
            Self.reply(
                201, #"{"position":7}"#,
                [
                    ("Content-Type", "application/json"), ("ETag", "\"3\""), ("X-ProfileLog-Node", "b"),
                    ("X-ProfileLog-Position", "7-x"), ("X-RateLimit-Remaining", "1"), ("Connection", "keep-alive"),
                    ("X-Request-Id", "r"),
                ])
        }
        let answer = try #require(try await trial.answer())
        #expect(answer.status == 201 && answer.etag == "\"3\"" && answer.mediaType == "application/json")
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"position":7}"#)
        #expect(answer.headers.map(\.name) == ["X-ProfileLog-Node", "X-ProfileLog-Position"])
        #expect(trial.connections.places == [Self.b])
        let sent = try #require(trial.connections.sent.first)
        #expect(sent.target == "/v1/log/event?x=1" && sent.body == [1, 2] && sent.headers.map(\.name) == ["X"])
        #expect(trial.count(.answered) == 1 && trial.count(.here) == 0 && trial.count(.pending) == 0)
    }

    @Test("An answer that names no node gets the name of the one that was asked")
    func unnamed() async throws {
        let answer = try #require(try await Trial { Self.reply(200, "{}") }.answer())
        #expect(answer.headers.map(\.name) == ["X-ProfileLog-Node"] && answer.headers.map(\.value) == ["b"])
    }

    @Test(
        "A refusal of the node that writes is passed on if it is about the request, or if something may be stored",
        arguments: [
            (400, "invalid"), (401, "invalid_key"), (409, "key_reused"), (412, "version_conflict"),
            (429, "rate_limited"), (500, "internal"), (503, "outcome_pending"), (503, "outcome_unknown"), (503, "busy"),
            (507, "disk_full"), (500, "unavailable"),
        ])
    func refused(status: Int, code: String) async throws {
        let trial = Trial {
            Self.reply(
                status, #"{"error":"e","code":"\#(code)"}"#,
                [("Retry-After", "1"), ("X-RateLimit-Reset", "9"), ("WWW-Authenticate", "Bearer")])
        }
        let answer = try #require(try await trial.answer(hasKey: true))
        #expect(answer.status == status && answer.code == code)
        let limits = status == 429 ? ["X-RateLimit-Reset"] : []
        #expect(answer.headers.map(\.name) == ["Retry-After"] + limits + ["WWW-Authenticate", "X-ProfileLog-Node"])
        #expect(trial.count(.answered) == 1)
    }

    @Test(
        "What the node that writes does not take for a reason of its own, and did not store, is done here, after one try",
        arguments: [(503, "unavailable"), (429, "overloaded"), (503, "overloaded"), (503, "too_many_connections")],
        [true, false])
    func notTaken(refusal: (Int, String), hasKey: Bool) async {
        let trial = Trial { Self.reply(refusal.0, #"{"code":"\#(refusal.1)"}"#) }
        #expect(await trial.outcome(hasKey: hasKey) == "here")
        #expect(trial.connections.sent.count == 1 && trial.count(.here) == 1)
    }

    // MARK: - No answer

    @Test("A node that writes itself sends nothing")
    func own() async {
        let trial = Trial(Nodes(writer: nil)) { .noAnswer }
        #expect(await trial.outcome() == "here")
        #expect(trial.connections.sent.isEmpty)
        // It was none that another node should do.
        #expect(trial.count(.here) == 0)
    }

    @Test("A write that did not reach the other node is done here", arguments: [true, false])
    func notSent(hasKey: Bool) async {
        let trial = Trial { .notSent }
        #expect(await trial.outcome(hasKey: hasKey) == "here")
        #expect(trial.connections.sent.count == 1 && trial.count(.here) == 1)
    }

    @Test("A write that was sent and got no answer is done here if it has an idempotency key")
    func noAnswer() async {
        let trial = Trial { .noAnswer }
        #expect(await trial.outcome(hasKey: true) == "here too")
        #expect(trial.connections.sent.count == 1 && trial.count(.here) == 1 && trial.count(.pending) == 0)
    }

    @Test(
        "A write that another node may have, and that this one did not store, is pending, and not refused",
        arguments: [(503, false), (429, false), (201, true), (412, true), (400, true)])
    func certain(status: Int, isPassedOn: Bool) {
        let answer = APIAnswer(status: status, body: [])
        if isPassedOn {
            #expect((try? WriteForwarder.certain(answer))?.status == status)
        } else {
            #expect(throws: APIError.self) { try WriteForwarder.certain(answer) }
        }
    }

    @Test("A write that was sent without an idempotency key and got no answer is 503: it may be stored")
    func pending() async throws {
        let trial = Trial { .noAnswer }
        let error = await #expect(throws: APIError.self) { try await trial.answer() }
        let answer = try #require(error).answer(in: .native)
        #expect(answer.status == 503 && answer.code == "outcome_pending")
        #expect(answer.headers.contains { $0.name == "Retry-After" })
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.contains("may be stored") && text.contains("Idempotency-Key"))
        #expect(trial.connections.sent.count == 1 && trial.count(.pending) == 1 && trial.count(.here) == 0)
    }

    // MARK: - Silence

    /// A request whose answer never comes; it ends as `end` when it is given up.
    private static func silent(_ end: NodeAnswer) -> @Sendable () async -> NodeAnswer {
        return {
            // A forwarder that waits for it must make the test fail, and not wait for ever.
            try? await Task.sleep(for: .seconds(600))
            return Task.isCancelled ? end : .answered(NodeReply(status: 500, headers: [], body: []))
        }
    }

    @Test("A node that falls silent before it answers is given up, by the same rules as a broken connection")
    func silence() async {
        func outcome(_ end: NodeAnswer, hasKey: Bool) async -> String {
            let nodes = Nodes()
            return await Trial(nodes, pause: { nodes.silence() }, body: Self.silent(end)).outcome(hasKey: hasKey)
        }
        #expect(await outcome(.noAnswer, hasKey: false) == "503 outcome_pending")
        #expect(await outcome(.noAnswer, hasKey: true) == "here too")
        #expect(await outcome(.notSent, hasKey: false) == "here")
        // The answer came while the request was given up.
        #expect(await outcome(Self.reply(201, "{}"), hasKey: false) == "201")
    }

    @Test(
        "An answer is awaited as long as the other node sends notes, and for some time after the request without them",
        arguments: [true, false])
    func patience(isHeard: Bool) async {
        let (looks, looking) = AsyncStream<Void>.makeStream()
        let nodes = Nodes()
        // More than the time in which a node says that it stored nothing.
        #expect(WriteForwarder.usualPatience >= .seconds(2))
        let trial = Trial(
            nodes, patience: isHeard ? .zero : .seconds(600),
            pause: {
                if !isHeard { nodes.silence() }
                looking.yield()
                try await Task.sleep(for: .milliseconds(1))
            },
            body: {
                var seen = 0
                for await _ in looks {
                    seen += 1
                    if seen == 20 { return Self.reply(201, "{}") }
                }
                return .noAnswer
            })
        #expect(await trial.outcome() == "201")
    }

    // MARK: - What is forwarded

    @Test("Every write of the API is forwarded but what is about one node alone, and no read is")
    func endpoints() {
        let all = API.table.endpoints
        let own: Set = [
            "/users/export/segment", "/v1/channels", "/v1/clock", "/v1/replay", "/v1/replay/discard",
            "/v1/replay/swap", "/v1/reset",
        ]
        for endpoint in all {
            let isOwn = own.contains(endpoint.path) || endpoint.path.hasPrefix("/v1/cluster")
            let isWrite = endpoint.method == .post && !endpoint.isRead
            #expect(endpoint.isForwarded == (isWrite && !isOwn), "\(endpoint.method.rawValue) \(endpoint.path)")
        }
        #expect(own.isSubset(of: all.map(\.path)))
        #expect(all.contains { $0.path == "/v1/erase" && $0.isForwarded })
        #expect(all.contains { $0.path == "/users/delete" && $0.isForwarded })
    }

    @Test("A service without a cluster counts nothing, and a node has each outcome from the start")
    func counts() {
        #expect(ForwardingCounts().counts == nil)
        let trial = Trial { .notSent }
        #expect(trial.counts.counts == [.answered: 0, .here: 0, .pending: 0])
    }

    @Test("The end of the service ends the connections to the other nodes")
    func end() async {
        let trial = Trial { .notSent }
        await trial.forwarder.close()
        #expect(trial.connections.isClosed)
    }
}
