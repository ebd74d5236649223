internal import ProfileLog
internal import ProfileLogNativeAPI

/// One import: stores the chunks that the pipeline makes, in order, until the end, an error, or Ctrl-C.
struct ImportRun {
    private let target: any ImportTarget
    private let file: String
    private let input: InputFile
    private let name: String
    private let source: ImportSource
    private let options: ImportOptions
    private let skipped: SkippedLines?
    private var bar = ProgressBar()
    private var tally = ImportTally()
    private var passedOver = ImportChunk.PassedOver()
    /// Notes about IDs that are likely to be mistakes.
    private var doubts: [(user: UserID, text: String)] = []
    private var elapsed = Duration.zero

    init(
        target: any ImportTarget, file: String, _ input: InputFile, name: String, _ source: ImportSource,
        _ options: ImportOptions, skipped: SkippedLines?
    ) {
        (self.target, self.file, self.input, self.name) = (target, file, input, name)
        (self.source, self.skipped) = (source, skipped)
        var options = options
        if let skipped { options.skip = { try skipped.add(line: $0, reason: $1, text: $2) } }
        self.options = options
    }

    mutating func run() async throws {
        let begin = ContinuousClock.now
        defer { elapsed = .now - begin }
        do {
            try await storeAll()
        } catch {
            // Lines skipped before the error are reported, as far as they can be written.
            try? skipped?.finish()
            throw error
        }
        try skipped?.finish()
    }

    private mutating func storeAll() async throws {
        let pipeline = ImportPipeline(input, name: name, source, options, into: target)
        while true {
            if Interrupt.isRequested { throw interrupted() }
            switch pipeline.next(atMost: Self.chunksPerCommit) {
            case .nothingYet: continue
            case .chunks(let chunks): try await store(chunks)
            case .end(let failure):
                bar.clear()
                for note in failure == nil ? notes : doubts.map(\.text) { Output.message("Note: \(note)") }
                if let failure { throw explained(failure) }
                return
            }
        }
    }

    private var notes: [String] {
        let isPast = target.isEmpty && passedOver.hasUnreadRecordings && tally.stored > 0
        return doubts.map(\.text) + (isPast ? [Self.recordedNow] : [])
    }

    private static let recordedNow =
        "The lines have their own recorded_at, and are recorded now. With --recorded, into an empty store, they keep "
        + "it, and --as-of sees them from then on."

    /// Chunks that share a sync, if that many were read while the one before was being synced.
    private static let chunksPerCommit = 4

    private mutating func store(_ chunks: [ImportChunk]) async throws {
        for chunk in chunks {
            passedOver.erased += chunk.passedOver.erased
            passedOver.invalid += chunk.passedOver.invalid
            passedOver.unmatched += chunk.passedOver.unmatched
            passedOver.hasUnreadRecordings = passedOver.hasUnreadRecordings || chunk.passedOver.hasUnreadRecordings
            for (user, line) in chunk.passedOver.doubtful.sorted(by: { $0.value < $1.value }) {
                guard doubts.count < Self.mostDoubts, !doubts.contains(where: { $0.user == user }),
                    let doubt = user.doubt
                else { continue }
                doubts.append((user, "Line \(line): \(doubt)"))
            }
        }
        let before = tally
        do {
            var (tally, bar) = (tally, bar)
            defer { (self.tally, self.bar) = (tally, bar) }
            var done = before.total
            let skip = skipped.map { skipped -> ImportTally.Skip in
                { line, reason, chunk in
                    let text = chunk.records.last { $0.line <= line }?.bytes ?? []
                    try text.withUnsafeBytes { try skipped.add(line: line, reason: reason, text: $0) }
                }
            }
            try await target.store(chunks.filter { $0.events > 0 }, &tally, skipping: skip) { chunk in
                done += UInt64(chunk.events)
                bar.update(progress(done, chunk.doneBytes))
            }
        } catch let error as ImportError {
            throw explained(error)
        }
    }

    private static let mostDoubts = 20

    /// Counts events; the total is estimated from the remaining bytes.
    private func progress(_ done: UInt64, _ doneBytes: UInt64) -> LogProgress {
        let totalBytes = input.totalBytes
        // Of a packed file the bytes are others.
        guard totalBytes > 0, doneBytes > 0, doneBytes <= totalBytes + 1 else {
            return LogProgress(stage: "import", done: done, total: 0)
        }
        let total = doneBytes >= totalBytes ? done : UInt64(Double(done) * Double(totalBytes) / Double(doneBytes))
        return LogProgress(stage: "import", done: done, total: max(total, done))
    }

    // MARK: - Results

    /// Returns the number of events before `place` that are in the store now: `12,000 events before it are stored`.
    private func state(before place: String) -> String {
        let count = tally.total
        let verb = count == 1 ? "is" : "are"
        return "\(Number.counted(count, "event")) before \(place) \(verb) stored"
    }

    private var again: String {
        file == "-" ? "send the same input again with \(Shell.option("--name", name))" : "run the same command again"
    }

    private mutating func interrupted() -> CommandError {
        bar.clear()
        return CommandError(
            "Stopped by \(Interrupt.name); \(beginning) stored.", remedy: "To go on where it stopped, \(again).",
            status: Interrupt.status)
    }

    /// Appends that are known to be stored: an earlier import may have stored more.
    private var beginning: String {
        switch tally.total {
        case 0: "nothing was"
        case 1: "the first event of \(sourceName) is"
        case let count: "the first \(Number.counted(count, "event")) of \(sourceName) are"
        }
    }

    private var sourceName: String { file == "-" ? "standard input" : file }

