import ProfileLog
import ProfileLogRequests
import Testing

@Suite("POST /users/identify")
struct BrazeIdentifyTests {
    /// A body and the whole answer; `a` is a user with the alias crm/1, crm/2 and web/w are known by their alias only,
    /// `a`, web/w and another one share the address s@x.example, and one user alone has the number +49301234567.
    static let pairs: [(String, String)] = [
        (
            #"{"aliases_to_identify":[{"external_id":"new","user_alias":\#(Wire.alias("web", "w"))}]}"#,
            #"201 {"aliases_processed":1,"message":"success"}"#
        ),
        (
            #"{"aliases_to_identify":[{"external_id":"a","user_alias":\#(Wire.alias("crm", "2"))},"#
                + #"{"external_id":"b","user_alias":\#(Wire.alias("crm", "1"))},"#
                + #"{"external_id":"a","user_alias":\#(Wire.alias("no", "no"))},"#
                + #"{"external_id":7,"user_alias":\#(Wire.alias("web", "w"))}]}"#,
            #"201 {"aliases_processed":4,"message":"success","dropped":["#
                + #"{"reason":"the user with this external ID has an alias with the same label already","#
                + #""input_array":"aliases_to_identify","index":0},"#
                + #"{"reason":"the user has an external ID already","input_array":"aliases_to_identify","index":1},"#
                + #"{"reason":"no such user exists","input_array":"aliases_to_identify","index":2}]}"#
        ),
        (
            #"{"emails_to_identify":[{"external_id":"n","email":"s@x.example","prioritization":["unidentified"]},"#
                + #"{"external_id":"n","email":"no@x.example","prioritization":["unidentified"]},"#
                + #"{"external_id":"n","email":"S@X.example","prioritization":["unidentified","#
                + #""least_recently_updated"]}],"#
                + #""phone_numbers_to_identify":[{"external_id":"m","phone":"+49 30 1234567","#
                + #""prioritization":["identified"]},"#
                + #"{"external_id":"m","phone":"+49 30 1234567","prioritization":["most_recently_updated"]}]}"#,
            #"201 {"aliases_processed":5,"message":"success","dropped":["#
                + #"{"reason":"'prioritization' leaves 2 users who share it","input_array":"emails_to_identify","#
                + #""index":0},"#
                + #"{"reason":"no user has this address","input_array":"emails_to_identify","index":1},"#
                + #"{"reason":"'prioritization' leaves no user of those who share it","#
                + #""input_array":"phone_numbers_to_identify","index":0}]}"#
        ),
        (
            #"{"aliases_to_identify":[{"user_alias":{}},{"external_id":{},"user_alias":{}},{"external_id":"a"},"#
                + #"{"external_id":"a","user_alias":{"alias_name":"n"}}],"#
                + #""emails_to_identify":[{"external_id":"a","email":"x","prioritization":["identified"]},"#
                + #"{"external_id":"a","email":"s@x.example"},{"external_id":"a","email":"s@x.example","#
                + #""prioritization":[]},"#
                + #"{"external_id":"a","email":"s@x.example","prioritization":["newest"]},"#
                + #"{"external_id":"a","email":"s@x.example","prioritization":"identified"},"#
                + #"{"external_id":"a","email":"s@x.example","prioritization":["identified","unidentified"]}],"#
                + #""phone_numbers_to_identify":[{"external_id":"a","phone":7}]}"#,
            #"400 {"message":"Valid data must be provided in the 'aliases_to_identify', 'emails_to_identify', or "#
                + #"'phone_numbers_to_identify' fields.","errors":["#
                + #"{"type":"'external_id' is required","input_array":"aliases_to_identify","index":0},"#
                + #"{"type":"'external_id' is not valid","input_array":"aliases_to_identify","index":1},"#
                + #"{"type":"'user_alias' is required","input_array":"aliases_to_identify","index":2},"#
                + #"{"type":"'user_alias' is not valid","input_array":"aliases_to_identify","index":3},"#
                + #"{"type":"'email' is not valid","input_array":"emails_to_identify","index":0},"#
                + #"{"type":"'prioritization' is required","input_array":"emails_to_identify","index":1},"#
                + #"{"type":"'prioritization' is required","input_array":"emails_to_identify","index":2},"#
                + #"{"type":"'prioritization' is not valid","input_array":"emails_to_identify","index":3},"#
                + #"{"type":"'prioritization' is not valid","input_array":"emails_to_identify","index":4},"#
                + #"{"type":"'prioritization' is not valid","input_array":"emails_to_identify","index":5},"#
                + #"{"type":"'phone' is not valid","input_array":"phone_numbers_to_identify","index":0}]}"#
        ),
        (
            "{}",
            #"400 {"message":"Valid data must be provided in the 'aliases_to_identify', 'emails_to_identify', or "#
                + #"'phone_numbers_to_identify' fields.","remedy":"Send at least one object.","code":"nothing_valid"}"#
        ),
        (
            Wire.list("emails_to_identify", "{}", 51),
            #"400 {"message":"Max Input Length Exceeded: 'emails_to_identify' has 51 objects, of at most 50.","#
                + #""remedy":"Send them in several requests.","code":"too_many_objects","place":"emails_to_identify"}"#
        ),
    ]

