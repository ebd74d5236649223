import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("stats --growth")
struct GrowthTests {
    @Test("Kinds and users add up to the log, and the largest come first")
    func sums() throws {
        let cli = try CLI()
        for _ in 0..<3 { try cli.succeed("log", "event", "jane", "played", "-p", "song=a long name of a song") }
        try cli.succeed("log", "event", "bo", "seen")
        let line = try #require(try cli.succeed("stats", "--growth", "--format", "json").lines.first)
        let answer = try JSON.parse(line)
        func number(_ value: AttributeValue?) -> Int64 { if case .int(let number) = value { number } else { -1 } }
        func list(_ key: Name) -> [AttributeValue] { if case .array(let list) = answer[key] { list } else { [] } }
        #expect(answer["events"] == .int(6) && answer["position"] == .int(6))
        #expect(list("kinds").reduce(0) { $0 + number($1["bytes"]) } == number(answer["bytes"]))
        #expect(list("kinds").first?["kind"] == .string("customEventLogged"))
        #expect(list("users").map { $0["id"] } == [.string("jane"), .string("bo")])
        #expect(list("users").reduce(0) { $0 + number($1["bytes"]) } == number(answer["bytes"]))
        #expect(answer["unsure_bytes"] == .int(0) && answer["damaged"] == .int(0))
        #expect(number(answer["file_bytes"]) >= number(answer["free_page_bytes"]))
        // Seconds of a log say nothing about days.
        #expect(answer["events_per_day"] == .null && answer["full_at"] == .null)
    }

    @Test("A log of some days has a rate, and a day on which the disk is full")
    func rate() throws {
        let cli = try CLI()
        let clock = try ClockShim()
        for ago in [10, 3, 2, 1, 0] {
            let outcome = try cli.run(
                "log", "event", "jane", "played", environment: clock.environment(seconds: -ago * 86_400 - 3_600))
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let answer = try JSON.parse(
            try #require(try cli.succeed("stats", "--growth", "--format", "json").lines.first))
        // Four events in the last seven days; the first one, and the user, are older.
        #expect(answer["events_per_day"] == .double(0.57), "\(answer.json)")
        let table = try cli.succeed("stats", "--growth").output
        #expect(table.contains("KIND") && table.contains("USER"))
        #expect(table.contains("It grows by 1 event and "), "\(table)")
    }

    @Test("--growth is for a store's own files, and for itself alone")
    func usage() throws {
        let cli = try CLI()
        #expect(try cli.run("stats", "--growth", "--audit").status == 64)
        #expect(try cli.run("stats", "--growth", "--url", "http://127.0.0.1:1").status == 64)
    }
}
