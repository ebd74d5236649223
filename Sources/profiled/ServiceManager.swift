internal import CoreFoundation
internal import Foundation
internal import ProfileLog

/// The news for systemd, or another service manager with its protocol (sd_notify(3)): one datagram each, to the socket
/// that `NOTIFY_SOCKET` names. Without that variable there is no manager, and nothing is sent.
enum ServiceManager {
    /// The socket's path; one that begins with `@` is abstract.
    private static let socketPath: String? = {
        let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] ?? ""
        return path.count > 1 && (path.hasPrefix("/") || path.hasPrefix("@")) ? path : nil
    }()

    /// The service answers requests. `systemctl status` shows `status`.
    static func ready(_ status: String) { send("READY=1\nSTATUS=\(status.printable())") }

    /// The service reads its files again, until the next ``ready(_:)``.
    static func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        send("RELOADING=1\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1_000)")
    }

    /// The service takes no new requests and ends.
    static func stopping() { send("STOPPING=1\nSTATUS=Stopping: running requests are finished.") }

    static func status(_ text: String) { send("STATUS=\(text.printable())") }

    // MARK: - A start that takes long

    private static let lookEvery = DispatchTimeInterval.seconds(5)
    /// Six looks: one that comes late does no harm.
    private static let extensionMicroseconds = 30_000_000

    /// Asks the manager for more time: the start came further.
    static func goesOn() { send("EXTEND_TIMEOUT_USEC=\(extensionMicroseconds)") }

    /// Runs `work` of the start, and asks the manager for more time for as long as the process works: the tail of a
    /// large store is read, or its caches are written. A start that only waits gets no more time than the unit grants.
    static func extendingStart<Result>(_ work: () throws -> Result) rethrows -> Result {
        if socketPath == nil { return try work() }
        let done = DispatchSemaphore(value: 0)
        defer { done.signal() }
        startThread("start-patience") {
            var known = ProcessWork.now()
            while done.wait(timeout: .now() + lookEvery) == .timedOut {
                let now = ProcessWork.now()
                if now.isMore(than: known) { goesOn() }
                known = now
            }
        }
        return try work()
    }

    /// The processor time and the reads of this process so far.
    private struct ProcessWork: Sendable {
        let milliseconds: Int
        let reads: Int

        static func now() -> ProcessWork {
            var usage = rusage()
            #if canImport(Glibc)
                getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            #else
                getrusage(RUSAGE_SELF, &usage)
            #endif
            return ProcessWork(
                milliseconds: Int(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000
                    + Int(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000,
                reads: Int(usage.ru_majflt + usage.ru_inblock))
        }

        /// A wait for a lock takes a few milliseconds too.
        func isMore(than known: ProcessWork) -> Bool {
            milliseconds - known.milliseconds > 250 || reads - known.reads > 100
        }
    }

    // MARK: - The socket

    /// Sends `lines`. A manager that cannot be reached is no reason to end.
    private static func send(_ lines: String) {
        guard let socketPath else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(socketPath.utf8)
        if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let addressBytes = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        #if canImport(Glibc)
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let text = Array(lines.utf8)
        _ = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, addressBytes)
            }
        }
    }
}
