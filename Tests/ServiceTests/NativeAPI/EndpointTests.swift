import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

@Suite("Every endpoint over HTTP")
struct EndpointTests {
    @Test("What an extension saves waits, and the next launch flushes it")
    func saveAndLaunch() async throws {
        try await withService { service in
            let saved = try await service.post(
                "/v1/save/event",
                #"{"user":"ana","process":"push","name":"Completed Match Game","properties":{"Score":10}}"#)
            #expect(saved.status == 200)
            #expect(saved.headers["etag"] == "\"3\"")
            #expect(saved.json.at("position") == 3)
            #expect(saved.json.at("created") == true)
            #expect(saved.json.at("waiting") == 1)
            #expect(saved.json.at("user.id") == "ana")
            let more = try await service.post(
                "/v1/save/attributes", #"{"process":"push","attributes":{"level":{"inc":2},"city":"Köln"}}"#)
            #expect(more.json.at("waiting") == 2)
            let hidden = try await service.post(
                "/v1/save/user-attribute",
                #"{"process":"push","private":true,"attribute":"email","value":"ana@example.com"}"#)
            #expect(hidden.json.at("waiting") == 3)

            let pending = try await service.get("/v1/pending?device=phone").json
            #expect(pending.at("total") == 3)
            #expect(pending.at("devices.0.storages.0.kinds.pending_custom_events.0.properties.Score") == 10)
            #expect(pending.at("devices.0.storages.1.storage") == "private:push")
            #expect(pending.at("devices.0.storages.1.visible_to_app") == false)
            #expect(try await service.get("/v1/pending?storage=group.app").json.at("total") == 2)
            #expect(try await service.get("/v1/pending?user=ana").json.at("total") == 3)

            let before = try await service.get("/v1/profile?user=ana&include_pending=true").json
            #expect(before.at("custom_attributes").count == 0)
            #expect(before.at("pending.total") == 3)
            #expect(before.at("pending.hidden_from_app") == 1)
            #expect(before.at("with_pending.custom_attributes.level") == 2)

            let launch = try await service.post("/v1/launch", "{}").json
            #expect(launch.at("flushed").count == 2)
            #expect(launch.at("flushed.0.name") == "Completed Match Game")
            #expect(launch.at("flushed.1.outcome") == "flushed")
            #expect(launch.at("left").count == 1)
            #expect(launch.at("left.0.reason").text.contains("private to push"))

            let after = try await service.get("/v1/profile?user=ana").json
            #expect(after.at("custom_attributes.city") == "Köln")
            #expect(after.at("set_by.custom_attributes.level") == 4)
            #expect(after.at("custom_events.0.count") == 1)
            #expect(after.at("launches.count") == 1)
            #expect(after.at("flushes.count") == 2)
            #expect(after.at("pending.total") == 1)
        }
    }

    @Test("What is logged counts at once")
    func log() async throws {
        try await withService { service in
            let logged = try await service.post(
                "/v1/log/event", #"{"user":"alias:crm:7","name":"opened","time":"2026-01-31T12:00:00+01:00"}"#)
            #expect(logged.status == 200)
            #expect(logged.json.at("user.id") == "alias:crm:7")
            for body in [
                #"{"user":"alias:crm:7","attributes":{"n":1,"d":1.0,"tags":["a"]}}"#,
                #"{"user":"alias:crm:7","attributes":{"n":{"inc":4},"tags":{"add":["b"]}}}"#,
            ] {
                #expect(try await service.post("/v1/log/attributes", body).status == 200)
            }
            #expect(
                try await service.post(
                    "/v1/log/user-attribute", #"{"user":"alias:crm:7","attribute":"phone_number","value":"+4917"}"#
                ).status == 200)
            #expect(
                try await service.post(
                    "/v1/log/purchase",
                    #"{"user":"alias:crm:7","product":"p","currency":"EUR","price":2.5,"quantity":2}"#
                ).status == 200)
            let profile = try await service.get("/v1/profile?user=alias%3Acrm%3A7").json
            #expect(profile.at("custom_attributes.n") == 5)
            #expect(profile.at("custom_attributes.d") == .double(1))
            #expect(profile.at("custom_attributes.tags") == .array(["a", "b"]))
            #expect(profile.at("attributes.phone") == "+4917")
            #expect(profile.at("purchases.0.revenue.EUR") == .double(5))
            #expect(profile.at("purchases.0.count") == 2)
            #expect(profile.at("custom_events.0.first") == "2026-01-31T11:00:00.000Z")
        }
    }

    @Test("The past can be asked for by position, version and time")
    func asOf() async throws {
        try await withService { service in
            for level in 1...5 {
                let body = #"{"user":"u","attributes":{"level":\#(level)}}"#
                #expect(try await service.post("/v1/log/attributes", body).status == 200)
            }
            #expect(try await service.get("/v1/profile?user=u&as_of=3").json.at("custom_attributes.level") == 2)
            #expect(try await service.get("/v1/profile?user=u&as_of=version:4").json.at("custom_attributes.level") == 3)
            #expect(try await service.get("/v1/profile?user=u").json.at("custom_attributes.level") == 5)
            let third = try await service.get("/v1/events?after=3&limit=1").json.at("events.0.recorded_at").text
            let then = try await service.get("/v1/profile?user=u&as_of=\(third)").json
            #expect(then.at("custom_attributes.level") == 3)
            #expect(try await service.get("/v1/profile?user=u&as_of=2020-01-01").status == 404)
            #expect(try await service.get("/v1/profile?user=u&as_of=7").status == 400)
        }
    }

    @Test("A history has both directions, bounds and filters")
    func history() async throws {
        try await withService { service in
            for index in 1...6 {
                let kind = index % 2 == 0 ? "even" : "odd"
                _ = try await service.post("/v1/log/event", #"{"user":"u","name":"\#(kind)"}"#)
            }
            let all = try await service.get("/v1/history?user=u").json
            #expect(all.at("events").count == 7)
            #expect(all.at("events.0.kind") == "userCreated")
            #expect(all.at("more") == false)
            let last = try await service.get("/v1/history?user=u&reverse=true&limit=2").json
            #expect(last.at("events.0.version") == 7)
            #expect(last.at("events").count == 2)
            #expect(last.at("more") == true)
            let even = try await service.get("/v1/history?user=u&kind=customEventLogged&name=even&from=3&to=6").json
            #expect(even.at("events").count == 2)
            let none = try await service.get("/v1/history?user=u&before=2020-01-01").json
            #expect(none.at("events") == .array([]))
        }
    }

    @Test("Users, statistics, discards, a change of user and the overview")
    func theRest() async throws {
        try await withService { service in
            _ = try await service.post("/v1/save/event", #"{"device":"d1","name":"x"}"#)
            _ = try await service.post("/v1/save/event", #"{"device":"d1","name":"y","app_group":"group.other"}"#)
            let known = try await service.post("/v1/change-user", #"{"device":"d1","user":"ana"}"#).json
            #expect(known.at("created") == false)
            #expect(known.at("user.id") == "ana")
            let same = try await service.post("/v1/change-user", #"{"device":"d1","user":"ana"}"#).json
            #expect(same.at("changed") == false)
            #expect(same.at("position") == .null)
            let stats = try await service.get("/v1/stats").json
            #expect(stats.at("users") == 1)
            #expect(stats.at("pending.pending_custom_events") == 2)
            #expect(stats.at("rows.log") == stats.at("events"))
            let gone = try await service.post(
                "/v1/pending/discard", #"{"device":"d1","storage":"group.other","reason":"a test","actor":"me"}"#
            ).json
            #expect(gone.at("discarded") == .array([3]))
            #expect(gone.at("waiting") == 1)
            let rest = try await service.post(
                "/v1/pending/discard", #"{"device":"d1","positions":[2],"reason":"a test"}"#
            ).json
            #expect(rest.at("waiting") == 0)
            let users = try await service.get("/v1/users?limit=1").json
            #expect(users.at("users.0.ids") == .array(["device:d1", "ana"]))
            #expect(try await service.get("/").json.at("endpoints").count == API.table.endpoints.count + 6)
            #expect(try await service.get("/health").json.at("status") == "ok")
        }
    }

    @Test("A wait for news ends with the news of another process")
    func waitForNews() async throws {
        try await withService(arguments: ["--log-level", "info"]) { service in
            async let news = service.get("/v1/events?after=0&wait_s=30")
            try await Task.sleep(for: .milliseconds(200))
            _ = try EventLog(path: service.store).append(
                [.customEventLogged(CustomEvent(name: "from elsewhere"))], to: .externalID("u"))
            let json = try await news.json
            // Before the wait's own end, which would bring the same events.
            #expect(try service.milliseconds(of: "/v1/events") < 30_000)
            #expect(json.at("events").count == 2)
            #expect(json.at("scanned") == 2)
            let empty = try await service.get("/v1/events?after=2&wait_s=1").json
            #expect(empty.at("events") == .array([]))
        }
    }

    @Test("The service and the function in this process give the same bytes")
    func sameBytes() async throws {
        try await withService { service in
            _ = try await service.post("/v1/save/event", #"{"user":"ana","process":"push","name":"x","properties":{}}"#)
            _ = try await service.post("/v1/launch", "{}")
            _ = try await service.post(
                "/v1/log/attributes", #"{"user":"ana","attributes":{"a":{"$time":"2026-01-01"}}}"#)
            let api = API(log: try EventLog(path: service.store))
            let questions: [(String, [(name: String, value: String)])] = [
                ("/v1/profile", [("user", "ana"), ("include_pending", "true")]), ("/v1/history", [("user", "ana")]),
                ("/v1/events", [("after", "1")]), ("/v1/users", []), ("/v1/stats", []), ("/v1/pending", []),
                ("/v1/profile", [("user", "nobody")]), ("/v1/events", [("limit", "0")]),
            ]
            for (path, query) in questions {
                let here = await api.answer(APIRequest(.get, path, query: query))
                let text = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
                // The client library would ask for gzip, which has another tag.
                let there = try await service.get("\(path)?\(text)", headers: ["Accept-Encoding": "identity"])
                #expect(there.status == here.status)
                #expect(there.body == here.body)
                #expect(there.headers["etag"] == here.etag)
            }
        }
    }
}
