import Foundation
import ProfileLog
import ProfileLogNativeAPI
import TestSupport
import Testing

@Suite("A store for tests")
struct EphemeralTests {
    private func store(_ service: Service) async throws -> String { try await service.get("/").json.at("store").text }

    @Test(
        "A store for tests is empty after a reset, its positions begin at 1, and it is gone at the end",
        arguments: [SIGTERM, SIGINT])
    func reset(signal: Int32) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder, arguments: ["--ephemeral"])
        let body = #"{"user":"u","name":"x","key":"k"}"#
        for _ in 0..<3 {
            #expect(try await service.post("/v1/log/event", body).json.at("position") == 2)
            let reset = try await service.post("/v1/reset", "")
            #expect(reset.status == 200)
            #expect(reset.json.at("last_position") == 0)
            #expect(try await service.get("/v1/stats").json.at("users") == 0)
        }
        let path = try await store(service)
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(try await service.stop(signal) == 0, "\(service.messages)")
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        #expect(!FileManager.default.fileExists(atPath: parent))
        #expect(!FileManager.default.fileExists(atPath: service.store))
    }

    @Test("A scheduled send is sent before the answer that sets the clock to its time, and without a request as well")
    func scheduled() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            _ = try await service.post("/v1/log/event", #"{"user":"u","name":"e"}"#)
            _ = try await service.post("/v1/clock", #"{"set":"2030-01-01T00:00:00Z"}"#)
            func schedule(_ time: String) async throws {
                let created = try await service.post(
                    "/messages/schedule/create",
                    #"{"external_user_ids":["u"],"schedule":{"time":"\#(time)"},"messages":{"webhook":{"url":"u"}}}"#)
                #expect(created.status == 201, "\(created.json)")
            }
            try await schedule("2030-01-01T01:00:00Z")
            #expect(try await service.get("/v1/sends").json.at("sends").count == 0)
            _ = try await service.post("/v1/clock", #"{"advance":"1h"}"#)
            #expect(try await service.get("/v1/sends").json.at("sends.0.kind") == "messageSent")
            _ = try await service.post("/v1/reset", "")
            _ = try await service.post("/v1/log/event", #"{"user":"u","name":"e"}"#)
            try await schedule(Timestamp(rawValue: Timestamp.now().rawValue + 200_000).rfc3339())
            try await waitUntil(turns: 3_000) { try await service.get("/v1/sends").json.at("sends").count > 0 }
            #expect(try await service.get("/v1/sends").json.at("sends").count == 1)
        }
    }

    @Test("Writes during resets go to one store or the other, whole, or are refused")
    func resetUnderLoad() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
                for client in 0..<4 {
                    group.addTask {
                        var statuses: [Int] = []
                        for _ in 0..<40 {
                            statuses += [
                                try await service.post("/v1/log/event", #"{"user":"u\#(client)","name":"e"}"#).status
                            ]
                        }
                        return statuses
                    }
                }
                group.addTask {
                    var statuses: [Int] = []
                    for _ in 0..<10 { statuses += [try await service.post("/v1/reset", "").status] }
                    return statuses
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(statuses).isSubset(of: [200, 503]), "\(Set(statuses))")
            #expect(try await service.post("/v1/reset", "").status == 200)
            #expect(try await service.post("/v1/log/event", #"{"user":"u","name":"e"}"#).json.at("position") == 2)
        }
    }

    @Test("The folder of a service that was killed is removed by the next one, that of a living one is not")
    func killed() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let other = try TemporaryFolder.made(prefix: "profiled")
        let environment = ["TMPDIR": folder.path]
        let killed = try await Service(in: folder, arguments: ["--ephemeral"], environment: environment)
        let left = try await store(killed)
        #expect(left.hasPrefix(folder.path))
        #expect(try await killed.stop(SIGKILL) == -SIGKILL)
        let living = try await Service(in: other, arguments: ["--ephemeral"], environment: environment)
        #expect(!FileManager.default.fileExists(atPath: left))
        let next = try await Service(in: folder, arguments: ["--ephemeral"], environment: environment)
        #expect(try await living.post("/v1/log/event", #"{"user":"u","name":"x"}"#).status == 200)
        #expect(FileManager.default.fileExists(atPath: try await store(living)))
        #expect(try await living.stop() == 0)
        #expect(try await next.stop() == 0)
    }

    @Test("The clock is set, advanced and released, and events get its time")
    func clock() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            func recordedAt() async throws -> String {
                let written = try await service.post("/v1/log/event", #"{"user":"u","name":"x"}"#)
                guard case .int(let position) = written.json.at("position") else { return "" }
                return try await service.get("/v1/events?after=\(position - 1)").json.at("events.0.recorded_at").text
            }
            let set = try await service.post("/v1/clock", #"{"set":"2026-01-31T12:00:00+01:00"}"#)
            #expect(set.status == 200)
            #expect(set.json.at("now") == "2026-01-31T11:00:00.000Z")
            #expect(set.json.at("standing") == true)
            #expect(try await recordedAt() == "2026-01-31T11:00:00.000Z")
            for (advance, now) in [
                (#""2 days""#, "2026-02-02T11:00:00.000Z"), ("90.5", "2026-02-02T11:01:30.500Z"),
                (#""1h""#, "2026-02-02T12:01:30.500Z"), ("0", "2026-02-02T12:01:30.500Z"),
            ] {
                let answer = try await service.post("/v1/clock", #"{"advance":\#(advance)}"#)
                #expect(answer.json.at("now") == .string(now))
            }
            #expect(try await recordedAt() == "2026-02-02T12:01:30.500Z")

            let none = try await service.post("/v1/clock", "{}")
            #expect(none.json.at("error").text.hasPrefix("`set` is missing, and so are advance and release:"))
            let back = try await service.post("/v1/clock", #"{"set":"2026-02-01"}"#)
            #expect(back.status == 409)
            #expect(back.json.at("code") == "clock_behind")
            let released = try await service.post("/v1/clock", #"{"release":true}"#)
            #expect(released.json.at("standing") == false)
            #expect(released.json.at("ahead_s") == .double(0))
            // A clock that goes is advanced too, and then there is no way back but a reset.
            let ahead = try await service.post("/v1/clock", #"{"advance":"400 days"}"#)
            #expect(ahead.json.at("standing") == false)
            #expect(ahead.json.at("ahead_s") == .double(34_560_000))
            #expect(try await recordedAt() > released.json.at("now").text)
            #expect(try await service.post("/v1/clock", #"{"release":true}"#).status == 409)
            #expect(try await service.post("/v1/reset", "{}").json.at("ahead_s") == .double(0))
            #expect(try await service.post("/v1/clock", #"{"set":"1999-12-31"}"#).status == 200)
        }
    }

    @Test("A reset that fails leaves the store as it was, its time included")
    func failedReset() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            let set = try await service.post("/v1/clock", #"{"set":"2026-01-31T12:00:00Z"}"#)
            #expect(set.status == 200)
            // Where the next store would be.
            let parent = URL(fileURLWithPath: try await store(service)).deletingLastPathComponent()
            try FileManager.default.removeItem(at: parent)
            #expect(try await service.post("/v1/reset", "").status >= 500)
            let clock = try await service.post("/v1/clock", #"{"advance":0}"#)
            #expect(clock.json.at("now") == set.json.at("now") && clock.json.at("standing") == true)
        }
    }

    private static let wrong = [
        ("/v1/clock", "", "body"), ("/v1/clock", "{}", "set"), ("/v1/clock", #"{"set":null}"#, "set"),
        ("/v1/clock", #"{"set":"soon"}"#, "set"), ("/v1/clock", #"{"set":"2026-01-31","release":true}"#, "set"),
        ("/v1/clock", #"{"set":"1969-12-31"}"#, "set"), ("/v1/clock", #"{"release":false}"#, "set"),
        ("/v1/clock", #"{"release":1}"#, "release"), ("/v1/clock", #"{"advance":-1}"#, "advance"),
        ("/v1/clock", #"{"advance":1e300}"#, "advance"), ("/v1/clock", #"{"advance":"9999999d"}"#, "advance"),
        ("/v1/clock", #"{"advance":"2 moons"}"#, "advance"), ("/v1/clock", #"{"advance":"days"}"#, "advance"),
        ("/v1/clock", #"{"advance":"99999999999999999999d"}"#, "advance"),
        ("/v1/clock", #"{"advance":true}"#, "advance"), ("/v1/clock", #"{"advance":300000000000}"#, "advance"),
        ("/v1/clock", #"{"stop":true}"#, "stop"), ("/v1/reset", "[]", "body"),
        ("/v1/reset", #"{"all":true}"#, "all"), ("/v1/reset", #"{"fixtures":"yes"}"#, "fixtures"),
    ]

    @Test("A wrong body changes nothing and is told where it is wrong")
    func wrongBodies() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            _ = try await service.post("/v1/log/event", #"{"user":"u","name":"x"}"#)
            for (path, body, place) in Self.wrong {
                let answer = try await service.post(path, body)
                #expect(answer.status == 400, "\(path) \(body)")
                #expect(answer.json.at("place") == .string(place), "\(path) \(body)")
                #expect(try await service.get("/v1/stats").json.at("events") == 2, "\(path) \(body)")
            }
        }
    }

    @Test("A store that is kept is neither emptied nor given another time")
    func kept() async throws {
        try await withService { service in
            _ = try await service.post("/v1/log/event", #"{"user":"u","name":"x"}"#)
            for (path, body) in [("/v1/reset", ""), ("/v1/clock", #"{"advance":1}"#)] {
                let answer = try await service.post(path, body)
                #expect(answer.status == 403)
                #expect(answer.json.at("code") == "not_ephemeral")
                #expect(answer.json.at("remedy").text.contains("--ephemeral"))
            }
            #expect(try await service.get("/v1/stats").json.at("events") == 2)
        }
    }
}
