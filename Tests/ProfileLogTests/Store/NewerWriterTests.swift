import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("A store whose format only writers must know")
struct NewerWriterTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let newer = StorageError.newerFormat(needed: 99, known: CommitBatch.nodeFormat)

    private func open() throws -> EventLog { try EventLog(path: folder.path, options: .small(clock)) }

    private func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: folder.path + "/data.mdb"))) }

    init() throws {
        let log = try folder.open(options: .small(clock))
        for _ in 0..<100 { _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana")) }
        try log.damage(.meta, Array("writer".utf8)) { $0 = [0, 0, 0, 99] }
    }

    @Test("Is read")
    func reads() throws {
        let log = try open()
        #expect(try log.lastPosition().rawValue == 101)
        #expect(try log.profile(of: UserNumber(rawValue: 1)).version.rawValue == 101)
    }

    @Test("Is not written: not an event, not a cache, not a byte")
    func writes() throws {
        let before = try bytes()
        do {
            let log = try open()
            #expect(log.writeRefusal == newer)
            #expect(throws: AppendError.refused(newer)) {
                try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana"))
            }
            #expect(throws: newer) { try log.rebuildCaches() }
        }
        #expect(try bytes() == before)
    }
}
