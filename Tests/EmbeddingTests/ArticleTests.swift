import Foundation
import ProfileLog
import Testing

/// The code of the articles in `Sources/ProfileLog/ProfileLog/ProfileLog.docc`.
@Suite("Articles")
struct ArticleTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "articles-\(UUID().uuidString)").path

    @Test("An overview, in three lines")
    func overview() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = try EventLog(path: folder, create: true)
        let song = CustomEvent(name: "played song", properties: [.init("minutes", .int(3))])
        _ = try log.append([.customEventLogged(song)], to: .externalID("jane"))
        #expect(try log.find(.externalID("jane")) != nil)
    }

    @Test("Fold your own projection")
    func projection() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = try EventLog(path: folder, create: true, projections: [ProfileProjection.self, Spending.self])
        let book = Purchase(product: "book", currency: "EUR", price: 12.5, quantity: 2)
        _ = try log.append([.purchaseLogged(book)], to: .externalID("jane"))
        let jane = try #require(try log.find(.externalID("jane")))
        let spending = try log.state(Spending.self, of: jane.number)
        #expect(spending == ["EUR": 2500])
        let proof = try log.replay(Spending.self, threads: 2, verify: true)
        #expect(proof.isEqual, "\(proof.differences)")
        while try !log.replayIntoShadow(threads: 2).isComplete {}
        try log.swapShadow()
        #expect(try log.state(Spending.self, of: jane.number) == spending)
        #expect(try log.check().isSound)
    }

    @Test("Ask about the past")
    func past() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = try EventLog(path: folder, create: true)
        let levels: [(Int64, String)] = [
            (7, "2026-03-01T12:00:00Z"),
            (2, "2026-01-01T12:00:00Z"),  // arrives late, from a tablet that was offline
        ]
        for (level, time) in levels {
            _ = try log.append(
                [.customAttributesChanged([AttributeChange("level", .set(.int(level)))])], to: .externalID("jane"),
                context: EventContext(source: .rest, occurredAt: OccurredAt(iso8601: time)))
        }
        let jane = try #require(try log.find(.externalID("jane")))

        let now = try log.profileView(log.profile(of: jane.number))
        let before = try log.profileView(log.profile(of: jane.number, asOf: Version(rawValue: 2)))
        let level = try #require(now.customAttributes.first { $0.name == "level" })
        let setter = try #require(try log.event(at: level.position))
        #expect(level.value == .int(2) && before.customAttributes.first?.value == .int(7))
        #expect(setter.version == Version(rawValue: 3))

        let happened = try log.profileView(log.profile(of: jane.number, asOf: .now, order: .occurred))
        #expect(happened.customAttributes.first?.value == .int(7))

        let blame = try #require(try log.blame(of: jane.number, field: "level").first)
        print(blame.field, blame.write.event.position.rawValue, blame.previous?.value ?? .null)
        #expect(blame.previous?.value == .int(7))

        var kinds: [EventKind?] = []
        try log.forEachEvent(of: jane.number, direction: .backward) { event in
            kinds.append(event.kind)
            return true
        }
        #expect(kinds == [.customAttributesChanged, .customAttributesChanged, .userCreated])
    }

    @Test("Try a rule before you ship it")
    func rule() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = try EventLog(path: folder, create: true, projections: [ProfileProjection.self, Spending.self])
        let sale = Purchase(product: "book", currency: "EUR", price: 12.5, quantity: 2)
        let refund = Purchase(product: "book", currency: "EUR", price: -12.5)
        _ = try log.append([.purchaseLogged(sale)], to: .externalID("jane"))
        _ = try log.append([.purchaseLogged(refund)], to: .externalID("jane"))
        _ = try log.append(
            [.customEventLogged(CustomEvent(name: "seen"))], to: .externalID("bo"),
            context: EventContext(source: .import))
        for level in [Int64(1), 2] {
            _ = try log.append(
                [.customAttributesChanged([AttributeChange("level", .set(.int(level)))])], to: .externalID("jane"))
        }
        let purchase = Position(rawValue: 2)

        let impact = try log.whatIf(AlteredHistory(without: [.source(.import)]), threads: 2)
        print("\(impact.changed) of \(impact.users) profiles would change")
        #expect(impact.changed == 1 && impact.users == 2)

        let sold = Purchase(product: "book", currency: "EUR", price: 12.5)
        let corrected = try log.whatIf(AlteredHistory(corrections: [purchase: .purchaseLogged(sold)]))
        #expect(corrected.changed == 1)

        let ruled = try log.whatIf(AlteredHistory(rules: FoldRules(policies: ["level": .firstWins])))
        #expect(ruled.changed == 1 && ruled.users == 2)

        let tried = Replayer<NetSpending>(log, threads: 2)
        try tried.run()
        var poorer = 0
        try tried.forEachUser { user, version, net in
            let spending = try log.state(Spending.self, of: user, asOf: version)
            if net != spending { poorer += 1 }
        }
        #expect(poorer == 1)
    }

    @Test("Each block of code in an article is in these tests")
    func articles() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let catalogue = tests.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/ProfileLog/ProfileLog/ProfileLog.docc")
        let code = try ["Spending.swift", "ArticleTests.swift"].map { name in
            withoutIndentation(try String(contentsOf: tests.appending(path: name), encoding: .utf8))
        }.joined()
        let articles = try FileManager.default.contentsOfDirectory(atPath: catalogue.path)
        #expect(articles.count == 4)
        for article in articles {
            let blocks = codeBlocks(try String(contentsOf: catalogue.appending(path: article), encoding: .utf8))
            #expect(!blocks.isEmpty, "\(article)")
            for block in blocks { #expect(code.contains(withoutIndentation(block)), "\(article): \(block)") }
        }
    }
}
