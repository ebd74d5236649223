internal import ProfileLogSnippets
internal import Synchronization

/// Hands the writes of one node of a cluster to the node that writes, so that two nodes do not compete for each batch.
///
/// `answer(to:)` asks who writes, sends the request there and gives the answer, or says that it is to be done here:
///
/// | the other node | with an idempotency key | without |
/// |---|---|---|
/// | answers | its answer | its answer |
/// | answers that it takes no write now, and stored nothing | done here | done here |
/// | does not get the whole request | done here | done here |
/// | got it, and its answer does not come | done here | 503 `outcome_pending`: it may be stored |
///
/// What was forwarded is never forwarded again. The writer of the last batch is the node that writes, so a write that
/// is done here makes it this node.
package final class WriteForwarder: Sendable {
    /// The name of the header with the node that forwarded a request.
    package static let forwardedHeader = "X-ProfileLog-Forwarded"
    /// The name of the header with the node that answered a request.
    package static let nodeHeader = "X-ProfileLog-Node"

    /// The name of this node.
    package let node: String
    private let nodes: any WritingNodes
    private let connections: any NodeConnections
    private let counts: ForwardingCounts
    /// The time that a node has for its answer from the moment the request goes out, also if its notes stop.
    private let patience: Duration
    /// Waits between two looks at the notes of a node whose answer is awaited.
    private let pause: @Sendable () async throws -> Void

    /// Longer than a node waits for brokers that do not answer before it says that it stored nothing.
    package static let usualPatience = Duration.seconds(2)

    package init(
        of node: String, _ nodes: any WritingNodes, over connections: any NodeConnections, counts: ForwardingCounts,
        patience: Duration = WriteForwarder.usualPatience,
        pause: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .milliseconds(100)) }
    ) {
        self.node = node
        (self.nodes, self.connections, self.counts) = (nodes, connections, counts)
        (self.patience, self.pause) = (patience, pause)
        counts.begin()
    }

    /// The end of an attempt to forward a write.
    package enum Outcome: Sendable {
        /// The node that writes has answered.
        case answered(APIAnswer)
        /// The write is for this node. Where the other one may have it too, it has an idempotency key, so it is stored
        /// once; that it is not stored here then says nothing (`certain`).
        case here(mayBeElsewhere: Bool)
    }

    /// Lets the node that writes do a request. Throws if it may be stored there, and must not be done again.
    package func outcome(of write: @autoclosure () -> ForwardedWrite) async throws(APIError) -> Outcome {
        guard let node = nodes.writer else { return .here(mayBeElsewhere: false) }
        let write = write()
        switch await send(write, to: node) {
        case .answered(let reply) where !reply.storedNothing:
            counts.add(.answered)
            return .answered(reply.answer(of: node))
        case .noAnswer where !write.hasKey():
            counts.add(.pending)
            throw .noAnswerOfNode
        case .noAnswer:
            counts.add(.here)
            return .here(mayBeElsewhere: true)
        case .answered, .notSent:
            counts.add(.here)
            return .here(mayBeElsewhere: false)
        }
    }

    /// Returns this node's answer to a request that another node may have done, or may do yet: that this one stored
    /// nothing does not mean that nothing is stored.
    package static func certain(_ answer: APIAnswer) throws(APIError) -> APIAnswer {
        if answer.status == 503 || answer.status == 429 { throw .noAnswerOfNode }
        return answer
    }

    /// Ends the connections to the other nodes.
    package func close() async { await connections.close() }

    /// Sends the request, and gives it up if the node falls silent, but not before it could say that it stored nothing.
    private func send(_ write: ForwardedWrite, to node: WritingNode) async -> NodeAnswer {
        await withTaskGroup(of: NodeAnswer?.self) { group in
            group.addTask { [connections] in await connections.send(write, to: node) }
            group.addTask { [nodes, patience, pause] in
                let begin = ContinuousClock.now
                while !Task.isCancelled, nodes.hears(node.name) || ContinuousClock.now - begin < patience {
                    do { try await pause() } catch { break }
                }
                return nil
            }
            for await answer in group {
                group.cancelAll()
                // If the silence came first, the connection tells what became of the request.
                if let answer { return answer }
            }
            return .noAnswer
        }
    }
}

/// A node that takes writes.
package struct WritingNode: Hashable, Sendable {
    package let name: String
    /// The beginning of the URLs at which it answers, as in `https://b.example:8080`.
    package let url: String

    package init(name: String, url: String) { (self.name, self.url) = (name, url) }
}

