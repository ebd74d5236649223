import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Blame and devices as of a moment")
struct PastDeviceTests {
    /// 2027-01-15T08:00:00Z, for all of a test: so ages are the same when they are asked for later.
    private static let now = Timestamp(rawValue: 1_800_000_000_000_000)

    private func withStillClock(_ body: (API) async throws -> Void) async throws {
        var options = LogOptions()
        options.now = { Self.now }
        options.indexLag = 7
        try await withAPI(options, body)
    }

    private static let questions: [(path: String, query: [(name: String, value: String)])] = [
        ("/v1/devices", []), ("/v1/devices/phone", []), ("/v1/devices/tablet", []), ("/v1/devices/phone/pushes", []),
        ("/v1/devices/phone/messages", []), ("/v1/blame", [("user", "jane")]),
        ("/v1/blame", [("user", "jane"), ("log", "true")]), ("/v1/blame", [("user", "jane"), ("field", "level")]),
        ("/v1/blame", [("user", "jane"), ("field", "event:played"), ("log", "true")]),
    ]

    /// The answers to all questions, as of `position` or now, without the note for people.
    private func answers(_ api: API, asOf position: Position? = nil) async -> [String] {
        let moment = position.map { [(name: "as_of", value: "\($0.rawValue)")] } ?? []
        var answers: [String] = []
        for (path, query) in Self.questions {
            let (status, json) = await api.get(path, query + moment)
            guard status == 200, case .object(let members) = json else {
                answers.append("\(path): \(status)")
                continue
            }
            answers.append("\(path): \(AttributeValue.object(members.filter { $0.key.text != "note" }).json)")
        }
        return answers
    }

    private static let messages = """
        {"messages":[{"id":"hi","message":"Hi","trigger_conditions":[{"type":"custom_event","event_name":"played"}]},\
        {"id":"ho","message":"Ho","trigger_conditions":[{"type":"open"}]}]}
        """

