internal import CZlib
internal import Foundation

/// An open file, or standard input. It is opened once: closing it would end the writer of a pipe.
struct InputFile: Sendable {
    let name: String
    let descriptor: Int32
    /// Bytes in the file; 0 if that is not known.
    let totalBytes: UInt64

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

    /// Tells whether `path` leads to the same file.
    func isSame(as path: String) -> Bool {
        var (here, there) = (stat(), stat())
        return fstat(descriptor, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev
            && here.st_ino == there.st_ino
    }
}

/// The bytes of a file, unpacked if it is a gzip file: its first bytes tell, whatever its name.
final class InputBytes {
    private let file: InputFile
    private var zipped: Gunzip?
    private var isBegun = false
    /// Bytes that were read to look at the first ones, and not lent yet.
    private var first: [UInt8] = []

    init(_ file: InputFile) { self.file = file }

    deinit { if file.descriptor > STDIN_FILENO { close(file.descriptor) } }

    /// Reads up to `count` bytes; 0 at the end.
    func read(into buffer: UnsafeMutableRawPointer, _ count: Int) throws -> Int {
        if !isBegun { try begin() }
        if let zipped { return try zipped.read(into: buffer, count) { try self.readFile(into: $0, $1) } }
        return try readFile(into: buffer, count)
    }

    private func begin() throws {
        isBegun = true
        var bytes = [UInt8](repeating: 0, count: 2)
        var have = 0
        while have < 2 {
            let count = try bytes.withUnsafeMutableBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                return try readFile(into: base + have, 2 - have)
            }
            if count == 0 { break }
            have += count
        }
        first = Array(bytes.prefix(have))
        if first == [0x1F, 0x8B] { zipped = try Gunzip(file.name) }
    }

    private func readFile(into buffer: UnsafeMutableRawPointer, _ count: Int) throws -> Int {
        if !first.isEmpty {
            let taken = min(count, first.count)
            buffer.copyMemory(from: first, byteCount: taken)
            first.removeFirst(taken)
            return taken
        }
        var result = 0
        repeat { result = Foundation.read(file.descriptor, buffer, count) } while result < 0 && errno == EINTR
        guard result >= 0 else {
            throw Failure(
                "\(file.name) cannot be read: \(String(cString: strerror(errno))).",
                remedy: "Check the file, and run the same command again: it goes on where it stopped.")
        }
        return result
    }
}

/// Unpacks gzip data, also several files one after the other.
private final class Gunzip {
    private let name: String
    private var stream = z_stream()
    private let packed = UnsafeMutablePointer<UInt8>.allocate(capacity: packedBytes)
    private static let packedBytes = 1 << 18
    private var isAtMemberEnd = false
    private var isAtEnd = false

    init(_ name: String) throws {
        self.name = name
        guard gzip_begin(&stream) == Z_OK else {
            throw Failure("\(name) cannot be unpacked: there is no memory for it.", remedy: "Unpack it with gzip -d.")
        }
    }

    deinit {
        inflateEnd(&stream)
        packed.deallocate()
    }

    func read(
        into buffer: UnsafeMutableRawPointer, _ count: Int,
        from source: (UnsafeMutableRawPointer, Int) throws -> Int
    ) throws -> Int {
        if isAtEnd { return 0 }
        stream.next_out = buffer.assumingMemoryBound(to: UInt8.self)
        stream.avail_out = uInt(count)
        while Int(stream.avail_out) == count {
            if stream.avail_in == 0 {
                let have = try source(packed, Self.packedBytes)
                if have == 0 {
                    guard isAtMemberEnd else { throw broken("is cut short") }
                    isAtEnd = true
                    return 0
                }
                (stream.next_in, stream.avail_in) = (packed, uInt(have))
            }
            if isAtMemberEnd {
                inflateReset(&stream)
                isAtMemberEnd = false
            }
            switch inflate(&stream, Z_NO_FLUSH) {
            case Z_OK, Z_BUF_ERROR: continue
            case Z_STREAM_END: isAtMemberEnd = true
            default: throw broken("is no valid gzip file")
            }
        }
        return count - Int(stream.avail_out)
    }

    private func broken(_ what: String) -> Failure {
        Failure("\(name) \(what).", remedy: "Check the file with `gzip -t`, and run the same command again.")
    }
}

/// The lines of a file, or the records of a table in it, lent one by one.
final class LineReader {
    private let bytes: InputBytes
    private let name: String
    /// Has room for the longest line. The system gives memory only for the bytes that are used.
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: longestLineBytes, alignment: 16)
    /// The bytes that were read and not lent.
    private var unread = 0..<0
    private var lineNumber = 0
    private var isAtEnd = false

    /// One event may have a megabyte, and more with JSON's escapes.
    private static let longestLineBytes = 16 << 20
    private static let blockBytes = 1 << 20

    init(_ file: InputFile) { (bytes, name) = (InputBytes(file), file.name) }

    deinit { buffer.deallocate() }

    /// Calls `body` with the next line, without its line feed. False at the end.
    func withNextLine(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try withNext(isWhole: { _ in true }) { line, _ in try body(line) }
    }

    /// Calls `body` with the next lines of which `isWhole` is true only for the last, without the last line feed, and
    /// with how many they are. False at the end.
    func withNext(
        isWhole: (UnsafeRawBufferPointer) -> Bool, _ body: (UnsafeRawBufferPointer, _ lines: Int) throws -> Void
    ) throws -> Bool {
        // Offsets from the first unread byte: of the line that is looked at, and of what was searched.
        var (line, searched, count) = (0, 0, 1)
        while true {
            let begin = UnsafeRawPointer(buffer + unread.lowerBound)
            let feed = memchr(begin + searched, 0x0A, unread.count - searched)
            guard feed != nil || isAtEnd else {
                searched = unread.count
                try fill()
                continue
            }
            if feed == nil, unread.isEmpty { return false }
            let end = feed.map { UnsafeRawPointer($0) - begin } ?? unread.count
            guard isWhole(UnsafeRawBufferPointer(start: begin + line, count: end - line)) else {
                guard feed != nil, end + 1 < unread.count || !isAtEnd else {
                    throw Failure(
                        "A quote that opens in line \(lineNumber + 1) of \(name) is not closed.",
                        remedy: "Correct the line: a quote inside of a field is written twice.")
                }
                (line, searched) = (end + 1, end + 1)
                count += 1
                continue
            }
            unread = min(unread.upperBound, unread.lowerBound + end + 1)..<unread.upperBound
            lineNumber += count
            try body(UnsafeRawBufferPointer(start: begin, count: end), count)
            return true
        }
    }

    private func fill() throws {
        guard unread.count < Self.longestLineBytes else {
            throw Failure(
                "Line \(lineNumber + 1) of \(name) is longer than \(Self.longestLineBytes) bytes.",
                remedy: "Write each event on its own line, ended by a line feed.")
        }
        memmove(buffer, buffer + unread.lowerBound, unread.count)
        unread = 0..<unread.count
        let room = min(Self.blockBytes, Self.longestLineBytes - unread.count)
        let count = try bytes.read(into: buffer + unread.count, room)
        isAtEnd = count == 0
        unread = 0..<unread.count + count
    }
}
