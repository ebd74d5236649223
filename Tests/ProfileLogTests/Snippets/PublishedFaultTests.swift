import ProfileLog
import Testing

@testable import ProfileLogSnippets

@Suite("The published snippets, fault by fault: content")
struct PublishedContentTests {
    @Test("No fault: once, exact, to the user of the save, with its time, in saved order")
    func standard() {
        let contents: [SavedContent] = [
            .set("level", 7), .event("a", ["event_name": "b", "flag": .null]), .user(.email, .null),
            .user(.firstName, "Ana"),
            .attributes([AttributeChange("n", .increment(2)), AttributeChange("o", .set(["k": [1, .null]]))]),
        ]
        var begun = story()
        for content in contents { begun = begun.saves(content) }
        begun.launches(.return, user: 2).launches().then { end in
            #expect(end.order == [1, 2, 3, 4, 5])
            for (item, content) in contents.enumerated() { #expect(end.given(UInt64(item + 1)) == [content]) }
            #expect(end.deliveries.allSatisfy { $0.user.rawValue == 1 && $0.time.rawValue % 1_000_000 == 0 })
            #expect(end.deliveries.map(\.time) == (1...5).map { end.outcomes[$0]?.item.savedAt })
            #expect(end.report.isEqual && end.report.deliveredRight == 5 && end.report.byFault.isEmpty)
        }
    }

    @Test("1: an event overwrites all attributes that wait, and becomes attributes itself")
    func eventSavedAsAttributes() {
        story(.eventSavedAsAttributes).saves(.set("level", 7)).saves(.event("a", ["n": 2])).launches().then { end in
            #expect(end.deviations(of: 1) == [Deviation(.eventSavedAsAttributes, .lost)])
            #expect(end.deviations(of: 2) == [Deviation(.eventSavedAsAttributes, .becameAttributes)])
            let given: [AttributeChange] = [
                AttributeChange("event_name", .set("a")), AttributeChange("n", .set(2)),
            ]
            #expect(end.given(2) == [.attributes(given)])
        }
    }

    @Test("1: events that a Swift process saved are copied over the attributes")
    func eventsCopied() {
        story(.eventSavedAsAttributes, under: { $0.languages = ["app": .swift, "watch": .swift] })
            .saves(.event("a"), by: "watch").saves(.event("b"), by: "push").launches().then { end in
                #expect(end.order == [1, 1, 2])
                #expect(end.effects(of: 1) == [.doubled, .becameAttributes])
                #expect(end.effects(of: 2) == [.becameAttributes])
            }
    }

    @Test("1: an event that lies in two lists is delayed only if the launch flushes neither")
    func eventInTwoLists() {
        story(.eventSavedAsAttributes, under: { $0.languages = ["app": .swift, "watch": .swift] })
            .saves(.event("a"), by: "watch").saves(.event("b"), by: "push").launches(flushing: [.customEvents])
            .launches().then { end in
                #expect(end.order == [1, 1, 2])
                #expect(end.effects(of: 1) == [.doubled, .becameAttributes])
                #expect(end.effects(of: 2) == [.becameAttributes, .delayed])
            }
    }

    @Test("2, 3: a property event_name is taken for the name")
    func eventName() {
        story(.nameReplacedByProperty, .nameIsNoString).saves(.event("a", ["event_name": "b", "n": 1]))
            .saves(.event("c", ["event_name": 7])).launches().then { end in
                #expect(end.given(1) == [.event("b", ["n": 1])])
                #expect(end.deviations(of: 1) == [Deviation(.nameReplacedByProperty, .renamed)])
                #expect(end.deviations(of: 2) == [Deviation(.nameIsNoString, .lost)])
            }
    }

    @Test("11: what is not a set is lost, in part or whole")
    func onlySet() {
        let both = [AttributeChange("n", .increment(1)), AttributeChange("o", .set(2))]
        story(.onlySetIsPossible).saves(.attributes([AttributeChange("n", .unset)])).saves(.attributes(both)).launches()
            .then { end in
                #expect(end.effects(of: 1) == [.lost])
                #expect(end.effects(of: 2) == [.partlyLost])
                #expect(end.given(2) == [.set("o", 2)])
            }
    }

    @Test("12, 13: user attributes other than an e-mail, and an e-mail that is unset or reads $null, are lost")
    func userAttributes() {
        story(.onlyEmailExists, .emptyEmailUndecodable).saves(.user(.firstName, "Ana")).saves(.user(.email, .null))
            .saves(.user(.email, "$null")).saves(.user(.email, "a@example.com")).launches().then { end in
                #expect(end.faults(of: 1) == [12])
                #expect(end.faults(of: 2) == [13] && end.faults(of: 3) == [13])
                #expect(end.order == [4] && end.deviations(of: 4).isEmpty)
            }
    }

    @Test("15, 16: languages that do not understand each other, or themselves")
    func languages() {
        let email = SavedContent.user(.email, "a@example.com")
        story(.languagesEncodeDifferently).saves(email).saves(email, by: "app").launches().then { end in
            #expect(end.faults(of: 1) == [15] && end.faults(of: 2).isEmpty)
        }
        story(.archivingFails).saves(email).launches().then { #expect($0.faults(of: 1) == [16]) }
    }

    @Test(
        "18: numbers as Foundation casts them",
        arguments: [(1, true), (0, false), (7, 7.0), (1.0, true), (0.5, 0.5), (9_007_199_254_740_993, .null)]
            as [(AttributeValue, AttributeValue)])
    func numbers(saved: AttributeValue, given: AttributeValue) {
        let given = given == .null ? saved : given
        story(.numbersChangeType).saves(.set("n", saved)).launches().then { end in
            #expect(end.given(1) == [.set("n", given)])
            #expect(end.deviations(of: 1) == (given == saved ? [] : [Deviation(.numbersChangeType, .mistyped)]))
        }
        story(.numbersChangeType, under: { $0.numbers = .exact }).saves(.set("n", saved)).launches().then {
            #expect($0.given(1) == [.set("n", saved)])
        }
    }

    @Test("19, 20: collections without a setter vanish")
    func collections() {
        let values: [AttributeValue] = [["a", "b"], [], [1, 2], ["a", 1], ["k": 1]]
        var swift = story(.collectionsVanish)
        var objectiveC = story(.arraySetterUnused)
        for value in values {
            swift = swift.saves(.set("x", value))
            objectiveC = objectiveC.saves(.set("x", value))
        }
        swift.launches().then { #expect($0.order == [1, 2]) }
        objectiveC.launches().then { #expect($0.order == [5] && $0.faults(of: 1) == [20]) }
    }

    @Test("21: a null anywhere crashes the save")
    func nulls() {
        story(.nullCrashesSave).saves(.event("a", ["x": [1, .null]])).saves(.set("y", .null)).saves(
            .user(.email, .null)
        )
        .launches().then { end in
            #expect(end.order == [3])
            #expect(end.faults(of: 1) == [21] && end.faults(of: 2) == [21])
        }
    }

    @Test("27: what the SDK refuses is cleared, and what is too long is cut")
    func refused() {
        let long = String(repeating: "é", count: 200)
        let tooLong = String(repeating: "x", count: 256)
        func tale(_ sdk: SDKVersion) -> PublishedStory {
            story(.refusalIgnored, under: { ($0.sdk, $0.blocklist) = (sdk, ["secret"]) })
                .saves(.event("secret")).saves(.event("a", ["$x": 1])).saves(.event("b", ["x": .string(long)]))
                .saves(.set("n", .string(tooLong))).saves(.event("c"))
                .saves(.attributes([AttributeChange("secret", .set(1)), AttributeChange("x", .set(1))])).launches()
        }
        tale(SDKVersion(18, 0, 0)).then { end in
            #expect(end.order == [3, 4, 5, 6])
            #expect(end.effects(of: 4) == [.truncated] && end.effects(of: 6) == [.partlyLost])
            #expect(end.given(4) == [.set("n", .string(String(tooLong.dropLast())))])
        }
        tale(SDKVersion(11, 1, 0)).then { #expect($0.effects(of: 3) == [.lost] && $0.effects(of: 5).isEmpty) }
        tale(SDKVersion(4, 4, 2)).then { #expect($0.effects(of: 5) == [.lost]) }
    }

    @Test(
        "27: what the SDK's rules refuse is lost with the fault, and rejected without it, also with other faults"
    )
    func rules() {
        let saves: (PublishedStory) -> PublishedStory = {
            $0.saves(.event("$a")).saves(.user(.email, "no address")).saves(.set("$n", 1)).saves(.event("a"))
                .saves(.attributes([AttributeChange("$n", .set(1)), AttributeChange("x", .set("y"))])).launches()
        }
        saves(story(.refusalIgnored)).then { end in
            #expect(end.order == [4, 5] && end.given(5) == [.set("x", "y")] && end.effects(of: 5) == [.partlyLost])
            #expect((1...3).allSatisfy { end.deviations(of: $0) == [Deviation(.refusalIgnored, .lost)] })
            #expect(end.report.rejected == 0 && end.report.affected == 4)
        }
        saves(story(.noTimeStored, .flushedTwice)).then { end in
            #expect(end.order == [4, 4] && end.report.rejected == 4 && end.report.affected == 1)
            #expect(end.outcomes[1]?.fate == .rejected && end.outcomes[4]?.deliveredAt != nil)
        }
    }

    @Test("27: with nothing disabled or blocklisted, a new SDK accepts what its rules do not refuse, and nothing else")
    func gateAndRules() {
        let key = String(repeating: "k", count: 255)
        let fits = AttributeValue.string(String(repeating: "é", count: 255))
        let isLonger = AttributeValue.string(String(repeating: "é", count: 256))
        let nested: [(AttributeValue) -> AttributeValue] = [
            { $0 }, { .array([1, $0]) }, { .object([.init("k", $0)]) },
            { .array([.object([.init("a", .array([.null, $0]))])]) },
            { .object([.init("a", 1), .init("b", .array([.object([.init(Name(key), $0)])]))]) },
        ]
        func expect(_ content: SavedContent, isTaken: Bool, _ location: SourceLocation = #_sourceLocation) {
            let accepted = content.accepted(isEnabled: true, PublishedConditions())
            #expect((accepted != nil) == isTaken, "\(content)", sourceLocation: location)
            #expect(content.isRefusedBySDK == !isTaken, "\(content)", sourceLocation: location)
        }
        for wrap in nested {
            expect(.event("a", .object([.init("p", wrap(fits))])), isTaken: true)
            expect(.event("a", .object([.init("o", 1), .init("p", wrap(isLonger))])), isTaken: false)
            // What is too long for an attribute is cut.
            expect(.set("a", wrap(isLonger)), isTaken: true)
        }
        expect(.event("a", ["$p": 1]), isTaken: false)
        expect(.event("$a"), isTaken: false)
        expect(.user(.email, "no address"), isTaken: false)
        expect(.user(.email, .null), isTaken: true)
    }

    @Test("The report lists the affected items that were saved first, also if others ended first")
    func order() {
        var report = WhatIfReport(mostItems: 2)
        for position: UInt64 in [5, 3, 9, 1] {
            let item = SavedItem(
                position: Position(rawValue: position), user: UserNumber(rawValue: 1), process: "app",
                storage: PublishedStory.group, savedAt: Timestamp(rawValue: 1), content: .event("a"))
            let outcome = PublishedOutcome(item: item, fate: .lost, deviations: [Deviation(.instanceMissing, .lost)])
            report.add(outcome, on: "d")
        }
        #expect(report.affectedItems.map(\.outcome.item.position.rawValue) == [1, 3] && report.affected == 4)
    }
}
