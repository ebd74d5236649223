import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

/// A store is restored and goes on.
///
///     old store   1 ──────────── P ─────────── end      backed up into `backup`
///     new store   1 ──────────── P ── other events      backed up into `new`
@Suite("Histories of restored stores")
struct RestoredHistoryTests {
    @Test("A backup of the restored store into the old folder is refused by name, and into a new one it is right")
    func forks() throws {
        var story = try RestoreStory(seed: 1)
        try story.act(60, erases: false)
        try story.backUp()
        let before = try files(story.backup)
        let end = Position(rawValue: try story.log.lastPosition().rawValue / 2)
        let report = try story.restore("shop", to: .position(end))
        let restored = try story.folder.open("shop", create: false, options: story.options)
        let refusal = BackupError.otherHistory(path: story.backup, from: end.next)
        #expect(
            refusal.description.contains(
                "continues another history of this store from position \(end.next.rawValue) on"))
        for _ in 0..<80 {
            #expect(throws: refusal) { try story.backUp(restored) }
            _ = try restored.append([.customEventLogged(CustomEvent(name: "other"))], to: .externalID("u1"))
        }
        #expect(try files(story.backup) == before)
        try story.backUp(restored, into: story.folder("new"))
        let manifest = try BackupReader(path: story.folder("new")).manifest
        #expect(manifest.history == report.history.id)
        // The old store still may.
        try story.backUp()
        // Once more, from the new backup.
        let again = try story.restore("again", from: story.folder("new"))
        let second = try EventLog(path: story.folder("again"), options: story.options)
        #expect(try second.reader.histories().list.map(\.from) == [end.next, again.end.next])
        #expect(try second.truthDigest() == restored.truthDigest())
        #expect(throws: BackupError.self) { try story.backUp(second, into: story.folder("new")) }
    }

    @Test("A restore of everything begins a history too: the lost store may have recorded more")
    func whole() throws {
        var story = try RestoreStory(seed: 2)
        try story.act(30)
        try story.backUp()
        let report = try story.restore("shop")
        let restored = try EventLog(path: story.folder("shop"), options: story.options)
        #expect(throws: BackupError.otherHistory(path: story.backup, from: report.end.next)) {
            try story.backUp(restored)
        }
    }

    @Test("Two restores of one backup have histories of their own")
    func two() throws {
        var story = try RestoreStory(seed: 3)
        try story.act(20)
        try story.backUp()
        let histories = try ["a", "b"].map { try story.restore($0).history.id }
        #expect(histories[0] != histories[1])
        let stores = try ["a", "b"].map { try EventLog(path: story.folder($0), options: story.options) }
        try story.backUp(stores[0], into: story.folder("new"))
        #expect(throws: BackupError.self) { try story.backUp(stores[1], into: story.folder("new")) }
    }

    @Test("A cursor of the lost events is refused by the restored store, before and after it has grown past them")
    func cursors() throws {
        var story = try RestoreStory(seed: 4)
        try story.act(40, erases: false)
        try story.backUp()
        let last = try story.log.lastPosition()
        let (early, late) = (try story.log.cursor(at: 3), try story.log.cursor(at: last))
        try story.restore("shop", to: .position(Position(rawValue: last.rawValue - 5)))
        let restored = try EventLog(path: story.folder("shop"), options: story.options)
        for _ in 0..<10 {
            #expect(throws: StorageError.self) { try restored.events(after: late) }
            _ = try restored.events(after: early)
            story.clock.advance(1_000_000)
            _ = try restored.append([.customEventLogged(CustomEvent(name: "other"))], to: .externalID("u1"))
        }
    }

    private func files(_ folder: String) throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        // The lock tells who writes.
        return Dictionary(
            uniqueKeysWithValues: names.filter { $0 != "lock" }.map {
                ($0, FileManager.default.contents(atPath: "\(folder)/\($0)") ?? Data())
            })
    }
}
