import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

/// A backup of the golden store of format 1, written once by another program (`scripts/golden-backup.py`): every later
/// version must read it, and write the same.
@Suite("A backup of format 1 is restored for ever")
struct GoldenBackupTests {
    private static let fixture = Repository.file("Tests/Fixtures/backup-1")
    private let folder: TemporaryFolder
    private let log: EventLog

    init() throws {
        folder = try TemporaryFolder.made(prefix: "golden")
        try FileManager.default.createDirectory(atPath: folder("store"), withIntermediateDirectories: true)
        let store = Repository.file("Tests/Fixtures/format-1/data.mdb")
        try FileManager.default.copyItem(atPath: store.path, toPath: folder("store/data.mdb"))
        log = try folder.open("store")
    }

    @Test("A run writes the segments and the names of format 1, byte for byte")
    func writing() throws {
        let target = try BackupFolder(path: folder("backup"), store: log.path)
        _ = try BackupRun(log: log, target: target).run()
        for name in ["log/00000001.seg", "names.seg"] {
            let golden = try Data(contentsOf: Self.fixture.appending(path: name))
            #expect(try Data(contentsOf: folder.file("backup/\(name)")) == golden, "\(name)")
        }
        let (known, written) = (
            try BackupReader(path: Self.fixture.path).manifest, try BackupReader(path: folder("backup")).manifest
        )
        #expect(written.segments == known.segments && written.names == known.names)
        #expect(written.meta == known.meta && written.erasures == known.erasures)
        #expect(written.store == known.store && written.position == known.position)
    }

    @Test("A restore of it has the rows of the store")
    func reading() throws {
        #expect(try BackupVerifier(path: Self.fixture.path).verify().isSound)
        let target = try RestoreFolder(path: folder("again"), replacing: false, backup: Self.fixture.path)
        _ = try Restore(BackupReader(path: Self.fixture.path)).run(into: target)
        let again = try folder.open("again", create: false)
        #expect(try again.rows(.log) == log.rows(.log))
        #expect(try again.rows(.names) == log.rows(.names))
        #expect(try again.truthDigest() == log.truthDigest())
    }
}
