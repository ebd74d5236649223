internal import CoreFoundation
internal import Foundation

/// The use of the machine by this process. What the system does not tell is nil.
struct ProcessUsage {
    let cpuSeconds: Double
    let residentBytes: Int?
    let openFiles: Int?
    let mostFiles: UInt64?

    init() {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        cpuSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        // Pages in all, pages in memory, and more.
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        residentBytes = pages.flatMap { $0.count > 1 ? Int($0[1]) : nil }.map { $0 * Int(getpagesize()) }
        openFiles = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        mostFiles = getrlimit(resource, &limit) == 0 ? UInt64(limit.rlim_cur) : nil
    }
}
