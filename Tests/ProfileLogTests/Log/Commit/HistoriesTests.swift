import ProfileLog
import TestSupport
import Testing

@Suite("Histories of a log")
struct HistoriesTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private static let row = Array(LogHistories.row.utf8)

    private func filled(_ count: Int = 9) throws -> EventLog {
        let log = try folder.open(options: .small(clock))
        for index in 0..<count {
            let event = ProfileEvent.customEventLogged(CustomEvent(name: Name("e\(index)")))
            _ = try log.append([event], to: .externalID("ana"))
        }
        return log
    }

    private func histories(_ froms: UInt64...) -> LogHistories? {
        LogHistories(
            froms.enumerated().map { index, from in
                LogHistory(
                    id: UInt64(index + 1) << 60 | 7, from: Position(rawValue: from),
                    begun: Timestamp(rawValue: Int64(from) - 3))
            })
    }

    private func write(_ histories: LogHistories, _ log: EventLog) throws {
        try log.damage(.meta, Self.row) { $0 = histories.bytes }
    }

    @Test("A store that was never restored has no row, and its history is the original one")
    func original() throws {
        let log = try filled()
        #expect(try log.rows(.meta)[Self.row] == nil)
        #expect(try log.history() == .original)
        #expect(try log.history().text == "0000000000000000")
        #expect(try log.reader.histories().list.isEmpty)
    }

    @Test("The row of histories is read as it was written, and anything else is refused")
    func coding() throws {
        let list = try #require(histories(3, 4, 1 << 40))
        #expect(list.bytes.count == 72)
        #expect(list.bytes.withUnsafeBytes { LogHistories($0) } == list)
        #expect(list.newest.text == "3000000000000007")
        for count in 1..<72 where count % 24 != 0 {
            #expect(Array(list.bytes.prefix(count)).withUnsafeBytes { LogHistories($0) } == nil)
        }
        #expect(histories(3, 3) == nil && histories(4, 3) == nil && histories(0) == nil)
        #expect(LogHistories([LogHistory(id: 0, from: 2, begun: clock.now)]) == nil)
    }

    @Test("A position is of the last history that begins at it or before it")
    func positions() throws {
        let list = try #require(histories(3, 6))
        #expect((1...7).map { list.history(at: Position(rawValue: $0)).id >> 60 } == [0, 0, 1, 1, 1, 2, 2])
        #expect(list.upTo(5).list.count == 2 && list.upTo(4).list.count == 1 && list.upTo(1).list.isEmpty)
    }

    @Test("A restore forgets the histories that had no event yet, and begins one of its own")
    func restored() throws {
        let list = try #require(histories(3, 6))
        #expect(list.restored(to: 9, at: clock.now).list.map(\.from) == [3, 6, 10])
        #expect(list.restored(to: 5, at: clock.now).list.map(\.from) == [3, 6])
        #expect(list.restored(to: 5, at: clock.now).newest != list.newest)
        #expect(list.restored(to: 2, at: clock.now).list.map(\.from) == [3])
        #expect(LogHistories().restored(to: 0, at: clock.now).list.map(\.from) == [1])
    }

    @Test("Two logs have the same history up to the position before the first difference")
    func common() throws {
        let list = try #require(histories(3, 6))
        #expect(list.commonEnd(with: list) == nil && LogHistories().commonEnd(with: LogHistories()) == nil)
        #expect(list.commonEnd(with: LogHistories()) == 2 && LogHistories().commonEnd(with: list) == 2)
        #expect(list.commonEnd(with: list.restored(to: 9, at: clock.now)) == 9)
        #expect(list.commonEnd(with: list.restored(to: 4, at: clock.now)) == 4)
        let other = list.restored(to: 7, at: clock.now)
        #expect(list.restored(to: 8, at: clock.now).commonEnd(with: other) == 7)
    }

    @Test("A compaction keeps the histories, and a copy has those of the positions that it holds")
    func copies() throws {
        var log = try filled()
        let list = try #require(histories(3, 6, 11))
        try write(list, log)
        #expect(try log.history() == list.newest)
        let (whole, cut) = (TemporaryFolder(), TemporaryFolder())
        _ = try log.replay(into: whole.path)
        #expect(try EventLog(path: whole.path).reader.histories() == list)
        _ = try log.replay(into: cut.path, until: 4)
        #expect(try EventLog(path: cut.path).reader.histories() == list.upTo(4))
        _ = try log.replay(into: cut.path)
        #expect(try EventLog(path: cut.path).rows(.meta) == log.rows(.meta))
        log.close()
        _ = try EventLog.compact(path: folder.path, options: .small(clock))
        log = try folder.open(options: .small(clock))
        #expect(try log.reader.histories() == list)
    }

    @Test("check names a row of histories that is none, or that begins later than the next event")
    func check() throws {
        folder.expectDamage()
        let log = try filled()
        let end = try log.lastPosition().rawValue
        try write(try #require(histories(2, end + 1)), log)
        #expect(try log.check().isSound)
        for bytes in [try #require(histories(2, end + 2)).bytes, [1, 2, 3]] {
            try log.damage(.meta, Self.row) { $0 = bytes }
            #expect(try log.check().problems.map(\.place) == ["meta histories"])
        }
        #expect(throws: StorageError.damaged(place: "row histories of table meta")) { try log.history() }
        // Reads that do not tell the history go on.
        #expect(try log.find(.externalID("ana"))?.version == 10)
    }
}
