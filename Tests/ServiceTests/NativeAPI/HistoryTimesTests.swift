import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Histories without values")
struct HistoryTimesTests {
    private typealias Parameters = [(name: String, value: String)]

    /// One event of the columns.
    private struct Row: Equatable {
        var position: Int64
        var version: Int64
        var user: Int64
        var kind: String
        var names: [String]
        var device: String
        var recorded: Int64
        var occurred: Int64
        var outcome: String
        var decidedBy: Int64?
    }

    private static func rows(_ times: AttributeValue) -> [Row] {
        let columns = [
            "position", "version", "user", "kind", "name", "recorded_ms", "occurred_ms", "device", "outcome",
            "decided_by",
        ]
        let counts = Set(columns.map { times.at($0).count })
        #expect(counts.count == 1, "\(counts)")
        return times.at("position").values.indices.map { index in
            func text(_ column: String, in list: String) -> String {
                times.at(column).values[index].integer.map { times.at("\(list).\($0)").text } ?? ""
            }
            let name = times.at("name").values[index]
            let names = name.integer == nil ? name.values : [name]
            return Row(
                position: times.at("position").values[index].integer ?? 0,
                version: times.at("version").values[index].integer ?? 0,
                user: times.at("users.\(times.at("user").values[index].integer ?? -1).user_number").integer ?? 0,
                kind: text("kind", in: "kinds"),
                names: names.compactMap(\.integer).map { times.at("names.\($0)").text }.sorted(),
                device: text("device", in: "devices"), recorded: times.at("recorded_ms").values[index].integer ?? 0,
                occurred: times.at("occurred_ms").values[index].integer ?? 0,
                outcome: text("outcome", in: "outcomes"), decidedBy: times.at("decided_by").values[index].integer)
        }
    }

    /// The same of an EVENT, by what the events of the whole log decide.
    private static func row(_ event: AttributeValue, _ log: [AttributeValue]) -> Row {
        func milliseconds(_ key: String) -> Int64 {
            let time = OccurredAt(iso8601: event.at(key).text)?.timestamp.rawValue ?? 0
            return (time - (time % 1_000 + 1_000) % 1_000) / 1_000
        }
        let texts = ["name", "product", "message", "attribute"].map { event.at($0).text }.filter { !$0.isEmpty }
        let members = ["attributes", "user_attributes"].flatMap { event.at($0).keys }
        let position = event.at("position").integer ?? 0
        let kind = event.at("kind").text
        var outcome: (word: String, by: Int64?) = ("", nil)
        if kind.hasSuffix("Saved") { outcome.word = "waiting" }
        if kind.hasSuffix("Queued") { outcome.word = "queued" }
        if !outcome.word.isEmpty {
            for later in log {
                let isHanded = later.at("queued") == .bool(true)
                let words = ["flushed": isHanded ? "queued" : "flushed", "sent": "sent", "discarded": "discarded"]
                for (key, word) in words where later.at(key).values.contains(.int(position)) {
                    outcome = (word, later.at("position").integer)
                }
                if later.at("rejected").values.contains(where: { $0.at("position") == .int(position) }) {
                    outcome = ("rejected", later.at("position").integer)
                }
            }
        }
        if let void = event.at("voided_by").integer { outcome = ("void", void) }
        if event.at("erased") == .bool(true) { outcome = ("erased", nil) }
        return Row(
            position: position, version: event.at("version").integer ?? 0, user: event.at("user_number").integer ?? 0,
            kind: kind, names: (texts + members).sorted(), device: event.at("device").text,
            recorded: milliseconds("recorded_at"), occurred: milliseconds("occurred_at"), outcome: outcome.word,
            decidedBy: outcome.by)
    }

