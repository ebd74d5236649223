import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("GET /v1/users?prefix=")
struct PrefixSearchTests {
    /// Ana with an alias, an address and a phone, and bo.
    private func fill(_ api: API) async {
        for (path, body) in [
            ("/v1/log/user-attribute", #"{"user":"ana","attribute":"email","value":"Ana@X.example"}"#),
            ("/v1/change-user", #"{"user":"ana","device":"anas-phone"}"#),
            ("/users/alias/new", #"{"user_aliases":[{"external_id":"ana","alias_label":"crm","alias_name":"an7"}]}"#),
            ("/v1/log/event", #"{"user":"bo","name":"e"}"#),
            ("/v1/log/user-attribute", #"{"user":"bo","attribute":"email","value":"ana@x.example"}"#),
        ] {
            let answer = await api.post(path, body)
            #expect(answer.status < 300, "\(path): \(answer.json.json)")
        }
    }

    private func matched(_ json: AttributeValue) -> [String] {
        guard case .array(let users) = json.at("users") else { return [] }
        return users.map { "\($0.at("kind").text) \($0.at("matched").text) \($0.at("id").text)" }
    }

    @Test("People come with the identifier that matches, in the order of its bytes, and in pages")
    func answer() async throws {
        try await withAPI { api in
            await fill(api)
            let (status, json) = await api.get("/v1/users", [("prefix", "an")])
            #expect(status == 200)
            let all = [
                "alias alias:crm:an7 ana", "external_id ana ana", "email email:Ana@X.example ana",
                "email email:ana@x.example bo", "device device:anas-phone ana",
            ]
            // An7, then ana and what is longer.
            #expect(matched(json) == all, "\(json.json)")
            #expect(json.at("total") == 2 && json.at("more") == false && json.at("cursor") == .null)
            let info = try #require(try api.log.find("ana"))
            #expect(json.at("users.1.number") == 1 && json.at("users.1.braze_id") == .string(info.brazeID))
            #expect(json.at("users.1.version") == .int(Int64(info.version.rawValue)))
            for isReversed in [false, true] {
                var (found, query): ([String], [(name: String, value: String)]) = ([], [])
                while true {
                    let reverse = isReversed ? "true" : "false"
                    let (status, page) = await api.get(
                        "/v1/users", [("prefix", "an"), ("limit", "2"), ("reverse", reverse)] + query)
                    try #require(status == 200, "\(page.json)")
                    found += matched(page)
                    guard page.at("more") == true else { break }
                    query = [("cursor", page.at("cursor").text)]
                }
                #expect(found == (isReversed ? all.reversed() : all))
            }
            let aliases = await api.get("/v1/users", [("prefix", "alias:crm:")]).json
            #expect(matched(aliases) == [all[0]])
            let nobody = await api.get("/v1/users", [("prefix", "Ana")]).json
            #expect(matched(nobody) == ["email email:Ana@X.example ana", "email email:ana@x.example bo"])
            #expect(await api.get("/v1/users", [("prefix", "zz")]).json.at("note") == "No users match `prefix`.")
        }
    }

    @Test("A merged user leads to the canonical one, and an erased one is not there")
    func mergedAndErased() async throws {
        try await withAPI { api in
            await fill(api)
            _ = await api.post("/v1/log/event", #"{"user":"guest","name":"e"}"#)
            let guest = try #require(try api.log.find("guest")).brazeID
            let merge =
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"guest"},"#
                + #""identifier_to_keep":{"external_id":"ana"}}]}"#
            #expect(await api.post("/users/merge", merge).status == 202)
            let found = await api.get("/v1/users", [("prefix", guest)]).json
            #expect(matched(found) == ["braze_id braze:\(guest) ana"])
            #expect(await api.post("/v1/erase", #"{"user":"ana","reason":"test"}"#).status == 200)
            for prefix in ["an", guest, "alias:", "device:"] {
                let left = await api.get("/v1/users", [("prefix", prefix)]).json
                #expect(matched(left) == (prefix == "an" ? ["email email:ana@x.example bo"] : []), "\(prefix)")
            }
        }
    }

    private static let refused: [(query: [String: String], place: String, says: String)] = [
        (["prefix": "a", "where": "custom.a = 1"], "where", "omit `prefix`"),
        (["prefix": "a", "count": "true"], "count", "omit `prefix`"),
        (["prefix": "a", "as_of": "1"], "as_of", "omit `prefix`"),
        (["prefix": "a", "order": "occurred"], "order", "omit `prefix`"),
        (["prefix": "a", "after": "1"], "after", "Send `cursor`"),
        (["prefix": "a", "limit": "1001"], "limit", "Correct it"),
        (["prefix": "a", "reverse": "yes"], "reverse", "Correct it"),
        (["prefix": "a", "cursor": "1"], "cursor", "Send it unchanged"),
        (["prefix": "a", "cursor": "0/bo"], "cursor", "Send it unchanged"),
        (["prefix": "a", "cursor": "0/alias:l:x"], "cursor", "Send it unchanged"),
        (["prefix": "a", "more": "1"], "more", "The parameters are"),
        (["prefix": String(repeating: "a", count: 4_000)], "prefix", "Correct it"),
        (["cursor": "0/ana"], "cursor", "Send `prefix` with it"), (["reverse": "true"], "reverse", "Send `prefix`"),
    ]

    @Test("A parameter that does not fit is refused by name", arguments: refused.indices)
    func refusals(index: Int) async throws {
        let (query, place, says) = Self.refused[index]
        try await withAPI { api in
            await fill(api)
            let (status, json) = await api.get("/v1/users", query.map { (name: $0.key, value: $0.value) })
            #expect(status == 400 && json.at("place").text == place, "\(json.json)")
            #expect(json.at("remedy").text.contains(says), "\(json.json)")
        }
    }

    @Test("A cursor goes on at its place although identifiers came and went")
    func changes() async throws {
        try await withAPI { api in
            for user in ["a1", "a2", "a3", "a4"] {
                _ = await api.post("/v1/log/event", #"{"user":"\#(user)","name":"e"}"#)
            }
            let first = await api.get("/v1/users", [("prefix", "a"), ("limit", "2")]).json
            for user in ["a0", "a2b"] { _ = await api.post("/v1/log/event", #"{"user":"\#(user)","name":"e"}"#) }
            #expect(await api.post("/v1/erase", #"{"user":"a2","reason":"test"}"#).status == 200)
            let rest = await api.get("/v1/users", [("prefix", "a"), ("cursor", first.at("cursor").text)]).json
            #expect(matched(rest).map { $0.split(separator: " ")[1] } == ["a2b", "a3", "a4"])
        }
    }
}
