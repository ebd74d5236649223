import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

@Suite("What a backup has it keeps")
struct BackupRefusalTests {
    /// Expects that a run is refused, and leaves the folder byte for byte.
    private func expectRefusal(
        _ story: BackupStory, by log: EventLog? = nil, location: SourceLocation = #_sourceLocation,
        _ isRight: (any Error) -> Bool
    ) throws {
        let before = try story.contents()
        do {
            let log = log ?? story.log
            let target = try BackupFolder(path: story.backup, store: log.path)
            _ = try BackupRun(log: log, target: target).run()
            Issue.record("the run was not refused", sourceLocation: location)
        } catch {
            #expect(isRight(error), "\(error)", sourceLocation: location)
        }
        #expect(try story.contents() == before, sourceLocation: location)
    }

    @Test("A damaged record of the store stops the run by its position", arguments: [2, 6])
    func damaged(position: UInt64) throws {
        let story = try BackupStory(.damaged)
        try story.write(3)
        try story.backUp()
        try story.write(3)
        try story.log.writeIndex()
        try story.log.damage(.log, BackupStory.key(position)) { $0[$0.count / 2] ^= 1 }
        try expectRefusal(story) {
            guard case StorageError.damaged(let place) = $0 else { return false }
            return place.contains("position \(position) ")
        }
    }

    @Test("A missing record and a damaged name of the store stop the run")
    func missing() throws {
        let story = try BackupStory(.damaged)
        try story.write(3)
        try story.backUp()
        try story.write(3)
        try story.log.writeIndex()
        try story.log.damage(.names, [0, 0, 0, 1]) { $0[0] ^= 1 }
        try expectRefusal(story) { ($0 as? StorageError)?.isDamage == true }
        try story.log.remove(.log, BackupStory.key(5))
        try expectRefusal(story) { ($0 as? StorageError)?.isDamage == true }
    }

    @Test("A record that is another one without an erasure stops the run")
    func otherRecord() throws {
        let story = try BackupStory(.damaged)
        try story.write(6)
        try story.backUp()
        // Sound in itself: the third event in place of the fourth.
        let third = try story.log.rows(.log)[BackupStory.key(3)] ?? []
        try story.log.damage(.log, BackupStory.key(4)) { $0 = third }
        try expectRefusal(story) {
            $0 as? BackupError == .otherRecords(path: story.backup, first: 4, count: 1)
        }
    }

    @Test("A tombstone without an erasure in the log stops the run")
    func unexplained() throws {
        let story = try BackupStory(.damaged)
        try story.write(6)
        try story.backUp()
        try story.write()
        let record = try story.log.rows(.log)[BackupStory.key(4)] ?? []
        let tombstone = record.withUnsafeBytes { RecordHeader($0).flatMap(Tombstone.record) }
        try story.log.damage(.log, BackupStory.key(4)) { $0 = tombstone ?? [] }
        try expectRefusal(story) {
            $0 as? BackupError == .otherRecords(path: story.backup, first: 4, count: 1)
        }
    }

    @Test("The backup of another store is refused")
    func otherStore() throws {
        let story = try BackupStory()
        try story.write()
        try story.backUp()
        let other = try story.folder.open("other", options: .small(story.clock))
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        _ = try other.append([event], to: BackupStory.bo, context: .test)
        try expectRefusal(story, by: other) { $0 as? BackupError == .otherStore(path: story.backup) }
    }

    @Test("Segments without a manifest stay, unless a run of the same log has left them")
    func orphans() throws {
        let story = try BackupStory()
        try story.write(3)
        try story.backUp()
        let other = try story.folder.open("other", options: .small(story.clock))
        let manifest = "\(story.backup)/\(Manifest.fileName)"
        try FileManager.default.removeItem(atPath: manifest)
        // A service whose store was lost begins with an empty one.
        try expectRefusal(story, by: other) {
            guard case BackupError.damaged(manifest, let reason) = $0 else { return false }
            return reason.contains("it is missing, and log/00000001.seg is not of this store")
        }
        try story.write()
        try story.backUp()
        try story.expectEqual()
    }

    @Test("A store that ends before its backup is refused")
    func shorter() throws {
        let story = try BackupStory()
        try story.write(2)
        try story.log.writeIndex()
        let data = try Data(contentsOf: story.folder.file("store/data.mdb"))
        try story.write(2)
        try story.backUp()
        let last = try story.log.lastPosition()
        try FileManager.default.createDirectory(
            at: story.folder.file("older"), withIntermediateDirectories: true)
        try data.write(to: story.folder.file("older/data.mdb"))
        let older = try story.folder.open("older", options: .small(story.clock))
        let end = try older.lastPosition()
        try expectRefusal(story, by: older) {
            $0 as? BackupError == .shorterStore(path: story.backup, last: end, backup: last)
        }
    }

