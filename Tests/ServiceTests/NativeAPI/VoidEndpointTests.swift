import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Voids and blame over the API")
struct VoidEndpointTests {
    private func withAPI(_ body: (API) async throws -> Void) async throws {
        let folder = TemporaryFolder(prefix: "api")
        let log = try folder.open()
        try await body(API(log: log))
    }

    @Test("A void changes the profile, the history shows it, and an unvoid brings the value back")
    func void() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/attributes", #"{"user":"ana","attributes":{"plan":"free"}}"#)
            _ = await api.post("/v1/log/attributes", #"{"user":"ana","attributes":{"plan":"gold","level":3}}"#)
            let void = await api.post("/v1/void", #"{"position":3,"reason":"a test","actor":"ops"}"#)
            #expect(void.status == 200 && void.json.at("position") == 4 && void.json.at("version") == 4)
            #expect(void.json.at("voided") == 3 && void.json.at("kind") == "customAttributesChanged")
            #expect(void.json.at("changed") == .array(["level", "plan"]))
            #expect(void.json.at("user.id") == "ana")
            let profile = await api.get("/v1/profile", [("user", "ana")]).json
            #expect(profile.at("custom_attributes") == .object([.init("plan", "free")]))
            #expect(
                await api.get("/v1/profile", [("user", "ana"), ("as_of", "version:3")]).json.at(
                    "custom_attributes.plan") == "gold")
            let history = await api.get("/v1/history", [("user", "ana")]).json
            #expect(history.at("events.2.voided_by") == 4 && history.at("events.1.voided_by") == .null)
            #expect(history.at("events.3.target") == 3 && history.at("events.3.reason") == "a test")
            let back = await api.post("/v1/unvoid", #"{"position":3,"reason":"it was right"}"#)
            #expect(back.status == 200 && back.json.at("unvoided") == 3 && back.json.at("changed").count == 2)
            #expect(await api.get("/v1/profile", [("user", "ana")]).json.at("custom_attributes.plan") == "gold")
        }
    }

