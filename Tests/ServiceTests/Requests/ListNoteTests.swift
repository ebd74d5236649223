import ProfileLog
import ProfileLogRequests
import Testing

@Suite("Empty lists of the service say why")
struct ListNoteTests {
    typealias Asked = (path: String, query: [(name: String, value: String)], note: String)

    private static let native: [Asked] = [
        ("/v1/users", [("after", "7")], "There are no users after 7."),
        ("/v1/devices", [("after", "z")], "There are no devices after z."),
        ("/v1/events", [("after", "3")], "There are no events after 3."),
        ("/v1/events", [("kind", "purchaseLogged")], "No events match `kind`."),
        ("/v1/events", [("name", "helo")], "The store has never seen the name helo. Did you mean hello?"),
        ("/v1/events", [("field", "levl")], "The store has never seen the attribute levl. Did you mean level?"),
        ("/v1/sends", [("message", "x")], "The store has never seen the campaign, canvas or message x."),
        ("/v1/messages", [], "There are no declared in-app messages."),
        ("/v1/pending", [("storage", "x")], "No waiting items match `storage`."),
        ("/v1/rejected", [("after", "9")], "There are no rejected items after 9."),
        ("/v1/rules", [], "No attribute has a policy: the last arrival wins."),
        ("/v1/traits", [], "No computed traits are declared: the workspace file has them (docs/traits.md)."),
        ("/v1/series", [("of", "sessions")], "Nothing was counted in this time."),
        ("/v1/diff", [("a", "now")], "No user changed between the two moments."),
        ("/v1/export", [("what", "events"), ("device", "x")], "The store has never seen the device x."),
    ]

    private static let braze: [Asked] = [
        ("/events/list", [("page", "7")], "There are no custom events on page 7."),
        ("/events", [("cursor", "7a7a")], "There are no custom events after this cursor."),
        ("/custom_attributes", [("cursor", "7a7a")], "There are no custom attributes after this cursor."),
        ("/purchases/product_list", [], "There are no products."),
        ("/segments/list", [], "The workspace file has no segments."),
        (
            "/messages/scheduled_broadcasts", [("end_time", "2030-01-01T00:00:00Z")],
            "No scheduled broadcasts match `end_time`."
        ),
        ("/subscription/user/status", [("external_id[]", "nobody")], "No users match `external_id[]`."),
    ]

    static let lists = native + braze

    @Test("A sentence from what was asked and what there is", arguments: lists)
    func note(path: String, query: [(name: String, value: String)], note: String) async throws {
        try await withAPI { api in
            #expect(await api.post("/v1/log/event", #"{"user":"ana","name":"hello"}"#).status == 200)
            let level = #"{"user":"ana","attributes":{"level":1}}"#
            #expect(await api.post("/v1/log/attributes", level).status == 200)
            let (status, json) = await api.get(path, query)
            #expect(status == 200 && json.at("note").text == note, "\(json.json)")
        }
    }

    @Test("An export of unknown users")
    func users() async throws {
        try await withAPI { api in
            let (status, json) = await api.post("/users/export/ids", #"{"external_ids":["nobody"]}"#)
            #expect(status == 201 && json.at("invalid_user_ids.0") == "nobody")
            #expect(json.at("note") == "No user is known by any of these identifiers.")
        }
    }

    @Test("A store without an event", arguments: ["/v1/users", "/v1/events", "/v1/devices", "/v1/pending"])
    func emptyStore(path: String) async throws {
        try await withAPI { api in
            let note = await api.get(path).json.at("note")
            #expect(note == (path == "/v1/pending" ? "Nothing waits." : "The store has no event yet."))
        }
    }

    @Test("A list with entries has no note")
    func silent() async throws {
        try await withAPI { api in
            #expect(await api.post("/v1/log/event", #"{"user":"ana","name":"hello"}"#).status == 200)
            for path in ["/v1/users", "/v1/events", "/events/list", "/events"] {
                #expect(await api.get(path).json.at("note") == .null, "\(path)")
            }
        }
    }
}
