import ArgumentParser
import Foundation
import ProfileLog
import Synchronization

@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profilelog-bench",
        abstract: "ProfileLog's half of the benchmark; Benchmarks/C has the other. One line of JSON for each run.",
        subcommands: [
            Append.self, AppendDevices.self, Concurrent.self, Update.self, Flush.self, Fold.self, History.self,
            Read.self, AsOf.self, Histories.self, WhatIf.self, Watch.self, WatchLive.self, WatchAppends.self,
        ])
}

struct Input: ParsableArguments {
    @Option(help: "A folder for the store; it must not exist yet.") var store: String
    @Option(help: "JSON Lines of the workload's shape.") var input: String
    @Option(help: "At most this many events.") var count: Int = .max
    @Option(help: "The clock in microseconds, one more for each commit; without it, the real one.")
    var recordedAtStart: Int64?
    @Option(help: "Events of a user between two snapshots; 0 writes none, as the C program.") var snapshotInterval = 0
}

/// A clock that a run can repeat.
final class StepClock: Sendable {
    private let next: Mutex<Int64>
    init(_ start: Int64) { next = Mutex(start) }
    func tick() -> Timestamp {
        next.withLock { next in
            defer { next += 1 }
            return Timestamp(rawValue: next)
        }
    }
}

extension Input {
    func open() throws -> EventLog {
        var options = LogOptions()
        options.snapshotInterval = snapshotInterval
        if let recordedAtStart {
            // The first tick marks the new store, as in the C program.
            let clock = StepClock(recordedAtStart)
            let isFirst = Mutex(true)
            options.now = {
                let first = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                return first ? Timestamp(rawValue: recordedAtStart) : clock.tick()
            }
        }
        return try EventLog(path: store, create: true, options: options)
    }
}

struct Append: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "One caller, durable batches.")
    @OptionGroup var input: Input
    @Option(help: "Events in a commit.") var batch = 1000

    func run() throws {
        var reader = try WorkloadReader(input.input)
        let log = try input.open()
        var latencies = Latencies()
        let clock = ContinuousClock()
        var seconds = 0.0
        var done = 0
        // The events are freed after the last flush: giving back a million small pieces of memory is no part of it.
        var last: Workload?
        while done < input.count {
            let events = try reader.next(min(1_000_000, input.count - done))
            if events.count == 0 { break }
            last = events
            let begin = clock.now
            for start in stride(from: 0, to: events.count, by: batch) {
                let started = clock.now
                try log.append { append in
                    for index in start..<min(start + batch, events.count) { try events.add(index, to: &append) }
                }
                latencies.add(clock.now - started)
            }
            seconds += (clock.now - begin).seconds
            done += events.count
        }
        let flushBegin = clock.now
        try log.writeIndex()
        let lastFlush = clock.now - flushBegin
        withExtendedLifetime(last) {}
        seconds += lastFlush.seconds
        report(
            [("events", "\(done)"), ("seconds", "\(seconds)"), ("events_per_s", format(Double(done) / seconds))]
                + latencies.fields() + [("last_flush_us", format(lastFlush.microseconds))])
    }
}

