internal import ProfileLog
internal import ProfileLogNativeAPI
internal import Synchronization

/// The target of an import: a store in this process, or a service.
protocol ImportTarget: Sendable {
    /// A chunk ends after this many bytes, even if it has fewer lines than others.
    var bytesPerChunk: UInt64 { get }

    /// Tells whether lines could be recorded in the past.
    var isEmpty: Bool { get }

    /// A builder for the next chunk.
    func prepare() -> AppendBuilder

    /// Stores chunks in order until one is refused, and counts them. With `skip` it goes on without the lines that are
    /// refused. `progress` gets each that is stored.
    func store(
        _ chunks: [ImportChunk], _ tally: inout ImportTally, skipping skip: ImportTally.Skip?,
        _ progress: (ImportChunk) -> Void
    ) async throws
}

/// The reason why a chunk was refused.
struct ImportError: Error {
    var message: String
    var remedy: String
    var status: ExitStatus
    /// The line at fault, if it is one.
    var line: Int?
    /// The first line of the refused chunk.
    var firstLine: Int
    var isKeyReused = false
    var isCorrectable = false
    /// Tells whether an import can go on without the line.
    var isSkippable: Bool { line != nil && isCorrectable }
}

/// The store that an import appends to: an input whose first lines are refused makes none.
final class ImportStore: ImportTarget {
    let bytesPerChunk: UInt64 = 8 << 20

    private let path: String
    /// Tells whether lines bring their time of recording: then the store must be empty, or have this import's only.
    private let isEmptyStore: Bool
    private let opened: Mutex<EventLog?>

    let isEmpty: Bool

    /// Opens the store in the folder `path`, unless it is to be made.
    init(_ path: String, mustBeEmpty: Bool = false) throws {
        self.path = path
        isEmptyStore = mustBeEmpty
        let log = try StoreFolder(path: path) == .vacant ? nil : try openStore(path, create: true)
        isEmpty = try log?.lastPosition() ?? .start == .start
        log?.preload()
        opened = Mutex(log)
    }

    /// The store, made now if it is missing.
    private func log() throws -> EventLog {
        try opened.withLock { log in
            let opened = try log ?? openStore(path, create: true)
            log = opened
            return opened
        }
    }

    func prepare() -> AppendBuilder { opened.withLock { $0 }?.prepare() ?? AppendBuilder() }

    func store(
        _ chunks: [ImportChunk], _ tally: inout ImportTally, skipping skip: ImportTally.Skip?,
        _ progress: (ImportChunk) -> Void
    ) async throws {
        let log = try log()
        if isEmptyStore, tally.total == 0, let first = chunks.first { try refuseOthersEvents(log, first) }
        do {
            try tally.store(chunks, in: log, skipping: skip, progress)
        } catch let refused as ChunkRefusal {
            let (chunk, error) = (refused.chunk, refused.error)
            let failure = CommandError(error)
            var importError = ImportError(
                message: error.fact, remedy: failure.remedy, status: failure.status,
                line: try? chunk.line(refusedBy: log, error), firstLine: chunk.firstLine)
            switch error {
            // Under the key of a line, the content of another.
            case .keyReused where importError.line != nil, .unknownUser: importError.isCorrectable = true
            case .keyReused: importError.isKeyReused = true
            default: break
            }
            throw importError
        }
    }

    /// Refuses a store that has events which this import has not stored.
    private func refuseOthersEvents(_ log: EventLog, _ first: ImportChunk) throws {
        guard try log.lastPosition() > .start else { return }
        let stored = try log.reader.events.append(underKey: first.identified.first?.key ?? first.key)
        if stored?.first == Position(rawValue: 1) { return }
        throw CommandError(
            "Line \(first.firstLine) cannot be recorded in the past: the store has other events already.",
            remedy: "Name a new store with --store, or omit --recorded: by when things happened (--occurred) the past "
                + "is there anyway.")
    }
}

/// A service that an import goes to.
struct ImportService: ImportTarget {
    /// Less than a request may have, which it takes with quotes and numbers.
    let bytesPerChunk: UInt64 = 2 << 20
    /// Says no: lines for a service cannot be recorded in the past.
    let isEmpty = false

    let connection: any Connection
    let name: String
    let idField: String?
    /// Tells whether the lines lack the field of the ID, as those that a map made do.
    let sendsIDs: Bool
    /// The service's form of the times of lines.
    let times: ImportTimes

    func prepare() -> AppendBuilder { AppendBuilder() }

    func store(
        _ chunks: [ImportChunk], _ tally: inout ImportTally, skipping skip: ImportTally.Skip?,
        _ progress: (ImportChunk) -> Void
    ) async throws {
        for chunk in chunks {
            let exchange: (object: JSONObject, refusal: CommandError?)
            do {
                exchange = try await connection.exchange(request(chunk, skipsRefused: skip != nil))
            } catch let failure as CommandError where tally.total > 0 {
                // The service went: what it stored before is told with the reason.
                throw ImportError(
                    message: failure.message, remedy: failure.remedy, status: failure.status,
                    firstLine: chunk.firstLine)
            }
            let (answer, refusal) = exchange
            if let refusal {
                let line = answer["place"].text.flatMap { $0.hasPrefix("line ") ? Int($0.dropFirst(5)) : nil }
                throw ImportError(
                    message: refusal.message, remedy: refusal.remedy, status: refusal.status, line: line,
                    firstLine: chunk.firstLine, isKeyReused: line == nil && answer["code"].text == "key_reused",
                    isCorrectable: answer["code"].text == "unknown_user"
                        || line != nil && answer["code"].text == "key_reused")
            }
            var done = ImportTally()
            (done.stored, done.skipped) = (answer.count("imported"), answer.count("skipped"))
            (done.different, done.withoutEffect) = (answer.count("different"), answer.count("without_effect"))
            for line in answer.objects("refused") {
                try skip?(Int(line.count("line")), line["reason"].text ?? "", chunk)
                done.refused += 1
            }
            tally.add(done)
            progress(chunk)
        }
    }

    private func request(_ chunk: ImportChunk, skipsRefused: Bool) -> APIRequest {
        let body = JSONWriter.object { json in
            json.member("name", .string(name))
            json.member("first_line", chunk.firstLine)
            json.array("numbers", chunk.texts) { $0.value($1.line) }
            json.array("lines", chunk.texts) { $0.value(written: JSONWriter(appendingTo: Array($1.text.utf8))) }
            json.member("time_unit", times.unit?.rawValue)
            if times.takesAny { json.member("any_time", true) }
            if skipsRefused { json.member("skip_refused", true) }
            if let idField {
                json.member("id_field", .string(idField))
                if sendsIDs { json.array("ids", chunk.texts) { $0.value($1.id ?? "") } }
            }
        }
        return APIRequest(.post, "/v1/import", body: Array(body.utf8))
    }
}
