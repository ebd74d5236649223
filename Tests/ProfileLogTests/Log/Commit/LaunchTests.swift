import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog
@testable import ProfileLogRecords

@Suite("Launching")
struct LaunchTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock))
    }

    private func save(_ event: ProfileEvent, _ user: UserID, _ log: EventLog, at: Int64? = nil) throws {
        _ = try log.append([event], to: user, context: .saved(on: "d", at: at))
    }

    @Test(
        "A launch flushes events, custom attributes, then user attributes, each in saved order with the saved time"
    )
    func publishedOrder() throws {
        let log = try open()
        try save(.userAttributeSaved(UserAttributeChange(.email, .string("a@example.com"))), .externalID("ana"), log)
        try save(.customAttributesSaved([AttributeChange("plan", .set(.string("free")))]), .externalID("ana"), log)
        try save(.customEventSaved(CustomEvent(name: "b")), .externalID("ana"), log, at: 1_700_000_000_000_000)
        try save(.customEventSaved(CustomEvent(name: "a")), .externalID("ana"), log)
        let report = try log.launch(device: "d")
        let user = try #require(report.user)
        let flushes = try log.history(of: user, where: EventFilter(kinds: [.pendingFlushed]))
        var order: [UInt64] = []
        for flush in flushes {
            if case .pendingFlushed(let flush) = flush.event { order += flush.flushed.map(\.rawValue) }
        }
        // Position 1 made the user, 2 put her on the device.
        #expect(order == [5, 6, 4, 3])
        let view = try log.named(log.profile(of: user))
        let b = try #require(view.customEvents.first { $0.name == "b" })
        #expect(b.occurrences.first.rawValue == 1_700_000_000_000_000)
        #expect(try log.reader.devices.pending(on: "d").isEmpty)
    }

    @Test("Before the launch nothing that was saved is in the delivered profile")
    func notBefore() throws {
        let log = try open()
        try save(.customEventSaved(CustomEvent(name: "a")), .externalID("ana"), log)
        let user = try #require(try log.find(.externalID("ana")))
        #expect(try log.named(log.profile(of: user.number)).customEvents.isEmpty)
    }

    @Test("A launch that died between its commits is finished by the next, under its own position")
    func finished() throws {
        let log = try open()
        for name in ["a", "b", "c", "d", "e"] {
            try save(.customEventSaved(CustomEvent(name: Name(name))), .externalID("ana"), log)
        }
        // The launch is stored, one chunk of three is flushed, and then the process is gone.
        let launch = try log.launch(device: "d", dyingAfter: .launched, context: .test)
        _ = try log.commit(.device("d", .flush(.init(limit: 3)), .test))
        try save(.customEventSaved(CustomEvent(name: "f")), .externalID("ana"), log)

        let report = try log.launch(device: "d")
        #expect(report.finished.count == 1 && report.flushed.count == 1)
        let user = try #require(report.user)
        var byLaunch: [UInt64: Int] = [:]
        for event in try log.history(of: user) {
            if case .pendingFlushed(let flush) = event.event {
                byLaunch[flush.launch.rawValue, default: 0] += flush.flushed.count
            }
        }
        #expect(byLaunch == [launch.position.rawValue: 5, report.position.rawValue: 1])
        let counts = try log.named(log.profile(of: user)).customEvents.map(\.occurrences.count)
        #expect(counts == [1, 1, 1, 1, 1, 1])
    }

    @Test("What lies in the private storage of an extension stays pending")
    func privateStorage() throws {
        let log = try open()
        var context = EventContext.saved(on: "d")
        context.storage = .privateTo(process: "push")
        _ = try log.append([.customEventSaved(CustomEvent(name: "a"))], to: .externalID("ana"), context: context)
        let report = try log.launch(device: "d")
        #expect(report.flushed.isEmpty)
        #expect(try log.reader.devices.pending(on: "d").count == 1)
    }

    @Test("Items go to the user who was there when they were saved")
    func userOfTheSave() throws {
        let log = try open()
        try save(.customEventSaved(CustomEvent(name: "a")), .externalID("ana"), log)
        _ = try log.changeUser(device: "d", to: .externalID("bo"), context: .test)
        let report = try log.launch(device: "d")
        let ana = try #require(try log.find(.externalID("ana")))
        let bo = try #require(try log.find(.externalID("bo")))
        #expect(report.user == bo.number)
        #expect(try log.named(log.profile(of: ana.number)).customEvents.count == 1)
        #expect(try log.named(log.profile(of: bo.number)).customEvents.isEmpty)
    }

    @Test("An anonymous user who logs in with a new ID keeps everything")
    func identified() throws {
        let log = try open()
        try save(.customEventSaved(CustomEvent(name: "a")), .device("d"), log)
        let anonymous = try #require(try log.find(.device("d")))
        _ = try log.changeUser(device: "d", to: .externalID("ana"), context: .test)
        #expect(try log.find(.externalID("ana"))?.number == anonymous.number)
        #expect(try log.userCount() == 1)
    }

    @Test(
        "A launch is two write transactions, also with some chunks to flush, or to finish for a launch that died",
        arguments: [0, 1, 10], [false, true])
    func twoCommits(waiting: Int, finishesAnother: Bool) throws {
        let times = Mutex(0)
        var options = LogOptions.small(clock)
        options.now = { [clock] in
            times.withLock { $0 += 1 }
            return clock.now
        }
        let log = try folder.open(options: options)
        func saveAll() throws {
            for _ in 0..<waiting { try save(.customEventSaved(CustomEvent(name: "a")), .externalID("ana"), log) }
        }
        try saveAll()
        if finishesAnother {
            _ = try log.launch(device: "d", dyingAfter: .launched)
            try saveAll()
        }
        // Each write transaction asks once for the time.
        times.withLock { $0 = 0 }
        let report = try log.launch(device: "d")
        #expect(times.withLock { $0 } == 2)
        let chunks = (waiting + 2) / 3
        #expect(report.flushed.count == chunks && report.finished.count == (finishesAnother ? chunks : 0))
        #expect(try log.reader.devices.pending(on: "d").isEmpty)
    }

    @Test("A launch for many users holds the write lock for a bounded number of steps", arguments: [false, true])
    func manyUsers(isQueued: Bool) throws {
        let sizes = Mutex<[Int]>([])
        var options = LogOptions.small(clock)
        options.onCommit = { report in sizes.withLock { $0.append(report.events) } }
        let log = try folder.open(options: options)
        let users = 300
        for user in 0..<users { try save(.customEventSaved(CustomEvent(name: "a")), .externalID("u\(user)"), log) }
        if isQueued { _ = try log.launch(device: "d", dyingAfter: .handed) }
        sizes.withLock { $0 = [] }
        let report = try log.launch(device: "d")
        #expect((isQueued ? report.sent : report.flushed).count == users)
        #expect(try log.reader.devices.pending(on: "d").isEmpty)
        let commits = sizes.withLock { $0 }
        // The start of the app is a commit of its own.
        #expect(commits.dropFirst().reduce(0, +) == users && commits.allSatisfy { $0 <= 128 }, "\(commits)")
        #expect(commits.count <= 4, "\(commits)")
        try log.expectSound()
    }

    @Test("What is flushed before a step that fails after its first record stays flushed")
    func halfDecided() throws {
        var log = try open()
        let messages = try JSON.parse(
            Array(#"[{"id":"m","trigger_conditions":[{"type":"custom_event","event_name":"b"}]}]"#.utf8))
        let declared = try log.commit(.messages(messages)).first
        _ = try log.launch(device: "d")
        try save(.customAttributesSaved([AttributeChange("plan", .set(.string("free")))]), .externalID("ana"), log)
        try save(.customEventSaved(CustomEvent(name: "b")), .externalID("bo"), log)
        _ = try log.launch(device: "d", dyingAfter: .launched)
        let bo = try #require(try log.find(.externalID("bo")))
        // Bo's event may trigger a message, of which the declaration cannot be read.
        try log.writeIndex()
        try log.damage(.log, withNumberKey(declared.rawValue) { Array($0) }) { $0[$0.count - 1] ^= 1 }
        folder.expectDamage()
        log = try open()
        for _ in 0..<2 {
            #expect(throws: AppendError.self) { try log.launch(device: "d") }
            #expect(try log.reader.devices.pending(on: "d").map(\.user) == [bo.number])
        }
    }

    @Test("What is flushed before the part of a damaged user stays flushed")
    func damagedUser() throws {
        var log = try open()
        for user in ["ana", "cy", "dee", "bo"] {
            try save(.customEventSaved(CustomEvent(name: "a")), .externalID(user), log)
        }
        _ = try log.changeUser(device: "d", to: .externalID("cy"), context: .test)
        try log.writeIndex()
        let bo = try #require(try log.find(.externalID("bo")))
        try log.damage(.streams, KeyCoding.stream(user: bo.number.rawValue, version: 1)) { $0 = [0x80] }
        log = try open()
        #expect(throws: AppendError.self) { try log.launch(device: "d") }
        #expect(try log.reader.devices.pending(on: "d").map(\.user) == [bo.number])
        try log.rebuildCaches()
        #expect(try log.launch(device: "d").finished.count == 1)
        #expect(try log.reader.devices.pending(on: "d").isEmpty)
        try log.expectSound()
    }

    @Test("A change of user that is refused sends nothing of what the SDK took", arguments: [1, 200])
    func refusedArrival(users: Int) throws {
        let log = try open()
        var change = SettingsChange()
        change.flushInterval = 1_000
        _ = try log.change(change, of: "d")
        try save(.customEventSaved(CustomEvent(name: "a")), .externalID("ana"), log)
        _ = try log.launch(device: "d")
        // It was sent, so this waits for the interval.
        let logged = ProfileEvent.customEventLogged(CustomEvent(name: "a"))
        for user in 0..<users {
            let context = EventContext(source: .app, device: "d")
            _ = try log.append([logged], to: .externalID("ana\(user)"), context: context)
        }
        let last = try log.lastPosition()
        #expect(throws: AppendError.self) { try log.changeUser(device: "d", to: .device("another"), context: .test) }
        #expect(try log.lastPosition() == last)
        _ = try log.changeUser(device: "d", to: .externalID("bo"), context: .test)
        #expect(try log.event(at: last.next)?.event.kind == .dataSent)
        try log.expectSound()
    }
}
