import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

/// A copy of a backup is older than an erasure: what it restores must not bring the person back.
@Suite("Erasures that a restored backup does not know")
struct RestoredErasureTests {
    private static let canaries = ["Canary-value", "Canary-name", "canary-id", "canary-device", "Canary-key"]

    /// Writes the events of a person and of others who share names with them. Returns the position after them.
    private func write(_ story: RestoreStory) throws -> Position {
        let log = story.log
        let shared = ProfileEvent.customEventLogged(CustomEvent(name: "shared"))
        _ = try log.append([shared], to: .externalID("bo"))
        let own = CustomEvent(name: "Canary-name", properties: [.init("p", .string("Canary-value"))])
        _ = try log.append(
            [.customEventLogged(own), shared], to: .externalID("canary-id"), idempotencyKey: "Canary-key")
        _ = try log.append([.customEventSaved(own)], to: .externalID("canary-id"), context: .saved(on: "canary-device"))
        _ = try log.launch(device: "canary-device")
        // Another user, who becomes a part of the person later.
        _ = try log.append([.customEventLogged(own)], to: .externalID("canary-id-2"))
        _ = try log.append([shared], to: .externalID("bo"))
        return try log.lastPosition()
    }

    private func erase(_ story: RestoreStory) throws {
        let merge = IdentityChange.merge(source: .externalID("canary-id-2"), target: .externalID("canary-id"))
        _ = try story.log.commit(.identity(merge, context: .test))
        _ = try story.log.erase([.externalID("canary-id")], actor: "a test", reason: "asked to")
    }

    private func canaries(in folder: String) throws -> [String] {
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
        return files.flatMap { name -> [String] in
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else { return [] }
            return Self.canaries.filter { data.range(of: Data($0.utf8)) != nil }
        }
    }

