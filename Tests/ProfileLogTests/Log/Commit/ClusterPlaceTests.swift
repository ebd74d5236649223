import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("A store that is of a cluster")
struct ClusterPlaceTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()
    private static let event = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
    private static let writer = Array("writer".utf8)
    private static let replica = Array("replica".utf8)

    private func open(_ options: LogOptions? = nil) throws -> EventLog {
        try EventLog(path: folder.path, create: true, options: options ?? .small(clock))
    }

    private func append(to log: EventLog, _ user: String = "ana") throws {
        _ = try log.append([Self.event], to: .externalID(user))
    }

    private func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: folder.path + "/data.mdb"))) }

    @Test("A program that is not the node reads the store, and writes not an event, not a cache, not a byte")
    func otherProgram() throws {
        do {
            let log = try open()
            for _ in 0..<100 { try append(to: log) }
            try log.join()
        }
        let before = try bytes()
        do {
            let log = try open()
            #expect(log.writeRefusal == .inCluster)
            #expect(try log.lastPosition().rawValue == 101)
            #expect(try log.profile(of: UserNumber(rawValue: 1)).version.rawValue == 101)
            #expect(throws: AppendError.refused(.inCluster)) { try append(to: log) }
            #expect(throws: AppendError.refused(.inCluster)) {
                try log.erase([.externalID("ana")], actor: "a test", reason: "asked to")
            }
            #expect(throws: StorageError.inCluster) { try log.rebuildCaches() }
        }
        #expect(try bytes() == before)
    }

    @Test("A program that opened the store before it joined notices at its next write")
    func joinedMeanwhile() throws {
        let log = try open()
        try append(to: log)
        try log.join()
        #expect(throws: AppendError.refused(.inCluster)) { try append(to: log) }
        #expect(log.writeRefusal == .inCluster)
        #expect(try log.lastPosition().rawValue == 2)
        #expect(throws: AppendError.refused(.inCluster)) {
            try log.erase([.externalID("ana")], actor: "a test", reason: "asked to")
        }
    }

    @Test("Health knows that the store joined before the next write does")
    func refusalIsKnown() throws {
        let log = try open()
        try append(to: log)
        #expect(log.writeRefusal == nil)
        try log.join()
        #expect(log.writeRefusal == .inCluster)
    }

    @Test("The node of a store writes, and each batch moves the store's place")
    func node() throws {
        let place = try open().join()
        let log = try open(LogOptions.small(clock).ofNode())
        #expect(log.writeRefusal == nil)
        try append(to: log)
        #expect(try log.reader.replicaPosition() == OneNodeStream.next(place))
        _ = try log.erase([.externalID("ana")], actor: "a test", reason: "asked to")
        #expect(try log.reader.replicaPosition()?.sequence == place.sequence + 2)
        #expect(try log.rows(.meta)[Self.writer] == [0, 0, 0, 2])
    }

    @Test("Older programs know a format of writers of 1, so a store has 2 for as long as it is of the cluster")
    func olderPrograms() throws {
        #expect(CommitBatch.storeFormat == 1 && CommitBatch.nodeFormat == 2)
        do {
            let log = try open()
            #expect(try log.rows(.meta)[Self.writer] == [0, 0, 0, 1])
            try log.join()
            #expect(try log.rows(.meta)[Self.writer] == [0, 0, 0, 2])
        }
        _ = try EventLog.leaveCluster(path: folder.path)
        #expect(try open().rows(.meta)[Self.writer] == [0, 0, 0, 1])
    }

    // MARK: - Leaving

    @Test("Out of its cluster a store takes writes from every program again, and nothing else of it has changed")
    func leaving() throws {
        let place: ReplicaPosition
        let log: [[UInt8]: [UInt8]]
        let names: [[UInt8]: [UInt8]]
        do {
            let member = try open()
            try append(to: member)
            place = try member.join()
            log = try member.rows(.log)
            names = try member.rows(.names)
        }
        #expect(try EventLog.leaveCluster(path: folder.path) == place)
        #expect(try EventLog.leaveCluster(path: folder.path) == nil)
        let alone = try open()
        #expect(try alone.rows(.log) == log && alone.rows(.names) == names)
        #expect(try alone.rows(.meta)[Self.replica] == nil)
        try append(to: alone)
        #expect(try alone.lastPosition().rawValue == 3)
    }

    @Test("No store leaves its cluster while a program has it open")
    func leavingInUse() throws {
        let log = try open()
        let place = try log.join()
        #expect(throws: StorageError.inUse(path: folder.path)) { try EventLog.leaveCluster(path: folder.path) }
        #expect(try log.reader.replicaPosition() == place)
    }

    @Test("There is nothing to leave where there is no store, and none is made")
    func leavingNothing() throws {
        #expect(throws: StorageError.noStore(path: folder.path)) { try EventLog.leaveCluster(path: folder.path) }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/data.mdb"))
    }

    // MARK: - Copies

    @Test("A compaction keeps the store's place, and the node goes on")
    func compaction() throws {
        let stream = OneNodeStream()
        let meta: [[UInt8]: [UInt8]]
        do {
            try open().join()
            let log = try open(LogOptions.small(clock).ofNode(stream))
            for user in ["ana", "bo"] { try append(to: log, user) }
            _ = try log.erase([.externalID("ana")], actor: "a test", reason: "asked to")
            meta = try log.rows(.meta)
        }
        #expect(try EventLog.compact(path: folder.path))
        #expect(try open().rows(.meta) == meta)
        let log = try open(LogOptions.small(clock).ofNode(stream))
        try append(to: log, "cy")
        #expect(try log.reader.replicaPosition()?.sequence == 5)
    }

    @Test("A copy by a replay is of no cluster: it may end before the batch of the place")
    func replayedCopy() throws {
        let copy = TemporaryFolder()
        do {
            let log = try open()
            for _ in 0..<5 { try append(to: log) }
            try log.join()
            for until in [Position(rawValue: 3), nil] {
                try? FileManager.default.removeItem(atPath: copy.path)
                _ = try log.replay(into: copy.path, until: until)
                let rows = try EventLog(path: copy.path).rows(.meta)
                #expect(rows[Self.replica] == nil && rows[Self.writer] == [0, 0, 0, 1])
            }
        }
        try append(to: EventLog(path: copy.path))
    }
}
