import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

@Suite("Erasure reaches backups")
struct BackupErasureTests {
    @Test("After an erasure and a run, no byte of the folder holds a value of the person")
    func canary() throws {
        let story = try BackupStory()
        try story.write(3)
        try story.live(BackupStory.ana)
        try story.write(3)
        try story.backUp()
        #expect(try story.canaries().count > 1)
        try story.erase()
        let report = try story.backUp()
        #expect(report.erasures == 1)
        #expect(try story.canaries() == [])
        try story.expectEqual()
        let absent = try BackupVerifier(path: story.backup).verify(absent: [BackupStory.canary])
        #expect(absent.isSound)
    }

    @Test("A verification names the places that hold a text")
    func absent() throws {
        let story = try BackupStory()
        let uuid = "0f8fad5b-d9cb-469f-a165-70867728950e"
        _ = try story.log.append(
            [.customAttributesChanged([AttributeChange("id", .set(.string(uuid)))])], to: BackupStory.bo, context: .test
        )
        try story.live(BackupStory.ana)
        try story.backUp()
        func places(_ text: String) throws -> [VerifyReport.Place] {
            try BackupVerifier(path: story.backup).verify(absent: [text]).found
        }
        #expect(try places(BackupStory.canary).contains { $0.position == nil && $0.file.hasSuffix("names.seg") })
        #expect(try places(BackupStory.canary).contains { $0.position != nil })
        // Stored as its 16 bytes.
        #expect(try places(uuid).map { $0.position != nil } == [true])
        #expect(try places("nobody") == [])
    }

    @Test("A text across two pieces of a foreign file in the folder is found, once")
    func pieces() throws {
        let story = try BackupStory()
        try story.write()
        try story.backUp()
        let file = story.folder.file("backup/notes.bin")
        let (text, piece) = ("canary-4711", 1 << 20)
        func found(at offset: Int) throws -> Int {
            var data = Data(repeating: 0x2E, count: 2 * piece + 64)
            data.replaceSubrange(offset..<offset + text.utf8.count, with: Data(text.utf8))
            try data.write(to: file)
            return try BackupVerifier(path: story.backup).verify(absent: [text, "nobody"]).found.count
        }
        for offset in [0, piece - 11, piece - 10, piece - 1, piece, 2 * piece - 5, 2 * piece + 53] {
            #expect(try found(at: offset) == 1, "at \(offset)")
        }
        try Data(repeating: 0x2E, count: piece).write(to: file)
        #expect(try BackupVerifier(path: story.backup).verify(absent: [text]).isSound)
    }

    @Test("A user with more events than one read transaction looks at is erased in the backup")
    func manyEvents() throws {
        let story = try BackupStory(from: BackupStory.larger.get())
        try story.backUp()
        try story.erase(BackupStory.bo)
        #expect(try story.backUp().segmentsRewritten == 2)
        try story.expectEqual()
    }

    @Test("A closed segment that holds the person is written again, under a new name")
    func closed() throws {
        let story = try BackupStory(from: BackupStory.large.get())
        try story.backUp()
        #expect(try story.canaries().contains("log/00000001.seg"))
        try story.erase()
        let report = try story.backUp()
        #expect(report.segmentsRewritten == 1)
        #expect(try story.canaries() == [])
        let manifest = try story.manifest
        #expect(manifest.segments[0].file.name == "log/00000001.g1.seg" && manifest.segments[0].last == 65_536)
        #expect(manifest.erasures.count == 1 && manifest.erasedUpTo == manifest.position)
        #expect(manifest.erasures[0].first == 1)
        try story.expectEqual()
        #expect(try story.backUp().segmentsRewritten == 0)
    }

    @Test("The register has users who were merged into an erased one, and no value")
    func register() throws {
        let story = try BackupStory()
        let other = UserID.externalID("canary-4711-two")
        try story.live(BackupStory.ana)
        try story.live(other)
        try story.write()
        _ = try story.log.commit(.identity(.merge(source: other, target: BackupStory.ana), context: .test))
        try story.erase()
        try story.backUp()
        let numbers = try story.manifest.erasures.map(\.user.rawValue)
        #expect(numbers == [1, 2])
        let register = try #require(try ErasureRegister(of: story.log))
        #expect(try register == story.manifest.register)
        #expect(!register.lines.joined().contains(BackupStory.canary))
        #expect(try ErasureRegister(register.lines.joined(separator: "\n")) == register)
    }

