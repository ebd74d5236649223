import Foundation
import Testing

@Suite("A history on a narrow terminal")
struct NarrowTableTests {
    private func width(_ text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + ($1.value >= 0x2E80 ? 2 : 1) }
    }

    @Test("What kind of event it is stays whole, times are shorter, what happened is cut", arguments: [60, 80, 120])
    func history(columns: Int) throws {
        let cli = try CLI()
        let long = String(repeating: "とても長い名前 ", count: 30)
        try cli.succeed("save", "event", "ana", "Completed Match Game", "-p", "Score=10", "-p", "text=\(long)")
        try cli.succeed("save", "user-attribute", "ana", "email", "ana@example.com")
        try cli.succeed("save", "event", "花子", "お茶を飲んだ")
        try cli.succeed("launch")
        for command in [["history", "ana"], ["history", "花子"], ["tail", "--no-follow", "-n", "100"]] {
            let lines = try cli.run(command, environment: ["COLUMNS": "\(columns)"]).lines
            let heading = try #require(lines.first)
            #expect(heading.hasPrefix(command[0] == "tail" ? "POS  USER" : "VER  POS  HAPPENED"))
            let kind = try #require(heading.range(of: "KIND"))
            for line in lines {
                #expect(width(line) <= columns, "\(line)")
                // The column begins below its title, whatever is before it.
                let begin = line.indices.first { width(line[..<$0]) == width(heading[..<kind.lowerBound]) }
                let cell = try line[#require(begin)...].prefix { $0 != "…" }
                let kinds = ["KIND", "user ", "event saved", "pending ", "app ", "session "]
                #expect(kinds.contains { cell.hasPrefix($0) }, "\(line)")
            }
            let text = lines.joined(separator: "\n")
            for kind in ["user created", "event saved"] { #expect(text.contains(kind), "\(text)") }
        }
        let ana = try cli.run(["history", "ana"], environment: ["COLUMNS": "\(columns)"]).output
        #expect(ana.contains("user attribute saved  ") && ana.contains("Completed"))
        #expect(ana.contains(/:[0-9]{2}(\.[0-9]+)?Z/) == (columns >= 100))
        #expect(ana.contains(/20[0-9]{2}-/) == (columns >= 75))
    }

    @Test("A name is never cut, and a value is", arguments: [60, 80, 120])
    func names(columns: Int) throws {
        let event = "Viewed the Long Session Progress"
        // Next to it there is room for a part of the value.
        let attribute = String(repeating: "a", count: columns - 30)
        let user = "customer-0123456789-abcdefghijkl-0123456789"
        let value = String(repeating: "a long value ", count: 20)
        let cli = try CLI(after: [
            ["log", "attribute", "ana", "\(attribute)=\(value)", "level=1"], ["log", "event", "ana", event],
            ["log", "event", user, "a"],
        ])
        let environment = ["COLUMNS": "\(columns)"]
        for (command, names) in [(["profile", "ana"], [attribute, event]), (["users"], [user, "ana"])] {
            let lines = try cli.run(command, environment: environment).lines
            for name in names { #expect(lines.contains { $0.contains(name) }, "\(lines)") }
            for line in lines.dropFirst(2) { #expect(width(line) <= columns, "\(line)") }
        }
    }

    @Test("The times at the ends of a graph are whole, or cut before a part", arguments: [40, 60, 80, 100])
    func graph(columns: Int) throws {
        let cli = try CLI(after: [
            ["log", "event", "ana", "a", "--at", "2026-01-31T10:00:00.123456Z"], ["log", "event", "ana", "b"],
        ])
        let lines = try cli.run(["history", "ana", "--graph"], environment: ["COLUMNS": "\(columns)"]).lines
        let scale = lines[1].components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
        #expect(scale.first?.hasPrefix("2026-01-31") == true, "\(scale)")
        let form = /[-0-9]{10}( [0-9]{2}:[0-9]{2}(:[0-9]{2}((\.[0-9]+)?Z)?)?)?/
        for time in scale { #expect(time.wholeMatch(of: form) != nil, "\(scale)") }
    }
}
