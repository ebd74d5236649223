public import Foundation

/// How a process ended, asked of the system.
///
/// Foundation's `Process` learns it when a socket closes that the child holds, and another child that was started at the same moment may
/// have inherited that socket: then `isRunning` stays true, and `waitUntilExit` waits, until that one has ended too.
extension Process {
    /// The exit code, or minus the signal that ended it; nil while it runs.
    public var end: Int32? { ended(waiting: false) }

    /// Holds the thread until the process has ended; its exit code, or minus the signal that ended it.
    @discardableResult
    public func waitForEnd() -> Int32 {
        while true {
            if let end = ended(waiting: true) { return end }
        }
    }

    /// Leaves the child for Foundation to collect (`WNOWAIT`).
    private func ended(waiting: Bool) -> Int32? {
        var info = siginfo_t()
        if waitid(P_PID, id_t(processIdentifier), &info, WEXITED | WNOWAIT | (waiting ? 0 : WNOHANG)) == 0 {
            if info.si_signo == 0 { return nil }
            let status = info._sifields._sigchld.si_status
            return info.si_code == Int32(CLD_EXITED) ? status : -status
        }
        // A child that Foundation has collected is known to it, or will be at once.
        if errno != ECHILD || isRunning { return nil }
        return terminationReason == .exit ? terminationStatus : -terminationStatus
    }
}
