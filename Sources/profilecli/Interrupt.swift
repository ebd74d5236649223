internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Ctrl-C, for work that stops at a good place: the first asks it to, the second ends the program.
enum Interrupt {
    private static let flag = Atomic<Bool>(false)

    /// Whether Ctrl-C was pressed.
    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// From now on the first Ctrl-C (or SIGTERM) is noted, no more.
    static func watch() {
        _ = isRequested  // made before a signal can ask for it
        // A parent may have started the program with these blocked, as a thread of Dispatch does.
        var numbers = sigset_t()
        sigemptyset(&numbers)
        for number in [SIGINT, SIGTERM] {
            sigaddset(&numbers, number)
            signal(number) { number in
                Interrupt.note()
                signal(number, SIG_DFL)
            }
        }
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
    }

    private static func note() { flag.store(true, ordering: .relaxed) }
}
