import Glibc

/// A process that a test started: fed through a pipe, read through another or a file, and killed at will.
final class ChildProcess {
    let id: pid_t
    /// The child's standard output, if it is a pipe.
    private(set) var output: Int32 = -1
    private var input: Int32 = -1

    struct CannotStart: Error { let code: Int32 }

    /// The crash tests' own program, built beside the tests.
    static let crashChild = "profilelog-crashchild"

    /// Starts `profilelog-crashchild`. Its output goes into the file `outputFile`, or, without one, into the pipe
    /// `output`.
    init(_ arguments: [String], environment: [String: String] = [:], outputFile: String? = nil) throws {
        let program = try Self.programFolder() + Self.crashChild
        let (inputRead, inputWrite) = try Self.pipe()
        var outputs: (read: Int32, write: Int32)
        if let outputFile {
            outputs = (-1, open(outputFile, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644))
            if outputs.write < 0 { throw CannotStart(code: errno) }
        } else {
            outputs = try Self.pipe()
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputRead, 0)
        posix_spawn_file_actions_adddup2(&actions, outputs.write, 1)
        var variables = environment.map { "\($0.key)=\($0.value)" }
        for name in ["PATH", "LD_LIBRARY_PATH", "HOME"] {
            if let value = getenv(name) { variables.append("\(name)=\(String(cString: value))") }
        }
        var process: pid_t = 0
        let code = Self.withCStrings([program] + arguments) { arguments in
            Self.withCStrings(variables) { variables in
                posix_spawn(&process, program, &actions, nil, arguments, variables)
            }
        }
        close(inputRead)
        close(outputs.write)
        input = inputWrite
        output = outputs.read
        id = process
        if code != 0 { throw CannotStart(code: code) }
    }

    deinit {
        if input >= 0 { close(input) }
        if output >= 0 { close(output) }
    }

    /// Writes `line` to the child's standard input.
    func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// The next line of the pipe `output`; nil if the child ended, or says nothing for a minute.
    func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            var state = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            if poll(&state, 1, 60_000) <= 0 || read(output, &byte, 1) <= 0 { return nil }
            if byte == 0x0A { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }

    /// Ends the child's standard input.
    func endInput() {
        close(input)
        input = -1
    }

    func kill() { _ = Glibc.kill(id, SIGKILL) }

    enum End: Equatable { case exited(Int32), killed(Int32) }

    /// Waits until the child has ended.
    func wait() -> End {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal)
    }

    /// Where the tests and the programs of this package were built.
    private static func programFolder() throws -> String {
        var path = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &path, path.count)
        if length <= 0 { throw CannotStart(code: errno) }
        let text = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(text[...(text.lastIndex(of: "/") ?? text.startIndex)])
    }

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        if Glibc.pipe(&ends) != 0 { throw CannotStart(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
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
