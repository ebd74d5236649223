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

    package var events: Int { lines.count }
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

/// Cuts lines into chunks: a new one begins after 1,000 lines, or so many bytes.
///
/// Where chunks begin depends on the lines before them alone, so that a rerun of the same file cuts in the same places.
package struct ImportChunker: ~Copyable {
    /// Lines in a chunk, at most.
    package static let linesPerChunk = 1_000
    /// What some editors begin a file in UTF-8 with; no part of the first line.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let name: String
    private let bytesPerChunk: UInt64
    private let prepare: () -> AppendBuilder
    /// Begun by a chunk's first event: it knows the names of what was stored before.
    private var builder: AppendBuilder?
    private var firstLine = 1
    private var firstByte: UInt64 = 0
    private var lineNumber = 0
    private var doneBytes: UInt64 = 0
    /// The number of each event's line.
    private var lines: [Int] = []
    private var erased = 0

    /// Makes one for the import whose keys begin with `name`. A chunk ends after the line with which it has
    /// `bytesPerChunk` of text; each is encoded by an append that `prepare` begins.
    package init(name: String, bytesPerChunk: UInt64, _ prepare: @escaping () -> AppendBuilder) {
        self.name = name
        self.bytesPerChunk = bytesPerChunk
        self.prepare = prepare
    }

    /// Takes the next line, without its line feed, and gives the chunk that ends with it, if there is something to
    /// store or to tell of it.
    package mutating func add(_ line: UnsafeRawBufferPointer) throws -> ImportChunk? {
        var text = line
        if lineNumber == 0, line.starts(with: Self.byteOrderMark) {
            text = UnsafeRawBufferPointer(rebasing: line.dropFirst(Self.byteOrderMark.count))
        }
        lineNumber += 1
        doneBytes += UInt64(line.count) + 1
        if !Self.isBlank(text) { try addEvent(text) }
        let isFull = lineNumber - firstLine + 1 == Self.linesPerChunk || doneBytes - firstByte >= bytesPerChunk
        return isFull ? try finish() : nil
    }

    /// Ends the chunk of the lines that were taken last, and gives it, if there is something to store or to tell of it.
    package mutating func finish() throws(AppendError) -> ImportChunk? {
        defer {
            (firstLine, firstByte) = (lineNumber + 1, doneBytes)
            (lines, erased) = ([], 0)
        }
        let full = builder.take()
        if lines.isEmpty, erased == 0 { return nil }
        return try ImportChunk(
            name: name, firstLine: firstLine, full ?? prepare(), lines: lines, erased: erased, doneBytes: doneBytes)
    }

    /// Adds the line's event, if it has one.
    private mutating func addEvent(_ text: UnsafeRawBufferPointer) throws {
        do {
            let line = try ImportLine(text)
            if line.isErased { erased += 1 }
            guard let fact = line.fact else { return }
            if builder == nil { builder = prepare() }
            try builder?.add(fact.event, fact.context, to: fact.user)
            lines.append(lineNumber)
        } catch let refusal as ImportLine.Refusal {
            throw ImportRefusal(line: lineNumber, reason: refusal.reason, remedy: refusal.remedy)
        } catch AppendError.invalid(let place, let reason, _) {
            throw ImportRefusal(
                line: lineNumber, reason: "\(place.prefix(1).lowercased())\(place.dropFirst()) \(reason)")
        } catch let AppendError.tooLarge(limit) {
            throw ImportRefusal(
                line: lineNumber, reason: "with the lines from \(firstLine) on it takes more than \(limit)",
                remedy: .setApart)
        }
    }

    private static func isBlank(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first != UInt8(ascii: "{") && bytes.allSatisfy { $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }
    }
}

/// A line that cannot be imported.
package struct ImportRefusal: Error {
    package var line: Int
    package var reason: String
    package var remedy = ImportLine.Remedy.correct
}

/// How many events of an import are in its store.
package struct ImportTally {
    /// Those that it stored.
    package private(set) var stored: UInt64 = 0
    /// Those that were stored before.
    package private(set) var skipped: UInt64 = 0
    /// All that are known to be there.
    package var total: UInt64 { stored + skipped }

    package init() {}

    /// Counts a chunk to which `log` answered `result`. Where the file had ended inside it when it was imported last,
    /// its beginning is stored, and the rest is stored now. Throws a `RefusedChunk` if it cannot be.
    package mutating func count(
        _ chunk: ImportChunk, _ result: Result<AppendReceipt, AppendError>, in log: EventLog
    ) throws {
        var (chunk, result) = (chunk, result)
        while case .failure(let error) = result {
            guard case .keyReused = error else { throw RefusedChunk(chunk: chunk, error: error) }
            let known = try Self.storedEvents(chunk.key, log)
            guard 0 < known, known < chunk.events else { throw RefusedChunk(chunk: chunk, error: error) }
            var rest = chunk
            // Under a key that is taken nothing is stored: this is refused unless the stored lines are these.
            if case .failure(let error) = log.commit([try rest.removeFirst(known)])[0] {
                throw RefusedChunk(chunk: chunk, error: error)
            }
            skipped += UInt64(known)
            chunk = rest
            result = log.commit([rest.append])[0]
        }
        if try result.get().isRepetition { skipped += UInt64(chunk.events) } else { stored += UInt64(chunk.events) }
    }

    /// How many lines were stored under `key`: an event each, without those of new users and of devices that got their
    /// first.
    private static func storedEvents(_ key: String, _ log: EventLog) throws -> Int {
        guard let receipt = try log.append(underKey: key), !receipt.places.isEmpty else { return 0 }
        let page = try log.events(from: receipt.first, limit: receipt.places.count)
        return page.events.count { $0.event.kind != .userCreated && $0.event.kind != .userChanged }
    }
}

/// A chunk, or the rest of one whose beginning was stored before, that a log refused.
package struct RefusedChunk: Error {
    package let chunk: ImportChunk
    package let error: AppendError
}
