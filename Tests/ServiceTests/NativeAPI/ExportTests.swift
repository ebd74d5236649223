import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogNativeAPI
@testable import ProfileLogRequests

@Suite("Export for analysis")
struct ExportTests {
    /// All rows, in pages of random sizes, with what `between` does between two pages.
    private func rows(
        _ api: API, _ query: [(name: String, value: String)], _ random: inout SeededGenerator,
        between: () async throws -> Void = {}
    ) async throws -> [AttributeValue] {
        var (rows, next): ([AttributeValue], AttributeValue) = ([], 0)
        var query = query
        while true {
            let page = [("after", next.json), ("limit", "\(random.next(below: 9) + 1)")]
            let (status, json) = await api.get("/v1/export", query + page.map { (name: $0.0, value: $0.1) })
            try #require(status == 200, "\(json.json)")
            guard case .array(let found) = json.at("rows") else { return [] }
            rows += found
            if json.at("more") != true { return rows }
            next = json.at("next")
            query = query.filter { $0.name != "as_of" && $0.name != "time" }
            query += [("as_of", json.at("as_of").json), ("time", json.at("time").text)]
            try await between()
        }
    }

    private func with(_ row: AttributeValue, without keys: [Name]) -> AttributeValue {
        guard case .object(let members) = row else { return row }
        return .object(members.filter { !keys.contains($0.key) })
    }

    @Test(
        "Pages are the events and the profiles of one moment, and nothing of erased persons",
        arguments: Thoroughness.seeds(short: 3, full: 30))
    func bruteForce(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var options = LogOptions()
        options.now = { People.now }
        try await withAPI(options) { api in
            var people = People()
            for _ in 0..<80 { try await people.act(api, &random) }
            let asOf = Position(rawValue: UInt64(random.next(below: 60) + 20))
            let number = Int(asOf.rawValue)
            let voided = await api.post("/v1/void", #"{"position":\#(number),"reason":"test"}"#)
            // What was voided after the moment counted then.
            try #require(voided.status == 200 || voided.status == 400 || voided.status == 409)
            let erased = try #require(people.all.filter { !$0.isMerged }.randomElement(using: &random)).id
            #expect(await api.post("/v1/erase", #"{"user":"\#(erased)","reason":"asked"}"#).status == 200)
            let alive = people.all.filter { !$0.isMerged && $0.id != erased }

            let then = [(name: "as_of", value: "\(asOf.rawValue)")]
            let events = try await rows(api, [("what", "events")] + then, &random)
            guard case .array(let all) = await api.get("/v1/events", [("limit", "10000")]).json.at("events") else {
                return
            }
            let expected = try all.filter { event in
                guard case .int(let position) = event.at("position"), position <= number else { return false }
                guard case .int(let user) = event.at("user_number"), user > 0 else { return event.at("erased") != true }
                return try api.log.reader.users.find(UserNumber(rawValue: UInt64(user)))?.isErased == false
            }
            #expect(events.map { with($0, without: ["profile_number"]) } == expected, "seed \(seed), as of \(asOf)")
            for event in events where event.at("user_number") != 0 {
                guard case .int(let user) = event.at("user_number") else { continue }
                let profile = try api.log.reader.past.canonicalUser(
                    of: UserNumber(rawValue: UInt64(user)), in: PastHistory(to: asOf))
                #expect(event.at("profile_number") == .int(Int64(profile.rawValue)))
            }

            let profiles = try await rows(api, [("what", "profiles")] + then, &random) {
                // What is stored between two pages is of a later moment.
                await api.track(#"{"external_id":"new","level":9}"#)
            }
            for person in alive {
                let query = [("user", "braze:\(person.brazeID)")] + then.map { ($0.name, $0.value) }
                let (status, json) = await api.get("/v1/profile", query.map { (name: $0.0, value: $0.1) })
                let row = profiles.first { $0.at("braze_id").text == person.brazeID }
                #expect((status == 200) == (row != nil), "seed \(seed): \(person.id)")
                // With the IDs that they had then.
                guard let row else { continue }
                #expect(with(row, without: ["ids", "user"]) == with(json, without: ["ids", "user"]), "seed \(seed)")
            }
            #expect(!profiles.contains { $0.at("user.id").text == erased || $0.at("user.id").text == "new" })
        }
    }

    @Test("An export as one text has the rows of the pages; profiles can be chosen by a condition")
    func text() async throws {
        try await withAPI { api in
            for index in 0..<1_200 { await api.track(#"{"external_id":"u\#(index)","level":\#(index)}"#) }
            let query = [(name: "what", value: "profiles"), (name: "where", value: "custom.level >= 100")]
            let answer = await api.answer(
                APIRequest(.get, "/v1/export", query: query + [(name: "format", value: "jsonl")]))
            let stream = try #require(answer.stream)
            var text: [UInt8] = []
            while let part = try stream.next() { text += part }
            var random = SeededGenerator(seed: 1)
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
            #expect(lines.count == 1_100)
            let pages = try await rows(api, query, &random)
            #expect(try lines.map { try JSON.parse(String($0)) } == pages)
        }
    }

    @Test("Over HTTP, CSV comes as a stream with its header")
    func service() async throws {
        try await withService { service in
            _ = try await service.post("/v1/log/attributes", #"{"user":"ana","attributes":{"note":"a,\"b\"\n=1"}}"#)
            let reader = try RawConnection(service)
            reader.send("GET /v1/export?what=profiles&format=csv HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let text = reader.read(until: "\r\n0\r\n")
            #expect(text.contains("text/csv"), "\(text)")
            #expect(text.contains("number,user,braze_id,ids,version"))
            #expect(text.contains(#"1,ana,"#) && text.contains(#"{""note"":""a,\""b\""\n=1""}"#), "\(text)")
        }
    }

    @Test(
        "A wrong request is refused",
        arguments: [
            ("what=users", "what", "events or profiles"), ("what=events&where=true", "where", "is not for events"),
            ("what=profiles&kind=userCreated", "kind", "is not for profiles"),
            ("what=events&format=xml", "format", "jsonl"),
            ("what=events&as_of=99", "as_of", "beyond the log"), ("", "what", "missing"),
        ])
    func refused(query: String, place: String, reason: String) async throws {
        try await withAPI { api in
            await api.track(#"{"external_id":"a","level":3}"#)
            let pairs = query.split(separator: "&").map { $0.split(separator: "=").map(String.init) }
            let (status, json) = await api.get("/v1/export", pairs.map { (name: $0[0], value: $0[1]) })
            #expect(status == 400 && json.at("place").text == place, "\(json.json)")
            #expect(json.at("error").text.contains(reason), "\(json.json)")
        }
    }
}
