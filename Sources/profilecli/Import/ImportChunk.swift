internal import ProfileLog
internal import ProfileLogAPI

/// Some lines of an import that are stored whole or not at all, under a key that makes a rerun skip them.
struct ImportChunk: Sendable {
    /// The number of its first line.
    var firstLine: Int
    /// Its events, encoded.
    var append: PreparedAppend
    /// How many they are.
    var events: Int
    /// Bytes of the file up to its end.
    var doneBytes: UInt64
}

/// Cuts lines into chunks: a new one begins after 1,000 lines, or 8 MiB.
///
/// Where chunks begin depends on the lines before them alone, so that a rerun of the same file cuts in the same places.
struct ImportChunker: ~Copyable {
    static let linesPerChunk = 1_000
    static let bytesPerChunk: UInt64 = 8 << 20

    private let target: ImportTarget
    private let name: String
    private let reader: LineReader

    init(_ reader: LineReader, name: String, into target: ImportTarget) {
        self.target = target
        self.name = name
        self.reader = reader
    }

    /// The next chunk that holds an event; nil at the end of the input.
    func next() throws -> ImportChunk? {
        while true {
            let firstLine = reader.lineNumber + 1
            let firstByte = reader.doneBytes
            var builder = target.prepare()
            var isAtEnd = false
            while reader.lineNumber + 1 - firstLine < Self.linesPerChunk,
                reader.doneBytes - firstByte < Self.bytesPerChunk
            {
                isAtEnd = try !reader.withNextLine { try Self.add($0, reader.lineNumber, to: &builder) }
                if isAtEnd { break }
            }
            let count = builder.count
            if count > 0 {
                let append = try builder.finish(idempotencyKey: "import:\(name):\(firstLine)")
                return ImportChunk(firstLine: firstLine, append: append, events: count, doneBytes: reader.doneBytes)
            }
            if isAtEnd { return nil }
        }
    }

    @inline(__always)
    private static func add(_ bytes: UnsafeRawBufferPointer, _ number: Int, to builder: inout AppendBuilder) throws {
        if isBlank(bytes) { return }
        do {
            let line = try ImportLine(bytes)
            if let event = line.event { try builder.add(event, line.context, to: line.user) }
        } catch let refusal as ImportLine.Refusal {
            throw ImportRefusal(line: number, reason: refusal.reason, isMadeByLog: refusal.isMadeByLog)
        } catch let AppendError.invalid(place, reason) {
            throw ImportRefusal(line: number, reason: "\(place.prefix(1).lowercased())\(place.dropFirst()) \(reason)")
        }
    }

    private static func isBlank(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first != UInt8(ascii: "{") && bytes.allSatisfy { $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }
    }
}

/// A line that cannot be imported.
struct ImportRefusal: Error {
    var line: Int
    var reason: String
    /// Whether no correction of the line helps.
    var isMadeByLog = false
}
