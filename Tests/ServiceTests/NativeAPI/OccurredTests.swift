import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogNativeAPI
@testable import ProfileLogRequests

@Suite("The past in the order of occurrence")
struct OccurredTests {
    private static let now = Timestamp(rawValue: 1_772_366_400_000_000)

    private static func options() -> LogOptions {
        var options = LogOptions()
        options.indexLag = 16
        options.snapshotInterval = 4
        options.now = { now }
        return options
    }

    private static let traits = [
        ComputedTrait("won", .count, of: .event("won")),
        ComputedTrait("points", .sum, of: .event("won"), property: "points"),
    ]

    /// A line of an import, or a merge, with the time at which it happened.
    private struct Step {
        let at: Timestamp
        let line: String
        var user = ""

        /// All steps are one second apart at least: what happens together has no other order.
        static func random(_ index: Int, _ random: inout SeededGenerator) -> Step {
            let seconds = Int64(random.next(below: 40 * 86_400)) * 1_000 + Int64(index)
            let at = Timestamp(rawValue: now.rawValue - 86_400_000_000 - seconds * 1_000)
            let user = "u\(random.next(below: 6))"
            let common = #""user":"\#(user)","time":"\#(at.rfc3339())""#
            let line =
                switch random.next(below: 4) {
                case 0: #"{"kind":"custom_event",\#(common),"name":"won","properties":{"points":\#(index)}}"#
                case 1: #"{"kind":"purchase",\#(common),"product_id":"shoe","currency":"EUR","price":0.1}"#
                default:
                    #"{"kind":"custom_attribute",\#(common),"attributes":{"level":\#(index),"k\#(index % 5)":1}}"#
                }
            return Step(at: at, line: line, user: user)
        }
    }

