import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Users by a condition")
struct WhereTests {
    private func found(_ api: API, _ condition: String, _ more: (String, String)...) async throws -> [String] {
        var found: [String] = []
        var after = "0"
        while true {
            let query = [("where", condition), ("after", after), ("limit", "3")] + more
            let (status, json) = await api.get("/v1/users", query.map { (name: $0.0, value: $0.1) })
            try #require(status == 200, "\(condition): \(json.json)")
            guard case .array(let users) = json.at("users") else { return [] }
            found += users.map { $0.at("id").text }
            guard json.at("more") == true, case .int(let scanned) = json.at("scanned") else { return found }
            after = "\(scanned)"
        }
    }

    @Test(
        "A random condition finds the people that a plain walk finds, now and in the past",
        arguments: Thoroughness.seeds(short: 4, full: 40))
    func bruteForce(seed: UInt64) async throws {
        try await withPeople(seed: seed, steps: 120) { api, people, past, random in
            for _ in 0..<60 {
                let asked = Asked.random(depth: 2, &random)
                let refusal = await api.get("/v1/users", [("where", asked.text)]).json.at("error").text
                // An attribute that none of these people ever had.
                if refusal.contains("never seen") { continue }
                let expected = people.all.filter { !$0.isMerged && asked.holds($0) }.map(\.id)
                let found = try await found(api, asked.text)
                #expect(found == expected, "seed \(seed): \(asked.text)")
                let count = await api.get("/v1/users", [("where", asked.text), ("count", "true")]).json.at("count")
                #expect(count == .int(Int64(expected.count)))
                let (position, then) = past[Int.random(in: 0..<past.count, using: &random)]
                let before = then.all.filter { !$0.isMerged && asked.holds($0) }.map { "\($0.brazeID) \($0.id)" }
                let got = try await ids(api, asked.text, asOf: position)
                #expect(got == before, "seed \(seed), position \(position): \(asked.text)")
            }
        }
    }

    /// Returns the IDs that they had then: an external ID may have gone to another user since.
    private func ids(_ api: API, _ condition: String, asOf position: UInt64) async throws -> [String] {
        let (status, json) = await api.get(
            "/v1/users", [("where", condition), ("as_of", "\(position)"), ("limit", "1000")])
        try #require(status == 200, "\(json.json)")
        guard case .array(let users) = json.at("users") else { return [] }
        return users.map { "\($0.at("braze_id").text) \($0.at("id").text)" }
    }

