import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogFacts
@testable import ProfileLogFolds
@testable import ProfileLogLog
@testable import ProfileLogMachines

/// Devices through the log, where several of them, several users and refusals meet.
@Suite("Devices on a log")
struct DeviceLogTests {
    let folder = TemporaryFolder()
    let otherFolder = TemporaryFolder()
    let clock = TestClock()
    private let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
    private let saved = ProfileEvent.customEventSaved(CustomEvent(name: "saved"))
    private let badEmail = ProfileEvent.userAttributeSaved(UserAttributeChange(.email, .string("none")))
    private let goodEmail = ProfileEvent.userAttributeSaved(UserAttributeChange(.email, .string("a@example.com")))

    private func open(
        at folder: TemporaryFolder? = nil, pendingItems: Int = 10_000, itemsPerFlush: Int = 3
    ) throws -> EventLog {
        var options = LogOptions.small(clock)
        options.itemsPerFlush = itemsPerFlush
        options.pendingItemsPerDevice = pendingItems
        return try (folder ?? self.folder).open(options: options)
    }

    private func app(on device: String, source: EventSource = .app, at: Int64? = nil) -> EventContext {
        EventContext(
            source: source, occurredAt: at.map { OccurredAt(Timestamp(rawValue: $0)) }, device: device)
    }

    private func imported(on device: String) -> EventContext {
        var context = EventContext.saved(on: device)
        context.source = .import
        return context
    }

    private func change(_ device: String, _ log: EventLog, _ set: (inout SettingsChange) -> Void) throws {
        var change = SettingsChange()
        set(&change)
        _ = try log.change(change, of: device)
    }

    private func expectWhole(_ log: EventLog) throws {
        try log.expectSound()
        let report = try log.replay(verify: true)
        #expect(report.isEqual, "\(report.differences)")
        try log.writeIndex()
    }

    private func count(_ name: Name, of user: String, _ log: EventLog) throws -> UInt64? {
        let number = try #require(try log.find(.externalID(user))).number
        return try log.named(log.profile(of: number)).customEvents.first { $0.name == name }?.occurrences.count
    }

    // MARK: - Refusals leave nothing

    @Test("An event that a disabled SDK refuses leaves no user, no name and no event")
    func refused() throws {
        let log = try open()
        try change("d", log) { $0.isSDKEnabled = false }
        let before = try log.lastPosition()
        #expect(throws: AppendError.self) { try log.append([played], to: .externalID("new"), context: app(on: "d")) }
        #expect(try log.find(.externalID("new")) == nil)
        #expect(try log.lastPosition() == before)
        _ = try log.append([played], to: .externalID("bo"))
        #expect(try log.find(.externalID("bo"))?.version.rawValue == 2)
        try expectWhole(log)
    }

    @Test("A refusal on a device stores nothing of an append in a group, with a key, after what would have been stored")
    func refusedInGroup() throws {
        let log = try open()
        try change("d", log) { $0.isSDKEnabled = false }
        var bad = log.prepare()
        try bad.add(.customEventLogged(CustomEvent(name: "first")), .test, to: .externalID("ana"))
        try bad.add(played, app(on: "d"), to: .externalID("ana"))
        var good = log.prepare()
        try good.add(.customEventLogged(CustomEvent(name: "other")), .test, to: .externalID("bo"))
        let refused = try bad.finish(idempotencyKey: "key")
        let answers = try log.commit([refused, good.finish()])
        #expect(throws: AppendError.self) { try answers[0].get() }
        #expect(throws: Never.self) { try answers[1].get() }
        #expect(try log.find(.externalID("ana")) == nil)
        try change("d", log) { $0.isSDKEnabled = true }
        #expect(try !log.commit(refused).isRepetition)
        #expect(try count("first", of: "ana", log) == 1)
        try expectWhole(log)
    }

