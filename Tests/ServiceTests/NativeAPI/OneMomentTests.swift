import ProfileLog
import ProfileLogRequests
import Synchronization
import Testing

/// ```
/// reader | view … answer        one view: nothing can come between
/// writer |      commit
/// ```
@Suite("Each answer is of one moment")
struct OneMomentTests {
    /// Their work is cut into parts, each with a view of its own, as of a position that is fixed at the start.
    private static let inParts: Set<String> = [
        "/v1/users?where", "/v1/whatif", "/v1/whatif/profiles", "/v1/whatif/profiles?where",
    ]

    private static let requests: [APIRequest] =
        [
            ("/v1/profile", [("user", "u")]), ("/v1/profile", [("user", "u"), ("include_pending", "true")]),
            ("/v1/profile", [("user", "u"), ("as_of", "6")]), ("/v1/profile", [("user", "u"), ("as_of", "version:2")]),
            ("/v1/profile", [("user", "u"), ("as_of", "6"), ("order", "occurred")]),
            ("/v1/profile", [("user", "u"), ("at_launch", "1")]), ("/v1/history", [("user", "u")]),
            ("/v1/history", [("user", "u"), ("merged", "true")]), ("/v1/history", [("user", "u"), ("launch", "1")]),
            ("/v1/history", [("user", "u"), ("name", "other")]), ("/v1/events", []), ("/v1/events", [("limit", "2")]),
            ("/v1/history", [("user", "u"), ("parts", "times")]), ("/v1/events", [("user", "u"), ("limit", "2")]),
            ("/v1/history", [("user", "u"), ("parts", "times"), ("merged", "true"), ("reverse", "true")]),
            ("/v1/events", [("reverse", "true")]), ("/v1/events", [("user", "u"), ("reverse", "true")]),
            ("/v1/series", [("of", "events"), ("length", "3")]),
            ("/v1/series", [("of", "late"), ("length", "3")]),
            ("/v1/users", []), ("/v1/users", [("as_of", "6")]), ("/v1/users", [("where", "custom.a > 0")]),
            ("/v1/devices", []), ("/v1/devices/phone", []), ("/v1/devices/phone/pushes", []),
            ("/v1/devices/phone/messages", []), ("/v1/messages", []), ("/v1/pending", []),
            ("/v1/devices", [("as_of", "9")]), ("/v1/devices/phone", [("as_of", "9")]),
            ("/v1/devices/phone/pushes", [("as_of", "9")]), ("/v1/devices/phone/messages", [("as_of", "9")]),
            ("/v1/blame", [("user", "u"), ("as_of", "6")]),
            ("/v1/blame", [("user", "u"), ("log", "true"), ("limit", "1"), ("reverse", "true")]),
            ("/v1/pending", [("user", "u"), ("as_of", "6")]), ("/v1/rejected", []), ("/v1/sends", []),
            ("/v1/traits", [("user", "u")]), ("/v1/diff", [("user", "u"), ("a", "version:1")]),
            ("/v1/diff", [("a", "3")]), ("/v1/blame", [("user", "u")]), ("/v1/rules", []),
            ("/v1/rules", [("as_of", "6")]), ("/v1/series", [("of", "event:e"), ("length", "3")]),
            ("/v1/export", [("what", "events")]), ("/v1/export", [("what", "profiles"), ("as_of", "6")]),
            ("/v1/messages/explain", [("user", "u"), ("position", "3")]), ("/v1/erase", [("user", "u")]),
            ("/v1/stats", []), ("/v1/status", []), ("/v1/whatif", []), ("/v1/whatif/profiles", [("without", "name:e")]),
            ("/v1/users", [("where", "custom.a > 1")]), ("/v1/users", [("where", "custom.a > 0"), ("count", "true")]),
            ("/v1/users", [("where", "events.e.count > 0"), ("as_of", "6")]), ("/v1/whatif", [("fault", "all")]),
            ("/v1/whatif/profiles", [("without", "name:e"), ("where", "events.e.count = 1")]),
            ("/v1/users/explain", [("user", "u"), ("where", "custom.a > 0 and events.e.last < 1h ahead")]),
            ("/v1/whatif/profiles", [("without", "user:u")]), ("/v1/users", [("prefix", "")]), ("/v1/names", []),
            ("/v1/names", [("prefix", "e"), ("kind", "event,device")]),
        ].map { (path: String, query: [(name: String, value: String)]) in APIRequest(.get, path, query: query) }

