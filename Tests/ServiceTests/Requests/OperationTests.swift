import ProfileLog
import ProfileLogRequests
import Testing

@Suite("Attribute operations as JSON")
struct OperationTests {
    static let forms = [
        #""text""#, "1", "1.0", "true", "[1,2]", #"{"city":"Köln"}"#, "null", #"{"inc":-2}"#, #"{"add":["a"]}"#,
        #"{"remove":["a"]}"#, #"{"$add":[{"id":1}]}"#, #"{"$merge":{"a":{"b":1}}}"#, #"{"$set":{"inc":1}}"#,
        #"{"$remove":[{"$identifier_key":"id","$identifier_value":1}]}"#,
        #"{"$update":[{"$identifier_key":"id","$identifier_value":1,"$new_object":{"a":1}}]}"#,
        #"{"$update":[{"$identifier_key":"id","$identifier_value":1,"$new_object":{"a":1}}],"_merge_objects":true}"#,
        #"{"$time":"2026-01-31T12:00:00.000+01:00"}"#, #"[{"at":{"$time":"2026-01-31T12:00:00.000Z"}}]"#,
    ]

    @Test("An event shows an operation as it was sent", arguments: forms)
    func roundTrip(form: String) async throws {
        try await withAPI { api in
            #expect(await api.post("/v1/log/attributes", #"{"user":"u","attributes":{"a":\#(form)}}"#).status == 200)
            let history = await api.get("/v1/history", [("user", "u")]).json
            let sent = try JSON.parse(form)
            #expect(history.at("events.1.attributes.a") == sent)
        }
    }

    @Test("Both lists of an array are two events, first what is added")
    func addAndRemove() async throws {
        try await withAPI { api in
            let body = #"{"user":"u","attributes":{"t":{"add":["a","b"],"remove":["a"]},"n":1}}"#
            #expect(await api.post("/v1/log/attributes", body).json.at("events") == 3)
            let profile = await api.get("/v1/profile", [("user", "u")]).json
            #expect(profile.at("custom_attributes.t") == .array(["b"]))
            #expect(profile.at("custom_attributes.n") == 1)
        }
    }

    @Test("_merge_objects merges at every level, in the body or among the attributes", arguments: [true, false])
    func merge(inBody: Bool) async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/attributes", #"{"user":"u","attributes":{"o":{"a":{"x":1},"b":2}}}"#)
            let body =
                inBody
                ? #"{"user":"u","attributes":{"o":{"a":{"y":3}}},"_merge_objects":true}"#
                : #"{"user":"u","attributes":{"o":{"a":{"y":3}},"_merge_objects":true}}"#
            #expect(await api.post("/v1/log/attributes", body).status == 200)
            let profile = await api.get("/v1/profile", [("user", "u")]).json
            let merged = try JSON.parse(#"{"a":{"x":1,"y":3},"b":2}"#)
            #expect(profile.at("custom_attributes.o") == merged)
        }
    }

    @Test("A launch of some kinds leaves the others, with a reason")
    func only() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/save/event", #"{"name":"x"}"#)
            _ = await api.post("/v1/save/attributes", #"{"attributes":{"a":1}}"#)
            let launch = await api.post("/v1/launch", #"{"only":["events"]}"#).json
            #expect(launch.at("flushed").count == 1)
            #expect(launch.at("left.0.reason").text.contains("not among the kinds"))
            let next = await api.post("/v1/launch", "{}").json
            // What a launch leaves is the next one's own: no process died.
            #expect(next.at("flushed").count == 1)
            #expect(next.at("finished") == .array([]))
            #expect(next.at("left") == .array([]))
        }
    }
}