    @Test("A clock that is far ahead is refused, and nothing is left of it")
    func clockAhead() throws {
        let log = try open()
        var context = EventContext.saved(on: "d", at: clock.now.rawValue + 2 * SDKRules.furthestAhead)
        #expect(throws: AppendError.self) { try log.append([saved], to: .device("d"), context: context) }
        context.occurredAt = nil
        _ = try log.append([saved], to: .externalID("bo"), context: context)
        try expectWhole(log)
    }

    // MARK: - Who is on which device

    @Test("A merge takes its device along, and leaves devices of another user or of no user alone")
    func mergeOfTwoDevices() throws {
        let log = try open()
        _ = try log.append([played], to: .externalID("ana"))
        _ = try log.launch(device: "d1")
        let anonymous = try #require(try log.find(.device("d1")))
        _ = try log.append([played], to: .device("d1"))
        _ = try log.changeUser(device: "d2", to: .assignedID(anonymous.brazeID))
        _ = try log.logOut(device: "d1")
        for _ in 0..<3 { _ = try log.changeUser(device: "d2", to: .externalID("ana")) }
        let ana = try #require(try log.find(.externalID("ana")))
        #expect(try log.reader.devices.state(of: "d1").user == nil)
        #expect(try log.reader.devices.state(of: "d2").user == ana.number)
        #expect(try count("played", of: "ana", log) == 2)
        try expectWhole(log)
    }

    @Test("A device that is still on a merged user leads to the one who took them over, and merges have an end")
    func mergedElsewhere() throws {
        let log = try open()
        _ = try log.launch(device: "d1")
        let anonymous = try #require(try log.find(.device("d1")))
        _ = try log.changeUser(device: "d2", to: .assignedID(anonymous.brazeID))
        _ = try log.launch(device: "d3")
        _ = try log.changeUser(device: "d2", to: .device("d3"))
        _ = try log.changeUser(device: "d1", to: .device("d2"))
        let last = try #require(try log.find(.device("d3"))).number
        #expect(try log.reader.users.canonicalUser(of: anonymous.number) == last)
        #expect(try log.find(.device("d1"))?.number == last)
        _ = try log.append([played], to: .device("d1"))
        #expect(try log.find(.device("d3"))?.number == last)
        try expectWhole(log)
    }

    @Test("A save puts its user on a device of which nothing was known, and never on one that was left")
    func saveAfterLogOut() throws {
        let log = try open()
        _ = try log.append([saved], to: .externalID("ana"), context: .saved(on: "d"))
        #expect(try log.reader.devices.state(of: "d").user != nil)
        _ = try log.logOut(device: "d")
        _ = try log.append([saved], to: .externalID("ana"), context: .saved(on: "d"))
        #expect(try log.reader.devices.state(of: "d").user == nil)
        try expectWhole(log)
    }

    @Test(
        "Events of an unknown device, and saves on it, come to the same in one append as one by one",
        arguments: ["", "key"])
    func anonymousFirst(key: String) throws {
        let (one, three) = (try open(), try open(at: otherFolder))
        let facts = [
            (played, EventContext.test, UserID.device("d")), (saved, .saved(on: "d"), .externalID("ana")),
            (played, .test, .device("d")),
        ]
        var builder = one.prepare()
        for (event, context, user) in facts {
            try builder.add(event, context, to: user)
            _ = try three.append([event], to: user, context: context)
        }
        _ = try one.commit(builder.finish(idempotencyKey: key))
        let stored = try one.events(from: .start, limit: .max).events
        let expected = try three.events(from: .start, limit: .max).events
        #expect(stored.map(\.event) == expected.map(\.event) && stored.map(\.user) == expected.map(\.user))
        #expect(try one.find(.device("d"))?.number == one.reader.devices.state(of: "d").user)
        try expectWhole(one)
    }

