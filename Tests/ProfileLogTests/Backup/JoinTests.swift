import Foundation
import ProfileLog
import ProfileLogBackup
import Synchronization
import TestSupport
import Testing

@Suite("A node that joins a cluster by a copy of another one's store")
struct JoinTests {
    private static let replica = Array(ReplicaPosition.row.utf8)

    /// The copy that a node sends, and what the archive of a backup has.
    private static func copy(
        of log: EventLog, keys: String? = nil, progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let archive = BackupArchive(modified: Timestamp(rawValue: 0), holdsOldGenerations: true) { bytes += $0 }
        var run = BackupRun(log: log, target: archive)
        if let keys { run.settings = [(name: "keys.json", content: Array(keys.utf8))] }
        _ = try run.run(progress: progress)
        return bytes
    }

    /// Lets a new node take `copy` in pieces of up to `most` bytes.
    @discardableResult
    private static func join(
        _ copy: [UInt8], into path: String, most: Int = 100_000, options: LogOptions = LogOptions()
    ) throws -> RestoreReport {
        let folder = try JoinFolder(path: path)
        do {
            try take(copy, into: folder, most: most)
            return try folder.finish(options: options)
        } catch {
            folder.abandon()
            throw error
        }
    }

    private static func take(_ copy: [UInt8], into folder: JoinFolder, most: Int = 100_000) throws {
        var begin = 0
        while begin < copy.count {
            let end = min(copy.count, begin + most)
            try folder.unpacker.add(Array(copy[begin..<end]))
            begin = end
        }
    }

    private static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// Opens the store in `folder` without closing it before the end of the test.
    private func expectSame(_ story: RestoreStory, _ name: String, _ comment: Comment) throws {
        let joined = try story.folder.open(name, create: false, options: story.options)
        for table in [Table.Name.log, .names, .meta] {
            #expect(try joined.rows(table) == story.log.rows(table), "\(comment), \(table)")
        }
        #expect(try joined.truthDigest() == story.log.truthDigest(), comment)
        #expect(try joined.reader.extent().indexed == story.log.lastPosition(), comment)
        #expect(try joined.replay(verify: true).digest == story.log.replay().digest, comment)
    }

    @Test(
        "A joined store has the same log, names, meta and place, and its caches reach to the end",
        arguments: Thoroughness.seeds(short: 4, full: 60))
    func same(seed: UInt64) throws {
        var story = try RestoreStory(seed: seed)
        try story.act(150)
        try story.log.join()
        let copy = try Self.copy(of: story.log)
        let report = try Self.join(copy, into: story.folder("b"), most: story.number(3_000) + 1)
        #expect(try report.end == story.log.lastPosition(), "seed \(seed)")
        #expect(try Self.names(in: story.folder("b")) == ["data.mdb"], "seed \(seed)")
        try expectSame(story, "b", "seed \(seed)")
        // No history begins: the events after it are those of the cluster.
        let joined = try story.folder.open("b", create: false, options: story.options)
        #expect(try joined.history() == story.log.history(), "seed \(seed)")
    }

    @Test("A joined store writes from its place on, as the node that it was copied from would")
    func goesOn() throws {
        var story = try RestoreStory(seed: 1)
        try story.act(50)
        let place = try story.log.join()
        try Self.join(Self.copy(of: story.log), into: story.folder("b"))
        let log = try story.folder.open("b", create: false, options: story.options.ofNode())
        _ = try log.append([.customEventLogged(CustomEvent(name: "later"))], to: .externalID("u1"))
        #expect(try log.reader.replicaPosition() == OneNodeStream.next(place))
    }

    @Test("A store copied while others write ends with the last record of the batch that its place names")
    func whileOthersWrite() throws {
        let folder = try TemporaryFolder.made(prefix: "join")
        try EventLog(path: folder("a"), create: true).join()
        let stream = OneNodeStream()
        let log = try folder.open("a", options: LogOptions().ofNode(stream))
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        _ = try log.append([event], to: .externalID("ana"))
        let writer = BusyWriter(log, event)
        defer { writer.stop() }
        for number in 0..<10 {
            let copy = try Self.copy(of: log)
            try Self.join(copy, into: folder("b\(number)"))
            let joined = try EventLog(path: folder("b\(number)"))
            let place = try #require(try joined.reader.replicaPosition())
            #expect(try joined.lastPosition().rawValue == stream.lastPositions[place.sequence], "copy \(number)")
        }
    }