    @Test(
        "The columns say of each event what the whole history says, in both directions, with merged users and without",
        arguments: Thoroughness.seeds(short: 3, full: 30))
    func columns(seed: UInt64) async throws {
        try await withPeople(seed: seed, steps: 150) { api, people, _, random in
            for _ in 0..<15 {
                let position = random.next(below: Int(try api.log.lastPosition().rawValue)) + 1
                _ = await api.post("/v1/void", #"{"position":\#(position),"reason":"a test"}"#)
            }
            let log = await api.get("/v1/events", [("limit", "10000")]).json.at("events").values
            for person in people.all where !person.isMerged {
                for merged in ["true", "false"] {
                    let query: Parameters = [
                        ("user", person.id), ("merged", merged), ("reverse", "\(random.next(below: 2) == 0)"),
                    ]
                    let whole = await api.get("/v1/history", query + [("limit", "10000")]).json.at("events").values
                    let answer = await api.get("/v1/history", query + [("parts", "times")])
                    #expect(answer.status == 200 && answer.json.at("more") == .bool(false))
                    let expected = whole.map { Self.row($0, log) }
                    #expect(Self.rows(answer.json.at("times")) == expected, "seed \(seed): \(query)")
                    let kinds = query + [("kind", "customEventSaved,customEventLogged"), ("name", "seen")]
                    let some = await api.get("/v1/history", kinds + [("parts", "times")]).json
                    let seen = expected.filter { $0.kind.hasPrefix("customEvent") && $0.names == ["seen"] }
                    #expect(Self.rows(some.at("times")) == seen, "seed \(seed): \(kinds)")
                }
            }
        }
    }

    @Test("Pages of columns, put together, are the whole", arguments: Thoroughness.seeds(short: 2, full: 20))
    func pages(seed: UInt64) async throws {
        try await withPeople(seed: seed, steps: 120) { api, people, _, random in
            for person in people.all where !person.isMerged {
                for (merged, reverse) in [(true, true), (true, false), (false, true), (false, false)] {
                    let query: Parameters = [
                        ("user", person.id), ("merged", "\(merged)"), ("reverse", "\(reverse)"), ("parts", "times"),
                    ]
                    let whole = Self.rows(await api.get("/v1/history", query).json.at("times"))
                    var paged: [Row] = []
                    while true {
                        let limit = random.next(below: 5) + 1
                        var place: Parameters = []
                        if let last = paged.last, merged {
                            place = [("after", "\(last.position)")]
                        } else if let last = paged.last {
                            place = reverse ? [("to", "\(last.version - 1)")] : [("from", "\(last.version + 1)")]
                        }
                        let page = await api.get("/v1/history", query + place + [("limit", "\(limit)")]).json
                        let rows = Self.rows(page.at("times"))
                        #expect(rows.count <= limit)
                        paged += rows
                        if page.at("more") != .bool(true) || rows.isEmpty { break }
                    }
                    #expect(paged == whole, "seed \(seed): \(query)")
                }
            }
        }
    }

    @Test("The columns know every outcome, and who decided it, also if that is beyond the page")
    func outcomes() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/change-user", #"{"user":"ana","device":"phone"}"#)
            func save(_ name: String) async -> Int64? {
                await api.post("/v1/save/event", #"{"user":"ana","device":"phone","name":"\#(name)"}"#).json
                    .at("position").integer
            }
            func outcome(_ position: Int64?, _ more: Parameters = []) async -> Row? {
                let times = await api.get("/v1/history", [("user", "ana"), ("parts", "times")] + more).json.at("times")
                return Self.rows(times).first { $0.position == position }
            }
            let flushed = await save("flushed")
            #expect(await outcome(flushed)?.outcome == "waiting")
            let launch = await api.post("/v1/devices/phone/launch", "{}").json
            #expect(launch.at("flushed.0.outcome") == "flushed")
            #expect(await outcome(flushed)?.outcome == "flushed")
            let version = await outcome(flushed)?.version ?? 0
            let alone = await outcome(flushed, [("from", "\(version)"), ("to", "\(version)")])
            #expect(alone?.outcome == "flushed" && alone?.decidedBy == launch.at("flushed.0.flush").integer)

            let discarded = await save("discarded")
            let discard = await api.post("/v1/pending/discard", #"{"device":"phone","reason":"a test"}"#).json
            #expect(await outcome(discarded)?.outcome == "discarded")
            #expect(await outcome(discarded)?.decidedBy ?? 0 > discarded ?? 0, "\(discard.json)")

            _ = await api.post("/v1/devices/phone/settings", #"{"online":false}"#)
            let handed = await save("handed")
            _ = await api.post("/v1/devices/phone/launch", "{}")
            let queued = await api.post("/v1/log/event", #"{"device":"phone","name":"queued"}"#).json
                .at("position").integer
            let (saved, logged) = (await outcome(handed), await outcome(queued))
            #expect(saved?.outcome == "queued" && saved?.decidedBy != nil)
            #expect(logged?.outcome == "queued" && logged?.decidedBy == nil)
            _ = await api.post("/v1/devices/phone/settings", #"{"online":true}"#)
            _ = await api.post("/v1/devices/phone/send", "{}")
            #expect(await outcome(handed)?.outcome == "sent")
            #expect(await outcome(queued)?.outcome == "sent")

            let void = await api.post("/v1/void", #"{"position":\#(flushed ?? 0),"reason":"a test"}"#).json
            #expect(await outcome(flushed)?.outcome == "void")
            #expect(await outcome(flushed)?.decidedBy == void.at("position").integer)

            let id = await api.get("/v1/profile", [("user", "ana")]).json.at("user.braze_id").text
            #expect(await api.post("/v1/erase", #"{"user":"ana","reason":"a test"}"#).status == 200)
            let erased = Self.rows(
                await api.get("/v1/history", [("user", "braze:\(id)"), ("parts", "times")]).json.at("times"))
            #expect(erased.allSatisfy { $0.outcome == "erased" || $0.kind == "userErased" }, "\(erased)")
            #expect(erased.contains { $0.outcome == "erased" } && erased.allSatisfy { $0.names.isEmpty })
        }
    }

    @Test("Devices whose IDs look the same and have other bytes are two devices in the columns")
    func devicesByBytes() async throws {
        try await withAPI { api in
            let devices = ["caf\u{E9}", "cafe\u{301}"]
            for device in devices {
                let body = #"{"user":"u","device":"\#(device)","name":"e"}"#
                #expect(await api.post("/v1/log/event", body).status == 200)
            }
            let times = await api.get("/v1/history", [("user", "u"), ("parts", "times")]).json.at("times")
            let named = times.at("devices").values.map { Array($0.text.utf8) }
            #expect(named == devices.map { Array($0.utf8) }, "\(times.json)")
            #expect(times.at("device").values.compactMap(\.integer) == [0, 1])
        }
    }

    @Test("A page costs its own events and those up to the last decision about them, not the rest of the history")
    func pageCost() async throws {
        var options = LogOptions()
        options.indexLag = 64
        try await withAPI(options) { api in
            _ = await api.post("/v1/change-user", #"{"user":"ana","device":"phone"}"#)
            func save() async -> Int64? {
                await api.post("/v1/save/event", #"{"user":"ana","device":"phone","name":"e"}"#).json
                    .at("version").integer
            }
            let flushed = await save()
            _ = await api.post("/v1/devices/phone/launch", "{}")
            let waiting = await save()
            let item = #"{"kind":"log/event","user":"ana","name":"e","source":"rest"}"#
            let items = Array(repeating: item, count: 100).joined(separator: ",")
            for _ in 0..<40 {
                #expect(await api.post("/v1/batch", #"{"items":[\#(items)]}"#).status == 200)
            }
            for (version, outcome) in [(flushed, "flushed"), (waiting, "waiting")] {
                let budget = ReadBudget(.seconds(3_600))
                let query: Parameters = [
                    ("user", "ana"), ("parts", "times"), ("limit", "1"), ("from", "\(version ?? 0)"),
                ]
                let answer = await ReadBudget.$current.withValue(budget) { await api.get("/v1/history", query) }
                #expect(Self.rows(answer.json.at("times")).map(\.outcome) == [outcome], "\(answer.json.json)")
                // One check for some 32 records, of 4,000.
                #expect(budget.checks < 60, "\(outcome): \(budget.checks)")
            }
        }
    }

    @Test(
        "A wrong request for columns is refused by the name of its parameter",
        arguments: [
            ("parts", "values"), ("parts", ""), ("limit", "100001"), ("limit", "0"), ("from", "0"), ("after", "5"),
        ])
    func wrong(name: String, value: String) async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"u","name":"e"}"#)
            var query: Parameters = [("user", "u"), (name, value)]
            if name != "parts" { query.append(("parts", "times")) }
            let answer = await api.get("/v1/history", query)
            #expect(answer.status == 400 && answer.json.at("place").text == name, "\(answer.json.json)")
        }
    }

    @Test("A filter that nothing passes gives empty columns, and the note says why")
    func empty() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"u","name":"hello"}"#)
            let answer = await api.get("/v1/history", [("user", "u"), ("parts", "times"), ("name", "helo")])
            #expect(answer.status == 200 && answer.json.at("times.position").count == 0)
            #expect(answer.json.at("note").text.contains("Did you mean hello?"), "\(answer.json.json)")
        }
    }

    // MARK: - Lives

    @Test("A life has the events of a whole chain of merges, each with the user for whom it was recorded")
    func chain() async throws {
        try await withAPI { api in
            for (name, event) in [("a", "first"), ("b", "second"), ("c", "third")] {
                _ = await api.post("/v1/log/event", #"{"user":"\#(name)","name":"\#(event)"}"#)
            }
            let first = await api.get("/v1/history", [("user", "a"), ("name", "first")]).json.at("events.0")
            for (source, target) in [("a", "b"), ("b", "c")] {
                let merge =
                    #"{"identifier_to_merge":{"external_id":"\#(source)"},"#
                    + #""identifier_to_keep":{"external_id":"\#(target)"}}"#
                #expect(await api.post("/users/merge", #"{"merge_updates":[\#(merge)]}"#).status == 202)
            }
            _ = await api.post("/v1/log/event", #"{"user":"c","name":"fourth"}"#)
            let life = await api.get("/v1/history", [("user", "c"), ("merged", "true")]).json.at("events").values
            #expect(life.map { $0.at("name").text }.filter { !$0.isEmpty } == ["first", "second", "third", "fourth"])
            #expect(life.first { $0.at("name") == "first" }?.at("user_number") == first.at("user_number"))
            #expect(Set(life.map { $0.at("user_number").integer }).count == 3)
            let position = "\(first.at("position").json)"
            let explained = await api.get("/v1/messages/explain", [("user", "c"), ("position", position)])
            #expect(explained.status == 200 && explained.json.at("links.0.position") == first.at("position"))
            let times = await api.get("/v1/history", [("user", "c"), ("merged", "true"), ("parts", "times")]).json
            #expect(times.at("times.users").count == 3 && Self.rows(times.at("times")).count == life.count)
        }
    }
}

extension AttributeValue {
    fileprivate var integer: Int64? { if case .int(let number) = self { number } else { nil } }
    fileprivate var values: [AttributeValue] { if case .array(let values) = self { values } else { [] } }
    fileprivate var keys: [String] { if case .object(let members) = self { members.map(\.key.text) } else { [] } }
}
