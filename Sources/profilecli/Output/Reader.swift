internal import Foundation
internal import ProfileLog

/// The reader of standard output, where that is a pipe.
enum Reader {
    /// From now on the program ends as soon as the reader has gone, also while there is nothing to write.
    static func endProcessWhenGone() {
        startThread("output-reader") {
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            let gone = Int16(POLLERR | POLLHUP)
            while poll(&output, 1, -1) >= 0 || errno == EINTR {
                if output.revents & gone != 0 { endProcess(ExitStatus.done.rawValue) }
                if output.revents & Int16(POLLNVAL) != 0 { return }
            }
        }
    }
}
