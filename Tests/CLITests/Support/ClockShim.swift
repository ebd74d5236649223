import Foundation

/// A preloaded library that sets the clock of a program wrong, for tests of what it does then.
struct ClockShim {
    private let library: String

    /// Whether there is a C compiler to make it with.
    static let canCompile = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <time.h>

        int clock_gettime(clockid_t id, struct timespec *time) {
            int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
            int code = real(id, time);
            const char *offset = getenv("CLOCK_OFFSET_SECONDS");
            if (code == 0 && id == CLOCK_REALTIME && offset) time->tv_sec += atol(offset);
            return code;
        }
        """

    /// Compiles it into the folder of `cli`.
    init(_ cli: CLI) throws {
        library = cli.folder.appending(path: "clock.so").path
        let file = try cli.write(Self.source, as: "clock.c")
        let outcome = try cli.run(
            ["-shared", "-fPIC", "-o", library, file, "-ldl"], command: URL(filePath: "/usr/bin/cc"))
        guard outcome.status == 0 else { throw CannotCompile(errors: outcome.errors) }
    }

    struct CannotCompile: Error { let errors: String }

    /// The variables under which a program's clock is `seconds` ahead, or behind if they are negative.
    func environment(seconds: Int) -> [String: String] {
        ["LD_PRELOAD": library, "CLOCK_OFFSET_SECONDS": "\(seconds)"]
    }
}
