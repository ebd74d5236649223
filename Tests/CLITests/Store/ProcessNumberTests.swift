import Foundation
import TestSupport
import Testing

@Suite("Two containers whose processes have one number")
struct ProcessNumberTests {
    /// LMDB's readers hold a lock on the byte of `lock.mdb` that their process's number names: here another process has
    /// it.
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdarg.h>
        #include <stdlib.h>
        #include <unistd.h>

        static int call(const char *name, int file, int command, void *argument) {
            struct flock *lock = argument;
            if (getenv("TAKEN") && command == F_SETLK && lock->l_type == F_WRLCK && lock->l_start == getpid())
                return errno = EAGAIN, -1;
            int (*real)(int, int, void *) = dlsym(RTLD_NEXT, name);
            return real(file, command, argument);
        }

        #define WRAP(name) \\
            int name(int file, int command, ...) { \\
                va_list list; \\
                va_start(list, command); \\
                void *argument = va_arg(list, void *); \\
                va_end(list); \\
                return call(#name, file, command, argument); \\
            }

        WRAP(fcntl)
        WRAP(fcntl64)
        """

    @Test("Two processes of one number write one file: each puts its own whole one in place")
    func output() throws {
        let cli = try CLI()
        let number = try Shim("int getpid(void) { return 7; }").library
        // first:  begins | held                 | goes on, ends
        // second:        | begins, ends         |
        let script = """
            LD_PRELOAD=$NUMBER "$0" generate --events 200000 -o out.jsonl & first=$!
            until ls | grep -q unfinished || ! kill -0 $first; do sleep 0.01; done
            kill -STOP $first; ls | grep -c unfinished
            LD_PRELOAD=$NUMBER "$0" generate --events 2 -o out.jsonl; echo $?; wc -l < out.jsonl
            kill -CONT $first; wait $first; echo $?; wc -l < out.jsonl; ls | grep -c unfinished
            """
        let outcome = try cli.shell(script, environment: ["NUMBER": number])
        #expect(outcome.lines == ["1", "0", "2", "0", "200000", "0"], "\(outcome)")
    }

    @Test("The second is refused, with the reason and the remedy")
    func taken() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a")
        let taken = try Shim(Self.source).environment(["TAKEN": "1"])
        for command in [["history", "jane"], ["log", "event", "jane", "b"]] {
            let outcome = try cli.run(command, environment: taken)
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("with the same process number"), "\(outcome)")
            #expect(outcome.errors.contains("share one PID namespace"), "\(outcome)")
        }
        try cli.succeed("check")
    }
}
