import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Imports of push tokens")
struct PushTokenImportTests {
    private func token(_ text: String, device: String? = nil) -> String {
        let device = device.map { #","device_id":"\#($0)""# } ?? ""
        return #"{"app_id":"i","token":"\#(text)"\#(device)}"#
    }

    @discardableResult
    private func send(_ api: API, _ tokens: String, _ more: String = "") async -> AttributeValue {
        await api.post(
            "/users/track", #"{"attributes":[{"push_token_import":true,"push_tokens":[\#(tokens)]\#(more)}]}"#
        ).json
    }

    @Test("Each token makes an anonymous user who has it, with what else the object says")
    func makes() async throws {
        try await withAPI { (api) async throws in
            let answer = await send(
                api, "\(token("t", device: "d")),\(token("u"))", #","email":"a@b.example","country":"US","shoe":39"#)
            #expect(answer.at("attributes_processed") == 1 && answer.at("dropped") == .null)
            #expect(try api.log.userCount() == 2)
            let owner = await api.export(#""device_id":"d""#)
            #expect(owner.count == 1)
            #expect(owner.at("0.push_tokens.0.token") == "t" && owner.at("0.push_tokens").count == 1)
            #expect(owner.at("0.country") == "US" && owner.at("0.custom_attributes.shoe") == 39)
            #expect(owner.at("0.external_id") == .null)
            #expect(await api.export(#""email_address":"a@b.example""#).count == 2)
        }
    }

    @Test("A token that a user has is skipped, until no user has it any more")
    func known() async throws {
        try await withAPI { (api) async throws in
            await api.track(Wire.user("a", #""push_tokens":[\#(token("t"))]"#))
            for _ in 0..<2 {
                let answer = await send(api, token("t"), #","shoe":1"#)
                #expect(answer.at("attributes_processed") == 1)
                #expect(answer.at("dropped.0.reason") == "another profile has this token already")
            }
            #expect(try api.log.userCount() == 1)
            await send(api, "\(token("u")),\(token("u"))")
            await send(api, token("u"))
            #expect(try api.log.userCount() == 2)
            await api.track(Wire.user("a", #""push_tokens":null"#))
            await send(api, token("t"))
            #expect(try api.log.userCount() == 3)
            _ = await api.post("/users/delete", #"{"external_ids":["a"]}"#)
            await send(api, token("t"))
            #expect(try api.log.userCount() == 3)
        }
    }

    @Test("A device ID that no device can have is passed over, and the token gets another one")
    func longDevice() async throws {
        try await withAPI { (api) async throws in
            let long = String(repeating: "d", count: Limits.bytesPerDevice + 1)
            let answer = await send(api, "\(token("t")),\(token("u", device: long))")
            #expect(answer.at("attributes_processed") == 1 && answer.at("errors") == .null)
            #expect(try api.log.userCount() == 2)
            #expect(await send(api, token("u")).at("dropped.0.reason") == "another profile has this token already")
        }
    }

    @Test("Who is on a device keeps it, and is not changed by an import for it")
    func occupied() async throws {
        try await withAPI { (api) async throws in
            _ = await api.post("/v1/log/event", #"{"user":"a","device":"d","name":"x"}"#)
            _ = await api.post("/v1/devices/d/change-user", #"{"user":"a"}"#)
            let before = await api.export(#""device_id":"d""#)
            await send(api, token("t", device: "d"), #","first_name":"Ana""#)
            let after = await api.export(#""device_id":"d""#)
            #expect(before.count == 1 && after.at("0") == before.at("0"))
            #expect(after.count == 2 && after.at("1.first_name") == "Ana")
            #expect(try api.log.userCount() == 2)
        }
    }

    @Test("Who is on the device made of a token keeps what they have, when the token is imported once more")
    func rotated() async throws {
        try await withAPI { (api) async throws in
            let mail = #""email":"p@x.example""#
            await send(api, token("t"), ",\(mail)")
            let person = #"{"external_id":"jane",\#(mail),"prioritization":["unidentified"]}"#
            _ = await api.post("/users/identify", #"{"emails_to_identify":[\#(person)]}"#)
            await api.track(Wire.user("jane", #""push_tokens":[\#(token("t2"))]"#))
            let before = try #require(try api.log.find(.externalID("jane")))
            for round in 1...3 {
                let answer = await send(api, token("t"), #","first_name":"R""#)
                #expect(answer.at("attributes_processed") == 1 && answer.at("dropped") == .null)
                #expect(try api.log.userCount() == UInt64(1 + round))
                #expect(try api.log.find(.externalID("jane")) == before)
                #expect(await send(api, token("t")).at("dropped.0.reason") == "another profile has this token already")
                // No user has the token any more; the user who had it gets a new device.
                let owner = try #require(try api.log.users(limit: 10).last)
                #expect(await api.export(#""braze_id":"\#(owner.brazeID)""#).at("0.push_tokens.0.token") == "t")
                await api.track(#"{"braze_id":"\#(owner.brazeID)","push_tokens":null}"#)
            }
            #expect(await api.export(#""external_ids":["jane"]"#).at("0.push_tokens.0.token") == "t2")
        }
    }

    @Test("A token goes with a merge")
    func merged() async throws {
        try await withAPI { (api) async throws in
            await api.track(Wire.user("a", #""push_tokens":[\#(token("t"))]"#), Wire.user("b"))
            _ = await api.post(
                "/users/merge",
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"a"},"#
                    + #""identifier_to_keep":{"external_id":"b"}}]}"#
            )
            await send(api, token("t"))
            #expect(try api.log.userCount() == 2)
            await api.track(Wire.user("b", #""push_tokens":[]"#))
            await send(api, token("t"))
            #expect(try api.log.userCount() == 3)
        }
    }

    @Test("Many at once make one user for a token, and a retry none")
    func atOnce() async throws {
        try await withAPI { (plain) async throws in
            let api = API(writer: LogWriter(plain.log))
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<16 { group.addTask { await send(api, token("t")) } }
            }
            #expect(try api.log.userCount() == 1)
            let history = try api.log.events(from: .start, limit: 100).events
            #expect(history.count { $0.event.kind == .userAttributesChanged } == 1)
            let (status, json) = await api.post(
                "/users/track/sync",
                #"{"attributes":[{"push_token_import":true,"shoe":1,"push_tokens":[\#(token("v", device: "e"))]}]}"#)
            #expect(status == 201 && json.at("users.0.custom_attributes.shoe") == 1)
            #expect(json.at("users.0.device_id") == "e")
        }
    }

    @Test("Imports at once that name different devices for a token make one user")
    func otherDevices() async throws {
        try await withAPI { (plain) async throws in
            let api = API(writer: LogWriter(plain.log))
            for round in 1...24 {
                await withTaskGroup(of: Void.self) { group in
                    for device in ["d\(round)", "e\(round)", nil] {
                        group.addTask { await send(api, token("t\(round)", device: device)) }
                    }
                }
                #expect(try api.log.userCount() == UInt64(round))
            }
        }
    }

    @Test("Who comes to a device while tokens are imported for it and for another keeps what they have")
    func occupiedMeanwhile() async throws {
        try await withAPI { (plain) async throws in
            let api = API(writer: LogWriter(plain.log))
            for round in 1...24 {
                await api.track(Wire.user("a\(round)", #""first_name":"Ana""#))
                await withTaskGroup(of: Void.self) { group in
                    for device in ["d\(round)", "e\(round)"] {
                        group.addTask {
                            await send(api, token("t\(round)", device: device), #","first_name":"R""#)
                        }
                    }
                    group.addTask {
                        _ = await api.post("/v1/devices/d\(round)/change-user", #"{"user":"a\#(round)"}"#)
                    }
                }
                #expect(await api.export(#""external_ids":["a\#(round)"]"#).at("0.first_name") == "Ana")
                let changes = try api.log.events(from: .start, limit: 1000).events.count {
                    $0.event.kind == .userAttributesChanged
                }
                #expect(changes == 2 * round)
            }
        }
    }

    @Test("The state of the fold is read back as it was written")
    func coding() async throws {
        try await withAPI { (api) async throws in
            await send(api, "\(token("t")),\(token("u", device: "d"))")
            let state = try api.log.state(overStore: PushTokenProjection.self).state
            let bytes = PushTokenProjection.encode(state)
            #expect(bytes.withUnsafeBytes { PushTokenProjection.decode($0) } == state)
            #expect(state.holds(PushToken(app: "i", token: "u")) && !state.holds(PushToken(app: "j", token: "u")))
            #expect(state.users(on: "d") == [UserNumber(rawValue: 2)] && state.users(on: "e").isEmpty)
        }
    }
}
