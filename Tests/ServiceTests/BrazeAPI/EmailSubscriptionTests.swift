import ProfileLog
import ProfileLogRequests
import Testing

@Suite("What setting an e-mail address does to email_subscribe")
struct EmailSubscriptionTests {
    private static let mail = #""email":"s@x.example""#
    private static let out = Wire.user("a", #""email_subscribe":"unsubscribed""#)
    private static let optIn = Wire.user("a", #""email_subscribe":"opted_in""#)

    /// The tracked objects, and the state of `a` then.
    static let objects: [([String], String)] = [
        ([out, Wire.user("a", mail)], "subscribed"),
        ([Wire.user("a", mail), out, Wire.user("a", mail)], "unsubscribed"),
        ([Wire.user("a", mail), out, Wire.user("a", #""email":"S@X.example","x":1"#)], "unsubscribed"),
        ([Wire.user("a", mail), out, #"{\#(mail),"x":1}"#], "unsubscribed"),
        ([Wire.user("a", mail), optIn, #"{\#(mail),"x":1}"#], "opted_in"),
        ([Wire.user("a", #"\#(mail),"email_subscribe":"unsubscribed""#), Wire.user("a", mail)], "unsubscribed"),
        ([Wire.user("a", mail), out, Wire.user("b", mail)], "unsubscribed"),
        ([Wire.user("a", mail), out, Wire.user("a", #""email":"t@x.example""#)], "subscribed"),
        ([Wire.user("a", mail), out, Wire.user("a", #""email":"t@x.example""#), Wire.user("a", mail)], "subscribed"),
        ([Wire.user("a", mail), out, Wire.user("a", #"\#(mail),"email_subscribe":"subscribed""#)], "subscribed"),
        ([Wire.user("a", mail), out, Wire.user("a", #""email":null"#)], "unsubscribed"),
    ]

    @Test("A new address is subscribed; who keeps theirs keeps the state", arguments: objects)
    func state(sent: [String], expected: String) async throws {
        try await withAPI { api in
            for object in sent { await api.track(object) }
            #expect(await api.export(#""external_ids":["a"]"#).at("0.email_subscribe").text == expected)
        }
        // The same in one request.
        try await withAPI { api in
            _ = await api.post("/users/track", #"{"attributes":[\#(sent.joined(separator: ","))]}"#)
            #expect(await api.export(#""external_ids":["a"]"#).at("0.email_subscribe").text == expected)
        }
    }

    /// Logs the attributes of `a` one by one, as an app does.
    private func log(_ api: API, _ attributes: [(name: String, value: String)]) async {
        for (name, value) in attributes {
            _ = await api.post(
                "/v1/log/user-attribute", #"{"user":"a","attribute":"\#(name)","value":"\#(value)"}"#)
        }
    }

    @Test("What an app says of the two is kept as it was said")
    func app() async throws {
        try await withAPI { api in
            await log(api, [("email_subscribe", "unsubscribed"), ("email", "s@x.example")])
            #expect(await api.export(#""external_ids":["a"]"#).at("0.email_subscribe") == "unsubscribed")
        }
    }

    @Test("An address that the SDK spelled in capital letters is the same one")
    func spelling() async throws {
        try await withAPI { api in
            await log(api, [("email", "S@X.example"), ("email_subscribe", "unsubscribed")])
            await api.track(Wire.user("a", Self.mail))
            #expect(await api.export(#""external_ids":["a"]"#).at("0.email_subscribe") == "unsubscribed")
        }
    }
}
