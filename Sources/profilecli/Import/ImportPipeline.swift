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

    private let state = Mutex(State())
    private let free = DispatchSemaphore(value: 0)
    private let filled = DispatchSemaphore(value: 0)

    /// Reads `input` for `target`, as `source` and `options` say. The keys of its chunks begin with `import:` and
    /// `name`.
    init(
        _ input: InputFile, name: String, _ source: ImportSource, _ options: ImportOptions,
        into target: any ImportTarget
    ) {
        // Signalled, not made with this value: Dispatch traps when a semaphore ends below its initial value.
        for _ in 0..<Self.capacity { free.signal() }
        startThread("import-reader", stackBytes: 4 << 20) { [self] in
            do {
                var options = options
                let records = try ImportSource.Records(source, input)
                options.rows = records.rows
                var chunker = ImportChunker(
                    name: "import:\(name)", bytesPerChunk: target.bytesPerChunk, options
                ) {
                    target.prepare()
                }
                if source.map != nil { chunker.pass(lines: records.header.lines, bytes: records.header.bytes) }
                var goesOn = true
                while goesOn {
                    free.wait()
                    var chunk: ImportChunk?
                    while goesOn, chunk == nil {
                        goesOn = try records.withNext { chunk = try chunker.add($0, lines: $1, error: $2) }
                    }
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
