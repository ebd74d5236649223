import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

/// Numbers by day or hour (spec/messaging-api 6).
@Suite("Series")
struct SeriesTests {
    private static let yaml = """
        segments:
          - {id: gold, name: Gold, all: [{custom_attribute: plan, equals: gold}]}
          - {id: all, name: All, users: all}
        """

    private static let day: Int64 = 86_400_000_000

    /// The numbers of a series, from the first point to the last.
    private func numbers(
        _ api: API, _ path: String, _ key: String, _ query: (String, String)...
    ) async throws -> [AttributeValue] {
        let (status, json) = await api.get(path, query.map { (name: $0.0, value: $0.1) })
        try #require(status == 200, "\(path): \(json.json)")
        guard case .array(let points) = json.at("data") else { return [] }
        return points.map { $0.at(key) }
    }

    @Test(
        "Each number of a series is what a plain walk over the people counts",
        arguments: Thoroughness.seeds(short: 3, full: 30))
    func bruteForce(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var options = LogOptions()
        options.indexLag = 32
        options.now = { People.now }
        try await withAPI(options) { plain in
            let api = try plain.under(Self.yaml)
            var people = People()
            for _ in 0..<150 { try await people.act(api, &random) }
            let alive = people.all.filter { !$0.isMerged }
            for unit in ["day", "hour"] {
                let span = unit == "day" ? Self.day : Self.day / 24
                let length = Int.random(in: 1...100, using: &random)
                let end = People.daysAgo(random.next(below: 20))
                let first = end.rawValue / span - Int64(length) + 1
                let range = [("length", "\(length)"), ("unit", unit), ("ending_at", end.rfc3339())]
                /// Returns the number of `times` in each point.
                func counted(_ times: [Timestamp]) -> [AttributeValue] {
                    (0..<Int64(length)).map { point in
                        .int(Int64(times.count { $0.rawValue / span == first + point }))
                    }
                }
                func check(
                    _ path: String, _ key: String, _ expected: [AttributeValue], _ more: [(String, String)] = []
                ) async throws {
                    let query = (range + more).map { (name: $0.0, value: $0.1) }
                    let (status, json) = await api.get(path, query)
                    #expect(status == 200, "\(json.json)")
                    guard case .array(let points) = json.at("data") else { return }
                    #expect(points.map { $0.at(key) } == expected, "seed \(seed): \(path) by \(unit) \(more)")
                }
                for name in People.names {
                    func times(_ people: [People.Person]) -> [Timestamp] {
                        people.flatMap(\.events).filter { $0.name == name }.map(\.at)
                    }
                    guard api.log.names.number(Name(name)) != nil else { continue }
                    try await check("/events/data_series", "count", counted(times(alive)), [("event", name)])
                    let gold = alive.filter { $0.custom["plan"]?.text == "gold" }
                    try await check(
                        "/events/data_series", "count", counted(times(gold)),
                        [("event", name), ("segment_id", "gold")])
                }
                let bought = alive.flatMap(\.bought).flatMap { Array(repeating: $0.at, count: $0.quantity) }
                try await check("/purchases/quantity_series", "purchase_quantity", counted(bought))
                try await check("/purchases/quantity_series", "purchase_quantity", counted(bought), [("product", "p")])
                let paid = counted(bought).map { value in
                    if case .int(let count) = value { AttributeValue.double(Double(2 * count)) } else { value }
                }
                #expect(
                    try await numbers(
                        api, "/purchases/revenue_series", "revenue", ("length", "\(length)"), ("unit", unit),
                        ("ending_at", end.rfc3339())
                    ).map(\.asNumber) == paid.map(\.asNumber))
                let sessions = try api.log.events(
                    from: .start, limit: .max, where: EventFilter(kinds: [.sessionStarted])
                ).events.map(\.occurredAt.timestamp)
                try await check("/sessions/data_series", "sessions", counted(sessions))
                for (path, key, span) in [("dau", "dau", span), ("mau", "mau", 30 * Self.day)] {
                    let expected = (0..<Int64(length)).map { point in
                        let unit = unit == "day" ? Self.day : Self.day / 24
                        let end = (first + point + 1) * unit
                        let users = alive.filter { person in
                            person.launches.contains { $0.rawValue < end && $0.rawValue >= end - span }
                        }
                        return AttributeValue.int(Int64(users.count))
                    }
                    try await check("/kpi/\(path)/data_series", key, expected)
                }
            }
        }
    }

    @Test("New users and the sizes of a segment follow the time of the recording")
    func recorded() async throws {
        let clock = Mutex(People.daysAgo(3))
        var options = LogOptions()
        options.now = { clock.withLock { $0 } }
        try await withAPI(options) { plain in
            let api = try plain.under(Self.yaml)
            await api.track(#"{"external_id":"a","plan":"gold"}"#, #"{"external_id":"b","plan":"blue"}"#)
            clock.withLock { $0 = People.daysAgo(1) }
            await api.track(#"{"external_id":"b","plan":"gold"}"#, #"{"external_id":"c","plan":"gold"}"#)
            clock.withLock { $0 = People.now }
            await api.track(#"{"external_id":"a","plan":"blue"}"#)
            let days = ("length", "5")
            #expect(try await numbers(api, "/kpi/new_users/data_series", "new_users", days) == [0, 2, 0, 1, 0])
            let gold = ("segment_id", "gold")
            #expect(try await numbers(api, "/segments/data_series", "size", days, gold) == [0, 1, 1, 3, 2])
            #expect(
                try await numbers(api, "/segments/data_series", "size", days, ("segment_id", "all"))
                    == [0, 2, 2, 3, 3])
            #expect(
                try await numbers(api, "/kpi/new_users/data_series", "new_users", days, gold) == [0, 1, 0, 1, 0])
            for _ in 1...2 {
                #expect(await api.post("/v1/devices/phone/launch", "{}").status == 200)
                #expect(await api.post("/v1/devices/phone/remove", "{}").status == 200)
            }
            #expect(try await numbers(api, "/kpi/uninstalls/data_series", "uninstalls", days) == [0, 0, 0, 0, 2])
            #expect(
                try await numbers(api, "/kpi/new_users/data_series", "time", ("length", "2")) == [
                    "2026-02-28", "2026-03-01",
                ])
            #expect(
                try await numbers(
                    api, "/kpi/new_users/data_series", "time", ("length", "2"), ("unit", "hour"),
                    ("ending_at", "2026-03-01T00:30:00Z")
                ) == ["2026-02-28T23:00:00.000Z", "2026-03-01T00:00:00.000Z"])
        }
    }

    @Test("Revenue in several currencies is not added up")
    func currencies() async throws {
        var options = LogOptions()
        options.now = { People.now }
        try await withAPI(options) { api in
            let purchases = [("EUR", "1.1"), ("USD", "2"), ("EUR", "2.2")].map { currency, price in
                #"{"external_id":"a","product_id":"p","currency":"\#(currency)","price":\#(price),"time":"2026-03-01"}"#
            }
            #expect(
                await api.post("/users/track", #"{"purchases":[\#(purchases.joined(separator: ","))]}"#).status == 201)
            let (_, json) = await api.get("/purchases/revenue_series", [("length", "1")])
            #expect(
                json.at("data.0").json
                    == #"{"revenue":null,"revenue_by_currency":{"EUR":3.3,"USD":2.0},"time":"2026-03-01"}"#)
            let native = await api.get("/v1/series", [("of", "revenue:p"), ("length", "1")]).json
            #expect(native.at("points.0.revenue.EUR") == .double(3.3))
            #expect(native.at("points.0.count") == 3)
        }
    }

    @Test(
        "A parameter that is missing or out of range is refused by name",
        arguments: [
            ("/events/data_series", [("length", "1")], "event"),
            ("/events/data_series", [("event", "x")], "length"),
            ("/sessions/data_series", [("length", "0")], "length"),
            ("/sessions/data_series", [("length", "101")], "length"),
            ("/sessions/data_series", [("length", "x")], "length"),
            ("/sessions/data_series", [("length", "1"), ("unit", "week")], "unit"),
            ("/sessions/data_series", [("length", "1"), ("ending_at", "soon")], "ending_at"),
            ("/segments/data_series", [("length", "1")], "segment_id"),
            ("/segments/data_series", [("length", "1"), ("segment_id", "x")], "segment_id"),
            ("/kpi/dau/data_series", [("length", "1"), ("segment_id", "x")], "segment_id"),
            ("/segments/details", [], "segment_id"), ("/segments/list", [("sort_direction", "up")], "sort_direction"),
            ("/v1/series", [], "of"), ("/v1/series", [("of", "dua")], "of"),
            ("/v1/series", [("of", "event:unseen")], "of"),
            ("/v1/series", [("of", "dau"), ("where", "x = 1")], "where"),
        ])
    func refused(path: String, query: [(String, String)], place: String) async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            let (status, json) = await api.get(path, query.map { (name: $0.0, value: $0.1) })
            #expect(status == 400)
            #expect(json.at("place").text == place, "\(json.json)")
            #expect(!json.at("remedy").text.isEmpty)
        }
    }

    @Test("Segments of the workspace file are listed and described")
    func segments() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            let list = await api.get("/segments/list", [("sort_direction", "desc")]).json
            #expect(list.at("segments.0.id") == "all" && list.at("segments.1.id") == "gold")
            #expect(list.at("segments.0.analytics_tracking_enabled") == true)
            #expect(await api.get("/segments/list", [("page", "1")]).json.at("segments").count == 0)
            let details = await api.get("/segments/details", [("segment_id", "gold")]).json
            #expect(details.at("name") == "Gold" && details.at("message") == "success")
        }
    }
}
