import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@Suite("What a commit tells those who measure")
struct CommitReportTests {
    private final class Reports: Sendable {
        private let all = Mutex<[CommitReport]>([])

        func add(_ report: CommitReport) { all.withLock { $0.append(report) } }

        func take() -> [CommitReport] {
            all.withLock { all in
                defer { all = [] }
                return all
            }
        }
    }

    @Test("Each commit that stores something is told once, with all that it stored; others are not")
    func told() throws {
        let (folder, reports) = (TemporaryFolder(), Reports())
        var options = LogOptions.small(TestClock())
        options.onCommit = { reports.add($0) }
        let log = try folder.open(options: options)
        #expect(reports.take().isEmpty)

        func prepared(_ name: Name, key: String? = nil) throws -> PreparedAppend {
            var builder = log.prepare()
            try builder.add(.customEventLogged(CustomEvent(name: name)), .test, to: .externalID("ana"))
            return try builder.finish(idempotencyKey: key)
        }
        _ = log.commit([try prepared("a", key: "k"), try prepared("b"), try prepared("b")])
        let first = reports.take()
        #expect(first.map(\.events) == [4])  // and the user
        #expect(first.allSatisfy { $0.bytes > 4 * 20 && $0.duration > .zero })

        // A repetition, a refusal, and nothing at all.
        _ = log.commit([try prepared("a", key: "k")])
        _ = log.commit([try prepared("b", key: "k")])
        _ = log.commit([])
        #expect(reports.take().isEmpty)

        // A launch is two commits.
        for _ in 0..<4 {
            _ = try log.append(
                [.customEventSaved(CustomEvent(name: "s"))], to: .externalID("ana"), context: .saved(on: "d"))
        }
        _ = reports.take()
        let before = try log.lastPosition().rawValue
        _ = try log.launch(device: "d")
        let launch = reports.take()
        #expect(launch.count > 1)
        #expect(UInt64(launch.map(\.events).reduce(0, +)) == (try log.lastPosition().rawValue) - before)
    }

    @Test("The extent is the cheap part of the statistics, whatever is in the caches")
    func extent() throws {
        let folder = TemporaryFolder()
        let log = try folder.open(options: .small(TestClock()))
        for user in ["ana", "bo", "ana"] {
            _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID(user))
            for _ in 0..<2 {
                let extent = try log.reader.extent()
                #expect(try log.reader.statistics().extent == extent)
                #expect(extent.lastPosition == (try log.lastPosition()))
                #expect(extent.users == (try log.userCount()))
                try log.writeIndex()
            }
            #expect(try log.reader.extent().indexed == log.lastPosition())
        }
    }

    /// Ends a stream when nothing refers to it any more.
    private final class Ending: Sendable {
        private let told: AsyncStream<Position>.Continuation

        init(_ told: AsyncStream<Position>.Continuation) { self.told = told }

        deinit { told.finish() }
    }

    @Test("A commit that a close overtakes is told to closures all the same")
    func toldAtClose() async throws {
        let folder = TemporaryFolder()
        let (begins, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        var options = LogOptions.small(TestClock())
        options.onCommit = { _ in
            begins.signal()
            goesOn.wait()
        }
        let log = try folder.open(options: options)
        let (stream, told) = AsyncStream.makeStream(of: Position.self)
        do {
            let ending = Ending(told)
            log.onCommit { receipt, _ in withExtendedLifetime(ending) { _ = told.yield(receipt.last) } }
        }
        // append | commits, and reports … goes on, and tells
        // close  |                    begins               ends
        func closeDuringCommit() {
            let hasClosed = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = try? log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana"))
            }
            begins.wait()
            Thread.detachNewThread {
                log.close()
                hasClosed.signal()
            }
            let waits = hasClosed.wait(timeout: .now() + 0.2) == .timedOut
            goesOn.signal()
            if waits { hasClosed.wait() }
        }
        closeDuringCommit()
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == Position(rawValue: 2))
        #expect(await iterator.next() == nil)
    }
}
