internal import ProfileLog
internal import ProfileLogAPI

/// Some lines of an import that are stored whole or not at all, under a key that makes a rerun skip them.
struct ImportChunk: Sendable {
    /// What the import is called.
    let name: String
    /// The number of its first line, which is part of its key.
    private(set) var firstLine: Int
    /// Its events, encoded.
    private(set) var append: PreparedAppend
    /// The number of each event's line.
    private var lines: ArraySlice<Int>
    /// Lines that an erasure left, and that were passed over.
    let erased: Int
    /// Bytes of the file up to its end.
    let doneBytes: UInt64

    /// How many events it holds.
    var events: Int { lines.count }
    var key: String { Self.key(name, firstLine) }

    init(
        name: String, firstLine: Int, _ builder: consuming AppendBuilder, lines: [Int], erased: Int,
        doneBytes: UInt64
    ) throws {
        self.name = name
        self.firstLine = firstLine
        self.lines = lines[...]
        self.erased = erased
        self.doneBytes = doneBytes
        append = try builder.finish(idempotencyKey: Self.key(name, firstLine))
    }

    private static func key(_ name: String, _ line: Int) -> String { "import:\(name):\(line)" }

    /// The number of the line for which `log` refuses the chunk; nil if it is not about one line.
    func line(refusedBy log: EventLog, _ error: AppendError) throws -> Int? {
        try append.item(refusedBy: log, error).map { lines[lines.startIndex + $0] }
    }

    /// Takes the first `count` events out of the chunk, which begins with the line of the next one from now on.
    mutating func removeFirst(_ count: Int) throws -> PreparedAppend {
        lines = lines.dropFirst(count)
        firstLine = lines.first ?? firstLine
        let (beginning, rest) = try append.split(at: count, restKey: key)
        append = rest
        return beginning
    }
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

    /// The next chunk of which there is something to store or to tell; nil at the end of the input.
    func next() throws -> ImportChunk? {
        while true {
            let firstLine = reader.lineNumber + 1
            let firstByte = reader.doneBytes
            var builder = target.prepare()
            var lines: [Int] = []
            var isAtEnd = false
            var erased = 0
            while reader.lineNumber + 1 - firstLine < Self.linesPerChunk,
                reader.doneBytes - firstByte < Self.bytesPerChunk
            {
                isAtEnd = try !reader.withNextLine { try Self.add($0, reader.lineNumber, to: &builder, &erased) }
                if builder.count > lines.count { lines.append(reader.lineNumber) }
                if isAtEnd { break }
            }
            if builder.count > 0 || erased > 0 {
                return try ImportChunk(
                    name: name, firstLine: firstLine, builder, lines: lines, erased: erased,
                    doneBytes: reader.doneBytes)
            }
            if isAtEnd { return nil }
        }
    }

    @inline(__always)
    private static func add(
        _ bytes: UnsafeRawBufferPointer, _ number: Int, to builder: inout AppendBuilder, _ erased: inout Int
    ) throws {
        if isBlank(bytes) { return }
        do {
            let line = try ImportLine(bytes)
            if line.isErased { erased += 1 }
            if let fact = line.fact { try builder.add(fact.event, fact.context, to: fact.user) }
        } catch let refusal as ImportLine.Refusal {
            throw ImportRefusal(line: number, reason: refusal.reason, remedy: refusal.remedy)
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
    /// What helps.
    var remedy = ImportLine.Remedy.correct
}
