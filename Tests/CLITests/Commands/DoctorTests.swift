import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("doctor")
struct DoctorTests {
    /// The findings by check, and the last line.
    private func findings(_ outcome: CLI.Outcome) throws -> (all: [AttributeValue], end: AttributeValue) {
        let lines = try outcome.lines.map { try JSON.parse($0) }
        let end = try #require(lines.last)
        return (Array(lines.dropLast()), end)
    }

    private func levels(_ findings: [AttributeValue], of check: String) -> [String] {
        findings.filter { $0["check"] == .string(check) }.compactMap { finding in
            if case .string(let level) = finding["level"] { level } else { nil }
        }
    }

    private func look(_ cli: CLI, _ arguments: String..., environment: [String: String] = [:]) throws -> CLI.Outcome {
        try cli.run(["doctor", "--format", "json"] + arguments, environment: environment)
    }

    /// Text of an error or warning that a check gave.
    private func message(_ findings: [AttributeValue], of check: String) -> String {
        let found = findings.filter { $0["check"] == .string(check) && $0["level"] != .string("ok") }
        return found.map(\.json).joined(separator: "\n")
    }

    @Test("A sound store gets a line for each check, and nothing is changed in it")
    func sound() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "played")
        let before = try Data(contentsOf: cli.file)
        let outcome = try look(cli, "--deep")
        let (all, end) = try findings(outcome)
        for check in [
            "store", "files", "keys", "clock", "free pages", "readers", "caches", "damage", "check", "audit",
        ] {
            #expect(levels(all, of: check) == ["ok"], "\(check): \(outcome.output)")
        }
        // What the machine of the test is like is its own affair.
        for check in ["file system", "disk", "memory", "limits"] {
            #expect(levels(all, of: check).count == 1, "\(check): \(outcome.output)")
        }
        let errors = all.filter { $0["level"] == .string("error") }
        #expect(end["healthy"] == .bool(errors.isEmpty) && outcome.status == (errors.isEmpty ? 0 : 1))
        #expect(try Data(contentsOf: cli.file) == before)
        let table = try cli.run("doctor")
        #expect(table.output.contains(/ok +store +.* holds a store\./))
        #expect(table.output.contains("All is well") || table.output.contains("What to do, in order:\n1. "))
    }

    @Test("Without a store, and with files of another program, the doctor says which it is, and leaves nothing there")
    func noStore() throws {
        let cli = try CLI(.damaged)
        let vacant = try look(cli)
        #expect(vacant.status == 1)
        #expect(try findings(vacant).all.map { $0["level"] } == [.string("error")])
        try FileManager.default.createDirectory(atPath: cli.store, withIntermediateDirectories: true)
        try Data("other".utf8).write(to: cli.file)
        let foreign = try look(cli)
        #expect(foreign.status == 1 && foreign.output.contains("not a ProfileLog store"), "\(foreign.output)")
        #expect(!FileManager.default.fileExists(atPath: cli.store + "/lock.mdb"))
    }

    @Test("A damaged record is an error that names its place, and ends with 1")
    func damaged() throws {
        let cli = try CLI(.damaged)
        try cli.succeed("log", "event", "jane", "played", "-p", "mark=a-value-to-damage")
        var file = try Data(contentsOf: cli.file)
        while let place = file.range(of: Data("a-value-to-damage".utf8)) { file[place.lowerBound] = 0x41 }
        try file.write(to: cli.file)
        let outcome = try look(cli)
        let (all, end) = try findings(outcome)
        #expect(outcome.status == 1 && levels(all, of: "damage") == ["error"])
        #expect(message(all, of: "damage").contains("log 2"), "\(outcome.output)")
        #expect(end["healthy"] == .bool(false))
        guard case .array(let next) = end["next"] else {
            Issue.record("no next steps: \(outcome.output)")
            return
        }
        // Errors come before warnings.
        #expect(next.first?.json.contains("profilecli check") == true, "\(outcome.output)")
    }

    @Test("A clock that is late after the last event is an error")
    func clock() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "played")
        let outcome = try look(cli, environment: try ClockShim().environment(seconds: -7_200))
        let (all, _) = try findings(outcome)
        #expect(outcome.status == 1 && levels(all, of: "clock") == ["error"], "\(outcome.output)")
    }

    @Test("A file that every user may read, in a folder that they may enter, is a warning with the command to close it")
    func modes() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "played")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: cli.file.path)
        #expect(try levels(findings(look(cli)).all, of: "files") == ["ok"])
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: cli.store)
        let (all, _) = try findings(look(cli))
        #expect(levels(all, of: "files") == ["warning", "warning"])
        #expect(message(all, of: "files").contains("chmod o= \(cli.store)/data.mdb"), "\(all.map(\.json))")
    }

    @Test(
        "On a network file system the doctor says so, and opens nothing there; tmpfs is a warning",
        arguments: [("6969", "error"), ("01021994", "warning"), ("ef53", "ok")])
    func fileSystem(type: String, level: String) throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "played")
        let shim = try Shim(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdlib.h>
            #include <sys/vfs.h>

            int statfs(const char *path, struct statfs *status) {
                int (*real)(const char *, struct statfs *) = dlsym(RTLD_NEXT, "statfs");
                int code = real(path, status);
                const char *type = getenv("FILE_SYSTEM");
                if (code == 0 && type) status->f_type = strtol(type, 0, 16);
                return code;
            }
            """)
        let outcome = try look(cli, environment: shim.environment(["FILE_SYSTEM": type]))
        let (all, _) = try findings(outcome)
        #expect(levels(all, of: "file system") == [level], "\(outcome.output)")
        #expect((level == "error") == (levels(all, of: "store").contains("error")), "\(outcome.output)")
    }

    @Test("Keys that others may read are a warning, and a file of keys that cannot be read is an error")
    func keys() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "played")
        let file = cli.store + "/keys.json"
        try Data(#"{"format":1,"keys":[{"name":"a"},{"name":"b"}]}"#.utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(try look(cli).output.contains("There are 2 keys."))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        #expect(try levels(findings(look(cli)).all, of: "keys") == ["warning"])
        try Data("{".utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(try levels(findings(look(cli)).all, of: "keys") == ["error"])
    }

    @Test("An old backup is a warning, a young one is not, and a folder without a backup is an error")
    func backup() throws {
        let cli = try CLI()
        let clock = try ClockShim().environment(seconds: -300_000)
        #expect(try cli.run("log", "event", "jane", "played", environment: clock).status == 0)
        let folder = cli.folder.appending(path: "backup").path
        #expect(try levels(findings(look(cli, "--backup", folder)).all, of: "backup") == ["error"])
        #expect(try cli.run("backup", folder, environment: clock).status == 0)
        #expect(try levels(findings(look(cli, "--backup", folder)).all, of: "backup") == ["warning"])
        try cli.succeed("log", "event", "jane", "played")
        try cli.succeed("backup", folder)
        let (all, _) = try findings(look(cli, "--backup", folder))
        #expect(levels(all, of: "backup") == ["ok"])
        // It is in the folder of the test, next to the store.
        #expect(levels(all, of: "backup disk").contains("warning"))
        try Data("{".utf8).write(to: URL(filePath: folder + "/manifest.json"))
        let damaged = try look(cli, "--backup", folder)
        #expect(try damaged.status == 1 && levels(findings(damaged).all, of: "backup") == ["error"])
    }

    @Test("With --url the doctor asks health and metrics of the service", .timeLimit(.minutes(3)))
    func service() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "played")
        let service = try RemoteTests.Service(cli)
        let outcome = try look(cli, environment: service.environment)
        let (all, end) = try findings(outcome)
        for check in ["service", "program", "clock", "free pages", "readers", "caches", "damage", "audit"] {
            #expect(levels(all, of: check) == ["ok"], "\(check): \(outcome.output) \(outcome.errors)")
        }
        #expect(levels(all, of: "disk").count == 1 && levels(all, of: "limits") == ["ok"], "\(outcome.output)")
        #expect(end["healthy"] == .bool(outcome.status == 0))
        #expect(try look(cli, "--deep", environment: service.environment).status == 64)
        #expect(service.end() == 0)
        let gone = try look(cli, environment: service.environment)
        #expect(gone.status == 1 && gone.errors.contains("Nothing answers at"))
    }
}