    @Test(
        "A slip is told with its column and the nearest word",
        arguments: [
            ("countri = \"DE\"", 1, "unknown field", "Did you mean `country`?"),
            ("country = \"DE\" and custom.levl > 3", 27, "never seen", "Did you mean `level`?"),
            ("events.sen.count > 1", 8, "never seen", "Did you mean `seen`?"),
            ("events.seen.cuont > 1", 12, "asks for something unknown", "Did you mean `.count`?"),
            ("events.seen > 1", 13, "lacks what to ask", ".count, .first, .last"),
            ("custom.level => 3", 15, "where a value is expected", "number"),
            ("custom.level contians 3", 14, "a comparison is expected", "Did you mean `contains`?"),
            ("custom.level > \"x\"", 16, "no order", "= or !="),
            ("custom.level = DE", 16, "a value is expected", "quotes"),
            ("custom.level = null", 16, "null", "exists"),
            ("country = \"Atlantis\"", 11, "is no country", "a profile can have"),
            ("last_seen > 3", 13, "compares a time", "7d ago"),
            ("last_seen > 3d", 15, "without a direction", "`ago` or `ahead`"),
            ("events.seen.count >= 3 in 3", 27, "a span is expected", "30d"),
            ("(country = \"DE\"", 16, "`)` is expected", "Add `)`"),
            ("country = \"DE\" custom.level = 1", 16, "`and`, `or`", "Join"),
            ("country = \"DE", 11, "without its end", "Add"),
            ("email matches \"(\"", 15, "no regular expression", "Correct"),
            ("", 1, "a field is expected", "country"),
            ("country ? 1", 9, "no condition has", "quotes"),
            ("pending = true", 11, "compares a number", "Write a number"),
        ])
    func slips(text: String, column: Int, reason: String, remedy: String) async throws {
        try await withAPI { api in
            await api.track(#"{"external_id":"a","level":3}"#)
            _ = await api.post(
                "/users/track", #"{"events":[{"external_id":"a","name":"seen","time":"2026-01-01"}]}"#)
            let (status, json) = await api.get("/v1/users", [("where", text)])
            #expect(status == 400)
            #expect(json.at("error").text.contains(reason), "\(json.json)")
            #expect(json.at("error").text.contains("(column \(column))"), "\(json.json)")
            #expect(json.at("column") == .int(Int64(column)), "\(json.json)")
            #expect(json.at("remedy").text.contains(remedy), "\(json.json)")
        }
    }

    @Test("A column counts characters as people do, wherever a condition is read")
    func columns() async throws {
        try await withAPI { api in
            await api.track(#"{"external_id":"a","level":3}"#)
            // Five code points are one character.
            let condition = #"external_id = "👩‍👩‍👧" and custom.level => 3"#
            for (path, query) in [
                ("/v1/users", []), ("/v1/series", [("of", "dau")]), ("/v1/export", [("what", "profiles")]),
                ("/v1/whatif/profiles", [("without", "name:level")]),
            ] as [(String, [(name: String, value: String)])] {
                let (status, json) = await api.get(path, query + [("where", condition)])
                #expect(status == 400 && json.at("place") == "where", "\(path): \(json.json)")
                #expect(json.at("column") == 37, "\(path): \(json.json)")
            }
        }
    }

    @Test("Nested values, elements of lists, quoted names and words in quotes")
    func paths() async throws {
        try await withAPI { (api) async throws in
            await api.track(
                #"{"external_id":"a","address":{"city":"Lima","zip":1},"cars":[{"brand":"x"},{"brand":"y"}]}"#,
                #"{"external_id":"b","address":{"zip":2},"cars":[{"brand":"z"}],"my level":3,"and":true}"#,
                #"{"external_id":"c","tags":["a","b"],"dob":"1990-05-05","email":"C@x.example","bio":"say \"hi\""}"#)
            for (text, users) in [
                (#"custom.address.city = "Lima""#, ["a"]),
                (#"not custom.address.city = "Lima""#, ["b", "c"]),
                (#"custom.address.city != "Lima""#, []),
                (#"exists(custom.address) and not exists(custom.address.city)"#, ["b"]),
                (#"custom.cars[].brand = "y""#, ["a"]),
                (#"custom.cars[].brand in ("y", "z")"#, ["a", "b"]),
                (#"custom."my level" >= 3 and custom."and" = true"#, ["b"]),
                (#"custom.tags contains "b""#, ["c"]), (#"custom.tags not contains "x""#, ["c"]),
                (#"dob < "2000-01-01""#, ["c"]), (#"email = "c@X.example""#, ["c"]),
                (#"email matches "example$""#, ["c"]), (#"email contains "@x""#, ["c"]),
                (#"external_id in ('a', "c")"#, ["a", "c"]),
                (#"push_subscribe = "subscribed" and (external_id = "a" or external_id = "b")"#, ["a", "b"]),
                ("version >= 1 and pending = 0 and created_at > 1d ago", ["a", "b", "c"]),
                ("last_used_app < 1d ago", []), ("not exists(last_used_app)", ["a", "b", "c"]),
            ] {
                #expect(try await found(api, text) == users, "\(text)")
            }
        }
    }

    @Test("A damaged user is named, in the page that they would be in, and the others are answered")
    func damaged() async throws {
        let folder = try TemporaryFolder.made(.damaged, prefix: "profiled")
        let log = try folder.open("store")
        let api = API(log: log)
        let users = ["a", "b", "c", "d", "e"]
        for user in users { await api.track(#"{"external_id":"\#(user)","n":1}"#) }
        let third = try #require(try log.find(.externalID("c"))).number
        let position = try #require(try log.history(of: third).last).position
        let environment = log.environment
        try environment.withWriteTransaction { transaction in
            try withNumberKey(position.rawValue) { key in
                try transaction.put(WritableTable(environment.tables.log), Array(key), [1, 2, 3])
            }
        }
        let error = "the record at position \(position.rawValue) fails its checksum"
        let named: AttributeValue = .array([
            .object([.init("error", .string(error)), .init("user_number", .int(3))])
        ])
        func page(after: Int, _ others: (String, String)...) async -> (status: Int, json: AttributeValue) {
            await api.get("/v1/users", [("where", "custom.n = 1"), ("limit", "2"), ("after", "\(after)")] + others)
        }
        let first = await page(after: 0)
        #expect(first.status == 200 && first.json.at("more") == true && first.json.at("damaged") == .null)
        let next = await page(after: 2)
        #expect(next.status == 200 && next.json.at("damaged") == named, "\(next.json)")
        #expect(next.json.at("users.0.id") == "d" && next.json.at("users.1.id") == "e")
        let count = await page(after: 0, ("count", "true"))
        #expect(count.json.at("count") == 4 && count.json.at("damaged") == named)
        let changed = await api.get("/v1/diff", [("a", "0"), ("b", "now")])
        #expect(changed.json.at("changed") == 4 && changed.json.at("damaged") == named, "\(changed.json)")
        let rows = await api.get("/v1/export", [("what", "profiles")])
        #expect(rows.json.at("rows.3.user.id") == "e" && rows.json.at("damaged") == named, "\(rows.json)")
        let events = await api.get("/v1/export", [("what", "events")])
        let place = AttributeValue.int(Int64(position.rawValue))
        #expect(events.json.at("damaged.0.position") == place && events.json.at("damaged_count") == 1)
        #expect(events.json.at("rows.8.user") == "e" && events.json.at("rows.9") == .null, "\(events.json)")
        let history = await api.get("/v1/history", [("user", "c")])
        #expect(history.json.at("events.0.version") == 1 && history.json.at("events.1") == .null)
        #expect(history.json.at("damaged.0.position") == place, "\(history.json)")
    }
}

/// A condition as text, and as a plain test of a person.
struct Asked {
    let text: String
    let holds: (People.Person) -> Bool

    static func random(depth: Int, _ random: inout SeededGenerator) -> Asked {
        guard depth > 0, random.next(below: 3) > 0 else { return leaf(&random) }
        let (left, right) = (Self.random(depth: depth - 1, &random), Self.random(depth: depth - 1, &random))
        switch random.next(below: 3) {
        case 0: return Asked(text: "(\(left.text) and \(right.text))") { left.holds($0) && right.holds($0) }
        case 1: return Asked(text: "(\(left.text) or \(right.text))") { left.holds($0) || right.holds($0) }
        default: return Asked(text: "not (\(left.text))") { !left.holds($0) }
        }
    }

    private static func leaf(_ random: inout SeededGenerator) -> Asked {
        let number = random.next(below: 5)
        let (sign, compares) = relation(&random)
        let name = People.names[number % 2]
        let plan = People.plans[number % 3]
        switch random.next(below: 13) {
        case 0:
            let country = People.countries[number % 3]
            return Asked(text: #"country = "\#(country)""#) { $0.country == country }
        case 1:
            return Asked(text: "custom.level \(sign) \(number)") { person in
                guard case .int(let level)? = person.custom["level"] else { return false }
                return compares(Int(level), number)
            }
        case 2: return Asked(text: #"custom.plan != "\#(plan)""#) { $0.custom["plan"].map { $0.text != plan } ?? false }
        case 3:
            return Asked(text: #"custom.plan in ("\#(plan)", "none")"#) { $0.custom["plan"]?.text == plan }
        case 4: return Asked(text: #"custom.plan matches "^G.*y$""#) { $0.custom["plan"]?.text == "grey" }
        case 5:
            return Asked(text: #"custom.tags not contains "\#(plan)""#) { person in
                guard case .array(let tags)? = person.custom["tags"] else { return false }
                return !tags.contains(.string(plan))
            }
        case 6:
            let city = People.countries[number % 3]
            return Asked(text: #"custom.address.city = "\#(city)""#) { $0.custom["address"]?.at("city").text == city }
        case 7: return Asked(text: "exists(custom.level)") { $0.custom["level"] != nil }
        case 8:
            let bound = People.daysAgo(number * 7)
            return Asked(text: "custom.since \(sign) \"\(bound.rfc3339())\"") { person in
                guard case .date(let since)? = person.custom["since"] else { return false }
                return compares(Int(since.timestamp.rawValue), Int(bound.rawValue))
            }
        case 9:
            return Asked(text: "events.\(name).count \(sign) \(number)") { person in
                compares(person.events.count { $0.name == name }, number)
            }
        case 10:
            let days = number * 6 + 1
            return Asked(text: "events.\(name).count \(sign) \(number % 3) in \(days)d") { person in
                compares(person.events.count { $0.name == name && $0.at >= People.daysAgo(days) }, number % 3)
            }
        case 11:
            return Asked(text: "purchases.p.count \(sign) \(number)") { person in
                compares(person.bought.reduce(0) { $0 + $1.quantity }, number)
            }
        default:
            return Asked(text: "(pending > 0 or launches.count \(sign) \(number % 3))") { person in
                !person.waiting.isEmpty || compares(person.launches.count, number % 3)
            }
        }
    }

    private static func relation(_ random: inout SeededGenerator) -> (String, (Int, Int) -> Bool) {
        let all: [(String, (Int, Int) -> Bool)] = [
            ("=", { $0 == $1 }), ("!=", { $0 != $1 }), (">", { $0 > $1 }), (">=", { $0 >= $1 }), ("<", { $0 < $1 }),
            ("<=", { $0 <= $1 }),
        ]
        return all[random.next(below: all.count)]
    }
}
