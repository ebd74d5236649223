import ProfileLog
import ProfileLogReplication
import ProfileLogTesting
import TestSupport
import Testing

/// A log under test, with a clock of its own, and what it answered.
private final class Bench: Sendable {
    let log: EventLog
    let clock: ManualClock
    private let lines = Guarded<[String]>([])

    init(_ log: EventLog, _ clock: ManualClock) { (self.log, self.clock) = (log, clock) }

    var answers: [String] { lines.withReading { $0 } }

    func note(_ line: String) { lines.withWriting { $0.append(line) } }

    /// Lets a second pass, calls `body`, and notes what it gives or throws.
    @discardableResult
    func note<Value>(_ body: () throws -> Value, _ describe: (Value) -> String = { "\($0)" }) -> Value? {
        clock.advance(by: .seconds(1))
        do {
            let value = try body()
            note(describe(value))
            return value
        } catch {
            note("error: \(error)")
            return nil
        }
    }

    /// As `note`, for a receipt.
    @discardableResult
    func append(_ body: () throws -> AppendReceipt) -> AppendReceipt? { note(body) { $0.text } }

    @discardableResult
    func append(
        _ events: ProfileEvent..., to user: UserID = .ana, expecting expected: ExpectedVersion = .any,
        context: EventContext = .app, key: String? = nil, note: [UInt8] = []
    ) -> AppendReceipt? {
        append {
            try log.append(
                events, to: user, expecting: expected, context: context, idempotencyKey: key, note: note)
        }
    }

    /// Notes each event of the log, and the profile of each user.
    func noteState() throws {
        let last = try log.lastPosition().rawValue
        for number in 0..<last {
            let event = try log.event(at: Position(rawValue: number + 1))
            note("\(String(describing: event))")
        }
        let report = try log.replay(verify: true)
        note("\(report.users) users, profiles \(report.digest), equal \(report.isEqual)")
    }
}

extension AppendReceipt {
    fileprivate var text: String {
        let places = places.map { "\($0.user.rawValue)@\($0.version.rawValue)" }.joined(separator: " ")
        let users = users.map { "\($0.key.rawValue)@\($0.value.rawValue)" }.sorted().joined(separator: " ")
        return "\(first.rawValue)-\(last.rawValue) \(places), then \(users), again \(isRepetition), note \(note)"
    }
}

extension LaunchReport {
    fileprivate var text: String {
        let outcomes = outcomes.sorted { $0.key < $1.key }.map { "\($0.key.rawValue): \($0.value)" }
        return "launched \(position), finished \(finished), sent \(sent), flushed \(flushed), \(outcomes)"
    }
}

/// Counts the coins that a user has.
private enum Purse: UserProjection {
    static let name = "purse"
    static let revision: UInt32 = 1
    static let initial = 0

    static func apply(_ event: borrowing EventView, to coins: inout Int) {
        guard case .customEvent(let event)? = event.content else { return }
        if event.name == "earned" { coins += 1 }
        if event.name == "spent" { coins -= 1 }
    }

    static func merge(_ source: Int, into target: inout Int, by event: borrowing EventView) { target += source }
}

