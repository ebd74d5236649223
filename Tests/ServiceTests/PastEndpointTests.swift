import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

@Suite("The past over the API")
struct PastEndpointTests {
    /// Ana has a level of 1 to 3 at positions 2 to 4, saves one thing at 6 and launches the app; then comes Bo.
    private func withAna(_ body: (API) async throws -> Void) async throws {
        try await withAPI { api in
            for level in 1...3 {
                let time = "2026-01-0\(4 - level)T12:00:00Z"
                let body = #"{"user":"ana","attributes":{"level":\#(level)},"time":"\#(time)"}"#
                #expect(await api.post("/v1/log/attributes", body).status == 200)
            }
            #expect(await api.post("/v1/save/event", #"{"user":"ana","name":"won"}"#).status == 200)
            #expect(await api.post("/v1/change-user", #"{"device":"phone","user":"ana"}"#).status == 200)
            #expect(await api.post("/v1/launch", "{}").status == 200)
            let bo = #"{"user":"bo","attributes":{"address":{"city":"Köln","street":"A"}}}"#
            #expect(await api.post("/v1/log/attributes", bo).status == 200)
            try await body(api)
        }
    }

    @Test("By occurrence the earliest level is the last recorded")
    func occurred() async throws {
        try await withAna { api in
            func level(_ query: [(name: String, value: String)]) async -> AttributeValue {
                await api.get("/v1/profile", [("user", "ana")] + query).json.at("custom_attributes.level")
            }
            #expect(await level([]) == 3)
            #expect(await level([("order", "occurred")]) == 1)
            #expect(await level([("order", "occurred"), ("as_of", "2026-01-02T12:00:00Z")]) == 2)
            #expect(await level([("order", "occurred"), ("as_of", "version:3")]) == 1)
            let early = await api.get(
                "/v1/profile", [("user", "ana"), ("order", "occurred"), ("as_of", "2025-12-31")])
            #expect(early.status == 404)
        }
    }

    @Test("A launch has both sides, what it flushed, and what that changed")
    func launch() async throws {
        try await withAna { api in
            let answer = await api.get("/v1/profile", [("user", "ana"), ("at_launch", "-1")]).json
            #expect(answer.at("launch") == 1 && answer.at("launches") == 1)
            #expect(answer.at("event.kind") == "appLaunched")
            #expect(answer.at("before.custom_events").count == 0 && answer.at("after.custom_events").count == 1)
            #expect(answer.at("flushed").count == 1 && answer.at("flushed.0.outcome") == "flushed")
            #expect(answer.at("changes.0.field") == "won" && answer.at("changes.0.after") == 1)
            let history = await api.get("/v1/history", [("user", "ana"), ("launch", "1")]).json
            let kinds: [AttributeValue] = (0..<history.at("events").count).map { history.at("events.\($0).kind") }
            #expect(kinds == ["customEventSaved", "appLaunched", "pendingFlushed"])
        }
    }

    @Test("Filters of a history: field, device, span")
    func filters() async throws {
        try await withAna { api in
            func count(_ user: String, _ query: [(name: String, value: String)]) async -> Int {
                await api.get("/v1/history", [("user", user)] + query).json.at("events").count
            }
            #expect(await count("ana", [("field", "level")]) == 3)
            #expect(await count("bo", [("field", "address.city")]) == 1)
            #expect(await count("ana", [("device", "phone")]) > 2)
            #expect(await count("ana", [("device", "tablet")]) == 0)
            #expect(await count("ana", [("since", "-1h"), ("field", "level")]) == 3)
            #expect(await count("ana", [("before", "-1h")]) == 0)
        }
    }

    @Test("A difference of one user, and of all in pages")
    func diff() async throws {
        try await withAna { api in
            let one = await api.get("/v1/diff", [("user", "ana"), ("a", "version:2"), ("b", "version:4")]).json
            #expect(one.at("a.version") == 2 && one.at("b.version") == 4)
            #expect(one.at("changes.0.group") == "custom_attributes" && one.at("changes.0.field") == "level")
            #expect(one.at("changes.0.before") == 1 && one.at("changes.0.after") == 3)
            #expect(one.at("changes.0.position") == 4)
            let new = await api.get("/v1/diff", [("user", "bo"), ("a", "1")]).json
            #expect(new.at("a.position") == .null && new.at("changes.0.field") == "address")
            #expect(new.at("changes.0.before") == .null)
            let all = await api.get("/v1/diff", [("a", "3")]).json
            #expect(all.at("changed") == 2 && all.at("created") == 1 && all.at("more") == false)
            #expect(all.at("users.0.user.id") == "ana" && all.at("users.1.created") == true)
            let page = await api.get("/v1/diff", [("a", "3"), ("limit", "1")]).json
            #expect(page.at("users").count == 1 && page.at("more") == true)
            let rest = await api.get("/v1/diff", [("a", "3"), ("limit", "1"), ("after", "1")]).json
            #expect(rest.at("users.0.user.id") == "bo" && rest.at("more") == false)
        }
    }

