import Foundation
import TestSupport
import Testing

@Suite("A backup's folder that must not be written stays byte for byte")
struct BackupFolderTests {
    private let cli: CLI

    /// A store that has an event more than its backup.
    init() throws {
        cli = try CLI(after: [["log", "event", "jane", "first"], ["log", "event", "bo", "second"]])
        try cli.succeed("backup", "copy")
        try cli.succeed("log", "event", "jane", "later")
    }

    private func path(_ name: String) -> String { cli.folder.appending(path: name).path }

    /// Expects that the command is refused with `message`, and leaves the folder `name`.
    private func expectRefusal(
        _ arguments: [String], _ message: String, status: Int32 = 1, of name: String = "copy", command: URL? = nil,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try cli.contents(of: name)
        let outcome = try cli.run(arguments, command: command)
        #expect(outcome.status == status, "\(arguments): \(outcome)", sourceLocation: location)
        #expect(outcome.errors.contains(message), "\(arguments): \(outcome.errors)", sourceLocation: location)
        // An error, and the next step.
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 2, "\(outcome.errors)", sourceLocation: location)
        #expect(try cli.contents(of: name) == before, "\(arguments)", sourceLocation: location)
    }

    @Test("The backup of another store, of another history and of a longer store is refused by name")
    func otherLogs() throws {
        try cli.succeed("log", "event", "jane", "first", "--store", "other")
        try expectRefusal(["backup", "copy", "--store", "other"], "copy has the backup of another store.")
        try cli.succeed("restore", "copy", "--store", "restored", "--to", "2")
        try cli.succeed("log", "event", "jane", "other", "--store", "restored")
        try expectRefusal(
            ["backup", "copy", "--store", "restored"], "copy continues another history of this store from position 3 on"
        )
        try FileManager.default.copyItem(atPath: cli.store, toPath: path("older"))
        try cli.succeed("log", "event", "jane", "last")
        try cli.succeed("backup", "copy")
        try expectRefusal(
            ["backup", "copy", "--store", "older"], "The store ends at position 5 and its backup in copy at 6")
        try FileManager.default.removeItem(atPath: path("copy/manifest.json"))
        try expectRefusal(["backup", "copy", "--store", "other"], "manifest.json is damaged: it is missing", status: 2)
        try expectRefusal(["backup", "copy", "--store", "older"], "manifest.json is damaged: it is missing", status: 2)
    }

    @Test("An older program refuses a backup of a newer format, whatever it is to do with it")
    func newerFormat() throws {
        let script = """
            cd "$1" && head -n -1 manifest.json | sed '1s/"format":1,/"format":2,/' > new &&
            printf '"sha256":"%s"}\\n' "$(sha256sum new | cut -d' ' -f1)" >> new && mv new manifest.json
            """
        #expect(try cli.shell(script, [path("copy")]).status == 0)
        for arguments in [
            ["backup", "copy"], ["backup", "verify", "copy"], ["backup", "verify", "copy", "--drill"],
            ["backup", "list", "copy"], ["backup", "scrub", "copy", "--from-store", cli.store],
            ["restore", "copy", "--store", "shop"], ["restore", "copy", "--store", "shop", "--dry-run"],
        ] {
            try expectRefusal(arguments, "The backup in copy is of format 2; this program knows formats up to 1.")
        }
        #expect(!FileManager.default.fileExists(atPath: path("shop")))
    }

    @Test("A manifest that is cut is named, and the folder stays")
    func cut() throws {
        var files = try cli.contents(of: "copy")
        files["manifest.json"] = files["manifest.json"]?.dropLast(40)
        try cli.restore(files, as: "copy")
        for arguments in [
            ["backup", "copy"], ["backup", "verify", "copy"], ["backup", "list", "copy"],
            ["restore", "copy", "--store", "shop"],
        ] {
            try expectRefusal(arguments, "copy/manifest.json is damaged", status: 2)
        }
    }

    @Test("The folder of the store, one inside it and a file are no place for a backup")
    func places() throws {
        _ = try cli.write("text", as: "notes.txt")
        let message = "is the folder of the store, or inside it"
        try expectRefusal(["backup", cli.store], message, of: "copy")
        try expectRefusal(["backup", "store/backup"], message, of: "copy")
        try expectRefusal(["backup", "notes.txt"], "notes.txt cannot be used: Not a directory", of: "copy")
        try expectRefusal(["backup", "no/such"], "no/such cannot be used: No such file or directory", of: "copy")
        #expect(!FileManager.default.fileExists(atPath: path("store/backup")))
    }

    @Test("Two runs into one folder at once: the second is refused, and the first one's end lets it in")
    func atOnce() throws {
        let before = try cli.contents(of: "copy")
        let outcome = try cli.shell(#"flock "$1/lock" "$0" backup "$1""#, [path("copy")])
        #expect(outcome.status == 1 && outcome.errors.contains("Another program writes the backup in"), "\(outcome)")
        #expect(try cli.contents(of: "copy") == before)
        try cli.succeed("backup", "copy")
    }

    @Test("A folder that may be read only, and one of another user, are refused", .enabled(if: getuid() == 0))
    func readOnly() throws {
        let setpriv = URL(filePath: "/usr/bin/setpriv")
        let program = path("program")
        // By a child: see BadInputTests.
        let copy = try cli.run([CLI.program.path, program], command: URL(filePath: "/bin/cp"))
        #expect(copy.status == 0, "\(copy.errors)")
        #expect(try cli.shell(#"chmod -R a+rwX "$1" && chmod 755 "$2""#, [cli.store, cli.folder.path]).status == 0)
        let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", program]
        try expectRefusal(
            nobody + ["backup", "copy"], "copy cannot be used: Permission denied", command: setpriv)
        try expectRefusal(
            nobody + ["backup", "verify", "copy"], "copy/manifest.json cannot be used: Permission denied",
            command: setpriv)
        #expect(try cli.shell(#"chown -R 65534:65534 "$1" && chmod -R a-w "$1""#, [path("copy")]).status == 0)
        try expectRefusal(nobody + ["backup", "copy"], "cannot be used: Permission denied", command: setpriv)
        // Reading is enough to verify and to restore.
        #expect(try cli.run(nobody + ["backup", "verify", "copy"], command: setpriv).status == 0)
    }

    @Test("What root backs up into the folder of another user belongs to that user", .enabled(if: getuid() == 0))
    func owner() throws {
        #expect(try cli.shell(#"chown -R 65534:65534 "$1""#, [path("copy")]).status == 0)
        try cli.succeed("backup", "copy")
        for name in try cli.contents(of: "copy").keys {
            let attributes = try FileManager.default.attributesOfItem(atPath: path("copy/\(name)"))
            #expect(attributes[.ownerAccountID] as? Int == 65_534, "\(name)")
        }
    }
}
