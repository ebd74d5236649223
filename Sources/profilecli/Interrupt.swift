internal import Foundation
internal import Synchronization

/// Ctrl-C or SIGTERM, for work that stops at a good place: the first asks it to, the second ends the program.
enum Interrupt {
    private static let number = Atomic<Int32>(0)

    /// Whether one came.
    static var isRequested: Bool { number.load(ordering: .relaxed) != 0 }

    /// Which one came.
    static var name: String { number.load(ordering: .relaxed) == SIGTERM ? "SIGTERM" : "Ctrl-C" }

    /// The exit status that tells a shell which one came.
    static var status: ExitStatus { number.load(ordering: .relaxed) == SIGTERM ? .terminated : .interrupted }

    /// From now on the first Ctrl-C (or SIGTERM) only sets `isRequested`.
    static func watch() {
        _ = isRequested  // initialised before a signal handler reads it
        // A parent may have started the program with these blocked, as a thread of Dispatch does.
        var numbers = sigset_t()
        sigemptyset(&numbers)
        for number in [SIGINT, SIGTERM] {
            sigaddset(&numbers, number)
            signal(number) { number in
                Interrupt.number.store(number, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
    }
}
