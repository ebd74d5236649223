internal import ProfileLogRequests

/// Some lines of an import: stored whole or not at all, under a key that makes a rerun skip them. With IDs each line is
/// stored or skipped on its own, under the key of its ID.
package struct ImportChunk: Sendable {
    /// What the import's keys begin with.
    package let name: String
    /// The number of its first line, which is part of its key.
    package private(set) var firstLine: Int
    /// Its events, encoded; without any if the lines have IDs.
    package private(set) var append: PreparedAppend
    /// The lines with IDs.
    package let identified: [Identified]
    /// The number of each event's line.
    package private(set) var lines: ArraySlice<Int>
    /// The text of each event's line, if it is kept.
    package let texts: [String]
    /// What it has besides events.
    package let remarks: Remarks
    /// Bytes of the file up to its end.
    package let doneBytes: UInt64

    /// Lines that are not in the chunk.
    package struct Remarks: Sendable {
        /// Lines that an erasure left, and that were passed over.
        package var erased = 0
        /// Lines that cannot be imported, and were skipped.
        package var invalid = 0
        /// Rows of which no entry of the map says what they are.
        package var unmatched = 0
        /// IDs of users that are likely to be mistakes, each with its first line.
        package var doubtful: [UserID: Int] = [:]

        package init() {}

        var isEmpty: Bool { erased + invalid + unmatched == 0 }
    }

    /// A line with an ID.
    package struct Identified: Sendable {
        package let line: Int
        package let id: String
        package let events: Int
        package let append: PreparedAppend
        /// Its idempotency key.
        package let key: String
    }

    package var events: Int { identified.isEmpty ? lines.count : identified.reduce(0) { $0 + $1.events } }
    package var erased: Int { remarks.erased }
    package var key: String { Self.key(name, firstLine) }

    fileprivate init(
        name: String, firstLine: Int, _ builder: consuming AppendBuilder, identified: [Identified], lines: [Int],
        texts: [String], remarks: Remarks, doneBytes: UInt64
    ) throws(AppendError) {
        self.name = name
        self.firstLine = firstLine
        self.identified = identified
        self.lines = lines[...]
        self.texts = texts
        self.remarks = remarks
        self.doneBytes = doneBytes
        append = try builder.finish(idempotencyKey: Self.key(name, firstLine))
    }

    private static func key(_ name: String, _ line: Int) -> String { "\(name):\(line)" }

    /// The number of the line for which `log` refuses the chunk; nil if it is not about one line.
    package func line(refusedBy log: EventLog, _ error: AppendError) throws -> Int? {
        if !identified.isEmpty { return firstLine }
        return try append.item(refusedBy: log, error).map { lines[lines.startIndex + $0] }
    }

    /// Takes the first `count` events out of the chunk, which begins with the line of the next one from now on.
    package mutating func removeFirst(_ count: Int) throws(AppendError) -> PreparedAppend {
        lines = lines.dropFirst(count)
        firstLine = lines.first ?? firstLine
        let (beginning, rest) = try append.split(at: count, restKey: key)
        append = rest
        return beginning
    }

    /// The chunk as one that begins with another line.
    fileprivate func beginning(with line: Int) -> ImportChunk {
        var chunk = self
        chunk.firstLine = line
        return chunk
    }
}