struct Concurrent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Many callers, one event each, through the writer.")
    @OptionGroup var input: Input
    @Option(help: "Callers.") var callers = 256
    @Option(help: "Write how many events each commit had, one a line.") var sizes: String?

    func run() async throws {
        var reader = try WorkloadReader(input.input)
        let events = try reader.next(input.count)
        let log = try input.open()
        let before = try log.lastPosition()
        let writer = LogWriter(log)
        let callers = callers
        let clock = ContinuousClock()
        let begin = clock.now
        let all = await withTaskGroup(of: [Duration].self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var latencies: [Duration] = []
                    var index = caller
                    while index < events.count {
                        let started = clock.now
                        do {
                            try await writer.append { try events.add(index, to: &$0) }
                        } catch {
                            fatalError("\(error)")
                        }
                        latencies.append(clock.now - started)
                        index += callers
                    }
                    return latencies
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        let seconds = (clock.now - begin).seconds
        await writer.close()
        var latencies = Latencies()
        for latency in all { latencies.add(latency) }
        let batches = try batchSizes(log, after: before)
        if let sizes { try batches.map { "\($0)\n" }.joined().write(toFile: sizes, atomically: true, encoding: .utf8) }
        report(
            [
                ("events", "\(events.count)"), ("seconds", "\(seconds)"),
                ("events_per_s", format(Double(events.count) / seconds)),
                ("mean_batch", format(Double(events.count) / Double(max(batches.count, 1)))),
            ] + latencies.fields())
    }

    /// Events of the same `recordedAt` came in one commit (users that it created are not counted).
    private func batchSizes(_ log: EventLog, after: Position) throws -> [Int] {
        var sizes: [Int] = []
        var last: Timestamp?
        var next = after.next
        while true {
            let page = try log.reader.events.page(from: next, limit: 10_000)
            for event in page.events where event.event.kind != .userCreated {
                if event.recordedAt == last { sizes[sizes.count - 1] += 1 } else { sizes.append(1) }
                last = event.recordedAt
            }
            if page.scanned >= page.last { return sizes }
            next = page.scanned.next
        }
    }
}

struct Flush: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Whole flushes of the caches, each in one transaction: how long a commit would wait.")
    @OptionGroup var input: Input
    @Option(help: "Events between two flushes; fewer than begin one by themselves.") var every = 65_000

    func run() throws {
        var reader = try WorkloadReader(input.input)
        let log = try input.open()
        var latencies = Latencies()
        let clock = ContinuousClock()
        var done = 0
        while done < input.count {
            let events = try reader.next(min(every, input.count - done))
            if events.count == 0 { break }
            for start in stride(from: 0, to: events.count, by: 1_000) {
                try log.append { append in
                    for index in start..<min(start + 1_000, events.count) { try events.add(index, to: &append) }
                }
            }
            let begin = clock.now
            try log.writeIndex()
            latencies.add(clock.now - begin)
            done += events.count
        }
        report([("events", "\(done)"), ("every", "\(every)")] + latencies.fields())
    }
}

struct Fold: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Full replay with fold, from a closed store.")
    @Option var store: String
    @Option var threads = 1
    @Flag(
        help: """
            Replay projections of an embedder in turn with the profile's: by user, over the store and by device. A store \
            of append-devices has events of devices.
            """)
    var own = false
    @Option(help: "Turns of --own; the medians are printed.") var turns = 3

    func run() throws {
        if own {
            let log = try EventLog(path: store)
            let rates = try OwnFolds(log: log, threads: threads).fields(turns: turns)
            let events = try log.lastPosition().rawValue
            return report([("events", "\(events)")] + rates)
        }
        let before = anonymousBytes()
        let clock = ContinuousClock()
        let begin = clock.now
        let log = try EventLog(path: store)
        let replayer = Replayer<ProfileProjection>(log, threads: threads)
        try replayer.run()
        let seconds = (clock.now - begin).seconds
        let states = anonymousBytes() - before
        var users = 0
        replayer.forEachUser { _, _, _ in users += 1 }
        let events = try log.lastPosition().rawValue
        report([
            ("events", "\(events)"), ("seconds", "\(seconds)"), ("events_per_s", format(Double(events) / seconds)),
            ("users", "\(users)"), ("state_bytes", "\(states)"),
            ("mb_per_100k_users", format(Double(states) / Double(max(users, 1)) / 10)),
        ])
    }
}