    /// A user with two devices, of which one holds saved items.
    private func fill(_ api: API) async throws {
        for (path, body) in [
            ("/v1/log/event", #"{"user":"u","name":"e"}"#),
            ("/v1/log/attributes", #"{"user":"u","attributes":{"a":1}}"#),
            ("/v1/log/event", #"{"user":"other","name":"e"}"#),
            ("/v1/change-user", #"{"user":"u","device":"phone"}"#),
            ("/v1/save/event", #"{"user":"u","device":"phone","name":"e"}"#),
            ("/v1/devices/phone/launch", "{}"),
            ("/v1/save/event", #"{"user":"u","device":"phone","name":"e"}"#),
            ("/v1/rules", #"{"attribute_policies":{"plan":"first"}}"#),
        ] {
            let answer = await api.post(path, body)
            #expect(answer.status == 200, "\(path): \(answer.json.json)")
        }
    }

    /// The appends of another writer: they change almost every list.
    private static func disturb(_ api: API) {
        ReadBudget.$current.withValue(nil) {
            #expect(throws: Never.self) {
                let log = api.log
                _ = try log.append(
                    [
                        .customEventLogged(CustomEvent(name: "e")),
                        .customAttributesChanged([.init("a", .increment(1))]),
                    ],
                    to: .externalID("u"), context: EventContext(source: .rest))
                _ = try log.append(
                    [.customEventLogged(CustomEvent(name: "e"))], to: .externalID("n\(try log.userCount())"),
                    context: EventContext(source: .rest))
                _ = try log.launch(device: "phone")
                // Users get other IDs, and one goes into another.
                let (number, u) = (try log.lastPosition().rawValue, try log.find(.externalID("u")))
                let context = EventContext(source: .rest)
                let isExternal = { (id: UserID) in if case .externalID = id { true } else { false } }
                guard let u, let last = u.ids.last(where: isExternal) else { return }
                _ = try log.commit(
                    .identity(.renameExternalID(current: last, newID: .externalID("r\(number)")), context: context))
                if let other = try log.find(.externalID("other")), other.number != u.number {
                    let merge = IdentityChange.merge(source: other.id, target: .externalID("u"))
                    _ = try log.commit(.identity(merge, context: context))
                }
            }
        }
    }

    @Test("A read opens one view, and a writer between its reads changes nothing", arguments: requests.indices)
    func reads(index: Int) async throws {
        let request = Self.requests[index]
        let name = request.path + (request.query.contains { $0.name == "where" } ? "?where" : "")
        try await withAPI { api in
            try await fill(api)
            let alone = await api.answer(request)
            #expect(alone.status == 200, "\(String(decoding: alone.body, as: UTF8.self))")
            let views = Mutex(0)
            let disturbance = Mutex(())
            let budget = ReadBudget(
                .seconds(3_600),
                onView: {
                    let isFirst = views.withLock { views in
                        views += 1
                        return views == 1
                    }
                    // A long read has several threads.
                    if !isFirst { disturbance.withLock { _ in Self.disturb(api) } }
                })
            let answer = await ReadBudget.$current.withValue(budget) { await api.answer(request) }
            #expect(budget.views == 1 || Self.inParts.contains(name))
            #expect(Self.withoutTimes(answer.body) == Self.withoutTimes(alone.body))
        }
    }

    /// The answer but for the ages and times that count from now.
    private static func withoutTimes(_ body: [UInt8]) -> String {
        String(decoding: body, as: UTF8.self).replacing(/"(age_s|shortest|median|p90|longest|time|file_bytes)":[^,}]*/)
        {
            _ in ""
        }
    }

    /// Writes, in an order in which each is accepted. (An erasure answers with its own decision.)
    private static let writes: [(path: String, body: String)] = [
        ("/v1/log/event", #"{"user":"u","name":"e"}"#), ("/v1/log/event", #"{"device":"phone","name":"e"}"#),
        ("/v1/log/attributes", #"{"user":"u","attributes":{"a":2}}"#),
        ("/v1/save/event", #"{"user":"u","device":"phone","name":"e"}"#),
        (
            "/v1/batch",
            #"{"items":[{"kind":"log/event","user":"u","name":"e"},{"kind":"save/event","user":"u","name":"e"}]}"#
        ),
        ("/v1/pending/discard", #"{"reason":"test","device":"phone"}"#),
        ("/v1/launch", #"{"device":"phone"}"#), ("/v1/devices/phone/leave", "{}"),
        ("/v1/messages", #"{"messages":[]}"#), ("/v1/rules", #"{"attribute_policies":{}}"#),
        ("/v1/void", #"{"position":2,"reason":"test"}"#), ("/v1/unvoid", #"{"position":2,"reason":"test"}"#),
        ("/v1/devices/phone/settings", #"{"online":false}"#), ("/v1/log/event", #"{"device":"phone","name":"e"}"#),
        ("/v1/devices/phone/settings", #"{"online":true}"#), ("/v1/change-user", #"{"user":"v","device":"phone"}"#),
        ("/v1/devices/phone/log-out", "{}"), ("/v1/devices/phone/wipe", "{}"), ("/v1/devices/phone/remove", "{}"),
    ]

    @Test("What a write answers is read from one view after its commit")
    func writes() async throws {
        try await withAPI { api in
            try await fill(api)
            for (path, body) in Self.writes {
                let seen = Mutex((last: Position.start, views: 0))
                let budget = ReadBudget(
                    .seconds(3_600),
                    onView: {
                        guard
                            let last = try? ReadBudget.$current.withValue(
                                nil, operation: { try api.log.lastPosition() })
                        else { return }
                        seen.withLock { $0 = (last, $0.last == last ? $0.views + 1 : 1) }
                    })
                let before = try api.log.lastPosition()
                let answer = await ReadBudget.$current.withValue(budget) { await api.post(path, body) }
                #expect(answer.status == 200, "\(path): \(answer.json.json)")
                let (last, views) = seen.withLock { $0 }
                if last > before { #expect(views == 1, "\(path)") }
            }
        }
    }

    @Test("A launch between the reads of a save's answer is not in it")
    func save() async throws {
        try await withAPI { api in
            try await fill(api)
            let before = try api.log.lastPosition()
            let views = Mutex(0)
            let budget = ReadBudget(
                .seconds(3_600),
                onView: {
                    ReadBudget.$current.withValue(nil) {
                        guard let last = try? api.log.lastPosition(), last > before else { return }
                        // At the second look after the commit, what was saved is flushed.
                        let looks = views.withLock { views in
                            views += 1
                            return views
                        }
                        if looks == 2 { _ = try? api.log.launch(device: "phone") }
                    }
                })
            let answer = await ReadBudget.$current.withValue(budget) {
                await api.post("/v1/save/event", #"{"user":"u","device":"phone","name":"e"}"#)
            }
            #expect(answer.json.at("waiting") == 2, "\(answer.json.json)")
        }
    }
}
