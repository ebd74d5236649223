import Foundation
import ProfileLog
import ProfileLogRequests
import Synchronization
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

    @Test("A moment between the log's start and an import of what had happened before has a note")
    func beforeImport() async throws {
        let clock = Mutex(Timestamp(rawValue: 1_800_000_000_000_000))
        var options = LogOptions()
        options.now = { clock.withLock { $0 } }
        try await withAPI(options) { api in
            func note(_ path: String, _ more: (name: String, value: String)...) async -> AttributeValue {
                await api.get(path, [("as_of", "2027-01-17T00:00:00Z")] + more).json.at("note")
            }
            #expect(await api.post("/v1/log/event", #"{"user":"ana","name":"a"}"#).status == 200)
            clock.withLock { $0 = Timestamp(rawValue: $0.rawValue + 5 * 86_400_000_000) }
            #expect(await api.post("/v1/log/event", #"{"user":"ana","name":"b"}"#).status == 200)
            #expect(await note("/v1/users") == .null)
            let lines = (1...50).map {
                #"{"kind":"custom_event","user":"u\#($0)","name":"a","time":"2026-06-01T00:00:00Z"}"#
            }
            let body = #"{"name":"n","lines":[\#(lines.joined(separator: ","))]}"#
            #expect(await api.post("/v1/import", body).status == 200)
            #expect(await note("/v1/users").text.hasPrefix("Events that had happened by then were imported later"))
            #expect(await note("/v1/users", ("order", "occurred")) == .null)
            let later = await api.get("/v1/users", [("as_of", "2027-01-20T08:00:00Z")])
            #expect(later.json.at("note") == .null, "\(later.json)")
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

    /// Events of `anon1` at 2 and 5 and of `main` at 4; the merge of `anon1` into `main` is at 6.
    private func withMerge(_ body: (API) async throws -> Void) async throws {
        try await withAPI { api in
            for user in ["anon1", "main"] {
                #expect(await api.post("/v1/log/event", #"{"user":"\#(user)","name":"Viewed Home"}"#).status == 200)
            }
            let colour = #"{"user":"anon1","attributes":{"color":"red"}}"#
            #expect(await api.post("/v1/log/attributes", colour).status == 200)
            await api.merge("anon1", into: "main")
            try await body(api)
        }
    }

    @Test("A user who was merged later has their IDs and their profile before the merge")
    func merged() async throws {
        try await withMerge { api in
            let braze = await api.get("/v1/users").json.at("users.0.braze_id").text
            for id in ["anon1", "braze:\(braze)"] {
                let then = await api.get("/v1/profile", [("user", id), ("as_of", "5")]).json
                #expect(then.at("ids.0") == "anon1" && then.at("user.id") == "anon1", "\(then)")
                #expect(then.at("version") == 3 && then.at("custom_attributes.color") == "red")
                let early = await api.get("/v1/profile", [("user", id), ("as_of", "0")])
                #expect(early.status == 404, "\(early.json)")
                let diff = await api.get("/v1/diff", [("user", id), ("a", "2"), ("b", "5")]).json
                #expect(diff.at("user.id") == "anon1" && diff.at("changes.0.field") == "color", "\(diff)")
                // After the merge they are the user that took them in.
                let since = await api.get("/v1/diff", [("user", id), ("a", "2")]).json
                #expect(since.at("a.position") == 2 && since.at("b.position") == 6, "\(since)")
            }
            let main = await api.get("/v1/profile", [("user", "main"), ("as_of", "5")]).json
            #expect(main.at("version") == 2 && main.at("custom_attributes") == .object([]))
            let now = await api.get("/v1/profile", [("user", "braze:\(braze)")]).json
            #expect(now.at("user.id") == "main" && now.at("position") == 6)
            let after = await api.get("/v1/profile", [("user", "braze:\(braze)"), ("as_of", "6")]).json
            #expect(after.at("user.id") == "main" && after.at("position") == 6)
            let traits = await api.get("/v1/traits", [("user", "anon1"), ("as_of", "5")]).json
            #expect(traits.at("user.id") == "anon1")
        }
    }

    @Test("An ID that a merge released is refused with the merge")
    func mergedNow() async throws {
        try await withMerge { api in
            for path in ["/v1/profile", "/v1/history", "/v1/blame"] {
                let answer = await api.get(path, [("user", "anon1")])
                #expect(answer.status == 404 && answer.json.at("code") == "unknown_user")
                #expect(answer.json.at("error") == "anon1 was merged into main at position 6.", "\(answer.json)")
                #expect(answer.json.at("remedy") == "Ask for main, or for a moment before the merge.")
            }
        }
    }

    @Test("A merged person who was erased is in no past")
    func mergedAndErased() async throws {
        try await withMerge { api in
            let braze = await api.get("/v1/users").json.at("users.0.braze_id").text
            #expect(await api.post("/v1/erase", #"{"user":"main","reason":"asked"}"#).status == 200)
            for id in ["anon1", "main", "braze:\(braze)"] {
                for query in [[("as_of", "5")], []] {
                    let answer = await api.get("/v1/profile", [("user", id)] + query.map { (name: $0.0, value: $0.1) })
                    #expect(answer.status == 404, "\(answer.json)")
                    #expect(answer.json.at("error").text == "No user is known as \(id).")
                }
            }
        }
    }

    @Test("An ID that another user has now names who had it then")
    func givenAgain() async throws {
        try await withMerge { api in
            let blue = #"{"user":"anon1","attributes":{"color":"blue"}}"#
            #expect(await api.post("/v1/log/attributes", blue).status == 200)
            func color(_ moment: String) async -> AttributeValue {
                let query = [("user", "anon1"), ("as_of", moment)].map { (name: $0.0, value: $0.1) }
                return await api.get("/v1/profile", query).json.at("custom_attributes.color")
            }
            #expect(await color("5") == "red")
            #expect(await color("8") == "blue")
            // Between the two it was no user's: who has it now came later.
            let between = await api.get("/v1/profile", [("user", "anon1"), ("as_of", "6")])
            #expect(between.status == 404 && between.json.at("place") == "as_of", "\(between.json)")
        }
    }

    private static let anyMoment =
        "Give a position, version:N, a day or a time as in `2026-01-31`, `2026-01-31T14:03Z`, `14:03`, `monday` or "
        + "`yesterday 14:00`, or so long ago as in `-3d` (s, m, h or d)."
    private static let earlierTime = "Ask for an earlier time, or for `now`."

    static let wrongQueries: [(path: String, query: [String: String], status: Int, place: String, remedy: String)] = [
        ("/v1/profile", ["user": "ana", "as_of": "noon"], 400, "as_of", anyMoment),
        (
            "/v1/profile", ["user": "ana", "as_of": "99"], 400, "as_of",
            "Ask for an earlier one. A number is a position; a day is written as in 2026-01-31."
        ),
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
            "Start the app once with `POST /v1/devices/{device}/launch`."
        ),
        ("/v1/profile", ["user": "ana", "at_launch": "0"], 400, "at_launch", "Correct it and try again."),
        ("/v1/profile", ["user": "ana", "at_launch": "1", "as_of": "3"], 400, "at_launch", "Omit the others."),
        ("/v1/history", ["user": "ana", "launch": "7"], 400, "launch", "Ask for 1."),
        (
            "/v1/history", ["user": "ana", "field": "lvel"], 404, "field",
            "Did you mean level? Their profile has level."
        ),
        (
            "/v1/history", ["user": "ana", "since": "3"], 400, "since",
            "Write it as in `2026-01-31T14:03Z`, `yesterday 14:00` or `-3d`."
        ),
        ("/v1/diff", ["user": "ana"], 400, "a", "Correct it and try again."),
        ("/v1/diff", ["user": "nobody", "a": "1"], 404, "user", "See `GET /v1/users` for those that exist."),
        (
            "/v1/diff", ["user": "ana", "a": "1", "b": "99"], 400, "b",
            "Ask for an earlier one. A number is a position; a day is written as in 2026-01-31."
        ),
        ("/v1/diff", ["user": "bo", "a": "1", "b": "2"], 404, "b", "Their first event is at position 10."),
        ("/v1/diff", ["a": "version:3"], 400, "a", "Ask for a position or a time."),
        ("/v1/diff", ["a": "5", "b": "3"], 400, "a", "Correct it and try again."),
        ("/v1/users", ["as_of": "sonday"], 400, "as_of", "Did you mean monday?"),
        ("/v1/users", ["as_of": "version:1"], 400, "as_of", "Ask for a position or a time."),
        (
            "/v1/pending", ["as_of": "99"], 400, "as_of",
            "Ask for an earlier one. A number is a position; a day is written as in 2026-01-31."
        ),
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

extension API {
    fileprivate func merge(_ source: String, into target: String) async {
        let answer = await post(
            "/users/merge",
            #"{"merge_updates":[{"identifier_to_merge":{"external_id":"\#(source)"},"#
                + #""identifier_to_keep":{"external_id":"\#(target)"}}]}"#)
        #expect(answer.status == 202, "\(answer.json)")
    }
}
