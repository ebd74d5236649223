import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

@Suite("A backup is the store")
struct BackupRunTests {
    @Test("More names than one read transaction copies are in the backup, also after one was erased")
    func manyNames() throws {
        // Its check at the end would take longer than the test.
        let story = try BackupStory(.damaged, isLarge: true)
        try story.live(BackupStory.ana)
        for user in 0..<41 {
            let events = (0..<1_600).map {
                ProfileEvent.customEventLogged(CustomEvent(name: Name("name \(user * 1_600 + $0)")))
            }
            _ = try story.log.append(events, to: .externalID("user \(user)"), context: .test)
        }
        try story.backUp()
        try story.expectEqual()
        try story.erase()
        try story.backUp()
        try story.expectEqual()
        #expect(try story.canaries() == [])
    }

    @Test("Random histories are read back as they are", arguments: Thoroughness.seeds(short: 6, full: 200))
    func random(seed: UInt64) throws {
        var story = try RestoreStory(seed: seed)
        let backup = try BackupStoryView(story)
        for round in 0..<6 {
            try story.act(30)
            let report = try story.backUp()
            #expect(report.isComplete && report.repaired == [], "seed \(seed), round \(round)")
            try backup.expectEqual("seed \(seed), round \(round)")
        }
    }

    @Test("An empty store has a backup too, and a run without news writes the manifest alone")
    func empty() throws {
        let story = try BackupStory()
        #expect(try story.backUp().position == 0)
        try story.expectEqual()
        try story.write(3)
        try story.backUp()
        let before = try story.contents()
        let report = try story.backUp()
        #expect(report.events == 0 && report.segmentsWritten == 0)
        let after = try story.contents()
        #expect(before.filter { $0.value != after[$0.key] }.map(\.key).allSatisfy { $0 == Manifest.fileName })
        try story.expectEqual()
    }

    @Test("Files are for their owner alone")
    func modes() throws {
        let story = try BackupStory()
        try story.write()
        try story.backUp()
        for name in try story.contents().keys {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(story.backup)/\(name)")[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(name)")
        }
        for folder in ["", "/log"] {
            let mode = try FileManager.default.attributesOfItem(atPath: story.backup + folder)[.posixPermissions]
            #expect(mode as? Int == 0o700, "\(folder)")
        }
    }

    @Test("A run warns of a folder that one failure takes with the store, or that several machines could write")
    func warnings() throws {
        let story = try BackupStory()
        try story.write()
        var report = try story.backUp()
        #expect(report.isOnFileSystemOfStore && report.networkFileSystem == nil)
        #expect(report.warning?.contains("file system of the store") == true)
        report.isOnFileSystemOfStore = false
        #expect(report.warning == nil)
        report.networkFileSystem = "NFS"
        #expect(report.warning?.contains("is on NFS") == true)
    }

    @Test("Two stores with the same events have the same segments")
    func purity() throws {
        let story = try BackupStory()
        try story.write(5)
        try story.backUp()
        try story.write(5)
        try story.backUp()
        try story.backUp("other")
        #expect(try story.contents()["log/00000001.g1.seg"] == story.contents("other")["log/00000001.seg"])
    }

    @Test("Settings are kept with the log, and again when they change")
    func settings() throws {
        let story = try BackupStory()
        try story.write()
        func run(_ content: String?) throws -> Manifest {
            var run = BackupRun(log: story.log, target: try BackupFolder(path: story.backup, store: story.log.path))
            if let content { run.settings = [("keys.json", Array(content.utf8))] }
            _ = try run.run()
            return try story.manifest
        }
        #expect(try run("one").settings.map(\.file.name) == ["settings/keys.json"])
        #expect(try run("one").settings.map(\.file.name) == ["settings/keys.json"])
        let manifest = try run("two")
        #expect(manifest.settings.map(\.file.name) == ["settings/keys.g1.json"])
        #expect(try run(nil).settings == manifest.settings)
        let reader = try BackupReader(path: story.backup)
        #expect(try reader.content(of: manifest.settings[0].file) == Array("two".utf8))
        try story.expectEqual()
    }

    @Test("A run that is stopped counts up to its last segment, and the next one goes on")
    func stopped() throws {
        let story = try BackupStory(from: BackupStory.large.get())
        let report = try story.backUp { _ in false }
        // The last closed segment is written with the rest.
        #expect(try report.isComplete && report.position == story.log.lastPosition())
        let larger = try BackupStory(from: BackupStory.larger.get())
        let half = try larger.backUp { _ in false }
        #expect(!half.isComplete && half.position == 65_536)
        #expect(try BackupVerifier(path: larger.backup).verify().problems == [])
        let rest = try larger.backUp()
        #expect(rest.isComplete && rest.events > 65_536)
        try larger.expectEqual()
    }

    @Test("An archive has the files of a folder")
    func archive() throws {
        let story = try BackupStory()
        try story.write(4)
        var bytes: [UInt8] = []
        let archive = BackupArchive(modified: story.clock.now) { bytes += $0 }
        _ = try BackupRun(log: story.log, target: archive).run()
        #expect(bytes.count % 512 == 0)
        try story.backUp()
        var files: [String: Data] = [:]
        var offset = 0
        while bytes[offset] != 0 {
            let header = Array(bytes[offset..<offset + 512])
            func text(_ range: Range<Int>) -> String {
                String(decoding: header[range].prefix { $0 != 0 }, as: UTF8.self)
            }
            #expect(text(257..<263) == "ustar")
            let blank = header[..<148] + [UInt8](repeating: 0x20, count: 8) + header[156...]
            #expect(Int(text(148..<155), radix: 8) == blank.reduce(0) { $0 + Int($1) })
            let size = try #require(Int(text(124..<136), radix: 8))
            files[text(0..<100)] = Data(bytes[(offset + 512)..<(offset + 512 + size)])
            offset += 512 + (size + 511) / 512 * 512
        }
        let folder = try story.contents()
        for (name, data) in folder where name != "lock" && name != Manifest.fileName { #expect(files[name] == data) }
        try story.write(files, to: "unpacked")
        try story.write(folder.filter { $0.key == "lock" }.merging(files) { $1 }, to: "unpacked")
        try story.expectEqual("unpacked")
    }
}

/// The comparison of `BackupStory`, for the store and the backup of a `RestoreStory`.
private struct BackupStoryView {
    let story: RestoreStory

    init(_ story: RestoreStory) throws { self.story = story }

    func expectEqual(_ round: String) throws {
        let reader = try BackupReader(path: story.backup)
        var records: [[UInt8]] = []
        for file in reader.manifest.segments {
            try reader.segment(file).forEachRecord { _, record in records.append(Array(record)) }
        }
        let last = try story.log.lastPosition()
        #expect(reader.manifest.position == last, "\(round)")
        #expect(try records == RestoreStory.records(story.log, to: last), "\(round)")
        let rows = try story.log.rows(.names).sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
        #expect(try reader.names().rows == rows, "\(round)")
        #expect(try BackupVerifier(path: story.backup).verify().problems == [], "\(round)")
        #expect(try Restore(reader).verify().end == last, "\(round)")
    }
}
