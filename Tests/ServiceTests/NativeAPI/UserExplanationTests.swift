import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Why a user passes a condition, or does not")
struct UserExplanationTests {
    typealias Query = [(name: String, value: String)]

    // MARK: - Against the search

    @Test(
        "The whole holds for those whom a search finds, now and in the past, and the profile names the same events",
        arguments: Thoroughness.seeds(short: 3, full: 30))
    func membership(seed: UInt64) async throws {
        try await withPeople(seed: seed, steps: 120) { api, people, past, random in
            for _ in 0..<12 {
                let asked = Asked.random(depth: 3, &random)
                let position = past[Int.random(in: 0..<past.count, using: &random)].position
                let (then, occurred): (Query, Query) = ([("as_of", "\(position)")], [("order", "occurred")])
                for moment in [[], then, then + occurred, occurred] {
                    let search = await api.get("/v1/users", [("where", asked.text), ("limit", "1000")] + moment)
                    // An attribute that none of these people ever had.
                    if search.json.at("error").text.contains("never seen") { continue }
                    try #require(search.status == 200, "\(search.json.json)")
                    let found = Set(search.json.at("users").asArray?.map { $0.at("braze_id").text } ?? [])
                    for person in people.all.shuffled(using: &random).prefix(4) {
                        let user: Query = [("user", "braze:\(person.brazeID)")]
                        let (status, json) = await api.get(
                            "/v1/users/explain", user + [("where", asked.text)] + moment)
                        let comment = Comment(rawValue: "seed \(seed), \(person.id), \(moment): \(asked.text)")
                        if status == 404 {
                            #expect(!found.contains(person.brazeID), comment)
                            continue
                        }
                        try #require(status == 200, "\(json.json)")
                        let isFound = found.contains(json.at("user.braze_id").text)
                        #expect(json.at("holds") == .bool(isFound), comment)
                        try Self.expectTree(json, asked.text, comment)
                        let profile = await api.get("/v1/profile", user + moment).json
                        Self.expectCauses(json, profile, comment)
                    }
                }
            }
        }
    }

    /// The parts are a tree in which each comes out by those in it, and have the text at their columns.
    private static func expectTree(_ json: AttributeValue, _ text: String, _ comment: Comment) throws {
        let parts = try #require(json.at("parts").asArray)
        var index = 0
        func holds() -> Bool {
            let part = parts[index]
            guard case .int(let depth) = part.at("depth"), case .int(let from) = part.at("columns.from"),
                case .int(let to) = part.at("columns.to")
            else { return false }
            let written = String(Array(text)[Int(from) - 1..<Int(to)])
            #expect(part.at("text").text == written, comment)
            index += 1
            var inner: [Bool] = []
            while index < parts.count, parts[index].at("depth") == .int(depth + 1) { inner.append(holds()) }
            let isHeld = part.at("holds") == true
            switch part.at("kind").text {
            case "and": #expect(isHeld == inner.allSatisfy { $0 }, comment)
            case "or": #expect(isHeld == inner.contains(true), comment)
            case "not": #expect([isHeld] == inner.map { !$0 }, comment)
            default: #expect(inner.isEmpty && !part.at("field").text.isEmpty, comment)
            }
            return isHeld
        }
        let isHeld = holds()
        #expect(json.at("holds") == .bool(isHeld) && index == parts.count, comment)
        #expect(json.at("reason").text.hasPrefix(json.at("holds") == true ? "The user passes: " : "The user does not"))
    }

    /// The events of whole attributes and counts are those that the profile names.
    private static func expectCauses(_ json: AttributeValue, _ profile: AttributeValue, _ comment: Comment) {
        for part in json.at("parts").asArray ?? [] {
            let names = part.at("field").text.split(separator: ".").map(String.init)
            let position: AttributeValue
            switch (names.first ?? "", names.count) {
            case ("country", 1): position = profile.at("set_by.attributes.country")
            case ("custom", 2): position = profile.at("set_by.custom_attributes.\(names[1])")
            case ("events", 3) where names[2] == "count":
                let event = profile.at("custom_events").asArray?.first { $0.at("name").text == names[1] }
                position = event?.at("position") ?? .null
            case ("purchases", 3): position = profile.at("purchases.0.position")
            default: continue
            }
            if part.at("value") == .null || part.at("value") == 0 { continue }
            #expect(part.at("set.position") == position && position != .null, comment)
        }
    }

