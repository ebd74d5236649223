import Glibc
import ProfileLog
import TestSupport
import Testing

/// Four processes write while two read.
///
///     writer   commit p ── says p ─┐
///     parent                       └─ tells the readers of p
///     reader                                 └─ looks for p: must see it, and all before it
@Suite("Several processes share one store", .serialized)
struct SharedStoreTests {
    @Test("No gap, no loss, no stale read", arguments: Thoroughness.seeds(short: 1, full: 12))
    func fourWritersTwoReaders(seed: UInt64) async throws {
        let problems = try await onOwnThread { try SharedRun(seed).run() }
        #expect(problems.isEmpty, "seed \(seed)")
    }
}

private final class SharedRun {
    private static let appends = 120
    private let seed: UInt64
    private let scratch: TemporaryFolder
    private var writers: [CrashChild] = []
    private var readers: [CrashChild] = []
    private var answers = [Answers](repeating: Answers([]), count: 4)
    private var unread = [[UInt8]](repeating: [], count: 4)
    private var told = 0

    init(_ seed: UInt64) throws {
        self.seed = seed
        scratch = try TemporaryFolder.made(prefix: "crash")
    }

    func run() throws -> [String] {
        // A reader that died must not end the tests with it.
        signal(SIGPIPE, SIG_IGN)
        for reader in 0..<2 {
            readers.append(try CrashChild(["read", scratch("store")], outputFile: scratch("reader-\(reader)")))
        }
        for writer in 0..<4 {
            writers.append(try CrashChild(["write", scratch("store"), "\(seed)", "\(writer)", "\(Self.appends)"]))
        }
        forward()
        var problems: [String] = []
        for (index, writer) in writers.enumerated() {
            let end = writer.waitForEnd()
            if end != 0 || !answers[index].hasEnded { problems.append("writer \(index) ended as \(end)") }
        }
        for reader in readers { reader.endInput() }
        for (index, reader) in readers.enumerated() {
            let end = reader.waitForEnd()
            let lines = scratch.lines("reader-\(index)")
            if end != 0 { problems.append("reader \(index) ended as \(end)") }
            problems += lines.filter { !$0.hasPrefix("open ") && !$0.hasPrefix("end ") }.map {
                "reader \(index): \($0)"
            }
            if lines.last?.hasPrefix("end \(told) ") != true {
                problems.append("reader \(index) was not asked \(told) times")
            }
        }
        let audit = try StoreAudit(EventLog(path: scratch("store")), launchesInTurn: false)
        problems += audit.problems + answers.flatMap { $0.problems(in: audit) }
        let acknowledged = answers.reduce(0) { $0 + $1.acknowledged.count }
        if acknowledged != 4 * Self.appends { problems.append("\(acknowledged) appends were acknowledged") }
        return problems
    }

    /// Tells the readers of every acknowledged position as soon as it is heard of, until all writers are done.
    private func forward() {
        var waiting = Set(writers.indices)
        while !waiting.isEmpty {
            let order = waiting.sorted()
            var polls = order.map { pollfd(fd: writers[$0].output, events: Int16(POLLIN), revents: 0) }
            if poll(&polls, nfds_t(polls.count), 30_000) <= 0 { return }
            for (index, state) in zip(order, polls) where state.revents != 0 {
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                let count = read(state.fd, &buffer, buffer.count)
                if count <= 0 {
                    waiting.remove(index)
                } else {
                    hear(index, buffer[..<count])
                }
            }
        }
    }

    private func hear(_ writer: Int, _ bytes: ArraySlice<UInt8>) {
        unread[writer] += bytes
        while let end = unread[writer].firstIndex(of: 0x0A) {
            let line = String(decoding: unread[writer][..<end], as: UTF8.self)
            unread[writer].removeSubrange(...end)
            answers[writer].add(line)
            guard line.hasPrefix("ack "), let receipt = answers[writer].acknowledged.last,
                let place = receipt.places.last
            else {
                continue
            }
            let position = receipt.first + UInt64(receipt.places.count) - 1
            for reader in readers { reader.send("\(position) \(place.split(separator: ":").joined(separator: " "))") }
            told += 1
        }
    }
}
