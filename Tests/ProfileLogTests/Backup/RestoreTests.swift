import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

@Suite("A store that is restored from a backup")
struct RestoreTests {
    private static let histories = Array(LogHistories.row.utf8)

    private func rowsWithoutHistories(_ log: EventLog) throws -> [[UInt8]: [UInt8]] {
        try log.rows(.meta).filter { $0.key != Self.histories }
    }

    @Test(
        "A whole restore has the same rows, but for that of histories, and its caches reach to the end",
        arguments: Thoroughness.seeds(short: 4, full: 60))
    func whole(seed: UInt64) throws {
        var story = try RestoreStory(seed: seed)
        try story.act(150)
        try story.backUp()
        let report = try story.restore("restored")
        let restored = try story.folder.open("restored", create: false, options: story.options)
        for table in [Table.Name.log, .names] { #expect(try restored.rows(table) == story.log.rows(table)) }
        #expect(try rowsWithoutHistories(restored) == rowsWithoutHistories(story.log))
        #expect(report.end == (try story.log.lastPosition()))
        #expect(try restored.reader.extent().indexed == report.end)
        #expect(try restored.truthDigest() == story.log.truthDigest())
        #expect(try restored.replay(verify: true).digest == story.log.replay().digest)
        // It begins a history, and goes on.
        #expect(try restored.history() == report.history)
        #expect(report.history.from == report.end.next && report.history != .original)
        let receipt = try restored.append([.customEventLogged(CustomEvent(name: "later"))], to: .externalID("u1"))
        #expect(receipt.first > report.end)
    }

    @Test(
        "Restored to a position, a store is a fold of the events up to there",
        arguments: Thoroughness.seeds(short: 8, full: 500))
    func position(seed: UInt64) throws {
        var story = try RestoreStory(seed: seed)
        try story.act(120)
        try story.backUp()
        let last = try story.log.lastPosition().rawValue
        let end = Position(rawValue: UInt64(story.number(Int(last) + 1)))
        let report = try story.restore("restored", to: .position(end))
        #expect(report.end == end, "seed \(seed)")
        try expectPrefix(story, end, "seed \(seed)")
    }

    @Test(
        "Restored to a time, a store ends with the last event that was recorded at that time or before",
        arguments: Thoroughness.seeds(short: 8, full: 500))
    func time(seed: UInt64) throws {
        var story = try RestoreStory(seed: seed)
        try story.act(120)
        try story.backUp()
        let events = try RestoreStory.events(story.log, to: story.log.lastPosition())
        let times = events.map(\.recordedAt.rawValue)
        let (first, last) = (try #require(times.first), try #require(times.last))
        let time = Timestamp(rawValue: first + Int64(story.number(Int(last - first) + 1)))
        let expected = try #require(events.last { $0.recordedAt <= time })
        let report = try story.restore("restored", to: .time(time))
        #expect(report.end == expected.position && report.recordedAt == expected.recordedAt, "seed \(seed)")
        try expectPrefix(story, report.end, "seed \(seed)")
    }

    /// Compares the restored store with the source up to `end`, and its profiles with naive folds of those events.
    private func expectPrefix(_ story: RestoreStory, _ end: Position, _ comment: Comment) throws {
        let restored = try story.folder.open("restored", create: false, options: story.options)
        #expect(try restored.lastPosition() == end, comment)
        #expect(
            try RestoreStory.records(restored, to: end) == RestoreStory.records(story.log, to: end), comment)
        let events = try RestoreStory.events(story.log, to: end)
        #expect(try RestoreStory.events(restored, to: end) == events, comment)
        // Names that came later are absent.
        let used = Set(
            events.compactMap { recorded -> Name? in
                switch recorded.event {
                case .customEventLogged(let event), .customEventSaved(let event): event.name
                default: nil
                }
            })
        let names = try story.log.rows(.names)
        #expect(try restored.rows(.names).allSatisfy { names[$0.key] == $0.value }, comment)
        for number in 0..<story.log.names.count {
            guard let name = story.log.names.name(number + 1), name.text.hasPrefix("new ") else { continue }
            #expect((restored.names.number(name) != nil) == used.contains(name), "\(comment): \(name)")
        }
        for user in try restored.users(limit: .max) where !user.isErased {
            let own = events.filter { $0.user == user.number }
            #expect(own.last?.version == user.version, comment)
            let expected = PastModel(recorded: own) { source, version in
                events.filter { $0.user == source && $0.version <= version }
            }
            #expect(PastModel(restored.named(try restored.profile(of: user.number))) == expected, comment)
        }
        #expect(try restored.reader.extent().indexed == end, comment)
        #expect(try restored.replay(verify: true).isEqual, comment)
    }

    @Test("A log of several segments is restored over their borders, to positions and times of each")
    func segments() throws {
        let story = try RestoreStory(seed: 1)
        let count = Int(Segment.positions) + 300
        for begin in stride(from: 0, to: count, by: 10_000) {
            var builder = story.log.prepare(capacity: 10_000)
            for index in begin..<min(count, begin + 10_000) {
                let event = CustomEvent(name: Name("e\(index % 50)"), properties: [.init("n", .int(Int64(index)))])
                try builder.add(.customEventLogged(event), .test, to: .externalID("u\(index % 97)"))
            }
            story.clock.advance(1_000_000)
            _ = try story.log.commit(builder.finish())
        }
        try story.backUp()
        let reader = try BackupReader(path: story.backup)
        let border = Segment.positions
        for end in [1, border - 1, border, border + 1, try story.log.lastPosition().rawValue] {
            let end = Position(rawValue: end)
            let time = try #require(try story.log.event(at: end)).recordedAt
            #expect(try Restore(reader, to: .position(end)).recordedAt == time)
            let expected = try story.log.reader.past.lastPosition(recordedBy: time)
            #expect(try Restore(reader, to: .time(time)).end == expected)
        }
        let end = Position(rawValue: border + 1)
        try story.restore("restored", to: .position(end))
        let restored = try EventLog(path: story.folder("restored"), options: story.options)
        #expect(try restored.lastPosition() == end && restored.reader.extent().indexed == end)
        #expect(try RestoreStory.records(restored, to: end) == RestoreStory.records(story.log, to: end))
    }

    @Test("What the backup does not have is refused, and says where it begins and ends")
    func beyond() throws {
        var story = try RestoreStory(seed: 3)
        story.clock.advance(10_000_000)
        try story.act(20, erases: false)
        let (last, begun) = (try story.log.lastPosition(), try #require(try story.log.event(at: 1)).recordedAt)
        try story.backUp()
        let manifest = try BackupReader(path: story.backup).manifest
        #expect(throws: RestoreError.beyondBackup(last: last, recordedAt: manifest.recordedAt)) {
            try story.restore("x", to: .position(last.next))
        }
        #expect(throws: RestoreError.afterBackup(written: manifest.written)) {
            let later = max(manifest.written, manifest.recordedAt).rawValue + 1
            try story.restore("x", to: .time(Timestamp(rawValue: later)))
        }
        #expect(throws: RestoreError.beforeFirst(recordedAt: begun)) {
            try story.restore("x", to: .time(Timestamp(rawValue: begun.rawValue - 1)))
        }
        #expect(!FileManager.default.fileExists(atPath: story.folder("x")))
        #expect(try story.restore("x", to: .time(begun)).end >= 1)
        // Nothing but the rows of the store itself.
        _ = try story.restore("nothing", to: .position(0))
        let restored = try story.folder.open("nothing", create: false, options: story.options)
        #expect(try restored.rows(.log).isEmpty && restored.rows(.names).isEmpty)
        #expect(restored.storeID == story.log.storeID)
        _ = try restored.append([.customEventLogged(CustomEvent(name: "first"))], to: .externalID("ana"))
    }

    @Test("A backup without events is restored to any time until it was made")
    func empty() throws {
        var story = try RestoreStory(seed: 4)
        try story.backUp()
        let written = try BackupReader(path: story.backup).manifest.written
        #expect(try story.restore("restored", to: .time(Timestamp(rawValue: written.rawValue - 1))).end == .start)
    }

    @Test("Settings come back for the owner alone, whatever the mode of the backup is")
    func settings() throws {
        var story = try RestoreStory(seed: 4)
        try story.act(10)
        var run = BackupRun(
            log: story.log, target: try BackupFolder(path: story.backup, store: story.log.path))
        run.settings = [(name: "keys.json", content: Array("{}".utf8))]
        _ = try run.run()
        #expect(try story.restore("restored").settings == ["keys.json"])
        for (name, mode) in [("", 0o700), ("/keys.json", 0o600), ("/data.mdb", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: story.folder("restored") + name)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
        #expect(FileManager.default.contents(atPath: story.folder("restored/keys.json")) == Data("{}".utf8))
    }

    // MARK: - The folder

    @Test("A folder with a store is left as it is; a store that is replaced is moved aside, with all that it holds")
    func replaced() throws {
        var story = try RestoreStory(seed: 5)
        try story.act(30)
        try story.backUp()
        let target = story.folder("shop")
        var old: EventLog? = try EventLog(path: target, create: true)
        _ = try old?.append([.customEventLogged(CustomEvent(name: "old"))], to: .externalID("ana"))
        #expect(throws: RestoreError.occupied(path: target, name: "a store")) { try story.restore("shop") }
        #expect(throws: RestoreError.storeInUse(path: target)) { try story.restore("shop", replacing: true) }
        old?.close()
        old = nil
        let report = try story.restore("shop", replacing: true)
        let aside = try #require(report.movedAside)
        #expect(aside.hasPrefix(target + ".before-20"))
        #expect(try EventLog(path: aside).find(.externalID("ana")) != nil)
        #expect(try EventLog(path: target).storeID == story.log.storeID)
        // Again, within the same second.
        let second = try #require(try story.restore("shop", replacing: true).movedAside)
        #expect(second != aside && second.hasPrefix(target + ".before-20"))
        let names = try FileManager.default.contentsOfDirectory(atPath: story.folder.path)
        #expect(names.count { $0.hasPrefix("shop.") } == 2, "\(names)")
    }

    @Test("Files of others, and the folder of the backup, are no place for a store")
    func foreign() throws {
        var story = try RestoreStory(seed: 6)
        try story.act(10)
        try story.backUp()
        let files = FileManager.default
        try files.createDirectory(atPath: story.folder("other"), withIntermediateDirectories: true)
        try Data("text".utf8).write(to: story.folder.file("other/notes.txt"))
        for replacing in [true, false] {
            #expect(throws: RestoreError.foreign(path: story.folder("other"))) {
                try story.restore("other", replacing: replacing)
            }
            for name in ["backup", "backup/log", "."] {
                #expect(throws: RestoreError.self, "\(name)") { try story.restore(name, replacing: replacing) }
            }
        }
        // The keys of a service that has not begun are no reason to lose them.
        try files.createDirectory(atPath: story.folder("keys"), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: story.folder.file("keys/keys.json"))
        #expect(throws: RestoreError.occupied(path: story.folder("keys"), name: "keys.json")) {
            try story.restore("keys")
        }
        let aside = try #require(try story.restore("keys", replacing: true).movedAside)
        #expect(files.fileExists(atPath: aside + "/keys.json"))
        // An empty folder is taken as it is.
        try files.createDirectory(
            atPath: story.folder("empty"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
        #expect(try story.restore("empty").movedAside == nil)
        let mode = try files.attributesOfItem(atPath: story.folder("empty"))[.posixPermissions] as? Int
        #expect(mode == 0o750)
    }

    @Test("A restore that ends early leaves no store, and what a killed one left is no obstacle")
    func early() throws {
        var story = try RestoreStory(seed: 7)
        try story.act(60)
        try story.backUp()
        let reader = try BackupReader(path: story.backup)
        let files = FileManager.default
        // Stopped after each note of progress.
        for stop in 0..<10 {
            let target = try RestoreFolder(path: story.folder("shop"), replacing: false, backup: story.backup)
            var notes = 0
            do {
                _ = try Restore(reader).run(into: target, options: story.options) { _ in
                    notes += 1
                    return notes <= stop
                }
                #expect(stop > 0)
                break
            } catch RestoreError.stopped {
                #expect(!files.fileExists(atPath: story.folder("shop")))
                #expect(!files.fileExists(atPath: story.folder("shop.restoring")))
            }
        }
        #expect(try EventLog(path: story.folder("shop")).truthDigest() == story.log.truthDigest())
        // As after a kill: half a store, in a folder that is none.
        let left = story.folder("other.restoring/store")
        try files.createDirectory(atPath: left, withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: URL(filePath: left + "/data.mdb"))
        #expect(try StoreFolder(path: story.folder("other.restoring")) == .foreign)
        try story.restore("other")
        #expect(try EventLog(path: story.folder("other")).truthDigest() == story.log.truthDigest())
        #expect(!files.fileExists(atPath: story.folder("other.restoring")))
    }

    @Test(
        "A folder that has only the settings of a restore is as good as empty: a node may join there",
        arguments: ["keys.json", "workspace.yaml", "profiled.yaml"])
    func settingsAlone(name: String) throws {
        let folder = try TemporaryFolder.made(prefix: "settings")
        try Data("x".utf8).write(to: folder.file(name))
        #expect(try StoreFolder(path: folder.path) == .vacant)
    }

    @Test("Two restores into one folder at once: the second is refused, and takes nothing from the first")
    func twice() throws {
        var story = try RestoreStory(seed: 8)
        try story.act(10)
        try story.backUp()
        let first = try RestoreFolder(path: story.folder("shop"), replacing: false, backup: story.backup)
        try first.begin()
        let files = FileManager.default
        let written = first.store + "/data.mdb"
        try files.createDirectory(atPath: first.store, withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: URL(filePath: written))
        #expect(throws: RestoreError.alreadyRunning(path: story.folder("shop"))) { try story.restore("shop") }
        #expect(files.contents(atPath: written) == Data([1, 2, 3]))
        first.abandon()
        #expect(!files.fileExists(atPath: story.folder("shop.restoring")))
    }

    // MARK: - Damage

    @Test("A changed byte anywhere in the backup is refused, and so is a file that is cut anywhere")
    func damage() throws {
        var story = try RestoreStory(seed: 9)
        try story.act(12)
        try story.backUp()
        let digest = try story.log.truthDigest()
        let files = FileManager.default
        let names = try files.subpathsOfDirectory(atPath: story.backup).filter {
            $0.hasSuffix(".seg") || $0 == Manifest.fileName
        }
        #expect(names.count >= 3)
        for name in names {
            let file = story.folder.file("backup/\(name)")
            let whole = try Data(contentsOf: file)
            for index in stride(from: 0, to: whole.count, by: Thoroughness.isFull ? 1 : 37) {
                var changed = whole
                changed[index] ^= 1 << UInt8(index % 8)
                try changed.write(to: file)
                #expect(throws: BackupError.self, "\(name), byte \(index)") {
                    try Restore(BackupReader(path: story.backup)).verify()
                }
                #expect(throws: BackupError.self, "\(name), byte \(index)") { try story.restore("shop") }
                try whole.prefix(index).write(to: file)
                #expect(throws: BackupError.self, "\(name), cut at \(index)") {
                    try Restore(BackupReader(path: story.backup)).verify()
                }
            }
            try whole.write(to: file)
        }
        #expect(!files.fileExists(atPath: story.folder("shop")))
        try story.restore("shop")
        #expect(try EventLog(path: story.folder("shop")).truthDigest() == digest)
    }

    @Test("A drill restores, checks and compares, and finds nothing in a sound backup")
    func drill() throws {
        var story = try RestoreStory(seed: 10)
        try story.act(80)
        try story.backUp()
        let report = try Restore(BackupReader(path: story.backup)).drill(
            in: story.folder("drill"), options: story.options)
        #expect(report.problems.isEmpty)
        #expect(try report.digest == story.log.truthDigest())
    }
}
