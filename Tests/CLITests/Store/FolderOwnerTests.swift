import Foundation
import TestSupport
import Testing

/// A store of a service belongs to the service's user, and root runs a command on it.
@Suite("Files that root makes in a store of another user", .enabled(if: getuid() == 0))
struct FolderOwnerTests {
    private static let service: uid_t = 65_534
    private let cli: CLI

    init() throws {
        cli = try CLI()
        // The programs of the service's user must come through.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: cli.folder.path)
    }

    private func owner(_ name: String) throws -> uid_t {
        var status = stat()
        try #require(lstat(cli.folder.appending(path: name).path, &status) == 0, "\(name)")
        return status.st_uid
    }

    /// An empty folder of the service's user.
    private func makeFolder(_ name: String) throws {
        let path = cli.folder.appending(path: name).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #require(chown(path, Self.service, Self.service) == 0)
    }

    @Test("A new store belongs to the user who owns its folder, and so does a lock file that root makes again")
    func lockFile() throws {
        try makeFolder("store")
        try cli.succeed("log", "event", "jane", "a")
        #expect(try owner("store/data.mdb") == Self.service && owner("store/lock.mdb") == Self.service)
        try FileManager.default.removeItem(at: cli.folder.appending(path: "store/lock.mdb"))
        try cli.succeed("stats")
        #expect(try owner("store/lock.mdb") == Self.service)
        try cli.succeed("compact")
        #expect(try owner("store/data.mdb") == Self.service && owner("store/lock.mdb") == Self.service)
    }

    @Test("Keys that root makes can be read by the user who owns the store's folder")
    func keys() throws {
        try makeFolder("store")
        let profiled = ChildProcess.built("profiled")
        for name in ["a", "b"] {
            let outcome = try cli.run(["keys", "add", "--name", name], command: profiled)
            #expect(outcome.status == 0, "\(outcome.errors)")
            for file in ["data.mdb", "lock.mdb", "keys.json", "keys.json.lock"] {
                #expect(try owner("store/\(file)") == Self.service, "\(file)")
            }
        }
    }

    @Test("A file that was there keeps its owner: the folder's user may have linked one of root's")
    func links() throws {
        try cli.succeed("log", "event", "jane", "a")
        try makeFolder("theirs")
        for file in ["data.mdb", "lock.mdb"] {
            let (old, new) = (cli.folder.appending(path: "store/\(file)"), cli.folder.appending(path: "theirs/\(file)"))
            try #require(link(old.path, new.path) == 0)
        }
        try cli.succeed("stats", "--store", "theirs")
        #expect(try owner("store/data.mdb") == 0 && owner("store/lock.mdb") == 0)
    }

    @Test("A file of another user is named with its owner")
    func refusal() throws {
        try makeFolder("store")
        try cli.succeed("log", "event", "jane", "a")
        let program = cli.folder.appending(path: "program")
        // By a child: see BadInputTests.
        let copy = try cli.run([CLI.program.path, program.path], command: URL(filePath: "/bin/cp"))
        #expect(copy.status == 0, "\(copy.errors)")
        // As an older program left it.
        try #require(chown(cli.folder.appending(path: "store/lock.mdb").path, 0, 0) == 0)
        let service = ["--reuid=\(Self.service)", "--regid=\(Self.service)", "--clear-groups", program.path, "stats"]
        let setpriv = URL(filePath: "/usr/bin/setpriv")
        let outcome = try cli.run(service, command: setpriv)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains(/\(its lock\.mdb belongs to root, and you are \w+\)/), "\(outcome.errors)")
        #expect(outcome.errors.contains("chown"), "\(outcome.errors)")
        try #require(chown(cli.store, 0, 0) == 0 && chmod(cli.store, 0o755) == 0)
        let folder = try cli.run(service, command: setpriv)
        #expect(folder.errors.contains("(the folder belongs to root, "), "\(folder.errors)")
    }
}
