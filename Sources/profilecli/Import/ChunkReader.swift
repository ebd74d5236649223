internal import ProfileLogAPI

/// The chunks of an input, one after the other.
struct ChunkReader: ~Copyable {
    /// Bytes behind which a chunk ends that has fewer lines than others.
    private static let bytesPerChunk: UInt64 = 8 << 20

    private let reader: LineReader
    private var chunker: ImportChunker

    init(_ reader: LineReader, name: String, into target: ImportTarget) {
        self.reader = reader
        chunker = ImportChunker(name: "import:\(name)", bytesPerChunk: Self.bytesPerChunk) { target.prepare() }
    }

    /// The next chunk of which there is something to store or to tell; nil at the end of the input.
    mutating func next() throws -> ImportChunk? {
        var chunk: ImportChunk?
        while chunk == nil, try reader.withNextLine({ chunk = try chunker.add($0) }) {}
        return try chunk ?? chunker.finish()
    }
}
