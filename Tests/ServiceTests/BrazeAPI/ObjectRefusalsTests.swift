import ProfileLog
import ProfileLogRequests
import Testing

@Suite("GET /v1/rejected: what a 201 left out")
struct LeftOutObjectsTests {
    private let mixed = #"""
        {"attributes":[{"external_id":"a","shoe":1,"bad key.":{"a.b":1},"gender":"X"},{"external_id":"nobody","x":1,\#
        "_update_existing_only":true}],
        "events":[{"external_id":"a","name":"e","time":"2026-01-01"},{"external_id":"a","name":"e"},{"name":"e",\#
        "time":"2026-01-01"}],
        "purchases":[{"external_id":"a","product_id":"p","currency":"EUR","price":"secret","time":"2026-01-01"}]}
        """#

    private func all(_ api: API, _ query: [(name: String, value: String)] = []) async -> [AttributeValue] {
        guard case .array(let items) = await api.get("/v1/rejected", query).json.at("rejected") else { return [] }
        return items
    }

    private func shown(_ item: AttributeValue) -> String {
        "\(item.at("user").text) \(item.at("input_array").text)[\(item.at("index").json)] \(item.at("field").text)"
    }

    @Test("Every object and field that is not stored is listed with where and why, and with no value of it")
    func listed() async throws {
        try await withAPI { (api) async throws in
            let (status, answer) = await api.post("/users/track", mixed)
            #expect(status == 201)
            let items = await all(api)
            let told = answer.at("errors").count + answer.at("dropped").count
            #expect(items.count == told && told >= 6)
            let lines = Set(items.map(shown))
            for line in [
                "a attributes[0] gender", " attributes[1] ", "a events[1] ", " events[2] ", "a purchases[0] ",
            ] {
                #expect(lines.contains(line), "\(line) is not among \(lines)")
            }
            #expect(items.allSatisfy { !$0.at("reason").text.isEmpty && !$0.at("recorded_at").text.isEmpty })
            #expect(!items.contains { $0.json.contains("secret") })
            #expect(items.first { shown($0) == "a events[1] " }?.at("reason") == "'time' is required")
        }
    }

    @Test("A request that is stored in full writes nothing more, one of which all is refused nothing at all")
    func nothing() async throws {
        try await withAPI { (api) async throws in
            _ = await api.post("/users/track", #"{"attributes":[{"external_id":"a","shoe":1}]}"#)
            let last = try api.log.lastPosition()
            #expect(last.rawValue == 2)
            let (status, _) = await api.post("/users/track", #"{"attributes":[{}]}"#)
            #expect(status == 400)
            #expect(try api.log.lastPosition() == last)
            #expect(await all(api).isEmpty)
        }
    }

    @Test("What is dropped whole is listed too, and a retry under a key is listed once")
    func retries() async throws {
        try await withAPI { (api) async throws in
            let dropped = #"{"attributes":[{"external_id":"b","x":1,"_update_existing_only":true}]}"#
            let (status, _) = await api.post("/users/track", dropped)
            #expect(status == 201)
            #expect(await all(api).map(shown) == [" attributes[0] "])
            let sync = await api.post("/users/track/sync", dropped)
            #expect(sync.status == 201 && sync.json.at("users").count == 0)
            #expect(await all(api).count == 2)
            for _ in 0..<2 {
                _ = await api.answer(
                    APIRequest(.post, "/users/track", idempotencyKey: "k", body: Array(mixed.utf8)))
            }
            #expect(await all(api).count { shown($0) == "a events[1] " } == 1)
        }
    }

    @Test("What is refused next to an object that changes nothing is listed")
    func beside() async throws {
        try await withAPI { (api) async throws in
            let bare = #"{"attributes":[{"external_id":"a"}],"events":[{"external_id":"a"}]}"#
            for count in 1...2 {
                let (status, json) = await api.post("/users/track", bare)
                #expect(status == 201 && json.at("errors").count == 1)
                #expect(await all(api).map(shown) == Array(repeating: "a events[0] ", count: count))
            }
        }
    }

    @Test("The synchronous endpoint shows the profile although a field is left out")
    func sync() async throws {
        try await withAPI { (api) async throws in
            let (status, json) = await api.post(
                "/users/track/sync", #"{"attributes":[{"external_id":"a","shoe":1,"gender":"X"}]}"#)
            #expect(status == 201)
            #expect(json.at("users.0.custom_attributes.shoe") == 1)
            #expect(await all(api).map(shown) == ["a attributes[0] gender"])
        }
    }

    @Test("A refused object does not make its user the one who was updated last")
    func update() async throws {
        try await withAPI { (api) async throws in
            await api.track(
                #"{"external_id":"a","email":"x@example.com"}"#, #"{"external_id":"b","email":"x@example.com"}"#)
            for _ in 0..<2 {
                _ = await api.post(
                    "/users/track", #"{"attributes":[{"external_id":"c"}],"events":[{"external_id":"a"}]}"#)
            }
            await api.track(#"{"email":"x@example.com","hit":true}"#)
            #expect(await api.export(#""external_ids":["b"]"#).at("0.custom_attributes.hit") == true)
        }
    }

    @Test("Pages neither skip nor repeat, one user's are theirs alone, and erasure takes them")
    func pages() async throws {
        try await withAPI { (api) async throws in
            for index in 0..<7 {
                _ = await api.post(
                    "/users/track", #"{"attributes":[{"external_id":"u\#(index % 2)","n":1,"gender":"X"}]}"#)
            }
            let everything = await all(api)
            #expect(everything.count == 7)
            var paged: [AttributeValue] = []
            var after = "0"
            while true {
                let page = await api.get("/v1/rejected", [("limit", "2"), ("after", after)]).json
                if case .array(let items) = page.at("rejected") { paged += items }
                #expect(page.at("total") == 7)
                if page.at("more") != true { break }
                after = page.at("last").json
            }
            #expect(paged == everything)
            #expect(await all(api, [("user", "u1")]).count == 3)
            _ = await api.post("/v1/erase", #"{"user":"u1","reason":"r"}"#)
            #expect(await all(api).count == 4)
        }
    }

    @Test("Names that a sender chose are reported, and erased with the user")
    func names() async throws {
        try await withAPI { (api) async throws in
            let cancelled =
                #""name":"ecommerce.order_cancelled","time":"2026-01-01","properties":{"order_id":"o","#
                + #""cancel_reason":"r","#
                + #""total_value":1,"currency":"EUR","products":[],"source":"s","canary-1":1}"#
            let body = """
                {"attributes":[{"external_id":"a","x":1}],"events":[{"external_id":"a",\(cancelled)},
                {"external_id":"nobody",\(cancelled)},
                {"external_id":"b","name":"e","time":"2026-01-01","properties":{"canary-2":1,"canary-2":2}}]}
                """
            let (status, answer) = await api.post("/users/track", body)
            #expect(status == 201 && answer.at("errors").count == 3)
            #expect(answer.json.contains("canary-1") && answer.json.contains("canary-2"))
            #expect(await all(api).count == 3)
            #expect(await api.post("/users/delete", #"{"external_ids":["a"]}"#).status == 201)
            #expect(await !all(api).contains { $0.json.contains("canary") })
            #expect(await !api.get("/v1/events").json.json.contains("canary"))
        }
    }

    @Test("The list of one request has an end, and says what is beyond it")
    func bounded() async throws {
        try await withAPI { (api) async throws in
            let fields = (0..<10_050).map { #""k.\#($0)":{"a.b":1}"# }.joined(separator: ",")
            let (status, answer) = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"a","n":1,\#(fields)}]}"#)
            #expect(status == 201)
            #expect(answer.at("dropped").count == 10_050)
            let (_, list) = await api.get("/v1/rejected", [("limit", "10000")])
            #expect(list.at("total") == 10_001)
            let rest = await api.get("/v1/rejected", [("after", list.at("last").json)]).json.at("rejected")
            #expect(rest.json.contains("50 more were left out of this request"))
        }
    }
}