    @Test(
        "With the register, an old copy has no byte of the person, to its end or to a position before the erasure",
        arguments: [true, false])
    func applied(isWhole: Bool) throws {
        let story = try RestoreStory(seed: 1)
        let end = try write(story)
        try story.backUp()
        try FileManager.default.copyItem(atPath: story.backup, toPath: story.folder("old"))
        #expect(try !canaries(in: story.folder("old")).isEmpty)
        try erase(story)
        try story.backUp()
        let register = try ErasureRegister.read(story.backup)
        #expect(register.erasures.count == 2, "the person, and the user who was merged into them")

        let place = isWhole ? Restore.End.whole : .position(Position(rawValue: end.rawValue - 1))
        let report = try story.restore("shop", to: place, from: story.folder("old"), erasures: register)
        #expect(report.erasedUsers == 2 && report.erasedEvents > 4)
        #expect(try canaries(in: story.folder("shop")).isEmpty)
        let restored = try story.folder.open("shop", create: false, options: story.options)
        for id in ["canary-id", "canary-id-2"] { #expect(try restored.find(.externalID(id)) == nil) }
        #expect(try restored.find(.externalID("bo")) != nil && restored.names.number("shared") != nil)
        #expect(try restored.replay(verify: true).isEqual)
        // The key of an erased append stores nothing again.
        let last = try restored.lastPosition()
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "x"))
        _ = try? restored.append([event, event], to: .externalID("new"), idempotencyKey: "Canary-key")
        #expect(try restored.lastPosition() == last)
        // Its records are those of the store after the erasure, and no other record has changed.
        #expect(
            try RestoreStory.records(restored, to: report.end) == RestoreStory.records(story.log, to: report.end))
    }

    @Test("Without the register the person comes back, and the backup itself knows what it was told")
    func unknown() throws {
        let story = try RestoreStory(seed: 2)
        _ = try write(story)
        try story.backUp()
        try FileManager.default.copyItem(atPath: story.backup, toPath: story.folder("old"))
        try erase(story)
        try story.backUp()
        try story.restore("back", from: story.folder("old"))
        #expect(try EventLog(path: story.folder("back")).find(.externalID("canary-id")) != nil)
        // The live folder, to before the erasure: its segments were rewritten.
        let before = try #require(try BackupReader(path: story.backup).manifest.erasures.first).position
        try story.restore("early", to: .position(Position(rawValue: before.rawValue - 1)))
        #expect(try canaries(in: story.folder("early")).isEmpty)
        #expect(try EventLog(path: story.folder("early")).check().isSound)
    }

    @Test("A register that is older than the backup loses none of the erasures that the backup knows")
    func older() throws {
        let story = try RestoreStory(seed: 5)
        let end = try write(story)
        let older = try #require(try ErasureRegister(of: story.log))
        #expect(older.erasures.isEmpty)
        try erase(story)
        try story.backUp()
        let known = try BackupReader(path: story.backup).manifest.erasures
        #expect(known.count == 2)
        // The restored log ends before the erasure, so its file has to tell of it.
        try story.restore("shop", to: .position(end), erasures: older)
        let restored = try EventLog(path: story.folder("shop"), options: story.options)
        #expect(try ErasureRegister(of: restored)?.erasures == known)
        try story.backUp(restored, into: story.folder("new"))
        #expect(try BackupReader(path: story.folder("new")).manifest.erasures == known)
    }

    @Test("A register of another store is refused, and one of a lost history hits no other person")
    func others() throws {
        let story = try RestoreStory(seed: 3)
        let end = try write(story)
        try story.backUp()
        let foreign = ErasureRegister(store: [UInt8](repeating: 7, count: 16), erasures: [])
        #expect(throws: RestoreError.otherRegister) { try story.restore("shop", erasures: foreign) }

        // After the backup a user is made and erased; the restored store gives the number to another person.
        story.clock.advance(1_000_000)
        _ = try story.log.append([.customEventLogged(CustomEvent(name: "e"))], to: .externalID("lost"))
        _ = try story.log.erase([.externalID("lost")], actor: "a test", reason: "asked to")
        let register = try #require(try ErasureRegister(of: story.log))
        try story.restore("shop", erasures: register)
        let restored = try EventLog(path: story.folder("shop"), options: story.options)
        #expect(try restored.lastPosition() == end)
        story.clock.advance(1_000_000)
        _ = try restored.append([.customEventLogged(CustomEvent(name: "e"))], to: .externalID("another"))
        let number = try #require(try restored.find(.externalID("another"))).number
        #expect(register.erasures.map(\.user) == [number])
        try story.backUp(restored, into: story.folder("new"))
        // The new backup has the erasure of the lost history in its register, and so has the export.
        #expect(try BackupReader(path: story.folder("new")).manifest.erasures == register.erasures)
        #expect(try ErasureRegister(of: restored) == register)
        let report = try story.restore("again", from: story.folder("new"), erasures: register)
        #expect(report.erasedEvents == 0)
        #expect(try EventLog(path: story.folder("again")).find(.externalID("another")) != nil)
        // Nor does it hit them where the backup does not know it.
        try FileManager.default.removeItem(atPath: story.folder("shop/\(ErasureRegister.fileName)"))
        try story.backUp(restored, into: story.folder("bare"))
        let bare = try story.restore("third", from: story.folder("bare"), erasures: register)
        #expect(bare.erasedEvents == 0 && bare.erasedUsers == 0)
    }

    @Test("The register is read from its lines, a manifest or the folder of a backup, and nothing else")
    func reading() throws {
        let story = try RestoreStory(seed: 4)
        _ = try write(story)
        try erase(story)
        try story.backUp()
        let register = try #require(try ErasureRegister(of: story.log))
        let file = story.folder("erasures.jsonl")
        try register.lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        for path in [file, story.backup, story.backup + "/manifest.json"] {
            #expect(try ErasureRegister.read(path) == register, "\(path)")
        }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        for canary in Self.canaries { #expect(!text.contains(canary)) }
        try "no JSON\n".write(toFile: file, atomically: true, encoding: .utf8)
        for path in [file, story.folder("nothing"), story.folder.path] {
            #expect(throws: BackupError.self, "\(path)") { try ErasureRegister.read(path) }
        }
        // `backup verify` does not read this file.
        let error = #expect(throws: BackupError.self) { try ErasureRegister.read(file) }
        #expect(error == .damagedErasures(path: file, reason: "line 1 is no JSON object"))
        #expect(error?.remedy.contains("erasures export") == true && error?.remedy.contains("verify") == false)
    }
}
