internal import ProfileLogRequests

/// Numbers by day or hour (spec/messaging-api 6): `GET …/data_series` and its kin. Days begin at midnight UTC.
struct NumberEndpoints {
    let api: BrazeAPI

    /// - Parameter key: of a point's number.
    func series(
        _ request: APIRequest, _ key: String, _ measure: (NumberEndpoints, inout Query) throws -> SeriesMeasure
    ) async throws -> APIAnswer {
        var query = Query(request)
        let measure = try measure(self, &query)
        let range = try SeriesRange(
            &query, now: api.log.options.now(),
            readTime: { text, place in
                try OccurredAt(braze: text) ?? APIError.time(text, place)
            })
        var app: String?
        var users: Condition?
        if case .size = measure {
        } else {
            app = try query.text("app_id")
            if let app, !api.workspace.knowsApp(app) {
                throw APIError.invalid(
                    "app_id", "is no app of the workspace file", remedy: "Send the `id` of one that it declares.")
            }
            users = try query.text("segment_id").map { try segment($0).rule }
        }
        let series = try await api.store.readSlowly { [app, users] in
            try Series(measure, range, app: app, of: users, in: $0)
        }
        return APIAnswer.ok { json in
            json.member("message", "success")
            json.objects("data", series.points.indices) { json, index in
                json.member("time", range.label(index))
                if case .revenue = measure {
                    json.revenue(key, series.points[index].revenue)
                } else {
                    json.member(key, series.points[index].count)
                }
            }
        }
    }

    // MARK: - Segments

    private static let segmentsPerPage = 100

    func segments(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let page = Int(try query.number(.page))
        let isDescending =
            try query.choice("sort_direction", "must be asc or desc") { ["asc": false, "desc": true][$0] } ?? false
        let all: [Segment] = isDescending ? api.workspace.segments.reversed() : api.workspace.segments
        let shown = all.dropFirst(page * Self.segmentsPerPage).prefix(Self.segmentsPerPage)
        let note = ListNote("segments", request, none: "The workspace file has no segments.")
        return try APIAnswer.ok { json in
            json.objects("segments", shown) { json, segment in
                json.member("id", segment.id)
                json.member("name", segment.name)
                json.member("analytics_tracking_enabled", true)
                json.member("tags", .array([]))
            }
            json.member("message", "success")
            try json.note(note, isEmpty: shown.isEmpty, in: api.store.reader)
        }
    }

    func segmentDetails(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let segment = try segment(&query)
        return APIAnswer.ok { json in
            // The workspace file has no dates and no words about a segment.
            json.member("created_at", AttributeValue.null)
            json.member("updated_at", AttributeValue.null)
            json.member("name", segment.name)
            json.member("description", "")
            json.member("text_description", "")
            json.member("tags", .array([]))
            json.member("message", "success")
        }
    }

    func segment(_ query: inout Query) throws -> Segment {
        guard let id = try query.text("segment_id") else {
            throw APIError.invalid("segment_id", "is missing", remedy: "Send the `id` of a segment.")
        }
        return try segment(id)
    }

    private func segment(_ id: String) throws -> Segment {
        guard let segment = api.workspace.segment(id) else { throw APIError.unknownSegment }
        return segment
    }
}

extension Query {
    /// The custom event whose numbers are asked for.
    mutating func event() throws -> Name {
        guard let name = try text("event"), !name.isEmpty else {
            throw APIError.invalid("event", "is missing", remedy: "Send the name of a custom event.")
        }
        return Name(name)
    }

    /// The product whose numbers are asked for; nil for all.
    mutating func product() throws -> Name? { try text("product").map { Name($0) } }
}

extension JSONWriter {
    /// The sum in its one currency. For several currencies null, and one sum for each: nothing here converts them.
    mutating func revenue(_ key: String, _ revenue: [ProfileState.Revenue]) {
        if revenue.count < 2 { return member(key, revenue.first?.amount ?? ExactSum()) }
        member(key, AttributeValue.null)
        member(key + "_by_currency", revenue)
    }
}

extension APIError {
    /// Status 400: no segment of the workspace file has the ID.
    static let unknownSegment = APIError(
        status: 400, code: "invalid", error: "Invalid segment ID",
        remedy: "Send the `id` of a segment in the workspace file (docs/workspace.md).", place: "segment_id")
}

// MARK: - The form of the answers

extension NumberEndpoints {
    /// Points with the member `key`; sums of money also by currency, where there are several.
    static func series(_ key: String) -> AnswerShape {
        let number: AnswerShape =
            key == "revenue"
            ? ["revenue": .orNull(.number), "revenue_by_currency?": .map(.number)]
            : .members([key], .integer)
        return ["data": [["time": .text] + number]] + .success
    }

    static let segments: AnswerShape =
        ["segments": [["id": .text, "name": .text, "analytics_tracking_enabled": .boolean, "tags": [.text]]]] + .success
        + .note

    static let segment: AnswerShape =
        [
            "created_at": .orNull(.text), "updated_at": .orNull(.text), "name": .text, "description": .text,
            "text_description": .text, "tags": [.text],
        ] + .success
}
