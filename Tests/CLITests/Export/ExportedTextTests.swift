import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("What an export writes, an import reads as it was")
struct ExportedTextTests {
    private let cli: CLI
    private var copy: String { cli.folder.appending(path: "copy").path }

    init() throws { cli = try CLI() }

    private func copyByText() throws {
        let answer = try cli.run("import", "-", "--store", copy, input: cli.succeed("export").output)
        #expect(answer.status == 0, "\(answer.errors)")
    }

    @Test("Aliases whose parts are joined to the same letters stay two users'")
    func aliases() throws {
        let ids: [UserID] = [.alias(label: "crm:eu", name: "42"), .alias(label: "crm", name: "eu:42")]
        let log = try EventLog(path: cli.store, create: true)
        for id in ids { _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: id) }
        try copyByText()
        let imported = try EventLog(path: copy)
        #expect(try imported.userCount() == 2)
        for id in ids { #expect(try imported.find(id)?.version.rawValue == 2) }
        // Each is reached only by its text.
        let profile = try cli.succeed("profile", #"alias:crm\:eu:42"#, "--format", "json").output
        #expect(profile.contains(#""number":1"#), "\(profile)")
        try cli.succeed("erase", "alias:crm:eu:42", "--reason", "asked to", "--yes")
        #expect(try log.find(ids[0]) != nil)
        #expect(try log.find(ids[1]) == nil)
    }

    @Test("Dates at the edges of what text can hold")
    func dates() throws {
        let log = try EventLog(path: cli.store, create: true)
        for offset in [-1439, 0, 1439] as [Int32] {
            for local in [-62_167_219_200_000_000, 253_402_300_799_999_999] as [Int64] {
                let date = OccurredAt(
                    Timestamp(rawValue: local - Int64(offset) * 60_000_000), utcOffsetMinutes: offset)
                _ = try log.append(
                    [.customAttributesChanged([AttributeChange("at", .set(.date(date)))])], to: .externalID("ana"),
                    context: EventContext(source: .import, occurredAt: date))
            }
        }
        try copyByText()
        func facts(_ log: EventLog) throws -> [ProfileEvent] {
            try log.events(from: .start.next, limit: 100).events.map(\.event)
        }
        let imported = try EventLog(path: copy)
        #expect(try facts(imported) == facts(log))
        let times = try [imported, log].map { try $0.events(from: .start.next, limit: 100).events.dropFirst() }
        #expect(times[0].map(\.context.occurredAt) == times[1].map(\.context.occurredAt))
    }

    @Test("A purchase whose revenue cannot be added up is refused by its line")
    func purchase() throws {
        let line = #"{"kind":"purchase","user":"u","product_id":"p","currency":"EUR","price":1e308,"quantity":100}"#
        let refused = try cli.run("import", "-", input: line + "\n")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("Line 1 of standard input cannot be imported"), "\(refused.errors)")
        #expect(refused.errors.contains("`price` is too large to be added up"), "\(refused.errors)")
    }
}
