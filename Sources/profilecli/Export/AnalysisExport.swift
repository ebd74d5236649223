internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// An export for analysis: asks for page after page and gives the rows to a file, which a later run goes on with.
struct AnalysisExport {
    let table: ExportTable
    let format: ExportFormat
    /// The user's question, as parameters of `GET /v1/export`.
    let query: [(name: String, value: String)]

    private static let rowsAtOnce = 2_000

    /// The parts by which two exports are the same one.
    private var request: String {
        let words = query.map { "\($0.name)=\($0.value)" } + ["what=\(table.name)", "format=\(format.rawValue)"]
        return words.sorted().joined(separator: "&")
    }

    /// Writes to standard output.
    func print(_ connection: any Connection, _ format: RowLines.Format) async throws {
        let lines = RowLines(table, format)
        var bytes = Array(lines.header)
        var progress = ExportProgress(request: request)
        while let rows = try await next(&progress, connection, isOutdated: { _ in }) {
            for row in rows { lines.write(row, to: &bytes) }
            try Output.write(lines: bytes, isJSON: format == .jsonl)
            bytes.removeAll()
        }
        try Output.write(lines: bytes, isJSON: format == .jsonl)
        try reportDamage(progress)
    }

    private func reportDamage(_ progress: ExportProgress) throws {
        if progress.damaged == 0 { return }
        let lost = Number.counted(progress.damaged, "row")
        throw Damaged.failure("\(lost) could not be read, and the export lacks them.")
    }

    /// Writes the file at `path`. With `force`, an existing file is replaced, and the unfinished file of another export
    /// is removed.
    func write(_ connection: any Connection, into path: String, force: Bool) async throws {
        Interrupt.watch()
        let target = try ExportTarget(path, force: force)
        let file = try format.file(target, table)
        var progress = try resumed(file, target, force: force)
        var bar = ProgressBar(isShown: Terminal.isError)
        defer { bar.clear() }
        while true {
            var isOutdated = false
            let rows = try await next(&progress, connection) { isOutdated = $0 }
            if isOutdated {
                Output.message("A person was erased since this export began: it begins again.")
                progress = ExportProgress(request: request)
                try file.begin(progress)
                continue
            }
            guard let rows else { break }
            do {
                try file.append(rows, progress)
            } catch let error as Output.CannotWrite {
                throw CommandError(
                    "\(path) cannot be written: \(error.reason).",
                    remedy: "Free some space and run the same command again: it goes on where it stopped.",
                    status: .unwritable)
            }
            bar.update(LogProgress(stage: "export", done: progress.next, total: progress.total))
            if Interrupt.isRequested {
                throw CommandError(
                    "Stopped by \(Interrupt.name) after \(Number.counted(progress.rows, "row")).",
                    remedy: "Run the same command again: it goes on where it stopped.", status: Interrupt.status)
            }
        }
        try file.finish(progress)
        try target.complete()
        bar.clear()
        Output.message(
            "Wrote \(Number.counted(progress.rows, "row")) as of position \(progress.asOf ?? 0) to \(path).")
        try reportDamage(progress)
    }

    /// Returns the place at which an earlier run of the same export stopped, or the start.
    private func resumed(
        _ file: any ExportFile, _ target: ExportTarget, force: Bool
    ) throws -> ExportProgress {
        do {
            if let earlier = try file.progress(of: request) {
                Output.message("Going on after \(Number.counted(earlier.rows, "row")).")
                return earlier
            }
        } catch is OtherExport where !force {
            throw CommandError(
                "\(target.partial) is of another export.",
                remedy: "Run that one again, or add --force to begin this one.", status: .usage)
        } catch is OtherExport {}
        let progress = ExportProgress(request: request)
        try file.begin(progress)
        return progress
    }

    /// The next rows; nil at the end. `note` is told whether a person was erased since the export began.
    private func next(
        _ progress: inout ExportProgress, _ connection: any Connection, isOutdated note: (Bool) -> Void
    ) async throws -> [AttributeValue]? {
        if progress.isAtEnd { return nil }
        var query = query.filter { progress.asOf == nil || $0.name != "as_of" }
        query += [("what", table.name), ("after", "\(progress.next)"), ("limit", "\(Self.rowsAtOnce)")]
        if let asOf = progress.asOf, let began = progress.began {
            query += [("as_of", "\(asOf)"), ("time", progress.time), ("began", began)]
            if let until = progress.until { query.append(("until", until)) }
        }
        let (answer, refusal) = try await connection.exchange(
            APIRequest(.get, "/v1/export", query: query), notes: progress.rows == 0)
        let isOther = answer["code"].text == "other_history"
        if let refusal, !isOther { throw refusal }
        guard !isOther, progress.store.isEmpty || answer["store"].text == progress.store else {
            throw CommandError(
                "The service has another log now than when this export began.",
                remedy: "Add --force to begin the export again.")
        }
        let rows = answer["rows"].elements
        note(answer.flag("outdated"))
        progress.store = answer["store"].text ?? ""
        progress.asOf = answer.count("as_of")
        progress.until = answer["until"].text
        progress.began = progress.began ?? answer["cursor"].text ?? "\(answer.count("position"))"
        progress.time = answer["time"].text ?? ""
        progress.next = answer.count("next")
        progress.total = answer.count("total")
        progress.rows += UInt64(rows.count)
        var damaged = Damaged()
        damaged.take(answer)
        progress.damaged += damaged.count
        damaged.sentence.map(Output.message)
        progress.isAtEnd = !answer.flag("more")
        return rows
    }
}

/// The progress of an export.
struct ExportProgress: Equatable {
    /// The parts by which two exports are the same one.
    let request: String
    /// The ID of the store; empty before the first page.
    var store = ""
    /// The position as of which all rows are.
    var asOf: UInt64?
    /// The end by occurrence: until when things had happened.
    var until: String?
    /// The cursor of the last event of the log at the beginning.
    var began: String?
    /// The time that windows count from.
    var time = ""
    /// The last event or user that was looked at, and the last one that there is.
    var next: UInt64 = 0
    var total: UInt64 = 0
    var rows: UInt64 = 0
    /// Rows that could not be read.
    var damaged: UInt64 = 0
    var isAtEnd = false

    init(request: String) { self.request = request }

    /// Reads what `json(bytes:)` wrote; nil for anything else.
    init?(_ json: JSONObject) {
        guard let request = json["request"].text else { return nil }
        self.request = request
        store = json["store"].text ?? ""
        asOf = json["as_of"].integer.map { UInt64(max(0, $0)) }
        until = json["until"].text
        // A number was written by an older program.
        began = json["began"].text ?? json["began"].integer.map { "\($0)" }
        time = json["time"].text ?? ""
        (next, total, rows) = (json.count("next"), json.count("total"), json.count("rows"))
        damaged = json.count("damaged")
        isAtEnd = json.flag("at_end")
    }

    /// As one JSON object; `bytes` is the length of the text that has these rows.
    func json(bytes: UInt64? = nil) -> String {
        JSONWriter.object { json in
            json.member("request", request)
            json.member("store", store)
            if let asOf { json.member("as_of", asOf) }
            json.member("until", until)
            if let began { json.member("began", began) }
            json.member("time", time)
            json.member("next", next)
            json.member("total", total)
            json.member("rows", rows)
            if damaged > 0 { json.member("damaged", damaged) }
            json.member("at_end", isAtEnd)
            if let bytes { json.member("bytes", bytes) }
        }
    }
}