    @Test("An answer is the documented one, byte by byte", arguments: pairs)
    func pair(body: String, answer: String) async throws {
        try await withAPI { api in
            let shared = #""email":"s@x.example""#
            await api.track(
                Wire.user("a", shared), Wire.aliasOnly("crm", "2"), Wire.aliasOnly("web", "w", shared),
                Wire.aliasOnly("web", "v", shared), #"{"phone":"+49301234567"}"#)
            _ = await api.post(
                "/users/alias/new", #"{"user_aliases":[{"external_id":"a","alias_name":"1","alias_label":"crm"}]}"#)
            #expect(await api.say("/users/identify", body) == answer)
        }
    }

    @Test(
        "/users/identify gives a profile the external ID, or merges it into the user who has that ID"
    )
    func effect() async throws {
        try await withAPI { api in
            await api.track(
                Wire.aliasOnly("web", "w", #""x":1,"first_name":"Web""#),
                Wire.user("a", #""x":2,"y":3"#), #"{"email":"m@x.example","z":4,"last_name":"Mail"}"#)
            _ = await api.post(
                "/users/identify",
                #"{"aliases_to_identify":[{"external_id":"new","user_alias":\#(Wire.alias("web", "w"))}]}"#)
            let new = await api.export(#""external_ids":["new"]"#)
            #expect(new.at("0.first_name") == "Web")
            #expect(new.at("0.user_aliases.0.alias_name") == "w")
            _ = await api.post(
                "/users/identify",
                #"{"emails_to_identify":[{"external_id":"a","email":"m@x.example","prioritization":["unidentified"]}]}"#
            )
            let known = await api.export(#""email_address":"m@x.example""#)
            #expect(known.count == 1)
            #expect(known.at("0.external_id") == "a")
            #expect(known.at("0.last_name") == "Mail")
            #expect(known.at("0.custom_attributes") == .object([.init("x", 2), .init("y", 3), .init("z", 4)]))
        }
    }

    /// Filters, and which users they leave of those who share an address: identified and early, identified and late,
    /// unidentified and early, unidentified and late; nil if nothing is done.
    static let priorities: [(String, Int?)] = [
        (#""identified""#, nil),
        (#""unidentified""#, nil),
        (#""identified","most_recently_updated""#, 1),
        (#""identified","least_recently_updated""#, 0),
        (#""unidentified","most_recently_updated""#, 3),
        (#""unidentified","least_recently_updated""#, 2),
        (#""most_recently_updated""#, 3),
        (#""least_recently_updated""#, 0),
        (#""most_recently_updated","unidentified""#, 3),
        (#""most_recently_updated","identified""#, nil),
        (#""least_recently_updated","most_recently_updated""#, 0),
        (#""identified","identified","most_recently_updated""#, 1),
    ]

    @Test(
        "Filters apply one after the other, and nothing is done if they leave several users or none",
        arguments: priorities)
    func priority(filters: String, chosen: Int?) async throws {
        try await withAPI { api in
            let shared = #""email":"s@x.example""#
            let labels = ["a", "b", "c", "d"]
            await api.track(
                Wire.user("a", shared), Wire.aliasOnly("l", "c", shared), Wire.user("b", shared),
                Wire.aliasOnly("l", "d", shared), Wire.user("keep"))
            let answer = await api.post(
                "/users/merge",
                #"{"merge_updates":[{"identifier_to_merge":{"email":"s@x.example","prioritization":[\#(filters)]},"#
                    + #""identifier_to_keep":{"external_id":"keep"}}]}"#)
            #expect(answer.status == 202)
            #expect(answer.json.at("dropped").count == (chosen == nil ? 1 : 0))
            let left = await api.export(
                #""external_ids":["a","b"],"user_aliases":[\#(Wire.alias("l", "c")),\#(Wire.alias("l", "d"))]"#)
            let gone = (0..<4).filter { index in
                !(0..<left.count).contains {
                    let user = left.at("\($0)")
                    // An alias moves to the kept user.
                    return user.at("external_id").text == labels[index]
                        || user.at("external_id") == .null && user.at("user_aliases.0.alias_name").text == labels[index]
                }
            }
            #expect(gone == (chosen.map { [$0] } ?? []))
        }
    }

    @Test("With merge_behavior none a profile is merged into no user; another word is refused")
    func mergeBehavior() async throws {
        try await withAPI { api in
            await api.track(
                Wire.user("a", #""x":1"#), #"{"email":"m@x.example","y":2}"#, Wire.aliasOnly("l", "n", #""z":3"#))
            let email =
                #""emails_to_identify":[{"external_id":"a","email":"m@x.example","prioritization":["unidentified"]}]"#
            let alias = #""aliases_to_identify":[{"external_id":"a","user_alias":\#(Wire.alias("l", "n"))}]"#
            for list in [email, alias] {
                let (status, json) = await api.post("/users/identify", #"{\#(list),"merge_behavior":"none"}"#)
                #expect(status == 201)
                #expect(
                    json.at("dropped.0.reason") == "a user has this external ID, and 'merge_behavior' is 'none'",
                    "\(json)")
            }
            let count = try api.log.userCount()
            #expect(count == 3)
            #expect(await api.export(#""external_ids":["a"]"#).at("0.custom_attributes") == .object([.init("x", 1)]))
            for word in [#""frob""#, "true", #""""#, "[]"] {
                let (status, json) = await api.post("/users/identify", #"{\#(email),"merge_behavior":\#(word)}"#)
                #expect(status == 400 && json.at("place") == "merge_behavior", "\(word)")
            }
            // A free external ID is given, once: the second of two items finds it taken.
            let free = [#"{"external_id":"b","user_alias":\#(Wire.alias("l", "n"))}"#]
            let both = (free + [#"{"external_id":"b","user_alias":\#(Wire.alias("l", "o"))}"#]).joined(separator: ",")
            await api.track(Wire.aliasOnly("l", "o"))
            let given = await api.post(
                "/users/identify", #"{"aliases_to_identify":[\#(both)],"merge_behavior":"none"}"#)
            #expect(given.json.at("dropped").count == 1 && given.json.at("dropped.0.index") == 1, "\(given.json)")
            #expect(await api.export(#""external_ids":["b"]"#).at("0.custom_attributes") == .object([.init("z", 3)]))
            // The same again is so already.
            let again = await api.post(
                "/users/identify", #"{"aliases_to_identify":[\#(free[0])],"merge_behavior":"none"}"#)
            #expect(again.json.at("dropped") == .null, "\(again.json)")
            let merged = await api.post("/users/identify", #"{\#(email),"merge_behavior":"merge"}"#)
            #expect(merged.status == 201 && merged.json.at("dropped") == .null)
            #expect(await api.export(#""external_ids":["a"]"#).at("0.custom_attributes.y") == 2)
        }
    }
}
