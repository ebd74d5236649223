import ProfileLog
import Testing

@testable import ProfileLogFacts

@Suite("IDs that are likely to be mistakes")
struct DoubtfulUserTests {
    @Test(
        "A note says why",
        arguments: [
            ("null", "no value"), ("NULL", "no value"), ("undefined", "no value"), ("NaN", "no value"),
            ("None", "no value"), ("nil", "no value"), ("(null)", "no value"), ("<null>", "no value"),
            ("[object Object]", "no value"), ("Optional(\"u1\")", "no value"), ("-1", "no value"),
            ("anonymous", "no value"), ("jane ", "white space"), (" jane1", "white space"), ("jane\n", "white space"),
            ("jane\u{A0}", "white space"), ("\u{3000}jane", "white space"), ("  ", "is white space"),
            ("\"jane\"", "quotation"), ("'7'", "quotation"), ("0", "zeros"), ("0000", "zeros"),
            ("00000000-0000-0000-0000-000000000000", "zeros"), ("ffffffff-ffff-ffff-ffff-ffffffffffff", "UUID"),
        ])
    func doubtful(id: String, words: String) {
        for user in [UserID.externalID(id), .alias(label: "crm", name: id)] {
            #expect(user.doubt?.contains(words) == true, "\(user.doubt ?? "none")")
        }
    }

    @Test(
        "An ID of another form than it seems to have gets a note",
        arguments: [
            ("email:jane", "no e-mail address"), ("phone:12", "no phone number"),
            ("phone:1234567890", "without + and country code"), ("EMAIL:jane@example.com", "external"),
            ("alias:jane", "external"), ("email:jane@example.com", nil), ("phone:+4915112345678", nil),
            ("alias:crm:jane", nil),
        ])
    func form(text: String, words: String?) {
        #expect(words.map { UserID(text).doubt?.contains($0) == true } ?? (UserID(text).doubt == nil))
    }

    @Test(
        "Others get none",
        arguments: [
            "jane", "u-1", "nullable", "noneofyourbusiness", "ann o'neill", "0001", "100", "nancy", "orange7", "花子",
            "f47ac10b-58cc-4372-a567-0e02b2c3d479", "jane doe", "fade", "o1", "a@example.com", "-10", "x",
        ])
    func usual(id: String) { #expect(UserID.externalID(id).doubt == nil) }

    @Test("A doubtful ID is told once, when the user is made: of each write, in a batch and by a device")
    func told() async throws {
        try await withAPI { api in
            let first = await api.post("/v1/log/event", #"{"user":"null","name":"a"}"#).json
            #expect(first.at("user_note").text.contains("no value"))
            #expect(await api.post("/v1/log/event", #"{"user":"null","name":"a"}"#).json["user_note"] == nil)
            #expect(await api.post("/v1/log/event", #"{"user":"jane","name":"a"}"#).json["user_note"] == nil)
            let items =
                #"{"items":[{"kind":"log/event","user":"NaN","name":"a"},"#
                + #"{"kind":"log/event","user":"NaN","name":"b"}]}"#
            let batch = await api.post("/v1/batch", items).json
            #expect(batch.at("results.0.user_note").text.contains("no value"))
            #expect(batch.at("results.1")["user_note"] == nil)
            let device = await api.post("/v1/devices/phone/change-user", #"{"user":"undefined"}"#).json
            #expect(device.at("user_note").text.contains("no value"))
        }
    }

    @Test("Braze's endpoints tell of a doubtful ID in `notes`, and again under the same key")
    func braze() async throws {
        try await withAPI { api in
            let body =
                #"{"events":[{"external_id":"jane","name":"a","time":"2026-01-01"},"#
                + #"{"external_id":"null","name":"a","time":"2026-01-01"}],"#
                + #""attributes":[{"external_id":"null","x":1}]}"#
            for _ in 1...2 {
                let first = await api.post("/users/track", body, idempotencyKey: "k").json
                #expect(first.at("notes").count == 1, "\(first)")
                #expect(first.at("notes.0.reason").text.contains("no value"))
                #expect(first.at("notes.0.input_array") == "attributes" && first.at("notes.0.index") == 0)
            }
            #expect(await api.post("/users/track", body).json["notes"] == nil)
            let sync = #"{"attributes":[{"external_id":"undefined","x":1}]}"#
            #expect(await api.post("/users/track/sync", sync).json.at("notes.0.reason").text.contains("no value"))
            let rename = #"{"external_id_renames":[{"current_external_id":"jane","new_external_id":"None"}]}"#
            let renamed = await api.post("/users/external_ids/rename", rename).json
            #expect(renamed.at("notes.0.reason").text.contains("no value"), "\(renamed)")
            let alias = #"{"user_aliases":[{"external_id":"None","alias_name":"nil","alias_label":"l"}]}"#
            #expect(await api.post("/users/alias/new", alias).json.at("notes.0.index") == 0)
            let identify =
                #"{"aliases_to_identify":[{"external_id":"NaN","user_alias":"#
                + #"{"alias_name":"w7","alias_label":"l"}}]}"#
            _ = await api.post("/users/alias/new", #"{"user_aliases":[{"alias_name":"w7","alias_label":"l"}]}"#)
            #expect(await api.post("/users/identify", identify).json.at("notes.0.index") == 0)
        }
    }
}