    // MARK: - What set a value

    /// Ana, with events in another order than they happened.
    private func withAna(_ body: (API) async throws -> Void) async throws {
        var options = LogOptions()
        options.now = { People.now }
        try await withAPI(options) { (api) async throws in
            await api.track(#"{"external_id":"ana","level":2,"country":"DE","address":{"city":"Lima","zip":1}}"#)
            for day in ["10", "05", "20", "07"] {
                let event = #"{"external_id":"ana","name":"seen","time":"2026-01-\#(day)"}"#
                #expect(await api.post("/users/track", #"{"events":[\#(event)]}"#).status == 201)
            }
            let purchase =
                #"{"external_id":"ana","product_id":"p","currency":"EUR","price":2,"time":"2026-01-12"}"#
            #expect(await api.post("/users/track", #"{"purchases":[\#(purchase)]}"#).status == 201)
            await api.track(#"{"external_id":"ana","gone":1}"#, #"{"external_id":"ana","gone":null}"#)
            await api.track(#"{"external_id":"ana","_merge_objects":true,"address":{"zip":2}}"#)
            try await body(api)
        }
    }

    private func explain(_ api: API, _ condition: String, _ more: Query = []) async throws -> AttributeValue {
        let (status, json) = await api.get("/v1/users/explain", [("user", "ana"), ("where", condition)] + more)
        try #require(status == 200, "\(condition): \(json.json)")
        return json
    }

    static let causes: [(condition: String, kind: String, at: String)] = [
        (#"country = "DE""#, "userAttributesChanged", ""), ("custom.level = 2", "customAttributesChanged", ""),
        ("not exists(custom.gone)", "customAttributesChanged", ""),
        ("events.seen.count > 1", "customEventLogged", "2026-01-07"),
        ("events.seen.first > 90d ago", "customEventLogged", "2026-01-05"),
        ("events.seen.last > 90d ago", "customEventLogged", "2026-01-20"),
        ("events.seen.count = 1 in 45d", "customEventLogged", "2026-01-20"),
        ("purchases.p.revenue = 2", "purchaseLogged", "2026-01-12"),
        ("total_revenue > 1", "purchaseLogged", "2026-01-12"),
        ("first_seen < 7d ago", "customEventLogged", "2026-01-05"), ("last_seen > 7d ago", "userCreated", ""),
        ("created_at > 7d ago", "userCreated", ""), (#"external_id = "ana""#, "userCreated", ""),
        ("version > 3", "customAttributesChanged", ""),
    ]

    @Test("A value names the event that set it: the last that was counted, the first, the one that removed it")
    func named() async throws {
        try await withAna { api in
            for (condition, kind, at) in Self.causes {
                let json = try await explain(api, condition)
                #expect(json.at("holds") == true, "\(condition): \(json.json)")
                let part = json.at("parts").asArray?.last ?? .null
                #expect(part.at("set.kind").text == kind, "\(condition): \(json.json)")
                #expect(part.at("set.at").text.hasPrefix(at), "\(condition): \(json.json)")
                #expect(part.at("set.source") != .null && part.at("reason") == .null)
            }
            let history = await api.get("/v1/history", [("user", "ana"), ("limit", "1000")]).json
            let last = history.at("events").asArray?.last?.at("position")
            let whole = try await explain(api, "version > 3")
            #expect(whole.at("parts.0.set.position") == last)
        }
    }

    static let occurred: [(condition: String, kind: String, at: String)] = [
        ("first_seen < 7d ago", "customEventLogged", "2026-01-05"), ("last_seen > 7d ago", "userCreated", ""),
        ("events.seen.count > 1", "customEventLogged", "2026-01-20"),
        ("events.seen.count > 1 in 90d", "customEventLogged", "2026-01-20"),
        ("total_revenue > 1", "purchaseLogged", "2026-01-12"),
    ]

    @Test("By occurrence, a value names the event that happened last, and a user was seen first and last by events too")
    func namedByOccurrence() async throws {
        try await withAna { api in
            for (condition, kind, at) in Self.occurred {
                let part = try await explain(api, condition, [("order", "occurred")]).at("parts.0")
                #expect(part.at("holds") == true && part.at("set.kind").text == kind, "\(condition): \(part.json)")
                #expect(part.at("set.at").text.hasPrefix(at), "\(condition): \(part.json)")
            }
        }
    }

    @Test("An address that came with the user names the event that gave it, also if it is in no attribute")
    func address() async throws {
        try await withAPI { api in
            let made = await api.post("/v1/log/event", #"{"user":"email:ana@example.com","name":"seen"}"#).json
            let user: Query = [("user", "braze:\(made.at("user.braze_id").text)")]
            for moment in [[], [("order", "occurred")]] as [Query] {
                let condition: Query = [("where", #"email = "ana@example.com""#)]
                let (status, json) = await api.get("/v1/users/explain", user + condition + moment)
                try #require(status == 200, "\(json.json)")
                #expect(json.at("holds") == true && json.at("parts.0.value") == "ana@example.com", "\(json.json)")
                #expect(json.at("parts.0.set.kind") == "userCreated", "\(json.json)")
            }
        }
    }

    @Test("Revenue names the purchase that was counted last: one that waited in the SDK came after a later one")
    func countedLast() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/change-user", #"{"user":"ana"}"#)
            #expect(await api.post("/v1/devices/phone/settings", #"{"online":false}"#).status == 200)
            let bought = #""user":"ana","currency":"EUR","price":2,"product""#
            let queued = await api.post("/v1/log/purchase", #"{\#(bought):"p","device":"phone"}"#).json
            #expect(queued.at("queued") == true, "\(queued.json)")
            let logged = await api.post("/v1/log/purchase", #"{\#(bought):"q","source":"rest"}"#).json
            let before = try await explain(api, "total_revenue = 2")
            #expect(before.at("parts.0.set.position") == logged.at("position"), "\(before.json)")
            #expect(await api.post("/v1/devices/phone/settings", #"{"online":true}"#).status == 200)
            let after = try await explain(api, "total_revenue = 4")
            #expect(after.at("holds") == true, "\(after.json)")
            #expect(after.at("parts.0.set.position") == queued.at("position"), "\(after.json)")
        }
    }

    @Test("An object names the write that took effect last: one that waited for a launch came after a later one")
    func effectiveLast() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/change-user", #"{"user":"ana"}"#)
            func attributes(_ path: String, _ home: String) async -> AttributeValue {
                let body = #"{"user":"ana","_merge_objects":true,"attributes":{"address":{"home":{\#(home)}}}}"#
                return await api.post(path, body).json
            }
            _ = await attributes("/v1/log/attributes", #""zip":1"#)
            let saved = await attributes("/v1/save/attributes", #""city":"Lima""#)
            let logged = await attributes("/v1/log/attributes", #""zip":2"#)
            let before = try await explain(api, "exists(custom.address.home)")
            #expect(before.at("parts.0.set.position") == logged.at("position"), "\(before.json)")
            #expect(await api.post("/v1/launch", "{}").status == 200)
            let after = try await explain(api, "exists(custom.address.home.city)")
            #expect(after.at("holds") == true, "\(after.json)")
            let whole = try await explain(api, "exists(custom.address.home)")
            #expect(whole.at("parts.0.set.position") == saved.at("position"), "\(whole.json)")
        }
    }

    @Test("A part of a value names the event that wrote this part, now and then")
    func member() async throws {
        try await withAna { api in
            let whole = try await explain(api, #"custom.address.city = "Lima" and custom.address.zip = 2"#)
            let blame = await api.get("/v1/blame", [("user", "ana"), ("field", "address")]).json
            for field in blame.at("fields").asArray ?? [] {
                let name = "custom.\(field.at("field").text)"
                let part = whole.at("parts").asArray?.first { $0.at("field").text == name }
                #expect(part?.at("set") == field.at("set") && part?.at("value") == field.at("value"), "\(name)")
            }
            guard case .int(let last)? = whole.at("parts").asArray?.last?.at("set.position") else {
                Issue.record("\(whole.json)")
                return
            }
            let before = try await explain(api, "custom.address.zip = 2", [("as_of", "\(last - 1)")])
            #expect(before.at("parts.0.value") == 1 && before.at("holds") == false, "\(before.json)")
        }
    }

    static let without: [(condition: String, value: AttributeValue, reason: String)] = [
        ("pending = 0", 0, "nothing waits"), ("launches.count = 0", 0, "it never took effect"),
        ("exists(sessions.last)", .null, "it never took effect"),
        ("events.seen.count > 0 in 3d", 0, "nothing took effect in the window"),
        ("exists(last_used_app)", .null, "no session and no launch took effect"),
        (#"push_subscribe = "subscribed""#, "subscribed", "no event set it: without one, a user is subscribed"),
        ("exists(custom.address.street)", .null, "no event set it"), ("exists(email)", .null, "no event set it"),
        ("traits.n > 3", 4, "it is computed from many events"),
    ]

    @Test("A value that no event set has a reason in place of the event")
    func unset() async throws {
        try await withAna { api in
            api.store.traits = [ComputedTrait("n", .count, of: .event("seen"))]
            for (condition, value, reason) in Self.without {
                let part = try await explain(api, condition).at("parts.0")
                #expect(part.at("value") == value, "\(condition): \(part.json)")
                #expect(part.at("set") == .null && part.at("reason").text.hasPrefix(reason), "\(part.json)")
            }
        }
    }

    @Test("A saved item names its save while it waits, and later the launch that flushed it")
    func saved() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/change-user", #"{"user":"ana"}"#)
            let item = await api.post("/v1/save/event", #"{"user":"ana","name":"played"}"#)
            let position = item.json.at("position")
            let waiting = try await explain(api, "pending = 1")
            #expect(waiting.at("holds") == true && waiting.at("parts.0.set.position") == position, "\(waiting.json)")
            #expect(waiting.at("parts.0.set.how") == "saved" && waiting.at("parts.0.set.device") == "phone")
            #expect(await api.post("/v1/launch", "{}").status == 200)
            let set = try await explain(api, "events.played.count = 1").at("parts.0.set")
            #expect(set.at("position") == position && set.at("launch") != .null && set.at("effect") != .null)
            let used = try await explain(api, "exists(launches.first) and exists(last_used_app)")
            #expect(used.at("parts.1.set.kind") == "appLaunched" && used.at("holds") == true, "\(used.json)")
        }
    }

    // MARK: - In one sentence

    static let sentences: [(condition: String, end: String)] = [
        (
            #"country = "FR" and (custom.level >= 3 or custom.level = 1) and version > 0"#,
            #"does not pass: `country = "FR"` does not hold (the value is "DE"); "#
                + "`custom.level >= 3` does not hold (the value is 2); "
                + "`custom.level = 1` does not hold (the value is 2)."
        ),
        (#"custom.level = 2 or country = "FR""#, "passes: `custom.level = 2` holds (the value is 2)."),
        ("not custom.level = 2", "does not pass: `custom.level = 2` holds (the value is 2), and is negated."),
        (
            "exists(custom.gone) and version > 0",
            "does not pass: `exists(custom.gone)` does not hold (there is no value)."
        ),
        (
            "version < 0 and version < 1 and version < 2 and version < 3 and version > 3 and version < 4",
            "; and 2 more."
        ),
        (
            "events.seen.last > 3d ago",
            "`events.seen.last > 3d ago` does not hold (the value is 2026-01-20T00:00:00.000Z)."
        ),
    ]

    @Test("One sentence names the comparisons that decide, three at most, with the user's values")
    func sentence() async throws {
        try await withAna { api in
            for (condition, end) in Self.sentences {
                let reason = try await explain(api, condition).at("reason").text
                #expect(reason.hasPrefix("The user ") && reason.hasSuffix(end), "\(condition): \(reason)")
            }
        }
    }

    // MARK: - Segments and mistakes

    @Test("A segment of the workspace file is named by its ID or its name, and shown as a condition")
    func segments() async throws {
        let workspace = try Workspace(
            yaml: """
                segments:
                  - {id: loyal, name: Loyal ones, all: [{attribute: country, equals: Germany}, {event: seen}]}
                  - {id: everybody, name: All, users: all}
                """)
        try await withAna { api in
            _ = BrazeAPI(api.store, workspace)
            for name in ["loyal", "Loyal ones"] {
                let (status, json) = await api.get("/v1/users/explain", [("user", "ana"), ("segment", name)])
                #expect(status == 200 && json.at("holds") == true && json.at("segment") == "loyal", "\(json.json)")
                #expect(json.at("where") == #"country = "DE" and events.seen.count >= 1"#)
                #expect(json.at("parts.1.text") == #"country = "DE""# && json.at("parts.1.columns.to") == 14)
                #expect(json.at("parts.2.set.at").text.hasPrefix("2026-01-07"))
            }
            let all = await api.get("/v1/users/explain", [("user", "ana"), ("segment", "everybody")]).json
            #expect(all.at("reason") == "The user passes: it is for everybody.", "\(all.json)")
            let slip = await api.get("/v1/users/explain", [("user", "ana"), ("segment", "loyl")])
            #expect(slip.status == 400 && slip.json.at("place") == "segment", "\(slip.json)")
            #expect(slip.json.at("remedy") == "Did you mean `loyal`?")
        }
    }

    @Test(
        "What cannot be explained is refused with the field at fault",
        arguments: [
            ([], 400, "where"), ([("where", "version > 0"), ("segment", "s")], 400, "where"),
            ([("where", "custom.levl > 0")], 400, "where"), ([("segment", "s")], 400, "segment"),
            ([("where", "version > 0"), ("as_of", "0")], 404, "as_of"),
            ([("where", "version > 0"), ("as_of", "version:99")], 400, "as_of"),
            ([("where", "version > 0"), ("as_of", "2999-01-01")], 400, "as_of"),
            ([("where", "version > 0"), ("user", "ana")], 400, "user"),
        ] as [(Query, Int, String)])
    func refused(query: Query, status: Int, place: String) async throws {
        try await withAna { api in
            let answer = await api.get("/v1/users/explain", [("user", "ana")] + query)
            #expect(answer.status == status && answer.json.at("place").text == place, "\(answer.json.json)")
            #expect(!answer.json.at("remedy").text.isEmpty)
        }
    }

    @Test("A user who was merged is explained as the one they are now, and as themselves before the merge")
    func merged() async throws {
        try await withAPI { (api) async throws in
            await api.track(#"{"external_id":"ana","made":true}"#, #"{"external_id":"old","level":7}"#)
            let before = try api.log.lastPosition().rawValue
            let merge =
                #"{"identifier_to_merge":{"external_id":"old"},"identifier_to_keep":{"external_id":"ana"}}"#
            #expect(await api.post("/users/merge", #"{"merge_updates":[\#(merge)]}"#).status == 202)
            let now = try await explain(api, "custom.level = 7")
            #expect(now.at("holds") == true && now.at("parts.0.set.merge") != .null, "\(now.json)")
            let then = try await explain(api, "custom.level = 7", [("as_of", "\(before)")])
            #expect(then.at("holds") == false && then.at("parts.0.set") == .null, "\(then.json)")
            let old = await api.get(
                "/v1/users/explain", [("user", "old"), ("where", "custom.level = 7"), ("as_of", "\(before)")])
            #expect(old.status == 200 && old.json.at("holds") == true, "\(old.json.json)")
        }
    }
}
