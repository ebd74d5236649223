import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Fold rules over the API")
struct RulesEndpointTests {
    private func withAPI(_ body: (API) async throws -> Void) async throws {
        let folder = TemporaryFolder(prefix: "api")
        let log = try folder.open()
        try await body(API(log: log))
    }

    private func log(_ attributes: String, at time: String = "2026-01-02", _ api: API) async -> AttributeValue {
        await api.post(
            "/v1/log/attributes", #"{"user":"ana","time":"\#(time)T00:00:00Z","attributes":\#(attributes)}"#
        ).json
    }

    @Test("A write that does not win says so: to a removal, of a standard attribute, without a time, in a batch")
    func doesNotWin() async throws {
        try await withAPI { api in
            _ = await log(#"{"plan":"free","src":"ad"}"#, api)
            let rules = #"{"attribute_policies":{"plan":"last_occurred","first_name":"last_occurred","src":"first"}}"#
            #expect(await api.post("/v1/rules", rules).status == 200)
            #expect(await log(#"{"plan":null}"#, at: "2026-01-04", api)["no_effect"] == nil)
            let late = await log(#"{"plan":"gold"}"#, at: "2026-01-03", api)
            #expect(late.at("no_effect.0.reason") == "has a removal that happened later")
            #expect(late.at("all_without_effect") == true)
            #expect(await log(#"{"plan":"gold"}"#, at: "2026-01-05", api)["no_effect"] == nil)
            #expect(await log(#"{"src":"web"}"#, api).at("no_effect.0.reason") == "keeps its first value by its policy")
            func name(_ text: String, _ time: String) async -> AttributeValue {
                let body = #"{"user":"ana","attribute":"first_name","value":"\#(text)","time":"\#(time)"}"#
                return await api.post("/v1/log/user-attribute", body).json
            }
            #expect(await name("Ana", "2026-01-05")["no_effect"] == nil)
            #expect(await name("Anna", "2026-01-04").at("no_effect.0.attribute") == "first_name")
            // A time to come: then what is logged now loses.
            let soon = OccurredAt(Timestamp(rawValue: Timestamp.now().rawValue + 86_400_000_000)).timestamp.rfc3339()
            _ = await api.post("/v1/log/attributes", #"{"user":"ana","time":"\#(soon)","attributes":{"plan":"x"}}"#)
            let now = await api.post("/v1/log/attributes", #"{"user":"ana","attributes":{"plan":"real"}}"#).json
            #expect(now.at("no_effect.0.reason") == "has a value that happened later", "\(now)")
            let item = #"{"kind":"log/attributes","user":"ana","attributes":{"plan":"real","x":1}}"#
            let batch = await api.post("/v1/batch", #"{"items":[\#(item)]}"#).json
            #expect(batch.at("results.0.no_effect.0.attribute") == "plan", "\(batch)")
            #expect(batch.at("results.0.all_without_effect") == false)
        }
    }

    @Test("A write that waited for a launch, or came by an import or /users/track, says so if it does not win")
    func doesNotWinElsewhere() async throws {
        try await withAPI { api in
            _ = await log(#"{"plan":"free","src":"ad","n":"text"}"#, at: "2026-01-04", api)
            let rules = #"{"attribute_policies":{"plan":"last_occurred","src":"first"}}"#
            #expect(await api.post("/v1/rules", rules).status == 200)
            let saved = #"{"user":"ana","device":"phone","time":"2026-01-03","attributes":{"plan":"x","y":1}}"#
            #expect(await api.post("/v1/save/attributes", saved).status == 200)
            _ = await api.post("/v1/save/attributes", #"{"user":"ana","device":"phone","attributes":{"n":{"inc":1}}}"#)
            let launch = await api.post("/v1/devices/phone/launch", "{}").json
            #expect(launch.at("flushed").count == 2, "\(launch)")
            #expect(launch.at("flushed.0.no_effect.0.attribute") == "plan", "\(launch)")
            #expect(launch.at("flushed.0.no_effect.0.reason") == "has a value that happened later")
            #expect(launch.at("flushed.0.no_effect").count == 1)
            #expect(launch.at("flushed.1.no_effect.0.attribute") == "n")
            let line =
                #"{"kind":"custom_attribute","user":"ana","time":"2026-01-02","attributes":{"plan":"y","src":"web"}}"#
            let first = #"{"kind":"custom_attribute","user":"bo","time":"2026-01-02","attributes":{"plan":"y"}}"#
            let answer = await api.post("/v1/import", #"{"name":"n","lines":[\#(line),\#(first)]}"#).json
            #expect(answer.at("imported") == 2 && answer.at("without_effect") == 2, "\(answer)")
            let soon = OccurredAt(Timestamp(rawValue: Timestamp.now().rawValue + 86_400_000_000)).timestamp.rfc3339()
            _ = await api.post("/v1/log/attributes", #"{"user":"ana","time":"\#(soon)","attributes":{"plan":"x"}}"#)
            let track = await api.post(
                "/users/track", #"{"attributes":[{"external_id":"ana","src":"tv","plan":"z","ok":1}]}"#
            ).json
            #expect(track.at("dropped").count == 2, "\(track)")
            #expect(track.at("dropped.0.field") == "plan" || track.at("dropped.1.field") == "plan")
            #expect(track.at("attributes_processed") == 1)
        }
    }

    @Test("Rules are set, hold for later events, and are known as of an earlier moment")
    func story() async throws {
        try await withAPI { api in
            _ = await log(#"{"plan":"free","visits":1}"#, api)
            let none = await api.get("/v1/rules").json
            #expect(none.at("position") == 0 && none.at("attribute_policies").count == 0)
            let policies = #"{"attribute_policies":{"plan":"last_occurred","visits":"counter","x":"last_arrival"}}"#
            let set = await api.post("/v1/rules", policies)
            #expect(set.status == 200 && set.json.at("position") == 3 && set.json.at("changed") == true)
            #expect(set.json.at("attribute_policies.plan") == "last_occurred")
            #expect(set.json.at("attribute_policies").count == 2)
            #expect(await api.post("/v1/rules", policies).json.at("changed") == false)
            let late = await log(#"{"plan":"gold","visits":2}"#, at: "2026-01-01", api)
            #expect(late.at("no_effect.0.attribute") == "plan")
            #expect(late.at("no_effect.0.reason") == "has a value that happened later")
            let text = await log(#"{"visits":"many"}"#, api)
            #expect(text.at("no_effect.0.reason") == "is a counter by its policy, and takes numbers only")
            let profile = await api.get("/v1/profile", [("user", "ana")]).json
            #expect(profile.at("custom_attributes.plan") == "free" && profile.at("custom_attributes.visits") == 3)
            #expect(await api.get("/v1/rules", [("as_of", "2")]).json.at("position") == 0)
            #expect(await api.get("/v1/rules", [("as_of", "3")]).json.at("attribute_policies.visits") == "counter")
            let events = await api.get("/v1/events").json
            #expect(events.at("events.2.kind") == "rulesChanged")
            #expect(events.at("events.2.rules.attribute_policies.visits") == "counter")
            #expect(await api.post("/v1/rules", #"{"attribute_policies":{}}"#).json.at("changed") == true)
            _ = await log(#"{"visits":9}"#, api)
            #expect(await api.get("/v1/profile", [("user", "ana")]).json.at("custom_attributes.visits") == 9)
        }
    }

    @Test(
        "Wrong rules are refused by their place, with the nearest word",
        arguments: [
            (#"{}"#, "attribute_policies", "policies of all attributes"),
            (#"{"attribute_policies":3}"#, "attribute_policies", "Write names"),
            (#"{"attribute_policies":{"plan":"last_ocurred"}}"#, "attribute_policies.plan", "`last_occurred`"),
            (#"{"attribute_policies":{"plan":"newest"}}"#, "attribute_policies.plan", "last_arrival, last_occurred"),
            (#"{"attribute_policies":{"plan":7}}"#, "attribute_policies.plan", "one word"),
            (#"{"attribute_policies":{"email":"first"}}"#, "attribute_policies.email", "last_arrival."),
            (#"{"attribute_policies":{"gender":"counter"}}"#, "attribute_policies.gender", "last_occurred, first"),
            (#"{"attribute_policies":{},"blocklist":{}}"#, "blocklist", "attribute_policies"),
        ])
    func wrong(body: String, place: String, remedy: String) async throws {
        try await withAPI { api in
            let answer = await api.post("/v1/rules", body)
            #expect(answer.status == 400, "\(answer.json)")
            #expect(answer.json.at("place") == .string(place), "\(answer.json)")
            #expect(answer.json.at("remedy").asText?.contains(remedy) == true, "\(answer.json)")
            let read1 = try api.log.lastPosition()
            #expect(read1 == .start)
        }
    }

    @Test("A workspace file stores its policies once, and a file without the key changes none")
    func workspace() async throws {
        try await withAPI { api in
            let workspace = try Workspace(yaml: "attribute_policies: {visits: counter}")
            for _ in 0..<2 { try workspace.declare(in: api.log) }
            try Workspace(yaml: "export_window_days: 90").declare(in: api.log)
            let read2 = try api.log.lastPosition()
            #expect(read2 == Position(rawValue: 1))
            let read3 = try api.log.rules().rules.policies
            #expect(read3 == ["visits": .counter])
            try Workspace(yaml: "attribute_policies: {}").declare(in: api.log)
            let read4 = try api.log.rules().rules
            #expect(read4 == FoldRules())
        }
    }
}
