import ProfileLog
import ProfileLogNativeAPI
import ProfileLogReplication
import ProfileLogRequests
import TestSupport
import Testing

@Suite("A client reads at one node what it wrote at another")
struct ReadYourWritesTests {
    /// The answer of node `b` to a read that waits for `cursor`.
    private static func read(waitingFor cursor: String, at node: ClusterNode) async -> APIAnswer {
        let router = APIRouter(NativeAPI(RequestStore(node.log, node.writer)))
        return await router.answer(
            APIRequest(
                .get, "/v1/profile",
                query: [("user", "ana"), ("wait_for", cursor), ("timeout", "30")]))
    }

    @Test("A read with the cursor of a write waits at a node that does not have the event yet")
    func waits() async throws {
        let brokers = MemoryBrokers()
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        try await a.append("first")
        #expect(try await b.wait(for: brokers.last))
        b.stream.isStale = true
        let receipt = try await a.append("second")
        let cursor = try a.log.reader.cursor(at: receipt.last).description
        async let answer = Self.read(waitingFor: cursor, at: b)
        try await Task.sleep(for: .milliseconds(50))
        #expect(try b.log.lastPosition() < receipt.last)
        b.stream.isStale = false
        #expect(await answer.status == 200)
    }

    @Test("A read with a cursor of another log is refused at a node when the node has that position")
    func foreign() async throws {
        let brokers = MemoryBrokers()
        let a = try await ClusterNode.start("a", of: brokers)
        let receipt = try await a.append("first")
        let other = TemporaryFolder(prefix: "other")
        let log = try EventLog(path: other.path, create: true)
        _ = try log.append([.happened("first")], to: .externalID("ana"))
        let cursor = try log.reader.cursor(at: receipt.last).description
        let answer = await Self.read(waitingFor: cursor, at: a)
        #expect(answer.status == 409 && answer.code == "other_history")
    }
}
