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

    @Test(
        "What a series keeps of a user's uses reaches the same points, and does not grow with them",
        arguments: Thoroughness.seeds(short: 20, full: 500))
    func usedPoints(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let span = Int.random(in: 1...500, using: &random)
        let length = Int.random(in: 1...SeriesRange.mostPoints, using: &random)
        var used = UsedPoints()
        var all: Set<Int> = []
        for _ in 0..<random.next(below: 1_000) {
            let index = Int.random(in: (1 - span)..<length, using: &random)
            used.add(index)
            all.insert(index)
        }
        func reached(_ indices: [Int]) -> [Bool] {
            (0..<length).map { point in indices.contains { $0 <= point && point < $0 + span } }
        }
        #expect(reached(used.indices) == reached(Array(all)), "seed \(seed)")
        #expect(used.indices == used.indices.sorted() && used.indices.count <= length + 1, "seed \(seed)")
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
            ("/v1/series", [("of", "events"), ("where", "country = 'DE'")], "where"),
            ("/v1/series", [("of", "late:soon")], "of"), ("/v1/series", [("of", "late:-1")], "of"),
            ("/v1/series", [("of", "events"), ("unit", "second")], "unit"),
            ("/sessions/data_series", [("length", "1"), ("unit", "minute")], "unit"),
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

    @Test(
        "All events and late ones are counted by when they were recorded, as a plain walk over the log counts them",
        arguments: Thoroughness.seeds(short: 3, full: 30))
    func arrivals(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let clock = Mutex(People.now)
        var options = LogOptions()
        options.indexLag = 32
        options.now = { clock.withLock { $0 } }
        try await withAPI(options) { api in
            for _ in 0..<120 {
                let pause = Int64(random.next(below: 90_000)) * 1_000_000 / (random.next(below: 4) == 0 ? 1 : 1_000)
                let now = clock.withLock { now in
                    now = Timestamp(rawValue: now.rawValue + pause)
                    return now
                }
                let lateness = [0, 59, 60, 61, 3_600, 7 * 86_400][random.next(below: 6)]
                let time = Timestamp(rawValue: now.rawValue - Int64(lateness) * 1_000_000)
                let body = #"{"user":"u\#(random.next(below: 5))","name":"e","time":"\#(time.rfc3339())"}"#
                #expect(await api.post("/v1/log/event", body).status == 200)
            }
            let events = try api.log.events(from: .start, limit: .max).events
            let end = clock.withLock { $0 }
            for unit in SeriesRange.Unit.allCases {
                let length = Int.random(in: 1...100, using: &random)
                let range = SeriesRange(unit, length: length, endingAt: end)
                for (of, lateness) in [("events", Int64.min), ("late", 60), ("late:3600", 3_600)] {
                    var expected = Array(repeating: 0, count: length)
                    for event in events {
                        let index = range.index(of: event.recordedAt)
                        let late = event.recordedAt.rawValue - event.occurredAt.timestamp.rawValue
                        let isCounted = lateness == .min || late > lateness * 1_000_000
                        if expected.indices.contains(index), isCounted { expected[index] += 1 }
                    }
                    let (status, json) = await api.get(
                        "/v1/series",
                        [
                            ("of", of), ("unit", unit.rawValue), ("length", "\(length)"),
                            ("ending_at", end.rfc3339()),
                        ])
                    #expect(status == 200 && json.at("more") == .null, "\(json.json)")
                    let counts = (0..<length).map { json.at("points.\($0).count") }
                    #expect(counts == expected.map { .int(Int64($0)) }, "seed \(seed): \(of) by \(unit)")
                }
            }
        }
    }

    @Test("Late events are sought among the newest, and the points before those are omitted")
    func bound() async throws {
        let clock = Mutex(People.now)
        var options = LogOptions()
        options.now = { clock.withLock { $0 } }
        try await withAPI(options) { api in
            let time = People.daysAgo(1).rfc3339()
            _ = await api.post("/v1/log/event", #"{"user":"u","name":"in time"}"#)
            for _ in 0..<4 {
                for _ in 0..<3 {
                    _ = await api.post("/v1/log/event", #"{"user":"u","name":"e","time":"\#(time)"}"#)
                }
                clock.withLock { $0 = Timestamp(rawValue: $0.rawValue + 60_000_000) }
            }
            // Four minutes with three late events each, and two others in the first.
            let end = Timestamp(rawValue: clock.withLock { $0 }.rawValue - 60_000_000)
            let range = SeriesRange(.minute, length: 4, endingAt: end)
            try api.log.withReader { log in
                let whole = try Series(.late(seconds: 60), range, in: log)
                #expect(whole.uncounted == 0 && whole.points.map(\.count) == [3, 3, 3, 3])
                for (most, uncounted) in [(14, 0), (13, 1), (9, 1), (8, 2), (3, 3)] as [(UInt64, Int)] {
                    let series = try Series(.late(seconds: 60), range, mostScanned: most, in: log)
                    #expect(series.uncounted == uncounted, "\(most)")
                    #expect(series.points.dropFirst(uncounted).allSatisfy { $0.count == 3 }, "\(most)")
                }
                #expect(throws: APIError.self) {
                    try Series(.late(seconds: 60), range, mostScanned: 2, in: log)
                }
            }
        }
    }
}