struct History: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Whole histories of random users, every field decoded.")
    @Option var store: String
    @Option(help: "How many users to read.") var users = 50_000
    @Option var seed: UInt64 = 1
    @Option(help: "Read this user alone, several times.") var user: String?

    func run() throws {
        let log = try EventLog(path: store)
        let clock = ContinuousClock()
        if let user {
            guard try log.find(.externalID(user)) != nil else { throw BenchmarkError("No user \(user).") }
            for round in 0..<7 {
                let begin = clock.now
                let events = try log.history(of: .externalID(user))
                report([
                    ("round", "\(round)"), ("events", "\(events.count)"),
                    ("ms", format((clock.now - begin).microseconds / 1000)),
                ])
            }
            return
        }
        let count = try log.userCount()
        var random = SplitMix64(state: seed)
        var events = 0
        let begin = clock.now
        for _ in 0..<users {
            let user = UserNumber(rawValue: 1 + random.next() % count)
            events += try log.reader.events.history(of: user).count
        }
        let seconds = (clock.now - begin).seconds
        report([
            ("users", "\(users)"), ("events", "\(events)"), ("seconds", "\(seconds)"),
            ("users_per_s", format(Double(users) / seconds)), ("events_per_s", format(Double(events) / seconds)),
        ])
    }
}

struct Read: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Profile reads of random users, through snapshots.")
    @Option var store: String
    @Option var reads = 100_000
    @Option var seed: UInt64 = 1

    func run() throws {
        let log = try EventLog(path: store)
        let count = try log.userCount()
        var random = SplitMix64(state: seed)
        var latencies = Latencies()
        let clock = ContinuousClock()
        for _ in 0..<reads {
            let user = UserNumber(rawValue: 1 + random.next() % count)
            let begin = clock.now
            _ = try log.reader.profile(of: user)
            latencies.add(clock.now - begin)
        }
        report([("reads", "\(reads)")] + latencies.fields())
    }
}

struct AsOf: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Profiles as of random versions of one user with many events, and what the snapshots for it take.")
    @Option(help: "A folder for the store; it must not exist yet.") var store: String
    @Option var events = 10_000
    @Option(help: "Attributes of the user.") var fields = 40
    @Option(help: "Users with as many events each; one of them is read.") var users = 4
    @Option var reads = 20_000
    @Option var seed: UInt64 = 1

    func run() throws {
        let log = try EventLog(path: store, create: true)
        try fill(log)
        guard let user = try log.find(.externalID("user 0")) else { throw BenchmarkError("The store is empty.") }
        var random = SplitMix64(state: seed)
        var latencies = Latencies()
        let clock = ContinuousClock()
        for _ in 0..<reads {
            let version = Version(rawValue: 1 + random.next() % user.version.rawValue)
            let begin = clock.now
            _ = try log.reader.profile(of: user.number, asOf: version)
            latencies.add(clock.now - begin)
        }
        let attributes = (0..<fields).map { "attribute \($0)" }
        let one = try measure(reads / 20) { index in
            _ = try log.blame(.customAttribute(Name(attributes[index % fields])), of: user.id)
        }
        let all = try measure(reads / 200) { _ in _ = try log.blame(of: user.id) }
        // The same store without snapshots.
        var options = LogOptions()
        options.snapshotInterval = 0
        try fill(EventLog(path: store + "-bare", create: true, options: options))
        let (whole, bare) = try (fileBytes(store), fileBytes(store + "-bare"))
        report(
            [("reads", "\(reads)")] + latencies.fields() + one.fields(prefix: "blame_")
                + all.fields(prefix: "blame_all_") + [
                    ("bytes", "\(whole)"), ("bytes_without_snapshots", "\(bare)"),
                    ("snapshot_share", String(format: "%.3f", Double(whole - bare) / Double(bare))),
                ])
    }

    private func measure(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Latencies {
        var latencies = Latencies()
        let clock = ContinuousClock()
        for index in 0..<count {
            let begin = clock.now
            try body(index)
            latencies.add(clock.now - begin)
        }
        return latencies
    }

    private func fileBytes(_ store: String) throws -> Int {
        try URL(filePath: store + "/data.mdb").resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    }

    private func fill(_ log: EventLog) throws {
        for start in stride(from: 0, to: events, by: 100) {
            try log.append { append in
                for index in start..<min(start + 100, events) {
                    for user in 0..<users {
                        let field = Name("attribute \((index - index / 5) % fields)")
                        let event =
                            index % 5 == 4
                            ? ProfileEvent.customEventLogged(
                                CustomEvent(name: "played", properties: [.init("minutes", .int(Int64(index)))]))
                            : .customAttributesChanged([
                                AttributeChange(field, .set(.string("a value of step \(index)")))
                            ])
                        try append.add(event, to: .externalID("user \(user)"))
                    }
                }
            }
        }
        try log.writeIndex()
    }
}

