internal import ProfileLogRequests

/// Some lines of an import that are stored whole or not at all, under a key that makes a rerun skip them.
package struct ImportChunk: Sendable {
    /// What the import's keys begin with.
    private let name: String
    /// The number of its first line, which is part of its key.
    package private(set) var firstLine: Int
    /// Its events, encoded.
    package private(set) var append: PreparedAppend
    /// The number of each event's line.
    private var lines: ArraySlice<Int>
    /// Lines that an erasure left, and that were passed over.
    package let erased: Int
    /// Bytes of the file up to its end.
    package let doneBytes: UInt64

    /// How many events it holds.
    package var events: Int { lines.count }
    /// What it is stored under.
    package var key: String { Self.key(name, firstLine) }

    init(
        name: String, firstLine: Int, _ builder: consuming AppendBuilder, lines: [Int], erased: Int,
        doneBytes: UInt64
    ) throws(AppendError) {
        self.name = name
        self.firstLine = firstLine
        self.lines = lines[...]
        self.erased = erased
        self.doneBytes = doneBytes
        append = try builder.finish(idempotencyKey: Self.key(name, firstLine))
    }

    private static func key(_ name: String, _ line: Int) -> String { "\(name):\(line)" }

    /// The number of the line for which `log` refuses the chunk; nil if it is not about one line.
    package func line(refusedBy log: EventLog, _ error: AppendError) throws -> Int? {
        try append.item(refusedBy: log, error).map { lines[lines.startIndex + $0] }
    }

    /// Takes the first `count` events out of the chunk, which begins with the line of the next one from now on.
    package mutating func removeFirst(_ count: Int) throws(AppendError) -> PreparedAppend {
        lines = lines.dropFirst(count)
        firstLine = lines.first ?? firstLine
        let (beginning, rest) = try append.split(at: count, restKey: key)
        append = rest
        return beginning
    }
}
