import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("What a table shows as a time can be typed back")
struct PrintedTimesTests {
    private let cli: CLI

    init() throws {
        cli = try CLI(after: [
            ["log", "event", "ana", "a", "--time", "2026-01-02T03:04:05.25Z"],
            ["log", "event", "ana", "b", "--time", "2026-01-02T03:04:05.250001+02:00"],
            ["log", "attribute", "ana", "plan=x", #"born={"$time":"2000-02-29T01:02:03.5Z"}"#],
            ["log", "purchase", "ana", "p", "--price", "2", "--currency", "EUR"],
            ["save", "event", "ana", "c", "--device", "phone", "--time", "2026-01-03T03:04:05.75Z"],
            ["launch", "phone"],
            ["log", "attribute", "ana", "plan=y"],
            ["save", "event", "ana", "d", "--device", "phone", "--time", "2026-01-03T03:04:05.125Z"],
        ])
    }

    private static let commands: [[String]] = [
        ["history", "ana"], ["profile", "ana"], ["profile", "ana", "--as-of", "3"],
        ["profile", "ana", "--include-pending"], ["users"], ["blame", "ana"], ["blame", "ana", "plan", "--log"],
        ["diff", "ana", "3", "now"], ["pending"], ["device", "show", "phone"], ["rejected"], ["stats"],
        ["tail", "--no-follow"], ["traits", "ana"], ["rules", "show"], ["sends"], ["messages", "show", "phone"],
        ["export"], ["export", "--events", "--format", "csv"], ["export", "--profiles", "--format", "csv"], ["check"],
        ["launch", "phone"],
    ]

    private static func times(in text: String) -> [String] {
        let form = /\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?/
        return text.matches(of: form).map { String($0.output.0) }
    }

    @Test("Each time has its zone and is read as what it is, wherever a time is typed")
    func everyCommand() throws {
        var found: Set<String> = []
        for command in Self.commands {
            for format in [[], ["--format", "json"]] where !command.contains("export") || format.isEmpty {
                let outcome = try cli.run(command + format)
                #expect(outcome.status == 0, "\(command) \(outcome.errors)")
                found.formUnion(Self.times(in: outcome.output))
            }
        }
        #expect(found.contains("2026-01-02 03:04:05.250Z") && found.contains("2026-01-02 03:04:05.250001+02:00"))
        #expect(found.contains("2026-01-03 03:04:05.750Z"), "\(found.sorted())")
        for (index, time) in found.sorted().enumerated() {
            let read = try #require(OccurredAt(iso8601: time), "\(time)")
            // In the time zone of another place it is the same moment.
            let zones = ["America/New_York", "Asia/Kolkata"]
            for zone in Thoroughness.isFull ? zones : [zones[index % 2]] {
                let typed = try cli.run(["tail", "--no-follow", "--since", time], environment: ["TZ": zone])
                #expect(typed.status == 0, "\(time) \(typed.errors)")
                guard read.timestamp < .now() else { continue }
                let back = try cli.run(
                    ["profile", "ana", "--as-of", time, "--format", "json"], environment: ["TZ": zone])
                #expect(back.status == 0 || back.errors.contains("did not exist yet"), "\(time) \(back.errors)")
            }
        }
    }

    @Test("The printed time of an event, as the moment of a question, is after the event")
    func inclusive() throws {
        let table = try cli.succeed("history", "ana").lines
        for (row, line) in zip(table.dropFirst(), try cli.succeed("history", "ana", "--format", "json").lines) {
            let event = try JSON.parse(Array(line.utf8))
            guard case .int(let version)? = event["version"], case .string(let recorded)? = event["recorded_at"],
                event["occurred_at"] == event["recorded_at"]
            else { continue }
            let printed = try #require(Self.times(in: row).first, "\(row)")
            #expect(OccurredAt(iso8601: printed) == OccurredAt(iso8601: recorded))
            for time in [printed, recorded] {
                let profile = try cli.succeed("profile", "ana", "--as-of", time, "--format", "json").output
                guard case .int(let then)? = try JSON.parse(Array(profile.utf8))["version"] else {
                    Issue.record("\(profile)")
                    continue
                }
                #expect(then >= version)
            }
        }
    }

    @Test(
        "A local time that comes twice, or never, is told, in each form of TZ",
        arguments: ["Europe/Berlin", ":Europe/Berlin", ":/usr/share/zoneinfo/Europe/Berlin"])
    func clocks(zone: String) throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "ana", "a")
        let twice = try cli.run(["profile", "ana", "--as-of", "2025-10-26 02:30"], environment: ["TZ": zone])
        #expect(twice.errors.contains("2025-10-26 02:30 comes twice in Europe/Berlin"), "\(twice.errors)")
        let never = try cli.run(["history", "ana", "--since", "2026-03-29 02:30"], environment: ["TZ": zone])
        #expect(never.errors.contains("does not exist in Europe/Berlin"), "\(never.errors)")
    }
}
