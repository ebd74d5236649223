internal import ProfileLog
internal import ProfileLogNativeAPI
internal import Synchronization

/// One import: commits the chunks that the pipeline makes, in order, until the end, an error, or Ctrl-C.
struct ImportRun {
    private let target: ImportTarget
    private let file: String
    private let input: InputFile
    private let name: String
    private var bar = ProgressBar()
    private var tally = ImportTally()
    private var erased: UInt64 = 0
    private var elapsed = Duration.zero

    init(target: ImportTarget, file: String, _ input: InputFile, name: String) {
        (self.target, self.file, self.input, self.name) = (target, file, input, name)
    }

    mutating func run() throws {
        let begin = ContinuousClock.now
        defer { elapsed = .now - begin }
        let pipeline = ImportPipeline(input, name: name, into: target)
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
        let (done, totalBytes) = (tally.total, input.totalBytes)
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
                "Correct line \(refusal.line), or export and import it with the newer profilecli that wrote it, "
                    + "and \(again)"
            case .exportAgain:
                "Export the store again with the newer profilecli, and import that with it and "
                    + Shell.option("--name", name)
            case .takeOut: "\(Self.takeOut(refusal.line)) and \(again)"
            case .setApart:
                "Put \(Number.grouped(ImportChunker.linesPerChunk)) empty lines before line \(refusal.line) "
                    + "and \(again)"
            }
        return Failure(
            "Line \(refusal.line) of \(source) cannot be imported: \(refusal.reason). "
                + "\(stateAroundLine(before: "its chunk")).",
            remedy: "\(remedy): what is stored is skipped.")
    }

    /// What to do with a line that only the log can make; a rerun compares the numbers of the lines before it.
    private static func takeOut(_ line: Int) -> String {
        "Copy a whole store with replay --into FOLDER, or export it with \(ExportedLine.kindOptions), which has no "
            + "such lines, and import that into an empty store. Or remove line \(line) and all later lines of such "
            + "kinds,"
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
                "An import named \(name) stored other lines there. If this is another file, give it another name with "
                + "--name. If it is the same one, undo the change in the lines from \(chunk.firstLine) on: under "
                + "another name, what is stored would be stored a second time. If another version of profilecli stored "
                + "it, import only the later lines, under another name."
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

    func summary() -> String {
        var line: String
        if tally.stored == 0, tally.skipped > 0 {
            let events = tally.skipped == 1 ? "its event was" : "all \(Number.grouped(tally.skipped)) events were"
            line = "Imported nothing: \(events) there already"
        } else {
            line =
                "Imported \(Number.counted(tally.stored, "event")) in \(Phrase.rate(tally.total, in: elapsed))"
            if tally.skipped > 0 { line += "; skipped \(Number.grouped(tally.skipped)) that were stored before" }
        }
        if erased > 0 { line += "; skipped \(Number.counted(erased, "line")) of erased persons" }
        return line + ". \(Suggestion.next("stats"))"
    }

    func json() -> String {
        JSONWriter.object { json in
            json.member("imported", tally.stored)
            json.member("skipped", tally.skipped)
            json.member("erased", erased)
            json.member("seconds", elapsed.inSeconds)
        }
    }
}

/// The store that an import appends to: an input whose first lines are refused makes none.
final class ImportTarget: Sendable {
    private let path: String
    private let opened: Mutex<EventLog?>

    /// Opens the store in the folder `path`, unless it is to be made.
    init(_ path: String) throws {
        self.path = path
        let log = try StoreFolder(path: path) == .vacant ? nil : try openStore(path, create: true)
        log?.preload()
        opened = Mutex(log)
    }

    /// The store, made now if it is missing.
    func log() throws -> EventLog {
        try opened.withLock { log in
            let opened = try log ?? openStore(path, create: true)
            log = opened
            return opened
        }
    }

    func prepare() -> AppendBuilder { opened.withLock { $0 }?.prepare() ?? AppendBuilder() }
}
