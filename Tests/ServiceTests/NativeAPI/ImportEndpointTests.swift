import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

@Suite("POST /v1/import")
struct ImportEndpointTests {
    private static func body(_ names: [String], _ more: String = "") -> String {
        let lines = names.map { #"{"kind":"custom_event","user":"u","name":"\#($0)"}"# }
        return #"{"name":"n","lines":[\#(lines.joined(separator: ","))]\#(more)}"#
    }

    @Test("A repeated request stores nothing, one with more lines those, one with other lines is a conflict")
    func repeated() async throws {
        try await withAPI { api in
            let requests: [(names: [String], imported: Int64, skipped: Int64)] = [
                (["a", "b"], 2, 0), (["a", "b"], 0, 2), (["a", "b", "c"], 1, 2),
            ]
            for (names, imported, skipped) in requests {
                let (status, json) = await api.post("/v1/import", Self.body(names))
                #expect(status == 200 && json.at("imported") == .int(imported), "\(json)")
                #expect(json.at("skipped") == .int(skipped), "\(json)")
            }
            #expect(await api.post("/v1/import", Self.body(["a", "x", "y", "z"])).status == 409)
            #expect(await api.get("/v1/stats").json.at("events") == 4)
        }
    }

    @Test(
        "What is wrong is refused by its place, and nothing is stored",
        arguments: [
            (body(["a", ""]), "line 2"), (body(["a", ""], #","first_line":7"#), "line 8"),
            (body(["a", ""], #","numbers":[3,9]"#), "line 9"), (body(["a"], #","numbers":[3,9]"#), "numbers"),
            (body(["a", "b"], #","numbers":[3,2]"#), "numbers"),
            (body(["a", "b"], #","first_line":5,"numbers":[3,6]"#), "numbers"),
            (body(["a"], #","numbers":[9223372036854775807]"#), "numbers"),
            (body(["a", "b"], #","first_line":9223372036854775807"#), "first_line"),
            (body(["a"], #","first_line":0"#), "first_line"), (body(["a"], #","ids":["x"]"#), "ids"),
            (body(["a"], #","id_field":"i","ids":[1]"#), "ids"), (body(["a"], #","id_field":"i""#), "line 1"),
            (#"{"name":"","lines":[]}"#, "name"), (#"{"name":"n","lines":[1]}"#, "line 1"),
        ])
    func refused(body: String, place: String) async throws {
        try await withAPI { api in
            let (status, json) = await api.post("/v1/import", body)
            #expect(status == 400 && json.at("place").text == place, "\(json)")
            #expect(await api.get("/v1/stats").json.at("events") == 0)
        }
    }

    @Test("Each line with an ID is stored once, whatever the name of the import")
    func ids() async throws {
        try await withAPI { api in
            let ids = #","id_field":"i","ids":["1","2"]"#
            #expect(await api.post("/v1/import", Self.body(["a", "b"], ids)).json.at("imported") == 2)
            let again = Self.body(["a", "x"], ids).replacing(#""name":"n""#, with: #""name":"m""#)
            let json = await api.post("/v1/import", again).json
            #expect(json.at("imported") == 0 && json.at("skipped") == 2, "\(json)")
            #expect(json.at("different") == 1)
        }
    }

    @Test("Times are read in the unit that is named, and any of them if that was asked for")
    func times() async throws {
        func body(_ time: String, _ more: String) -> String {
            #"{"name":"n","lines":[{"kind":"custom_event","user":"u","name":"e","time":\#(time)}]\#(more)}"#
        }
        try await withAPI { api in
            let refused: [(time: String, more: String, place: String)] = [
                ("86400", "", "line 1"), (#""2206-01-01""#, "", "line 1"),
                (#""2026-01-01""#, #","time_unit":"h""#, "time_unit"),
            ]
            for (time, more, place) in refused {
                let (status, json) = await api.post("/v1/import", body(time, more))
                #expect(status == 400 && json.at("place").text == place, "\(json)")
            }
            #expect(await api.post("/v1/import", body("86400", #","time_unit":"s""#)).status == 200)
            let late = body(#""2206-01-01""#, #","any_time":true,"first_line":2"#)
            #expect(await api.post("/v1/import", late).status == 200)
        }
    }
}
