import Foundation
import ProfileLog
import ProfileLogNativeAPI
import ProfileLogRequests
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("A replay into a shadow, over the API")
struct ReplayEndpointTests {
    private func withAPI(_ body: (API) async throws -> Void) async throws {
        let folder = TemporaryFolder(prefix: "api")
        let log = try folder.open(projections: RequestStore.projections)
        try await body(API(log: log))
    }

    @Test("A shadow over the API is folded, looked at, guarded by its generation, and swapped")
    func story() async throws {
        try await withAPI { api in
            for _ in 0..<40 { _ = await api.post("/v1/log/event", #"{"user":"ana","name":"a"}"#) }
            let before = await api.get("/v1/profile", [("user", "ana")]).json
            #expect(before.at("version") == 41)
            #expect(await api.get("/v1/replay").json.at("shadow") == .null)
            let folded = await api.post("/v1/replay", #"{"threads":2,"verify":true}"#).json
            let shadow = folded.at("shadow")
            #expect(shadow.at("complete") == true && shadow.at("users_done") == 1 && shadow.at("generation") == 1)
            #expect(shadow.at("projections") == .array(["profile", "usage", "catalogue"]))
            #expect(shadow.at("states") == 2 && shadow.at("events") == 41)
            #expect(folded.at("differing").count == 0)
            #expect(await api.get("/v1/replay").json.at("shadow") == shadow)
            let other = await api.post("/v1/replay", #"{"users":["ana"]}"#)
            #expect(other.status == 400 && other.json.at("error").text.contains("is of another replay"))
            let guarded = await api.post("/v1/replay/swap", #"{"generation":7}"#)
            #expect(guarded.status == 400 && guarded.json.at("error").text.contains("is of generation 1, not 7"))
            let swapped = await api.post("/v1/replay/swap", #"{"generation":1}"#)
            #expect(swapped.status == 200 && swapped.json.at("swapped") == true)
            #expect(await api.get("/v1/profile", [("user", "ana")]).json == before)
            let missing = await api.post("/v1/replay/swap", #"{"generation":1}"#)
            #expect(missing.status == 400 && missing.json.at("error") == "The shadow does not exist.")
            #expect(await api.post("/v1/replay/discard", "{}").json.at("discarded") == false)
        }
    }

    @Test("Stats name projections with states of another revision, until a replay")
    func outdated() async throws {
        let folder = TemporaryFolder(prefix: "api")
        let log = try folder.open(projections: RequestStore.projections)
        let api = API(log: log)
        for _ in 0..<40 { _ = await api.post("/v1/log/event", #"{"user":"ana","name":"a"}"#) }
        #expect(await api.get("/v1/stats").json.at("outdated_states") == .null)
        try log.environment.withWriteTransaction { transaction in
            let row = SnapshotRow.bytes(revision: UsageProjection.revision + 1, state: [])
            try transaction.put(
                log.environment.tables.snapshots, KeyCoding.snapshot(UsageProjection.name, user: 1, version: 32), row)
        }
        #expect(await api.get("/v1/stats").json.at("outdated_states") == .array(["usage"]))
        #expect(await api.post("/v1/replay", "{}").json.at("shadow.complete") == true)
        _ = await api.post("/v1/replay/swap", #"{"generation":1}"#)
        #expect(await api.get("/v1/stats").json.at("outdated_states") == .null)
    }

    @Test("A condition chooses the users who pass, and the replay goes on by its generation")
    func condition() async throws {
        try await withAPI { api in
            for (user, level) in [("ana", 7), ("bo", 1), ("cleo", 9)] {
                _ = await api.post("/v1/log/attributes", #"{"user":"\#(user)","attributes":{"level":\#(level)}}"#)
            }
            let folded = await api.post("/v1/replay", #"{"where":"custom.level >= 6"}"#).json
            #expect(folded.at("shadow.users") == 2 && folded.at("shadow.complete") == true, "\(folded)")
            #expect(folded.at("shadow.states") == 4)
            // Others pass now.
            _ = await api.post("/v1/log/attributes", #"{"user":"bo","attributes":{"level":8}}"#)
            let other = await api.post("/v1/replay", #"{"where":"custom.level >= 6"}"#)
            #expect(other.status == 400 && other.json.at("error").text.contains("is of another replay"))
            let next = await api.post("/v1/replay", #"{"generation":1,"verify":true}"#).json
            #expect(next.at("shadow.users") == 2 && next.at("shadow.generation") == 1 && next.at("shadow.pass") == 2)
            #expect(await api.post("/v1/replay/swap", #"{"generation":1}"#).status == 200)
        }
    }

    @Test(
        "A condition or a generation that chooses nothing is one sentence",
        arguments: [
            (#"{"where":"custom.level >= 60"}"#, "where", "matches no user"),
            (#"{"where":"custom.level >="}"#, "where", "column"),
            (#"{"where":"custom.level >= 6","users":["ana"]}"#, "where", "cannot be combined with users"),
            (#"{"generation":3}"#, "generation", "names no shadow"),
            (#"{"generation":3,"until":1}"#, "generation", "cannot be combined with users, where or until"),
        ])
    func refusedChoice(body: String, place: String, reason: String) async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/attributes", #"{"user":"ana","attributes":{"level":7}}"#)
            let answer = await api.post("/v1/replay", body)
            #expect(answer.status == 400 && answer.json.at("place").text == place, "\(answer.json)")
            #expect(answer.json.at("error").text.contains(reason), "\(answer.json)")
            #expect(await api.get("/v1/replay").json.at("shadow") == .null)
        }
    }

    @Test("A condition that more than a thousand users pass is refused")
    func tooMany() async throws {
        try await withAPI { api in
            for hundred in 0..<11 {
                let items = (0..<100).map {
                    #"{"kind":"log/event","user":"u\#(hundred * 100 + $0)","name":"a"}"#
                }
                let batch = await api.post("/v1/batch", #"{"items":[\#(items.joined(separator: ","))]}"#)
                #expect(batch.status == 200, "\(batch.json)")
            }
            let answer = await api.post("/v1/replay", #"{"where":"events.a.count >= 1"}"#)
            #expect(answer.status == 400 && answer.json.at("error").text.contains("more than 1000 users"))
        }
    }

    @Test(
        "Wrong fields are named",
        arguments: [
            ("threads", "0"), ("for_s", "61"), ("until", "-1"), ("until", "99"), ("users", "[1]"), ("user", "1"),
            ("where", "1"), ("generation", "0"),
        ])
    func fields(name: String, value: String) async throws {
        try await withAPI { api in
            let answer = await api.post("/v1/replay", "{\"\(name)\":\(value)}")
            #expect(answer.status == 400 && answer.json.at("place") == .string(name))
        }
    }
}
