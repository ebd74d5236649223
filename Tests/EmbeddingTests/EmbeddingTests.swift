import Foundation
import ProfileLog
import Testing

/// Uses the library as another package does: without `@testable`, so that what an embedder needs must be public.
@Suite("Embedded in another program")
struct EmbeddingTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "embedding-\(UUID().uuidString)").path

    @Test("docs/embedding.md, from the first append to the proof")
    func story() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = try EventLog(
            path: folder, create: true, projections: [ProfileProjection.self, MinutesPlayed.self])

        let song = CustomEvent(name: "played song", properties: [.init("minutes", .int(3))])
        let receipt = try log.append(
            [.customEventLogged(song), .customAttributesChanged([AttributeChange("level", .set(.int(7)))])],
            to: .externalID("jane"), idempotencyKey: "request-1")
        #expect(receipt.last == Position(rawValue: 3))  // the user's creation is an event too
        #expect(
            try log.append(
                [.customEventLogged(song), .customAttributesChanged([AttributeChange("level", .set(.int(7)))])],
                to: .externalID("jane"), idempotencyKey: "request-1"
            ).isRepetition)

        let writer = LogWriter(log)
        var builder = log.prepare()
        try builder.add(.customEventLogged(song), EventContext(source: .app), to: .externalID("jane"))
        builder.expect(.externalID("jane"), at: .exactly(Version(rawValue: 3)))
        _ = try await writer.commit(builder.finish())
        await writer.close()

        let jane = try #require(try log.find(.externalID("jane")))
        let profile = try log.profileView(log.profile(of: jane.number))
        let minutes = try log.state(MinutesPlayed.self, of: jane.number)
        let before = try log.state(MinutesPlayed.self, of: jane.number, asOf: Version(rawValue: 3))
        #expect(profile.customAttributes.map(\.name) == ["level"])
        #expect(minutes == 6)
        #expect(before == 3)

        try log.forEachEvent(of: jane.number) { event in
            print(event.position.rawValue, event.kind.map { "\($0)" } ?? "of a newer program")
            return true
        }

        let replayer = Replayer<MinutesPlayed>(log, threads: 2)
        try replayer.run()
        var total: Int64 = 0
        replayer.forEachUser { _, _, minutes in total += minutes }
        #expect(total == 6)

        let report = try log.replay(MinutesPlayed.self, verify: true)
        #expect(report.isEqual)
        #expect(try log.check().isSound)
    }

    @Test("The code in docs/embedding.md is the code that is tested")
    func document() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let root = tests.deletingLastPathComponent().deletingLastPathComponent()
        let code = try ["MinutesPlayed.swift", "EmbeddingTests.swift"].map { name in
            withoutIndentation(try String(contentsOf: tests.appending(path: name), encoding: .utf8))
        }.joined()
        let text = try String(contentsOf: root.appending(path: "docs/embedding.md"), encoding: .utf8)
        let blocks = codeBlocks(text)
        #expect(blocks.count > 4)
        for block in blocks where !block.contains(".package(") {
            #expect(code.contains(withoutIndentation(block)), "\(block)")
        }
    }
}

/// The blocks of Swift in `text`, which is Markdown.
func codeBlocks(_ text: String) -> [String] {
    text.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
}

/// The lines of `text` that are not empty, without what is before and after them.
func withoutIndentation(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) + "\n" }.joined()
}
