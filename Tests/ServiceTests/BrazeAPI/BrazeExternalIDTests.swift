import ProfileLog
import ProfileLogRequests
import Testing

@Suite("POST /users/external_ids/rename, /users/external_ids/remove")
struct BrazeExternalIDTests {
    private static func pair(_ current: String, _ new: String) -> String {
        #"{"current_external_id":"\#(current)","new_external_id":"\#(new)"}"#
    }

    /// A path, a body, and the whole answer, sent one after the other to a store with the users `a` and `b`.
    static let story: [(String, String, String)] = [
        (
            "rename", #"{"external_id_renames":[\#(pair("a", "a2"))]}"#,
            #"201 {"rename_errors":[],"external_ids":[\#(pair("a", "a2"))],"message":"success"}"#
        ),
        (
            "rename",
            #"{"external_id_renames":[\#(pair("a", "a3")),\#(pair("a2", "b")),\#(pair("b", "a")),\#(pair("b", "b")),"#
                + #"\#(pair("no", "n")),7,{"current_external_id":"b"},{"current_external_id":"b","#
                + #""new_external_id":7}]}"#,
            #"201 {"rename_errors":[["the external ID was renamed before, and cannot be once more",0],"#
                + #"["the new external ID leads to a user already",1],"#
                + #"["the new external ID leads to a user already",2],"#
                + #"["the new external ID must be another one",3],["no such user exists",4],"#
                + #"["'current_external_id' and 'new_external_id' must be texts",5],"#
                + #"["'current_external_id' and 'new_external_id' must be texts",6]],"#
                + #""external_ids":[\#(pair("b", "7"))],"message":"success"}"#
        ),
        (
            "remove", #"{"external_ids":["a2","no",{},"a","b"]}"#,
            #"201 {"removed_ids":["a","b"],"removal_errors":[["the external ID was not renamed, and cannot be "#
                + #"removed",0],"#
                + #"["no such user exists",1],["the external ID must be text",2]],"message":"success"}"#
        ),
        (
            "remove", #"{"external_ids":["a"]}"#,
            #"201 {"removed_ids":[],"removal_errors":[["no such user exists",0]],"message":"success"}"#
        ),
    ]

    @Test("Answers are the documented ones, byte by byte, and errors name their place")
    func answers() async throws {
        try await withAPI { api in
            await api.track(Wire.user("a", #""x":1"#), Wire.user("b"))
            for (path, body, answer) in Self.story {
                #expect(await api.say("/users/external_ids/\(path)", body) == answer)
            }
            let users = await api.export(#""external_ids":["a","a2","b","7"]"#)
            #expect(users.count == 2)
            #expect(users.at("0.external_id") == "a2")
            #expect(users.at("0.custom_attributes.x") == 1)
            #expect(users.at("1.external_id") == "7")
        }
    }

    @Test("A renamed ID leads on, and updates by it reach the user, until it is removed")
    func deprecated() async throws {
        try await withAPI { api in
            await api.track(Wire.user("a"))
            _ = await api.post("/users/external_ids/rename", #"{"external_id_renames":[\#(Self.pair("a", "b"))]}"#)
            await api.track(Wire.user("a", #""late":true"#))
            let one = await api.export(#""external_ids":["a","b"]"#)
            #expect(one.count == 1)
            #expect(one.at("0.external_id") == "b")
            #expect(one.at("0.custom_attributes.late") == true)
            _ = await api.post("/users/external_ids/remove", #"{"external_ids":["a"]}"#)
            await api.track(Wire.user("a", #""other":true"#))
            let two = await api.export(#""external_ids":["a","b"]"#)
            #expect(two.count == 2)
            #expect(two.at("0.custom_attributes.other") == true)
        }
    }

    /// A path, a body and the name of its list: no list of 1 to 50.
    static let wrongLists: [(String, String, String)] = ["rename", "remove"].flatMap { path in
        let list = path == "rename" ? "external_id_renames" : "external_ids"
        return ["{}", #"{"\#(list)":[]}"#, #"{"\#(list)":"a"}"#, Wire.list(list, #""a""#, 51)].map { (path, $0, list) }
    }

    @Test("A list that is missing, empty or too long is 400", arguments: wrongLists)
    func wrong(path: String, body: String, list: String) async throws {
        try await withAPI { api in
            let answer = await api.say("/users/external_ids/\(path)", body)
            #expect(
                answer
                    == #"400 {"message":"`\#(list)` must be an array of 1 to 50 elements.","#
                    + #""remedy":"Correct it and try again.","#
                    + #""code":"invalid","place":"\#(list)"}"#)
        }
    }
}
