import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

@Suite("A run that dies leaves the backup of the run before, or its own")
struct BackupCrashTests {
    @Test("After each operation on a file the backup is whole, and the next run completes it")
    func operations() throws {
        let story = try BackupStory()
        try story.write(3)
        try story.live(BackupStory.ana)
        try story.backUp()
        let first = try story.contents()
        let before = try story.manifest
        try story.erase()
        try story.write(3)
        for operations in 0..<200 {
            try story.write(first, to: "copy")
            do {
                try story.backUp("copy", stoppedAfter: operations)
            } catch {
                let now = try BackupReader(path: story.folder("copy"))
                let isOld = now.manifest == before
                #expect(try isOld || now.manifest.position == story.log.lastPosition(), "operation \(operations)")
                #expect(try BackupVerifier(path: story.folder("copy")).verify().problems == [], "\(operations)")
                #expect(try Restore(now).verify().end == now.manifest.position, "operation \(operations)")
                try story.backUp("copy")
                try story.expectEqual("copy")
                #expect(try story.canaries("copy") == [], "operation \(operations)")
                continue
            }
            // All of it was done.
            #expect(operations > 8)
            try story.expectEqual("copy")
            return
        }
        Issue.record("a run has more operations than were tried")
    }

    @Test("A first run that dies is no backup, and the next one completes it")
    func firstRun() throws {
        let story = try BackupStory()
        try story.write(3)
        for operations in 0..<200 {
            let name = "first-\(operations)"
            do {
                try story.backUp(name, stoppedAfter: operations)
                try story.expectEqual(name)
                #expect(operations > 5)
                return
            } catch {
                try story.backUp(name)
                try story.expectEqual(name)
            }
        }
        Issue.record("a run has more operations than were tried")
    }
}
