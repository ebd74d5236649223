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
            throw NamedFile.unreadable(path, "Check the path; `-` reads standard input.")
        }
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        if kind == S_IFDIR {
            errno = EISDIR
            throw NamedFile.unreadable(path, "Name a file in it.")
        }
        let isFile = kind == S_IFREG
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
        var bytes = [UInt8](repeating: 0, count: 6)
        var have = 0
        while have < bytes.count {
            let count = try bytes.withUnsafeMutableBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                return try readFile(into: base + have, buffer.count - have)
            }
            if count == 0 { break }
            have += count
        }
        first = Array(bytes.prefix(have))
        if first.starts(with: [0x1F, 0x8B]) { zipped = try Gunzip(file.name) }
        if let other = Self.others.first(where: { first.starts(with: $0.beginning) }) {
            throw CommandError("\(file.name) is \(other.name).", remedy: other.remedy, status: .usage)
        }
    }

    /// Files of other kinds, by how they begin.
    private static let others: [(beginning: [UInt8], name: String, remedy: String)] = [
        (
            Array("PK\u{3}\u{4}".utf8), "a zip file, as a spreadsheet of Excel is too",
            "Unpack it with unzip, or save the spreadsheet as CSV in UTF-8."
        ),
        ([0x28, 0xB5, 0x2F, 0xFD], "packed by zstd", "Unpack it: `zstd -dc FILE | profilecli import - --name NAME`."),
        (Array("BZh".utf8), "packed by bzip2", "Unpack it: `bzip2 -dc FILE | profilecli import - --name NAME`."),
        (
            [0xFD, 0x37, 0x7A, 0x58, 0x5A], "packed by xz",
            "Unpack it: `xz -dc FILE | profilecli import - --name NAME`."
        ),
        (
            Array("PAR1".utf8), "a Parquet file",
            "Write it as CSV, for example with `duckdb`, and import that with a map."
        ),
        ([0xFF, 0xFE], "text in UTF-16", "Convert it: `iconv -f utf-16 -t utf-8`."),
        ([0xFE, 0xFF], "text in UTF-16", "Convert it: `iconv -f utf-16 -t utf-8`."),
    ]

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
            throw CommandError(
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
            throw CommandError(
                "\(name) cannot be unpacked: there is no memory for it.", remedy: "Unpack it with gzip -d.")
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

    private func broken(_ what: String) -> CommandError {
        CommandError("\(name) \(what).", remedy: "Check the file with `gzip -t`, and run the same command again.")
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
    /// The end of a line: a line feed, also after a carriage return, or in the files of old Macs a carriage return.
    private var lineEnd = UInt8(ascii: "\n")
    private var isLineEndKnown = false
    /// The place in the buffer of the line that was lent last.
    private var lastLine = 0..<0

    /// One event may have a megabyte, and more with JSON's escapes.
    private static let longestLineBytes = 16 << 20
    private static let blockBytes = 1 << 20

    init(_ file: InputFile) { (bytes, name) = (InputBytes(file), file.name) }

    deinit { buffer.deallocate() }

    /// Calls `body` with the next line, without its line feed. False at the end.
    func withNextLine(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try withNext(isWhole: { _ in true }) { line, _ in try body(line) }
    }

    /// Makes the last `count` bytes of the line that was lent last the next line.
    func takeBack(_ count: Int) {
        unread = lastLine.upperBound - count..<unread.upperBound
        lineNumber -= 1
    }

    /// Calls `body` with the next lines of which `isWhole` is true only for the last, without the last line feed, and
    /// with how many they are: with the first line alone, and 0, if there is no such last line, or `isRecord` is false
    /// for them. False at the end.
    func withNext(
        isWhole: (UnsafeRawBufferPointer) -> Bool, isRecord: (UnsafeRawBufferPointer) -> Bool = { _ in true },
        _ body: (UnsafeRawBufferPointer, _ lines: Int) throws -> Void
    ) throws -> Bool {
        // Offsets from the first unread byte: of the line that is looked at, and of what was searched.
        var (line, searched, count) = (0, 0, 1)
        // The end of the first line, if the record has more.
        var first = 0
        while true {
            let begin = UnsafeRawPointer(buffer + unread.lowerBound)
            let feed = memchr(begin + searched, Int32(lineEnd), unread.count - searched)
            if feed == nil, count > 1, unread.count >= Self.longestLineBytes {
                return try lend(first, lines: 0, body)
            }
            if feed == nil, knowsOtherLineEnd() {
                searched = 0
                continue
            }
            guard feed != nil || isAtEnd else {
                searched = unread.count
                try fill()
                continue
            }
            if feed == nil, unread.isEmpty { return false }
            isLineEndKnown = true
            let end = feed.map { UnsafeRawPointer($0) - begin } ?? unread.count
            guard isWhole(UnsafeRawBufferPointer(start: begin + line, count: end - line)) else {
                if count == 1 { first = end }
                guard feed != nil, end + 1 < unread.count || !isAtEnd else {
                    return try lend(first, lines: 0, body)
                }
                (line, searched) = (end + 1, end + 1)
                count += 1
                continue
            }
            let isSound = count == 1 || isRecord(UnsafeRawBufferPointer(start: begin, count: end))
            return try isSound ? lend(end, lines: count, body) : lend(first, lines: 0, body)
        }
    }

    /// Lends the unread bytes before `end`, which is a line feed or the end.
    private func lend(
        _ end: Int, lines: Int, _ body: (UnsafeRawBufferPointer, _ lines: Int) throws -> Void
    ) throws -> Bool {
        lastLine = unread.lowerBound..<unread.lowerBound + end
        unread = min(unread.upperBound, lastLine.upperBound + 1)..<unread.upperBound
        lineNumber += max(1, lines)
        try body(UnsafeRawBufferPointer(start: buffer + lastLine.lowerBound, count: end), lines)
        return true
    }

    /// Tells whether the file turns out to end its lines with carriage returns: its beginning has no line feed.
    private func knowsOtherLineEnd() -> Bool {
        guard !isLineEndKnown, isAtEnd || unread.count >= Self.blockBytes else { return false }
        isLineEndKnown = true
        guard memchr(buffer + unread.lowerBound, 0x0D, unread.count) != nil else { return false }
        lineEnd = UInt8(ascii: "\r")
        return true
    }

    private func fill() throws {
        guard unread.count < Self.longestLineBytes else {
            throw CommandError(
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
