internal import ProfileLog
internal import ProfileLogNativeAPI
internal import Synchronization

/// One import: commits the chunks that the pipeline makes, in order, until the end, an error, or Ctrl-C.
struct ImportRun {
    private let target: ImportTarget
    private let file: String
    private let input: InputFile
    private let name: String
    private let clock = ContinuousClock()
    private var bar = ProgressBar()
    private var tally = ImportTally()
    private var erased: UInt64 = 0
    private var elapsed = Duration.zero
    private var totalBytes: UInt64 { input.totalBytes }

    init(target: ImportTarget, file: String, _ input: InputFile, name: String) {
        self.target = target
        self.file = file
        self.input = input
        self.name = name
    }

    mutating func run() throws {
        let begin = clock.now
        defer { elapsed = clock.now - begin }
        let (target, input, name) = (target, input, name)
        let pipeline = ImportPipeline { ChunkReader(LineReader(input), name: name, into: target) }
        while true {
            if Interrupt.isRequested { throw interrupted() }
            switch pipeline.next(atMost: Self.chunksPerCommit) {
            case .nothingYet: continue
            case .chunks(let chunks): try commit(chunks)
            case .end(let failure):
                bar.clear()
                if let failure { throw explained(failure) }
                return
            }
        }
    }

    /// Chunks that share a sync, if that many were read while the one before was being synced.
    private static let chunksPerCommit = 4

    private mutating func commit(_ chunks: [ImportChunk]) throws {
        for chunk in chunks { erased += UInt64(chunk.erased) }
        var chunks = chunks.filter { $0.events > 0 }
        // What follows a refused chunk is not stored, or the log would have another order than the file.
        while !chunks.isEmpty {
            let log = try target.log()
            for result in log.commit(chunks.map(\.append), endsAtRefusal: true) {
                let chunk = chunks.removeFirst()
                do {
                    try tally.count(chunk, result, in: log)
                } catch let refused as RefusedChunk {
                    throw explained(refused, log)
                }
                bar.update(progress(chunk.doneBytes))
            }
        }
    }

    /// Counts events; the total is estimated from the remaining bytes.
    private func progress(_ doneBytes: UInt64) -> LogProgress {
        let done = tally.total
        guard totalBytes > 0, doneBytes > 0 else { return LogProgress(stage: "import", done: done, total: 0) }
        let total = doneBytes >= totalBytes ? done : UInt64(Double(done) * Double(totalBytes) / Double(doneBytes))
        return LogProgress(stage: "import", done: done, total: max(total, done))
    }

    // MARK: - Results

    /// How many events before `place` are in the store now: `12,000 events before it are stored`.
    private func state(before place: String) -> String {
        let count = tally.total
        let verb = count == 1 ? "is" : "are"
        return "\(Number.counted(count, "event")) before \(place) \(verb) stored"
    }

    private var again: String {
        file == "-" ? "send the same input again with \(Shell.option("--name", name))" : "run the same command again"
    }

    private mutating func interrupted() -> Failure {
        bar.clear()
        return Failure(
            "Stopped by \(Interrupt.name); \(beginning) stored.", remedy: "To go on where it stopped, \(again).",
            status: Interrupt.status)
    }

    /// What is known to be stored: an earlier import may have stored more.
    private var beginning: String {
        switch tally.total {
        case 0: "nothing was"
        case 1: "the first event of \(source) is"
        case let count: "the first \(Number.counted(count, "event")) of \(source) are"
        }
    }

    private var source: String { file == "-" ? "standard input" : file }

    /// As `state`, for a line. An earlier import may have stored the beginning of its chunk.
    private func stateAroundLine(before place: String) -> String {
        "Nothing more of its chunk of up to \(Number.grouped(ImportChunker.linesPerChunk)) lines was stored; "
            + state(before: place)
    }