    @Test(
        "A user whose address is another user's by now is not anonymous", arguments: [false, true],
        [false, true])
    func releasedAddress(isKnown: Bool, beginsOnDevice: Bool) throws {
        let log = try open()
        let address = UserID.email("a@example.com")
        if beginsOnDevice {
            _ = try log.launch(device: "first")
            _ = try log.changeUser(device: "first", to: address)
        } else {
            _ = try log.append([played], to: address)
        }
        let user = try #require(try log.find(address))
        _ = try log.commit(.identity(.releaseAddress(address), context: .test))
        if isKnown { try log.writeIndex() }
        _ = try log.append([played], to: .externalID("bo"))
        // Comes to an identified device, and is left for another user.
        _ = try log.changeUser(device: "d", to: .externalID("bo"))
        _ = try log.changeUser(device: "d", to: .assignedID(user.brazeID))
        if isKnown { _ = try log.append([played], to: .externalID("ana")) }
        let change = try log.changeUser(device: "d", to: .externalID("ana"))
        #expect(try log.event(at: change.last)?.event == .userChanged(previous: user.number))
        #expect(try log.find(.assignedID(user.brazeID))?.number == user.number)
        try expectWhole(log)
    }

    /// The moment at which the caches are written before a user comes to the device.
    enum Writing: CaseIterable { case never, beforeMerges, betweenMerges, behindMerges }

    @Test(
        "A user into whom another was merged is not anonymous, whatever their IDs", arguments: [false, true],
        Writing.allCases)
    func tookIn(isReleased: Bool, writing: Writing) throws {
        let log = try open()
        for device in ["d", "e"] { _ = try log.launch(device: device) }
        let address = UserID.email("a@example.com")
        _ = try log.append([played], to: address)
        _ = try log.changeUser(device: "f", to: address)
        let somebody = try #require(try log.find(address))
        if isReleased { _ = try log.commit(.identity(.releaseAddress(address), context: .test)) }
        func merge(_ source: UserID, into target: UserID) throws {
            _ = try log.commit(.identity(.merge(source: source, target: target), context: .test))
        }
        let user = try #require(try log.find(.device("d")))
        if writing == .beforeMerges { try log.writeIndex() }
        try merge(.assignedID(somebody.brazeID), into: .device("e"))
        if writing == .betweenMerges { try log.writeIndex() }
        try merge(.device("e"), into: .device("d"))
        if writing == .behindMerges { try log.writeIndex() }
        #expect(try log.reader.users.canonicalUser(of: somebody.number) == user.number)
        _ = try log.append([played], to: .externalID("ana"))
        for (device, id) in [("d", "ana"), ("f", "bo")] {
            _ = try log.changeUser(device: device, to: .externalID(id))
            #expect(try log.reader.devices.state(of: device).user == log.find(.externalID(id))?.number)
        }
        #expect(try log.reader.users.canonicalUser(of: user.number) == user.number)
        #expect(try log.reader.users.find(user.number)?.ids.allSatisfy(\.isDevice) == true)
        try expectWhole(log)
    }

    @Test("A user that another was merged into is not anonymous in any slice of a flush")
    func tookInBySlice() throws {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        var merges: [PreparedAppend] = []
        for number in 0..<6 {
            let (device, address) = (UserID.device("d\(number)"), UserID.email("\(number)@example.com"))
            // Rows of users are written in the order of their numbers: once that of the source comes first.
            let users = number % 2 == 0 ? [device, address] : [address, device]
            for user in users { _ = try log.append([played], to: user) }
            let somebody = try #require(try log.find(address))
            _ = try log.commit(.identity(.releaseAddress(address), context: .test))
            let merge = IdentityChange.merge(source: .assignedID(somebody.brazeID), target: device)
            merges.append(try .identity(merge, context: .test))
        }
        for answer in log.commit(merges) { _ = try answer.get() }
        while try !log.store.writing.withLock({ _ in try log.caches.writeIndexSlice(rows: 1) }) {
            try log.expectSound()
        }
        for number in 0..<6 {
            let user = try #require(try log.find(.device("d\(number)")))
            _ = try log.changeUser(device: "d\(number)", to: .externalID("ana"))
            #expect(try log.reader.users.canonicalUser(of: user.number) == user.number)
        }
        try expectWhole(log)
    }

