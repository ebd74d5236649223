import ProfileLog
import Testing

@Suite("Standard attributes over the API")
struct StandardAttributeTests {
    /// An attribute, a value that it refuses, and one that it takes, as they are typed.
    static let values: [(attribute: String, wrong: String, right: String)] = [
        ("dob", "yesterday", "1990-12-31"), ("dob", "1990-12-31T00:00:00Z", "2000-02-29"),
        ("dob", "1990-13-31", "1990-01-01"), ("country", "Xx", "de"), ("country", "Atlantis", "Germany"),
        ("language", "klingon", "en"), ("time_zone", "Mars", "Europe/Berlin"),
        ("time_zone", "GMT+25", "Eastern Time (US & Canada)"), ("gender", "X", "N"), ("gender", "f", "F"),
        ("home_city", "[1]", "1"), ("first_name", "true", "Jane"), ("last_name", "{}", "Doe"),
        ("email_subscribe", "yes", "opted_in"), ("push_subscribe", "OPTED_IN", "unsubscribed"),
        ("email_open_tracking_disabled", "1", "true"), ("email_click_tracking_disabled", "yes", "false"),
        ("date_of_first_session", "soon", "2026-01-31"),
        ("date_of_last_session", "2026-02-30", "2026-01-31T10:00:00+01:00"),
        ("marked_email_as_spam_at", "never", #"{"$time":"2026-01-31T10:00:00Z"}"#),
        ("current_location", #"{"longitude":200,"latitude":1}"#, #"{"longitude":13.4,"latitude":52.5}"#),
        ("current_location", #"{"latitude":1}"#, "null"), ("facebook", "jane", #"{"id":"1"}"#),
        ("twitter", "[]", #"{"screen_name":"jane"}"#), ("push_tokens", #"[{"token":"t"}]"#, "null"),
        ("push_tokens", "{}", #"[{"app_id":"a","token":"t"}]"#), ("image_url", "[]", "https://x.example/a.png"),
        (
            "subscription_groups", #"[{"subscription_group_id":"g","subscription_state":"maybe"}]"#,
            #"[{"subscription_group_id":"g","subscription_state":"subscribed"}]"#
        ), ("email", "jane", "Jane@x.example"), ("phone", "none", "+49 30 1234567"),
    ]

    /// As JSON: what is none is text.
    private static func json(_ typed: String, isText: Bool) -> String {
        let isJSON = !isText && (try? JSON.parse(Array(typed.utf8))) != nil
        return isJSON ? typed : "\"\(typed)\""
    }

    @Test("A standard attribute takes the values of its form, and refuses others by its name")
    func forms() async throws {
        try await withAPI { api in
            for (attribute, wrong, right) in Self.values {
                func post(_ kind: String, _ value: String, isText: Bool = false) async -> (
                    status: Int, json: AttributeValue
                ) {
                    let value = Self.json(value, isText: isText)
                    let device = kind == "save" ? #""device":"phone","# : ""
                    return await api.post(
                        "/v1/\(kind)/user-attribute",
                        #"{"user":"jane",\#(device)"attribute":"\#(attribute)","value":\#(value)}"#)
                }
                let refused = await post("log", wrong)
                #expect(refused.status == 400, "\(attribute): \(wrong)")
                #expect(refused.json.at("place") == .string("The user attribute \(attribute)"), "\(refused.json)")
                for kind in ["log", "save"] {
                    let taken = await post(kind, right, isText: attribute == "home_city")
                    #expect(taken.status == 200, "\(kind) \(attribute): \(taken.json)")
                }
            }
        }
    }
}
