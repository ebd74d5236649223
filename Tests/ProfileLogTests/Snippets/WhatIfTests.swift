import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogSnippets

@Suite("What the published snippets would have done to a log")
struct WhatIfTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock))
    }

    private func save(_ event: ProfileEvent, _ user: UserID, on device: String = "d", _ log: EventLog) throws {
        clock.advance(1_000_000)
        _ = try log.append([event], to: user, context: .saved(on: device))
    }

    /// Ana saves, Bo takes the device, the app is launched; and Cy has a device where the e-mail is unset.
    private func history() throws -> EventLog {
        let log = try open()
        try save(.customEventSaved(CustomEvent(name: "a")), .externalID("ana"), log)
        try save(.customAttributesSaved([AttributeChange("n", .set(.int(7)))]), .externalID("ana"), log)
        _ = try log.changeUser(device: "d", to: .externalID("bo"), context: .test)
        try save(.customEventSaved(CustomEvent(name: "b")), .externalID("bo"), log)
        clock.advance(1_000_000)
        _ = try log.launch(device: "d")
        try save(.userAttributeSaved(UserAttributeChange(.email, .null)), .externalID("cy"), on: "e", log)
        clock.advance(1_000_000)
        _ = try log.launch(device: "e")
        try save(.customEventSaved(CustomEvent(name: "c")), .externalID("cy"), on: "e", log)
        return log
    }

    @Test("Without a fault nothing differs, and the log stays as it is")
    func standard() throws {
        let log = try history()
        let last = try log.lastPosition()
        let report = try log.whatIf(.standard)
        #expect(report.isEqual && report.isComplete && report.byFault.isEmpty && report.affectedItems.isEmpty)
        #expect(report.items == 5 && report.deliveredRight == 4 && report.waiting == 1)
        #expect(report.users == 3 && report.devices == 2 && report.position == last)
        #expect(try log.lastPosition() == last)
    }

    @Test("Quirks of the tag manager: how many calls of the app each would have changed")
    func quirks() throws {
        let log = try open()
        let changes = ProfileEvent.customAttributesChanged([
            AttributeChange("level", .set(.int(7))), AttributeChange("song", .set(.string("x"))),
            AttributeChange("share", .set(.double(0.5))), AttributeChange("n", .increment(1)),
        ])
        let tagged = CustomEvent(name: "a", properties: [.init("eventName", .string("a"))])
        var ends: [Position] = []
        for source in [EventSource.app, .rest] {
            let receipt = try log.append(
                [changes, .customEventLogged(tagged), .customEventLogged(CustomEvent(name: "b"))],
                to: .externalID("ana"), context: EventContext(source: source, device: "d"))
            ends.append(receipt.last)
        }
        let all = Set(TagQuirk.allCases)
        let report = try log.whatIf(.standard, quirks: all)
        #expect(report.calls == 5)
        #expect(report.callsByQuirk == [.boxedNumbers: 1, .textLoggedAsEvent: 1, .settingsRemoved: 1])
        #expect(try log.whatIf(.standard, quirks: [.objectsDropped]).callsByQuirk.isEmpty)
        #expect(try log.whatIf(.standard).calls == 0)
        #expect(try log.whatIf(.standard, in: WhatIfScope(since: ends[0]), quirks: all).calls == 1)
    }

    @Test("The newest snippets: misdated, mistyped, reordered, to the wrong user, lost")
    func faithful() throws {
        let report = try history().whatIf(.faithful())
        #expect(report.affected == 4 && report.affectedUsers == 3 && report.deliveredRight == 0 && report.waiting == 1)
        #expect(report.byEffect == [.lost: 1, .wrongUser: 2, .misdated: 3, .mistyped: 1, .reordered: 1])
        #expect(report.byFault[.noUserStored]?.items == 2 && report.byFault[.noUserStored]?.users == 1)
        #expect(report.byFault[.emptyEmailUndecodable]?.effects == [.lost: 1])
        let last = try #require(report.affectedItems.last)
        let lost = last.outcome
        #expect(last.device == "e" && lost.item.content.names == ["email"])
        #expect(lost.receivedBy == nil && lost.fate == .lost)
    }

    @Test("A user, a device or a part is counted as in the whole, for what came before is played too")
    func scopes() throws {
        let log = try history()
        let bo = try #require(try log.find(.externalID("bo"))).number
        #expect(try log.whatIf(.faithful(), in: WhatIfScope(user: bo)).items == 1)
        #expect(try log.whatIf(.faithful(), in: WhatIfScope(device: "e")).items == 2)
        #expect(try log.whatIf(.faithful(), in: WhatIfScope(device: "nowhere")).items == 0)
        let last = try log.lastPosition()
        for cut in 0...last.rawValue {
            let cut = Position(rawValue: cut)
            let before = try log.whatIf(.faithful(), in: WhatIfScope(until: cut))
            let whole = try log.whatIf(.faithful())
            let after = try log.whatIf(.faithful(), in: WhatIfScope(since: cut.next))
            #expect(before.items + after.items == whole.items && before.position == cut)
            #expect(after.affectedItems == whole.affectedItems.filter { $0.outcome.item.position > cut })
        }
    }

    @Test(
        "Items that a user saved before a merge count once, for the canonical user",
        arguments: [false, true])
    func merged(isBehindFlush: Bool) throws {
        let log = try open()
        let jane = UserID.externalID("jane")
        _ = try log.append([.customEventLogged(CustomEvent(name: "hello"))], to: jane)
        try save(.customAttributesSaved([AttributeChange("level", .set(.int(7)))]), .device("d"), log)
        clock.advance(1_000_000)
        if isBehindFlush { _ = try log.launch(device: "d") }
        _ = try log.changeUser(device: "d", to: jane)
        try save(.customEventSaved(CustomEvent(name: "a")), jane, log)
        clock.advance(1_000_000)
        _ = try log.launch(device: "d")
        let number = try #require(try log.find(jane)).number
        for scope in [WhatIfScope(), WhatIfScope(user: number)] {
            let report = try log.whatIf(PublishedPolicy([.noTimeStored, .noUserStored]), in: scope)
            #expect(report.items == 2 && report.users == 1)
            #expect(report.affected == 2 && report.affectedUsers == 1)
            #expect(report.byEffect == [.misdated: 2] && report.byFault[.noTimeStored]?.users == 1)
            #expect(report.affectedItems.allSatisfy { $0.outcome.item.user == number })
            #expect(report.affectedItems.allSatisfy { $0.outcome.receivedBy == number })
        }
    }

    @Test("A launch of a user who was erased since is played by what it flushed of others")
    func erasedLaunch() throws {
        let log = try open()
        try save(.customEventSaved(CustomEvent(name: "a")), .externalID("bob"), log)
        try save(.customEventSaved(CustomEvent(name: "b")), .externalID("bob"), log)
        _ = try log.append([.customEventLogged(CustomEvent(name: "x"))], to: .externalID("ana"))
        _ = try log.changeUser(device: "d", to: .externalID("ana"), context: .test)
        clock.advance(1_000_000)
        _ = try log.launch(device: "d")
        try save(.customEventSaved(CustomEvent(name: "c")), .externalID("bob"), log)
        let policy = PublishedPolicy([.noUserStored])
        let before = try log.whatIf(policy)
        _ = try log.erase([.externalID("ana")], actor: "a test", reason: "a test")
        let after = try log.whatIf(policy)
        #expect(before.byEffect == [.wrongUser: 2] && before.waiting == 1)
        #expect(after.byEffect == before.byEffect && after.waiting == 1)
        #expect(try log.whatIf(.standard).deliveredRight == 2)
    }

    @Test(
        "The kind and the lists of an erased user's launch are not known: it is counted as guessed",
        arguments: [(LaunchKind.return, PendingKind.all), (.cold, [.customEvents])] as [(LaunchKind, Set<PendingKind>)])
    func erasedGuess(kind: LaunchKind, lists: Set<PendingKind>) throws {
        let log = try open()
        try save(.customEventSaved(CustomEvent(name: "a")), .externalID("bob"), log)
        try save(.customAttributesSaved([AttributeChange("n", .set(.int(7)))]), .externalID("bob"), log)
        _ = try log.changeUser(device: "d", to: .externalID("ana"), context: .test)
        clock.advance(1_000_000)
        _ = try log.launch(device: "d", kind: kind, flushing: lists)
        let before = try log.whatIf(PublishedPolicy([.returnDoesNotFlush]))
        #expect(before.guessed == 0 && before.unplayed == 0)
        #expect(before.byEffect == (kind == .return ? [.delayed: 2] : [:]))
        _ = try log.erase([.externalID("ana")], actor: "a test", reason: "a test")
        let after = try log.whatIf(PublishedPolicy([.returnDoesNotFlush]))
        #expect(after.guessed == 1 && after.unplayed == 0)
    }

    @Test("An erased user's launch that flushed nothing of others is counted and not played")
    func erasedAlone() throws {
        let log = try open()
        try save(.customEventSaved(CustomEvent(name: "a")), .externalID("ana"), log)
        clock.advance(1_000_000)
        _ = try log.launch(device: "d")
        _ = try log.erase([.externalID("ana")], actor: "a test", reason: "a test")
        let report = try log.whatIf(.standard)
        #expect(report.unplayed == 1 && report.guessed == 0 && report.items == 0)
    }

    @Test("What an erased person gave up was theirs: it is missed only where a reset takes others' items with it")
    func erasedDiscard() throws {
        let log = try open()
        try save(.customEventSaved(CustomEvent(name: "a")), .externalID("ana"), log)
        try save(.customEventSaved(CustomEvent(name: "b")), .externalID("bob"), log)
        let first = try #require(try log.reader.devices.pending(on: "d").first?.position)
        _ = try log.commit(
            .discard(device: "d", .positions([first]), actor: "a test", reason: "a test", context: .test))
        _ = try log.erase([.externalID("ana")], actor: "a test", reason: "a test")
        #expect(try log.whatIf(.standard).unplayed == 0)
        #expect(try log.whatIf(PublishedPolicy([.resetTakesEverything])).unplayed == 1)
    }

    @Test("A merge while it runs does not change the user of later events", arguments: [false, true])
    func mergedMeanwhile(isScoped: Bool) throws {
        let log = try open()
        let (sam, tim) = (UserID.externalID("sam"), UserID.externalID("tim"))
        _ = try log.append([.customEventLogged(CustomEvent(name: "hello"))], to: tim)
        try save(.customEventSaved(CustomEvent(name: "a")), sam, log)
        let saved = try log.lastPosition()
        clock.advance(1_000_000)
        _ = try log.launch(device: "d")
        let number = try #require(try log.find(sam)).number
        let scope = WhatIfScope(user: isScoped ? number : nil)
        let report = try log.whatIf(
            PublishedPolicy([.noUserStored]), in: scope, mostItems: 10, recordsPerSlice: 1
        ) { progress in
            guard progress.done == saved.rawValue else { return true }
            return (try? log.commit(.identity(.merge(source: sam, target: tim), context: .test))) != nil
        }
        #expect(report.isComplete && report.isEqual && report.items == 1 && report.deliveredRight == 1)
        #expect(try log.reader.users.canonicalUser(of: number) == log.find(tim)?.number)
    }

    @Test("An erased user's launch whose device is known counts for that device alone, in every scope")
    func erasedLaunchElsewhere() throws {
        let log = try open()
        for device in ["d", "e"] {
            try save(.customEventSaved(CustomEvent(name: "a")), .externalID("bob"), on: device, log)
        }
        _ = try log.changeUser(device: "d", to: .externalID("ana"), context: .test)
        clock.advance(1_000_000)
        _ = try log.launch(device: "d")
        _ = try log.erase([.externalID("ana")], actor: "a test", reason: "a test")
        for device in ["d", "e", nil] {
            let report = try log.whatIf(.standard, in: WhatIfScope(device: device))
            #expect(report.unplayed == 0 && report.guessed == (device == "e" ? 0 : 1))
            #expect(report.items == (device == nil ? 2 : 1) && report.waiting == (device == "d" ? 0 : 1))
        }
    }

    @Test("Who stops it gets what was played; the list of items is bounded, the counts are not")
    func stopped() throws {
        let log = try history()
        let stopped = try log.whatIf(.faithful()) { _ in false }
        #expect(stopped.isComplete)  // so short a log is played at once
        let report = try log.whatIf(.faithful(), mostItems: 1)
        #expect(report.affectedItems.count == 1 && report.affected == 4)
    }

    @Test("What was given up in the log is no loss, but what a reset takes with it is")
    func discarded() throws {
        let log = try open()
        try save(.customEventSaved(CustomEvent(name: "a")), .externalID("ana"), log)
        try save(.customEventSaved(CustomEvent(name: "b")), .externalID("ana"), log)
        let first = try #require(try log.reader.devices.pending(on: "d").first?.position)
        _ = try log.commit(
            .discard(device: "d", .positions([first]), actor: "a test", reason: "a test", context: .test))
        _ = try log.launch(device: "d")
        #expect(try log.whatIf(.standard).discarded == 1)
        let report = try log.whatIf(PublishedPolicy([.resetTakesEverything]))
        #expect(report.affected == 1 && report.byFault[.resetTakesEverything]?.effects == [.lost: 1])
    }
}
