import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("Addresses of records")
struct AddressCacheTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    private func name(_ user: Int) -> UserID { .externalID("user \(user)") }

    /// A log with ten users and a hundred events of each, in turn.
    private func filled(blocks: Int = AddressCache.mostBlocks) throws -> EventLog {
        var options = LogOptions.small(clock, indexLag: 300)
        options.addressBlocks = blocks
        let log = try folder.open(options: options)
        try append(1_000, to: log)
        return log
    }

    private func append(_ count: Int, to log: EventLog) throws {
        for start in stride(from: 0, to: count, by: 100) {
            var builder = log.prepare()
            for index in start..<(start + 100) {
                let event = CustomEvent(name: "walked", properties: [.init("step", .string("step \(index)"))])
                try builder.add(.customEventLogged(event), .test, to: name(index % 10))
            }
            _ = try log.commit(builder.finish())
        }
        try log.writeIndex()
    }

    private func histories(_ log: EventLog) throws -> [[RecordedEvent]] {
        try (0..<10).map { user in try log.find(name(user)).map { try log.history(of: $0.number) } ?? [] }
    }

    /// Returns the number of records with a known address.
    private func known(_ log: EventLog) throws -> Int {
        try log.withView { view in
            try (1...view.last).count { position in
                guard let record = view.addresses?.value(of: position) else { return false }
                let stored = try #require(try view.get(view.tables.log, position))
                #expect(record.baseAddress == stored.baseAddress && record.count == stored.count, "\(position)")
                return true
            }
        }
    }

    @Test("Addresses of records are those that LMDB gives, also after more commits; the last page has none")
    func right() throws {
        let log = try filled()
        let read = try histories(log)
        var known = try self.known(log)
        #expect((640...900).contains(known))
        #expect(try histories(log) == read)
        try append(1_000, to: log)
        known = try self.known(log)
        #expect((640...900).contains(known))
        let more = try histories(log)
        #expect(more.map { Array($0.prefix(101)) } == read)
        known = try self.known(log)
        #expect((1_500...1_900).contains(known))
    }

    @Test("After an erasure by another program no address is used that was found before")
    func erased() throws {
        let log = try filled()
        let other = try EventLog(path: folder.path, options: .small(clock, indexLag: 300))
        let read = try histories(log)
        let user = try #require(try log.find(name(3))).number
        let view = try log.history(of: user)
        #expect(view == read[3])

        try log.withView { before in
            _ = try other.erase([name(3)], actor: "a test", reason: "asked for")
            // The old view sees what was there, by the old addresses.
            let position = read[3][50].position.rawValue
            let old = try before.header(at: position)
            let now = try log.withView { try Array($0.header(at: position).body) }
            #expect(Array(old.body) != now)
        }
        #expect(try known(log) == 0)
        let erased = try log.history(of: user)
        let isErased = erased.dropLast().allSatisfy { $0.isErased }
        #expect(isErased)
        // Pages of the old records are used again.
        try append(2_000, to: other)
        let after = try histories(log)
        for user in (0..<10) where user != 3 { #expect(Array(after[user].prefix(101)) == read[user]) }
        #expect(try known(log) > 0)
        #expect(try log.history(of: user) == erased)
    }

    @Test("A full one is replaced; a view that has it goes on with it, and finds the rest in the tree")
    func full() throws {
        let log = try filled(blocks: 2)
        let read = try histories(log)
        try log.withView { view in
            let cache = try #require(view.addresses)
            for _ in 0..<4 { for position in 1...view.last { _ = try view.header(at: position) } }
            #expect(cache.isFull)
            #expect((255...256).contains((1...view.last).count { cache.value(of: $0) != nil }), "There is no row 0.")
            for event in read.joined() {
                let header = try view.header(at: event.position.rawValue)
                #expect(header.version == event.version.rawValue)
            }
            try log.withView { later in
                #expect(later.addresses !== cache && later.addresses?.isFull == false)
            }
        }
        for _ in 0..<3 {
            #expect(try histories(log) == read)
            #expect(try known(log) <= 2 * 128)
        }
    }

    @Test(
        "After a failed commit, when the file is mapped again, no address is used that was found before",
        .hits(.outcomeUnknown))
    func reopened() throws {
        let log = try filled()
        let read = try histories(log)
        #expect(try known(log) > 0)
        let before = try log.withView { $0.addresses }
        // LMDB writes the page that ends a commit by its own descriptor. A commit that fails there closes the file.
        let file = folder.path + "/data.mdb"
        let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        let synced = numbers.filter { descriptor in
            let flags = fcntl(descriptor, F_GETFL)
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return target == file && flags & O_DSYNC != 0
        }
        #expect(synced.count == 1)
        let readOnly = open(file, O_RDONLY)
        for descriptor in synced { #expect(dup2(readOnly, descriptor) >= 0) }
        close(readOnly)
        #expect(throws: AppendError.outcomeUnknown(code: EBADF)) {
            try log.append([.customEventLogged(CustomEvent(name: "lost"))], to: name(1))
        }
        #expect(try known(log) == 0)
        #expect(try log.withView { $0.addresses } !== before)
        #expect(log.environment.reopenings == 1)
        for _ in 0..<2 { #expect(try histories(log).map { Array($0.prefix(101)) } == read) }
        #expect(try known(log) > 0)
    }

    @Test("Readers on several threads see the events of users who are not erased, whatever others write")
    func concurrent() throws {
        let log = try filled()
        let before = try histories(log)
        let other = try EventLog(path: folder.path, options: .small(clock, indexLag: 300))
        let wrong = Mutex<[Int]>([])
        let isDone = Atomic(false)
        onThreads(4) { thread in
            if thread == 0 {
                for round in 0..<6 {
                    try? append(300, to: other)
                    _ = try? other.erase([name(round)], actor: "a test", reason: "asked for")
                }
                isDone.store(true, ordering: .releasing)
                return
            }
            repeat {
                for user in 6..<10 {
                    let number = try? log.find(name(user))?.number
                    let events = number.flatMap { try? log.history(of: $0) } ?? []
                    if Array(events.prefix(101)) != before[user] { wrong.withLock { $0.append(user) } }
                }
            } while !isDone.load(ordering: .acquiring)
        }
        #expect(wrong.withLock { $0 } == [])
    }
}
