internal import ProfileLogRequests

/// `GET /v1/series`: numbers by day, hour or minute.
struct SeriesEndpoint {
    let store: RequestStore

    private static let standardLength = 14
    private static let kinds = [
        "event:NAME", "purchases", "purchases:PRODUCT", "revenue", "revenue:PRODUCT", "sessions", "dau", "mau",
        "new_users", "events", "late:SECONDS",
    ]
    /// An event is late if it was recorded so many seconds after it happened.
    private static let standardLateness: Int64 = 60
    private static let mostLateness: Int64 = 366 * 86_400

    func series(_ request: APIRequest) async throws -> APIAnswer {
        var query = Query(request)
        let of = try query.requiredText("of")
        let range = try SeriesRange(
            &query, standardLength: Self.standardLength, units: SeriesRange.Unit.allCases,
            now: store.log.options.now())
        let condition = try query.text("where")
        try query.end()
        return try await store.readSlowly { log in
            try Self.answer(of, range, condition, request, log)
        }
    }

    private static func answer(
        _ of: String, _ range: SeriesRange, _ condition: String?, _ request: APIRequest, _ log: LogReader
    ) throws -> APIAnswer {
        let measure = try measure(of, log)
        guard condition == nil || !measure.isOfRecording else {
            throw APIError.invalid(
                "where", "chooses users, and this number counts what came to the log", remedy: "Omit it.")
        }
        let series = try Series(
            measure, range, of: condition.map { try Condition(whereParameter: $0, log) }, in: log)
        let note = ListNote("numbers above 0", request, none: "Nothing was counted in this time.")
        return try APIAnswer.ok { json in
            json.member("of", of)
            json.member("unit", range.unit.rawValue)
            json.objects("points", series.points.indices.dropFirst(series.uncounted)) { json, index in
                let point = series.points[index]
                json.member("time", range.label(index))
                json.member("count", point.count)
                guard case .revenue = measure else { return }
                json.member("revenue", point.revenue)
            }
            if series.uncounted > 0 { json.member("more", true) }
            try json.note(note, isEmpty: series.points.allSatisfy { $0.count == 0 }, in: log)
        }
    }

    private static func measure(_ text: String, _ log: LogReader) throws -> SeriesMeasure {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts.count > 1 && !parts[1].isEmpty ? Name(parts[1]) : nil
        if let name, try log.number(of: name) == nil, ["event", "purchases", "revenue"].contains(parts[0]) {
            let isEvent = parts[0] == "event"
            let known = try WhereNames(log).all(isEvent ? .event : .product)
            let nearest = NearestNames(to: name.text, among: known).close.first
            throw APIError.invalidHere(
                "of", "names \(isEvent ? "an event" : "a product") that the store has never seen",
                remedy: nearest.map { "Did you mean `\(parts[0]):\($0)`?" } ?? "Correct the name.")
        }
        switch (parts[0], name) {
        case ("event", let name?): return .events(name)
        case ("purchases", _): return .quantity(name)
        case ("revenue", _): return .revenue(name, withOrders: name == nil)
        case ("sessions", nil): return .sessions
        case ("dau", nil): return .dailyUsers
        case ("mau", nil): return .monthlyUsers
        case ("new_users", nil): return .newUsers
        case ("events", nil): return .recorded
        case ("late", _):
            let seconds = parts.count > 1 ? Int64(parts[1]) : standardLateness
            guard let seconds, (0...mostLateness).contains(seconds) else {
                throw APIError.invalid(
                    "of", "has no number of seconds from 0 to \(mostLateness) after `late:`",
                    remedy: "Write it as in `late:60`.")
            }
            return .late(seconds: seconds)
        default:
            let nearest = NearestNames(to: parts[0], among: kinds).close.first
            throw APIError.invalid(
                "of", "is no number that can be drawn",
                remedy: (nearest.map { "Did you mean `\($0)`? " } ?? "")
                    + "There are \(kinds.joined(separator: ", ")).")
        }
    }
}

extension SeriesEndpoint {
    static let shape: AnswerShape = [
        "of": .text, "unit": .text,
        "points": [["time": .text, "count": .integer, "revenue?": .map(.orNull(.number))]],
        "more?": .boolean, "note?": .text,
    ]
}
