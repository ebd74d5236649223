import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("The REST API over HTTP")
struct BrazeServiceTests {
    @Test("What is answered is readable at once, by the export and by /v1/profile")
    func readYourWrites() async throws {
        try await withService { service in
            for number in 1...20 {
                let track = try await service.post(
                    "/users/track", #"{"attributes":[{"external_id":"a","n":\#(number)}]}"#,
                    headers: ["Authorization": "Bearer secret-key", "Content-Type": "application/json"])
                #expect(track.status == 201)
                let export = try await service.post("/users/export/ids", #"{"external_ids":["a"]}"#)
                #expect(export.json.at("users.0.custom_attributes.n") == .int(Int64(number)))
                #expect(
                    try await service.get("/v1/profile?user=a").json.at("custom_attributes.n") == .int(Int64(number)))
            }
        }
    }

    @Test("A bearer is neither checked, echoed nor logged, and no value gets into messages")
    func bearer() async throws {
        try await withService(arguments: ["--log-level", "trace"]) { service in
            let headers = ["Authorization": "Bearer canary-key", "Content-Type": "application/json"]
            let wrong = try await service.post(
                "/users/track",
                #"{"api_key":"canary-key","attributes":[{"external_id":"canary-id","gender":"canary-value"}]}"#,
                headers: headers)
            #expect(wrong.status == 201)
            let broken = try await service.post(
                "/users/track", #"{"attributes":[{"email":"canary@value""#, headers: headers)
            #expect(broken.status == 400)
            let refused = try await service.post(
                "/users/track", #"{"attributes":[{"email":"canary@value"}]}"#, headers: headers)
            #expect(refused.status == 400)
            for text in [wrong, broken, refused].map({ String(decoding: $0.body, as: UTF8.self) }) + [service.messages]
            {
                #expect(!text.contains("canary"))
            }
            #expect(try await service.get("/").json.at("authorization").text.contains("any bearer"))
        }
    }

    @Test("Any content type is taken as long as the body is JSON; a form is refused; a large body is 413")
    func contentTypes() async throws {
        try await withService { service in
            let body = #"{"attributes":[{"external_id":"a","x":1}]}"#
            let text = try await service.post("/users/track", body, headers: ["Content-Type": "text/plain"])
            #expect(text.status == 201)
            let form = try await service.post(
                "/users/track", "attributes%5B%5D%5Bx%5D=1",
                headers: ["Content-Type": "application/x-www-form-urlencoded"])
            #expect(form.status == 415)
            let large = try await service.post("/users/track", #"{"x":"\#(String(repeating: "x", count: 4 << 20))"}"#)
            #expect(large.status == 413)
            #expect(try await service.get("/users/track").status == 405)
            #expect(try await service.post("/users/unknown", "{}").status == 404)
        }
    }

    @Test("What was answered under a key is answered so after a restart")
    func restart() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let body = #"{"attributes":[{"external_id":"a","n":{"inc":1}},{}]}"#
        var answers: [[UInt8]] = []
        for _ in 0..<2 {
            let service = try await Service(in: folder)
            let reply = try await service.post("/users/track", body, headers: ["Idempotency-Key": "k"])
            #expect(reply.status == 201)
            answers.append(reply.body)
            let export = try await service.post("/users/export/ids", #"{"external_ids":["a"]}"#)
            #expect(export.json.at("users.0.custom_attributes.n") == 1)
            #expect(try await service.stop() == 0)
        }
        #expect(answers[0] == answers[1])
    }
}
