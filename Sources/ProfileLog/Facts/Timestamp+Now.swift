internal import Glibc

extension Timestamp {
    /// The wall clock's time, which may jump either way when the clock is set.
    package static func now() -> Timestamp {
        var time = timespec()
        let code = clock_gettime(CLOCK_REALTIME, &time)
        precondition(code == 0, "the system has no real-time clock")
        return Timestamp(rawValue: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
