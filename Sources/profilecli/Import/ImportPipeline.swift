internal import Dispatch
internal import ProfileLog
internal import ProfileLogNativeAPI
internal import Synchronization

/// A thread that reads ahead: it makes chunks while its caller commits earlier ones, at most a few at a time.
final class ImportPipeline: Sendable {
    private struct State: Sendable {
        var chunks: [ImportChunk] = []
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    private let free = DispatchSemaphore(value: 0)
    private let filled = DispatchSemaphore(value: 0)

    /// Starts the thread; `makeNext` runs on it until it answers nil or throws.
    init(capacity: Int = 8, _ makeReader: @escaping @Sendable () throws -> ChunkReader) {
        // Signalled, not made with this value: Dispatch traps when a semaphore ends below its initial value.
        for _ in 0..<capacity { free.signal() }
        startThread("import-reader", stackBytes: 4 << 20) { [self] in run(makeReader) }
    }

    private func run(_ makeReader: () throws -> ChunkReader) {
        do {
            var reader = try makeReader()
            while true {
                free.wait()
                guard let chunk = try reader.next() else { break }
                state.withLock { $0.chunks.append(chunk) }
                filled.signal()
            }
        } catch {
            state.withLock { $0.failure = error }
        }
        filled.signal()
    }

    /// What `next` found.
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

/// The chunks of an input, one after the other.
struct ChunkReader: ~Copyable {
    /// A chunk ends after this many bytes, even if it has fewer lines than others.
    private static let bytesPerChunk: UInt64 = 8 << 20

    private let reader: LineReader
    private var chunker: ImportChunker

    init(_ reader: LineReader, name: String, into target: ImportTarget) {
        self.reader = reader
        chunker = ImportChunker(name: "import:\(name)", bytesPerChunk: Self.bytesPerChunk) { target.prepare() }
    }

    /// The next chunk with something to store or to report; nil at the end of the input.
    mutating func next() throws -> ImportChunk? {
        var chunk: ImportChunk?
        while chunk == nil, try reader.withNextLine({ chunk = try chunker.add($0) }) {}
        return try chunk ?? chunker.finish()
    }
}
