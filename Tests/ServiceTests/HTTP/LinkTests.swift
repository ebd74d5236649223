import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("Addresses in answers")
struct LinkTests {
    private static let workspace = "segments:\n  - id: all\n    name: All\n    users: all\n"

    /// Names that a client may give the service: none of them comes back in an answer.
    private static let headers =
        "Host: evil.example\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\n"
        + "Forwarded: host=evil.example\r\nConnection: close\r\n"

    @Test("Links are relative or begin with --base-url, never with what the client calls the service")
    func links() async throws {
        for base in [nil, "https://profiles.example/braze/"] {
            let folder = try TemporaryFolder.made(prefix: "profiled")
            let file = folder.file("workspace.yaml")
            try Data(Self.workspace.utf8).write(to: file)
            let service = try await Service(
                in: folder,
                arguments: ["--ephemeral", "--workspace", file.path] + (base.map { ["--base-url", $0] } ?? []))
            for begin in [0, 50] {
                let events = (begin..<(begin + 50)).map {
                    #"{"external_id":"u","name":"e\#($0)","time":"2026-01-01T00:00:00Z"}"#
                }
                let body = #"{"events":[\#(events.joined(separator: ","))]}"#
                #expect(try await service.post("/users/track", body).status == 201)
            }
            let list = try RawConnection(service)
            list.send("GET /events HTTP/1.1\r\n\(Self.headers)\r\n")
            let listed = try #require(list.readToEnd())
            #expect(listed.contains("Link: <\(base.map { "\($0)" } ?? "/")events?cursor="), "\(listed)")
            let export = try RawConnection(service)
            let body = #"{"segment_id":"all","fields_to_export":["external_id"]}"#
            export.send(
                "POST /users/export/segment HTTP/1.1\r\n\(Self.headers)Content-Length: "
                    + "\(body.utf8.count)\r\n\r\n\(body)"
            )
            let exported = try #require(export.readToEnd())
            let expected = base ?? "http://127.0.0.1:\(service.port)/"
            #expect(exported.contains("\"url\":\"\(expected)exports/"), "\(exported)")
            for answer in [listed, exported] { #expect(!answer.contains("evil.example")) }
            #expect(try await service.stop() == 0)
        }
    }

    @Test(
        "A base URL that is none, or has a user, is refused",
        arguments: ["profiles.example", "ftp://x", "http://", "http://x?y=1", "https://u:secret@x", "https://u@x/y"])
    func wrong(url: String) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        #expect(try await run(["--ephemeral", "--base-url", url], in: folder).code == 64)
    }
}
