import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Retries of what changes who is who")
struct BrazeIdentityRetryTests {
    private func send(_ api: API, _ path: String, _ body: String, _ key: String?) async -> (Int, String) {
        let answer = await api.answer(APIRequest(.post, path, idempotencyKey: key, body: Array(body.utf8)))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    private static let mail = #""email":"s@x.example""#
    private static let merge =
        #"{"merge_updates":[{"identifier_to_merge":{\#(mail),"prioritization":["unidentified","#
        + #""most_recently_updated"]},"#
        + #""identifier_to_keep":{"external_id":"a"}}]}"#

    /// A store in which three profiles share an address, and nothing but a key can tell a retry from another wish.
    private func withShared(_ body: (API) async throws -> Void) async throws {
        try await withAPI { api in
            await api.track(Wire.user("a"), Wire.user("b"))
            for name in ["1", "2", "3"] { await api.track(Wire.aliasOnly("l\(name)", name, Self.mail)) }
            try await body(api)
        }
    }

    @Test("Under a key what an address meant at first is done once, and the answer is the same")
    func once() async throws {
        try await withShared { api in
            let first = await send(api, "/users/merge", Self.merge, "k")
            let last = try api.log.lastPosition()
            #expect(first == (202, #"{"message":"success"}"#))
            for _ in 0..<3 { #expect(await send(api, "/users/merge", Self.merge, "k") == first) }
            let later = try api.log.lastPosition()
            #expect(later == last)
            #expect(await api.export(#""email_address":"s@x.example""#).count == 3)
            _ = await send(api, "/users/merge", Self.merge, nil)
            #expect(await api.export(#""email_address":"s@x.example""#).count == 2)
        }
    }

    @Test("Items that were done are not done again, others are decided again")
    func some() async throws {
        try await withShared { api in
            let body =
                #"{"aliases_to_identify":[{"external_id":"n","user_alias":\#(Wire.alias("l1", "1"))},"#
                + #"{"external_id":"m","user_alias":\#(Wire.alias("l9", "9"))}]}"#
            let missing =
                #","dropped":[{"reason":"no such user exists","input_array":"aliases_to_identify","index":1}]}"#
            let first = await send(api, "/users/identify", body, "k")
            #expect(first == (201, #"{"aliases_processed":2,"message":"success"\#(missing)"#))
            #expect(await send(api, "/users/identify", body, "k") == first)
            await api.track(Wire.aliasOnly("l9", "9"))
            let second = await send(api, "/users/identify", body, "k")
            #expect(second == (201, #"{"aliases_processed":2,"message":"success"}"#))
            #expect(await api.export(#""external_ids":["n","m"]"#).count == 2)
        }
    }

    @Test("Another request under the key is 409, and does nothing")
    func reused() async throws {
        try await withShared { api in
            _ = await send(api, "/users/merge", Self.merge, "k")
            _ = await send(
                api, "/users/track", #"{"events":[{"external_id":"a","name":"e","time":"2026-01-01"}]}"#, "t")
            let last = try api.log.lastPosition()
            let other =
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"b"},"#
                + #""identifier_to_keep":{"external_id":"a"}}]}"#
            #expect(await send(api, "/users/merge", other, "k").0 == 409)
            #expect(await send(api, "/users/merge", other, "t").0 == 409)
            let after = try api.log.lastPosition()
            #expect(after == last)
            #expect(await send(api, "/users/merge", other, String(repeating: "k", count: 5000)).0 == 202)
        }
    }

    @Test("One key sent many times at once is done once")
    func race() async throws {
        try await withShared { api in
            let answers = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<16 { group.addTask { await send(api, "/users/merge", Self.merge, "k").0 } }
                return await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(answers.isSubset(of: [202, 409]))
            #expect(await api.export(#""email_address":"s@x.example""#).count == 3)
        }
    }

    @Test("The same request sent at once is answered as done, also if no user has the address any more")
    func doneMeanwhile() async throws {
        try await withShared { api in
            let body = Self.merge.replacing("s@x.example", with: "alone@x.example")
            await api.track(Wire.aliasOnly("l4", "4", #""email":"alone@x.example""#))
            let request = APIRequest(.post, "/users/merge", idempotencyKey: "k", body: Array(body.utf8))
            let answers = await withTaskGroup(of: APIAnswer.self) { group in
                for _ in 0..<8 { group.addTask { await api.answer(request) } }
                return await group.reduce(into: [APIAnswer]()) { $0.append($1) }
            }
            await api.track(Wire.user("a", #""email":"a@x.example""#))
            for answer in await answers + [api.answer(request)] {
                #expect(answer.status == 202)
                #expect(String(decoding: answer.body, as: UTF8.self) == #"{"message":"success"}"#)
            }
        }
    }

    @Test("Many callers on one writer: an alias goes to one of them, and every caller is told")
    func writer() async throws {
        try await withAPI { alone in
            let writer = LogWriter(alone.log)
            let api = API(writer: writer)
            for id in 0..<8 { await api.track(Wire.user("u\(id)", Self.mail)) }
            let dropped = await withTaskGroup(of: Int.self) { group in
                for id in 0..<8 {
                    group.addTask {
                        let item = #"{"external_id":"u\#(id)","alias_name":"n","alias_label":"l"}"#
                        return await api.post("/users/alias/new", #"{"user_aliases":[\#(item)]}"#).json.at("dropped")
                            .count
                    }
                    group.addTask {
                        let source = #"{\#(Self.mail),"prioritization":["most_recently_updated"]}"#
                        _ = await api.post(
                            "/users/merge",
                            #"{"merge_updates":[{"identifier_to_merge":\#(source),"#
                                + #""identifier_to_keep":{"external_id":"u0"}}]}"#
                        )
                        return 0
                    }
                }
                return await group.reduce(0, +)
            }
            // u0 may own it already when its turn comes, by a merge.
            #expect((6...7).contains(dropped))
            #expect(await api.export(#""user_aliases":[\#(Wire.alias("l", "n"))]"#).count == 1)
            await writer.close()
        }
    }
}
