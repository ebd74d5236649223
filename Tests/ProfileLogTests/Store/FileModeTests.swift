import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("What a store makes is for its owner only, unless a wider mode is chosen")
struct FileModeTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private var store: String { folder.path }

    private func open(_ path: String, mode: UInt32? = nil) throws -> EventLog {
        var options = LogOptions.small(clock)
        if let mode { options.fileMode = mode }
        return try EventLog(path: path, create: true, options: options)
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private func modes(_ path: String) -> [mode_t] { ["", "/data.mdb", "/lock.mdb"].map { mode(path + $0) } }

    @Test("A new store: 0700 and 0600")
    func new() throws {
        try open(store).expectSound()
        #expect(modes(store) == [0o700, 0o600, 0o600])
    }

    @Test("A wider mode can be chosen, whatever the umask says", arguments: [(0o660, 0o770), (0o640, 0o750)])
    func wider(file: UInt32, folder: mode_t) throws {
        try open(store, mode: file).expectSound()
        #expect(modes(store) == [folder, mode_t(file), mode_t(file)])
    }

    @Test("An option that is no mode of files is refused", arguments: [0o400, 0o1600, 0o700])
    func invalid(mode: UInt32) {
        #expect(throws: AppendError.self) { try open(store, mode: mode) }
    }

    @Test("A mode that was changed by hand is kept by a new lock file and by a compaction")
    func kept() throws {
        do { _ = try open(store).append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana")) }
        #expect(chmod(store + "/data.mdb", 0o640) == 0)
        #expect(unlink(store + "/lock.mdb") == 0)
        _ = try EventLog.compact(path: store)
        #expect(modes(store) == [0o700, 0o640, 0o640])
    }

    @Test("A copy is for its owner")
    func copied() throws {
        let log = try open(store)
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana"))
        let copy = TemporaryFolder()
        _ = try log.replay(into: copy.path)
        #expect(modes(copy.path) == [0o700, 0o600, 0o600])
    }
}
