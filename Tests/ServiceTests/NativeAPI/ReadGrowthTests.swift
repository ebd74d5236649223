import ProfileLog
import ProfileLogRequests
import Testing

/// The fast form of `scripts/bench-growth.py`: it counts the records that reads look at, and no time.
@Suite("The records that a read looks at grow no faster than what there is")
struct ReadGrowthTests {
    /// Fills a store with so many of something.
    private typealias Dimension = (name: String, size: Int, fill: @Sendable (API, Int) async -> Void)

    private static func event(_ user: String, _ more: String = #""name":"e""#) -> String {
        #"{"kind":"log/event","user":"\#(user)",\#(more)}"#
    }

    private static func attributes(_ user: String, _ attributes: String) -> String {
        #"{"kind":"log/attributes","user":"\#(user)","attributes":{\#(attributes)}}"#
    }

    private static func batch(_ api: API, _ items: [String]) async {
        for begin in stride(from: 0, to: items.count, by: 100) {
            let items = items[begin..<min(begin + 100, items.count)].joined(separator: ",")
            let answer = await api.post("/v1/batch", #"{"items":[\#(items)]}"#)
            #expect(answer.status == 200, "\(answer.json.json)")
        }
    }

    private static let dimensions: [Dimension] = [
        (
            "events of a user", 400,
            { api, size in
                await batch(api, (0..<size).map { event("u", #""name":"e","properties":{"p":\#($0 % 50)}"#) })
            }
        ),
        (
            "writes of an attribute", 400,
            { api, size in await batch(api, (0..<size).map { attributes("u", #""a":\#($0)"#) }) }
        ),
        (
            "attributes, one by one", 400,
            { api, size in await batch(api, (0..<size).map { attributes("u", #""a\#(size - $0)":1,"a":\#($0)"#) }) }
        ),
        (
            "elements, one by one", 200,
            { api, size in await batch(api, (0..<size).map { attributes("u", #""a":{"add":["x\#($0)"]}"#) }) }
        ),
        ("users", 400, { api, size in await batch(api, (0..<size).map { event("user \($0)") }) }),
        (
            "merged users", 100,
            { api, size in
                for begin in stride(from: 0, to: size, by: 50) {
                    let names = (begin..<begin + 50).map { "guest \($0)" }
                    await batch(api, names.flatMap { [event($0), attributes($0, #""a":7,"\#($0)":1"#)] })
                    await merge(api, names)
                }
            }
        ),
        (
            "devices of merged users", 100,
            { api, size in
                for begin in stride(from: 0, to: size, by: 50) {
                    let numbers = begin..<begin + 50
                    await batch(
                        api,
                        numbers.map {
                            #"{"kind":"save/event","user":"guest \#($0)","device":"d\#($0)","name":"e"}"#
                        })
                    await merge(api, numbers.map { "guest \($0)" })
                }
            }
        ),
        ("items that wait", 300, { api, size in await save(api, size) }),
        ("devices with an item that waits", 100, { api, size in await saveOnDevices(api, size) }),
        (
            "items that were flushed", 300,
            { api, size in
                await save(api, size)
                #expect(await api.post("/v1/devices/phone/launch", "{}").status == 200)
            }
        ),
    ]

    private static func merge(_ api: API, _ names: [String]) async {
        let merges = names.map {
            #"{"identifier_to_merge":{"external_id":"\#($0)"},"identifier_to_keep":{"external_id":"u"}}"#
        }
        let answer = await api.post("/users/merge", #"{"merge_updates":[\#(merges.joined(separator: ","))]}"#)
        #expect(answer.status == 202, "\(answer.json.json)")
    }

    /// Items of one user that wait on so many devices.
    private static func saveOnDevices(_ api: API, _ size: Int) async {
        await batch(
            api,
            (0..<size).map { #"{"kind":"save/attributes","user":"u","device":"d\#($0)","attributes":{"a":\#($0)}}"# })
    }

    private static func save(_ api: API, _ size: Int) async {
        await batch(
            api,
            (0..<size).map {
                $0 % 2 == 0
                    ? #"{"kind":"save/event","user":"u","device":"phone","name":"e"}"#
                    : #"{"kind":"save/attributes","user":"u","device":"phone","attributes":{"a":\#($0)}}"#
            })
    }

    private static let reads: [APIRequest] =
        LongReadTests.reads.map { APIRequest(.get, $0.path, query: $0.query) } + [
            APIRequest(.get, "/v1/profile", query: [("user", "u")]),
            APIRequest(.get, "/v1/profile", query: [("user", "u"), ("include_pending", "true")]),
            APIRequest(.get, "/v1/history", query: [("user", "u"), ("launch", "1")]),
            APIRequest(.get, "/v1/users", query: [("limit", "1000")]), APIRequest(.get, "/v1/pending"),
            APIRequest(.get, "/v1/pending", query: [("user", "u"), ("as_of", "200")]),
            APIRequest(.get, "/v1/users", query: [("limit", "1000"), ("as_of", "200")]),
            APIRequest(.get, "/v1/export", query: [("what", "profiles"), ("as_of", "200")]),
            APIRequest(.get, "/v1/devices/phone", query: [("as_of", "now")]), APIRequest(.get, "/v1/devices"),
            APIRequest(.get, "/v1/blame", query: [("user", "u"), ("field", "a"), ("as_of", "now")]),
            APIRequest(.get, "/v1/devices", query: [("as_of", "now")]),
            APIRequest(.get, "/v1/devices/phone"), APIRequest(.get, "/v1/sends"),
            APIRequest(.get, "/v1/messages/explain", query: [("user", "u"), ("position", "3")]),
            APIRequest(.get, "/v1/series", query: [("of", "events"), ("unit", "minute")]),
            APIRequest(.get, "/v1/stats"), APIRequest(.get, "/v1/status"), APIRequest(.get, "/events/list"),
            APIRequest(.get, "/custom_attributes"), APIRequest(.get, "/purchases/product_list"),
            APIRequest(.get, "/sessions/data_series", query: [("length", "30")]),
            APIRequest(.get, "/purchases/revenue_series", query: [("length", "30")]),
            APIRequest(.post, "/users/export/ids", body: Array(#"{"external_ids":["u"]}"#.utf8)),
        ]

    /// Returns the number of times that each read looks at its budget: once for some 32 records. Some reads are
    /// refused, as a dimension lacks what they ask for.
    private func checks(_ dimension: Dimension, _ size: Int) async throws -> [Int] {
        var options = LogOptions()
        options.indexLag = 128
        var checks: [Int] = []
        try await withAPI(options) { api in
            await Self.batch(api, [Self.event("u"), Self.attributes("u", #""b":1"#)])
            await dimension.fill(api, size)
            for read in Self.reads {
                let budget = ReadBudget(.seconds(3_600))
                let answer = await ReadBudget.$current.withValue(budget) { await api.answer(read) }
                #expect(answer.status < 500, "\(read.path): \(String(decoding: answer.body, as: UTF8.self))")
                checks.append(budget.checks)
            }
        }
        return checks
    }

    @Test("A store with twice as much", arguments: dimensions.indices)
    func doubled(index: Int) async throws {
        let dimension = Self.dimensions[index]
        let small = try await checks(dimension, dimension.size)
        let large = try await checks(dimension, 2 * dimension.size)
        for ((read, small), large) in zip(zip(Self.reads, small), large) {
            // Linear costs grow 2 times, those of the square 4 times. The records that count are a sample.
            #expect(
                large <= 3 * small + 8,
                "\(dimension.name), \(read.path) \(read.query): \(small) checks for \(dimension.size), \(large) for 2 ×"
            )
        }
    }
}
