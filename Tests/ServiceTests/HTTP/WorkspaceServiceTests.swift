import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("What the service gives the REST API")
struct WorkspaceServiceTests {
    private static let workspace = """
        segments:
          - id: everybody
            name: Everybody
            users: all
        blocklist:
          events: [debug]
        messages:
          - {id: welcome, trigger_conditions: [{type: open}]}

        """

    /// Runs `body` with a service of this workspace, for which the key is valid.
    private func withWorkspace(
        _ text: String = workspace, _ body: (Service, _ key: [String: String]) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        try Data(text.utf8).write(to: folder.file("workspace.yaml"))
        let made = try await run(["keys", "add", "--keys", "k.json", "--name", "app"], in: folder)
        let service = try await Service(
            in: folder, arguments: ["--ephemeral", "--keys", "k.json", "--workspace", "workspace.yaml"])
        try await body(service, ["Authorization": "Bearer \(made.output.trimmingCharacters(in: .newlines))"])
        #expect(try await service.stop() == 0)
    }

    @Test("A segment is exported to an address of this service, which needs no key")
    func export() async throws {
        try await withWorkspace { service, key in
            let track = #"{"attributes":[{"external_id":"ann","level":7}]}"#
            #expect(try await service.post("/users/track", track, headers: key).status == 201)
            let request = #"{"segment_id":"everybody","fields_to_export":["external_id"],"output_format":"zip"}"#
            #expect(try await service.post("/users/export/segment", request).status == 401)
            let answer = try await service.post("/users/export/segment", request, headers: key)
            let url = answer.json.at("url").text
            let base = "http://127.0.0.1:\(service.port)"
            try #require(url.hasPrefix("\(base)/exports/"), "\(answer.json)")
            let path = String(url.dropFirst(base.count))
            let file = try await service.get(path)
            #expect(file.status == 200)
            #expect(file.headers["content-type"] == "application/zip")
            #expect(file.headers["x-request-id"] != nil)
            #expect(file.body.prefix(2) == Array("PK".utf8)[...])
            #expect(file.headers["content-length"] == "\(file.body.count)")
            #expect(try await service.get("/exports/nothing.zip").status == 404)
            #expect(try await service.get("/exports/..%2Fstore-1%2Fdata.mdb").status == 404)

            // The workspace outlives a reset, as the keys do.
            #expect(try await service.post("/v1/reset", "", headers: key).status == 200)
            #expect(try await service.post("/users/export/segment", request, headers: key).status == 201)
        }
    }

    @Test("The messages of the workspace are those of the first session, also after a reset and at an earlier time")
    func messages() async throws {
        try await withWorkspace { service, key in
            for _ in 1...2 {
                #expect(try await service.get("/v1/messages", headers: key).json.at("messages.0.id") == "welcome")
                _ = try await service.post("/v1/launch", "{}", headers: key)
                let state = try await service.get("/v1/devices/phone/messages", headers: key).json
                #expect(state.at("screen") == "welcome")
                _ = try await service.post("/v1/reset", "", headers: key)
                let clock = try await service.post("/v1/clock", #"{"set":"2026-01-01T00:00:00Z"}"#, headers: key)
                #expect(clock.status == 200)
            }
        }
    }

    @Test("What the workspace blocks is blocked, and pages name each other")
    func blockedAndPages() async throws {
        try await withWorkspace { service, key in
            let events = (["debug"] + (0..<60).map { "e\($0)" }).map {
                #"{"external_id":"u","name":"\#($0)","time":"2026-01-01T00:00:00Z"}"#
            }
            let body = #"{"events":[\#(events.joined(separator: ","))]}"#
            #expect(try await service.post("/users/track", body, headers: key).status == 201)
            #expect(try await service.get("/v1/events?name=debug", headers: key).json.at("events").count == 0)
            let page = try await service.get("/events", headers: key)
            #expect(page.json.at("events").count == 50)
            let link = try #require(page.headers["link"])
            #expect(link.hasPrefix("</events?cursor="), "\(link)")
            #expect(link.contains("rel=\"next\""))
        }
    }

    @Test("The start says which trait reads a name that the store has never seen")
    func unseenNames() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let log = try folder.open("store")
        _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: .externalID("ana"))
        let traits = "traits: [{name: a, function: count, event: played}, {name: b, function: count, event: payed}]"
        try Data(traits.utf8).write(to: folder.file("workspace.yaml"))
        let service = try await Service(in: folder, arguments: ["--workspace", "workspace.yaml"])
        #expect(try await service.stop() == 0)
        let lines = service.messages.split(separator: "\n").filter { $0.contains("never seen") }
        #expect(lines.count == 1 && lines[0].contains("event=payed") && lines[0].contains("trait=b"), "\(lines)")
    }

    @Test(
        "A workspace file that cannot be used stops the start and names the line",
        arguments: [
            ("segments: [{id: a}]\n", "line 1"), ("apps:\n  - idd: x\n", "line 2"), ("\t", "line 1"), ("\u{FF}", nil),
        ])
    func wrong(text: String, place: String?) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let file = folder.file("workspace.yaml")
        try (place == nil ? Data([0xFF, 0xFE, 0xFD]) : Data(text.utf8)).write(to: file)
        for path in [file.path, "missing.yaml"] {
            let failed = try await run(["--ephemeral", "--port", "0", "--workspace", path], in: folder)
            #expect(failed.code == 1)
            #expect(failed.errors.contains("The workspace file \(path)"), "\(failed.errors)")
            if path == file.path { #expect(failed.errors.contains(place ?? "UTF-8"), "\(failed.errors)") }
            #expect(failed.errors.split(separator: "\n").count == 2)
        }
    }
}
