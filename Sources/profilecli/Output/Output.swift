#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Standard output: data only, buffered, and quiet when the reader has gone.
enum Output {
    /// The reader of standard output has closed it: there is nobody left to work for.
    struct ReaderHasGone: Error {}

    /// Writes `line` and a line feed.
    static func print(_ line: String) throws { try write(Array((line + "\n").utf8)) }

    /// Writes `lines`, each with a line feed, at once.
    static func print(_ lines: [String]) throws {
        if lines.isEmpty { return }
        try print(lines.joined(separator: "\n"))
    }

    /// Writes `bytes` to `descriptor`.
    static func write(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) throws {
        try bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                guard let base = bytes.baseAddress else { return }
                #if canImport(Darwin)
                    let count = Darwin.write(descriptor, base + written, bytes.count - written)
                #else
                    let count = Glibc.write(descriptor, base + written, bytes.count - written)
                #endif
                if count < 0 {
                    let code = errno
                    if code == EINTR { continue }
                    if code == EPIPE { throw ReaderHasGone() }
                    throw Failure(
                        "The output cannot be written: \(String(cString: strerror(code))).",
                        remedy: "Free some space or write elsewhere, and run the same command again.")
                }
                written += count
            }
        }
    }

    /// Writes one line to standard error.
    static func message(_ line: String) { try? write(Array((line + "\n").utf8), to: STDERR_FILENO) }
}
