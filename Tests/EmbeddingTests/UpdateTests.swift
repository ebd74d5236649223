import ProfileLog
import Synchronization
import TestSupport
import Testing

@Suite("Deciding by a user's state")
struct UpdateTests {
    let folder = TemporaryFolder()

    private func open() throws -> EventLog { try folder.open(projections: [Coins.self]) }

    private func coins(of user: UserID, _ log: EventLog) throws -> Int {
        try log.state(of: Coins.self, for: user)
    }

    private static let spent: @Sendable (Int) -> [ProfileEvent] = { $0 > 0 ? [.happened("spent")] : [] }

    @Test("What was appended, voided, merged or erased since the last decision counts in the next one")
    func between() throws {
        let (log, other) = (try open(), try open())
        func seen() throws -> Int {
            var seen = 0
            try log.update(.ana, Coins.self) { coins in
                seen = coins
                return [.happened("asked")]
            }
            return seen
        }
        #expect(try seen() == 0)
        let earned = try log.append([.happened("earned"), .happened("earned")], to: .ana)
        #expect(try seen() == 2)
        try other.append([.happened("earned")], to: .ana)
        #expect(try seen() == 3)
        try log.void(earned.last, actor: "ops", reason: "a test")
        #expect(try seen() == 2)
        try other.unvoid(earned.last, actor: "ops", reason: "a test")
        #expect(try seen() == 3)
        try log.append([.saved("earned")], to: .ana, context: .push(on: "phone"))
        #expect(try seen() == 3)
        try log.launch(device: "phone")
        #expect(try seen() == 4)
        try other.append([.happened("earned")], to: .bo)
        try other.change(.merge(source: .bo, target: .ana))
        #expect(try seen() == 5)
        _ = try log.erase([.ana], actor: "ops", reason: "asked to")
        #expect(try seen() == 0)
        for expected in 0..<200 {
            try log.update(.bo, Coins.self) { coins in
                #expect(coins == expected)
                return [.happened("earned")]
            }
        }
        #expect(try log.replay(Coins.self, verify: true).isEqual)
    }

    @Test("Tasks that spend the same coins never overdraw, directly or through a writer", arguments: [false, true])
    func overdraft(isShared: Bool) async throws {
        let log = try open()
        let writer = LogWriter(log)
        try log.append(Array(repeating: .happened("earned"), count: 10), to: .ana)
        let spent = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var count = 0
                    for _ in 0..<8 {
                        let receipt =
                            if isShared {
                                try await writer.update(.ana, Coins.self, Self.spent)
                            } else {
                                try log.update(.ana, Coins.self, Self.spent)
                            }
                        if receipt.last >= receipt.first { count += 1 }
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        await writer.close()
        #expect(spent == 10)
        #expect(try coins(of: .ana, log) == 0)
    }

    @Test("Each of 64 tasks decides by a state that no other one decided by")
    func sixtyFourTasks() async throws {
        let log = try open()
        let writer = LogWriter(log)
        try await withThrowingTaskGroup { group in
            for _ in 0..<64 {
                group.addTask {
                    try await writer.update(.ana, Coins.self) { [.happened("earned"), .happened("had \($0)")] }
                }
            }
            try await group.waitForAll()
        }
        await writer.close()
        let names = try log.history(of: .ana).compactMap(\.event.customName).filter { $0 != "earned" }
        #expect(names == (0..<64).map { "had \($0)" })
    }

    @Test("A retry under the key answers as the first time, without deciding; another user may not use the key")
    func retryWithKey() async throws {
        let log = try open()
        let first = try log.update(.ana, Coins.self, idempotencyKey: "k") { _ in [.happened("earned")] }
        try log.append([.happened("earned")], to: .ana)
        let writer = LogWriter(log)
        let retries = [
            try log.update(.ana, Coins.self, idempotencyKey: "k") { _ in
                Issue.record("decided again")
                return []
            },
            try await writer.update(.ana, Coins.self, idempotencyKey: "k") { _ in
                Issue.record("decided again")
                return []
            },
        ]
        await writer.close()
        for retry in retries {
            #expect(retry.isRepetition)
            #expect(retry.last == first.last)
        }
        #expect(throws: AppendError.keyReused(position: first.first)) {
            try log.update(.bo, Coins.self, idempotencyKey: "k") { _ in [.happened("earned")] }
        }
        #expect(try coins(of: .ana, log) == 2)
    }

    @Test("A decision about a user who is merged before the commit is made again, of the user to whom the ID leads now")
    func addressMoved() throws {
        let log = try open()
        try log.append([.happened("earned"), .happened("earned")], to: .bo)
        let alias = UserID.alias(label: "crm", name: "7")
        try log.append([.happened("earned")], to: alias)
        var seen: [Int] = []
        try log.update(alias, Coins.self) { coins in
            seen.append(coins)
            if seen.count == 1 { try log.change(.merge(source: alias, target: .bo)) }
            return [.happened("had \(coins)")]
        }
        #expect(seen == [1, 3])
        #expect(try log.history(of: .bo).last?.event.customName == "had 3")
    }

    @Test("An unknown user has the initial state, and is made by the first event; an ID that makes no user is refused")
    func unknownUser() throws {
        let log = try open()
        try log.update(.ana, Coins.self) { coins in
            #expect(coins == 0)
            return [.happened("earned")]
        }
        #expect(try coins(of: .ana, log) == 1)
        let unknown = UserID.assignedID("0123456789abcdef01234567")
        #expect(throws: AppendError.unknownUser(unknown)) {
            try log.update(unknown, Coins.self) { _ in [.happened("earned")] }
        }
    }

    @Test("A decision for nothing stores nothing, and its receipt is empty")
    func nothing() throws {
        let log = try open()
        try log.append([.happened("earned")], to: .bo)
        let receipt = try log.update(.ana, Coins.self, idempotencyKey: "k") { _ in [] }
        #expect(receipt.last < receipt.first)
        #expect(!receipt.isRepetition && receipt.users.isEmpty)
        #expect(try log.find(.ana) == nil)
    }

    @Test("A decision that others always overtake is made under the lock in the end")
    func underLock() throws {
        let log = try open()
        var runs = 0
        try log.update(.ana, Coins.self) { coins in
            runs += 1
            // No other append can come while the lock is held.
            if runs <= 8 { try log.append([.happened("earned")], to: .ana) }
            return [.happened("had \(coins)")]
        }
        #expect(runs == 9)
        #expect(try log.history(of: .ana).compactMap(\.event.customName).last == "had 8")
    }

    @Test("A cancelled task decides nothing")
    func cancelled() async throws {
        let log = try open()
        let writer = LogWriter(log)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await writer.update(.ana, Coins.self) { _ in [.happened("earned")] }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await writer.close()
        #expect(try log.find(.ana) == nil)
    }
}
