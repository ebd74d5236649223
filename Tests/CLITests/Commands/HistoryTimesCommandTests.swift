import Foundation
import ProfileLogRequests
import Testing

@Suite("Histories without values, tails of one user and events by minute, on the command line")
struct HistoryTimesCommandTests {
    private let cli: CLI

    init() throws {
        cli = try CLI(after: [
            ["log", "event", "jane", "first"], ["log", "event", "bo", "other"], ["save", "event", "jane", "saved"],
            ["launch"], ["log", "attribute", "jane", "plan=gold"], ["log", "event", "bo", "last"],
        ])
    }

    private func names(_ arguments: String...) throws -> [String] {
        try cli.succeed(arguments + ["--format", "json"]).lines.compactMap { line in
            line.firstMatch(of: /"name":"([^"]*)"/).map { String($0.1) }
        }
    }

    @Test("history --times shows when each event happened and what became of it, and no value")
    func times() throws {
        let table = try cli.succeed("history", "jane", "--times")
        #expect(table.lines[0].contains("RECORDED") && table.lines[0].contains("OUTCOME"), "\(table.output)")
        #expect(table.output.contains("first") && table.output.contains("plan") && !table.output.contains("gold"))
        #expect(table.output.contains(/saved .*flushed @\d+/), "\(table.output)")
        let merged = try cli.succeed("history", "jane", "--times", "--merged").lines
        #expect(merged[0].contains("USER") && merged.count == table.lines.count, "\(merged)")
        let last = try cli.succeed("history", "jane", "--times", "--reverse", "--limit", "1").lines
        #expect(last.count == 2 && last[1].contains("plan"), "\(last)")
        let lines = try cli.succeed("history", "jane", "--times", "--format", "json").lines
        #expect(lines.count == 1)
        let answer = try JSON.parse(Array(lines[0].utf8))
        guard case .array(let positions)? = answer["times"]?["position"] else {
            Issue.record("\(lines[0])")
            return
        }
        #expect(positions.count == table.lines.count - 1)
        let wrong = try cli.run("history", "jane", "--times", "--graph")
        #expect(wrong.status == 64 && wrong.errors.contains("--times"), "\(wrong.errors)")
    }

    @Test("tail shows one user, and the newest events first")
    func tail() throws {
        #expect(try names("tail", "--no-follow", "--user", "jane") == ["first", "saved"])
        // The last event of the log is not theirs.
        let own = try cli.succeed("tail", "--no-follow", "--user", "jane", "-n", "1", "--format", "json").lines
        #expect(own.count == 1 && own[0].contains(#""plan":"gold""#), "\(own)")
        #expect(try names("tail", "--reverse", "--kind", "customEventLogged") == ["last", "other", "first"])
        #expect(try names("tail", "--reverse", "--user", "bo") == ["last", "other"])
        #expect(try names("tail", "--reverse", "--user", "bo", "-n", "1") == ["last"])
        let unknown = try cli.run("tail", "--no-follow", "--user", "nobody")
        #expect(unknown.status == 1 && unknown.errors.contains("nobody"), "\(unknown.errors)")
    }

    @Test("stats --plot counts all events by minute, and the late ones")
    func plot() throws {
        func count(_ arguments: String...) throws -> Int64 {
            let line = try cli.succeed(["stats", "--format", "json", "--plot"] + arguments).lines[0]
            return line.matches(of: /"count":(\d+)/).reduce(0) { $0 + (Int64($1.1) ?? 0) }
        }
        let last = try cli.succeed("stats", "--format", "json").lines[0]
        let total = last.firstMatch(of: /"last_position":(\d+)/).flatMap { Int64($0.1) }
        // The store was made within this hour and a half.
        #expect(try count("events", "--unit", "minute", "--length", "90") == total)
        #expect(try count("late", "--unit", "hour") == 0)
        try cli.succeed("log", "event", "jane", "old", "--at", "2026-01-01T00:00:00Z")
        #expect(try count("late", "--unit", "hour") == 1)
        #expect(try count("late:3600", "--unit", "day") == 1)
        let wrong = try cli.run("stats", "--plot", "late:soon")
        #expect(wrong.status != 0 && wrong.errors.contains("late:60"), "\(wrong.errors)")
    }
}
