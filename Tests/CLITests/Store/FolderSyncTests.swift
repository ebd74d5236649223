import Foundation
import TestSupport
import Testing

@Suite("The name of a new file is on the disk")
struct FolderSyncTests {
    /// The outcome of the syncs of the store's folder, from number `FROM` on: the error `SYNC`, or, with `kill`, the
    /// end of the process.
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>

        int fsync(int file) {
            char link[64], path[4096] = {0};
            int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            ssize_t length = readlink(link, path, sizeof path - 1);
            const char *fate = getenv("SYNC"), *from = getenv("FROM");
            static int calls;
            if (!fate || length < 6 || strcmp(path + length - 6, "/store") || ++calls < atoi(from)) return real(file);
            if (!strcmp(fate, "kill")) raise(SIGKILL);
            return errno = atoi(fate), -1;
        }
        """

    private let cli: CLI
    private let faults: Shim

    init() throws {
        cli = try CLI()
        faults = try Shim(Self.source)
    }

    private func run(_ arguments: String..., fate: String, from: Int = 1) throws -> CLI.Outcome {
        try cli.run(arguments, environment: faults.environment(["SYNC": fate, "FROM": "\(from)"]))
    }

    /// Expects the error of a failed sync of the folder.
    private func expectRefusal(_ outcome: CLI.Outcome, _ location: SourceLocation = #_sourceLocation) {
        #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome)", sourceLocation: location)
        #expect(outcome.errors.contains("sync of its folder failed"), "\(outcome)", sourceLocation: location)
    }

    @Test("No write to a new store is acknowledged before that")
    func new() throws {
        expectRefusal(try run("log", "event", "jane", "a", fate: "\(EIO)"))
        try cli.succeed("log", "event", "jane", "a")
        try cli.succeed("check")
    }

    @Test("The next process syncs the folder of a store whose maker died before, once")
    func young() throws {
        #expect(try run("log", "event", "jane", "a", fate: "kill").status == -SIGKILL)
        expectRefusal(try run("log", "event", "jane", "a", fate: "\(EIO)"))
        try cli.succeed("log", "event", "jane", "a")
        #expect(try run("log", "event", "jane", "b", fate: "\(EIO)").status == 0)
    }

    // The first is that of the folder for the new file, the second that of its new name.
    @Test("A compaction whose file may have its name tomorrow or not is no success", arguments: [1, 2])
    func compact(sync: Int) throws {
        try cli.succeed("log", "event", "jane", "a")
        expectRefusal(try run("compact", fate: "\(EIO)", from: sync))
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("A file system that cannot sync folders is none that fails")
    func unable() throws {
        #expect(try run("log", "event", "jane", "a", fate: "\(EINVAL)").status == 0)
    }
}
