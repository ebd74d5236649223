import ProfileLog
import TestSupport
import Testing

@Suite("Pages of the log, of one user and newest first")
struct EventPageTests {
    private typealias Parameters = [(name: String, value: String)]

    /// All pages of a question, each as long as chance says.
    private func paged(
        _ api: API, _ query: Parameters, reverse: Bool, _ random: inout SeededGenerator
    ) async -> [AttributeValue] {
        var found: [AttributeValue] = []
        var place: Parameters = []
        for _ in 0..<1_000 {
            let limit = random.next(below: 9) + 1
            let all = query + place + [("limit", "\(limit)"), ("reverse", "\(reverse)")]
            let (status, json) = await api.get("/v1/events", all)
            #expect(status == 200, "\(all): \(json.json)")
            let events = json.at("events").values
            #expect(events.count <= limit)
            found += events
            let (scanned, last) = (json.at("scanned").integer ?? 0, json.at("last").integer ?? 0)
            if reverse ? scanned <= 1 : scanned >= last { return found }
            place = [("after", json.at("cursor").text)]
        }
        Issue.record("The pages of \(query) do not end.")
        return found
    }

    @Test(
        "Pages of a user's events, forward and backward, are those of the whole log that a plain filter finds",
        arguments: Thoroughness.seeds(short: 3, full: 30))
    func model(seed: UInt64) async throws {
        try await withPeople(seed: seed, steps: 120) { api, people, _, random in
            let all = await api.get("/v1/events", [("limit", "10000")]).json.at("events").values
            var owners: [Int64: Int64] = [:]
            for event in all where event.at("kind") == "usersMerged" {
                guard let source = event.at("merged_user_number").integer else { continue }
                owners[source] = event.at("user_number").integer
            }
            func canonical(_ user: Int64) -> Int64 { owners[user].map(canonical) ?? user }
            var users: [String?] = [nil]
            for person in people.all where !person.isMerged { users.append(person.id) }
            for user in users {
                var number: Int64?
                if let user {
                    number = await api.get("/v1/profile", [("user", user)]).json.at("user.number").integer
                }
                let filters: [Parameters] = [[], [("kind", "customEventLogged"), ("name", "seen")]]
                for filter in filters {
                    let expected = all.filter { event in
                        let isTheirs = number.map { $0 == canonical(event.at("user_number").integer ?? 0) } ?? true
                        return isTheirs
                            && (filter.isEmpty
                                || event.at("kind") == "customEventLogged" && event.at("name") == "seen")
                    }
                    let query = user.map { filter + [(name: "user", value: $0)] } ?? filter
                    let forward = await paged(api, query, reverse: false, &random)
                    #expect(forward == expected, "seed \(seed): \(query)")
                    let backward = await paged(api, query, reverse: true, &random)
                    #expect(backward == expected.reversed(), "seed \(seed): \(query), reversed")
                }
            }
        }
    }

    @Test("The newest events come first and no page has one twice, although others are stored between the pages")
    func growing() async throws {
        try await withAPI { api in
            for number in 1...5 {
                _ = await api.post("/v1/log/event", #"{"user":"u","name":"early \#(number)"}"#)
            }
            let first = await api.get("/v1/events", [("reverse", "true"), ("limit", "2")]).json
            #expect(first.at("events").values.map { $0.at("name").text } == ["early 5", "early 4"])
            for number in 1...5 {
                _ = await api.post("/v1/log/event", #"{"user":"u","name":"late \#(number)"}"#)
            }
            let second = await api.get("/v1/events", [("reverse", "true"), ("after", first.at("cursor").text)]).json
            let names = second.at("events").values.map { $0.at("name").text }
            #expect(names == ["early 3", "early 2", "early 1", ""])
            #expect(second.at("scanned") == 1)
            let end = await api.get("/v1/events", [("reverse", "true"), ("after", second.at("cursor").text)]).json
            #expect(end.at("events").count == 0 && end.at("note").text.hasPrefix("There are no events before"))
        }
    }

    @Test("An empty log has no newest event")
    func empty() async throws {
        try await withAPI { api in
            let answer = await api.get("/v1/events", [("reverse", "true")])
            #expect(answer.status == 200 && answer.json.at("events").count == 0 && answer.json.at("scanned") == 0)
            #expect(answer.json.at("note") == "The store has no event yet.")
        }
    }

    @Test("A question for an unknown user, or for news backward, is refused")
    func refused() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"u","name":"e"}"#)
            let unknown = await api.get("/v1/events", [("user", "nobody")])
            #expect(unknown.status == 404 && unknown.json.at("code") == "unknown_user")
            let waiting = await api.get("/v1/events", [("reverse", "true"), ("wait_s", "1")])
            #expect(waiting.status == 400 && waiting.json.at("place") == "wait_s")
        }
    }

    @Test("A life that was read before a merge has the events of the merged user when it is asked for again")
    func laterMerge() async throws {
        try await withAPI { api in
            for user in ["u", "v", "u"] { _ = await api.post("/v1/log/event", #"{"user":"\#(user)","name":"e"}"#) }
            let user = try #require(try api.log.find("u")).number
            let before = try api.log.reader.events.mergedLife(of: user)
            try api.log.change(.merge(source: "v", target: "u"))
            for known in [before, nil] {
                let life = try api.log.reader.events.mergedLife(of: user, known: known)
                var keys: AppendKeys?
                let page = try api.log.reader.events.page(
                    beyond: nil, .forward, of: life, limit: 100, where: EventFilter(), keys: &keys)
                #expect(page.events.map(\.position.rawValue) == [1, 2, 3, 4, 5, 6], "\(known == nil)")
            }
        }
    }

    @Test("Who waits for a user's events gets the next one of theirs, and is not woken by those of others")
    func wait() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"u","name":"first"}"#)
            let cursor = await api.get("/v1/events", [("user", "u")]).json.at("cursor").text
            async let news = api.get("/v1/events", [("user", "u"), ("after", cursor), ("wait_s", "30")])
            _ = await api.post("/v1/log/event", #"{"user":"v","name":"other"}"#)
            _ = await api.post("/v1/log/event", #"{"user":"u","name":"second"}"#)
            #expect(await news.json.at("events").values.map { $0.at("name").text } == ["second"])
        }
    }
}

extension AttributeValue {
    fileprivate var integer: Int64? { if case .int(let number) = self { number } else { nil } }
    fileprivate var values: [AttributeValue] { if case .array(let values) = self { values } else { [] } }
}