    @Test(
        "An identified device cannot be anonymous again, and no device gets another one's ID", arguments: [false, true])
    func noWayBack(isIdentified: Bool) throws {
        let log = try open()
        _ = try log.launch(device: "other")
        _ = try log.launch(device: "d")
        if isIdentified { _ = try log.changeUser(device: "d", to: .externalID("ana")) }
        let item = try log.append([saved], to: .device("d"), context: .saved(on: "d")).last
        _ = try log.launch(device: "d", dyingAfter: .handed)
        let before = try log.lastPosition()
        #expect(throws: AppendError.unknownUser(.device("nobody"))) {
            try log.changeUser(device: "d", to: .device("nobody"))
        }
        #expect(throws: AppendError.unknownUser(.device("nobody"))) {
            _ = try log.commit(.device("d", .changeUser(.device("nobody")), .test))
        }
        if isIdentified {
            let error = #expect(throws: AppendError.self) { try log.changeUser(device: "d", to: .device("other")) }
            #expect(error?.description.contains("wipe") == true)
            #expect(throws: AppendError.self) {
                _ = try log.commit(.device("d", .changeUser(.device("other")), .test))
            }
        }
        #expect(try log.lastPosition() == before && log.reader.items.outcome(of: item) == .queued)
        #expect(try !log.reader.devices.all().contains("nobody"))
        // The user who is there already, and the next one after a wipe.
        #expect(try log.changeUser(device: "d", to: .device("d")).places.isEmpty)
        _ = try log.wipe(device: "d")
        _ = try log.changeUser(device: "d", to: .device("other"))
        #expect(try log.reader.devices.state(of: "d").user == log.reader.devices.state(of: "other").user)
        try expectWhole(log)
    }

    @Test("Many devices of which all become one user")
    func manyMerges() throws {
        let log = try open()
        _ = try log.append([played], to: .externalID("ana"))
        for number in 0..<100 {
            _ = try log.launch(device: "d\(number)")
            _ = try log.changeUser(device: "d\(number)", to: .externalID("ana"))
        }
        let ana = try #require(try log.find(.externalID("ana")))
        #expect(try log.profile(of: ana.number).launches.count == 100)
        try expectWhole(log)
    }

    // MARK: - Outcomes

    @Test("What became of an item is known after a merge too, and a rejected one can be repaired, once")
    func outcomeAfterMerge() throws {
        let log = try open()
        _ = try log.append([played], to: .externalID("ana"))
        let good = try log.append([saved], to: .device("d"), context: imported(on: "d")).last
        let bad = try log.append([badEmail], to: .device("d"), context: imported(on: "d")).last
        let launch = try log.launch(device: "d")
        _ = try log.changeUser(device: "d", to: .externalID("ana"))
        #expect(try log.reader.items.outcome(of: good) == .flushed(launch.flushed[0]))
        let ana = try #require(try log.find(.externalID("ana"))).number
        #expect(try log.reader.items.rejected(of: ana).map(\.item.position) == [bad])
        let repair = try log.commit(.repair(of: bad, with: goodEmail, in: log))
        #expect(try log.commit(.repair(of: bad, with: goodEmail, in: log)).isRepetition)
        #expect(try log.reader.items.outcome(of: repair.last) == .pending)
        #expect(try log.reader.items.rejected(of: ana).isEmpty)
        #expect(try log.reader.items.rejected(isOpen: false).map(\.repairedBy) == [repair.last])
        _ = try log.launch(device: "d")
        #expect(try log.named(log.profile(of: ana)).attributes.map(\.value) == [.string("a@example.com")])
        try expectWhole(log)
    }

    private func level(_ value: Int64) -> ProfileEvent {
        .customAttributesSaved([AttributeChange("level", .set(.int(value)))])
    }

    @Test("After a merge the newer of two saved values stays, as the preview of a flush says")
    func orderAfterMerge() throws {
        let log = try open()
        let ana = UserID.externalID("ana")
        _ = try log.append([played], to: ana)
        let first = try log.append([level(7)], to: .device("d"), context: .saved(on: "d")).last
        _ = try log.changeUser(device: "d", to: ana)
        let event = try log.append([saved], to: ana, context: .saved(on: "d")).last
        let second = try log.append([level(8)], to: ana, context: .saved(on: "d")).last
        let number = try #require(try log.find(ana)).number
        let promised = try log.named(log.profile(of: number).flushingAllPending()).customAttributes
        let launch = try log.launch(device: "d")
        #expect(try flushes(launch.flushed, log).map(\.items) == [[event, first, second]])
        let attributes = try log.named(log.profile(of: number)).customAttributes
        #expect(attributes.map(\.value) == [.int(8)] && promised.map(\.value) == [.int(8)])
        try expectWhole(log)
    }

    @Test("What one person saved before and after a merge is given up as one")
    func discardAfterMerge() throws {
        let log = try open()
        let ana = UserID.externalID("ana")
        _ = try log.append([played], to: ana)
        let first = try log.append([saved], to: .device("d"), context: .saved(on: "d")).last
        _ = try log.changeUser(device: "d", to: ana)
        let second = try log.append([saved], to: ana, context: .saved(on: "d")).last
        let receipt = try log.commit(.discard(device: "d", .all, actor: "a test", reason: "a test", context: .test))
        let discard = Discard(positions: [first, second], actor: "a test", reason: "a test")
        #expect(try log.events(from: receipt.first, limit: 9).events.map(\.event) == [.pendingDiscarded(discard)])
        #expect(try log.event(at: receipt.first)?.user == log.find(ana)?.number)
        try expectWhole(log)
    }

    @Test("A queue of users who became one is sent in its order")
    func queueAfterMerge() throws {
        let log = try open(itemsPerFlush: 2)
        _ = try log.launch(device: "other")
        let other = try #require(try log.find(.device("other")))
        try change("d", log) { $0.isOnline = false }
        var items: [Position] = []
        for user in [UserID.device("d"), .assignedID(other.brazeID), .device("d"), .assignedID(other.brazeID)] {
            items.append(try log.append([played], to: user, context: app(on: "d")).last)
        }
        let merge = IdentityChange.merge(source: .device("d"), target: .assignedID(other.brazeID))
        _ = try log.commit(.identity(merge, context: .test))
        try change("d", log) { $0.isOnline = true }
        let sent = try log.events(from: .start, limit: .max, where: EventFilter(kinds: [.dataSent])).events
        #expect(sent.map(\.event) == [.dataSent(Array(items[..<2])), .dataSent(Array(items[2...]))])
        try expectWhole(log)
    }

    @Test("The same repair, sent again after a merge, changes nothing")
    func retryAroundMerge() throws {
        let log = try open()
        _ = try log.append([played], to: .externalID("ana"))
        let bad = try log.append([badEmail], to: .device("d"), context: imported(on: "d")).last
        _ = try log.launch(device: "d")
        _ = try log.commit(.repair(of: bad, with: goodEmail, in: log))
        _ = try log.changeUser(device: "d", to: .externalID("ana"))
        #expect(try log.commit(.repair(of: bad, with: goodEmail, in: log)).isRepetition)
        #expect(throws: AppendError.self) { try PreparedAppend.repair(of: Position(rawValue: 1), in: log) }
    }

    // MARK: - The SDK's queue

    @Test("Under the manual policy no launch sends, not the next one either")
    func manualPolicy() throws {
        let log = try open()
        try change("d", log) { $0.requestPolicy = .manual }
        let item = try log.append([saved], to: .device("d"), context: .saved(on: "d")).last
        for _ in 0..<2 { _ = try log.launch(device: "d") }
        #expect(try log.reader.items.outcome(of: item) == .queued)
        _ = try log.send(from: "d", .request)
        #expect(try log.reader.items.outcome(of: item) != .queued)
    }

    @Test("A clock that was ahead and is set right stalls neither the sending nor the end of a session")
    func clockSetBack() throws {
        let log = try open()
        try change("d", log) { $0.flushInterval = 10 }
        let far = clock.now.rawValue + 300 * 86_400_000_000
        _ = try log.append([saved], to: .device("d"), context: .saved(on: "d"))
        _ = try log.launch(device: "d", context: app(on: "d", at: far))
        let session = try log.reader.devices.state(of: "d").session
        _ = try log.leave(device: "d", context: app(on: "d", at: far))
        clock.advance(3_600_000_000)
        let item = try log.append([played], to: .device("d"), context: app(on: "d")).last
        #expect(try log.reader.items.outcome(of: item) != .queued)
        _ = try log.launch(device: "d")
        #expect(try log.reader.devices.state(of: "d").session != session)
    }

    @Test("A user who is given an address has it as an attribute, and keeps it in a merge")
    func identifiedByAddress() throws {
        let log = try open()
        _ = try log.append([saved], to: .device("d"), context: .saved(on: "d"))
        let user = try #require(try log.find(.device("d")))
        _ = try log.changeUser(device: "d", to: .email("b@example.org"))
        let profile = try log.named(log.profile(of: user.number))
        #expect(profile.attributes.map(\.value) == ["b@example.org"])
        #expect(try log.reader.addresses.users(sharing: .email("b@example.org")).map(\.number) == [user.number])
        try expectWhole(log)
    }

    @Test("A change to a user who cannot be made sends nothing")
    func unknownUser() throws {
        let log = try open()
        let item = try log.append([saved], to: .device("d"), context: .saved(on: "d")).last
        _ = try log.launch(device: "d", dyingAfter: .handed)
        let known = try #require(try log.find(.device("d"))).brazeID
        let before = try log.lastPosition()
        #expect(throws: AppendError.self) { try log.changeUser(device: "d", to: .assignedID(known.dropLast() + "9")) }
        #expect(try log.reader.items.outcome(of: item) == .queued && log.lastPosition() == before)
    }

    @Test(
        "One sending takes all that is due, of every user: the interval begins after it", arguments: [false, true])
    func sendsWhole(isLaunch: Bool) throws {
        let log = try open(itemsPerFlush: 1)
        var items: [Position] = []
        for user in ["bo", "bo", "ana"] {
            _ = try log.changeUser(device: "d", to: .externalID(user))
            items.append(try log.append([saved], to: .externalID(user), context: .saved(on: "d")).last)
        }
        try change("d", log) { $0.flushInterval = 10 }
        if isLaunch {
            _ = try log.launch(device: "d", kind: .background)
        } else {
            try change("d", log) { $0.isOnline = false }
            _ = try log.launch(device: "d")
            #expect(try items.allSatisfy { try log.reader.items.outcome(of: $0) == .queued })
            try change("d", log) { $0.isOnline = true }
        }
        for item in items { #expect(try log.reader.items.outcome(of: item) != .queued) }
        // After it, the interval is not over.
        let late = try log.append([saved], to: .externalID("ana"), context: .saved(on: "d")).last
        _ = try log.launch(device: "d", kind: .background)
        #expect(try log.reader.items.outcome(of: late) == .queued)
    }

    @Test("The launch that finishes a dead one sends what both take as one")
    func sendsWholeAfterDeath() throws {
        let log = try open(itemsPerFlush: 1)
        func save(_ users: [String]) throws {
            for user in users {
                _ = try log.changeUser(device: "d", to: .externalID(user))
                _ = try log.append([saved], to: .externalID(user), context: .saved(on: "d"))
            }
        }
        try save(["bo", "bo", "ana"])
        try change("d", log) { $0.flushInterval = 10 }
        _ = try log.launch(device: "d", kind: .background, dyingAfter: .launched)
        try save(["ana", "bo"])
        let launch = try log.launch(device: "d", kind: .background)
        #expect(launch.finished.count == 3 && launch.flushed.count == 2)
        let state = try log.reader.devices.state(of: "d")
        #expect(state.queued.isEmpty && state.waiting.isEmpty)
        try expectWhole(log)
    }

    @Test("A launch that only refused has sent nothing")
    func rejectedOnly() throws {
        let log = try open()
        _ = try log.append([badEmail], to: .device("d"), context: imported(on: "d"))
        _ = try log.launch(device: "d")
        #expect(try log.reader.devices.state(of: "d").status.sentAt == nil)
    }

    @Test("What another system logged is a fact, whatever the device can do", arguments: [EventSource.import, .rest])
    func facts(source: EventSource) throws {
        let log = try open()
        try change("d", log) { $0.isOnline = false }
        try change("d", log) { $0.isSDKEnabled = false }
        let receipt = try log.append(
            [played], to: .externalID("ana"), context: app(on: "d", source: source, at: -50_000_000_000_000_000))
        #expect(try log.event(at: receipt.last)?.event == played)
    }

    @Test("What waits and what the SDK holds are bounded apart, each with its reason")
    func bounds() throws {
        let log = try open(pendingItems: 5)
        try change("d", log) { $0.isOnline = false }
        for _ in 0..<5 { _ = try log.append([saved], to: .device("d"), context: .saved(on: "d")) }
        #expect(throws: AppendError.pendingFull(limit: 5)) {
            try log.append([saved], to: .device("d"), context: .saved(on: "d"))
        }
        _ = try log.launch(device: "d")
        _ = try log.append([saved], to: .device("d"), context: .saved(on: "d"))
        #expect(throws: AppendError.self) { try log.append([played], to: .device("d"), context: app(on: "d")) }
        try change("d", log) { $0.isOnline = true }
        _ = try log.append([played], to: .device("d"), context: app(on: "d"))
        try expectWhole(log)
    }

    @Test("What a launch of one list leaves belongs to the next launch, and a dead one is finished in its list alone")
    func oneList() throws {
        let log = try open()
        let event = try log.append([saved], to: .externalID("u"), context: .saved(on: "d")).last
        let email = try log.append([goodEmail], to: .externalID("u"), context: .saved(on: "d")).last
        let died = try log.launch(device: "d", flushing: [.userAttributes], dyingAfter: .launched)
        let next = try log.launch(device: "d")
        #expect(try flushes(next.finished, log) == [Flushes(launch: died.position, items: [email])])
        #expect(try flushes(next.flushed, log) == [Flushes(launch: next.position, items: [event])])
        let again = try log.launch(device: "d")
        #expect(again.finished.isEmpty && again.flushed.isEmpty)
        try expectWhole(log)
    }

    @Test("What a launch with a disabled SDK leaves belongs to the first launch after its return")
    func disabledLaunch() throws {
        let log = try open()
        let item = try log.append([saved], to: .externalID("u"), context: .saved(on: "d")).last
        try change("d", log) { $0.isSDKEnabled = false }
        _ = try log.launch(device: "d")
        try change("d", log) { $0.isSDKEnabled = true }
        let next = try log.launch(device: "d")
        #expect(next.finished.isEmpty)
        #expect(try flushes(next.flushed, log) == [Flushes(launch: next.position, items: [item])])
        try expectWhole(log)
    }

    private struct Flushes: Equatable {
        var launch: Position
        var items: [Position]
    }

    private func flushes(_ positions: [Position], _ log: EventLog) throws -> [Flushes] {
        try positions.compactMap { position in
            guard case .pendingFlushed(let flush) = try #require(try log.event(at: position)).event else { return nil }
            return Flushes(launch: flush.launch, items: flush.flushed)
        }
    }

    @Test("Ten thousand events offline, and what is found of them by name")
    func tenThousand() throws {
        let log = try open(itemsPerFlush: 500)
        try change("d", log) { $0.isOnline = false }
        var builder = log.prepare(capacity: 10_000)
        for _ in 0..<10_000 { try builder.add(played, app(on: "d"), to: .device("d")) }
        _ = try log.commit(builder.finish())
        #expect(try log.reader.devices.queue(on: "d").count == 10_000)
        try change("d", log) { $0.isOnline = true }
        #expect(try log.reader.devices.queue(on: "d").isEmpty)
        let page = try log.events(from: .start, limit: .max, where: EventFilter(name: "played"))
        #expect(page.events.count == 10_000)
        try expectWhole(log)
    }
}
