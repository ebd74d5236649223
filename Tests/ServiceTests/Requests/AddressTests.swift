import ProfileLog
import ProfileLogRequests
import Testing

@Suite("USER as an address")
struct AddressTests {
    private func user(_ id: String, _ email: String, _ api: API) async {
        let (status, _) = await api.post(
            "/v1/log/user-attribute", #"{"user":"\#(id)","attribute":"email","value":"\#(email)"}"#)
        #expect(status == 200)
    }

    private func number(_ path: String, _ user: String, _ api: API) async -> AttributeValue {
        await api.get(path, [("user", user)]).json.at("user.number")
    }

    @Test("Reads and writes by an address mean the user who has it as an attribute")
    func finds() async throws {
        try await withAPI { api in
            await user("alias:l:n", "Jane@x.example", api)
            await user("jane", "jane@x.example", api)
            await user("alias:l:m", "jane@x.example", api)
            let address = "email:JANE@x.example"
            for path in ["/v1/profile", "/v1/history"] {
                #expect(await number(path, address, api) == 2)
            }
            for path in ["/v1/pending", "/v1/rejected"] {
                #expect(await api.get(path, [("user", address)]).status == 200)
                #expect(await api.get(path, [("user", "email:no@x.example")]).status == 404)
            }
            for (path, more) in [
                ("/v1/log/event", #""name":"e""#), ("/v1/save/event", #""name":"e","device":"d""#),
                ("/v1/change-user", #""device":"d""#),
            ] {
                let (status, json) = await api.post(path, #"{"user":"\#(address)",\#(more)}"#)
                #expect(status == 200, "\(path)")
                #expect(json.at("user.number") == 2, "\(path)")
                #expect(json.at("created") == false, "\(path)")
            }
            let count = try api.log.userCount()
            #expect(count == 3)
        }
    }

    @Test("An address that no user has makes a user, who is found by it until another has it as an attribute")
    func makes() async throws {
        try await withAPI { api in
            let body = #"{"user":"email:jane@x.example","name":"e"}"#
            let (_, made) = await api.post("/v1/log/event", body)
            #expect(made.at("created") == true)
            let (_, again) = await api.post("/v1/log/event", body)
            #expect(again.at("user.number") == 1)
            await user("jane", "jane@x.example", api)
            #expect(await number("/v1/profile", "email:jane@x.example", api) == 2)
            await user("jane", "other@x.example", api)
            #expect(await number("/v1/profile", "email:jane@x.example", api) == 1)
            // A user who was created by an address and has another one by now is not found by the old one, nor written
            // to.
            await user("email:jane@x.example", "new@x.example", api)
            #expect(await number("/v1/profile", "email:new@x.example", api) == 1)
            #expect(await api.get("/v1/profile", [("user", "email:jane@x.example")]).status == 404)
            let (_, next) = await api.post("/v1/log/event", body)
            #expect(next.at("user.number") == 3)
            #expect(next.at("created") == true)
            #expect(await number("/v1/profile", "email:new@x.example", api) == 1)
        }
    }

    @Test("An address that makes a user is their attribute, and is kept when they are merged")
    func isAttribute() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/save/event", #"{"user":"email:jane@x.example","name":"e","device":"d"}"#)
            let profile = await api.get("/v1/profile", [("user", "email:jane@x.example")]).json
            #expect(profile.at("attributes.email") == "jane@x.example")
            _ = await api.post("/v1/log/event", #"{"user":"jane","name":"e"}"#)
            let merge = #"""
                {"merge_updates":[{"identifier_to_merge":{"email":"jane@x.example","prioritization":["unidentified"]},
                "identifier_to_keep":{"external_id":"jane"}}]}
                """#
            #expect(await api.post("/users/merge", merge).status == 202)
            #expect(await number("/v1/profile", "email:jane@x.example", api) == 2)
            let exported = await api.post(
                "/users/export/ids", #"{"email_address":"jane@x.example","fields_to_export":["external_id","email"]}"#)
            #expect(exported.json.at("users.0.external_id") == "jane")
            #expect(exported.json.at("users.0.email") == "jane@x.example")
        }
    }

    @Test("A repeated write under its key is known, even if another user has the address by then")
    func repeated() async throws {
        try await withAPI { api in
            func write(_ name: String = "e") async -> (status: Int, json: AttributeValue) {
                await api.post("/v1/log/event", #"{"user":"email:jane@x.example","name":"\#(name)","key":"k"}"#)
            }
            #expect(await write().json.at("repeated") == false)
            #expect(await write().json.at("repeated") == true)
            await user("jane", "jane@x.example", api)
            let (status, json) = await write()
            #expect(status == 200)
            #expect(json.at("repeated") == true)
            #expect(json.at("user.number") == 1)
            #expect(await write("other").status == 409)
        }
        try await withAPI { api in
            await user("jane", "jane@x.example", api)
            let body = #"{"user":"email:jane@x.example","name":"e","key":"k"}"#
            #expect(await api.post("/v1/log/event", body).json.at("user.number") == 1)
            await user("bo", "jane@x.example", api)
            let (status, json) = await api.post("/v1/log/event", body)
            #expect(status == 200)
            #expect(json.at("repeated") == true)
            #expect(json.at("user.number") == 1)
        }
    }

    @Test("An expected version is that of the user that the address resolves to")
    func expected() async throws {
        try await withAPI { api in
            await user("jane", "jane@x.example", api)
            func write(_ expect: String) async -> Int {
                await api.post("/v1/log/event", #"{"user":"email:jane@x.example","name":"e","expect":\#(expect)}"#)
                    .status
            }
            #expect(await write(#""none""#) == 412)
            #expect(await write("1") == 412)
            #expect(await write("2") == 200)
        }
    }

    // MARK: - Erasing

    private func erase(_ api: API, _ user: String, _ more: String = "") async -> (status: Int, json: AttributeValue) {
        await api.post("/v1/erase", #"{"user":"\#(user)","reason":"asked"\#(more)}"#)
    }

    @Test("An erasure by an address finds who has it; of several it takes none that is not named")
    func erased() async throws {
        try await withAPI { api in
            // A guest, and then an account with the same address.
            _ = await api.post("/users/track", #"{"attributes":[{"email":"x@example.com","level":1}]}"#)
            await user("u", "X@example.com", api)
            #expect(await number("/v1/profile", "email:x@example.com", api) == 2)
            let candidates = await api.get("/v1/erase", [("user", "email:X@example.com")]).json
            #expect(candidates.at("users.0.id") == "u" && candidates.at("users.0.kind") == "identified")
            #expect(candidates.at("users.1.kind") == "e-mail address only")
            #expect(candidates.at("users.1.since").text.hasSuffix("Z"))
            let refused = await erase(api, "email:x@example.com")
            #expect(refused.status == 409 && refused.json.at("code") == "several_users")
            for number: UInt64 in [1, 2] {
                let user = try api.log.reader.users.find(UserNumber(rawValue: number))
                #expect(user?.isErased == false)
            }
            let other = await erase(api, "email:x@example.com", #","number":7"#)
            #expect(other.status == 409 && other.json.at("code") == "another_user")
            #expect(await erase(api, "email:x@example.com", #","number":1"#).json.at("user_number") == 1)
            #expect(await number("/v1/profile", "email:x@example.com", api) == 2)
            // Now one user has the address.
            #expect(await erase(api, "email:x@example.com").json.at("user_number") == 2)
            #expect(await erase(api, "email:x@example.com").status == 404)
            #expect(await api.get("/v1/erase", [("user", "email:x@example.com")]).status == 404)
        }
    }

    @Test("All who have an address can be erased at once; who only had it stays")
    func erasedTogether() async throws {
        try await withAPI { api in
            let phone = #""attribute":"phone","value":"+4930123456""#
            for id in ["a", "b", "c"] { _ = await api.post("/v1/log/user-attribute", #"{"user":"\#(id)",\#(phone)}"#) }
            _ = await api.post(
                "/v1/log/user-attribute", #"{"user":"b","attribute":"phone","value":"+4930999999"}"#)
            let (status, json) = await erase(api, "phone:+49 30 123456", #","all":true"#)
            #expect(status == 200, "\(json)")
            #expect(json.at("user_numbers").count == 2)
            let other = try api.log.find(.externalID("b"))
            #expect(other?.isErased == false)
            // A user who was made by an address and has another one now is not found by the old address.
            _ = await api.post("/users/track", #"{"attributes":[{"email":"old@example.com"}]}"#)
            await user("email:old@example.com", "new@example.com", api)
            #expect(await erase(api, "email:old@example.com").status == 404)
            #expect(await erase(api, "email:new@example.com").status == 200)
            #expect(await erase(api, "nobody").status == 404)
        }
    }
}
