import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("Pages of the log")
struct EventPagesTests {
    let folder = TemporaryFolder()

    private func filled() throws -> EventLog {
        let log = try folder.open()
        try log.append { append in
            for index in 0..<20 {
                try append.add(.customEventLogged(CustomEvent(name: Name("e\(index)"))), to: .externalID("ana"))
            }
        }
        return log
    }

    @Test("A page ends at its number of events, at its bytes, and where its reader has enough", arguments: [1, 2, 7])
    func ends(limit: Int) throws {
        let log = try filled()
        for how in 0..<3 {
            var pages = EventPages(after: .start, where: EventFilter())
            var positions: [UInt64] = []
            while !pages.isAtEnd {
                var page: [UInt64] = []
                try pages.next(in: log.reader, limit: how == 0 ? limit : 100, maxBytes: how == 1 ? 1 : .max) { event in
                    page.append(event.position.rawValue)
                    return how != 2 || page.count < limit
                }
                // A reader that has enough at the very end finds that out by one more page.
                if page.isEmpty { break }
                #expect(page.count <= (how == 1 ? 1 : limit))
                #expect(pages.scanned.rawValue == page.last)
                positions += page
            }
            #expect(positions == Array(1...21))
        }
    }

    @Test("A page goes past what its filter skips")
    func skipped() throws {
        let log = try filled()
        var pages = EventPages(after: .start, where: EventFilter(kinds: [.appLaunched]))
        try pages.next(in: log.reader, limit: 10) { _ in true }
        #expect(pages.scanned == (try log.lastPosition()))
        #expect(pages.isAtEnd)
    }
}

@Suite("Waiting for a position")
struct PositionWatchTests {
    let folder = TemporaryFolder()

    @Test("A wait gives nothing at its deadline, and the last position before it")
    func deadline() async throws {
        let log = try folder.open()
        #expect(try await log.wait(after: .start, until: .now) == nil)
        #expect(try await log.wait(after: .start, until: .now + .milliseconds(5)) == nil)
        try log.append([.customEventLogged(CustomEvent(name: "seen"))], to: .externalID("ana"))
        #expect(try await log.wait(after: .start, until: .now) == Position(rawValue: 2))
    }

    @Test("A wait of a closed log ends at once")
    func closed() async throws {
        let watch = PositionWatch()
        watch.close()
        await #expect(throws: StorageError.closed) {
            try await watch.wait(after: .start, until: nil) { .start }
        }
    }

    @Test("All who wait for what a commit reaches go on, and nobody else")
    func advanced() async throws {
        let log = try folder.open()
        try await withThrowingTaskGroup { group in
            for position in 0..<UInt64(20) {
                group.addTask {
                    let last = try #require(try await log.wait(after: Position(rawValue: position)))
                    #expect(last.rawValue > position)
                }
            }
            for index in 0..<19 {
                try log.append([.customEventLogged(CustomEvent(name: Name("e\(index)")))], to: .externalID("ana"))
                await Task.yield()
            }
            try await group.waitForAll()
        }
    }
}
