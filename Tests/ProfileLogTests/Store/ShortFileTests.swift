import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogStore

/// LMDB counts pages that it never wrote: those that a transaction took from the file's end and gave back.
@Suite("A file that is shorter than it counts is whole if what it lacks is free, and else refused")
struct ShortFileTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
    private var file: String { folder.path + "/data.mdb" }

    private func open() throws -> EventLog {
        try EventLog(path: folder.path, create: true, options: .small(clock, indexLag: 100_000))
    }

    private func bytes() throws -> UInt64 { try #require(FileIdentity(file)).bytes }

    private func cut(to bytes: UInt64) throws { try #require(truncate(file, off_t(bytes)) == 0) }

    /// Returns the number of pages that the closed store's file lacks, and the number of its bytes.
    private func fill(_ work: (EventLog) throws -> Void) throws -> (missing: Int, bytes: UInt64) {
        var log: EventLog? = try open()
        let missing = try log.map { log in
            for round in 0..<200 { _ = try log.append([played], to: .externalID("u\(round)")) }
            try work(log)
            return try self.missing(log)
        }
        log = nil
        return (missing ?? 0, try bytes())
    }

    private func missing(_ log: EventLog) throws -> Int { (Int(log.environment.usedBytes) - Int(try bytes())) / 4096 }

    private func expectWhole() throws {
        let log = try open()
        #expect(try log.find(.externalID("u7"))?.version.rawValue == 2)
        _ = try log.append([played], to: .externalID("u7"))
        try log.writeIndex()
    }

    private func expectCut(bytes: UInt64) {
        #expect {
            try open()
        } throws: { error in
            guard case StorageError.truncated(_, bytes, _) = error else { return false }
            return true
        }
    }

    /// Gives back what it took: a value with pages of its own.
    private func longValue(_ log: EventLog) throws {
        try log.environment.withWriteTransaction { transaction in
            let table = log.environment.tables.checkpoints
            try transaction.put(table, [1], Array(repeating: 7, count: 100_000))
            try transaction.delete(table, [1])
        }
    }

    /// Empties many leaves of a table at once, in an order that copies all of them before the first is empty.
    private func leaves(_ log: EventLog, rows: Int = 20_000) throws {
        let table = log.environment.tables.checkpoints
        let keys = (0..<rows).map { round in
            var key = Array("row ".utf8)
            key.appendBigEndian(UInt64(round))
            return key
        }
        try log.environment.withWriteTransaction { transaction in
            for key in keys { try transaction.put(table, key, Array(repeating: 7, count: 20)) }
        }
        var random = SeededGenerator(seed: 5)
        try log.environment.withWriteTransaction { transaction in
            for key in keys.shuffled(using: &random) { try transaction.delete(table, key) }
        }
    }

    @Test("Pages of a long value, and leaves that were emptied", arguments: [false, true])
    func whole(hasLeaves: Bool) throws {
        let file = try fill { try hasLeaves ? leaves($0) : longValue($0) }
        #expect(file.missing > 10)
        try expectWhole()
    }

    @Test("A list with branches, and with values that have pages of their own, cut as long as what goes is free")
    func longList() throws {
        folder.expectDamage()
        let (_, bytes) = try fill { log in
            // What is given back during a read is not used again.
            try log.environment.withReadTransaction { _ in
                try leaves(log)
                for round in 0..<400 { _ = try log.append([played], to: .externalID("v\(round)")) }
            }
            // Now it is, and what is at the file's end is copied to other places.
            for _ in 0..<3 { _ = try log.append([played], to: .externalID("v1")) }
        }
        let data = try Data(contentsOf: URL(filePath: file))
        let meta = newest(data)
        #expect(number(data, meta + Meta.branchesOfFreePages) > 0)
        #expect(number(data, meta + Meta.valuePagesOfFreePages) > 0)
        var length = bytes
        repeat { length -= 4096 } while try isWhole(cutTo: length)
        #expect(length < bytes - 4096)
        try data.write(to: URL(filePath: file))
        try cut(to: length + 4096)
        try expectWhole()
    }

    private func isWhole(cutTo length: UInt64) throws -> Bool {
        try cut(to: length)
        do {
            _ = try open()
            return true
        } catch StorageError.truncated {
            return false
        }
    }

    @Test("Cut further, into a page that is in use")
    func cutFurther() throws {
        folder.expectDamage()
        let (missing, bytes) = try fill(longValue)
        #expect(missing > 10)
        let data = try Data(contentsOf: URL(filePath: file))
        for root in [Meta.rootOfFreePages, Meta.rootOfTables] {
            let page = number(data, newest(data) + root)
            for length in [page * 4096, page * 4096 + 100, (page + 1) * 4096 - 1] {
                try #require(length < bytes)
                try cut(to: length)
                expectCut(bytes: length)
                try data.write(to: URL(filePath: file))
            }
        }
        try expectWhole()
    }

    @Test("Garbage in the list of free pages is no proof", arguments: Thoroughness.seeds(short: 10, full: 40))
    func garbage(seed: UInt64) throws {
        folder.expectDamage()
        let (missing, bytes) = try fill { try seed % 2 == 0 ? longValue($0) : leaves($0) }
        #expect(missing > 10)
        var random = SeededGenerator(seed: seed)
        var data = try Data(contentsOf: URL(filePath: file))
        let root = Int(number(data, newest(data) + Meta.rootOfFreePages))
        // The offsets of its rows, one row, or any bytes of it.
        let begin = root * 4096 + [0, 8, 16, 16 + 2 * random.next(below: 4), random.next(below: 4096)][Int(seed % 5)]
        for index in begin..<min(begin + 1 + random.next(below: 8), (root + 1) * 4096) {
            data[index] = UInt8.random(in: .min ... .max, using: &random)
        }
        try data.write(to: URL(filePath: file))
        // Refused, or unchanged if the damaged bytes say nothing about the missing pages; but answered.
        do {
            _ = try open()
        } catch StorageError.truncated(_, let found, _) {
            #expect(found == bytes)
        }
    }

    private func number(_ data: Data, _ offset: Int) -> UInt64 {
        data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    /// Returns the offset of the meta page that was written last.
    private func newest(_ data: Data) -> Int { number(data, 144) > number(data, 4096 + 144) ? 0 : 4096 }

    /// Offsets of the two trees in a meta page.
    private enum Meta {
        static let (branchesOfFreePages, valuePagesOfFreePages) = (48, 64)
        static let (rootOfFreePages, rootOfTables) = (80, 128)
    }

    @Test("A launch that flushes all that many leaves hold")
    func launch() throws {
        let saved = ProfileEvent.customEventSaved(CustomEvent(name: "saved"))
        var log: EventLog? = try EventLog(path: folder.path, create: true)
        try log.map { log in
            var builder = log.prepare(capacity: 10_000)
            for _ in 0..<10_000 { try builder.add(saved, .saved(on: "d"), to: .externalID("ana")) }
            _ = try log.commit(builder.finish())
            try log.writeIndex()
            _ = try log.launch(device: "d")
            try log.writeIndex()
        }
        log = nil
        let again = try EventLog(path: folder.path)
        #expect(try again.reader.devices.pending(on: "d").isEmpty)
    }
}