/// Runs the same story over the store's own transport and over a replica, and compares all that can be seen.
@Suite("A store answers alike alone and in a cluster", .serialized)
struct ConformanceTests {
    /// A part of what a store does.
    enum Behaviour: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case append, batches, keys, versions, preconditions, launches, longLaunches, sending, erasure, merges, voids
        case rules, updates, underLock, catalogue, rows
        var testDescription: String { rawValue }
    }

    /// The health of the brokers.
    enum Brokers: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case well, failing
        var testDescription: String { rawValue }
    }

    private static func options(_ clock: ManualClock) -> LogOptions {
        var options = LogOptions()
        options.indexLag = 40
        options.usersPerIndexSlice = 2
        options.snapshotInterval = 8
        options.itemsPerFlush = 3
        options.now = { clock.now }
        return options
    }

    /// The brokers, two nodes, and a store alone with the same ID as theirs.
    private struct Stage {
        let brokers: MemoryBrokers
        let a: ClusterNode
        let b: ClusterNode
        let folder: TemporaryFolder
        let local: Bench
        let replicated: Bench

        init(_ health: Brokers, change: (inout LogOptions, Bool) -> Void = { _, _ in }) async throws {
            let brokers = MemoryBrokers(seed: 1)
            let clocks = (replicated: ManualClock(), local: ManualClock())
            var options = ConformanceTests.options(clocks.replicated)
            change(&options, true)
            let setup = ClusterNode.Setup(options: options)
            async let first = ClusterNode.start("a", of: brokers, setup)
            async let second = ClusterNode.start("b", of: brokers)
            let (a, b) = try await (first, second)
            let folder = TemporaryFolder(prefix: "alone")
            let meta = try a.log.rows(.meta).map {
                CommitBatch.MetaRow(name: String(decoding: $0.key, as: UTF8.self), value: $0.value)
            }
            let creation = CommitBatch(meta: meta.filter { $0.name != ReplicaPosition.row })
            options = ConformanceTests.options(clocks.local)
            change(&options, false)
            let log = try EventLog(path: folder.path, create: true, options: options, creation: creation)
            if health == .failing {
                brokers.chances = [.lost: 100, .answerLost: 100, .refusedThoughStored: 100, .limbo: 100, .delayed: 100]
            }
            (self.brokers, self.a, self.b, self.folder) = (brokers, a, b, folder)
            replicated = Bench(a.log, clocks.replicated)
            local = Bench(log, clocks.local)
        }

        /// Compares what both answered, and their rows; and the rows of the other node.
        func expectSame(comparesRows: Bool = true) async throws {
            brokers.heal()
            #expect(try await a.wait(for: brokers.last))
            #expect(try await b.wait(for: brokers.last))
            let (local, replicated) = (local, replicated)
            try await onOwnThread { for bench in [local, replicated] { try bench.noteState() } }
            #expect(local.answers.count == replicated.answers.count)
            for (index, (left, right)) in zip(local.answers, replicated.answers).enumerated() where left != right {
                Issue.record("answer \(index): alone \(left); in a cluster \(right)")
            }
            #expect(try a.truth() == b.truth())
            for log in [local.log, a.log, b.log] { try log.expectSound() }
            guard comparesRows else { return }
            for table in Table.Name.allCases where table.isTruth {
                var rows = try a.log.rows(table)
                if table == .meta { rows[Array(ReplicaPosition.row.utf8)] = nil }
                #expect(try local.log.rows(table) == rows, "table \(table.rawValue)")
            }
        }
    }

    @Test(
        "Answers, positions, states and rows are the same over both transports, also while brokers fail",
        arguments: Behaviour.allCases, Brokers.allCases)
    func same(behaviour: Behaviour, health: Brokers) async throws {
        let stage = try await Stage(health)
        let (local, replicated) = (stage.local, stage.replicated)
        try await onOwnThread {
            for bench in [local, replicated] { try Self.run(behaviour, bench) }
        }
        #expect(!local.answers.isEmpty)
        try await stage.expectSame()
        stage.local.log.close()
    }

    private static func run(_ behaviour: Behaviour, _ bench: Bench) throws {
        switch behaviour {
        case .append: append(bench)
        case .batches: try batches(bench)
        case .keys: keys(bench)
        case .versions: versions(bench)
        case .preconditions: try preconditions(bench)
        case .launches: launches(bench)
        case .longLaunches: longLaunches(bench)
        case .sending: sending(bench)
        case .erasure: erasure(bench)
        case .merges: merges(bench)
        case .voids: voids(bench)
        case .rules: rules(bench)
        case .updates: updates(bench)
        case .underLock: underLock(bench)
        case .catalogue: catalogue(bench)
        case .rows: rows(bench)
        }
    }

    // MARK: - The behaviours

    private static func append(_ bench: Bench) {
        bench.append(.happened("first"))
        bench.append(.happened("second"), .happened("third"), to: .bo)
        bench.append(.customAttributesChanged([AttributeChange("plan", .set(.string("gold")))]))
        bench.append(.userAttributesChanged([UserAttributeChange(.email, .string("ana@example.com"))]))
        bench.append(.purchaseLogged(Purchase(product: "book", currency: "EUR", price: 2.5)), to: .bo)
        bench.append(.happened("on a device"), to: .device("phone"))
        bench.append(.happened("of an alias"), to: .alias(label: "crm", name: "7"))
        bench.append(.happened("of nobody"), to: .assignedID("no such user"))
        bench.note({ try bench.log.profile(of: .ana) })
        bench.note({ try bench.log.history(of: UserNumber(rawValue: 1)).map(\.position) })
    }

    private static func batches(_ bench: Bench) throws {
        let log = bench.log
        bench.append {
            try log.append { append in
                for user in [UserID.ana, .bo, .ana] { try append.add(.happened("together"), to: user) }
            }
        }
        func prepared(_ user: String, key: String? = nil, at version: ExpectedVersion = .any) throws -> PreparedAppend {
            var builder = log.prepare()
            try builder.add(.happened("in a group"), EventContext(source: .rest), to: .externalID(user))
            builder.expect(.externalID(user), at: version)
            return try builder.finish(idempotencyKey: key)
        }
        for endsAtRefusal in [false, true] {
            let appends = [
                try prepared("ana", key: "k"), try prepared("new"), try prepared("bo", at: .noUser),
                try prepared("cy"), try prepared("ana", key: "k"),
            ]
            bench.clock.advance(by: .seconds(1))
            for answer in log.commit(appends, endsAtRefusal: endsAtRefusal) { bench.append { try answer.get() } }
        }
        bench.note({ log.commit([]).count })
    }

    private static func keys(_ bench: Bench) {
        for _ in 0..<2 { bench.append(.happened("once"), key: "k", note: [1, 2]) }
        bench.append(.happened("other"), key: "k")
        bench.append(.happened("once"), to: .bo, key: "k")
        for _ in 0..<2 { bench.append(.happened("a"), .happened("b"), to: .bo, key: "two") }
        bench.append(.happened("without a key"), note: [1])
    }

    private static func versions(_ bench: Bench) {
        bench.append(.happened("first"), expecting: .exactly(Version(rawValue: 4)))
        bench.append(.happened("first"), expecting: .noUser)
        bench.append(.happened("second"), expecting: .noUser)
        for version in 0..<4 as Range<UInt64> {
            bench.append(.happened("at \(version)"), expecting: .exactly(Version(rawValue: version)))
        }
    }

    private static func preconditions(_ bench: Bench) throws {
        let log = bench.log
        bench.append(.happened("first"))
        bench.append(.happened("first"), to: .bo)
        guard let ana = try log.find(.ana) else { return }
        for (id, number, key) in [
            (UserID.ana, ana.number, "used"), (.bo, ana.number, "second"), (.ana, ana.number, "used"),
        ] {
            bench.append {
                var builder = log.prepare()
                try builder.add(.happened("guarded"), EventContext(source: .rest), to: .ana)
                var preconditions = Preconditions()
                preconditions.require(.user(id, number, nil))
                preconditions.require(.unusedKey(key))
                var append = try builder.finish(idempotencyKey: key)
                append.require(preconditions)
                return try log.commit(append)
            }
        }
    }

    private static func launches(_ bench: Bench) {
        let log = bench.log
        for number in 0..<10 {
            bench.append(
                .saved("kept-\(number % 3)"), to: number % 2 == 0 ? .ana : .bo, context: .saving(on: "phone"))
        }
        bench.note({ try log.launch(device: "phone", dyingAfter: .launched) }) { $0.text }
        bench.append(.saved("after a death"), context: .saving(on: "phone"))
        bench.note({ try log.launch(device: "phone") }) { $0.text }
        bench.note({ try log.launch(device: "phone") }) { $0.text }
        bench.append { try log.changeUser(on: "phone", to: .bo) }
        bench.append(.saved("to be discarded"), context: .saving(on: "phone"))
        bench.append {
            try log.commit(.discard(device: "phone", .all, actor: "a test", reason: "a test", context: .app))
        }
        bench.note({ try log.waiting(on: "phone").map(\.position) })
        bench.append { try log.logOut(on: "phone") }
    }

    /// More users than one commit of a launch holds: several commits, with one flush for each user.
    private static func longLaunches(_ bench: Bench) {
        let log = bench.log
        bench.append {
            try log.append { append in
                for number in 0..<300 {
                    try append.add(
                        .saved("kept"), to: .externalID("user-\(number)"), context: .saving(on: "phone"))
                }
            }
        }
        bench.note({ try log.launch(device: "phone") }) { $0.text }
        bench.note({ try log.waiting(on: "phone").count })
    }

    private static func sending(_ bench: Bench) {
        let log = bench.log
        bench.append(.saved("seen"), context: .saving(on: "phone"))
        bench.append { try log.set(.online(false), on: "phone") }
        bench.note({ try log.launch(device: "phone") }) { $0.text }
        bench.note({ try log.waiting(on: "phone").map(\.position) })
        bench.append { try log.set(.online(true), on: "phone") }
        bench.append { try log.set(.sendsOnRequest, on: "phone") }
        bench.append { try log.set(.sendsOnRequest, on: "phone") }
        bench.append(.saved("asked for"), context: .saving(on: "phone"))
        bench.note({ try log.launch(device: "phone") }) { $0.text }
        for _ in 0..<2 { bench.note({ try log.send(from: "phone") }) }
    }

    private static func erasure(_ bench: Bench) {
        let log = bench.log
        for (name, user) in [("ana", UserID.ana), ("bo", .bo), ("ana", .ana)] {
            bench.append(.happened("rare-\(name)"), to: user, key: "key-\(name)")
            bench.append(.userAttributesChanged([UserAttributeChange(.email, .string("shared@example.com"))]), to: user)
            bench.append(.saved("kept"), to: user, context: .saving(on: "phone"))
        }
        bench.append { try log.change(.merge(source: .bo, target: .ana)) }
        bench.note({ try log.erase([.ana, .externalID("nobody")], actor: "a test", reason: "asked to") })
        bench.note({ try log.erase([.ana], actor: "a test", reason: "again") })
        bench.note({ try log.find(.ana) })
        bench.append(.happened("rare-ana"), key: "key-ana")
        bench.append(.happened("new"), to: .bo)
        bench.note({ try log.launch(device: "phone") }) { $0.text }
    }

    private static func merges(_ bench: Bench) {
        let log = bench.log
        for user in ["a", "b", "c"] { bench.append(.happened("of \(user)"), to: .externalID(user)) }
        let changes: [IdentityChange] = [
            .addAlias(alias: .alias(label: "crm", name: "1"), user: .externalID("a")),
            .addAlias(alias: .alias(label: "crm", name: "1"), user: .externalID("b")),
            .merge(source: .externalID("a"), target: .externalID("b")),
            .merge(source: .externalID("a"), target: .externalID("b")),
            .merge(source: .externalID("nobody"), target: .externalID("b")),
            .renameExternalID(current: .externalID("b"), newID: .externalID("d")),
            .removeExternalID(.externalID("c")),
        ]
        for change in changes { bench.append { try log.change(change) } }
        for _ in 0..<2 {
            bench.append {
                try log.change(.merge(source: .externalID("d"), target: .externalID("e")), idempotencyKey: "k")
            }
        }
        bench.note({ try log.find(.alias(label: "crm", name: "1")) })
    }

    private static func voids(_ bench: Bench) {
        let log = bench.log
        let bought = bench.append(.happened("bought"))
        guard let position = bought?.last else { return }
        for _ in 0..<2 { bench.append { try log.void(position, actor: "a test", reason: "a test") } }
        bench.note({ try log.profile(of: .ana) })
        for _ in 0..<2 {
            bench.append { try log.unvoid(position, actor: "a test", reason: "a test", idempotencyKey: "k") }
        }
        bench.append { try log.void(Position(rawValue: 99), actor: "a test", reason: "a test") }
        bench.append { try log.void(Position(rawValue: 1), actor: "a test", reason: "a test") }
    }

    private static func rules(_ bench: Bench) {
        let log = bench.log
        bench.append(.customAttributesChanged([AttributeChange("plan", .set(.string("first")))]))
        for policy in [AttributePolicy.firstWins, .firstWins, .lastOccurred] {
            var rules = FoldRules()
            rules.policies["plan"] = policy
            bench.append { try log.setRules(rules) }
            bench.append(.customAttributesChanged([AttributeChange("plan", .set(.string("next")))]))
            bench.note({ try log.profile(of: .ana) })
        }
        bench.note({ try log.rules().position })
    }

    private static func updates(_ bench: Bench) {
        let log = bench.log
        for _ in 0..<3 { bench.append(.happened("earned")) }
        for number in 0..<5 {
            bench.append {
                try log.update(.ana, Purse.self, idempotencyKey: "spend-\(number % 4)") { coins in
                    coins > 0 ? [.happened("spent")] : []
                }
            }
        }
        bench.note({ try log.state(of: Purse.self, for: .ana) })
    }

    private static func underLock(_ bench: Bench) {
        let log = bench.log
        bench.append(.happened("first"))
        for limit in [5, 2] as [UInt64] {
            bench.note({
                try log.commit { () -> (UInt64, PreparedAppend?) in
                    let version = try log.find(.ana)?.version.rawValue ?? 0
                    guard version < limit else { return (version, nil) }
                    var builder = log.prepare()
                    try builder.add(.happened("decided"), EventContext(source: .rest), to: .ana)
                    return (version, try builder.finish())
                }
            }) { "\($0.value) \($0.receipt?.text ?? "nothing")" }
        }
        struct Unwilling: Error {}
        bench.note({ try log.commit { () -> (Int, PreparedAppend?) in throw Unwilling() } }) { "\($0.value)" }
    }

    private static func catalogue(_ bench: Bench) {
        let log = bench.log
        for number in 0..<12 {
            bench.append(.happened("event-\(number % 4)"), to: .externalID("user-\(number % 3)"))
            let change = AttributeChange(Name("attribute-\(number % 5)"), .set(.int(Int64(number))))
            bench.append(.customAttributesChanged([change]), to: .externalID("user-\(number % 3)"))
        }
        bench.note({ try log.state(overStore: CatalogueProjection.self).position })
        bench.note({
            let view = log.reader.catalogueView(try log.state(overStore: CatalogueProjection.self).state)
            return view.events.map { "\($0.name) \($0.occurrences.count)" }
                + view.attributes.map { "\($0.name) \($0.firstType) \($0.counts.values.sorted())" }
        })
    }

    private static func rows(_ bench: Bench) {
        bench.note({ try bench.log.store.hadKeys() })
        for _ in 0..<2 { bench.note({ try bench.log.noteKeys() }) }
        bench.note({ try bench.log.store.hadKeys() })
        bench.append(.happened("after"))
    }

    // MARK: - Who is told, and when

    @Test(
        "Callers that append at once through a writer are all stored, over both transports", arguments: Brokers.allCases
    )
    func writer(health: Brokers) async throws {
        let stage = try await Stage(health)
        for bench in [stage.local, stage.replicated] {
            let writer = LogWriter(bench.log)
            let receipts = try await withThrowingTaskGroup(of: AppendReceipt.self) { group -> [AppendReceipt] in
                for number in 0..<80 {
                    group.addTask {
                        try await writer.append(
                            [.happened("event-\(number)")], to: .externalID("user-\(number % 7)"),
                            idempotencyKey: "key-\(number)")
                    }
                }
                var receipts: [AppendReceipt] = []
                for try await receipt in group { receipts.append(receipt) }
                return receipts
            }
            await writer.close()
            #expect(Set(receipts.map(\.last)).count == 80)
            for receipt in receipts {
                guard case .customEventLogged? = try bench.log.event(at: receipt.last)?.event else {
                    Issue.record("no event of the writer is at \(receipt.last)")
                    continue
                }
            }
            // 80 events, and the users.
            #expect(try bench.log.lastPosition().rawValue == 87)
        }
        stage.brokers.heal()
        #expect(try await stage.b.wait(for: stage.brokers.last))
        #expect(try stage.a.truth() == stage.b.truth())
        stage.local.log.close()
    }

    @Test("Closures are told of each commit once and in order, over both transports", arguments: Brokers.allCases)
    func hooks(health: Brokers) async throws {
        let reports = Guarded<(local: [Int], replicated: [Int])>(([], []))
        let stage = try await Stage(health) { options, isReplicated in
            options.onCommit = { report in
                reports.withWriting { reports in
                    if isReplicated {
                        reports.replicated.append(report.events)
                    } else {
                        reports.local.append(report.events)
                    }
                }
            }
        }
        var told: [[String]] = []
        for bench in [stage.local, stage.replicated] {
            let (stream, continuation) = AsyncStream.makeStream(of: String.self)
            bench.log.onCommit { receipt, missed in continuation.yield("\(receipt.text), missed \(missed)") }
            let (brokers, isReplicated) = (stage.brokers, bench === stage.replicated)
            try await onOwnThread {
                for number in 0..<10 { bench.append(.happened("event"), key: "key-\(number % 8)") }
                bench.append(.saved("kept"), to: .bo, context: .saving(on: "phone"))
                bench.note({ try bench.log.launch(device: "phone") }) { $0.text }
                bench.note({ try bench.log.erase([.bo], actor: "a test", reason: "asked to") })
                // The last one is told, so that the test ends.
                if isReplicated { brokers.heal() }
                bench.append(.happened("last"))
            }
            let end = try bench.log.lastPosition().rawValue
            var lines: [String] = []
            for await line in stream {
                lines.append(line)
                if line.hasPrefix("\(end)-") { break }
            }
            told.append(lines)
        }
        #expect(told[0] == told[1])
        #expect(reports.withReading { $0.local == $0.replicated && !$0.local.isEmpty })
        try await stage.expectSame()
        stage.local.log.close()
    }

    @Test(
        "A reader of all events gets each one once and in order at both nodes, while they append",
        .timeLimit(.minutes(15)))
    func sequences() async throws {
        let brokers = MemoryBrokers(seed: 2)
        brokers.chances = [.lost: 50, .answerLost: 50, .limbo: 50]
        let (a, b) = try await ClusterNode.startTwo(of: brokers)
        let count = 60
        let readers = [a, b].map { node in
            Task {
                var positions: [UInt64] = []
                for try await event in node.log.events() {
                    positions.append(event.position.rawValue)
                    if case .customEventLogged(let event) = event.event, event.name == "end" { break }
                }
                return positions
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let node = number % 2 == 0 ? a : b
                group.addTask {
                    try await node.writer.append([.happened("event-\(number)")], to: .ana, idempotencyKey: "k\(number)")
                }
            }
            try await group.waitForAll()
        }
        try await b.append("end")
        for reader in readers {
            let positions = try await reader.value
            #expect(positions == Array(1...UInt64(positions.count)))
            #expect(positions.count >= count)
        }
    }
}
