internal import ProfileLogRequests

/// Some lines of an import: stored whole or not at all, under a key that makes a rerun skip them. With IDs each line is
/// stored or skipped on its own, under the key of its ID; with keys of their own, the lines of one key are.
package struct ImportChunk: Sendable {
    /// The beginning of the import's keys.
    package let name: String
    /// The number of its first line, which is part of its key.
    package private(set) var firstLine: Int
    /// Its events, encoded; without any if the lines have IDs.
    package private(set) var append: PreparedAppend
    /// The lines with IDs, or with keys of their own.
    package private(set) var identified: [Identified]
    /// Addresses in place of IDs. They are resolved when the chunk is stored.
    private let addresses: Set<UserID>
    /// The number of each event's line; of plain lines only.
    package private(set) var lines: ArraySlice<Int>
    /// The lines with events, if they are kept.
    package let texts: [Text]
    /// The lines as the file has them, if those that the log refuses are to be skipped.
    package let records: [(line: Int, bytes: [UInt8])]
    /// Lines of its part of the file that are not in it.
    package let passedOver: PassedOver
    /// Bytes of the file up to its end.
    package let doneBytes: UInt64

    /// Lines that are not in the chunk.
    package struct PassedOver: Sendable {
        /// Lines that an erasure left, and that were passed over.
        package var erased = 0
        /// Lines that cannot be imported, and were skipped.
        package var invalid = 0
        /// Rows of which no entry of the map says what they are.
        package var unmatched = 0
        /// Tells whether a line has a time of recording that is not read.
        package var hasUnreadRecordings = false
        /// IDs of users that are likely to be mistakes, each with its first line.
        package var doubtful: [UserID: Int] = [:]

        package init() {}

        var isEmpty: Bool { erased + invalid + unmatched == 0 }
    }

    /// A line with an ID, or the lines with one key.
    package struct Identified: Sendable {
        /// The number of each event's line.
        package let lines: [Int]
        package fileprivate(set) var append: PreparedAppend
        /// Its idempotency key.
        package let key: String
        /// Tells whether other content under the key is skipped too, or an error.
        package let isID: Bool

        package var line: Int { lines[0] }
        package var events: Int { lines.count }
    }

    /// A line as it was, for a service.
    package struct Text: Sendable {
        package let line: Int
        /// The ID that is not in the line itself.
        package let id: String?
        package let text: String
    }

    package var events: Int { identified.isEmpty ? lines.count : identified.reduce(0) { $0 + $1.events } }
    package var erased: Int { passedOver.erased }
    package var key: String { Self.key(name, firstLine) }

    fileprivate init(
        name: String, firstLine: Int, _ builder: consuming AppendBuilder, identified: [Identified],
        addresses: Set<UserID>, lines: [Int], texts: [Text], records: [(line: Int, bytes: [UInt8])],
        passedOver: PassedOver, doneBytes: UInt64
    ) throws(AppendError) {
        self.name = name
        self.firstLine = firstLine
        self.identified = identified
        self.addresses = addresses
        self.lines = lines[...]
        self.texts = texts
        self.records = records
        self.passedOver = passedOver
        self.doneBytes = doneBytes
        append = try builder.finish(idempotencyKey: Self.key(name, firstLine))
    }

    private static func key(_ name: String, _ line: Int) -> String { "\(name):\(line)" }

    /// The number of the line for which `log` refuses the chunk; nil if it is not about one line.
    package func line(refusedBy log: EventLog, _ error: AppendError) throws -> Int? {
        if let refused = identified.first(where: { $0.line == firstLine }) {
            return try refused.append.item(refusedBy: log, error).map { refused.lines[$0] } ?? firstLine
        }
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

    /// Tells whether it is one append, with users that are known before.
    fileprivate var isPlain: Bool { identified.isEmpty && addresses.isEmpty }

    /// The chunk with each of its lines on its own, under the key of a chunk that begins with it.
    fileprivate func byLine() throws(AppendError) -> ImportChunk {
        var chunk = self
        var next = 0
        while next < lines.count {
            let line = lines[lines.startIndex + next]
            let own = Array(lines.dropFirst(next).prefix { $0 == line })
            let key = Self.key(name, line)
            let part = try append.part(next..<next + own.count, key: key)
            chunk.identified.append(.init(lines: own, append: part, key: key, isID: false))
            next += own.count
        }
        chunk.lines = []
        return chunk
    }

    /// Tells whether an earlier import stored later lines of the chunk one by one, and skipped the first ones. Any of
    /// them may be the only one that it stored; where there was no earlier import, two are enough to look at.
    fileprivate func isStoredByLine(in log: EventLog, mayBe isLikely: Bool = true) throws -> Bool {
        let later = lines.drop { $0 == firstLine }
        var numbers = isLikely ? Array(later) : [later.first, later.last].compactMap { $0 }
        // A row may be several events.
        var last = firstLine
        numbers.removeAll { number in
            defer { last = number }
            return number == last
        }
        return try log.withReader { log in
            try !log.events.hasAppend(underOneOf: [key])
                && log.events.hasAppend(underOneOf: numbers.map { Self.key(name, $0) })
        }
    }

    /// The chunk with its addresses resolved to those who have them now. One that no user has makes a new user.
    fileprivate func resolved(in log: EventLog) throws -> ImportChunk {
        var holders: [UserID: UserID] = [:]
        for address in addresses {
            if try log.withReader({ try $0.users.isOutdated(address) }) { _ = try log.commit(.release(address)) }
            let holder = try log.reader.users.writtenID(address)
            if holder != address { holders[address] = holder }
        }
        if holders.isEmpty { return self }
        var chunk = self
        chunk.append.redirect(holders)
        for index in identified.indices { chunk.identified[index].append.redirect(holders) }
        return chunk
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
/// The places where chunks begin depend only on the lines before them, so that a rerun of the same file cuts in the
/// same places.
package struct ImportChunker: ~Copyable {
    /// Lines in a chunk, at most.
    package static let linesPerChunk = 1_000
    /// Events in a chunk, after which it ends: a row of a table can be many.
    private static let eventsPerChunk = 10_000
    /// The bytes with which some editors begin a file in UTF-8; no part of the first line.
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
    /// Bytes before the last line that was taken.
    private var bytesBeforeLine: UInt64 = 0
    private var identified: [ImportChunk.Identified] = []
    /// The lines that were taken last, if they have a key: they are stored together.
    private var keyed: Keyed?
    /// The number of each event's line; of plain lines only.
    private var lines: [Int] = []
    /// The number of events in the chunk so far.
    private var events = 0
    private var texts: [ImportChunk.Text] = []
    /// The lines as they are, if those that the log refuses are to be skipped.
    private var records: [(line: Int, bytes: [UInt8])] = []
    /// Chunks that ended before the last line, since that has a key and they have none, or the other way round.
    private var ended: [ImportChunk] = []
    /// Addresses in place of IDs.
    private var addresses: Set<UserID> = []
    /// Addresses that the chunk's lines give their users: their holders are known after the chunk.
    private var given: Set<UserID> = []
    private var passedOver = ImportChunk.PassedOver()
    private var lastRecording = Timestamp(rawValue: .min)

    /// Lines with the same key, so far.
    private struct Keyed: ~Copyable {
        let key: String
        var lines: [Int] = []
        var builder: AppendBuilder
    }

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
    /// store or to tell of it. A row of a table may have several lines. `error` is why it cannot be read, if it cannot.
    package mutating func add(
        _ line: UnsafeRawBufferPointer, lines count: Int = 1, error: String? = nil
    ) throws -> ImportChunk? {
        var text = line
        if lineNumber == 0, line.starts(with: Self.byteOrderMark) {
            text = UnsafeRawBufferPointer(rebasing: line.dropFirst(Self.byteOrderMark.count))
        }
        lineNumber += count
        bytesBeforeLine = doneBytes
        doneBytes += UInt64(line.count) + 1
        if !Self.isBlank(text) {
            let number = lineNumber - count + 1
            do {
                if let error { throw ImportLineError(line: number, reason: error) }
                try addEvents(text, line: number)
                if options.skip != nil { records.append((number, Array(text))) }
            } catch let refusal as ImportLineError {
                guard let skip = options.skip else { throw refusal }
                try skip(refusal.line, refusal.reason, text)
                passedOver.invalid += 1
            }
        }
        if !ended.isEmpty { return ended.removeFirst() }
        return keyed == nil && isFull(lineNumber, doneBytes) ? try finish() : nil
    }

    /// Tells whether the chunk ends after line `number`, with `bytes` of the file.
    private func isFull(_ number: Int, _ bytes: UInt64) -> Bool {
        number - firstLine + 1 >= Self.linesPerChunk || bytes - firstByte >= bytesPerChunk
            || events >= Self.eventsPerChunk
    }

    /// Ends the chunk of the lines that were taken last, and gives it, if there is something to store or to tell of it.
    package mutating func finish() throws(AppendError) -> ImportChunk? {
        try finish(nextLine: lineNumber + 1, nextByte: doneBytes)
    }

    /// The chunks that ended before the lines that were taken last, and that of these.
    mutating func finishAll() throws(AppendError) -> [ImportChunk] {
        let last = try finish()
        defer { ended = [] }
        return ended + (last.map { [$0] } ?? [])
    }

    private mutating func finish(nextLine: Int, nextByte: UInt64) throws(AppendError) -> ImportChunk? {
        try endKeyed()
        defer {
            (firstLine, firstByte) = (nextLine, nextByte)
            (identified, lines, texts, passedOver) = ([], [], [], ImportChunk.PassedOver())
            (addresses, given, events, records) = ([], [], 0, [])
        }
        let full = builder.take()
        if lines.isEmpty, identified.isEmpty, passedOver.isEmpty { return nil }
        return try ImportChunk(
            name: name, firstLine: firstLine, full ?? prepare(), identified: identified, addresses: addresses,
            lines: lines, texts: texts, records: records, passedOver: passedOver, doneBytes: doneBytes)
    }

    /// Adds the events of a line or a row, if it has any: all of them, or none if one cannot be stored.
    private mutating func addEvents(_ text: UnsafeRawBufferPointer, line number: Int) throws {
        do {
            if let rows = options.rows {
                guard let row = try rows.read(text) else {
                    passedOver.unmatched += 1
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
            return ImportLineError(line: number, reason: refusal.reason, remedy: refusal.remedy)
        case AppendError.invalid(let place, let reason, _):
            return ImportLineError(
                line: number, reason: "\(place.prefix(1).lowercased())\(place.dropFirst()) \(reason)")
        case AppendError.tooLarge(let limit):
            return ImportLineError(
                line: number, reason: "with the lines from \(firstLine) on it takes more than \(limit)",
                remedy: .setApart)
        default: return error
        }
    }

    private mutating func add(_ line: ImportLine, line number: Int, _ text: () -> String) throws {
        if line.isErased { passedOver.erased += 1 }
        guard let fact = line.fact else { return }
        noteDoubt(fact.user, line: number)
        try checkRecording(line.recordedAt)
        try endChunk(before: line, number)
        noteAddresses(fact)
        events += fact.events.count
        if line.hasUnreadRecording { passedOver.hasUnreadRecordings = true }
        if let id = line.id {
            try identify(fact.imported(at: line.recordedAt), id, line: number)
        } else if let key = line.key {
            try add(fact.imported(at: line.recordedAt), key: key, line: number)
        } else if let time = line.recordedAt {
            try add(fact.imported(at: time), line: number)
        } else {
            if builder == nil { builder = prepare() }
            if fact.events.count == 1 {
                try builder?.add(fact.events[0], fact.context, to: fact.user)
                lines.append(number)
            } else {
                try builder?.add(fact.events, fact.context, to: fact.user)
                lines += Array(repeating: number, count: fact.events.count)
            }
        }
        if options.keepsLines { texts.append(.init(line: number, id: nil, text: text())) }
    }

    /// Ends the chunk if `line`, the next one, cannot be in it: a chunk has lines with keys, or others, and is not cut
    /// between lines of one key.
    private mutating func endChunk(before line: ImportLine, _ number: Int) throws(AppendError) {
        if keyed != nil, keyed?.key != line.key { try endKeyed() }
        if keyed != nil { return }
        let (hasOthers, hasKeyed) = (!lines.isEmpty, identified.first.map { !$0.isID } ?? false)
        let endsHere = line.key == nil ? hasKeyed : hasOthers || hasKeyed && isFull(number - 1, bytesBeforeLine)
        if endsHere || isGiven(line.fact) { try endChunk(before: number) }
    }

    private mutating func endChunk(before number: Int) throws(AppendError) {
        let chunk = try finish(nextLine: number, nextByte: bytesBeforeLine)
        if let chunk { ended.append(chunk) }
    }

    /// Tells whether a line of the chunk decides who `fact` is about.
    private func isGiven(_ fact: ImportLine.Fact?) -> Bool {
        guard let fact else { return false }
        return fact.isRequest && given.contains(fact.user)
    }

    private mutating func noteAddresses(_ fact: ImportLine.Fact) {
        if fact.isRequest, fact.user.isAddress { addresses.insert(fact.user) }
        given.formUnion(fact.events.flatMap(\.givenAddresses))
    }

    /// Adds events of a line with a key.
    private mutating func add(
        _ events: [AppendBuilder.Imported], key: String, line number: Int
    ) throws(AppendError) {
        if keyed == nil { keyed = Keyed(key: key, builder: prepare()) }
        try keyed?.builder.add(events)
        keyed?.lines += Array(repeating: number, count: events.count)
    }

    private mutating func endKeyed() throws(AppendError) {
        guard let group = keyed.take() else { return }
        let (key, lines) = (group.key, group.lines)
        if lines.isEmpty { return }
        let append = try group.builder.finish(idempotencyKey: key)
        identified.append(.init(lines: lines, append: append, key: key, isID: false))
    }

    /// Adds the lines of a row, all of which have the ID `id`.
    private mutating func add(_ objects: [[AttributeValue.Member]], id: String?, line number: Int) throws {
        var events: [AppendBuilder.Imported] = []
        var rows: [ImportLine] = []
        for members in objects { rows.append(try ImportLine(members, extras)) }
        for line in rows where isGiven(line.fact) { try endChunk(before: number) }
        for line in rows {
            try checkRecording(line.recordedAt)
            guard let fact = line.fact else { continue }
            noteAddresses(fact)
            noteDoubt(fact.user, line: number)
            events += fact.imported(at: line.recordedAt)
        }
        if events.isEmpty { return }
        self.events += events.count
        if let id { try identify(events, id, line: number) } else { try add(events, line: number) }
        guard options.keepsLines else { return }
        texts += objects.map { .init(line: number, id: id, text: AttributeValue.object($0).json) }
    }

    private mutating func noteDoubt(_ user: UserID, line number: Int) {
        if user.doubt != nil, passedOver.doubtful[user] == nil { passedOver.doubtful[user] = number }
    }

    private mutating func add(_ events: [AppendBuilder.Imported], line number: Int) throws(AppendError) {
        if builder == nil { builder = prepare() }
        try builder?.add(events)
        lines += Array(repeating: number, count: events.count)
    }

    private mutating func identify(
        _ events: [AppendBuilder.Imported], _ id: String, line number: Int
    ) throws(AppendError) {
        var own = prepare()
        try own.add(events)
        let key = ImportOptions.key(options.idField ?? "", id)
        let append = try own.finish(idempotencyKey: key)
        let lines = Array(repeating: number, count: events.count)
        identified.append(.init(lines: lines, append: append, key: key, isID: true))
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
package struct ImportLineError: Error {
    package var line: Int
    package var reason: String
    package var remedy = ImportLine.Remedy.correct
}

/// Counts of the lines and events of an import.
package struct ImportTally: Sendable {
    /// Lines that it stored.
    package var stored: UInt64 = 0
    /// Lines that were stored before.
    package var skipped: UInt64 = 0
    /// Skipped lines with another content than what is stored under their ID.
    package var different: UInt64 = 0
    /// Updates of attributes that changed nothing, where attributes have policies.
    package var withoutEffect: UInt64 = 0
    /// Lines that the log refused, and that were skipped.
    package var refused: UInt64 = 0
    /// Tells whether the log was empty before the first lines: no earlier import stored any. Nil before that.
    private var beganEmpty: Bool?
    /// All that are known to be there.
    package var total: UInt64 { stored + skipped }

    /// Gets a line that the log refused, if such lines are skipped, and why.
    package typealias Skip = (_ line: Int, _ reason: String, _ chunk: ImportChunk) throws -> Void

    package init() {}

    /// Adds what another one has counted.
    package mutating func add(_ other: ImportTally) {
        stored += other.stored
        skipped += other.skipped
        different += other.different
        withoutEffect += other.withoutEffect
        refused += other.refused
    }

    /// Stores chunks in order, together if they can be. Throws a `ChunkRefusal` for the first that is refused: what
    /// follows it is not stored, or the log would have another order than the file. With `skip` it goes on without the
    /// lines for which the log refuses a chunk, and stores each other line of that chunk on its own.
    package mutating func store(
        _ chunks: [ImportChunk], in log: EventLog, skipping skip: Skip? = nil,
        _ stored: (ImportChunk) -> Void = { _ in }
    ) throws {
        var chunks = chunks[...]
        let isNew = try beganEmpty ?? (log.lastPosition() == .start)
        beganEmpty = isNew
        while let first = chunks.first {
            let together = try chunks.prefix { try $0.isPlain && !$0.isStoredByLine(in: log, mayBe: !isNew) }
            if together.isEmpty {
                try store(first.resolved(in: log), in: log, skip)
                stored(first)
                chunks = chunks.dropFirst()
                continue
            }
            for result in log.commit(together.map(\.append), endsAtRefusal: true) {
                let chunk = chunks.removeFirst()
                try count(chunk, result, in: log, skip)
                stored(chunk)
            }
        }
    }

    /// Stores one chunk.
    private mutating func store(_ chunk: ImportChunk, in log: EventLog, _ skip: Skip?) throws {
        if !chunk.identified.isEmpty { return try store(identified: chunk, in: log, skip) }
        if try chunk.isStoredByLine(in: log) { return try store(identified: chunk.byLine(), in: log, skip) }
        try count(chunk, log.commit([chunk.append])[0], in: log, skip)
    }

    /// Stores lines with IDs or keys, in one commit unless some are refused.
    private mutating func store(identified chunk: ImportChunk, in log: EventLog, _ skip: Skip?) throws {
        var rest = chunk.identified[...]
        while !rest.isEmpty {
            for result in log.commit(rest.map(\.append), endsAtRefusal: skip == nil) {
                let line = rest.removeFirst()
                switch result {
                case .success(let receipt): try count(line.events, receipt, in: log)
                case .failure(.keyReused) where line.isID:
                    skipped += UInt64(line.events)
                    different += UInt64(line.events)
                case .failure(let error):
                    guard let skip, error.isOfLine else {
                        throw ChunkRefusal(chunk: chunk.beginning(with: line.line), error: error)
                    }
                    for number in Set(line.lines).sorted() {
                        try skip(number, error.reason, chunk)
                        refused += 1
                    }
                }
            }
        }
    }

    /// Counts a chunk to which `log` answered `result`. Where the file had ended inside it when it was imported last,
    /// its beginning is stored, and the rest is stored now. If it cannot be, it throws a `ChunkRefusal`, or stores the
    /// lines one by one without those that are refused.
    private mutating func count(
        _ chunk: ImportChunk, _ result: Result<AppendReceipt, AppendError>, in log: EventLog, _ skip: Skip?
    ) throws {
        var (chunk, result) = (chunk, result)
        while true {
            let known: Int
            switch result {
            case .success(let receipt):
                known = receipt.isKnownByKey ? try Self.storedEvents(chunk.key, log) : chunk.events
                if known == 0 || known >= chunk.events { return try count(chunk.events, receipt, in: log) }
            case .failure(let error):
                guard case .keyReused = error else {
                    guard skip != nil, error.isOfLine else { throw ChunkRefusal(chunk: chunk, error: error) }
                    return try store(identified: chunk.byLine(), in: log, skip)
                }
                known = try Self.storedEvents(chunk.key, log)
                guard 0 < known, known < chunk.events else { throw ChunkRefusal(chunk: chunk, error: error) }
            }
            var rest = chunk
            // Nothing is stored under a used key: this is refused unless the stored lines are these.
            if case .failure(let error) = log.commit([try rest.removeFirst(known)])[0] {
                throw ChunkRefusal(chunk: chunk, error: error)
            }
            skipped += UInt64(known)
            if try rest.isStoredByLine(in: log) { return try store(identified: rest.byLine(), in: log, skip) }
            chunk = rest
            result = log.commit([rest.append])[0]
        }
    }

    private mutating func count(_ events: Int, _ receipt: AppendReceipt, in log: EventLog) throws {
        if receipt.isRepetition {
            skipped += UInt64(events)
        } else {
            stored += UInt64(events)
            withoutEffect += UInt64(try log.withReader { try NoEffect.count(of: receipt, in: $0) })
        }
    }

    /// Returns the number of lines stored under `key`: an event each, without those of new users and of devices that
    /// got their first.
    private static func storedEvents(_ key: String, _ log: EventLog) throws -> Int {
        try log.withReader { log in
            guard let receipt = try log.events.append(underKey: key), !receipt.places.isEmpty else { return 0 }
            let page = try log.events.page(from: receipt.first, limit: receipt.places.count)
            return page.events.count { $0.event.kind != .userCreated && $0.event.kind != .userChanged }
        }
    }
}

extension ProfileEvent {
    /// The addresses that its user has from then on.
    var givenAddresses: [UserID] {
        guard case .userAttributesChanged(let changes) = self else { return [] }
        return changes.compactMap { change in
            guard case .string(let text) = change.value else { return nil }
            switch change.attribute {
            case .email: return .email(NormalContact.email(text) ?? text)
            case .phone: return .phone(text)
            default: return nil
            }
        }
    }
}

extension AppendError {
    /// Tells whether it is about what a line says, so that an import can go on without the line.
    fileprivate var isOfLine: Bool {
        switch self {
        case .unknownUser, .pendingFull, .invalid, .keyReused, .tooLarge, .versionConflict, .conflict, .unknownDevice:
            true
        case .overloaded, .closed, .refused, .unavailable, .outcomePending, .outcomeUnknown: false
        }
    }

    /// The fact as a clause.
    fileprivate var reason: String { String(fact.prefix(1).lowercased() + fact.dropFirst().dropLast()) }
}

/// A chunk, or the rest of one whose beginning was stored before, that a log refused.
package struct ChunkRefusal: Error {
    package let chunk: ImportChunk
    package let error: AppendError
}

extension ImportLine.Fact {
    fileprivate func imported(at time: Timestamp?) -> [AppendBuilder.Imported] {
        events.map { ($0, context, user, time) }
    }
}