    @Test("An erasure during a run is in the backup, or in the next one", arguments: 0..<3)
    func during(step: Int) throws {
        let story = try BackupStory(from: BackupStory.larger.get())
        if step == 2 { _ = try story.backUp { _ in false } }
        var calls = 0
        let last = step == 1 ? 1 : 0
        let report = try story.backUp { _ in
            if calls == last { try? story.erase() }
            calls += 1
            return true
        }
        #expect(calls > last && report.isComplete)
        #expect(try story.canaries() == [])
        try story.expectEqual()
    }

    @Test(
        "An erasure after any operation on a file of a run is in the backup, or in the next one",
        arguments: [true, false])
    func duringAnyOperation(isFirst: Bool) throws {
        for operation in stride(from: 0, to: 200, by: Thoroughness.count(short: 5, full: 1)) {
            let story = try BackupStory()
            try story.live(BackupStory.ana)
            try story.write(3)
            if !isFirst { try story.backUp() }
            try story.write(2)
            if try !erase(story, after: operation) {
                #expect(operation > 5)
                return
            }
            #expect(try BackupVerifier(path: story.backup).verify().problems == [], "operation \(operation)")
            try story.backUp()
            #expect(try story.canaries() == [], "operation \(operation)")
            try story.expectEqual()
        }
        Issue.record("a run has more operations than were tried")
    }

    /// Makes a run, with an erasure after so many operations on files. False if there are fewer.
    private func erase(_ story: BackupStory, after operation: Int) throws -> Bool {
        let target = try BackupFolder(path: story.backup, store: story.log.path)
        var count = 0
        target.onOperation = { (_) throws(BackupError) in
            if count == operation { try? story.erase() }
            count += 1
        }
        _ = try BackupRun(log: story.log, target: target).run()
        return count > operation
    }

    @Test("A run that was stopped before an erasure erases when it goes on")
    func stopped() throws {
        let story = try BackupStory(from: BackupStory.larger.get())
        #expect(try !story.backUp { _ in false }.isComplete)
        #expect(try !story.canaries().isEmpty)
        try story.erase()
        try story.backUp()
        #expect(try story.canaries() == [])
        try story.expectEqual()
    }

    @Test("A copy from before an erasure is scrubbed by the store, or by its register", arguments: [true, false])
    func scrub(byStore: Bool) throws {
        let story = try BackupStory()
        try story.write(3)
        try story.live(BackupStory.ana)
        try story.write(3)
        try story.backUp()
        try story.write(try story.contents(), to: "copy")
        try story.write(2)
        try story.erase()
        let register = try #require(try ErasureRegister(of: story.log))
        let report = try BackupScrub(BackupFolder(path: story.folder("copy"), store: nil))
            .scrub(register, log: byStore ? story.log : nil)
        #expect(report.segments == 1 && report.names > 0 && report.erasures == 1)
        #expect(try story.canaries("copy") == [])
        #expect(try BackupVerifier(path: story.folder("copy")).verify().problems == [])
        let again = try BackupScrub(BackupFolder(path: story.folder("copy"), store: nil))
            .scrub(register, log: byStore ? story.log : nil)
        #expect(again.segments == 0 && again.names == 0 && again.erasures == 0)
        // The copy can be brought up to date.
        try story.backUp("copy")
        try story.expectEqual("copy")
    }

    @Test("An archive that meets an erasure after its segment fails, and says so")
    func archive() throws {
        let story = try BackupStory(from: BackupStory.large.get())
        let archive = BackupArchive(modified: story.clock.now) { _ in }
        #expect(throws: BackupError.overtaken) {
            try BackupRun(log: story.log, target: archive).run { _ in
                try? story.erase()
                return true
            }
        }
    }
}