    /// As `state`, for a line. An earlier import may have stored the beginning of its chunk.
    private func stateAroundLine(before place: String) -> String {
        "Nothing more of its chunk of up to \(Number.grouped(ImportChunker.linesPerChunk)) lines was stored; "
            + state(before: place)
    }

    private func explained(_ error: any Error) -> any Error {
        guard let refusal = error as? ImportLineError else { return error }
        let remedy =
            switch refusal.remedy {
            case .correct: "Correct line \(refusal.line) and \(again)"
            case .timeUnit: "Add --time-unit s, ms or us, or correct line \(refusal.line), and \(again)"
            case .anyTime: "Correct line \(refusal.line), or add --any-time, and \(again)"
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
        let canSkip = [.correct, .timeUnit, .anyTime].contains(refusal.remedy) && skipped == nil
        let skip = canSkip ? " To go on without such lines: --skip-invalid FILE." : ""
        return CommandError(
            "Line \(refusal.line) of \(sourceName) cannot be imported: \(refusal.reason). "
                + "\(stateAroundLine(before: "its chunk")).",
            remedy: "\(remedy): what is stored is skipped.\(skip)")
    }

    /// The remedy for a line that only the log can make; a rerun compares the numbers of the lines before it.
    private static func takeOut(_ line: Int) -> String {
        "Copy a whole store with replay --into FOLDER, or export it with \(ExportedLine.kindOptions), which has no "
            + "such lines, and import that into an empty store. Or remove line \(line) and all later lines of such "
            + "kinds,"
    }

    private mutating func explained(_ error: ImportError) -> CommandError {
        bar.clear()
        var failure = CommandError("", remedy: error.remedy, status: error.status)
        let place = error.line.map { "Line \($0)" } ?? "Lines from \(error.firstLine)"
        // This append knows only its own events; earlier ones of the input are stored.
        failure.message =
            "\(place) of \(sourceName): \(error.message) "
            + "\(error.line == nil ? state(before: "it") : stateAroundLine(before: "it"))."
        if error.isKeyReused {
            failure.remedy =
                "An import named \(name) stored other lines there. If this is another file, give it another name with "
                + "--name. If it is the same one, undo the change in the lines from \(error.firstLine) on: under "
                + "another name, what is stored would be stored a second time. If another version of profilecli stored "
                + "it, import only the later lines, under another name."
        } else if error.isCorrectable, let line = error.line {
            failure.remedy += " Correct or remove line \(line) and \(again): what is stored is skipped."
        } else if error.remedy == CommandError.diskFullRemedy {
            failure.remedy = "Free some space, then \(again): what is stored is skipped."
        } else {
            failure.remedy += " Then \(again): what is stored is skipped."
        }
        if skipped == nil, error.isSkippable { failure.remedy += " To go on without such lines: --skip-invalid FILE." }
        return failure
    }

    /// The part that was stored, for an answer that cannot be written; nil if nothing was.
    var done: String? {
        tally.stored == 0 ? nil : "\(Number.counted(tally.stored, "event")) \(tally.stored == 1 ? "is" : "are") stored"
    }

    /// Tells whether lines were skipped because they are not valid.
    var hasSkipped: Bool { invalid > 0 }

    /// The number of lines that were skipped, since they are not valid or the log refused them.
    private var invalid: UInt64 { UInt64(passedOver.invalid) + tally.refused }

    func summary() -> String {
        var line: String
        if tally.total == 0, passedOver.erased + passedOver.unmatched == 0, !hasSkipped {
            line = "Imported nothing: \(sourceName.oneLine) has no events"
        } else if tally.stored == 0, tally.skipped > 0 {
            let events = tally.skipped == 1 ? "its event was" : "all \(Number.grouped(tally.skipped)) events were"
            line = "Imported nothing: \(events) there already"
        } else {
            line =
                "Imported \(Number.counted(tally.stored, "event")) in \(Phrase.rate(tally.total, in: elapsed))"
            if tally.skipped > 0 {
                let why = options.idField.map { "whose \($0) was stored before" } ?? "that were stored before"
                line += "; skipped \(Number.grouped(tally.skipped)) \(why)"
            }
        }
        if tally.different > 0 {
            let differ = tally.different == 1 ? "1 of these has" : "\(Number.grouped(tally.different)) of these have"
            line += "; \(differ) another content than what is stored under the same \(options.idField ?? "ID")"
        }
        if tally.withoutEffect > 0 {
            line +=
                "; \(Number.counted(tally.withoutEffect, "update")) changed nothing by the policies of attributes"
        }
        if passedOver.erased > 0 {
            line += "; skipped \(Number.counted(UInt64(passedOver.erased), "line")) of erased persons"
        }
        if passedOver.unmatched > 0 {
            line += "; skipped \(Number.counted(UInt64(passedOver.unmatched), "row")) that fit no entry of the map"
        }
        if hasSkipped, let skipped {
            let lines = Number.counted(invalid, source.map == nil ? "line" : "row")
            line += "; skipped \(lines) that cannot be imported: \(skipped.path) says which and why"
        }
        return line + ". \(Suggestion.next("stats"))"
    }

    func json() -> String {
        JSONWriter.object { json in
            json.member("imported", tally.stored)
            json.member("skipped", tally.skipped)
            json.member("erased", passedOver.erased)
            if tally.withoutEffect > 0 { json.member("without_effect", tally.withoutEffect) }
            if options.idField != nil { json.member("different", tally.different) }
            if skipped != nil { json.member("invalid", invalid) }
            if source.map != nil { json.member("unmatched", passedOver.unmatched) }
            if !notes.isEmpty { json.array("notes", notes) { $0.value($1) } }
            json.member("seconds", elapsed.inSeconds)
        }
    }
}
