import Foundation
import TestSupport
import Testing

/// Two compactions of one store, while others write to it.
///
///     first    wants the store alone ─────────────────────── and again ─ writes a new file ─ puts it in place
///     second               writes a new file ─ puts it in place
///     writer                                      opens that, is acknowledged
@Suite("Compactions at the same time lose nothing")
struct CompactTests {
    /// A shim by which a program gets no lock at its first try: it says so by the file `waits`, and goes on when there
    /// is `go`.
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <sys/file.h>
        #include <unistd.h>

        int flock(int file, int operation) {
            static int tries;
            int (*real)(int, int) = dlsym(RTLD_NEXT, "flock");
            if (!(operation & LOCK_EX) || tries++) return real(file, operation);
            real(file, LOCK_UN);  // as a try that fails does
            close(open("waits", O_WRONLY | O_CREAT, 0644));
            while (access("go", F_OK)) usleep(1000);
            return errno = EWOULDBLOCK, -1;
        }
        """

    private let cli: CLI

    init() throws { cli = try CLI() }

    @Test("A compaction that had to try again works on the file that is there then")
    func again() throws {
        try cli.succeed("log", "event", "jane", "early")
        let pause = try Shim(Self.source)
        let outcome = try cli.shell(
            """
            LD_PRELOAD=$PAUSE "$0" compact & first=$!
            until [ -e waits ] || ! kill -0 $first; do sleep 0.01; done
            "$0" compact || echo "the second failed"
            "$0" log event jane late || echo "the writer failed"
            touch go
            wait $first || echo "the first failed"
            """, environment: ["PAUSE": pause.library])
        #expect(!outcome.output.contains("failed"), "\(outcome)")
        let history = try cli.succeed("history", "jane").output
        #expect(history.contains("early") && history.contains("late"), "\(history)")
        try cli.succeed("check")
    }

    @Test("Whatever is acknowledged while two compactions run again and again is there")
    func two() throws {
        try cli.succeed("log", "event", "jane", "first")
        let count = Thoroughness.count(short: 16, full: 40)
        let outcome = try cli.shell(
            """
            for each in 1 2; do (until [ -e done ]; do "$0" compact >>compactions 2>>refusals; done) & done
            for number in $(seq \(count)); do
                "$0" log event jane "event $number" >/dev/null || echo "$number failed"
            done
            touch done
            wait
            """)
        #expect(outcome.output.isEmpty, "\(outcome)")
        let events = try cli.succeed("history", "jane", "--limit", "100", "--format", "json").output
        for number in 1...count { #expect(events.contains("\"event \(number)\""), "event \(number) is lost") }
        let compactions = try String(contentsOf: cli.folder.appending(path: "compactions"), encoding: .utf8)
        #expect(compactions.split(separator: "\n").count > 5)
        try cli.succeed("check")
    }
}
