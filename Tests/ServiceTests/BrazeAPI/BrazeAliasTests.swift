import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("POST /users/alias/new, /users/alias/update")
struct BrazeAliasTests {
    /// A path, a body, and the whole answer; `a` and `b` are users, `a` with the alias crm/1.
    static let pairs: [(String, String, String)] = [
        (
            "new", #"{"user_aliases":[{"external_id":"a","alias_name":"n","alias_label":"l"}]}"#,
            #"201 {"aliases_processed":1,"message":"success"}"#
        ),
        (
            "new", #"{"user_aliases":[{"user_alias":{"external_id":"a","alias_name":"n","alias_label":"l"}}]}"#,
            #"201 {"aliases_processed":1,"message":"success"}"#
        ),
        (
            "new", #"{"user_aliases":[{"external_id":"nobody","user_alias":{"alias_name":"n","alias_label":"l"}}]}"#,
            #"201 {"aliases_processed":1,"message":"success","dropped":["#
                + #"{"reason":"no such user exists","input_array":"user_aliases","index":0}]}"#
        ),
        (
            "new",
            #"{"user_aliases":[{"external_id":"nobody","alias_name":"n","alias_label":"l"},"#
                + #"{"external_id":"b","alias_name":"1","alias_label":"crm"},"#
                + #"{"external_id":"a","alias_name":"2","alias_label":"crm"},{"alias_name":"new","#
                + #""alias_label":"crm"}]}"#,
            #"201 {"aliases_processed":4,"message":"success","dropped":["#
                + #"{"reason":"no such user exists","input_array":"user_aliases","index":0},"#
                + #"{"reason":"the alias is another user's","input_array":"user_aliases","index":1},"#
                + #"{"reason":"the alias has a label under which the user has one already","#
                + #""input_array":"user_aliases","index":2}]}"#
        ),
        (
            "new",
            #"{"user_aliases":[7,{"external_id":"a","alias_label":"l"},{"alias_name":"n"},{"alias_name":7,"#
                + #""alias_label":"l"},"#
                + #"{"external_id":true,"alias_name":"n","alias_label":"l"},{"alias_name":"n","alias_label":""},"#
                + #"{"external_id":"a","alias_name":"n","alias_label":"l"}]}"#,
            #"201 {"aliases_processed":1,"message":"success","errors":["#
                + #"{"type":"must be an object","input_array":"user_aliases","index":0},"#
                + #"{"type":"'alias_name' is required","input_array":"user_aliases","index":1},"#
                + #"{"type":"'alias_label' is required","input_array":"user_aliases","index":2},"#
                + #"{"type":"'alias_name' is not valid","input_array":"user_aliases","index":3},"#
                + #"{"type":"'external_id' is not valid","input_array":"user_aliases","index":4},"#
                + #"{"type":"'alias_label' is not valid","input_array":"user_aliases","index":5}]}"#
        ),
        (
            "new", #"{"user_aliases":[{}]}"#,
            #"400 {"message":"Valid data must be provided in the 'user_aliases' field.","#
                + #""errors":[{"type":"'alias_label' is required","input_array":"user_aliases","index":0}]}"#
        ),
        (
            "new", "{}",
            #"400 {"message":"Valid data must be provided in the 'user_aliases' field.","#
                + #""remedy":"Send at least one object.","code":"nothing_valid"}"#
        ),
        (
            "new", #"{"user_aliases":{}}"#,
            #"400 {"message":"`user_aliases` must be an array of objects.","remedy":"Correct it and try again.","#
                + #""code":"invalid","place":"user_aliases"}"#
        ),
        (
            "new", Wire.list("user_aliases", "{}", 51),
            #"400 {"message":"Max Input Length Exceeded: 'user_aliases' has 51 objects, of at most 50.","#
                + #""remedy":"Send them in several requests.","code":"too_many_objects","place":"user_aliases"}"#
        ),
        (
            "update", #"{"alias_updates":[{"alias_label":"crm","old_alias_name":"1","new_alias_name":"2"}]}"#,
            #"201 {"aliases_processed":1,"message":"success"}"#
        ),
        (
            "update",
            #"{"alias_updates":[{"alias_label":"crm","old_alias_name":"no","new_alias_name":"2"},"#
                + #"{"alias_label":"crm","old_alias_name":"1","new_alias_name":"taken"},"#
                + #"{"alias_label":"crm","old_alias_name":"1","new_alias_name":"1"},"#
                + #"{"alias_label":"crm","old_alias_name":"1"},{"old_alias_name":"1","new_alias_name":"1"}]}"#,
            #"201 {"aliases_processed":3,"message":"success","errors":["#
                + #"{"type":"'new_alias_name' is required","input_array":"alias_updates","index":3},"#
                + #"{"type":"'alias_label' is required","input_array":"alias_updates","index":4}],"dropped":["#
                + #"{"reason":"no such user exists","input_array":"alias_updates","index":0},"#
                + #"{"reason":"the new alias leads to a user already","input_array":"alias_updates","index":1}]}"#
        ),
        (
            "update", #"{"alias_updates":[]}"#,
            #"400 {"message":"Valid data must be provided in the 'alias_updates' field.","#
                + #""remedy":"Send at least one object.","code":"nothing_valid"}"#
        ),
    ]

