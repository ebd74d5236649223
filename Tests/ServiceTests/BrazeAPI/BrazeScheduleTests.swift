import ProfileLog
import ProfileLogNativeAPI
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

/// Sends at a later time (spec/messaging-api 1): stored, changed, deleted, sent once.
@Suite("Scheduled sends")
struct BrazeScheduleTests {
    private static let yaml = """
        segments:
          - {id: gold, name: Gold, all: [{custom_attribute: plan, equals: gold}]}
        campaigns:
          - id: spring
            name: Spring
            tags: [sale]
            messages: [{webhook: {url: "{{custom_attribute.${plan}}}/{{api_trigger_properties.${what}}}"}}]
        canvases:
          - id: welcome
            name: Welcome
            steps: [{name: hello, messages: [{webhook: {url: "{{context.${step}}}"}}]}]
        """
    /// The clock begins at 2027-01-15T08:00:00Z.
    private static let start = Timestamp(rawValue: 1_800_000_000_000_000)

    /// A store with a clock of its own, and two users.
    private func withClock(_ body: (API, StoreClock) async throws -> Void) async throws {
        let clock = StoreClock()
        clock.set(to: Self.start)
        var options = LogOptions()
        options.now = { clock.now() }
        try await withAPI(options) { (plain) async throws in
            let api = try plain.under(Self.yaml)
            await api.track(#"{"external_id":"ana","plan":"gold"}"#, #"{"external_id":"ben","plan":"silver"}"#)
            try await body(api, clock)
        }
    }

    private static func time(_ seconds: Int64) -> String {
        Timestamp(rawValue: start.rawValue + seconds * 1_000_000).rfc3339()
    }

    private static func campaign(_ seconds: Int64, _ more: String = #""recipients":[{"external_user_id":"ana"}]"#)
        -> String
    {
        #"{"campaign_id":"spring","trigger_properties":{"what":"sale"},"#
            + #""schedule":{"time":"\#(time(seconds))"},\#(more)}"#
    }

    private func pass(_ seconds: Int64, _ clock: StoreClock, _ api: API) async throws -> Int {
        _ = clock.advance(byMicroseconds: seconds * 1_000_000)
        return try await api.braze.sendDue()
    }

    private func urls(_ api: API, _ user: String) throws -> [String] {
        try api.messageSteps(of: user).filter { $0.step.stage != .scheduled }.map {
            AttributeValue.object($0.step.content)["url"]?.text ?? $0.step.reason ?? ""
        }
    }

    /// The reasons with which schedules ended.
    private func ends(_ api: API) throws -> [String] {
        try api.log.history(of: .system).compactMap { event in
            guard case .message(let step) = event.event, step.stage == .unscheduled else { return nil }
            return step.reason
        }
    }

    @Test("Each form of schedule is sent when its time comes, once, under the `dispatch_id` of the answer")
    func forms() async throws {
        try await withClock { (api, clock) async throws in
            let canvas =
                #"{"canvas_id":"welcome","context":{"step":"s"},"schedule":{"time":"\#(Self.time(60))"},"#
                + #""recipients":[{"external_user_id":"ana"}]}"#
            let messages =
                #"{"external_user_ids":["ana","nobody"],"schedule":{"time":"\#(Self.time(60))"},"#
                + #""messages":{"webhook":{"url":"{{custom_attribute.${plan}}}"}}}"#
            var dispatches: [String] = []
            for (path, body) in [
                ("/campaigns/trigger", Self.campaign(60)), ("/canvas/trigger", canvas), ("/messages", messages),
            ] {
                let (status, json) = await api.post("\(path)/schedule/create", body)
                #expect(status == 201, "\(json)")
                #expect(json.at("message") == "success")
                #expect(!json.at("schedule_id").text.isEmpty)
                dispatches.append(json.at("dispatch_id").text)
            }
            #expect(try await pass(59, clock, api) == 0)
            #expect(try urls(api, "ana").isEmpty)
            #expect(try await pass(1, clock, api) == 3)
            #expect(try Set(urls(api, "ana")) == ["gold/sale", "s", "gold"])
            let steps = try api.messageSteps(of: "ana").map(\.step)
            #expect(Set(steps.filter { $0.stage == .sent }.compactMap(\.dispatch)) == Set(dispatches))
            for sent in steps where sent.stage == .sent {
                let cause = try #require(try sent.cause.flatMap { try api.log.event(at: $0) })
                #expect(cause.event.kind == .messageScheduled)
            }
            #expect(try await pass(86_400, clock, api) == 0)
            #expect(try urls(api, "ana").count == 3)
            #expect(try ends(api) == ["sent", "sent", "sent"])
        }
    }

    @Test("A time that is over is due at once; one of an hour ago in local time, or too far ahead, is refused")
    func times() async throws {
        try await withClock { (api, clock) async throws in
            #expect(await api.post("/campaigns/trigger/schedule/create", Self.campaign(-60)).status == 201)
            #expect(try urls(api, "ana") == ["gold/sale"])
            let last = try api.log.lastPosition()
            for schedule in [
                #"{"time":"soon"}"#, "{}", #"{"time":17}"#, #"{"time":"\#(Self.time(-3600))","in_local_time":true}"#,
                #"{"time":"\#(Self.time(91 * 86_400))"}"#,
            ] {
                let body = #"{"campaign_id":"spring","broadcast":true,"schedule":\#(schedule)}"#
                let (status, json) = await api.post("/campaigns/trigger/schedule/create", body)
                #expect(status == 400)
                #expect(json.at("message") == "Bad Request", "\(json)")
                #expect(json.at("place") == "schedule.time")
            }
            #expect(
                await api.post("/campaigns/trigger/schedule/create", Self.campaign(0, #""broadcast":1"#)).status == 400)
            let none = await api.post(
                "/campaigns/trigger/schedule/create", #"{"campaign_id":"spring","broadcast":true,"shedule":{}}"#)
            #expect(none.status == 400)
            #expect(none.json.at("remedy").text.contains("'schedule'"), "\(none.json)")
            #expect(try api.log.lastPosition() == last)
        }
    }

    @Test("What is asked for local or optimal times is sent at the time, and the answer says so")
    func timings() async throws {
        try await withClock { (api, clock) async throws in
            for flag in ["in_local_time", "at_optimal_time"] {
                let (status, json) = await api.post(
                    "/campaigns/trigger/schedule/create",
                    #"{"campaign_id":"spring","broadcast":true,"trigger_properties":{"what":"x"},"#
                        + #""schedule":{"time":"\#(Self.time(60))","\#(flag)":true}}"#)
                #expect(status == 201)
                #expect(json.at("errors.0").text.hasPrefix("schedule.\(flag): not simulated"), "\(json)")
            }
            let listed = await api.get("/messages/scheduled_broadcasts", [("end_time", Self.time(60))]).json
            let types = (listed.at("scheduled_broadcasts").asArray ?? []).map { $0.at("schedule_type").text }
            #expect(Set(types) == ["local_time_zones", "intelligent_delivery"])
            #expect(try await pass(60, clock, api) == 2)
            #expect(try urls(api, "ben") == ["silver/x", "silver/x"])
        }
    }

    @Test("Another time and other messages count; a deleted one is never sent")
    func changes() async throws {
        try await withClock { (api, clock) async throws in
            func body(_ url: String, _ target: String, _ time: Int64) -> String {
                #"{\#(target),"schedule":{"time":"\#(Self.time(time))"},"messages":{"webhook":{"url":"\#(url)"}}}"#
            }
            for (user, target) in [
                ("ana", #""external_user_ids":["ana"]"#), ("ben", #""broadcast":true,"segment_id":"gold""#),
            ] {
                let before = try urls(api, "ana").count
                let now = Int64(before) * 600
                let id = await api.post(
                    "/messages/schedule/create", body("old", target, now + 60)
                ).json.at("schedule_id").text
                let later = Self.time(now + 600)
                let moved = await api.post(
                    "/messages/schedule/update", #"{"schedule_id":"\#(id)","schedule":{"time":"\#(later)"}}"#)
                #expect(moved.status == 201)
                #expect(moved.json.at("message") == "success")
                let url = #"{"webhook":{"url":"new {{custom_attribute.${plan}}}"}}"#
                let changed = await api.post(
                    "/messages/schedule/update", #"{"schedule_id":"\#(id)","messages":\#(url)}"#)
                #expect(changed.status == 201, "\(changed.json)")
                let bad = await api.post(
                    "/messages/schedule/update", #"{"schedule_id":"\#(id)","messages":{"webhook":{}}}"#)
                #expect(bad.status == 400)
                #expect(try await pass(300, clock, api) == 0, "\(user)")
                #expect(try await pass(300, clock, api) == 1)
                #expect(try urls(api, "ana").last == "new gold")
                #expect(try urls(api, "ana").count == before + 1)
            }
            let far = Int64(86_400)
            for (path, key) in [("/campaigns/trigger", "campaign_id"), ("/messages", "x")] {
                let created =
                    path == "/messages"
                    ? body("u", #""external_user_ids":["ana"]"#, far)
                    : Self.campaign(far)
                let id = await api.post("\(path)/schedule/create", created).json.at("schedule_id").text
                let delete = #"{"schedule_id":"\#(id)","\#(key)":"spring"}"#
                #expect(await api.post("\(path)/schedule/delete", delete).status == 201)
                let again = await api.post("\(path)/schedule/delete", delete)
                #expect(again.status == 400)
                #expect(again.json.at("message") == "Invalid Schedule ID")
            }
            #expect(try await pass(2 * far, clock, api) == 0)
            #expect(try ends(api) == ["sent", "sent", "deleted", "deleted"])
        }
    }

    @Test("A schedule belongs to its path and to its campaign")
    func paths() async throws {
        try await withClock { (api, clock) async throws in
            let id = await api.post("/campaigns/trigger/schedule/create", Self.campaign(60)).json.at("schedule_id").text
            for (path, more, message) in [
                ("/messages", "", "Invalid Schedule ID"),
                ("/canvas/trigger", #","canvas_id":"welcome""#, "Invalid Schedule ID"),
                ("/campaigns/trigger", "", "Invalid Campaign ID"),
                ("/campaigns/trigger", #","campaign_id":"sprong""#, "Invalid Campaign ID"),
            ] {
                let (status, json) = await api.post("\(path)/schedule/delete", #"{"schedule_id":"\#(id)"\#(more)}"#)
                #expect(status == 400)
                #expect(json.at("message").text == message, "\(path)")
            }
            #expect(try await pass(60, clock, api) == 1)
        }
    }

    @Test("Scheduled broadcasts are listed up to a time, with the names of the workspace file")
    func listed() async throws {
        try await withClock { (api, clock) async throws in
            for seconds in [300, 60] as [Int64] {
                _ = await api.post("/campaigns/trigger/schedule/create", Self.campaign(seconds, #""broadcast":true"#))
            }
            _ = await api.post("/campaigns/trigger/schedule/create", Self.campaign(60))
            func list(_ seconds: Int64) async -> AttributeValue {
                await api.get("/messages/scheduled_broadcasts", [("end_time", Self.time(seconds))]).json
            }
            #expect(await list(59).at("scheduled_broadcasts").count == 0)
            let json = await list(300)
            #expect(json.at("message") == "success")
            #expect(json.at("scheduled_broadcasts").count == 2)
            let first = json.at("scheduled_broadcasts.0")
            #expect(first.at("name") == "Spring")
            #expect(first.at("id") == "spring")
            #expect(first.at("type") == "Campaign")
            #expect(first.at("tags.0") == "sale")
            #expect(first.at("next_send_time").text == "2027-01-15T08:01:00.000Z")
            #expect(first.at("schedule_type") == "UTC")
            #expect(await api.get("/messages/scheduled_broadcasts").status == 400)
            #expect(try await pass(60, clock, api) == 2)
            #expect(await list(300).at("scheduled_broadcasts").count == 1)
        }
    }

    @Test("Attributes are applied when the send is scheduled, and a new user is made then")
    func attributes() async throws {
        try await withClock { (api, clock) async throws in
            let recipients =
                #""recipients":[{"external_user_id":"new","send_to_existing_only":false,"attributes":{"plan":"tin"}},"#
                + #"{"external_user_id":"ana","attributes":{"plan":"bronze"},"trigger_properties":{"what":"own"}},"#
                + #"{"external_user_id":"nobody"}]"#
            let (status, json) = await api.post(
                "/campaigns/trigger/schedule/create", Self.campaign(60, recipients))
            #expect(status == 201)
            #expect(json.at("dropped.0.reason") == "unknown user")
            #expect(json.at("dropped.0.index") == 2)
            #expect(await api.export(#""external_ids":["new"]"#).at("0.custom_attributes.plan") == "tin")
            await api.track(#"{"external_id":"ana","plan":"iron"}"#, #"{"external_id":"nobody","plan":"late"}"#)
            #expect(try await pass(60, clock, api) == 1)
            #expect(try urls(api, "new") == ["tin/sale"])
            #expect(try urls(api, "ana") == ["iron/own"])
            #expect(try urls(api, "nobody").isEmpty)
        }
    }

    @Test("A person who is erased takes their part of the schedule, and the others get theirs")
    func erasure() async throws {
        try await withClock { (api, clock) async throws in
            let recipients = ["ana", "ben"].map {
                #"{"external_user_id":"\#($0)","trigger_properties":{"what":"secret-\#($0)"}}"#
            }
            _ = await api.post(
                "/campaigns/trigger/schedule/create",
                Self.campaign(60, #""recipients":[\#(recipients.joined(separator: ","))]"#))
            #expect(await api.post("/users/delete", #"{"external_ids":["ana"]}"#).json.at("deleted") == 1)
            let text = String(decoding: await api.answer(APIRequest(.get, "/v1/events")).body, as: UTF8.self)
            #expect(text.contains("secret-ben"))
            #expect(!text.contains("secret-ana"), "\(text)")
            #expect(try await pass(60, clock, api) == 1)
            #expect(try urls(api, "ben") == ["silver/secret-ben"])
        }
    }

    @Test("A schedule whose users are all gone ends, and so does one whose campaign is no longer declared")
    func gone() async throws {
        try await withClock { (api, clock) async throws in
            _ = await api.post("/campaigns/trigger/schedule/create", Self.campaign(60))
            _ = await api.post("/campaigns/trigger/schedule/create", Self.campaign(120, #""broadcast":true"#))
            _ = await api.post("/users/delete", #"{"external_ids":["ana"]}"#)
            #expect(try await pass(60, clock, api) == 1)
            let other = try api.under("campaigns: []")
            #expect(try await pass(60, clock, other) == 1)
            #expect(
                try ends(api) == ["no user of the request is known", "cannot be sent: Invalid Campaign ID"])
            #expect(try urls(api, "ben").isEmpty)
        }
    }

    @Test("A schedule that cannot be read now keeps no other one waiting, and waits itself")
    func failing() async throws {
        let clock = StoreClock()
        clock.set(to: Self.start)
        var options = LogOptions()
        options.now = { clock.now() }
        let folder = try TemporaryFolder.made(.damaged, prefix: "api")
        let api = try API(log: folder.open("store", options: options)).under(Self.yaml)
        await api.track(
            #"{"external_id":"ana","plan":"gold"}"#, #"{"external_id":"ben","plan":"silver"}"#,
            #"{"external_id":"cleo"}"#)
        for (user, seconds) in [("ana", 60), ("ben", 61)] as [(String, Int64)] {
            let body = Self.campaign(seconds, #""recipients":[{"external_user_id":"\#(user)"}]"#)
            #expect(await api.post("/campaigns/trigger/schedule/create", body).status == 201)
            // A part is looked for among as many events as the request may have stored.
            for number in 0..<3 { await api.track(#"{"external_id":"cleo","n":\#(number)}"#) }
        }
        let ana = try #require(try api.log.find(.externalID("ana")))
        let part = try #require(try api.log.history(of: ana.number).last)
        #expect(part.event.kind == .messageScheduled)
        // A send now: the states over the store have folded the parts before they are damaged.
        let now = #"{"campaign_id":"spring","recipients":[{"external_user_id":"cleo"}]}"#
        #expect(await api.post("/campaigns/trigger/send", now).status == 201)
        try api.log.environment.withWriteTransaction { transaction in
            try withNumberKey(part.position.rawValue) { key in
                try transaction.put(WritableTable(api.log.environment.tables.log), Array(key), [1, 2, 3])
            }
        }
        for seconds in [61, 0] as [Int64] {
            await #expect(throws: StorageError.self) { try await pass(seconds, clock, api) }
            #expect(try urls(api, "ben") == ["silver/sale"])
            #expect(try ends(api) == ["sent"])
        }
    }

    @Test("Merged users get one message, at the user who remains")
    func merged() async throws {
        try await withClock { (api, clock) async throws in
            _ = await api.post(
                "/campaigns/trigger/schedule/create",
                Self.campaign(60, #""recipients":[{"external_user_id":"ana"},{"external_user_id":"ben"}]"#))
            let merge = await api.post(
                "/users/merge",
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"ben"},"#
                    + #""identifier_to_keep":{"external_id":"ana"}}]}"#
            )
            #expect(merge.status == 202 || merge.status == 201, "\(merge.json)")
            #expect(try await pass(60, clock, api) == 1)
            #expect(try urls(api, "ana") == ["gold/sale"])
        }
    }

    @Test("A request under its key makes one schedule, and is answered the same")
    func keys() async throws {
        try await withClock { (api, clock) async throws in
            var request = APIRequest(
                .post, "/campaigns/trigger/schedule/create", body: Array(Self.campaign(60).utf8))
            request.idempotencyKey = "k"
            let first = await api.answer(request)
            #expect(await api.answer(request).body == first.body)
            #expect(try await pass(60, clock, api) == 1)
            #expect(await api.answer(request).body == first.body)
            #expect(try urls(api, "ana").count == 1)
        }
    }

    @Test("Processes that look at the same time send once, in parts too", arguments: [false, true])
    func processes(isBroadcast: Bool) async throws {
        try await withClock { (api, clock) async throws in
            let users = (0..<40).map { "p\($0)" }
            let objects = users.map { #"{"external_id":"\#($0)"}"# }.joined(separator: ",")
            _ = await api.post("/users/track", #"{"attributes":[\#(objects)]}"#)
            let text = Array(repeating: #""\#(String(repeating: "a", count: 60_000))""#, count: isBroadcast ? 5 : 1)
            let target =
                isBroadcast
                ? #""broadcast":true,"segment_id":"all""#
                : #""external_user_ids":[\#(users.map { #""\#($0)""# }.joined(separator: ","))]"#
            let yaml = "segments: [{id: all, name: All, users: all}]"
            let body =
                #"{\#(target),"schedule":{"time":"\#(Self.time(60))"},"#
                + #""messages":{"webhook":{"url":"u","body":[\#(text.joined(separator: ","))]}}}"#
            let created = try await api.under(yaml).post("/messages/schedule/create", body)
            #expect(created.status == 201, "\(created.json)")
            _ = clock.advance(byMicroseconds: 60_000_000)
            let processes = try (0..<4).map { _ in try api.under(yaml) }
            let sent = await withTaskGroup(of: Int.self) { group in
                for process in processes {
                    group.addTask {
                        for _ in 0..<5 { if let sent = try? await process.braze.sendDue(), sent > 0 { return sent } }
                        return 0
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(sent == 1)
            for user in users {
                let steps = try api.messageSteps(of: user).map(\.step.stage)
                #expect(steps.count { $0 == .sent } == 1, "\(user)")
            }
            #expect(try ends(api) == ["sent"])
        }
    }

    @Test("What was sent of a broadcast before the process died is not sent again")
    func halfDone() async throws {
        try await withClock { (api, clock) async throws in
            let body =
                #"{"broadcast":true,"segment_id":"all","schedule":{"time":"\#(Self.time(60))"},"#
                + #""messages":{"webhook":{"url":"u"}}}"#
            let everyone = try api.under("segments: [{id: all, name: All, users: all}]")
            _ = await everyone.post("/messages/schedule/create", body)
            let schedule = try #require(try everyone.braze.schedules.current().waiting.values.first)
            let ana = try #require(try api.log.find(.externalID("ana")))
            var builder = api.log.prepare()
            try builder.addOfSystem(schedule.step(sentTo: ana.number))
            _ = try await api.store.commit(builder.finish())
            #expect(try await pass(60, clock, everyone) == 1)
            #expect(try urls(api, "ana").isEmpty)
            #expect(try urls(api, "ben") == ["u"])
        }
    }
}
