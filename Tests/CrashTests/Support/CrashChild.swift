import Foundation
import TestSupport

/// The crash tests' own program, `profilelog-crashchild`: fed through a pipe, read through another or a file, and
/// killed at will.
final class CrashChild {
    private let process: ChildProcess
    /// The program's standard output, if it is a pipe.
    private(set) var output: Int32 = -1
    private var input: Int32

    static let program = ChildProcess.built("profilelog-crashchild")

    /// Starts the program, or a `command` that starts it. Its output goes into the file `outputFile`, or, without one,
    /// into the pipe `output`.
    init(
        _ arguments: [String], command: [String] = [], environment: [String: String] = [:], outputFile: String? = nil
    ) throws {
        let (inputRead, inputWrite) = try Self.makePipe()
        defer { close(inputRead) }
        input = inputWrite
        var outputWrite: Int32 = -1
        if outputFile == nil { (output, outputWrite) = try Self.makePipe() }
        defer { if outputWrite >= 0 { close(outputWrite) } }
        var variables = environment
        for name in ["PATH", "LD_LIBRARY_PATH", "HOME"] {
            variables[name] = ProcessInfo.processInfo.environment[name]
        }
        let words = command + [Self.program.path] + arguments
        process = try ChildProcess(
            URL(filePath: words[0]), Array(words.dropFirst()), environment: variables, input: .descriptor(inputRead),
            output: outputFile.map { .file(URL(filePath: $0)) } ?? .descriptor(outputWrite))
    }

    deinit {
        endInput()
        if output >= 0 { close(output) }
    }

    /// Writes `line` to the program's standard input.
    func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// The next line of the pipe `output`; nil if the program ended, or says nothing for a minute.
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

    /// Ends the program's standard input.
    func endInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    func kill() { process.signal(SIGKILL) }

    /// Waits until the program has ended; its exit code, or minus the signal that ended it.
    @discardableResult
    func waitForEnd() -> Int32 { process.waitForEnd() }

    private static func makePipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) != 0 { throw ChildProcess.CannotStart(code: errno) }
        return (ends[0], ends[1])
    }
}