    private func store(_ steps: [Step], _ api: API) async throws {
        api.store.traits = Self.traits
        let lines = steps.map(\.line).joined(separator: ",")
        let answer = await api.post("/v1/import", #"{"name":"n","lines":[\#(lines)]}"#)
        #expect(answer.status == 200, "\(answer.json)")
    }

    /// Checks that the users were seen last when the last of `happened` happened to them. That they were created,
    /// which the other store records today, is later.
    private func compareLastSeen(_ whole: API, _ happened: [Step], _ cut: Timestamp, _ story: Comment) async throws {
        let query = [("what", "profiles"), ("limit", "10000"), ("as_of", cut.rfc3339()), ("order", "occurred")]
        let rows = await whole.get("/v1/export", query.map { (name: $0, value: $1) }).json.at("rows").asArray ?? []
        let seen = rows.map { row in
            (row.at("ids.0").text, OccurredAt(iso8601: row.at("last_seen").text)?.timestamp)
        }
        let expected = Dictionary(grouping: happened, by: \.user).mapValues { $0.map(\.at).max() }
        #expect(Dictionary(uniqueKeysWithValues: seen) == expected, story)
    }

    /// Returns the part that is the same in a store that has only what had happened: without numbers of users,
    /// positions and IDs of the store. Without `last_seen`, too: the creation of a user happens at its recording,
    /// today.
    private static func comparable(_ profile: AttributeValue) -> AttributeValue {
        let wanted: Set<Name> = [
            "ids", "attributes", "custom_attributes", "first_seen", "traits", "total_revenue", "launches",
        ]
        guard case .object(let members) = profile else { return .null }
        let counts = ["custom_events", "purchases"].map { key -> AttributeValue.Member in
            let entries = (profile.at(key).asArray ?? []).map { entry -> String in
                let name = entry.at("name").text + entry.at("product").text
                return "\(name) \(entry.at("count").json) \(entry.at("first").json) \(entry.at("last").json)"
            }
            return .init(Name(key), .array(entries.sorted().map { .string($0) }))
        }
        return AttributeValue.object(sorting: members.filter { wanted.contains($0.key) } + counts) ?? .null
    }

    private func profiles(_ api: API, _ query: [(name: String, value: String)]) async throws -> [AttributeValue] {
        let (status, json) = await api.get("/v1/export", [("what", "profiles"), ("limit", "10000")] + query)
        try #require(status == 200, "\(json.json)")
        return (json.at("rows").asArray ?? []).map(Self.comparable).sorted { $0.at("ids").json < $1.at("ids").json }
    }

    private func users(_ api: API, _ query: [(name: String, value: String)]) async throws -> [String] {
        let (status, json) = await api.get("/v1/users", [("limit", "10000")] + query)
        try #require(status == 200, "\(json.json)")
        return (json.at("users").asArray ?? []).map { $0.at("id").text }.sorted()
    }

    @Test(
        "As of a time of occurrence, every read is that of a store in which only that was recorded, in that order",
        arguments: Thoroughness.seeds(short: 3, full: 60))
    func asIf(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let steps = (0..<60).map { Step.random($0, &random) }
        let cuts = (0..<3).map { _ in Self.now.rawValue - Int64(random.next(below: 44 * 86_400)) * 1_000_000 }
        try await withAPI(Self.options()) { whole in
            try await store(steps, whole)
            for cut in cuts.map(Timestamp.init(rawValue:)) {
                try await withAPI(Self.options()) { part in
                    let happened = steps.filter { $0.at <= cut }.sorted { $0.at < $1.at }
                    if !happened.isEmpty { try await store(happened, part) }
                    try await compare(whole, part, cut, "seed \(seed), until \(cut)")
                    try await compareLastSeen(whole, happened, cut, "seed \(seed), until \(cut)")
                }
            }
        }
    }

    /// `part` has what of `whole` had happened until `cut`.
    private func compare(_ whole: API, _ part: API, _ cut: Timestamp, _ story: Comment) async throws {
        let then = [(name: "as_of", value: cut.rfc3339()), (name: "order", value: "occurred")]
        let time = [(name: "time", value: cut.rfc3339())]
        let expected = try await profiles(part, time)
        #expect(try await profiles(whole, then) == expected, story)
        #expect(try await users(whole, then) == users(part, []), story)
        for condition in ["custom.level >= 30", "events.won.count >= 2", "traits.points > 40", "not exists(custom.k1)"]
        {
            let query = [(name: "where", value: condition)]
            // A name that has not been seen then is refused.
            if await part.get("/v1/users", query).status == 400 { continue }
            let found = try await users(whole, then + query)
            #expect(try await found == users(part, query), "\(story): \(condition)")
            let count = await whole.get("/v1/users", then + query + [("count", "true")]).json.at("count")
            #expect(count == .int(Int64(found.count)), "\(story): \(condition)")
        }
        for profile in expected {
            let user = [(name: "user", value: profile.at("ids.0").text)]
            let json = await whole.get("/v1/profile", user + then).json
            #expect(Self.comparable(json) == profile, story)
            let traits = await whole.get("/v1/traits", user + then).json
            let values = (traits.at("traits").asArray ?? []).map { $0.at("value") }
            #expect(values == [profile.at("traits.won"), profile.at("traits.points")], "\(story): \(traits.json)")
        }
        // Events: those that had happened.
        let events = await whole.get("/v1/export", [("what", "events"), ("limit", "10000")] + then).json
        let stored = await part.get("/v1/export", [("what", "events"), ("limit", "10000")]).json
        #expect(Self.contents(events) == Self.contents(stored), story)
        // Compared with nothing, everything differs.
        let all = await whole.get(
            "/v1/diff", [("a", "2020-01-01"), ("b", cut.rfc3339()), ("order", "occurred"), ("limit", "1000")]
        ).json
        #expect(all.at("changed") == .int(Int64(expected.count)), story)
        #expect(expected.isEmpty != (all.at("note") == .null), story)
        #expect(all.at("created") == .int(Int64(expected.count)), story)
    }

    private static func contents(_ answer: AttributeValue) -> [String] {
        (answer.at("rows").asArray ?? []).filter { $0.at("kind").text != "userCreated" }
            .map { "\($0.at("occurred_at").json) \($0.at("user").text) \($0.at("kind").text)" }.sorted()
    }

    @Test("Pages of an export by occurrence are of one moment")
    func pages() async throws {
        var random = SeededGenerator(seed: 7)
        let steps = (0..<40).map { Step.random($0, &random) }
        try await withAPI(Self.options()) { api in
            try await store(steps, api)
            let then = [(name: "as_of", value: "-20d"), (name: "order", value: "occurred")]
            for what in ["events", "profiles"] {
                let all = await api.get("/v1/export", [("what", what)] + then).json.at("rows").asArray ?? []
                #expect(!all.isEmpty)
                var rows: [AttributeValue] = []
                var query = then
                var after = "0"
                while true {
                    let json = await api.get("/v1/export", query + [("what", what), ("after", after), ("limit", "2")])
                        .json
                    rows += json.at("rows").asArray ?? []
                    guard json.at("more") == true else { break }
                    after = json.at("next").json
                    query = [
                        ("as_of", json.at("as_of").json), ("time", json.at("time").text), ("order", "occurred"),
                        ("until", json.at("until").text),
                    ]
                }
                #expect(rows == all, "\(what)")
            }
        }
    }

    @Test("A merge that came later has not happened, and the merged user has their own IDs and profile")
    func merge() async throws {
        try await withAPI(Self.options()) { api in
            try await store(
                [
                    Step(
                        at: Self.now,
                        line:
                            #"{"kind":"custom_attribute","user":"anon","time":"2024-06-01T12:00:00Z","#
                            + #""attributes":{"a":1}}"#
                    ),
                    Step(
                        at: Self.now,
                        line:
                            #"{"kind":"custom_attribute","user":"ana","time":"2024-06-02T12:00:00Z","#
                            + #""attributes":{"b":2}}"#
                    ),
                ], api)
            let merge =
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"anon"},"#
                + #""identifier_to_keep":{"external_id":"ana"}}]}"#
            #expect(await api.post("/users/merge", merge).status == 202)
            let then = [(name: "as_of", value: "2024-07-01"), (name: "order", value: "occurred")]
            #expect(try await users(api, then) == ["ana", "anon"])
            #expect(try await users(api, then + [("where", "custom.a = 1")]) == ["anon"])
            let anon = await api.get("/v1/profile", [("user", "anon")] + then).json
            #expect(anon.at("custom_attributes") == .object([.init("a", 1)]), "\(anon)")
            let ana = await api.get("/v1/profile", [("user", "ana")] + then).json
            #expect(ana.at("custom_attributes") == .object([.init("b", 2)]), "\(ana)")
            #expect(try await users(api, [("order", "occurred"), ("where", "custom.a = 1")]) == ["ana"])
        }
    }

