import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

/// SIGHUP reads the configuration of a running service again.
@Suite("Reload")
struct ReloadTests {
    private static let track = #"{"events":[{"external_id":"u","name":"n","time":"2026-01-01T00:00:00Z"}]}"#

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made(prefix: "reload") }

    private func write(_ yaml: String) throws {
        try yaml.write(to: folder.file("profiled.yaml"), atomically: true, encoding: .utf8)
    }

    private func start(_ yaml: String, arguments: [String] = []) async throws -> Service {
        try write(yaml)
        return try await Service(
            in: folder, arguments: ["--config", folder.file("profiled.yaml").path] + arguments)
    }

    /// Sends SIGHUP, and waits until the service has told the outcome once more.
    private func reload(_ service: Service) async throws {
        func told() -> Int { service.messages.components(separatedBy: "SIGHUP: ").count }
        let before = told()
        service.signal(SIGHUP)
        try await waitUntil { told() > before }
        #expect(told() > before, "\(service.messages)")
    }

    private func metric(_ name: String, of service: Service) async throws -> Double? {
        let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
        return text.split(separator: "\n").first { $0.hasPrefix("profilelog_config_\(name) ") }
            .flatMap { Double($0.split(separator: " ")[1]) }
    }

    /// The limit of /users/track, and how many requests are left after this one.
    private func limit(of service: Service) async throws -> String {
        let headers = try await service.post("/users/track", Self.track).headers
        return "\(headers["x-ratelimit-limit"] ?? "none"), \(headers["x-ratelimit-remaining"] ?? "none")"
    }

    @Test("New rate limits, levels and limits hold after SIGHUP, and a limit that stays keeps its count")
    func reloads() async throws {
        let service = try await start("rate-limits: [50/3600]\nlimits:\n  streams: 1\n")
        #expect(try await limit(of: service) == "50, 49")
        #expect(!service.messages.contains("path=/users/track"))
        try write("rate-limits: [50/3600, 60/7200]\nlog:\n  level: info\nlimits:\n  streams: 2\n")
        try await reload(service)
        #expect(service.messages.contains("changed=rate-limits,limits.streams,log.level"), "\(service.messages)")
        #expect(try await limit(of: service) == "50, 48")
        #expect(service.messages.contains("path=/users/track"))
        try write("rate-limits: [7/3600]\n")
        try await reload(service)
        #expect(try await limit(of: service) == "7, 6")
        #expect(try await metric("last_reload_successful", of: service) == 1)
        #expect(try await metric("reload_failures_total", of: service) == 0)
        #expect(try await service.stop() == 0)
    }

    @Test("A configuration with one error changes nothing, and is told with line and column, and counted")
    func allOrNothing() async throws {
        let service = try await start("rate-limits: [50/3600]\n")
        let before = try #require(try await metric("last_reload_success_timestamp_seconds", of: service))
        #expect(before > 1_700_000_000)
        for (yaml, part) in [
            ("rate-limits: [7/3600]\nlog:\n  level: info\nlimits:\n  streams: 0\n", "line 5, column 12"),
            ("rate-limits: [7/3600]\nratelimits: 5\n", "Did you mean `rate-limits`?"), ("port: a: b", "is no YAML"),
        ] {
            try write(yaml)
            try await reload(service)
            #expect(service.messages.contains(part), "\(service.messages)")
            #expect(try await metric("last_reload_successful", of: service) == 0)
        }
        try FileManager.default.removeItem(at: folder.file("profiled.yaml"))
        try await reload(service)
        #expect(service.messages.contains("cannot be read"), "\(service.messages)")
        #expect(try await limit(of: service) == "50, 49")
        #expect(!service.messages.contains("path=/users/track"))
        #expect(try await metric("reload_failures_total", of: service) == 4)
        #expect(try await metric("last_reload_success_timestamp_seconds", of: service) == before)
        // And it goes on from there.
        try write("rate-limits: [8/3600]\n")
        try await reload(service)
        #expect(try await limit(of: service) == "8, 7")
        #expect(try await metric("last_reload_successful", of: service) == 1)
        #expect(try await service.stop() == 0)
    }

    @Test("What needs a restart is named in one warning, each time, and all else holds")
    func restartNeeded() async throws {
        let service = try await start("rate-limits: [50/3600]\nlog:\n  format: text\n")
        for count in 1...2 {
            try write("rate-limits: [\(count)0/3600]\nlog:\n  format: json\nbase-url: https://profiles.example\n")
            try await reload(service)
            let warning = "settings=base-url,log.format"
            try await waitUntil { service.messages.components(separatedBy: warning).count > count }
            #expect(service.messages.components(separatedBy: warning).count == count + 1, "\(service.messages)")
            #expect(try await limit(of: service) == "\(count)0, \(count * 10 - 1)")
        }
        #expect(try await service.stop() == 0)
    }

    @Test("A flag still has more weight than the file after a reload")
    func flags() async throws {
        let service = try await start("rate-limits: [50/3600]\n", arguments: ["--rate-limit", "40/3600"])
        try write("rate-limits: [30/3600]\n")
        try await reload(service)
        #expect(try await limit(of: service) == "40, 39")
        #expect(service.messages.contains("changed=nothing"), "\(service.messages)")
        #expect(try await service.stop() == 0)
    }

    @Test("The start tells at level info which file was read, and starts with what it says")
    func started() async throws {
        let service = try await start("log:\n  level: info\n  format: json\n")
        #expect(service.messages.contains(#""message":"the configuration was read""#), "\(service.messages)")
        #expect(service.messages.contains(folder.file("profiled.yaml").lastPathComponent))
        #expect(try await service.stop() == 0)
    }
}
