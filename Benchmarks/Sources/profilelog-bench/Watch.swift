import ArgumentParser
import Foundation
import ProfileLog

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "All events of a store through a sequence, decoded.")
    @Option var store: String
    @Option var turns = 3

    func run() async throws {
        guard turns > 0 else { throw ValidationError("There must be a turn.") }
        let log = try EventLog(path: store)
        let last = try log.lastPosition()
        let clock = ContinuousClock()
        var rates: [Double] = []
        for _ in 0..<turns {
            let begin = clock.now
            var (events, position) = (UInt64(0), Position(rawValue: 0))
            for try await event in log.events(live: false) {
                events += 1
                position = event.position
            }
            rates.append(Double(events) / (clock.now - begin).seconds)
            guard events == last.rawValue, position == last else { throw BenchmarkError("Events are missing.") }
        }
        report([("events", "\(last.rawValue)"), ("events_per_s", format(median(rates)))])
    }
}

struct WatchLive: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The time from the acknowledgement of an append to its event in a live sequence.",
        discussion: "First this process appends, then another one does.")
    @Option(help: "A folder for the store; it must not exist yet.") var store: String
    @Option(help: "Appends of each process, one event each.") var appends = 500

    func run() async throws {
        guard appends > 0 else { throw ValidationError("There must be an append.") }
        let count = appends
        let log = try EventLog(path: store, create: true)
        try log.append([WatchAppends.event], to: WatchAppends.user)

        let writer = LogWriter(log)
        let begin = try log.lastPosition()
        async let arrivals = Self.arrivals(of: count, in: log, after: begin)
        let acknowledged = try await Self.append(count, writer)
        let own = try Self.delays(acknowledged, until: try await arrivals)
        await writer.close()

        let position = try log.lastPosition()
        let process = try AppendingProcess(store: store, count: count)
        let arrived = try await Self.arrivals(of: count, in: log, after: position)
        let other = try Self.delays(process.acknowledged(), until: arrived)
        report([("appends", "\(count)")] + own.fields(prefix: "own_") + other.fields(prefix: "other_"))
    }

    /// Appends one event after another, with pauses. Returns when each was acknowledged.
    private static func append(_ count: Int, _ writer: LogWriter) async throws -> [Position: UInt64] {
        var random = SplitMix64(state: 1)
        var acknowledged: [Position: UInt64] = [:]
        for _ in 0..<count {
            try await Task.sleep(for: .microseconds(Int64(random.next() % WatchAppends.longestPause)))
            let receipt = try await writer.append([WatchAppends.event], to: WatchAppends.user)
            acknowledged[receipt.last] = monotonicNanoseconds()
        }
        return acknowledged
    }

    /// Returns when each of the next events came out of a sequence.
    private static func arrivals(
        of count: Int, in log: EventLog, after position: Position
    ) async throws -> [Position: UInt64] {
        var arrived: [Position: UInt64] = [:]
        for try await event in log.events(after: position) {
            arrived[event.position] = monotonicNanoseconds()
            if arrived.count == count { break }
        }
        return arrived
    }

    private static func delays(
        _ acknowledged: [Position: UInt64], until arrived: [Position: UInt64]
    ) throws -> Latencies {
        var delays = Latencies()
        for (position, begin) in acknowledged {
            guard let end = arrived[position] else {
                throw BenchmarkError("The event at position \(position.rawValue) did not arrive.")
            }
            // It may arrive before its caller runs on.
            delays.add(.nanoseconds(end > begin ? Int64(end - begin) : 0))
        }
        return delays
    }
}

struct WatchAppends: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The other process of watch-live: prints each position and when it was acknowledged.",
        shouldDisplay: false)
    @Option var store: String
    @Option var count: Int

    static let user = UserID.externalID("ana")
    static let event = ProfileEvent.customEventLogged(
        CustomEvent(name: "played song", properties: [.init("minutes", .int(3))]))
    /// In microseconds; three times as long as a sequence waits before it looks for events of other processes again.
    static let longestPause: UInt64 = 6_000

    func run() throws {
        let log = try EventLog(path: store)
        var random = SplitMix64(state: 2)
        var lines = ""
        for _ in 0..<count {
            usleep(UInt32(random.next() % Self.longestPause))
            let position = try log.append([Self.event], to: Self.user).last
            lines += "\(position.rawValue) \(monotonicNanoseconds())\n"
        }
        print(lines, terminator: "")
    }
}

/// This program as another process, which appends to a store.
private struct AppendingProcess {
    private let process = Process()
    private let output = Pipe()

    init(store: String, count: Int) throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["watch-appends", "--store", store, "--count", "\(count)"]
        process.standardOutput = output
        // The sequence would wait for its events for ever.
        process.terminationHandler = { process in if process.terminationStatus != 0 { exit(1) } }
        try process.run()
    }

    /// When each of its appends was acknowledged; waits for its end.
    func acknowledged() throws -> [Position: UInt64] {
        let lines = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        var acknowledged: [Position: UInt64] = [:]
        for line in lines.split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 2 else { throw BenchmarkError("The other process printed \(line).") }
            acknowledged[Position(rawValue: numbers[0])] = numbers[1]
        }
        return acknowledged
    }
}
