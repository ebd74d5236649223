internal import ProfileLogRequests

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

    /// Adds what the line says, if that is an event.
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
        } catch let AppendError.invalid(place, reason) {
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
    /// Its number, from 1.
    package var line: Int
    /// Why, as a clause.
    package var reason: String
    /// What helps.
    package var remedy = ImportLine.Remedy.correct
}