    @Test("Persons who are erased while the copy is sent are erased in the new node's store")
    func erasedMeanwhile() throws {
        let story = try BackupStory(from: BackupStory.large.get())
        try story.log.join()
        story.log.close()
        let log = try story.folder.open("store", options: LogOptions.small(story.clock).ofNode())
        var erasures = 0
        let copy = try Self.copy(of: log) { _ in
            erasures += 1
            if erasures == 1 { _ = try? log.erase([BackupStory.ana], actor: "a test", reason: "asked to") }
            return true
        }
        try Self.join(copy, into: story.folder("b"))
        let joined = try EventLog(path: story.folder("b"))
        for table in [Table.Name.log, .names, .meta] { #expect(try joined.rows(table) == log.rows(table)) }
        let data = try Data(contentsOf: story.folder.file("b/data.mdb"))
        #expect(data.firstRange(of: Data(BackupStory.canary.utf8)) == nil)
        #expect(try Self.names(in: story.folder("b")).contains("joining") == false)
    }

    // MARK: - What goes wrong

    @Test("A copy that is cut anywhere makes no store", arguments: Thoroughness.seeds(short: 4, full: 40))
    func cut(seed: UInt64) throws {
        var story = try RestoreStory(seed: seed)
        try story.act(40)
        try story.log.join()
        let copy = try Self.copy(of: story.log)
        // The archive ends with two empty blocks; the first one says that it is whole.
        for _ in 0..<20 {
            let count = story.number(copy.count - 1_024)
            let folder = try JoinFolder(path: story.folder("b"))
            try Self.take(Array(copy.prefix(count)), into: folder)
            #expect(!folder.unpacker.isComplete, "seed \(seed), \(count) bytes")
            #expect(throws: BackupError.self, "seed \(seed), \(count) bytes") { try folder.finish() }
            #expect(try StoreFolder(path: story.folder("b")) == .vacant, "seed \(seed), \(count) bytes")
            folder.abandon()
            #expect(try Self.names(in: story.folder("b")) == [], "seed \(seed), \(count) bytes")
        }
        // The next one begins again.
        try Self.join(copy, into: story.folder("b"))
        try expectSame(story, "b", "seed \(seed)")
    }

    @Test(
        "A copy with another byte anywhere makes the same store or none",
        arguments: Thoroughness.seeds(short: 2, full: 40))
    func damaged(seed: UInt64) throws {
        var story = try RestoreStory(seed: seed)
        try story.act(40)
        try story.log.join()
        let copy = try Self.copy(of: story.log)
        for number in 0..<30 {
            var bytes = copy
            let place = story.number(bytes.count)
            bytes[place] ^= UInt8(1 << story.number(8))
            let path = story.folder("b\(number)")
            do {
                try Self.join(bytes, into: path)
            } catch is BackupError {
                #expect(try StoreFolder(path: path) == .vacant, "seed \(seed), byte \(place)")
                continue
            }
            // Bytes between the files say nothing.
            try expectSame(story, "b\(number)", "seed \(seed), byte \(place)")
        }
    }

    @Test("A name in the archive leads nowhere else")
    func names() throws {
        let folder = try TemporaryFolder.made(prefix: "join")
        for name in ["../evil", "/tmp/evil", "log/../../evil", "evil", "log/evil.seg", "data.mdb"] {
            var bytes: [UInt8] = []
            let archive = BackupArchive(modified: Timestamp(rawValue: 0)) { bytes += $0 }
            try archive.write([1, 2, 3], to: name)
            let joining = try JoinFolder(path: folder("b"))
            #expect(throws: BackupError.self, "\(name)") { try joining.unpacker.add(bytes) }
            joining.abandon()
            #expect(try Self.names(in: folder.path) == ["b"] && Self.names(in: folder("b")) == [], "\(name)")
        }
    }

    @Test("A copy of a store that is of no cluster, or of one whose backup was stopped, is refused")
    func noPlace() throws {
        var story = try RestoreStory(seed: 3)
        try story.act(10)
        let copy = try Self.copy(of: story.log)
        #expect(throws: RestoreError.noPlace(path: story.folder("b/joining/copy"))) {
            try Self.join(copy, into: story.folder("b"))
        }
        #expect(try StoreFolder(path: story.folder("b")) == .vacant)
        // A stopped run ends before the batch that the place would name.
        let larger = try BackupStory(from: BackupStory.larger.get())
        try larger.log.join()
        #expect(try !larger.backUp { _ in false }.isComplete)
        #expect(throws: RestoreError.noPlace(path: larger.backup)) {
            try Restore(forNode: BackupReader(path: larger.backup))
        }
        try larger.backUp()
        _ = try Restore(forNode: BackupReader(path: larger.backup))
    }

    @Test("A folder with a store, or with files of another program, is left as it is")
    func occupied() throws {
        let folder = try TemporaryFolder.made(prefix: "join")
        _ = try EventLog(path: folder("store"), create: true).lastPosition()
        #expect(throws: RestoreError.occupied(path: folder("store"), name: "a store")) {
            try JoinFolder(path: folder("store"))
        }
        try FileManager.default.createDirectory(atPath: folder("other"), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: folder.file("other/notes"))
        #expect(throws: RestoreError.foreign(path: folder("other"))) { try JoinFolder(path: folder("other")) }
        #expect(try Self.names(in: folder("other")) == ["notes"])
        let first = try JoinFolder(path: folder("b"))
        #expect(throws: StorageError.inUse(path: folder("b"))) { try JoinFolder(path: folder("b")) }
        first.abandon()
    }

    @Test("What a join left that was killed is removed by the next one, and opens as no store")
    func leftover() throws {
        var story = try RestoreStory(seed: 4)
        try story.act(20)
        try story.log.join()
        let copy = try Self.copy(of: story.log)
        do {
            let folder = try JoinFolder(path: story.folder("b"))
            try Self.take(Array(copy.prefix(copy.count / 2)), into: folder)
            try Data([1]).write(to: story.folder.file("b/joining/left"))
        }
        #expect(throws: StorageError.noStore(path: story.folder("b"))) { try EventLog(path: story.folder("b")) }
        try Self.join(copy, into: story.folder("b"))
        #expect(try Self.names(in: story.folder("b")) == ["data.mdb"])
        try expectSame(story, "b", "after a leftover")
    }

    @Test("Keys come with the copy, and those that are in the folder already stay", arguments: [false, true])
    func keys(areThere: Bool) throws {
        var story = try RestoreStory(seed: 5)
        try story.act(10)
        try story.log.join()
        let copy = try Self.copy(of: story.log, keys: "theirs")
        if areThere {
            try FileManager.default.createDirectory(atPath: story.folder("b"), withIntermediateDirectories: true)
            try Data("own".utf8).write(to: story.folder.file("b/keys.json"))
        }
        try Self.join(copy, into: story.folder("b"))
        #expect(try Self.names(in: story.folder("b")) == ["data.mdb", "keys.json"])
        let keys = try Data(contentsOf: story.folder.file("b/keys.json"))
        #expect(String(decoding: keys, as: UTF8.self) == (areThere ? "own" : "theirs"))
    }

    // MARK: - Backups of a node

    @Test("An ordinary restore of a node's backup is of no cluster, and takes writes")
    func restored() throws {
        var story = try RestoreStory(seed: 6)
        try story.act(50)
        try story.log.join()
        try story.backUp()
        #expect(try BackupReader(path: story.backup).manifest.meta.contains { $0.name == ReplicaPosition.row })
        try story.restore("restored")
        let restored = try story.folder.open("restored", create: false, options: story.options)
        #expect(try restored.rows(.meta)[Self.replica] == nil)
        #expect(try restored.rows(.meta)[Array("writer".utf8)] == [0, 0, 0, 1])
        for table in [Table.Name.log, .names] { #expect(try restored.rows(table) == story.log.rows(table)) }
        _ = try restored.append([.customEventLogged(CustomEvent(name: "later"))], to: .externalID("u1"))
    }

    // MARK: - Digests

    @Test("Digests of two nodes at one position are equal while one of them goes on")
    func digests() throws {
        var story = try RestoreStory(seed: 7)
        try story.act(80)
        // No user of the story: a merge there releases an ID, which is a new user's then.
        let early = UserID.externalID("early")
        _ = try story.log.append([.customEventLogged(CustomEvent(name: "an old name"))], to: early)
        try story.log.join()
        let position = try story.log.lastPosition()
        try Self.join(Self.copy(of: story.log), into: story.folder("b"))
        let node = try story.folder.open("b", create: false, options: story.options.ofNode())
        func digest(_ log: EventLog, from: UInt64 = 1) throws -> LogDigest {
            try log.withReader { try $0.digest(from: Position(rawValue: from), to: position) }
        }
        let before = try digest(story.log)
        #expect(try digest(node) == before)
        let late = UserID.externalID("late")
        _ = try node.append([.customEventLogged(CustomEvent(name: "a new name"))], to: late)
        let after = try digest(node)
        #expect(after.log == before.log && after.names == before.names && after.meta == before.meta)
        #expect(after.nameCount == before.nameCount && after.place != before.place && after.last > before.last)
        #expect(try digest(node, from: 2).log != before.log)
        // Each erasure is counted. That of a later user rewrites no record up to the position.
        _ = try node.erase([late], actor: "a test", reason: "asked to")
        let afterLate = try digest(node)
        #expect(afterLate.rewrites == before.rewrites + 1 && afterLate.log == before.log)
        #expect(afterLate.names == before.names && afterLate.nameCount == before.nameCount)
        _ = try node.erase([early], actor: "a test", reason: "asked to")
        let afterEarly = try digest(node)
        #expect(afterEarly.rewrites == before.rewrites + 2 && afterEarly.log != before.log)
    }
}

/// A thread that appends until it is told to stop.
private final class BusyWriter: Sendable {
    private let isDone = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ log: EventLog, _ event: ProfileEvent) {
        startThread("test-writer") { [self] in
            var number = 0
            while !isDone.load(ordering: .relaxed) {
                _ = try? log.append([event], to: .externalID("u\(number % 50)"))
                number += 1
            }
            hasEnded.signal()
        }
    }

    func stop() {
        isDone.store(true, ordering: .relaxed)
        hasEnded.wait()
    }
}
