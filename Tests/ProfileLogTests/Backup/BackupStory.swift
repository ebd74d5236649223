import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

/// A store and the folder of its backup.
struct BackupStory {
    let folder: TemporaryFolder
    let clock = TestClock()
    let log: EventLog

    /// A person whose values all hold this text.
    static let canary = "canary-4711"
    static let ana = UserID.externalID("canary-4711")
    static let bo = UserID.externalID("bo")

    var backup: String { folder("backup") }
    var manifest: Manifest { get throws { try BackupReader(path: backup).manifest } }

    /// An empty store, or a copy of `data`, whose check at the end would take longer than the test. A large one has
    /// its caches written rarely.
    init(_ ending: TemporaryFolder.Ending = .sound, from data: Data? = nil, isLarge: Bool = false) throws {
        folder = try TemporaryFolder.made(data == nil ? ending : .damaged, prefix: "backup")
        if let data {
            try FileManager.default.createDirectory(atPath: folder("store"), withIntermediateDirectories: true)
            try data.write(to: folder.file("store/data.mdb"))
        }
        var options = LogOptions.small(clock)
        if isLarge || data != nil { options.indexLag = 1 << 18 }
        if isLarge || data != nil { options.snapshotInterval = 10_000 }
        log = try folder.open("store", options: options)
    }

    /// The file of a store with 70,000 events of four users: the first and the last of them are of the canary.
    static let large = Result {
        let story = try BackupStory(isLarge: true)
        try story.live(Self.ana)
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        for user in ["bo", "cy", "di"] {
            _ = try story.log.append(Array(repeating: event, count: 23_330), to: .externalID(user), context: .test)
        }
        try story.live(Self.ana)
        try story.log.writeIndex()
        story.log.close()
        return try Data(contentsOf: story.folder.file("store/data.mdb"))
    }

    /// As `large`, with 140,000 events: two closed segments.
    static let larger = Result {
        let story = try BackupStory(from: large.get())
        try story.write(70_000)
        try story.log.writeIndex()
        story.log.close()
        return try Data(contentsOf: story.folder.file("store/data.mdb"))
    }

    /// Two events with the canary in name, value, device and key.
    func live(_ user: UserID) throws {
        let text = Self.canary
        clock.advance(1_000_000)
        _ = try log.append(
            [
                .customEventLogged(CustomEvent(name: Name("\(text) event"), properties: [.init("p", .string(text))])),
                .customAttributesChanged([AttributeChange("a", .set(.string(text)))]),
            ], to: user, context: EventContext(source: .rest, device: "\(text)-device"),
            idempotencyKey: "\(text)-\(clock.now.rawValue)")
    }

    /// One event of another user.
    func write(_ count: Int = 1, to user: UserID = bo) throws {
        clock.advance(1_000_000)
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        _ = try log.append(Array(repeating: event, count: count), to: user, context: .test)
    }

    func erase(_ user: UserID = ana) throws {
        clock.advance(1_000_000)
        _ = try log.erase([user], actor: "a test", reason: "asked to")
    }

    /// A run into the folder `name`.
    @discardableResult
    func backUp(
        _ name: String = "backup", stoppedAfter operations: Int? = nil, progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> BackupReport {
        let target = try BackupFolder(path: folder(name), store: log.path)
        if let operations {
            var count = 0
            target.onOperation = { (_) throws(BackupError) in
                count += 1
                if count > operations { throw BackupError.full(path: "stopped by the test") }
            }
        }
        return try BackupRun(log: log, target: target).run(progress: progress)
    }

    // MARK: - What is there

    /// Expects that the backup in the folder `name` is the store as it is now.
    func expectEqual(_ name: String = "backup", location: SourceLocation = #_sourceLocation) throws {
        let reader = try BackupReader(path: folder(name))
        var records: [[UInt8]] = []
        for file in reader.manifest.segments {
            let segment = try reader.segment(file)
            segment.forEachRecord { _, record in records.append(Array(record)) }
        }
        let isSame = try records == Self.values(log.rows(.log))
        #expect(isSame, "the records differ", sourceLocation: location)
        #expect(try reader.names().rows == Self.values(log.rows(.names)), sourceLocation: location)
        let meta = Dictionary(uniqueKeysWithValues: reader.manifest.meta.map { (Array($0.name.utf8), $0.value) })
        #expect(try meta == log.rows(.meta), sourceLocation: location)
        #expect(try reader.manifest.position == log.lastPosition(), sourceLocation: location)
        let problems = try BackupVerifier(path: folder(name)).verify().problems
        #expect(problems == [], sourceLocation: location)
        // Nothing else is there.
        let files = Set(reader.manifest.files.map(\.name) + ["lock", Manifest.fileName])
        #expect(Set(try contents(name).keys) == files, sourceLocation: location)
    }

    /// The values of rows in the order of their keys.
    private static func values(_ rows: [[UInt8]: [UInt8]]) -> [[UInt8]] {
        rows.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }

    /// The files of a folder, by their paths in it.
    func contents(_ name: String = "backup") throws -> [String: Data] {
        let root = folder(name)
        var files: [String: Data] = [:]
        for path in FileManager.default.enumerator(atPath: root)?.compactMap({ $0 as? String }) ?? [] {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder) else { continue }
            if !isFolder.boolValue { files[path] = try Data(contentsOf: URL(filePath: "\(root)/\(path)")) }
        }
        return files
    }

    /// The files in which the canary is.
    func canaries(_ name: String = "backup") throws -> [String] {
        try contents(name).filter { $0.value.range(of: Data(Self.canary.utf8)) != nil }.map(\.key).sorted()
    }

    func write(_ contents: [String: Data], to name: String) throws {
        try? FileManager.default.removeItem(atPath: folder(name))
        for (path, data) in contents {
            let file = folder.file("\(name)/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file)
        }
    }

    /// The key of a position in table `log`.
    static func key(_ position: UInt64) -> [UInt8] { withNumberKey(position) { Array($0) } }
}
