internal import Foundation

/// An open file, or standard input. It is opened once: the writer of a pipe takes the close of a first reader for the
/// end.
struct InputFile: Sendable {
    /// What it is called in messages.
    let name: String
    fileprivate let descriptor: Int32
    /// Bytes in the file; 0 if that is not known.
    let totalBytes: UInt64

    /// Opens `path`; `-` is standard input.
    init(path: String) throws {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(
                "The file \(path) cannot be read: \(String(cString: strerror(errno))).",
                remedy: "Check the path; `-` reads standard input.")
        }
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        totalBytes = isFile ? UInt64(status.st_size) : 0
    }
}

/// The lines of a file or of standard input, lent one by one from a large buffer.
final class LineReader {
    /// The number of the line lent last, from 1.
    private var lineNumber = 0
    private let descriptor: Int32
    private let name: String
    private var buffer: UnsafeMutableRawPointer
    private var capacity: Int
    private var begin = 0
    private var end = 0
    private var isAtEnd = false

    /// The length limit of a line: one event may have a megabyte, and more with JSON's escapes.
    static let longestLineBytes = 16 << 20

    /// Reads `file`, and closes it at the end.
    init(_ file: InputFile, blockBytes: Int = 1 << 20) {
        (name, descriptor) = (file.name, file.descriptor)
        capacity = blockBytes
        buffer = .allocate(byteCount: blockBytes, alignment: 16)
    }

    deinit {
        buffer.deallocate()
        if descriptor > STDIN_FILENO { close(descriptor) }
    }

    /// Calls `body` with the next line, without its line feed. False at the end.
    func withNextLine(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        var searched = 0
        while true {
            if let feed = memchr(buffer + begin + searched, 0x0A, end - begin - searched) {
                let length = UnsafeRawPointer(feed) - UnsafeRawPointer(buffer + begin)
                try lend(length, taking: length + 1, body)
                return true
            }
            searched = end - begin
            if isAtEnd {
                if searched == 0 { return false }
                try lend(searched, taking: searched, body)
                return true
            }
            try fill()
        }
    }

    private func lend(_ length: Int, taking taken: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let line = UnsafeRawBufferPointer(start: buffer + begin, count: length)
        begin += taken
        lineNumber += 1
        try body(line)
    }

    private func fill() throws {
        if begin > 0 {
            memmove(buffer, buffer + begin, end - begin)
            end -= begin
            begin = 0
        }
        if end == capacity {
            guard capacity < Self.longestLineBytes else {
                throw Failure(
                    "Line \(lineNumber + 1) of \(name) is longer than \(Self.longestLineBytes) bytes.",
                    remedy: "Write each event on its own line, ended by a line feed.")
            }
            let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity * 2, alignment: 16)
            larger.copyMemory(from: buffer, byteCount: end)
            buffer.deallocate()
            buffer = larger
            capacity *= 2
        }
        while true {
            let count = read(descriptor, buffer + end, capacity - end)
            if count >= 0 {
                end += count
                isAtEnd = count == 0
                return
            }
            let code = errno
            if code == EINTR { continue }
            throw Failure(
                "\(name) cannot be read: \(String(cString: strerror(code))).",
                remedy: "Check the file, and run the same command again: it goes on where it stopped.")
        }
    }
}