    /// One request of a story; some of them are refused.
    private static func step(_ random: inout SeededGenerator, last: UInt64) -> (path: String, body: String) {
        let device = ["phone", "phone", "tablet"][random.next(below: 3)]
        let level = random.next(below: 9)
        let position = random.next(below: Int(max(1, last))) + 1
        let pushes = [
            #"{"action":"receive","message":"spring","payload":{"aps":{"alert":"Hi"},"ab":{}}}"#,
            #"{"action":"open"}"#, #"{"action":"dismiss"}"#, #"{"action":"expand"}"#,
        ]
        let steps: [(String, String)] = [
            ("/v1/log/attributes", #"{"user":"jane","attributes":{"level":\#(level),"address":{"no":\#(level)}}}"#),
            ("/v1/log/event", #"{"device":"\#(device)","name":"played"}"#),
            ("/v1/log/event", #"{"user":"jane","name":"played","time":"2027-01-0\#(level + 1)T00:00:00Z"}"#),
            (
                "/v1/save/attributes",
                #"{"user":"jane","device":"\#(device)","process":"Push","attributes":{"level":\#(level)}}"#
            ),
            ("/v1/save/event", #"{"user":"jane","device":"\#(device)","name":"played"}"#),
            ("/v1/devices/\(device)/launch", "{}"), ("/v1/devices/\(device)/launch", #"{"die_after":"handed"}"#),
            ("/v1/devices/\(device)/leave", "{}"), ("/v1/devices/\(device)/send", "{}"),
            ("/v1/devices/\(device)/settings", #"{"online":\#(level < 4)}"#),
            ("/v1/devices/\(device)/settings", #"{"messages":{"minimum_interval":0}}"#),
            ("/v1/devices/phone/push", pushes[level % pushes.count]), ("/v1/messages", Self.messages),
            ("/v1/devices/phone/messages", #"{"action":"close"}"#),
            ("/v1/devices/\(device)/change-user", #"{"user":"\#(level < 6 ? "jane" : "bo")"}"#),
            ("/v1/devices/\(device)/\(level < 2 ? "remove" : "log-out")", "{}"),
            ("/v1/pending/discard", #"{"device":"\#(device)","reason":"a test"}"#),
            ("/v1/void", #"{"position":\#(position),"reason":"a test"}"#),
            ("/v1/void", #"{"position":\#(position),"reason":"a test"}"#),
            ("/v1/unvoid", #"{"position":\#(position),"reason":"a test"}"#),
        ]
        return steps[random.next(below: steps.count)]
    }

    @Test(
        "What is asked as of a position is what was answered right after it",
        arguments: Thoroughness.seeds(short: 3, full: 40))
    func story(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await withStillClock { api in
            #expect(await api.post("/v1/log/event", #"{"user":"jane","name":"played"}"#).status == 200)
            var seen: [(position: Position, step: String, answers: [String])] = []
            for _ in 0..<50 {
                let last = try api.log.lastPosition()
                let (path, body) = Self.step(&random, last: last.rawValue)
                _ = await api.post(path, body)
                let position = try api.log.lastPosition()
                if position > last { seen.append((position, "\(path) \(body)", await answers(api))) }
            }
            #expect(seen.count > 10, "seed \(seed)")
            for (position, step, expected) in seen {
                let found = await answers(api, asOf: position)
                #expect(found == expected, "seed \(seed), position \(position.rawValue), after \(step)")
            }
        }
    }

    @Test("A device of which nothing was known yet is unknown then, and one of which nothing is known is unknown")
    func unknown() async throws {
        try await withStillClock { api in
            #expect(await api.post("/v1/log/event", #"{"user":"jane","name":"played"}"#).status == 200)
            let first = try api.log.lastPosition().rawValue
            #expect(await api.post("/v1/devices/phone/launch", "{}").status == 200)
            for part in ["", "/pushes", "/messages"] {
                let then = await api.get("/v1/devices/phone\(part)", [("as_of", "\(first)")])
                #expect(then.status == 404 && then.json.at("code") == "unknown_device", "\(then.json.json)")
                #expect(then.json.at("error") == "Nothing had happened on this device by then.")
                let never = await api.get("/v1/devices/watch\(part)", [("as_of", "\(first)")])
                #expect(never.status == 404 && never.json.at("error") != then.json.at("error"))
                let wrong = await api.get("/v1/devices/phone\(part)", [("as_of", "noon")])
                #expect(wrong.status == 400 && wrong.json.at("place") == "as_of")
            }
            #expect(await api.get("/v1/devices", [("as_of", "\(first)")]).json.at("total") == 0)
        }
    }

    @Test("A device that a user only logged on is not listed, now or then")
    func onlyLogged() async throws {
        try await withStillClock { api in
            _ = await api.post("/v1/devices/phone/launch", "{}")
            let logged = await api.post("/v1/log/event", #"{"user":"jane","device":"tv","name":"played"}"#)
            #expect(logged.status == 200, "\(logged.json.json)")
            let now = await api.get("/v1/devices").json
            let moments: [[(name: String, value: String)]] = [
                [("as_of", "now")], [("as_of", "now"), ("order", "occurred")],
            ]
            for moment in moments {
                let then = await api.get("/v1/devices", moment).json
                #expect(then.at("total") == now.at("total"), "\(moment): \(then.json)")
                #expect(then.at("devices.0.device") == "phone" && then.at("devices").count == now.at("devices").count)
                let tv = await api.get("/v1/devices/tv", moment).status
                #expect(tv == 404)
            }
            #expect(await api.get("/v1/devices/tv").status == 404)
        }
    }

    @Test("Events of devices that are too many to be put in order are refused with what to ask instead")
    func tooManyToOrder() async throws {
        try await withStillClock { api in
            for device in ["phone", "tablet"] { _ = await api.post("/v1/devices/\(device)/launch", "{}") }
            let log = api.log.reader
            let past = try log.past.history(at: .now, order: .occurred)
            let all = try log.deviceStates(in: past)
            #expect(all.keys.sorted() == ["phone", "tablet"])
            let refusal = #expect(throws: ReadError.self) { try log.deviceStates(in: past, mostOrdered: 1) }
            let apiError = APIError(try #require(refusal))
            #expect(apiError.status == 413 && apiError.code == "too_large" && apiError.remedy.contains("one device"))
            // The order of recording needs none.
            let recorded = try log.past.history(at: .now)
            #expect(try log.deviceStates(in: recorded, mostOrdered: 1).count == 2)
        }
    }

    @Test("By occurrence, the settings of a device are those that it had by then, whenever they were recorded")
    func occurred() async throws {
        try await withStillClock { api in
            for (day, isOnline) in [(10, false), (12, true)] {
                let body = #"{"online":\#(isOnline),"time":"2027-01-\#(day)T00:00:00Z"}"#
                #expect(await api.post("/v1/devices/phone/settings", body).status == 200)
            }
            let then: [(name: String, value: String)] = [("as_of", "2027-01-11"), ("order", "occurred")]
            let device = await api.get("/v1/devices/phone", then)
            #expect(device.status == 200 && device.json.at("settings.online") == false, "\(device.json.json)")
            #expect(await api.get("/v1/devices/phone").json.at("settings.online") == true)
            // By recording, nothing was known of it.
            #expect(await api.get("/v1/devices/phone", [("as_of", "2027-01-11")]).status == 404)
        }
    }

    @Test("By occurrence, the user of a device has the IDs that they had before a merge that came later")
    func idsBeforeMerge() async throws {
        try await withStillClock { api in
            let early = "2027-01-10T00:00:00Z"
            for user in ["jane", "bo"] {
                let event = #"{"user":"\#(user)","name":"played","time":"2027-01-09T00:00:00Z"}"#
                #expect(await api.post("/v1/log/event", event).status == 200)
            }
            let change = await api.post("/v1/devices/phone/change-user", #"{"user":"jane","time":"\#(early)"}"#)
            #expect(change.status == 200, "\(change.json.json)")
            let save = #"{"user":"jane","device":"phone","name":"played","time":"\#(early)"}"#
            #expect(await api.post("/v1/save/event", save).status == 200)
            let merge = #"{"identifier_to_merge":{"external_id":"jane"},"identifier_to_keep":{"external_id":"bo"}}"#
            #expect(await api.post("/users/merge", #"{"merge_updates":[\#(merge)]}"#).status == 202)
            let then: [(name: String, value: String)] = [("as_of", "2027-01-11"), ("order", "occurred")]
            for path in ["/v1/devices", "/v1/devices/phone", "/v1/pending"] {
                let json = await api.get(path, then).json
                let device = path == "/v1/devices/phone" ? json : json.at("devices.0")
                #expect(device.at("user.id") == "jane" && device.at("user.number") == 1, "\(path): \(json.json)")
                let now = await api.get(path).json
                let present = path == "/v1/devices/phone" ? now : now.at("devices.0")
                #expect(present.at("user.id") != "jane", "\(path): \(now.json)")
            }
        }
    }

    // MARK: - The log of blame

    /// Nine writes of a level, of which each is late by an hour more, and nine games.
    private func withLevels(_ body: (API) async throws -> Void) async throws {
        try await withStillClock { api in
            for level in 1...9 {
                let time = Timestamp(rawValue: Self.now.rawValue - Int64(level) * 3_600_000_000).rfc3339()
                for (path, what) in [
                    ("attributes", #""attributes":{"level":\#(level)}"#), ("event", #""name":"played""#),
                ] {
                    let answer = await api.post("/v1/log/\(path)", #"{"user":"jane",\#(what),"time":"\#(time)"}"#)
                    #expect(answer.status == 200, "\(answer.json.json)")
                }
            }
            try await body(api)
        }
    }

    private static let subjects = [(field: "level", list: "fields"), (field: "event:played", list: "custom_events")]

    @Test("Pages of a log fit together in both directions", arguments: subjects)
    func pages(field: String, list: String) async throws {
        try await withLevels { api in
            let blame: [(name: String, value: String)] = [("user", "jane"), ("field", field), ("log", "true")]
            func log(_ query: (name: String, value: String)...) async throws -> AttributeValue {
                let (status, json) = await api.get("/v1/blame", blame + query)
                try #require(status == 200, "\(json.json)")
                return json.at("\(list).0")
            }
            func positions(_ value: AttributeValue) -> [AttributeValue] {
                (0..<value.at("log").count).map { value.at("log.\($0).position") }
            }
            let whole = try await log()
            #expect(whole.at("log").count == 9 && whole.at("log_total") == 9 && whole.at("log_more") == false)
            #expect((0..<9).map { whole.at("log.\($0).number") } == (1...9).map { AttributeValue.int(Int64($0)) })
            for isBackward in [false, true] {
                let all = isBackward ? Array(positions(whole).reversed()) : positions(whole)
                for limit in 1...10 {
                    var found: [AttributeValue] = []
                    var after: [(name: String, value: String)] = []
                    var more = true
                    while more {
                        let (status, json) = await api.get(
                            "/v1/blame",
                            blame + [("limit", "\(limit)"), ("reverse", "\(isBackward)")] + after)
                        try #require(status == 200 && found.count < 9, "\(json.json)")
                        let page = json.at("\(list).0")
                        #expect(page.at("set") == whole.at("set") && page.at("log_total") == 9)
                        found += positions(page)
                        more = page.at("log_more") == true
                        let last = page.at("log.\(page.at("log").count - 1).number")
                        after = [("after", last.json)]
                    }
                    #expect(found == all, "limit \(limit), backward \(isBackward)")
                }
            }
            let none = try await log(("after", "99"))
            #expect(none.at("log").count == 0 && none.at("log_total") == 9 && none.at("log_more") == false)
        }
    }

    @Test("A write between two pages gets a later number", arguments: subjects)
    func growing(field: String, list: String) async throws {
        try await withLevels { api in
            let blame: [(name: String, value: String)] = [
                ("user", "jane"), ("field", field), ("log", "true"), ("limit", "4"), ("reverse", "true"),
            ]
            let first = await api.get("/v1/blame", blame).json.at("\(list).0.log")
            #expect((0..<4).map { first.at("\($0).number") } == [9, 8, 7, 6])
            _ = await api.post("/v1/log/attributes", #"{"user":"jane","attributes":{"level":99}}"#)
            _ = await api.post("/v1/log/event", #"{"user":"jane","name":"played"}"#)
            let second = await api.get("/v1/blame", blame + [("after", "6")]).json.at("\(list).0")
            #expect((0..<4).map { second.at("log.\($0).number") } == [5, 4, 3, 2])
            #expect(second.at("log_total") == 10 && second.at("log_more") == true)
        }
    }

    @Test("Parts of a log without a log are refused, as are numbers that no page can have")
    func refusedPages() async throws {
        try await withLevels { api in
            for (name, value) in [("limit", "3"), ("after", "3"), ("reverse", "true")] {
                let answer = await api.get("/v1/blame", [("user", "jane"), (name, value)])
                #expect(answer.status == 400 && answer.json.at("place") == .string(name), "\(answer.json.json)")
                #expect(answer.json.at("remedy").text.contains("log=true"))
            }
            for (name, value) in [("limit", "0"), ("limit", "100001"), ("after", "x"), ("order", "occurred")] {
                let answer = await api.get("/v1/blame", [("user", "jane"), ("log", "true"), (name, value)])
                #expect(answer.status == 400 && answer.json.at("place") == .string(name), "\(answer.json.json)")
            }
        }
    }

    @Test("Each write says by how many seconds it came late")
    func late() async throws {
        try await withLevels { api in
            let blame = await api.get("/v1/blame", [("user", "jane"), ("log", "true")]).json
            #expect(blame.at("fields.0.set.late_s") == 32400.0, "\(blame.at("fields.0.set").json)")
            #expect(blame.at("fields.0.log.0.late_s") == 3600.0)
            #expect(blame.at("custom_events.0.log.1.late_s") == 7200.0)
        }
    }

    @Test("A field that came later was unknown then, and what waited then is told as it was")
    func missesThen() async throws {
        try await withStillClock { api in
            _ = await api.post("/v1/log/event", #"{"user":"jane","name":"played"}"#)
            let first = try api.log.lastPosition().rawValue
            _ = await api.post("/v1/save/attributes", #"{"user":"jane","process":"Push","attributes":{"level":1}}"#)
            let saved = try api.log.lastPosition().rawValue
            _ = await api.post("/v1/devices/phone/settings", #"{"sdk_enabled":false}"#)
            func blame(_ position: UInt64) async -> (status: Int, json: AttributeValue) {
                await api.get("/v1/blame", [("user", "jane"), ("field", "level"), ("as_of", "\(position)")])
            }
            let never = await blame(first)
            #expect(never.status == 404 && never.json.at("code") == "unknown_field")
            #expect(never.json.at("error").text.hasPrefix("By then the user had never had"), "\(never.json.json)")
            let waiting = await blame(saved)
            #expect(waiting.status == 404 && waiting.json.at("error").text.contains("waits on phone for a launch"))
            let early = await blame(0)
            #expect(early.status == 404 && early.json.at("place") == "as_of", "\(early.json.json)")
        }
    }

    @Test("A note about the time of an import names no parameter that blame does not have")
    func note() async throws {
        try await withStillClock { api in
            let line = #"{"kind":"custom_event","user":"jane","name":"a","time":"2026-06-01T00:00:00Z"}"#
            #expect(await api.post("/v1/import", #"{"name":"n","lines":[\#(line)]}"#).status == 200)
            let then: [(name: String, value: String)] = [("user", "jane"), ("as_of", "2026-07-01")]
            let blame = await api.get("/v1/blame", then)
            #expect(blame.status == 404 && !blame.json.at("remedy").text.contains("occurred"), "\(blame.json.json)")
            #expect(await api.get("/v1/profile", then).json.at("remedy").text.contains("occurred"))
        }
    }

    // MARK: - Who did it

    @Test("What happens on a device has no actor, and the refusal says so")
    func actor() async throws {
        try await withStillClock { api in
            for path in [
                "launch", "devices/phone/launch", "devices/phone/leave", "devices/phone/settings", "devices/phone/send",
                "devices/phone/push", "devices/phone/messages", "devices/phone/log-out",
            ] {
                let answer = await api.post("/v1/\(path)", #"{"actor":"ops"}"#)
                #expect(answer.status == 400 && answer.json.at("place") == "actor", "\(path): \(answer.json.json)")
                #expect(answer.json.at("remedy").text.contains("keeps no actor"), "\(path)")
            }
            let last = try api.log.lastPosition()
            #expect(last == .start)
        }
    }
}