/// The nodes of a cluster, as far as forwarding needs to know them.
package protocol WritingNodes: Sendable {
    /// The node that writes, if that is another one and it is alive; nil if this node should write itself.
    var writer: WritingNode? { get }
    /// Tells whether the last note of the node called `name` is younger than a second.
    func hears(_ name: String) -> Bool
}

/// The way to the other nodes.
package protocol NodeConnections: Sendable {
    /// Sends a request once. Ends soon after its task is cancelled.
    func send(_ write: ForwardedWrite, to node: WritingNode) async -> NodeAnswer
    func close() async
}

/// A write as one node hands it to another.
package struct ForwardedWrite: Sendable {
    /// The path and the query, as the client sent them.
    package let target: String
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// Tells whether it has an idempotency key: then it is stored once however often it is sent.
    package let hasKey: @Sendable () -> Bool

    package init(
        _ target: String, headers: [(name: String, value: String)], body: [UInt8],
        hasKey: @escaping @Sendable () -> Bool
    ) {
        (self.target, self.headers, self.body, self.hasKey) = (target, headers, body, hasKey)
    }
}

/// The end of a request to another node.
package enum NodeAnswer: Sendable {
    case answered(NodeReply)
    /// The node cannot have got the whole request, so it stored nothing.
    case notSent
    /// The node may have got it, and no whole answer came: it may be stored.
    case noAnswer
}

/// An answer of another node, as HTTP has it.
package struct NodeReply: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// Errors of a node that stored nothing and that another node may not have.
    fileprivate static let codesOfNode: Set<String> = ["overloaded", "too_many_connections", "unavailable"]
    /// Headers that are passed on; the others are of the connection, or this service has its own.
    private static let passed: Set<String> = ["location", "retry-after", "www-authenticate"]

    /// Tells whether the node took no write, for a reason of its own.
    fileprivate var storedNothing: Bool {
        (status == 503 || status == 429) && code.map { Self.codesOfNode.contains($0) } ?? false
    }

    /// The error, in one word; nil for a success.
    private var code: String? {
        guard status >= 400, case .object(let members)? = try? JSON.parse(body) else { return nil }
        return members.first { $0.key == Name("code") }?.value.asText
    }

    private func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }

    fileprivate func answer(of node: WritingNode) -> APIAnswer {
        var answer = APIAnswer(status: status, body: body, etag: header("etag"), code: code)
        if let type = header("content-type") { answer.mediaType = type }
        answer.link = header("link")
        answer.headers = headers.filter { isPassed($0.name.lowercased()) }
        let nodeHeader = WriteForwarder.nodeHeader
        if header(nodeHeader.lowercased()) == nil { answer.headers.append((nodeHeader, node.name)) }
        return answer
    }

    /// The rest of a rate limit is that of this node, unless the other one's is used up.
    private func isPassed(_ name: String) -> Bool {
        Self.passed.contains(name) || name.hasPrefix("x-profilelog-")
            || status == 429 && name.hasPrefix("x-ratelimit-")
    }
}

extension APIError {
    /// Changes the code by which another node would do all of the request again: a part of it is stored.
    package mutating func denyNothingStored() {
        if NodeReply.codesOfNode.contains(code) { (status, code) = (503, "outcome_pending") }
    }

    /// Status 503: another node got the request, and may have stored it.
    fileprivate static let noAnswerOfNode: APIError = {
        var apiError = APIError(AppendError.outcomePending)
        apiError.error = "The node that writes got the request, and its answer did not come: it may be stored, or not."
        apiError.remedy =
            "Look whether it is stored before you send it again. A request with an Idempotency-Key can be sent again "
            + "at once, and a node does that by itself."
        apiError.headers = [("Retry-After", "1")]
        return apiError
    }()
}

/// The ends of the writes that another node should do, for metrics.
package final class ForwardingCounts: Sendable {
    package enum Outcome: String, CaseIterable, Sendable {
        /// The other node's answer was passed on.
        case answered
        /// They were done here after all.
        case here
        /// They may be stored, and the client was told so.
        case pending
    }

    private let state = Mutex<[Outcome: UInt64]?>(nil)

    package init() {}

    /// The number of each outcome; nil for a service that forwards nothing.
    package var counts: [Outcome: UInt64]? { state.withLock { $0 } }

    fileprivate func begin() {
        state.withLock { $0 = Dictionary(uniqueKeysWithValues: Outcome.allCases.map { ($0, 0) }) }
    }

    fileprivate func add(_ outcome: Outcome) { state.withLock { $0?[outcome, default: 0] += 1 } }
}