    @Test("A count whose events are all void has no first and no last time, and its log shows them")
    func count() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"ana","name":"played"}"#)
            _ = await api.post("/v1/void", #"{"position":2,"reason":"a test"}"#)
            let blame = await api.get("/v1/blame", [("user", "ana"), ("field", "event:played"), ("log", "true")])
            let count = "custom_events.0"
            #expect(blame.status == 200 && blame.json.at("\(count).count") == 0)
            #expect(blame.json.at("\(count).first") == .null && blame.json.at("\(count).last") == .null)
            #expect(blame.json.at("\(count).log").count == 1 && blame.json.at("\(count).log.0.voided_by") == 3)
        }
    }

    @Test("A void item still waits, and says that it is void")
    func pending() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/save/attributes", #"{"user":"ana","attributes":{"plan":"gold"}}"#)
            let void = await api.post("/v1/void", #"{"position":3,"reason":"a test"}"#)
            #expect(void.json.at("changed").count == 0)
            let items = await api.get("/v1/pending").json.at("devices.0.storages.0.kinds.pending_custom_attributes")
            #expect(items.at("0.voided_by") == 4)
            let launch = await api.post("/v1/launch", "{}").json
            #expect(launch.at("flushed.0.outcome") == "flushed")
            #expect(await api.get("/v1/profile", [("user", "ana")]).json.at("custom_attributes").count == 0)
        }
    }

    @Test(
        "What cannot be void is refused, with the next step",
        arguments: [
            (#"{"position":1,"reason":"r"}"#, 409, "is of the kind userCreated", "erase USER"),
            (#"{"position":99,"reason":"r"}"#, 404, "the log ends at position 3", "profilecli history"),
            (#"{"position":0,"reason":"r"}"#, 400, "must be a position", ""),
            (#"{"reason":"r"}"#, 400, "is missing", ""),
            (#"{"position":2}"#, 400, "`reason` is missing", ""),
            (#"{"position":2,"reason":""}"#, 400, "1 to 1024 bytes", ""),
            (#"{"position":2,"reason":"r"}"#, 409, "is void already, since position 3", "profilecli unvoid 2"),
            (#"{"position":3,"reason":"r"}"#, 409, "it voids position 2", "`profilecli unvoid 2`"),
        ])
    func refused(body: String, status: Int, error: String, remedy: String) async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"ana","name":"played"}"#)
            #expect(await api.post("/v1/void", #"{"position":2,"reason":"first"}"#).status == 200)
            let answer = await api.post("/v1/void", body)
            #expect(answer.status == status)
            #expect(answer.json.at("error").text.contains(error), "\(answer.json)")
            let next = answer.json.at("remedy").text
            #expect(remedy.isEmpty ? !next.isEmpty : next.contains(remedy), "\(answer.json)")
            let last = try api.log.lastPosition()
            #expect(last.rawValue == 3)
        }
    }

    @Test("What is not void cannot be unvoided; the same void under its key is a success")
    func repeated() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"ana","name":"played"}"#)
            let none = await api.post("/v1/unvoid", #"{"position":2,"reason":"r"}"#)
            #expect(none.status == 409 && none.json.at("code") == "not_void")
            for isRepeated in [false, true] {
                let void = await api.post("/v1/void", #"{"position":2,"reason":"r","key":"k"}"#)
                #expect(void.status == 200 && void.json.at("repeated") == .bool(isRepeated))
                #expect(void.json.at("position") == 3 && void.json.at("changed") == .array(["played"]))
            }
            #expect(await api.post("/v1/void", #"{"position":2,"reason":"other","key":"k"}"#).status == 409)
        }
    }

    @Test("Blame tells who set a value, through a launch and a merge")
    func blame() async throws {
        try await withAPI { api in
            _ = await api.post(
                "/v1/log/attributes", #"{"user":"ana","attributes":{"home":{"city":"Bonn","zip":1}},"key":"k1"}"#)
            _ = await api.post(
                "/v1/save/attributes",
                #"{"user":"ana","device":"d1","process":"Push","attributes":{"home":{"city":"Rom"}},"#
                    + #""_merge_objects":true}"#
            )
            _ = await api.post("/v1/launch", #"{"device":"d1"}"#)
            let blame = await api.get("/v1/blame", [("user", "ana"), ("field", "home.city")]).json
            let field = blame.at("fields.0")
            #expect(field.at("field") == "home.city" && field.at("value") == "Rom")
            #expect(field.at("set.how") == "saved" && field.at("set.process") == "Push")
            #expect(field.at("set.device") == "d1" && field.at("set.launch") != .null)
            #expect(field.at("set.effect") != .null)
            #expect(field.at("previous.value") == "Bonn" && field.at("previous.position") == 2)
            let all = await api.get("/v1/blame", [("user", "ana"), ("log", "true")]).json
            #expect(all.at("fields").count == 2)
            #expect(all.at("fields.1.set.key") == "k1" && all.at("fields.1.field") == "home.zip")
            #expect(all.at("fields.0.log").count == 2)
            let unknown = await api.get("/v1/blame", [("user", "ana"), ("field", "hom")])
            #expect(unknown.status == 404 && unknown.json.at("code") == "unknown_field")
            #expect(unknown.json.at("remedy").text.contains("Did you mean home?"))
            #expect(await api.get("/v1/blame", [("user", "nobody")]).status == 404)
            #expect(await api.get("/v1/blame").status == 400)
        }
    }

    @Test("Blame tells which event raised a count, and with a log all of them")
    func counts() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/attributes", #"{"user":"ana","attributes":{"plan":"free"}}"#)
            _ = await api.post("/v1/log/event", #"{"user":"ana","name":"played","key":"k1"}"#)
            _ = await api.post("/v1/save/event", #"{"user":"ana","device":"d1","process":"Push","name":"played"}"#)
            _ = await api.post("/v1/launch", #"{"device":"d1"}"#)
            _ = await api.post(
                "/v1/log/purchase", #"{"user":"ana","product":"shoes","currency":"EUR","price":5,"quantity":2}"#)
            let all = await api.get("/v1/blame", [("user", "ana")]).json
            #expect(all.at("fields").count == 1 && all.at("purchases.0.product") == "shoes")
            #expect(all.at("purchases.0.count") == 2 && all.at("custom_events.0.log") == .null)
            let event = all.at("custom_events.0")
            #expect(event.at("name") == "played" && event.at("count") == 2 && event.at("set.how") == "saved")
            #expect(event.at("set.device") == "d1" && event.at("set.process") == "Push")
            #expect(event.at("set.launch") != .null && event.at("first") != .null)
            let one = await api.get("/v1/blame", [("user", "ana"), ("field", "event:played"), ("log", "true")]).json
            #expect(one.at("fields").count == 0 && one.at("purchases").count == 0)
            #expect(one.at("custom_events.0.log.0.count") == 1 && one.at("custom_events.0.log.0.key") == "k1")
            #expect(one.at("custom_events.0.log.1.count") == 2 && one.at("custom_events.0.log").count == 2)
            #expect(one.at("custom_events.0.log.1.position") == event.at("set.position"))
            let attribute = await api.get("/v1/blame", [("user", "ana"), ("field", "plan")]).json
            #expect(attribute.at("fields").count == 1 && attribute.at("custom_events") == .null)
            let unknown = await api.get("/v1/blame", [("user", "ana"), ("field", "event:plaid")])
            #expect(unknown.status == 404 && unknown.json.at("code") == "unknown_field")
            #expect(unknown.json.at("error").text.contains("a custom event"))
            #expect(unknown.json.at("remedy").text.contains("Did you mean event:played?"))
        }
    }
}
