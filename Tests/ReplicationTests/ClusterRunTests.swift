import TestSupport
import Testing

@Suite("Nodes that append at once agree, whatever fails", .serialized)
struct ClusterRunTests {
    @Test(
        "What was acknowledged is there once and at its position on all nodes, under faults of brokers and nodes",
        arguments: Thoroughness.seeds(short: 2, full: 40), [2, 3])
    func faults(seed: UInt64, nodes: Int) async throws {
        let run = try await ClusterRun(seed: seed, nodes: nodes)
        let problems = try await run.problems(appendsPerClient: Thoroughness.count(short: 25, full: 80))
        #expect(problems == [], "seed \(seed)")
        // Else it tests too little.
        #expect(run.storedCount > 60)
    }

    @Test(
        "Nodes without a preferred one take all appends where nothing fails",
        arguments: Thoroughness.seeds(short: 1, full: 10))
    func calm(seed: UInt64) async throws {
        let run = try await ClusterRun(seed: seed, nodes: 3, hasFaults: false)
        let count = Thoroughness.count(short: 40, full: 400)
        #expect(try await run.problems(appendsPerClient: count, restarts: false) == [])
        #expect(run.storedCount == 3 * 3 * count)
    }

    @Test(
        "A build that publishes without the condition is caught by the same comparison",
        arguments: Thoroughness.seeds(short: 2, full: 20))
    func noCondition(seed: UInt64) async throws {
        let run = try await ClusterRun(seed: seed, nodes: 2, hasFaults: false)
        run.brokers.broken = .noCondition
        #expect(try await run.problems(appendsPerClient: 60, restarts: false) != [], "seed \(seed)")
    }

    @Test(
        "A build with two batches in flight is caught by the same comparison",
        arguments: Thoroughness.seeds(short: 2, full: 20))
    func twoInFlight(seed: UInt64) async throws {
        let run = try await ClusterRun(seed: seed, nodes: 2, hasFaults: false)
        run.brokers.broken = .twoInFlight
        #expect(try await run.problems(appendsPerClient: 60, restarts: false) != [], "seed \(seed)")
    }
}
