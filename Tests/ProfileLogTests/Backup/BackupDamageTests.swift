import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

@Suite("Damage in a backup is named")
struct BackupDamageTests {
    /// A backup with an open segment, names and a file of settings.
    private func story() throws -> BackupStory {
        let story = try BackupStory()
        try story.live(BackupStory.ana)
        try story.write(2)
        var run = BackupRun(log: story.log, target: try BackupFolder(path: story.backup, store: story.log.path))
        run.settings = [("keys.json", Array("{}".utf8))]
        _ = try run.run()
        return story
    }

    /// Tells whether verification and restore accept the backup in the folder `name`. They must agree.
    private func isAccepted(
        _ story: BackupStory, _ name: String, _ what: String, location: SourceLocation = #_sourceLocation
    ) -> Bool {
        let path = story.folder(name)
        let isSound = (try? BackupVerifier(path: path).verify().isSound) ?? false
        let isRestored = (try? Restore(BackupReader(path: path)).verify()) != nil
        #expect(isSound == isRestored, "\(what)", sourceLocation: location)
        return isSound || isRestored
    }

    @Test("A backup with one other bit is refused")
    func bits() throws {
        let story = try story()
        let whole = try story.contents().filter { $0.key != "lock" }
        #expect(whole.count == 4 && isAccepted(story, "backup", "as it is"))
        try story.write(whole, to: "copy")
        for (name, data) in whole {
            let file = story.folder.file("copy/\(name)")
            for index in stride(from: 0, to: data.count, by: Thoroughness.count(short: 7, full: 1)) {
                var damaged = data
                damaged[index] ^= 1 << UInt8(index % 8)
                try damaged.write(to: file)
                #expect(!isAccepted(story, "copy", "byte \(index) of \(name)"), "byte \(index) of \(name)")
            }
            try data.write(to: file)
        }
    }

    @Test("A backup with a shorter or a longer file, or without one, is refused")
    func lengths() throws {
        let story = try story()
        let whole = try story.contents().filter { $0.key != "lock" }
        try story.write(whole, to: "copy")
        for (name, data) in whole {
            let file = story.folder.file("copy/\(name)")
            for length in stride(from: 0, to: data.count, by: Thoroughness.count(short: 13, full: 1)) {
                try data.prefix(length).write(to: file)
                #expect(!isAccepted(story, "copy", "\(length) bytes of \(name)"), "\(length) bytes of \(name)")
            }
            try (data + Data([0])).write(to: file)
            #expect(!isAccepted(story, "copy", "a longer \(name)"), "a longer \(name)")
            try FileManager.default.removeItem(at: file)
            #expect(!isAccepted(story, "copy", "no \(name)"), "no \(name)")
            try data.write(to: file)
        }
        #expect(isAccepted(story, "copy", "as it was"))
    }

    @Test("A segment of another moment, and another manifest, are refused")
    func swapped() throws {
        let story = try story()
        let before = try story.contents()
        try story.write(2)
        try story.backUp()
        let after = try story.contents()
        // The old manifest with the new files, and the new manifest with an old segment under the new name.
        try story.write(after.merging([Manifest.fileName: before[Manifest.fileName] ?? Data()]) { $1 }, to: "old")
        #expect(!isAccepted(story, "old", "old manifest"))
        let new = try story.manifest.segments[0].file.name
        let old = "log/00000001.seg"
        try story.write(after.merging([new: before[old] ?? Data()]) { $1 }, to: "mixed")
        #expect(!isAccepted(story, "mixed", "old segment"))
        try story.write(after.merging(["log/00000002.seg": after[new] ?? Data()]) { $1 }, to: "more")
        #expect(isAccepted(story, "more", "a file that is not named"))
    }

    @Test("The problem names the file")
    func names() throws {
        let story = try story()
        let name = try story.manifest.segments[0].file.name
        try FileManager.default.removeItem(at: story.folder.file("backup/\(name)"))
        let report = try BackupVerifier(path: story.backup).verify()
        #expect(report.problems.map(\.description).count == 1)
        #expect(report.problems.first?.description.contains("\(story.backup)/\(name)") == true)
        #expect(throws: BackupError.noBackup(path: story.folder("none"))) {
            try BackupVerifier(path: story.folder("none")).verify()
        }
    }
}