    private func explained(_ error: any Error) -> any Error {
        guard let refusal = error as? ImportRefusal else { return error }
        let remedy =
            switch refusal.remedy {
            case .correct: "Correct line \(refusal.line) and \(again)"
            case .correctOrUpdate:
                "Correct line \(refusal.line), or export and import it with the newer profilecli that wrote it, and \(again)"
            case .exportAgain:
                "Export the store again with the newer profilecli, and import that with it and \(Shell.option("--name", name))"
            case .takeOut: "\(Self.takeOut(refusal.line)) and \(again)"
            case .setApart:
                "Put \(Number.grouped(ImportChunker.linesPerChunk)) empty lines before line \(refusal.line) and \(again)"
            }
        return Failure(
            "Line \(refusal.line) of \(source) cannot be imported: \(refusal.reason). \(stateAroundLine(before: "its chunk")).",
            remedy: "\(remedy): what is stored is skipped.")
    }

    /// What to do with a line that only the log can make. The lines before it keep their numbers, which a rerun
    /// compares.
    private static func takeOut(_ line: Int) -> String {
        "Copy a whole store with replay --into FOLDER, or export it with \(ExportedLine.kindOptions), which has no such lines, "
            + "and import that into an empty store. Or remove line \(line) and all later lines of such kinds,"
    }

    private mutating func explained(_ refused: RefusedChunk, _ log: EventLog) -> Failure {
        bar.clear()
        let (chunk, error) = (refused.chunk, refused.error)
        var failure = Failure(error)
        let line = try? chunk.line(refusedBy: log, error)
        let place = line.map { "Line \($0)" } ?? "Lines from \(chunk.firstLine)"
        // This append knows only its own events; earlier ones of the input are stored.
        failure.message =
            "\(place) of \(source): \(error.fact) \(line == nil ? state(before: "it") : stateAroundLine(before: "it"))."
        switch (error, line) {
        case (.keyReused, _):
            failure.remedy =
                "An import named \(name) stored other lines there. If this is another file, give it another name with --name. If it is "
                + "the same one, undo the change in the lines from \(chunk.firstLine) on: under another name, what is stored would be "
                + "stored a second time. If another version of profilecli stored it, import only the later lines, under another name."
        case (.unknownUser, let line?):
            failure.remedy += " Correct or remove line \(line) and \(again): what is stored is skipped."
        default: failure.remedy += " Then \(again): what is stored is skipped."
        }
        return failure
    }

    /// What was stored, for an answer that cannot be written; nil if nothing was.
    var done: String? {
        tally.stored == 0 ? nil : "\(Number.counted(tally.stored, "event")) \(tally.stored == 1 ? "is" : "are") stored"
    }

    func summary() -> [String] {
        let seconds = elapsed.inSeconds
        let rate = seconds > 0 ? UInt64(Double(tally.total) / seconds) : 0
        var line = "Imported \(Number.counted(tally.stored, "event")) in \(DurationText.compact(elapsed)) "
        line += "(\(Number.grouped(rate)) events/s)"
        if tally.skipped > 0 { line += "; skipped \(Number.grouped(tally.skipped)) that were stored before" }
        if erased > 0 { line += "; skipped \(Number.counted(erased, "line")) of erased persons" }
        return [line + ". \(Suggestion.next("stats"))"]
    }

    func json() -> [String] {
        let line = JSONWriter.object { json in
            json.member("imported", tally.stored)
            json.member("skipped", tally.skipped)
            json.member("erased", erased)
            json.member("seconds", elapsed.inSeconds)
        }
        return [line]
    }
}

/// The store that an import appends to. A new one is made when there is something to append: an input whose first lines
/// are refused makes none.
final class ImportTarget: Sendable {
    private let make: @Sendable () throws -> EventLog
    private let opened: Mutex<EventLog?>

    /// Opens the store of `option`, unless it is to be made.
    init(_ option: StoreOption) throws {
        make = { try option.open(create: true) }
        opened = Mutex(try StoreFolder(path: option.path) == .vacant ? nil : try option.open(create: true))
    }

    /// The store, made now if it is missing.
    func log() throws -> EventLog {
        try opened.withLock { log in
            if let log { return log }
            let made = try make()
            log = made
            return made
        }
    }

    /// An empty append for it.
    func prepare() -> AppendBuilder { opened.withLock { $0 }?.prepare() ?? AppendBuilder() }
}