/// Cuts lines into chunks: a new one begins after 1,000 lines, or so many bytes.
///
/// Where chunks begin depends on the lines before them alone, so that a rerun of the same file cuts in the same places.
package struct ImportChunker: ~Copyable {
    /// Lines in a chunk, at most.
    package static let linesPerChunk = 1_000
    /// Events in a chunk, after which it ends: a row of a table can be many.
    private static let eventsPerChunk = 10_000
    /// What some editors begin a file in UTF-8 with; no part of the first line.
    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let name: String
    private let bytesPerChunk: UInt64
    private let options: ImportOptions
    private let extras: ImportLine.Extras
    private let prepare: () -> AppendBuilder
    /// Begun by a chunk's first event: it knows the names of what was stored before.
    private var builder: AppendBuilder?
    private var firstLine = 1
    private var firstByte: UInt64 = 0
    /// The number of the last line that was taken.
    private var lineNumber = 0
    private var doneBytes: UInt64 = 0
    private var identified: [ImportChunk.Identified] = []
    /// The number of each event's line.
    private var lines: [Int] = []
    private var texts: [String] = []
    private var remarks = ImportChunk.Remarks()
    private var lastRecording = Timestamp(rawValue: .min)

    /// Makes one for the import whose keys begin with `name`. A chunk ends after the line with which it has
    /// `bytesPerChunk` of text; each is encoded by an append that `prepare` begins.
    package init(
        name: String, bytesPerChunk: UInt64, _ options: ImportOptions = ImportOptions(),
        _ prepare: @escaping () -> AppendBuilder
    ) {
        self.name = name
        self.bytesPerChunk = bytesPerChunk
        self.options = options
        extras = options.extras
        self.prepare = prepare
    }

    /// Takes lines that hold no event, as the header of a table.
    package mutating func pass(lines: Int, bytes: Int) {
        lineNumber += lines
        doneBytes += UInt64(bytes)
    }

    /// Takes the next line, without its line feed, and gives the chunk that ends with it, if there is something to
    /// store or to tell of it. A row of a table may have several lines.
    package mutating func add(_ line: UnsafeRawBufferPointer, lines count: Int = 1) throws -> ImportChunk? {
        var text = line
        if lineNumber == 0, line.starts(with: Self.byteOrderMark) {
            text = UnsafeRawBufferPointer(rebasing: line.dropFirst(Self.byteOrderMark.count))
        }
        lineNumber += count
        doneBytes += UInt64(line.count) + 1
        if !Self.isBlank(text) {
            do {
                try addEvents(text, line: lineNumber - count + 1)
            } catch let refusal as ImportRefusal {
                guard let skip = options.skip else { throw refusal }
                try skip(refusal.line, refusal.reason, text)
                remarks.invalid += 1
            }
        }
        let isFull =
            lineNumber - firstLine + 1 >= Self.linesPerChunk || doneBytes - firstByte >= bytesPerChunk
            || lines.count >= Self.eventsPerChunk
        return isFull ? try finish() : nil
    }

    /// Ends the chunk of the lines that were taken last, and gives it, if there is something to store or to tell of it.
    package mutating func finish() throws(AppendError) -> ImportChunk? {
        defer {
            (firstLine, firstByte) = (lineNumber + 1, doneBytes)
            (identified, lines, texts, remarks) = ([], [], [], ImportChunk.Remarks())
        }
        let full = builder.take()
        if lines.isEmpty, remarks.isEmpty { return nil }
        return try ImportChunk(
            name: name, firstLine: firstLine, full ?? prepare(), identified: identified, lines: lines, texts: texts,
            remarks: remarks, doneBytes: doneBytes)
    }

    /// Adds the events of a line or a row, if it has any: all of them, or none if one cannot be stored.
    private mutating func addEvents(_ text: UnsafeRawBufferPointer, line number: Int) throws {
        do {
            if let rows = options.rows {
                guard let row = try rows.read(text) else {
                    remarks.unmatched += 1
                    return
                }
                try add(row.lines, id: row.id, line: number)
            } else {
                try add(ImportLine(text, extras), line: number) { String(decoding: text, as: UTF8.self) }
            }
        } catch {
            throw refusal(error, line: number)
        }
    }

    /// Adds a line of a request. The first one has the number `first`.
    mutating func add(_ objects: [AttributeValue], id: String?, line number: Int, first: Int) throws {
        if lineNumber == 0 { firstLine = first }
        lineNumber = max(lineNumber, number)
        do {
            var lines: [[AttributeValue.Member]] = []
            for object in objects {
                guard case .object(let members) = object else { throw ImportLine.Refusal("it is no JSON object") }
                lines.append(members)
            }
            if lines.count == 1, id == nil {
                try add(ImportLine(lines[0], extras), line: number) { objects[0].json }
            } else {
                try add(lines, id: id, line: number)
            }
        } catch {
            throw refusal(error, line: number)
        }
    }

    private func refusal(_ error: any Error, line number: Int) -> any Error {
        switch error {
        case let refusal as ImportLine.Refusal:
            return ImportRefusal(line: number, reason: refusal.reason, remedy: refusal.remedy)
        case AppendError.invalid(let place, let reason, _):
            return ImportRefusal(line: number, reason: "\(place.prefix(1).lowercased())\(place.dropFirst()) \(reason)")
        case AppendError.tooLarge(let limit):
            return ImportRefusal(
                line: number, reason: "with the lines from \(firstLine) on it takes more than \(limit)",
                remedy: .setApart)
        default: return error
        }
    }

    private mutating func add(_ line: ImportLine, line number: Int, _ text: () -> String) throws {
        if line.isErased { remarks.erased += 1 }
        guard let fact = line.fact else { return }
        noteDoubt(fact.user, line: number)
        try checkRecording(line.recordedAt)
        if let id = line.id {
            try identify(fact.imported(at: line.recordedAt), id, line: number)
        } else if let time = line.recordedAt {
            try add(fact.imported(at: time))
        } else {
            if builder == nil { builder = prepare() }
            if fact.events.count == 1 {
                try builder?.add(fact.events[0], fact.context, to: fact.user)
            } else {
                try builder?.add(fact.events, fact.context, to: fact.user)
            }
        }
        lines.append(number)
        if options.keepsLines { texts.append(text()) }
    }

    /// Adds the lines of a row, all of which have the ID `id`.
    private mutating func add(_ objects: [[AttributeValue.Member]], id: String?, line number: Int) throws {
        var events: [AppendBuilder.Imported] = []
        for members in objects {
            let line = try ImportLine(members, extras)
            try checkRecording(line.recordedAt)
            guard let fact = line.fact else { continue }
            noteDoubt(fact.user, line: number)
            events += fact.imported(at: line.recordedAt)
        }
        if events.isEmpty { return }
        if let id { try identify(events, id, line: number) } else { try add(events) }
        for members in objects {
            lines.append(number)
            if options.keepsLines { texts.append(AttributeValue.object(members).json) }
        }
    }

    private mutating func noteDoubt(_ user: UserID, line number: Int) {
        if user.doubt != nil, remarks.doubtful[user] == nil { remarks.doubtful[user] = number }
    }

    private mutating func add(_ events: [AppendBuilder.Imported]) throws(AppendError) {
        if builder == nil { builder = prepare() }
        try builder?.add(events)
    }

    private mutating func identify(
        _ events: [AppendBuilder.Imported], _ id: String, line number: Int
    ) throws(AppendError) {
        var own = prepare()
        try own.add(events)
        let key = ImportOptions.key(options.idField ?? "", id)
        let append = try own.finish(idempotencyKey: key)
        identified.append(.init(line: number, id: id, events: events.count, append: append, key: key))
    }

    /// Refuses a line that was recorded before an earlier one, or has yet to be recorded.
    private mutating func checkRecording(_ time: Timestamp?) throws(ImportLine.Refusal) {
        guard let latest = options.latestRecording else { return }
        guard let time else { throw .init("it has no \"recorded_at\"") }
        if time > latest { throw .init("\"recorded_at\" is later than now") }
        if time < lastRecording {
            throw .init("\"recorded_at\" is earlier than that of a line before it; sort the lines by it")
        }
        lastRecording = time
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
package struct ImportTally: Sendable {
    /// Those that it stored.
    package var stored: UInt64 = 0
    /// Those that were stored before.
    package var skipped: UInt64 = 0
    /// Those of them that were skipped for their ID, and have another content than what is stored under it.
    package var different: UInt64 = 0
    /// All that are known to be there.
    package var total: UInt64 { stored + skipped }

    package init() {}

    /// Adds what another one has counted.
    package mutating func add(_ other: ImportTally) {
        stored += other.stored
        skipped += other.skipped
        different += other.different
    }

    /// Stores chunks in order, together if they can be. Throws a `RefusedChunk` for the first that is refused: what
    /// follows it is not stored, or the log would have another order than the file.
    package mutating func store(
        _ chunks: [ImportChunk], in log: EventLog, _ stored: (ImportChunk) -> Void = { _ in }
    ) throws {
        var chunks = chunks[...]
        while let first = chunks.first {
            if !first.identified.isEmpty {
                try store(identified: first, in: log)
                stored(first)
                chunks = chunks.dropFirst()
                continue
            }
            let together = chunks.prefix { $0.identified.isEmpty }
            for result in log.commit(together.map(\.append), endsAtRefusal: true) {
                let chunk = chunks.removeFirst()
                try count(chunk, result, in: log)
                stored(chunk)
            }
        }
    }

    /// Stores lines with IDs, in one commit unless some are refused.
    private mutating func store(identified chunk: ImportChunk, in log: EventLog) throws {
        var rest = chunk.identified[...]
        while !rest.isEmpty {
            for result in log.commit(rest.map(\.append), endsAtRefusal: true) {
                let line = rest.removeFirst()
                switch result {
                case .success(let receipt) where !receipt.isRepetition: stored += UInt64(line.events)
                case .success: skipped += UInt64(line.events)
                case .failure(.keyReused):
                    skipped += UInt64(line.events)
                    different += UInt64(line.events)
                case .failure(let error): throw RefusedChunk(chunk: chunk.beginning(with: line.line), error: error)
                }
            }
        }
    }

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

extension ImportLine.Fact {
    fileprivate func imported(at time: Timestamp?) -> [AppendBuilder.Imported] {
        events.map { ($0, context, user, time) }
    }
}
