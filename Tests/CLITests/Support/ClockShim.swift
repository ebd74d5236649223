import TestSupport

/// Sets the clock of a program wrong.
struct ClockShim {
    private let shim: Shim

    init() throws {
        shim = try Shim(
            """
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
            """)
    }

    /// The variables under which a program's clock is `seconds` ahead, or late if they are negative.
    func environment(seconds: Int) -> [String: String] {
        shim.environment(["CLOCK_OFFSET_SECONDS": "\(seconds)"])
    }
}
