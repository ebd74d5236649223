internal import ProfileLogRequests

/// `POST /v1/import`: some lines of an import, stored whole or not at all, or with IDs each on its own.
struct ImportEndpoint {
    let store: RequestStore

    static let inputs: [EndpointInput] = [
        .required("name"), .required("lines", .array), .init("first_line", .integer), .init("numbers", .array),
        .init("id_field"), .init("ids", .array), .init("time_unit"), .init("any_time", .boolean),
        .init("skip_refused", .boolean),
    ]

    static let shape: AnswerShape = [
        "imported": .integer, "skipped": .integer, "different": .integer, "erased": .integer,
        "without_effect": .integer, "refused?": [["line": .integer, "reason": .text]],
    ]

    func answer(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request)
        let chunks = try chunks(fields)
        let skips = try fields.flag("skip_refused")
        typealias Refused = [(line: Int, reason: String)]
        let outcome = try await store.perform { log -> Result<(ImportTally, Refused), APIError> in
            var tally = ImportTally()
            var refused: Refused = []
            do {
                let skip: ImportTally.Skip? = skips ? { line, reason, _ in refused.append((line, reason)) } : nil
                try tally.store(chunks.filter { $0.events > 0 }, in: log, skipping: skip)
            } catch let refused as ChunkRefusal {
                return .failure(try Self.apiError(refused, tally, in: log))
            }
            return .success((tally, refused))
        }
        let (tally, refused) = try outcome.get()
        return APIAnswer.ok { json in
            json.member("imported", tally.stored)
            json.member("skipped", tally.skipped)
            json.member("different", tally.different)
            json.member("without_effect", tally.withoutEffect)
            json.member("erased", chunks.reduce(0) { $0 + $1.passedOver.erased })
            if skips {
                json.objects("refused", refused) { json, line in
                    json.member("line", line.line)
                    json.member("reason", .string(line.reason))
                }
            }
        }
    }

    private func chunks(_ fields: Fields) throws -> [ImportChunk] {
        let name = try fields.requiredText("name")
        guard (1...900).contains(name.utf8.count) else { throw APIError.invalid("name", "must have 1 to 900 bytes") }
        let first =
            try fields.integer("first_line", in: 1...Self.lastLine, "must be from 1 to \(Self.lastLine)") ?? 1
        let lines = try fields.required("lines", fields.array)
        guard lines.count <= Self.mostLines else {
            throw APIError.invalid("lines", "must have \(Self.mostLines) elements at most")
        }
        let numbers = try numbers(fields, from: Int(first), lines.count) ?? Array(Int(first)..<Int(first) + lines.count)
        var options = ImportOptions()
        options.idField = try fields.text("id_field")
        options.times = ImportTimes(
            unit: try fields.choice("time_unit", "must be s, ms or us", EpochUnit.init(rawValue:)),
            takesAny: try fields.flag("any_time"), now: store.log.options.now())
        let ids = try fields.array("ids")?.map { value -> String in
            guard case .string(let text) = value, !text.isEmpty else {
                throw APIError.invalid("ids", "must be texts")
            }
            return text
        }
        if let ids, options.idField == nil || ids.count != lines.count {
            throw APIError.invalid("ids", "must be as many as the lines, with `id_field`")
        }
        options.readsIDs = ids == nil
        return try ImportChunker.chunks(
            of: zip(lines, numbers).enumerated().map { index, line in (line.0, line.1, ids?[index]) },
            name: "import:\(name)", firstLine: Int(first), options
        ) { store.log.prepare() }
    }

    /// A row of a map can be many lines.
    private static let mostLines = 20 * ImportChunker.linesPerChunk
    /// The highest number of a line that a request may begin with.
    private static let lastLine: Int64 = 1 << 40

    private func numbers(_ fields: Fields, from first: Int, _ count: Int) throws -> [Int]? {
        guard let values = try fields.array("numbers") else { return nil }
        let numbers = values.compactMap { value in if case .int(let number) = value { Int(number) } else { nil } }
        let isInOrder = zip([first] + numbers, numbers).allSatisfy { $0 <= $1 }
        guard numbers.count == count, isInOrder, numbers.allSatisfy({ $0 <= 2 * Self.lastLine }) else {
            throw APIError.invalid(
                "numbers", "must be ascending whole numbers from `first_line` on, as many as the lines")
        }
        return numbers
    }

    private static func apiError(_ refused: ChunkRefusal, _ tally: ImportTally, in log: EventLog) throws -> APIError {
        var apiError = APIError(refused.error)
        if let line = try refused.chunk.line(refusedBy: log, refused.error) { apiError.place = "line \(line)" }
        return apiError
    }
}

extension ImportChunker {
    /// The chunks that a request brings: one, unless only some lines have keys. Lines of one ID that follow each other
    /// belong together.
    fileprivate static func chunks(
        of lines: [(value: AttributeValue, number: Int, id: String?)], name: String, firstLine: Int,
        _ options: ImportOptions, _ prepare: @escaping () -> AppendBuilder
    ) throws -> [ImportChunk] {
        var chunker = ImportChunker(name: name, bytesPerChunk: .max, options, prepare)
        var next = 0
        while next < lines.count {
            var end = next + 1
            while end < lines.count, let id = lines[next].id, lines[end].id == id,
                lines[end].number == lines[next].number
            {
                end += 1
            }
            do {
                try chunker.add(
                    lines[next..<end].map(\.value), id: lines[next].id, line: lines[next].number, first: firstLine)
            } catch let refusal as ImportLineError {
                let correct =
                    switch refusal.remedy {
                    case .timeUnit: "Send `time_unit`, or correct the line"
                    case .anyTime: "Correct the line, or send `any_time`"
                    default: "Correct the line"
                    }
                throw APIError.invalid(
                    "line \(refusal.line)", "cannot be imported: \(refusal.reason)",
                    remedy: "\(correct); nothing of the request was stored.")
            }
            next = end
        }
        return try chunker.finishAll()
    }
}
