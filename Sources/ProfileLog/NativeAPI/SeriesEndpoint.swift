internal import ProfileLogRequests

/// `GET /v1/series`: numbers by day or hour.
struct SeriesEndpoint {
    let store: RequestStore

    private static let standardLength = 14
    private static let kinds = [
        "event:NAME", "purchases", "purchases:PRODUCT", "revenue", "revenue:PRODUCT", "sessions", "dau", "mau",
        "new_users",
    ]

    func series(_ request: APIRequest) async throws -> APIAnswer {
        var query = Query(request)
        let of = try query.requiredText("of")
        let range = try SeriesRange(&query, standardLength: Self.standardLength, now: store.log.options.now())
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
        let series = try Series(
            measure, range, of: condition.map { try Condition(whereParameter: $0, log) }, in: log)
        let note = ListNote("numbers above 0", request, none: "Nothing was counted in this time.")
        return try APIAnswer.ok { json in
            json.member("of", of)
            json.member("unit", range.unit.rawValue)
            json.objects("points", series.points.indices) { json, index in
                let point = series.points[index]
                json.member("time", range.label(index))
                json.member("count", point.count)
                guard case .revenue = measure else { return }
                json.member("revenue", point.revenue)
            }
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
        "note?": .text,
    ]
}