struct WhatIf: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "All profiles without an attribute that most users have, against those of the log.")
    @Option var store: String
    @Option var threads = 2
    @Option(help: "The attribute; without it, no event is altered.") var name: String?

    func run() throws {
        let log = try EventLog(path: store)
        let clock = ContinuousClock()
        let begin = clock.now
        let without = name.map { AlteredHistory.Omission.name(Name($0)) }
        let impact = try log.whatIf(
            AlteredHistory(without: without.map { [$0] } ?? [.source(.unknown)]), threads: threads)
        let seconds = (clock.now - begin).seconds
        let events = try log.lastPosition().rawValue
        report([
            ("events", "\(events)"), ("seconds", "\(seconds)"), ("events_per_s", format(Double(events) / seconds)),
            ("users", "\(impact.users)"), ("changed", "\(impact.changed)"),
        ])
    }
}

struct Histories: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Whole histories of random users who have the same number of events: as views, and decoded.")
    @Option(help: "A folder for the store; it must not exist yet.") var store: String
    @Option var users = 50_000
    @Option(help: "Events of each user, the creation included.") var events = 23
    @Option(help: "How often as many users are read as there are.") var rounds = 4
    @Option var seed: UInt64 = 1

    func run() throws {
        let log = try EventLog(path: store, create: true)
        var random = SplitMix64(state: seed)
        try fill(log, &random)
        let count = try log.userCount()
        func user() -> UserNumber { UserNumber(rawValue: 1 + random.next() % count) }
        let clock = ContinuousClock()
        var (read, sum) = (0, UInt64(0))
        func views() throws {
            for _ in 0..<users {
                try log.reader.events.forEach(of: user()) { event in
                    read += 1
                    sum &+= UInt64(bitPattern: event.recordedAt.rawValue)
                    return true
                }
            }
        }
        let first = try clock.measure(views).seconds
        read = 0
        let viewed = try clock.measure { for _ in 0..<rounds { try views() } }.seconds
        var decoded = 0
        let decoding = try clock.measure {
            for _ in 0..<(rounds * users) { decoded += try log.reader.events.history(of: user()).count }
        }.seconds
        guard read == decoded, decoded == rounds * users * events else { throw BenchmarkError("Events are missing.") }
        report([
            ("users", "\(users)"), ("events", "\(users * events)"),
            ("first_users_per_s", format(Double(users) / first)),
            ("views_users_per_s", format(Double(rounds * users) / viewed)),
            ("decoded_users_per_s", format(Double(rounds * users) / decoding)), ("sum", "\"\(sum)\""),
        ])
    }

    /// The users' events in random order.
    private func fill(_ log: EventLog, _ random: inout SplitMix64) throws {
        var order = (0..<users).flatMap { user in Array(repeating: user, count: events - 1) }
        for index in order.indices.reversed() { order.swapAt(index, Int(random.next() % UInt64(index + 1))) }
        for start in stride(from: 0, to: order.count, by: 1_000) {
            try log.append { append in
                for index in start..<min(start + 1_000, order.count) {
                    let number = Int64(random.next() % 1_000)
                    let event =
                        index % 3 == 2
                        ? ProfileEvent.customAttributesChanged([
                            AttributeChange(Name("attribute \(index % 20)"), .set(.string("a value \(number)")))
                        ])
                        : .customEventLogged(
                            CustomEvent(
                                name: Name("event \(index % 25)"),
                                properties: [
                                    .init("minutes", .int(number)), .init("place", .string("shelf \(number)")),
                                ]))
                    try append.add(event, to: .externalID("user \(order[index])"))
                }
            }
        }
        try log.writeIndex()
    }
}

/// Random numbers, the same for the same `state`.
struct SplitMix64 {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
