import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Devices over HTTP")
struct DeviceEndpointTests {
    @Test("A device is set up, launched, left and asked to send; what is queued is told with the reason")
    func queue() async throws {
        try await withService { service in
            let path = "/v1/devices/%E9%9B%BB%2F%E8%A9%B1"  // 電/話
            let setUp = try await service.post("\(path)/settings", #"{"online":false,"request_policy":"manual"}"#).json
            #expect(setUp.at("changed") == true)
            #expect(setUp.at("new_device") == true)
            #expect(setUp.at("settings.online") == false)
            #expect(try await service.post("\(path)/settings", #"{"online":false}"#).json.at("changed") == false)
            _ = try await service.post("/v1/save/event", #"{"device":"電/話","name":"x"}"#)
            let launch = try await service.post("\(path)/launch", "").json
            #expect(launch.at("device") == "電/話")
            #expect(launch.at("flushed").count == 0)
            #expect(launch.at("queued.0.outcome") == "queued")
            #expect(launch.at("queued.0.why") == "offline")
            let logged = try await service.post("/v1/log/event", #"{"device":"電/話","name":"y"}"#).json
            #expect(logged.at("queued") == true)

            let pending = try await service.get("/v1/pending").json
            #expect(pending.at("total") == 0)
            #expect(pending.at("queued") == 2)
            #expect(pending.at("devices.0.queue.0.name") == "x")
            #expect(pending.at("devices.0.queue.1.kind") == "customEventQueued")
            #expect(pending.at("devices.0.waiting_s.queue.count") == 2)
            #expect(pending.at("devices.0.waiting_s.all.median") == .null)
            #expect(try await service.get("/v1/stats").json.at("queued") == 2)
            #expect(try await service.get("/v1/profile?user=device:電/話".urlEncoded).json.at("pending.queued") == 2)

            #expect(try await service.post("\(path)/settings", #"{"online":true}"#).json.at("why") == "manual")
            #expect(try await service.post("\(path)/send", #"{"requested":false}"#).json.at("sent").count == 0)
            let sent = try await service.post("\(path)/send", "{}").json
            #expect(sent.at("sent").count == 2)
            #expect(sent.at("sent.1.outcome") == "sent")
            #expect(sent.at("queued") == 0)
            let device = try await service.get(path).json
            #expect(device.at("device") == "電/話")
            #expect(device.at("waiting") == 0)
            #expect(device.at("session.position") == launch.at("position").plusOne)
            #expect(try await service.post("\(path)/leave", "").json.at("left") == true)
            #expect(try await service.post("\(path)/leave", "").json.at("left") == false)
            let key = ["Idempotency-Key": "k"]
            #expect(try await service.post("\(path)/launch", "{}", headers: key).status == 400)
        }
    }

    @Test("Devices are listed by ID, a page at a time")
    func list() async throws {
        try await withAPI { api in
            for device in ["b", "a", "c"] { _ = await api.post("/v1/devices/\(device)/launch", "{}") }
            let first = await api.get("/v1/devices", [("limit", "2")]).json
            #expect(first.at("devices.0.device") == "a")
            #expect(first.at("devices.0.user.id") == "device:a")
            #expect(first.at("total") == 3)
            #expect(first.at("more") == true)
            let rest = await api.get("/v1/devices", [("after", "b")]).json
            #expect(rest.at("devices").count == 1)
            #expect(rest.at("devices.0.device") == "c")
            #expect(rest.at("more") == false)
        }
    }

    @Test("Waiting times are told by list, with quantiles that occur")
    func waitingTimes() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        var options = LogOptions()
        options.now = { Timestamp(rawValue: 1_800_000_000_000_000) }
        let log = try EventLog(path: folder.file("store").path, create: true, options: options)
        let api = API(log: log)
        let start = OccurredAt(Timestamp(rawValue: 1_800_000_000_000_000 - 100_000_000)).timestamp
        for second in 1...10 {
            let time = Timestamp(rawValue: start.rawValue + Int64(second) * 1_000_000).rfc3339()
            let body = #"{"name":"x","time":"\#(time)","device":"d\#(second % 2)"}"#
            #expect(await api.post("/v1/save/event", body).status == 200)
        }
        let all = await api.get("/v1/stats").json.at("pending.waiting_s.pending_custom_events")
        #expect(all.at("count") == 10)
        #expect(all.at("shortest") == .double(90))
        #expect(all.at("median") == .double(94))
        #expect(all.at("p90") == .double(98))
        #expect(all.at("longest") == .double(99))
        let one = await api.get("/v1/pending", [("device", "d0")]).json
        #expect(one.at("devices.0.waiting_s.all.count") == 5)
        #expect(one.at("waiting_s.all.longest") == .double(98))
    }

    @Test("A log-out gives up what was not sent, a change of user merges, and both say so")
    func users() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/log/event", #"{"user":"ana","name":"x"}"#)
            _ = await api.post("/v1/devices/d/launch", "{}")
            let merged = await api.post("/v1/devices/d/change-user", #"{"user":"ana"}"#).json
            #expect(merged.at("merged") == true)
            #expect(merged.at("previous.id") == "device:d")
            #expect(merged.at("user.id") == "ana")
            #expect(await api.get("/v1/users").json.at("users.1.merged_into") == 1)
            _ = await api.post("/v1/devices/d/settings", #"{"online":false}"#)
            _ = await api.post("/v1/log/event", #"{"user":"ana","device":"d","name":"y"}"#)
            let out = await api.post("/v1/devices/d/log-out", "{}").json
            #expect(out.at("previous.id") == "ana")
            #expect(out.at("discarded").count == 1)
            #expect(out.at("sdk_enabled") == false)
            #expect(await api.get("/v1/devices/d").json.at("user") == .null)
            let drop = await api.post("/v1/log/event", #"{"user":"ana","device":"d","name":"z"}"#)
            #expect(drop.status == 400)
            _ = await api.post("/v1/devices/d/settings", #"{"sdk_enabled":true,"online":true}"#)
            #expect(await api.post("/v1/change-user", #"{"device":"d","user":"ben"}"#).json.at("user.id") == "ben")
            #expect(await api.post("/v1/devices/d/wipe", "{}").json.at("previous.id") == "ben")
        }
    }

    @Test("The actor and the reason of a discard are short texts, and the actor is not the SDK")
    func discards() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/save/event", #"{"device":"d","name":"x"}"#)
            let long = String(repeating: "é", count: 513)
            for (reason, actor, place) in [
                ("", "me", "The reason"), (long, "me", "The reason"), ("r", "", "The actor"), ("r", long, "The actor"),
                ("r", "SDK", "The actor"),
            ] {
                let body = #"{"device":"d","reason":"\#(reason)","actor":"\#(actor)"}"#
                let answer = await api.post("/v1/pending/discard", body)
                #expect(answer.status == 400 && answer.json.at("place") == .string(place), "\(reason) \(actor)")
            }
            #expect(await api.get("/v1/pending").json.at("total") == 1)
            let most = String(long.dropLast())
            let body = #"{"device":"d","reason":"\#(most)","actor":"\#(most)"}"#
            #expect(await api.post("/v1/pending/discard", body).json.at("discarded").count == 1)
        }
    }

    @Test("The app asks for a sending unless it says no")
    func requested() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/devices/d/settings", #"{"request_policy":"manual"}"#)
            for (body, sent) in [(#"{"requested":false}"#, 0), (#"{"requested":null}"#, 2), ("{}", 1)] {
                _ = await api.post("/v1/save/event", #"{"user":"ana","device":"d","name":"a"}"#)
                _ = await api.post("/v1/devices/d/launch", "{}")
                let answer = await api.post("/v1/devices/d/send", body)
                #expect(answer.json.at("sent").count == sent, "\(body)")
            }
        }
    }

    @Test("A rejected item is listed, repaired once, and keeps what the correction leaves out")
    func retry() async throws {
        try await withAPI { api in
            let context = EventContext(
                source: .import, process: "Push", device: "d", storage: .appGroup("group.app"), item: "i-1")
            _ = try api.log.append(
                [
                    .customEventSaved(CustomEvent(name: "$x", properties: [.init("a", .int(1))])),
                    .userAttributeSaved(UserAttributeChange(.email, .string("none"))),
                ], to: .externalID("ana"), context: context)
            let launch = await api.post("/v1/devices/d/launch", "{}").json
            #expect(launch.at("flushed.0.outcome") == "rejected")
            let rejected = await api.get("/v1/rejected").json
            #expect(rejected.at("total") == 2)
            #expect(rejected.at("rejected.0.device") == "d")
            #expect(rejected.at("rejected.0.repaired_by") == .null)
            #expect(rejected.at("rejected.0.reason") == "The event's name must not begin with $")
            let position = rejected.at("rejected.0.position").number
            let wrong = await api.post("/v1/pending/retry", #"{"position":\#(position),"value":"x"}"#)
            #expect(wrong.json.at("place") == "value")
            let asItIs = await api.post("/v1/pending/retry", #"{"position":\#(position + 1)}"#)
            #expect(asItIs.json.at("waiting") == 1)
            // What is null is left out.
            let body = #"{"position":\#(position),"name":"x","properties":null,"attribute":null,"value":null}"#
            let repair = await api.post("/v1/pending/retry", body).json
            #expect(repair.at("replaces") == .int(position))
            #expect(repair.at("device") == "d")
            #expect(repair.at("storage") == "group.app")
            #expect(repair.at("repeated") == false)
            #expect(await api.post("/v1/pending/retry", body).json.at("repeated") == true)
            let other = await api.post("/v1/pending/retry", #"{"position":\#(position),"name":"y"}"#)
            #expect(other.status == 409)
            #expect(other.json.at("code") == "already_repaired")
            #expect(other.json.at("actual") == repair.at("position"))

            let next = await api.post("/v1/devices/d/launch", "{}").json
            #expect(next.at("flushed.0.name") == "x")
            #expect(next.at("flushed.0.properties.a") == 1)
            #expect(next.at("flushed.0.item") == "i-1")
            #expect(next.at("flushed.0.replaces") == .int(position))
            // An item that is retried unchanged is refused again.
            #expect(next.at("flushed.1.outcome") == "rejected")
            #expect(await api.get("/v1/rejected", [("user", "ana")]).json.at("total") == 1)
            #expect(await api.get("/v1/rejected", [("repaired", "true")]).json.at("total") == 3)
            let stats = await api.get("/v1/stats").json
            #expect(stats.at("rejected.open") == 1)
            #expect(stats.at("rejected.repaired") == 2)
        }
    }

    @Test("A save of a process that lacks the app group tells where it landed, and why the app cannot see it")
    func missingAppGroup() async throws {
        try await withAPI { api in
            let target = #"[{"process":"push","app_group":"group.app"}]"#
            _ = await api.post("/v1/devices/phone/settings", #"{"without_app_groups":\#(target)}"#)
            let saved = await api.post("/v1/save/event", #"{"process":"push","name":"x"}"#).json
            #expect(saved.at("storage") == "private:push")
            #expect(saved.at("note").text.contains("push lacks the app group group.app"))
            let seen = await api.post("/v1/save/event", #"{"name":"x"}"#).json
            #expect(seen.at("storage") == "group.app")
            #expect(seen.at("note") == .null)
            let own = await api.post("/v1/save/event", #"{"process":"push","private":true,"name":"x"}"#).json
            #expect(own.at("note") == .null)
            let storage = await api.get("/v1/pending").json.at("devices.0.storages.1")
            #expect(storage.at("visible_to_app") == false)
            #expect(storage.at("hidden_because").text.hasPrefix("private to push, which lacks the app group"))
            _ = await api.post("/v1/devices/phone/settings", #"{"with_app_groups":\#(target)}"#)
            #expect(
                await api.post("/v1/save/event", #"{"process":"push","name":"x"}"#).json.at("storage") == "group.app")
        }
    }
}

extension AttributeValue {
    fileprivate var number: Int64 { if case .int(let number) = self { number } else { 0 } }
    fileprivate var plusOne: AttributeValue { .int(number + 1) }
}

extension String {
    /// The text with every byte that a URL's query does not take as `%XX`.
    fileprivate var urlEncoded: String { addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? self }
}
