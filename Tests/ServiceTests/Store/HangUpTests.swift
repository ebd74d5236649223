import Foundation
import TestSupport
import Testing

@Suite("SIGHUP")
struct HangUpTests {
    private static let event = #"{"user": "jane", "name": "won"}"#

    @Test("SIGHUP, SIGUSR1 and SIGUSR2 are not the end of a service that runs", arguments: [[], ["demo"]])
    func running(arguments: [String]) async throws {
        try await withService(arguments: arguments + ["--log-level", "notice"]) { service in
            for number in [SIGUSR1, SIGUSR2] { service.signal(number) }
            for count in 1...2 {
                service.signal(SIGHUP)
                try await waitUntil { service.messages.components(separatedBy: "SIGHUP").count > count }
                #expect(service.messages.components(separatedBy: "SIGHUP").count > count, "\(service.messages)")
                #expect(try await service.post("/v1/log/event", Self.event).status == 200)
            }
        }
    }

    @Test("SIGHUP during the start neither ends the service nor is lost")
    func starting() async throws {
        let folder = try TemporaryFolder.made(prefix: "hang-up")
        defer { withExtendedLifetime(folder) {} }
        // Enough to store that there is time for signals.
        let lines = (0..<20_000).map { #"{"kind":"custom_event","user":"u\#($0 % 50)","name":"won"}"# }
        try lines.joined(separator: "\n").write(to: folder.file("facts"), atomically: true, encoding: .utf8)
        let process = try Service.launch(
            ["--ephemeral", "--fixtures", "facts", "--port", "0", "--port-file", "port"], in: folder.url)
        defer { process.signal(SIGKILL) }
        // The file is made when the start has begun, and has the port when it is done.
        func port() -> String? { try? String(contentsOf: folder.file("port"), encoding: .utf8) }
        func messages() -> String { (try? String(contentsOf: folder.file("stderr"), encoding: .utf8)) ?? "" }
        try await waitUntil(turns: 1500) { port() != nil || process.end != nil }
        var count = 0
        while port() == "", process.end == nil {
            process.signal(SIGHUP)
            count += 1
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(count > 0, "The start was over before a signal.")
        #expect(process.end == nil, "\(messages())")
        try await waitUntil { messages().contains("SIGHUP") }
        #expect(messages().contains("SIGHUP"), "\(messages())")
        process.signal(SIGTERM)
        #expect(try await Service.exitCode(of: process) == 0)
    }
}
