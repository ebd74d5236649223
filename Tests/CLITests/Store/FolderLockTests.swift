import Foundation
import TestSupport
import Testing

@Suite("The lock on a store's folder")
struct FolderLockTests {
    /// Lets `flock` fail: always with the error `FLOCK_ERROR`, or `FLOCK_BUSY` times where the lock is wanted by one
    /// opening, as while a program that another thread starts still has it.
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdlib.h>
        #include <sys/file.h>

        int flock(int file, int operation) {
            static int alone;
            const char *error = getenv("FLOCK_ERROR"), *busy = getenv("FLOCK_BUSY");
            if (error) return errno = atoi(error), -1;
            if (busy && operation & LOCK_EX && alone++ < atoi(busy)) return errno = EWOULDBLOCK, -1;
            int (*real)(int, int) = dlsym(RTLD_NEXT, "flock");
            return real(file, operation);
        }
        """

    private let cli: CLI
    private let shim: Shim

    init() throws {
        cli = try CLI()
        shim = try Shim(Self.source)
    }

    @Test("A file system without such locks is named, and no process waits for it")
    func noLocks() throws {
        try cli.succeed("log", "event", "jane", "a")
        for error in [ENOLCK, EOPNOTSUPP] {
            // Ended from outside if it waits, which would be for ever.
            let outcome = try cli.run(
                ["60", CLI.program.path, "history", "jane"],
                environment: shim.environment(["FLOCK_ERROR": "\(error)"]),
                command: URL(filePath: "/usr/bin/timeout"))
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("cannot be used: \(String(cString: strerror(error)))"), "\(outcome.errors)")
            #expect(outcome.errors.contains("has locks"))
        }
    }

    @Test("Who needs the store alone tries for a while", arguments: [(3, 0), (1_000, 1)] as [(Int, Int32)])
    func busy(times: Int, status: Int32) throws {
        try cli.succeed("log", "event", "jane", "a")
        let outcome = try cli.run("compact", environment: shim.environment(["FLOCK_BUSY": "\(times)"]))
        #expect(outcome.status == status, "\(outcome.errors)")
        #expect(outcome.errors.contains("has the store in") == (status != 0), "\(outcome.errors)")
        try cli.succeed("check")
    }
}
