import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Exports by device_id")
struct BrazeDeviceTests {
    private func token(_ text: String, on device: String) -> String {
        #"{"app_id":"i","token":"\#(text)","device_id":"\#(device)"}"#
    }

    @Test("A device leads to who is on it and to all who have a push token there, each once")
    func lookUp() async throws {
        try await withAPI { (api) async throws in
            func found(_ device: String) async -> [AttributeValue] {
                let body = #""device_id":"\#(device)","fields_to_export":["external_id"]"#
                return await api.export(body).asArray?.map { $0.at("external_id") } ?? []
            }
            #expect(await found("d") == [])
            await api.track(
                Wire.user("a", #""push_tokens":[\#(token("1", on: "d")),\#(token("2", on: "e"))]"#),
                Wire.user("b", #""push_tokens":[\#(token("3", on: "d"))]"#))
            #expect(await found("d") == ["a", "b"])
            #expect(await found("e") == ["a"])
            _ = await api.post("/v1/devices/d/change-user", #"{"user":"c"}"#)
            _ = await api.post("/v1/devices/e/change-user", #"{"user":"a"}"#)
            #expect(await found("e") == ["a"])
            await api.track(Wire.user("a", #""push_tokens":[\#(token("2", on: "e"))]"#))
            let onDevice = await found("d")
            #expect(onDevice.contains("b") && !onDevice.contains("a"))
            let long = String(repeating: "d", count: 255)
            await api.track(Wire.user("l", #""push_tokens":[\#(token("4", on: long))]"#))
            #expect(await found(long) == ["l"])
        }
    }

    @Test("A device of a token goes with a merge, and with a deletion")
    func lookUpAfterwards() async throws {
        try await withAPI { (api) async throws in
            await api.track(Wire.user("a", #""push_tokens":[\#(token("1", on: "d"))]"#), Wire.user("b"))
            func found() async -> AttributeValue { await api.export(#""device_id":"d""#).at("0.external_id") }
            #expect(await found() == "a")
            _ = await api.post(
                "/users/merge",
                #"{"merge_updates":[{"identifier_to_merge":{"external_id":"a"},"#
                    + #""identifier_to_keep":{"external_id":"b"}}]}"#
            )
            #expect(await found() == "b")
            _ = await api.post("/users/delete", #"{"external_ids":["b"]}"#)
            #expect(await found() == .null)
            let (_, json) = await api.post("/users/export/ids", #"{"device_id":"d"}"#)
            #expect(json.at("invalid_user_ids") == (try JSON.parse(#"["d"]"#)))
        }
    }
}
