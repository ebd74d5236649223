internal import Dispatch
internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI
internal import Synchronization

/// A thread that reads ahead: it makes chunks while its caller commits earlier ones, at most a few at a time.
final class ImportPipeline: Sendable {
    private struct State: Sendable {
        var chunks: [ImportChunk] = []
        var failure: (any Error)?
    }

    private static let capacity = 8
    /// A chunk ends after this many bytes, even if it has fewer lines than others.
    private static let bytesPerChunk: UInt64 = 8 << 20

    private let state = Mutex(State())
    private let free = DispatchSemaphore(value: 0)
    private let filled = DispatchSemaphore(value: 0)

    /// Reads `input`, which is called `name`, for `target`.
    init(_ input: InputFile, name: String, into target: ImportTarget) {
        // Signalled, not made with this value: Dispatch traps when a semaphore ends below its initial value.
        for _ in 0..<Self.capacity { free.signal() }
        startThread("import-reader", stackBytes: 4 << 20) { [self] in
            do {
                let reader = LineReader(input)
                var chunker = ImportChunker(name: "import:\(name)", bytesPerChunk: Self.bytesPerChunk) {
                    target.prepare()
                }
                var goesOn = true
                while goesOn {
                    free.wait()
                    var chunk: ImportChunk?
                    while goesOn, chunk == nil { goesOn = try reader.withNextLine { chunk = try chunker.add($0) } }
                    guard let chunk = try chunk ?? chunker.finish() else { break }
                    state.withLock { $0.chunks.append(chunk) }
                    filled.signal()
                }
            } catch {
                state.withLock { $0.failure = error }
            }
            filled.signal()
        }
    }

    enum Next {
        case chunks([ImportChunk])
        /// Every chunk was taken, and this is why there are no more; nil at the end of the input.
        case end((any Error)?)
        /// Nothing came in a tenth of a second.
        case nothingYet
    }

    /// The next chunks in order: as many as there are, `limit` at most.
    func next(atMost limit: Int) -> Next {
        guard filled.wait(timeout: .now() + .milliseconds(100)) == .success else { return .nothingYet }
        return state.withLock { state in
            if state.chunks.isEmpty { return .end(state.failure) }
            var count = 1
            while count < min(limit, state.chunks.count), filled.wait(timeout: .now()) == .success { count += 1 }
            for _ in 0..<count { free.signal() }
            defer { state.chunks.removeFirst(count) }
            return .chunks(Array(state.chunks.prefix(count)))
        }
    }
}

/// An open file, or standard input. It is opened once: closing it would end the writer of a pipe.
struct InputFile: Sendable {
    let name: String
    fileprivate let descriptor: Int32
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
}

/// The lines of a file, lent one by one.
private final class LineReader {
    private let file: InputFile
    /// Has room for the longest line. The system gives memory only for the bytes that are used.
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: longestLineBytes, alignment: 16)
    /// The bytes that were read and not lent.
    private var unread = 0..<0
    private var lineNumber = 0
    private var isAtEnd = false

    /// One event may have a megabyte, and more with JSON's escapes.
    private static let longestLineBytes = 16 << 20
    private static let blockBytes = 1 << 20

    init(_ file: InputFile) { self.file = file }

    deinit {
        buffer.deallocate()
        if file.descriptor > STDIN_FILENO { close(file.descriptor) }
    }

    /// Calls `body` with the next line, without its line feed. False at the end.
    func withNextLine(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        var searched = 0
        while true {
            let begin = buffer + unread.lowerBound
            let feed = memchr(begin + searched, 0x0A, unread.count - searched)
            guard feed != nil || isAtEnd else {
                searched = unread.count
                try fill()
                continue
            }
            if feed == nil, unread.isEmpty { return false }
            let length = feed.map { UnsafeRawPointer($0) - UnsafeRawPointer(begin) } ?? unread.count
            unread = min(unread.upperBound, unread.lowerBound + length + 1)..<unread.upperBound
            lineNumber += 1
            try body(UnsafeRawBufferPointer(start: begin, count: length))
            return true
        }
    }

    private func fill() throws {
        guard unread.count < Self.longestLineBytes else {
            throw Failure(
                "Line \(lineNumber + 1) of \(file.name) is longer than \(Self.longestLineBytes) bytes.",
                remedy: "Write each event on its own line, ended by a line feed.")
        }
        memmove(buffer, buffer + unread.lowerBound, unread.count)
        unread = 0..<unread.count
        var count = 0
        repeat {
            let room = min(Self.blockBytes, Self.longestLineBytes - unread.count)
            count = read(file.descriptor, buffer + unread.count, room)
        } while count < 0 && errno == EINTR
        guard count >= 0 else {
            throw Failure(
                "\(file.name) cannot be read: \(String(cString: strerror(errno))).",
                remedy: "Check the file, and run the same command again: it goes on where it stopped.")
        }
        isAtEnd = count == 0
        unread = 0..<unread.count + count
    }
}
