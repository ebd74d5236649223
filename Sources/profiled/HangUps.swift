internal import Foundation
internal import ProfileLog

/// SIGHUP, as of `systemctl reload`, of a rotation of logs, or of a terminal that closes. It never ends the service.
/// One that comes while the service starts waits until it runs.
enum HangUps {
    /// A pipe: a handler of a signal may do little more than write.
    private static let ends: (read: Int32, write: Int32)? = {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // If it is full, one that waits counts for this one too.
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }()

    /// Keeps each SIGHUP from now on for ``all``.
    static func keep() {
        // Made before a handler uses it.
        if ends == nil {
            signal(SIGHUP, SIG_IGN)
            return
        }
        signal(SIGHUP) { _ in
            let code = errno
            var byte: UInt8 = 0
            if let ends = HangUps.ends { _ = write(ends.write, &byte, 1) }
            errno = code
        }
        // A parent may have started the program with it blocked.
        var numbers = sigset_t()
        sigemptyset(&numbers)
        sigaddset(&numbers, SIGHUP)
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
    }

    /// The signals since ``keep()``; several that wait are one. For one caller in the process.
    static var all: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        guard let ends else { return stream }
        startThread("hang-ups") {
            var byte: UInt8 = 0
            while true {
                let count = read(ends.read, &byte, 1)
                if count > 0 {
                    continuation.yield()
                } else if count == 0 || errno != EINTR {
                    return
                }
            }
        }
        return stream
    }
}
