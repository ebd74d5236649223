import Foundation
import TestSupport
import Testing

@Suite("A file that is written")
struct OutputFileTests {
    private let cli: CLI

    init() throws { cli = try CLI() }

    private func content(_ name: String) throws -> String {
        try String(contentsOf: cli.folder.appending(path: name), encoding: .utf8)
    }

    private func mode(_ name: String) throws -> mode_t {
        var status = stat()
        try #require(stat(cli.folder.appending(path: name).path, &status) == 0)
        return status.st_mode & 0o777
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: cli.folder.appending(path: name).path, withDestinationPath: target)
    }

    @Test("A link to a file that is not there yet stays one, and the file is made")
    func newBehindLink() throws {
        try FileManager.default.createDirectory(
            at: cli.folder.appending(path: "out"), withIntermediateDirectories: true)
        try link("latest.jsonl", to: "out/daily")
        try link("out/daily", to: "today.jsonl")
        for _ in 0..<2 {
            try cli.succeed("generate", "--events", "2", "-o", "latest.jsonl")
            #expect(try content("out/today.jsonl").split(separator: "\n").count == 2)
        }
        for (name, target) in [("latest.jsonl", "out/daily"), ("out/daily", "today.jsonl")] {
            let path = cli.folder.appending(path: name).path
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
        }
        try link("whole.jsonl", to: cli.folder.appending(path: "out/whole.jsonl").path)
        try cli.succeed("generate", "--events", "2", "-o", "whole.jsonl")
        #expect(try content("out/whole.jsonl").split(separator: "\n").count == 2)
    }

    @Test("A file whose name is nearly as long as one may be is written")
    func longName() throws {
        let name = String(repeating: "n", count: 236)
        try cli.succeed("generate", "--events", "2", "-o", name)
        #expect(try content(name).split(separator: "\n").count == 2)
    }

    @Test("A link that cannot lead to a file is refused and stays", arguments: ["missing/file", "loop", "."])
    func deadLink(target: String) throws {
        try link("loop", to: target)
        let outcome = try cli.run("generate", "--events", "2", "-o", "loop")
        #expect(outcome.status == 1 && outcome.errors.contains("loop cannot be written"), "\(outcome.errors)")
        let path = cli.folder.appending(path: "loop").path
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
    }

    @Test("A new file is its owner's alone, whatever the umask allows")
    func newFile() throws {
        try cli.succeed("log", "event", "jane", "visited")
        try cli.succeed("export", "-o", "export.jsonl")
        try cli.succeed("generate", "--events", "2", "-o", "generate.jsonl")
        #expect(try mode("export.jsonl") == 0o600 && mode("generate.jsonl") == 0o600)
    }

    @Test("A private file stays private while it is written")
    func privateAllTheTime() throws {
        let shim = try Shim(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            #include <sys/stat.h>
            int fchmod(int file, mode_t mode) {
                struct stat status;
                FILE *seen = fopen("seen", "a");
                fstat(file, &status);
                fprintf(seen, "%o\\n", status.st_mode & 0777);
                fclose(seen);
                return ((int (*)(int, mode_t))dlsym(RTLD_NEXT, "fchmod"))(file, mode);
            }
            """)
        let file = try cli.write("old", as: "out.jsonl")
        try #require(chmod(file, 0o640) == 0)
        let outcome = try cli.run(["generate", "--events", "2", "-o", file], environment: shim.environment())
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try content("seen") == "600\n")
        #expect(try mode("out.jsonl") == 0o640)
    }

    @Test("What a file's group may do, no other group may that takes its place")
    func otherGroup() throws {
        let shim = try Shim(
            """
            #include <errno.h>
            #include <unistd.h>
            int fchown(int file, uid_t owner, gid_t group) { errno = EPERM; return -1; }
            """)
        let file = try cli.write("old", as: "out.jsonl")
        try #require(chmod(file, 0o660) == 0)
        let outcome = try cli.run(["generate", "--events", "2", "-o", file], environment: shim.environment())
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try mode("out.jsonl") == 0o600)
    }

    @Test(
        "Standard output by its name is standard output: the content of its file stays",
        arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    func standardOutput(name: String) throws {
        _ = try cli.write("before\n", as: "all.jsonl")
        let script = "\"$0\" generate --events 2 -o \(name) >> all.jsonl"
        let outcome = try cli.shell(script)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = try content("all.jsonl").split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == "before")
    }
}
