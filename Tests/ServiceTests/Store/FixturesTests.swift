import Foundation
import ProfileLog
import ProfileLogNativeAPI
import TestSupport
import Testing

@Suite("Fixtures")
struct FixturesTests {
    private let facts = """
        {"kind":"custom_event","user":"jane","name":"played"}

        {"kind":"custom_attribute","user":"jane","attributes":{"level":7}}
        """

    @Test("Fixtures are there at the start, and after a reset if it asks for them")
    func fixtures() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let file = folder.file("facts.jsonl")
        // What an export writes is taken too.
        let exported =
            #"{"position":9,"user":"ann","kind":"customEventLogged","occurred_at":"2026-01-01T00:00:00Z","name":"won"}"#
        try Data("\u{FEFF}\(facts)\r\n\(exported)\n".utf8).write(to: file)
        let service = try await Service(in: folder, arguments: ["--ephemeral", "--fixtures", file.path])
        for _ in 0..<2 {
            #expect(try await service.get("/v1/profile?user=jane").json.at("custom_attributes.level") == 7)
            #expect(try await service.get("/v1/profile?user=ann").json.at("custom_events.0.name") == "won")
            #expect(try await service.get("/v1/stats").json.at("events") == 5)
            #expect(try await service.post("/v1/reset", "{}").json.at("last_position") == 0)
            #expect(try await service.get("/v1/profile?user=jane").status == 404)
            #expect(try await service.post("/v1/reset", #"{"fixtures":true}"#).json.at("last_position") == 5)
        }
        #expect(try await service.stop() == 0)
    }

    @Test("A store that is kept gets the fixtures once")
    func fixturesOnce() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let file = folder.file("facts.jsonl")
        try Data(facts.utf8).write(to: file)
        for _ in 0..<2 {
            let service = try await Service(in: folder, arguments: ["--fixtures", file.path])
            #expect(try await service.get("/v1/stats").json.at("events") == 3)
            #expect(try await service.stop() == 0)
        }
        try Data(facts.replacing("played", with: "lost").utf8).write(to: file)
        let failed = try await run(["--store", "store", "--port", "0", "--fixtures", file.path], in: folder)
        #expect(failed.code == 1)
        #expect(failed.errors.contains("other fixtures"))
    }

    @Test("Of a file that has grown, the new lines are stored; a file whose stored lines were changed is refused")
    func grown() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let file = folder.file("facts.jsonl")
        var lines = (1...1_530).map { #"{"kind":"custom_event","user":"u","name":"e\#($0)"}"# }
        func write(_ count: Int) throws {
            try Data((lines.prefix(count).joined(separator: "\n") + "\n").utf8).write(to: file)
        }
        for count in [500, 1_500, 1_520] {
            try write(count)
            let service = try await Service(in: folder, arguments: ["--fixtures", file.path])
            #expect(try await service.get("/v1/stats").json.at("events") == .int(Int64(count + 1)))
            #expect(try await service.stop() == 0)
        }
        // What is stored says where the next lines begin; the advice must not have it stored a second time.
        lines[1_509] = lines[1_509].replacing("e1510", with: "other")
        try write(1_530)
        let refused = try await run(["--store", "store", "--port", "0", "--fixtures", file.path], in: folder)
        #expect(refused.code == 1)
        #expect(refused.errors.contains("other fixtures from a file facts.jsonl, with other lines from 1501 on"))
        #expect(refused.errors.contains("stored again"), "\(refused.errors)")
        #expect(refused.errors.contains("If this is another file, give it another name."), "\(refused.errors)")
        let log = try EventLog(path: folder.file("store").path)
        let names = try log.events(from: Position(rawValue: 2), limit: 2_000).events.compactMap { event -> String? in
            if case .customEventLogged(let event) = event.event { event.name.text } else { nil }
        }
        #expect(names == (1...1_520).map { "e\($0)" })
        let report = try log.check()
        #expect(report.isSound, "\(report.problems)")
    }

    /// A line of about 100 kB.
    private func longLine(_ number: Int) -> String {
        let texts = repeatElement("\"\(String(repeating: "x", count: 240))\"", count: 410).joined(separator: ",")
        return #"{"kind":"custom_event","user":"u\#(number % 10)","name":"e\#(number)","properties":{"a":[\#(texts)]}}"#
    }

    @Test("Fixtures of more than an append may hold are stored, once")
    func large() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let file = folder.file("facts.jsonl")
        try Data((1...350).map(longLine).joined(separator: "\n").utf8).write(to: file)
        for _ in 0..<2 {
            let service = try await Service(in: folder, arguments: ["--fixtures", file.path])
            #expect(try await service.get("/v1/stats").json.at("events") == 360)
            #expect(try await service.stop() == 0)
        }
    }

    @Test("A thousand lines that were stored as one append are known again, up to 24 MiB")
    func storedBefore() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let file = folder.file("facts.jsonl")
        let lines = (1...240).map(longLine)
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        let store = folder.file("store").path
        do {
            let log = try EventLog(path: store, create: true)
            var builder = log.prepare()
            for line in lines {
                let read = try Array(line.utf8).withUnsafeBytes { try ImportLine($0, ImportTimes(now: .now())) }
                let fact = try #require(read.fact)
                try builder.add(fact.events, fact.context, to: fact.user)
            }
            _ = try log.commit(builder.finish(idempotencyKey: "fixtures:facts.jsonl:1"))
        }
        let service = try await Service(in: folder, arguments: ["--fixtures", file.path])
        #expect(try await service.get("/v1/stats").json.at("events") == 250)
        #expect(try await service.stop() == 0)
    }

    @Test("Lines that take more together than they look like are told apart as the advice says")
    func dense() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let file = folder.file("facts.jsonl")
        // A number of three characters takes eight bytes and more.
        let numbers = repeatElement("1.5", count: 80_000).joined(separator: ",")
        var lines = (1...50).map {
            #"{"kind":"custom_event","user":"u\#($0 % 10)","name":"e","properties":{"a":[\#(numbers)]}}"#
        }
        func write() throws { try Data(lines.joined(separator: "\n").utf8).write(to: file) }
        try write()
        let refused = try await run(["--store", "store", "--port", "0", "--fixtures", file.path], in: folder)
        #expect(refused.code == 1)
        let line = try #require(refused.errors.firstMatch(of: /Line ([0-9]+) of the fixtures/), "\(refused.errors)")
        let number = try #require(Int(line.output.1))
        #expect(refused.errors.contains("Put 1000 empty lines before it"), "\(refused.errors)")
        lines.insert(contentsOf: repeatElement("", count: 1_000), at: number - 1)
        try write()
        let service = try await Service(in: folder, arguments: ["--fixtures", file.path])
        #expect(try await service.get("/v1/stats").json.at("events") == 60)
        #expect(try await service.stop() == 0)
    }

    private static let saved = #"{"kind":"customEventSaved","user":"u","device":"d","storage":"group.a","name":"a"}"#

    @Test(
        "Fixtures that are refused say of which line, and what helps",
        arguments: [
            (#"{"kind":"custom_event","user":"u"}"#, 3, "it has no \"name\".", "Correct it;"),
            (#"{"kind":"danced","user":"u"}"#, 3, "that can be imported.", "the newer profiled"),
            (#"{"kind":"unknown","user":"u"}"#, 3, "did not know its kind.", "Export the store again with the newer"),
            (#"{"kind":"appLaunched","user":"u"}"#, 3, "are not imported.", "--kind customEventLogged --kind"),
            (#"{"kind":"custom_event","user":"braze:nobody","name":"a"}"#, 3, "No user has this ID.", "remove it"),
            (
                Array(repeating: saved, count: 10_001).joined(separator: "\n"), 10_003,
                "10000 items wait on this device already.", "Remove some"
            ),
        ] as [(String, Int, String, String)])
    func refusedFixtures(lines: String, line: Int, reason: String, remedy: String) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let good = #"{"kind":"custom_event","user":"u","name":"a"}"#
        try Data("\(good)\n\n\(lines)\n".utf8).write(to: folder.file("facts.jsonl"))
        let refused = try await run(["--ephemeral", "--port", "0", "--fixtures", "facts.jsonl"], in: folder)
        #expect(refused.code == 1)
        let told = refused.errors.split(separator: "\n")
        try #require(told.count == 2, "\(refused.errors)")
        #expect(told[0].hasPrefix("profiled: Line \(line) of the fixtures facts.jsonl cannot be stored: "), "\(told)")
        #expect(told[0].hasSuffix(reason) && told[1].contains(remedy), "\(told)")
    }

    @Test("Fixtures that cannot be stored stop the start, name the line, and leave no folder")
    func wrongFixtures() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let file = folder.file("facts.jsonl")
        try Data("\(facts)\n{\"kind\":\"custom_event\",\"user\":\"secret\"}\n".utf8).write(to: file)
        let arguments = ["--ephemeral", "--port", "0", "--fixtures"]
        let wrong = try await run(arguments + [file.path], in: folder, environment: ["TMPDIR": folder.path])
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!left.contains { $0.hasPrefix("profiled-ephemeral") }, "\(left)")
        #expect(wrong.code == 1)
        #expect(wrong.errors.contains("Line 4 of the fixtures"), "\(wrong.errors)")
        #expect(!wrong.errors.contains("secret"))
        let missing = try await run(arguments + ["missing.jsonl"], in: folder)
        #expect(missing.code == 1)
        #expect(missing.errors.contains("missing.jsonl cannot be read"))
        #expect(try await run(["--ephemeral", "--store", "s"], in: folder).code == 64)
    }
}