    @Test("An answer is the documented one, byte by byte, and the same the second time", arguments: pairs)
    func pair(path: String, body: String, answer: String) async throws {
        try await withAPI { api in
            await api.track(Wire.user("a"), Wire.user("b"), Wire.aliasOnly("crm", "taken"))
            _ = await api.post(
                "/users/alias/new",
                #"{"user_aliases":[{"external_id":"a","alias_name":"1","alias_label":"crm"}]}"#)
            #expect(await api.say("/users/alias/\(path)", body) == answer)
            let last = try api.log.lastPosition()
            _ = await api.say("/users/alias/\(path)", body)
            #expect(try api.log.lastPosition() == last)
        }
    }

    @Test("An alias leads to its user, to a new one if no user is named, and on under its new name")
    func effect() async throws {
        try await withAPI { api in
            await api.track(Wire.user("a"))
            _ = await api.post(
                "/users/alias/new",
                #"{"user_aliases":[{"external_id":"a","alias_name":"1","alias_label":"crm"},"#
                    + #"{"alias_name":"2","alias_label":"crm"}]}"#)
            await api.track(#"{"user_alias":\#(Wire.alias("crm", "1")),"seen":1}"#)
            await api.track(#"{"user_alias":\#(Wire.alias("crm", "2")),"seen":2}"#)
            let both = await api.export(#""user_aliases":[\#(Wire.alias("crm", "1")),\#(Wire.alias("crm", "2"))]"#)
            #expect(both.at("0.external_id") == "a")
            #expect(both.at("0.custom_attributes.seen") == 1)
            #expect(both.at("1.external_id") == .null)
            #expect(both.at("1.custom_attributes.seen") == 2)
            _ = await api.post(
                "/users/alias/update",
                #"{"alias_updates":[{"alias_label":"crm","old_alias_name":"1","new_alias_name":"one"}]}"#)
            let old = await api.export(#""user_aliases":[\#(Wire.alias("crm", "1"))]"#)
            #expect(old.count == 0)
            let new = await api.export(#""user_aliases":[\#(Wire.alias("crm", "one"))]"#)
            #expect(new.at("0.external_id") == "a")
            #expect(new.at("0.user_aliases.0.alias_name") == "one")
        }
    }

    @Test("Fifty aliases share a commit, and each sees those before it")
    func fifty() async throws {
        try await withAPI { api in
            let objects = (0..<50).map { #"{"alias_name":"n\#($0 / 2)","alias_label":"l"}"# }.joined(separator: ",")
            let answer = await api.say("/users/alias/new", #"{"user_aliases":[\#(objects)]}"#)
            #expect(answer == #"201 {"aliases_processed":50,"message":"success"}"#)
            #expect(try api.log.userCount() == 25)
            let times = Set(try api.log.events(from: .start, limit: 100).events.map(\.recordedAt))
            #expect(times.count == 1)
        }
    }

    @Test("If-Match and an empty key are refused", arguments: ["new", "update"])
    func headers(path: String) async throws {
        try await withAPI { api in
            let item = #"{"alias_name":"n","alias_label":"l","old_alias_name":"n","new_alias_name":"n"}"#
            let body = Array(#"{"user_aliases":[\#(item)],"alias_updates":[\#(item)]}"#.utf8)
            var request = APIRequest(.post, "/users/alias/\(path)", ifMatch: "1", body: body)
            #expect(await api.answer(request).status == 400)
            request.ifMatch = nil
            request.idempotencyKey = ""
            #expect(await api.answer(request).status == 400)
            request.idempotencyKey = "k"
            #expect(await api.answer(request).status == 201)
        }
    }
}
