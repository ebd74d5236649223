internal import CMalloc
internal import Foundation

/// What the service asks of the C library and of the system before it starts.
enum ProcessLimits {
    /// Buffers of at least this size, in bytes, are memory maps of their own and return to the system when freed.
    private static let mappedBytes: Int32 = 256 << 10

    /// Fixes glibc's threshold for memory maps (`mallopt`, `M_MMAP_THRESHOLD`).
    ///
    /// By default glibc raises it to the largest buffer that was ever freed, up to 32 MB. The tables of the index's
    /// tail would then leave holes in the heaps of all threads, which grow for as long as there is load.
    static func returnLargeBuffers() {
        #if canImport(Glibc)
            mallopt(M_MMAP_THRESHOLD, mappedBytes)
        #endif
    }

    /// The least number of connections for which the service starts.
    private static let leastConnections = 8
    /// Open files that are no connections: the store, its locks, exports, and the event loops of each core.
    private static var otherFiles: Int { 48 + 4 * ProcessInfo.processInfo.activeProcessorCount }

    /// Raises the limit of open files to what `wanted` connections need, as far as the hard limit allows.
    ///
    /// - Returns: the connections that the limit has room for, at most `wanted`.
    static func reserveFiles(forConnections wanted: Int) throws(StartFailure) -> Int {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return wanted }
        let needed = rlim_t(wanted + otherFiles)
        if limit.rlim_cur < needed {
            limit.rlim_cur = min(limit.rlim_max, needed)
            setrlimit(resource, &limit)
        }
        let files = Int(clamping: limit.rlim_cur)
        let least = leastConnections + otherFiles
        guard files >= min(least, Int(needed)) else {
            throw StartFailure(
                "The process may open \(files) files (RLIMIT_NOFILE), and the service needs at least \(least).",
                remedy: "Raise the limit: `ulimit -n 4096` in a shell, `LimitNOFILE=4096` for systemd, "
                    + "`--ulimit nofile=4096` for a container.")
        }
        return min(wanted, files - otherFiles)
    }
}
