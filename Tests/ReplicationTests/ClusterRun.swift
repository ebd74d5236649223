import ProfileLog
import ProfileLogReplication
import Synchronization
import TestSupport

/// Clients that append at all nodes of a cluster at once, while brokers and nodes fail.
final class ClusterRun: Sendable {
    private static let clientsPerNode = 3

    let brokers: MemoryBrokers
    private let seed: UInt64
    private let nodes = Mutex<[ClusterNode]>([])
    private let told = Mutex<[ToldAppend]>([])
    private let isOver = Atomic(false)

    /// Starts nodes `n0`, `n1`, … on brokers with faults of all kinds, or none.
    init(seed: UInt64, nodes count: Int, hasFaults: Bool = true) async throws {
        self.seed = seed
        brokers = MemoryBrokers(seed: seed)
        if hasFaults { Self.addFaults(to: brokers) }
        for index in 0..<count {
            let node = try await ClusterNode.start("n\(index)", of: brokers, Self.setup(seed: seed))
            nodes.withLock { $0.append(node) }
        }
    }

    private static func addFaults(to brokers: MemoryBrokers) {
        brokers.chances = [
            .lost: 30, .answerLost: 60, .refusedThoughStored: 30, .limbo: 60, .delayed: 60, .secondAnswer: 60,
            .full: 10, .fullThoughStored: 10,
        ]
        brokers.mostLag = 2
    }

    private static func setup(seed: UInt64) -> ClusterNode.Setup {
        var setup = ClusterNode.Setup()
        setup.options.indexLag = 40 + Int(seed % 50)
        setup.options.usersPerIndexSlice = 3
        setup.options.snapshotInterval = 8
        setup.options.itemsPerFlush = 3
        setup.deadline = .milliseconds(150)
        return setup
    }

    /// Runs all clients to their end, heals the brokers, settles what clients do not know, and returns the problems.
    func problems(appendsPerClient: Int, restarts: Bool = true) async throws -> [String] {
        async let disturbed: Void = disturb(restarts: restarts)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<(nodes.withLock { $0.count } * Self.clientsPerNode) {
                group.addTask { try await self.run(client, appends: appendsPerClient) }
            }
            try await group.waitForAll()
        }
        isOver.store(true, ordering: .relaxed)
        try await disturbed
        brokers.heal()
        try await settle()
        return try await ClusterCheck(
            brokers: brokers, nodes: nodes.withLock { $0 }, told: told.withLock { $0 }
        ).problems()
    }

    /// The number of appends that have each outcome, for a test that must not test too little.
    var storedCount: Int {
        told.withLock { $0.count { if case .stored = $0.outcome { true } else { false } } }
    }

    private var hasStopped: Bool { nodes.withLock { $0 }.contains { $0.hasStopped } }

    // MARK: - Clients

    private func run(_ client: Int, appends: Int) async throws {
        var random = SeededGenerator(seed: seed &* 1_000 &+ UInt64(client))
        for number in 0..<appends {
            // In a broken build the rest would wait for nothing.
            if hasStopped { return }
            let name = "event-\(client)-\(number)"
            let key = random.next(below: 2) == 0 ? name : nil
            let user = UserID.externalID("user-\(random.next(below: 5))")
            let append = try await send(name, key, to: user, &random)
            told.withLock { $0.append(append) }
            if random.next(below: 8) == 0 { try await doMore(&random) }
        }
    }

    private func node(_ random: inout SeededGenerator) -> ClusterNode {
        nodes.withLock { $0[random.next(below: $0.count)] }
    }

    /// Appends until it is settled. Without a key an append that may be stored is not sent again.
    private func send(
        _ name: String, _ key: String?, to user: UserID, _ random: inout SeededGenerator
    ) async throws -> ToldAppend {
        var append = ToldAppend(name: name, user: user, key: key, outcome: .refused)
        for _ in 0..<200 where !hasStopped {
            do {
                let node = node(&random)
                let receipt = try await node.writer.append([.happened(name)], to: user, idempotencyKey: key)
                append.outcome = .stored(receipt.last)
                return append
            } catch AppendError.outcomePending {
                append.outcome = .unknown
                if key == nil { return append }
            } catch let error as AppendError where error.isUnavailable || error == .closed {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        return append
    }

    /// Does what is not looked up by name: all of it must be alike on all nodes.
    private func doMore(_ random: inout SeededGenerator) async throws {
        let (kind, number) = (random.next(below: 6), random.next(below: 4))
        let node = node(&random)
        let (person, device) = (UserID.externalID("person-\(number)"), "device-\(number % 2)")
        do {
            try await node.writer.perform { log in
                switch kind {
                case 0: _ = try log.erase([person], actor: "a test", reason: "asked to")
                case 1: _ = try log.launch(device: device)
                case 2: _ = try log.append([.saved("kept-\(number)")], to: person, context: .saving(on: device))
                case 3: _ = try log.change(.merge(source: .externalID("old-\(number)"), target: person))
                case 4: _ = try log.append([.happened("rare-\(number)")], to: .externalID("old-\(number)"))
                default: _ = try log.changeUser(on: device, to: person)
                }
            }
        } catch is AppendError {}
    }

    /// Asks again under the key of each append whose outcome its client does not know.
    private func settle() async throws {
        var random = SeededGenerator(seed: seed)
        for index in told.withLock({ Array($0.indices) }) {
            let append = told.withLock { $0[index] }
            guard append.outcome == .unknown, let key = append.key else { continue }
            let again = try await send(append.name, key, to: append.user, &random)
            told.withLock { $0[index].outcome = again.outcome }
            // Under its key each append can be settled now.
            if !hasStopped, again.outcome == .unknown || again.outcome == .refused {
                throw NotSettled(name: append.name)
            }
        }
    }

    /// An append that stays unknown although all brokers and nodes are well.
    struct NotSettled: Error { let name: String }

    // MARK: - Faults beyond single publishes

    private func disturb(restarts: Bool) async throws {
        var random = SeededGenerator(seed: seed ^ 0xFF)
        var restartsLeft = restarts ? 1 : 0
        while !isOver.load(ordering: .relaxed) {
            try await Task.sleep(for: .milliseconds(15))
            if brokers.chances.isEmpty { continue }
            let index = nodes.withLock { random.next(below: $0.count) }
            let node = nodes.withLock { $0[index] }
            switch random.next(below: 12) {
            case 0, 1:
                node.stream.isCut = true
                try await Task.sleep(for: .milliseconds(30))
                node.stream.isCut = false
            case 2, 3: brokers.dropProposals()
            case 4:
                // The broker may forget what all nodes have for some time.
                let applied = nodes.withLock { $0.map(\.sequence).min() } ?? 0
                if applied > 50 { brokers.purge(before: applied - 50) }
            case 5 where restartsLeft > 0:
                restartsLeft -= 1
                try await node.kill()
                let next = try await ClusterNode.start(
                    node.name, of: brokers, in: node.folder, Self.setup(seed: seed &+ 7))
                nodes.withLock { $0[index] = next }
            default: break
            }
        }
    }
}