    @Test("A folder that another run writes is refused, with the process")
    func inUse() throws {
        let story = try BackupStory()
        let held = try BackupFolder(path: story.backup, store: story.log.path)
        #expect(throws: BackupError.inUse(path: story.backup, process: getpid())) {
            try BackupFolder(path: story.backup, store: story.log.path)
        }
        withExtendedLifetime(held) {}
    }

    @Test("Where a backup is expected, a missing and an empty folder are refused, and stay as they were")
    func expected() throws {
        let story = try BackupStory()
        try story.write()
        func error() -> BackupError? {
            do throws(BackupError) {
                _ = try BackupFolder(path: story.backup, store: story.log.path, expectsBackup: true)
                return nil
            } catch { return error }
        }
        #expect(error() == .missing(path: story.backup))
        #expect(!FileManager.default.fileExists(atPath: story.backup))
        try FileManager.default.createDirectory(atPath: story.backup, withIntermediateDirectories: false)
        #expect(error() == .missing(path: story.backup))
        #expect(try FileManager.default.contentsOfDirectory(atPath: story.backup) == [])
        try story.backUp()
        #expect(error() == nil)
    }

    @Test("A folder is looked at without a change: what a run would refuse is refused")
    func check() throws {
        let story = try BackupStory()
        try story.write()
        let (store, id) = (story.log.path, story.log.storeID)
        try BackupFolder.check(path: story.backup, store: store, storeID: id)
        #expect(!FileManager.default.fileExists(atPath: story.backup))
        try story.backUp()
        let before = try story.contents()
        try BackupFolder.check(path: story.backup, store: store, storeID: id, expectsBackup: true)
        #expect(throws: BackupError.otherStore(path: story.backup)) {
            try BackupFolder.check(path: story.backup, store: store, storeID: [UInt8](repeating: 7, count: 16))
        }
        #expect(throws: BackupError.insideStore(path: store)) {
            try BackupFolder.check(path: store, store: store)
        }
        let notes = try TemporaryFolder.made(prefix: "notes")
        try Data("x".utf8).write(to: notes.file("notes.txt"))
        #expect(throws: BackupError.foreign(path: notes.path, name: "notes.txt")) {
            try BackupFolder.check(path: notes.path, store: store)
        }
        #expect(throws: BackupError.missing(path: notes.path)) {
            try BackupFolder.check(path: notes.path, store: store, expectsBackup: true)
        }
        #expect(try story.contents() == before)
    }

    @Test("The store's folder, a folder in it and a folder of other files are refused")
    func folders() throws {
        let story = try BackupStory()
        try story.write()
        let store = story.log.path
        func error(_ path: String) -> BackupError? {
            do throws(BackupError) {
                _ = try BackupFolder(path: path, store: store)
                return nil
            } catch { return error }
        }
        for path in [store, store + "/", store + "/backup", store + "/../store/backup"] {
            #expect(error(path) == .insideStore(path: path))
        }
        #expect(!FileManager.default.fileExists(atPath: store + "/backup"))
        let notes = try TemporaryFolder.made(prefix: "notes")
        try Data("x".utf8).write(to: notes.file("notes.txt"))
        #expect(error(notes.path) == .foreign(path: notes.path, name: "notes.txt"))
        let link = story.folder("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store)
        #expect(error(link) == .insideStore(path: link))
        #expect(error(story.folder("missing/backup"))?.kind == .unreachable)
    }

    @Test("A newer format is refused, also by what reads a backup")
    func newerFormat() throws {
        let story = try BackupStory()
        try story.write()
        try story.backUp()
        let text = String(decoding: try story.contents()[Manifest.fileName] ?? Data(), as: UTF8.self)
        var lines = Array(text.replacing("{\"format\":1,", with: "{\"format\":2,").utf8)
        let end = try #require(lines.dropLast().lastIndex(of: 0x0A))
        lines = Array(lines[...end])
        lines += Array("\"sha256\":\"\(Hexadecimal.text(SHA256.hash(lines)))\"}\n".utf8)
        try Data(lines).write(to: story.folder.file("backup/\(Manifest.fileName)"))
        try expectRefusal(story) { $0 as? BackupError == .newerFormat(path: story.backup, needed: 2) }
        #expect(throws: BackupError.newerFormat(path: story.backup, needed: 2)) { try BackupReader(path: story.backup) }
    }

    @Test("A file of the backup that lost its content is written again, if the store has what it had")
    func repair() throws {
        let story = try BackupStory()
        try story.write(3)
        try story.backUp()
        for name in try story.manifest.files.map(\.name) {
            var data = try #require(try story.contents()[name])
            data[data.count / 2] ^= 1
            try data.write(to: story.folder.file("backup/\(name)"))
        }
        #expect(try BackupVerifier(path: story.backup).verify().problems.count == 2)
        try story.write()
        #expect(try story.backUp().repaired.count > 0)
        try story.expectEqual()
    }

    @Test("Unknown files in the folder stay")
    func unknown() throws {
        let story = try BackupStory()
        try story.write()
        try story.backUp()
        try Data("mine".utf8).write(to: story.folder.file("backup/README"))
        try Data("old".utf8).write(to: story.folder.file("backup/log/00000009.g2.seg"))
        try story.write()
        try story.backUp()
        let names = Set(try story.contents().keys)
        #expect(names.contains("README") && !names.contains("log/00000009.g2.seg"))
    }
}