    @Test("What waited by occurrence is what had been saved and not been flushed")
    func pending() async throws {
        try await withAPI(Self.options()) { api in
            for (path, body) in [
                ("/v1/save/event", #"{"user":"ana","name":"late","time":"2026-01-20T12:00:00Z"}"#),
                ("/v1/save/event", #"{"user":"ana","name":"early","time":"2026-01-10T12:00:00Z"}"#),
                ("/v1/change-user", #"{"user":"ana","time":"2026-01-01T12:00:00Z"}"#),
                ("/v1/launch", #"{"time":"2026-01-15T12:00:00Z"}"#),
            ] {
                #expect(await api.post(path, body).status == 200, "\(path)")
            }
            func names(_ time: String) async -> [String] {
                let json = await api.get("/v1/pending", [("as_of", time), ("order", "occurred")]).json
                return (json.at("devices.0.storages.0.kinds.pending_custom_events").asArray ?? []).map {
                    $0.at("name").text
                }
            }
            #expect(await names("2026-01-05").isEmpty)
            #expect(await names("2026-01-12") == ["early"])
            #expect(await names("2026-01-17").isEmpty)
            // By its device's clock, the item was saved after the launch that took it.
            #expect(await names("2026-01-25").isEmpty)
        }
    }

    @Test("A filter of events by occurrence")
    func filter() async throws {
        try await withAPI(Self.options()) { api in
            try await store(
                [
                    Step(
                        at: Self.now,
                        line: #"{"kind":"custom_event","user":"ana","time":"2024-06-01T12:00:00Z","name":"a"}"#),
                    Step(
                        at: Self.now,
                        line: #"{"kind":"custom_event","user":"ana","time":"2024-06-02T12:00:00Z","name":"b"}"#),
                ], api)
            let before = [(name: "before", value: "2024-06-02"), (name: "order", value: "occurred")]
            for path in ["/v1/history", "/v1/events"] {
                let user = path == "/v1/history" ? [(name: "user", value: "ana")] : []
                let events = await api.get(path, user + before + [("kind", "customEventLogged")]).json.at("events")
                #expect(events.asArray?.map { $0.at("name").text } == ["a"], "\(path)")
                let refused = await api.get(path, user + [("order", "occurred")])
                #expect(refused.status == 400 && refused.json.at("place") == "order", "\(refused.json)")
            }
        }
    }

    static let early: [(name: String, value: String)] = [("as_of", "2024-07-01")]

    typealias Asked = (path: String, query: [(name: String, value: String)])

    static let tooEarly: [Asked] = [
        ("/v1/users", early), ("/v1/users", early + [("where", "custom.a = 1")]),
        ("/v1/users", early + [("count", "true")]), ("/v1/export", early + [("what", "profiles")]),
        ("/v1/export", early + [("what", "events")]), ("/v1/rules", early), ("/v1/pending", early),
        ("/v1/diff", [("a", "2024-06-01"), ("b", "2024-07-01")]), ("/v1/diff", [("a", "2024-06-01")]),
    ]

    @Test("A moment before the first recording has a note that names the order of occurrence", arguments: tooEarly)
    func note(path: String, query: [(name: String, value: String)]) async throws {
        try await withAPI(Self.options()) { api in
            let line = #"{"kind":"custom_event","user":"ana","time":"2024-06-01T12:00:00Z","name":"a"}"#
            try await store([Step(at: Self.now, line: line)], api)
            let (status, json) = await api.get(path, query)
            #expect(status == 200 && json.at("note").text.contains("order=occurred"), "\(json)")
            #expect(json.at("note").text.contains("--occurred"))
            let occurred = await api.get(path, query + [("order", "occurred")])
            #expect(occurred.status == 200 && !occurred.json.at("note").text.contains("order=occurred"))
        }
    }

    @Test(
        "A user who was recorded later is refused with the order in which they were there",
        arguments: [
            "/v1/profile", "/v1/traits",
        ])
    func noteOfUser(path: String) async throws {
        try await withAPI(Self.options()) { api in
            let line = #"{"kind":"custom_event","user":"ana","time":"2024-06-01T12:00:00Z","name":"a"}"#
            try await store([Step(at: Self.now, line: line)], api)
            let json = await api.get(path, [("user", "ana"), ("as_of", "2024-07-01")]).json
            #expect(json.at("remedy").text.contains("order=occurred"), "\(json)")
            let earlier = await api.get(path, [("user", "ana"), ("as_of", "2024-05-01")]).json
            #expect(!earlier.at("remedy").text.contains("order=occurred"), "\(earlier)")
        }
    }
}
