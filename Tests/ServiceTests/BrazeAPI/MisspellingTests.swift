import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Misspelt members")
struct MisspellingTests {
    private static let alias = #"{"alias_name":"n","alias_label":"l"}"#
    private static let time = #""time":"2026-01-01""#
    private static let group = #""subscription_group_id":"news","subscription_state":"subscribed""#

    /// A path, a body of which something has no effect, and the `field` and `reason` of `dropped`.
    static let bodies: [(String, String, String, String)] = [
        ("/users/track", #"{"attributes":[{"external_id":"a"}],"event":[{}]}"#, "event", "events"),
        (
            "/users/track", #"{"events":[{"external_id":"a","name":"e",\#(time)}],"purchase":[]}"#, "purchase",
            "purchases"
        ),
        (
            "/users/track", #"{"events":[{"external_id":"a","name":"e",\#(time)}],"event":[{}]}"#, "event", "events"
        ),
        ("/users/delete", #"{"external_ids":["b"],"external_id":["a"]}"#, "external_id", "external_ids"),
        ("/users/track/sync", #"{"attributes":[{"external_id":"a"}],"purchasses":[{}]}"#, "purchasses", "purchases"),
        ("/users/track/bulk", #"{"attributes":[{"external_id":"a"}],"Events":[{}]}"#, "Events", "events"),
        (
            "/users/track", #"{"events":[{"external_id":"a","name":"e",\#(time),"propertis":{}}]}"#, "propertis",
            "properties"
        ),
        (
            "/users/track",
            #"{"purchases":[{"external_id":"a","product_id":"p","currency":"EUR","price":1,\#(time),"quantty":2}]}"#,
            "quantty", "quantity"
        ),
        (
            "/users/identify",
            #"{"aliases_to_identify":[{"external_id":"a","user_alias":\#(alias)}],"email_to_identify":[]}"#,
            "email_to_identify", "emails_to_identify"
        ),
        ("/users/delete", #"{"external_ids":["a"],"braze_id":["b"]}"#, "braze_id", "braze_ids"),
        (
            "/users/export/ids", #"{"external_ids":["a"],"field_to_export":["email"]}"#, "field_to_export",
            "fields_to_export"
        ),
        (
            "/users/export/ids", #"{"external_ids":["a"],"fields_to_export":["custom_attribute","email"]}"#,
            "fields_to_export.custom_attribute", "custom_attributes"
        ),
        ("/subscription/status/set", #"{\#(group),"external_id":"a","emial":"x"}"#, "emial", "email"),
        (
            "/v2/subscription/status/set",
            #"{"subscription_groups":[{\#(group),"external_ids":["a"],"emailss":["x"]}]}"#,
            "subscription_groups[0].emailss", "emails"
        ),
    ]

    @Test("What has no effect is named with the nearest word, in the answer", arguments: bodies)
    func dropped(path: String, body: String, field: String, meant: String) async throws {
        try await withAPI { plain in
            let api = try plain.under("subscription_groups: [{id: news, name: News, channel: email}]")
            await api.track(Wire.user("a"), Wire.aliasOnly("l", "n"))
            let (status, json) = await api.post(path, body)
            #expect(status == 201, "\(json)")
            let reason = "is not known: did you mean '\(meant)'?"
            let entries = (0..<json.at("dropped").count).map { json.at("dropped.\($0)") }
            #expect(entries.contains { $0.at("field").text == field && $0.at("reason").text == reason }, "\(json)")
        }
    }

    @Test("A misspelt 'merge_behavior' merges no users, as a merge cannot be undone")
    func mergeBehavior() async throws {
        try await withAPI { api in
            await api.track(Wire.user("a"), Wire.aliasOnly("l", "n"))
            let item = #"{"external_id":"a","user_alias":\#(Self.alias)}"#
            let (status, json) = await api.post(
                "/users/identify", #"{"aliases_to_identify":[\#(item)],"merge_behaviour":"none"}"#)
            #expect(status == 400 && json.at("place") == "merge_behaviour", "\(json)")
            #expect(json.at("remedy").text.contains("Did you mean 'merge_behavior'?"))
            let alias = UserID.alias(label: "l", name: "n")
            let owner = try api.log.find(alias)
            #expect(owner?.id == alias)
        }
    }

    @Test("A misspelt channel is named where no message is left to send")
    func channel() async throws {
        try await withAPI { api in
            await api.track(Wire.user("a"))
            let (status, json) = await api.post(
                "/messages/send", #"{"external_user_ids":["a"],"messages":{"e-mail":{"subject":"s"}}}"#)
            #expect(status == 400 && json.at("message") == "No message to send")
            #expect(json.at("remedy").text.hasSuffix("Did you mean 'email'?"), "\(json)")
        }
    }

    @Test("Under a key the answer is the same each time, and has no name that the sender chose")
    func keys() async throws {
        try await withAPI { api in
            let body = Array(#"{"attributes":[{"external_id":"a"}],"evnts":[{}]}"#.utf8)
            var answers: [String] = []
            for _ in 0..<2 {
                let answer = await api.answer(APIRequest(.post, "/users/track", idempotencyKey: "k", body: body))
                answers.append(String(decoding: answer.body, as: UTF8.self))
            }
            #expect(answers[0] == answers[1])
            #expect(
                answers[0].contains(#""dropped":[{"reason":"is not known: did you mean 'events'?"}]"#), "\(answers)")
        }
    }

    @Test("A refusal that comes from a misspelt member names it")
    func refusals() async throws {
        try await withAPI { api in
            for (path, body, member) in [
                ("/users/track", #"{"event":[{}]}"#, "event"),
                ("/users/delete", #"{"external_idss":["a"]}"#, "external_idss"),
                ("/users/merge", #"{"merge_update":[]}"#, "merge_update"),
                ("/users/external_ids/remove", #"{"external_idz":["a"]}"#, "external_idz"),
                ("/users/export/ids", #"{"external_idz":["a"]}"#, "external_idz"),
                ("/users/export/ids", #"{"external_id":["a"]}"#, "external_id"),
            ] {
                let (status, json) = await api.post(path, body)
                #expect(status == 400)
                #expect(json.at("remedy").text.hasPrefix("'\(member)' is not known: did you mean"), "\(json)")
            }
        }
    }

    @Test("A misspelt member of a recipient is noted, or named in the refusal to which it leads")
    func recipients() async throws {
        try await withAPI { plain in
            let api = try plain.under("campaigns: [{id: c, name: C, messages: [{webhook: {url: u}}]}]")
            await api.track(Wire.user("a"))
            let sent = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"c","recipients":[{"external_user_id":"a","trigger_propertis":{}}]}"#)
            #expect(sent.status == 201 && sent.json.at("errors") == .null)
            let reason = sent.json.at("dropped.0.reason").text
            #expect(reason == "'trigger_propertis' is not known: did you mean 'trigger_properties'?", "\(sent.json)")
            let refused = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"c","recipients":[{"email":"a@b.example","prioritisation":["identified"]}]}"#)
            #expect(refused.status == 400 && refused.json.at("remedy").text.contains("Did you mean 'prioritization'?"))
        }
    }

    @Test("An alias is not given to another user because its external ID is misspelt; far members are ignored")
    func others() async throws {
        try await withAPI { api in
            let item = #"{"extenal_id":"a","alias_name":"n","alias_label":"l"}"#
            let (status, json) = await api.post("/users/alias/new", #"{"user_aliases":[\#(item)]}"#)
            #expect(status == 400)
            #expect(json.at("errors.0.type").text.contains("did you mean 'external_id'?"), "\(json)")
            let ignored = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"a"}],"partner":"p","api_key":"k","note":1}"#)
            #expect(ignored.json.at("dropped") == .null)
            let flag = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"a","_merge_object":true,"car":{"a":1}}]}"#)
            #expect(flag.json.at("dropped.0.reason") == "is stored as an attribute: did you mean '_merge_objects'?")
        }
    }
}
