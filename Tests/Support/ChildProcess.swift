internal import CSpawn
public import Foundation
internal import Synchronization

/// A process that a test started (`posix_spawn`).
///
/// Foundation's `Process` fails with many children: with a thousand open descriptors it reads past the end of a list of
/// them, which sometimes crashes the tests, and it learns that a child ended through a socket that another child may
/// have inherited.
public final class ChildProcess: Sendable {
    /// The process's number.
    private let id: pid_t
    /// The end, if it is known already.
    private let known = Mutex<Int32?>(nil)

    /// The other end of a standard stream of the process.
    public enum Stream: Sendable {
        /// The same as that of the tests.
        case inherited
        case nothing
        /// A file: read as an input; created or emptied as an output.
        case file(URL)
        /// An open descriptor of this process. The caller closes it.
        case descriptor(Int32)
    }

    /// The reason why a process could not be started, as a number of `errno`.
    public struct CannotStart: Error {
        /// The number.
        public let code: Int32

        /// An error with this number.
        public init(code: Int32) { self.code = code }
    }

    /// Starts `program` with `arguments`. The default folder and environment are those of the tests. It inherits its
    /// streams only.
    public init(
        _ program: URL, _ arguments: [String] = [], in folder: URL? = nil, environment: [String: String]? = nil,
        input: Stream = .nothing, output: Stream = .inherited, errors: Stream = .inherited
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let folder { posix_spawn_file_actions_addchdir_np(&actions, folder.path) }
        input.lead(STDIN_FILENO, O_RDONLY, &actions)
        output.lead(STDOUT_FILENO, O_WRONLY | O_CREAT | O_TRUNC, &actions)
        errors.lead(STDERR_FILENO, O_WRONLY | O_CREAT | O_TRUNC, &actions)
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        // A test may run on a thread of Dispatch, which blocks all signals; a child would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0.key)=\($0.value)" }
        var process: pid_t = 0
        let code = Self.withCStrings([program.path] + arguments) { words in
            Self.withCStrings(variables) { posix_spawn(&process, program.path, &actions, &attributes, words, $0) }
        }
        if code != 0 { throw CannotStart(code: code) }
        id = process
    }

    /// A program of this package, as it was built with the tests.
    public static func built(_ name: String) -> URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: name)
    }

    /// Sends a signal, unless the process is known to have ended.
    public func signal(_ number: Int32) {
        known.withLock { known in
            if known == nil { _ = kill(id, number) }
        }
    }

    /// The exit code, or minus the signal that ended it; nil while it runs.
    public var end: Int32? {
        known.withLock { known in
            if known == nil { known = collected() }
            return known
        }
    }

    /// Blocks the thread until the process has ended. Returns its exit code, or minus the signal that ended it.
    @discardableResult
    public func waitForEnd() -> Int32 {
        while true {
            if let end { return end }
            var info = siginfo_t()
            _ = waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT)
        }
    }

    /// Asks the system how the process ended; nil while it runs.
    private func collected() -> Int32? {
        var status: Int32 = 0
        let found = waitpid(id, &status, WNOHANG)
        precondition(found >= 0 || errno == EINTR, "The system does not keep how child processes end.")
        guard found == id else { return nil }
        // As WTERMSIG and WEXITSTATUS.
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : -signal
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = texts.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { buffer in
            // The buffer has at least the closing nil.
            guard let base = buffer.baseAddress else { preconditionFailure("an empty buffer") }
            return body(base)
        }
    }
}

extension ChildProcess.Stream {
    /// Connects the child's descriptor `number` with this stream; a file is opened with `flags`.
    fileprivate func lead(_ number: Int32, _ flags: Int32, _ actions: inout posix_spawn_file_actions_t) {
        switch self {
        case .inherited: break
        case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        case .file(let file): posix_spawn_file_actions_addopen(&actions, number, file.path, flags, 0o644)
        case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
    }
}
