import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("A broken page in a cache of an open store")
struct BrokenCachePageTests {
    private let folder = TemporaryFolder()
    private let pageBytes = 4_096

    /// The line of the store's file in the list of this process's maps. The system tells that in parts, and passes over
    /// some while others come and go.
    private func mapOfFile() throws -> Substring? {
        for _ in 0..<100 {
            let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n")
            if let map = maps.first(where: { $0.hasSuffix(folder.path + "/data.mdb") }) { return map }
        }
        return nil
    }

    /// Overwrites the page of the file on which the last row of `table` lies with zeros.
    private func breakPage(ofLastRowIn table: Table.Name, _ log: EventLog) throws {
        let address = try log.environment.withReadTransaction { transaction in
            try transaction.withCursor(log.environment.tables[table]) { cursor in
                UInt(bitPattern: try cursor.last()?.value.baseAddress)
            }
        }
        let map = try #require(try mapOfFile())
        let begin = try #require(UInt(map.prefix { $0 != "-" }, radix: 16))
        let file = try FileHandle(forUpdating: URL(filePath: folder.path + "/data.mdb"))
        try file.seek(toOffset: UInt64(address - begin) / UInt64(pageBytes) * UInt64(pageBytes))
        try file.write(contentsOf: Data(count: pageBytes))
        try file.close()
    }

    @Test("The flush that meets it rebuilds the caches, and the tail does not grow for ever")
    func flush() throws {
        var options = LogOptions.small(TestClock(), indexLag: 10)
        options.usersPerIndexSlice = 1_000
        let log = try folder.open(options: options)
        func append(_ count: Int, to user: (Int) -> Int) throws {
            var builder = log.prepare()
            for index in 0..<count {
                let id = UserID.externalID("user \(user(index))")
                try builder.add(.customEventLogged(CustomEvent(name: "e")), .test, to: id)
            }
            _ = try log.commit(builder.finish())
        }
        try append(1_000) { $0 }
        try log.writeIndex()
        try append(1) { _ in 999 }
        try breakPage(ofLastRowIn: .streams, log)
        // The last user's version is in the tail; their row on the page is needed by the flush only.
        try append(1_000) { _ in 999 }
        #expect(try log.reader.statistics().extent.indexed == log.lastPosition())
        try log.expectSound()
        #expect(try log.find(.externalID("user 998"))?.version.rawValue == 2)
    }
}
