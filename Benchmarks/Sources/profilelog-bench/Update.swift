import ArgumentParser
import Foundation
import ProfileLog
import Synchronization

struct Update: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tasks that decide by a user's state, in turn with as many that append without conditions.")
    @Option(help: "A folder for the store; it must not exist yet.") var store: String
    @Option var tasks = 64
    @Option var users = 1_000
    @Option(help: "Updates, and then appends, of each turn.") var operations = 20_000
    @Option var turns = 4

    func run() async throws {
        guard tasks > 0, users > 0, operations > 0, turns > 0 else {
            throw ValidationError("Tasks, users, operations and turns must be above 0.")
        }
        let log = try EventLog(path: store, create: true, projections: [ProfileProjection.self, Coins.self])
        for start in stride(from: 0, to: users, by: 1_000) {
            try log.append { append in
                for user in start..<min(start + 1_000, users) {
                    try append.add(Coins.earned(after: 0), to: .externalID("user \(user)"))
                }
            }
        }
        let writer = LogWriter(log)
        let decisions = Counter()
        var latencies = Latencies()
        var updates: [Double] = []
        var appends: [Double] = []
        for seed in 0..<UInt64(turns) {
            let updated = try await turn(seed) { user in
                _ = try await writer.update(user, Coins.self) { coins in
                    decisions.increment()
                    return [Coins.earned(after: coins)]
                }
            }
            updates.append(updated.rate)
            for latency in updated.latencies { latencies.add(latency) }
            let appended = try await turn(seed) { user in
                _ = try await writer.append([Coins.earned(after: 0)], to: user)
            }
            appends.append(appended.rate)
        }
        await writer.close()
        let ratios = zip(updates, appends).map { update, append in update / append }
        let decisionsPerUpdate = Double(decisions.count) / Double(turns * operations)
        report(
            [
                ("operations", "\(operations)"), ("updates_per_s", format(median(updates))),
                ("appends_per_s", format(median(appends))), ("ratio", String(format: "%.3f", median(ratios))),
                ("decisions_per_update", String(format: "%.3f", decisionsPerUpdate)),
            ] + latencies.fields())
    }

    /// Shares the operations of a turn among the tasks. The same seed gives the same users.
    private func turn(
        _ seed: UInt64, _ operation: @escaping @Sendable (UserID) async throws -> Void
    ) async throws -> (rate: Double, latencies: [Duration]) {
        let (tasks, operations, users) = (tasks, operations, UInt64(users))
        let clock = ContinuousClock()
        let begin = clock.now
        let latencies = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var random = SplitMix64(state: seed << 32 | UInt64(task))
                    var latencies: [Duration] = []
                    for _ in stride(from: task, to: operations, by: tasks) {
                        let user = UserID.externalID("user \(random.next() % users)")
                        let started = clock.now
                        try await operation(user)
                        latencies.append(clock.now - started)
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: [Duration]()) { $0 += $1 }
        }
        return (Double(operations) / (clock.now - begin).seconds, latencies)
    }
}

/// The coins that a user earned: one with each event.
private enum Coins: UserProjection {
    static let name = "bench-coins"
    static let revision: UInt32 = 1
    static let initial = 0

    static func apply(_ event: borrowing EventView, to coins: inout Int) { if event.name == "earned" { coins += 1 } }

    static func merge(_ source: Int, into target: inout Int, by event: borrowing EventView) { target += source }

    static func earned(after coins: Int) -> ProfileEvent {
        .customEventLogged(CustomEvent(name: "earned", properties: [.init("coins", .int(Int64(coins)))]))
    }
}

/// Counts the calls of many tasks.
private final class Counter: Sendable {
    private let calls = Mutex(0)
    var count: Int { calls.withLock { $0 } }
    func increment() { calls.withLock { $0 += 1 } }
}
