internal import Glibc

/// Another program, fed over a pipe: a line in, a line out. Each line to it and from it ends within a time limit.
final class FoldProgram {
    private let path: String
    private let process: pid_t
    private let input: Int32
    private let output: Int32
    private var received: [UInt8] = []
    /// Bytes of `received` that hold no line break.
    private var searched = 0
    private let limit: Duration
    /// Tells whether the system has forgotten the process: its number may be another one's.
    private var isGone = false

    /// A longer line is no answer.
    private static let mostBytes = 64 << 20

    /// Starts `program`, a file or a name to be found in PATH, with `arguments`.
    init(_ program: String, _ arguments: [String], limit: Duration) throws {
        (path, self.limit) = (program, limit)
        let (toProgram, fromProgram) = (try Self.pipe(), try Self.pipe())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toProgram.reading, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fromProgram.writing, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This program ignores SIGPIPE, which a child would inherit.
        var pipeSignal = sigset_t()
        sigemptyset(&pipeSignal)
        sigaddset(&pipeSignal, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &pipeSignal)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, program, &actions, &attributes, &words, environ)
        close(toProgram.reading)
        close(fromProgram.writing)
        (self.process, input, output) = (process, toProgram.writing, fromProgram.reading)
        guard code == 0 else {
            throw CommandError(
                "\(program) cannot be started: \(String(cString: strerror(code))).",
                remedy: "Name an executable file with --program.", status: .usage)
        }
        for descriptor in [input, output] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
    }

    deinit {
        close(input)
        close(output)
    }

    /// No other child inherits the ends.
    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else {
            throw CommandError(
                "No pipe can be made: \(String(cString: strerror(errno))).", remedy: "Close other programs.")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    // MARK: - Lines

    /// Gives the program `lines`, and keeps what it answers: a program may answer before it has read all.
    func send(_ lines: [UInt8]) throws {
        var sent = 0
        var end = ContinuousClock.now + limit
        while sent < lines.count {
            let ready = try wait(until: end, toWrite: true)
            if ready.canRead { try receive() }
            guard ready.canWrite else { continue }
            let count = lines.withUnsafeBytes { lines in
                write(input, lines.baseAddress.map { $0 + sent }, min(lines.count - sent, 1 << 16))
            }
            if count > 0 {
                sent += count
                end = ContinuousClock.now + limit
            } else if errno != EAGAIN, errno != EINTR {
                throw Failed.ended(try ended())
            }
        }
    }

    /// The next line of its answer, without the break.
    func line() throws -> [UInt8] {
        let end = ContinuousClock.now + limit
        while true {
            if let line = completeLine() { return line }
            guard received.count < Self.mostBytes else { throw Failed.tooLong }
            _ = try wait(until: end, toWrite: false)
            try receive()
        }
    }

    /// The next line, if it is there already.
    func completeLine() -> [UInt8]? {
        guard let place = received[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = received.count
            return nil
        }
        let line = Array(received[..<place])
        received.removeSubrange(...place)
        searched = 0
        return line
    }

    /// The text printed after its last line break.
    var unfinishedLine: [UInt8] { received }

    /// Ends the program, and waits until it is gone.
    func stop() {
        if isGone { return }
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// The reason why the program gave no answer.
    enum Failed: Error {
        /// The program ended, in these words.
        case ended(String)
        case silent
        case tooLong
    }

    private func wait(until end: ContinuousClock.Instant, toWrite: Bool) throws -> (canRead: Bool, canWrite: Bool) {
        let left = end - .now
        guard left > .zero else { throw Failed.silent }
        var files = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
        ]
        let (seconds, attoseconds) = left.components
        poll(&files, toWrite ? 2 : 1, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
        return (files[0].revents != 0, toWrite && files[1].revents != 0)
    }

    /// Takes what is there; throws if the program has closed its output.
    private func receive() throws {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(output, &bytes, bytes.count)
        if count > 0 {
            received += bytes[..<count]
        } else if count == 0 {
            throw Failed.ended(try ended())
        }
    }

    /// Returns the way in which the program ended, after its pipe has broken.
    private func ended() throws -> String {
        var status: Int32 = 0
        let end = ContinuousClock.now + limit
        while waitpid(process, &status, WNOHANG) == 0 {
            if ContinuousClock.now > end { return "closed its output" }
            usleep(1000)
        }
        isGone = true
        // As WTERMSIG and WEXITSTATUS.
        let signal = status & 0x7F
        return signal == 0 ? "ended with status \(status >> 8 & 0xFF)" : "ended by signal \(signal)"
    }
}