    @Test("Users and what waits, as of a position")
    func usersAndPending() async throws {
        try await withAna { api in
            let users = await api.get("/v1/users", [("as_of", "5")]).json
            #expect(users.at("total") == 1 && users.at("users.0.version") == 5 && users.at("more") == false)
            #expect(await api.get("/v1/users").json.at("total") == 2)
            for query in [("count", "true"), ("where", "version > 0")] {
                let found = await api.get("/v1/users", [("as_of", "5"), query]).json
                #expect(found.at("total") == 1 && [1, .null].contains(found.at("count")), "\(query)")
                #expect(await api.get("/v1/users", [query]).json.at("total") == 2)
            }
            let whole = await api.get("/v1/users", [("as_of", "5"), ("where", "version > 0")]).json
            #expect(whole.at("users").count == 1 && whole.at("scanned") == 1 && whole.at("more") == false)
            #expect(await api.get("/v1/pending").json.at("total") == 0)
            let pending = await api.get("/v1/pending", [("as_of", "6")]).json
            #expect(pending.at("total") == 1 && pending.at("devices.0.device") == "phone")
            #expect(pending.at("devices.0.storages.0.kinds.pending_custom_events.0.name") == "won")
            #expect(await api.get("/v1/pending", [("as_of", "5")]).json.at("total") == 0)
            #expect(await api.get("/v1/pending", [("as_of", "4"), ("device", "phone")]).status == 404)
        }
    }

    private static let earlierTime = "Ask for an earlier time, or for `now`."

    static let wrongQueries: [(path: String, query: [String: String], status: Int, place: String, remedy: String)] = [
        ("/v1/profile", ["user": "ana", "as_of": "noon"], 400, "as_of", "Correct it and try again."),
        ("/v1/profile", ["user": "ana", "as_of": "99"], 400, "as_of", "Ask for an earlier one."),
        ("/v1/profile", ["user": "ana", "as_of": "2999-01-01"], 400, "as_of", earlierTime),
        ("/v1/diff", ["user": "ana", "a": "1", "b": "2999-01-01"], 400, "b", earlierTime),
        ("/v1/users", ["as_of": "2999-01-01"], 400, "as_of", earlierTime),
        ("/v1/pending", ["as_of": "2999-01-01"], 400, "as_of", earlierTime),
        ("/v1/rules", ["as_of": "2999-01-01"], 400, "as_of", earlierTime),
        ("/v1/traits", ["user": "ana", "as_of": "2999-01-01"], 400, "as_of", earlierTime),
        ("/v1/export", ["what": "profiles", "as_of": "2999-01-01"], 400, "as_of", earlierTime),
        ("/v1/profile", ["user": "ana", "as_of": "version:99"], 400, "as_of", "Ask for an earlier one."),
        ("/v1/profile", ["user": "bo", "as_of": "1"], 404, "as_of", "Their first event is at position 10."),
        ("/v1/profile", ["user": "ana", "order": "alphabetical"], 400, "order", "Correct it and try again."),
        ("/v1/profile", ["user": "ana", "at_launch": "2"], 400, "at_launch", "Ask for 1."),
        (
            "/v1/profile", ["user": "bo", "at_launch": "1"], 400, "at_launch",
            "Start the app once with `profilecli launch`."
        ),
        ("/v1/profile", ["user": "ana", "at_launch": "0"], 400, "at_launch", "Correct it and try again."),
        ("/v1/profile", ["user": "ana", "at_launch": "1", "as_of": "3"], 400, "at_launch", "Omit the others."),
        ("/v1/history", ["user": "ana", "launch": "7"], 400, "launch", "Ask for 1."),
        (
            "/v1/history", ["user": "ana", "field": "lvel"], 404, "field",
            "Did you mean level? Their profile has level."
        ),
        ("/v1/history", ["user": "ana", "since": "3"], 400, "since", "Correct it and try again."),
        ("/v1/diff", ["user": "ana"], 400, "a", "Correct it and try again."),
        ("/v1/diff", ["user": "nobody", "a": "1"], 404, "user", "See `profilecli users` for those that exist."),
        ("/v1/diff", ["user": "ana", "a": "1", "b": "99"], 400, "b", "Ask for an earlier one."),
        ("/v1/diff", ["user": "bo", "a": "1", "b": "2"], 404, "b", "Their first event is at position 10."),
        ("/v1/diff", ["a": "version:3"], 400, "a", "Ask for a position or a time."),
        ("/v1/diff", ["a": "5", "b": "3"], 400, "a", "Correct it and try again."),
        ("/v1/users", ["as_of": "someday"], 400, "as_of", "Correct it and try again."),
        ("/v1/users", ["as_of": "version:1"], 400, "as_of", "Ask for a position or a time."),
        ("/v1/pending", ["as_of": "99"], 400, "as_of", "Ask for an earlier one."),
    ]

    @Test("What cannot be asked is refused with a sentence and the next step", arguments: wrongQueries)
    func wrong(path: String, query: [String: String], status: Int, place: String, remedy: String) async throws {
        try await withAna { api in
            let answer = await api.get(path, query.map { ($0.key, $0.value) })
            #expect(answer.status == status, "\(answer.json)")
            #expect(answer.json.at("place") == .string(place))
            #expect(answer.json.at("remedy").text == remedy, "\(answer.json)")
            #expect(answer.json.at("error").text.hasSuffix("."))
        }
    }
}
