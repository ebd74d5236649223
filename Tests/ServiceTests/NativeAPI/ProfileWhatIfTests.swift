import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogNativeAPI

@Suite("GET /v1/whatif/profiles")
struct ProfileWhatIfTests {
    private func withAPI(_ body: (API) async throws -> Void) async throws {
        let folder = TemporaryFolder(prefix: "api")
        var options = LogOptions()
        options.now = { People.now }
        let log = try folder.open(options: options)
        try await body(API(log: log))
    }

    private func whatIf(_ api: API, _ query: (String, String)...) async -> (status: Int, json: AttributeValue) {
        await api.get("/v1/whatif/profiles", query.map { (name: $0.0, value: $0.1) })
    }

    @Test("Who differs, in which fields, and some of them with both values")
    func answer() async throws {
        try await withAPI { api in
            await api.track(#"{"external_id":"ana","level":3,"plan":"gold"}"#, #"{"external_id":"bo","level":1}"#)
            await api.track(#"{"external_id":"ana","level":7}"#)
            let (status, json) = await whatIf(
                api, ("without", "event:2"), ("correct", #"5={"attributes":{"level":8,"nivel":1}}"#), ("sample", "1"))
            #expect(status == 200 && json.at("users") == 1 && json.at("changed") == 1 && json.at("lost") == 1)
            #expect(json.at("complete") == true && json.at("position") == 5 && json.at("entered") == .null)
            #expect(json.at("samples.0.user.id") == "ana")
            #expect(json.at("samples.0.changes.0.field") == "level" && json.at("samples.0.changes.0.before") == 7)
            #expect(json.at("samples.0.changes.0.after") == 8 && json.at("samples.0.changes.1.field") == "nivel")
            #expect(json.at("fields.2.field") == "plan" && json.at("fields.2.lost") == 1)
            let all = await whatIf(api, ("without", "name:level"), ("where", "custom.level >= 3")).json
            #expect(all.at("users") == 2 && all.at("changed") == 2 && all.at("left") == 1 && all.at("entered") == 0)
            let one = await whatIf(api, ("without", "name:level"), ("user", "bo")).json
            #expect(one.at("users") == 1 && one.at("samples.0.user.id") == "bo")
            #expect(await whatIf(api, ("without", "source:import")).json.at("changed") == 0)
            let last = try api.log.lastPosition()
            #expect(last.rawValue == 5)
        }
    }

    @Test(
        "Who enters and leaves is who does so when the event is void", arguments: Thoroughness.seeds(short: 2, full: 20)
    )
    func condition(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await withAPI { api in
            var people = People()
            for _ in 0..<80 { try await people.act(api, &random) }
            let conditions = [
                "events.seen.count >= 2 in 30d", "events.seen.count >= 1 in 10d", "events.done.count >= 1 in 20d",
                "events.seen.count >= 1 and not events.done.count >= 1 in 7d",
                "purchases.p.count >= 1 in 20d", "exists(custom.made)", #"country = "DE""#, "last_seen > 10d ago",
            ]
            for event in try api.log.events(from: .start, limit: 10_000).events {
                guard case .content = event.event.kind.role, random.next(below: 3) == 0 else { continue }
                let position = event.position.rawValue
                var found: [AttributeValue] = []
                for condition in conditions {
                    found.append(await whatIf(api, ("without", "event:\(position)"), ("where", condition)).json)
                }
                let before = await ids(api, conditions)
                let body = #"{"position":\#(position),"reason":"a test"}"#
                #expect(await api.post("/v1/void", body).status == 200)
                let after = await ids(api, conditions)
                #expect(await api.post("/v1/unvoid", body).status == 200)
                for (index, condition) in conditions.enumerated() {
                    let entered = after[index].subtracting(before[index]).count
                    let left = before[index].subtracting(after[index]).count
                    #expect(
                        found[index].at("entered") == .int(Int64(entered)), "seed \(seed), \(position): \(condition)")
                    #expect(found[index].at("left") == .int(Int64(left)), "seed \(seed), \(position): \(condition)")
                }
            }
        }
    }

    @Test("A what-if that stops in time goes on at its cursor, in the history up to the same position")
    func cursor() async throws {
        try await withAPI { api in
            for number in 1...30 { await api.track(#"{"external_id":"u\#(number)","level":\#(number)}"#) }
            let question: [(name: String, value: String)] = [
                ("without", "name:level"), ("where", "custom.level >= 11"), ("sample", "0"),
            ]
            let whole = await api.get("/v1/whatif/profiles", question).json
            #expect(whole.at("complete") == true && whole.at("next") == .null && whole.at("left") == 20)
            #expect(whole.at("reached_user_number") == 30 && whole.at("total") == 30)
            let end = try #require(Int64(whole.at("position").json))
            for number in 31...40 { await api.track(#"{"external_id":"u\#(number)","level":\#(number)}"#) }
            let rest = await api.get("/v1/whatif/profiles", question + [("after", "12@\(end)")]).json
            #expect(rest.at("position") == .int(end) && rest.at("users") == 18 && rest.at("left") == 18, "\(rest)")
            #expect(rest.at("reached_user_number") == 30 && rest.at("total") == 30)
            let none = await api.get("/v1/whatif/profiles", question + [("after", "30@\(end)")]).json
            #expect(none.at("users") == 0 && none.at("complete") == true, "\(none)")
            // A budget that is too small compares no user: the next one is larger.
            var (budget, left, after) = (1, Int64(0), [(name: String, value: String)]())
            var next: String?
            while true {
                let query = question + [("budget_ms", "\(budget)")] + after
                let (status, json) = await api.get("/v1/whatif/profiles", query)
                try #require(status == 200, "\(json.json)")
                if case .int(let count) = json.at("left") { left += count }
                if json.at("complete") == true { break }
                #expect(json.at("next").text.hasPrefix("\(json.at("reached_user_number").json)@"), "\(json.json)")
                after = [("after", json.at("next").text)]
                next = json.at("next").text
                budget *= 2
            }
            #expect(left == 30)
            // A budget of a millisecond may have been enough.
            guard let next else { return }
            let others: [[(name: String, value: String)]] = [
                [("without", "name:level")], [("without", "name:level"), ("where", "custom.level >= 12")],
                [("without", "name:level"), ("where", "custom.level >= 11"), ("user", "u1")],
                [("without", "user:u1"), ("where", "custom.level >= 11")],
            ]
            for other in others {
                let answer = await api.get("/v1/whatif/profiles", other + [("after", next)])
                #expect(answer.status == 400 && answer.json.at("place") == "after", "\(other): \(answer.json.json)")
                #expect(answer.json.at("error").text.contains("another question"))
            }
            let again = await api.get("/v1/whatif/profiles", question + [("after", next), ("seed", "7")])
            #expect(again.status == 200, "\(again.json.json)")
            let parts = next.split(separator: "@")
            try #require(parts.count == 3, "\(next)")
            let moved = "\(parts[0])@1-00000000@\(parts[2])"
            let foreign = await api.get("/v1/whatif/profiles", question + [("after", moved)])
            #expect(foreign.status == 409 && foreign.json.at("code") == "other_history", "\(foreign.json.json)")
        }
    }

    @Test("Windows count the events of the altered history")
    func windows() async throws {
        try await withAPI { api in
            for days in [40, 20, 5] {
                let time = People.daysAgo(days).rfc3339()
                let event = #"{"external_id":"ana","name":"seen","time":"\#(time)"}"#
                #expect(await api.post("/users/track", #"{"events":[\#(event)]}"#).status == 201)
            }
            let condition = ("where", "events.seen.count >= 2 in 30d")
            #expect(await whatIf(api, ("without", "event:4"), condition).json.at("left") == 1)
            #expect(await whatIf(api, ("correct", #"4={"name":"done"}"#), condition).json.at("left") == 1)
            #expect(await whatIf(api, ("without", "event:2"), condition).json.at("left") == 0)
        }
    }

    private func ids(_ api: API, _ conditions: [String]) async -> [Set<String>] {
        var ids: [Set<String>] = []
        for condition in conditions { ids.append(await self.ids(api, condition)) }
        return ids
    }

    private func ids(_ api: API, _ condition: String) async -> Set<String> {
        let users = await api.get("/v1/users", [("where", condition), ("limit", "1000")]).json.at("users")
        guard case .array(let users) = users else { return [] }
        return Set(users.map { $0.at("braze_id").text })
    }

    @Test(
        "What cannot be asked is refused with the next step",
        arguments: [
            ([("without", "event:1")], 400, "kind userCreated", "profilecli history"),
            ([("without", "event:99")], 400, "the log ends at position 4", "profilecli history"),
            ([("without", "event:x")], 400, "must be event: and a position", ""),
            ([("without", "x")], 400, "a word, a colon and a value", "event:17"),
            ([("without", "nmae:level")], 400, "an unknown word", "Did you mean name?"),
            ([("without", "name:levl")], 400, "never seen", "Did you mean level?"),
            ([("without", "source:imprt")], 400, "an unknown source", "Did you mean import?"),
            ([("without", "user:zed")], 404, "No user is known as zed", ""),
            ([("without", "device:zed")], 404, "Nothing is known", ""),
            ([("correct", "2")], 400, "must be a position", "17="),
            ([("correct", "2=x")], 400, "no valid JSON at byte 0", ""),
            ([("correct", "2=[]")], 400, "no JSON object", ""),
            ([("correct", "2={}")], 400, #"it has no "attributes""#, ""),
            ([("correct", #"2={"kind":"userCreated"}"#)], 400, "no content", ""),
            ([("correct", #"2={"kind":"nothing"}"#)], 400, "unknown", ""),
            ([("correct", #"2={"attributes":{"a":1},"atributes":{}}"#)], 400, "cannot change atributes", "attributes"),
            ([("correct", #"2={"attributes":{"a":1},"source":"app"}"#)], 400, "cannot change source", ""),
            ([("correct", #"2={"kind":"customEventSaved","name":"a"}"#)], 400, "stays so", ""),
            ([("correct", #"2={"attributes":{"":1}}"#)], 400, "cannot be", ""),
            ([("correct", #"4={"attributes":{"a":1}}"#)], 400, "was erased", ""),
            ([], 400, "`without` is missing", "event:17"),
            ([("without", "event:2"), ("where", "custom.levl > 1")], 400, "column 8", "level"),
            ([("without", "event:2"), ("budget_ms", "0")], 400, "whole number", ""),
            ([("without", "event:2"), ("after", "17")], 400, "`after` must be the `next` of an answer", ""),
            ([("without", "event:2"), ("after", "1@99")], 400, "is of a history", "Begin again without it."),
            ([("without", "event:2"), ("colour", "red")], 400, "colour", ""),
        ] as [([(String, String)], Int, String, String)])
    func refused(query: [(String, String)], status: Int, error: String, remedy: String) async throws {
        try await withAPI { api in
            await api.track(#"{"external_id":"ana","level":3}"#, #"{"external_id":"bo","level":1}"#)
            _ = await api.post("/v1/erase", #"{"user":"bo","reason":"asked to"}"#)
            var query = query
            if error.contains("ends at") {
                let last = try api.log.lastPosition()
                query = [("without", "event:\(last.rawValue + 90)")]
            }
            let answer = await api.get("/v1/whatif/profiles", query.map { (name: $0.0, value: $0.1) })
            #expect(answer.status == status, "\(query): \(answer.json)")
            let expected = error.contains("ends at") ? "the log ends at position" : error
            #expect(answer.json.at("error").text.contains(expected), "\(query): \(answer.json)")
            let next = answer.json.at("remedy").text
            #expect(remedy.isEmpty ? !next.isEmpty : next.contains(remedy), "\(query): \(answer.json)")
        }
    }

    @Test("A whole line of the history can be corrected")
    func wholeLine() async throws {
        try await withAPI { api in
            await api.track(#"{"external_id":"ana","level":3}"#)
            let event = await api.get("/v1/history", [("user", "ana")]).json.at("events.1")
            let text = event.json.replacing(#""level":3"#, with: #""level":4"#)
            let (status, json) = await whatIf(api, ("correct", "2=\(text)"))
            #expect(status == 200 && json.at("samples.0.changes.0.after") == 4, "\(json.json)")
        }
    }

    @Test("The protocol folds what the store folds", arguments: Thoroughness.seeds(short: 2, full: 20))
    func protocolFolds(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await withAPI { api in
            var people = People()
            for _ in 0..<80 { try await people.act(api, &random) }
            var sender = try FoldProtocol.Sender(api.log)
            var receiver = FoldProtocol.Receiver()
            func answers(_ bytes: [UInt8]) throws -> [[UInt8]] {
                try bytes.split(separator: 10).compactMap { try receiver.answer(to: Array($0)) }
            }
            #expect(try answers(sender.opening()).isEmpty)
            for user in try api.log.users(limit: 100) {
                var answer: [UInt8] = []
                let profile = try sender.send(user.number, at: user.version) { answer += try answers($0).joined() }
                let folded = try JSON.parse(answer)
                #expect(folded.at("profile") == profile, "seed \(seed)")
                #expect(folded.at("user") == .int(Int64(user.number.rawValue)))
                #expect(FoldProtocol.changes(from: profile, to: folded.at("profile")).isEmpty)
            }
        }
    }
}
