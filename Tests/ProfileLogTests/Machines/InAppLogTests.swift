import ProfileLog
import ProfileLogMachines
import TestSupport
import Testing

@testable import ProfileLogFacts
@testable import ProfileLogFolds
@testable import ProfileLogLog

/// In-app messages through the log: what triggers them, and what the caches keep of them.
@Suite("In-app messages on a log")
struct InAppLogTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock))
    }

    /// Messages `a` to `c`, which custom events `a` to `c` trigger again and again; `b` with a delay of 5 seconds.
    private static let definitions = AttributeValue.array(
        ["a", "b", "c"].map { message($0, on: $0, delay: $0 == "b" ? 5 : 0) })

    private static func message(_ id: String, on event: String, delay: Int64 = 0) -> AttributeValue {
        .object([
            .init("delay", .int(delay)), .init("id", .string(id)), .init("re_eligibility", .int(0)),
            .init(
                "trigger_conditions",
                .array([.object([.init("event_name", .string(event)), .init("type", .string("custom_event"))])])),
        ])
    }

    private func start(
        _ log: EventLog, user: String = "jane", on device: String = "phone",
        declaring definitions: AttributeValue = Self.definitions
    ) throws {
        _ = try log.commit(.messages(definitions))
        _ = try log.changeUser(device: device, to: .externalID(user))
        var change = SettingsChange()
        change.inApp.minimumInterval = 0
        _ = try log.change(change, of: device)
        _ = try log.launch(device: device)
    }

    private func steps(_ log: EventLog, of user: String = "jane") throws -> [String] {
        let number = try #require(try log.find(.externalID(user))).number
        return try log.history(of: number).compactMap { event in
            guard case .message(let step) = event.event, !step.message.text.isEmpty else { return nil }
            return "\(step.stage) \(step.message)"
        }
    }

    private func event(_ name: Name) -> ProfileEvent { .customEventLogged(CustomEvent(name: name)) }

    private func app(on device: String? = "phone", source: EventSource = .app) -> EventContext {
        EventContext(source: source, device: device)
    }

    private func send(
        _ events: [ProfileEvent], _ context: EventContext, to log: EventLog, key: String = ""
    ) throws -> AppendReceipt {
        var builder = log.prepare()
        for event in events { try builder.add(event, context, to: .externalID("jane")) }
        return try log.commit(builder.finish(idempotencyKey: key))
    }

    // MARK: - What triggers

    @Test("An event of the SDK on the device triggers in the same commit; others do not")
    func sources() throws {
        let log = try open()
        try start(log)
        for context in [app(source: .rest), app(on: nil), app(on: "tablet"), app(source: .import)] {
            _ = try send([event("a")], context, to: log)
        }
        #expect(try steps(log).isEmpty)
        let receipt = try send([event("a")], app(source: .extension), to: log)
        #expect(try steps(log) == ["shown a"])
        #expect(try log.lastPosition() == receipt.last.next)
    }

    @Test("The receipt, and a repetition under the key, have the append's own events only")
    func receipts() throws {
        let log = try open()
        try start(log)
        let first = try send([event("a"), event("c")], app(), to: log, key: "k")
        #expect(first.places.count == 2)
        #expect(try log.events(from: first.first, limit: 2).events.map(\.event) == [event("a"), event("c")])
        #expect(try steps(log) == ["shown a", "waiting c"])
        let last = try log.lastPosition()
        let again = try send([event("a"), event("c")], app(), to: log, key: "k")
        #expect(again.isRepetition && again.first == first.first && again.places == first.places)
        let version = try #require(try log.find(.externalID("jane"))).version
        for receipt in [first, again] {
            #expect(receipt.version(after: receipt.places[1]) == version)
            #expect(receipt.version(after: receipt.places[0]) == receipt.places[0].version, "not the last one")
        }
        #expect(try log.lastPosition() == last)
    }

    @Test("A flushed item triggers at the launch, with the saved item as its cause; a rejected one does not")
    func flushed() throws {
        let log = try open()
        try start(log)
        _ = try log.leave(device: "phone")
        let saved = try send([.customEventSaved(CustomEvent(name: "a"))], .saved(on: "phone"), to: log)
        #expect(try steps(log).isEmpty)
        let report = try log.launch(device: "phone", kind: .return)
        #expect(report.flushed.count == 1)
        #expect(try log.event(at: report.flushed[0])?.event.kind == .pendingFlushed)
        let shown = try #require(try log.event(at: report.flushed[0].next))
        guard case .message(let step) = shown.event else { throw DocumentError(place: "", reason: "", remedy: "") }
        #expect(step.stage == .shown && step.cause == saved.last)
    }

    @Test("A queued event triggers when the SDK takes it, and not again when it is sent")
    func offline() throws {
        let log = try open()
        try start(log)
        var change = SettingsChange()
        change.isOnline = false
        _ = try log.change(change, of: "phone")
        _ = try send([event("a")], app(), to: log)
        #expect(try steps(log) == ["shown a"])
        change.isOnline = true
        _ = try log.change(change, of: "phone")
        #expect(try log.reader.devices.state(of: "phone").queued.isEmpty)
        #expect(try steps(log) == ["shown a"])
    }

    @Test("What became ready is shown before the app leaves; the answer is the position of the leaving")
    func settled() throws {
        let log = try open()
        try start(log)
        _ = try send([event("b")], app(), to: log)
        #expect(try steps(log) == ["waiting b"])
        clock.advance(6_000_000)
        let left = try #require(try log.leave(device: "phone"))
        #expect(try log.event(at: left)?.event.kind == .appLeft)
        #expect(try steps(log) == ["waiting b", "shown b"])
    }

    @Test("A new process starts with an empty stack", arguments: LaunchKind.allCases)
    func processes(kind: LaunchKind) throws {
        let log = try open()
        try start(log)
        _ = try send([event("a"), event("c")], app(), to: log)
        _ = try log.push(.forceQuit, on: "phone")
        #expect(try log.reader.devices.inAppState(of: "phone")?.stack.map(\.message) == ["c"])
        _ = try log.launch(device: "phone", kind: kind)
        #expect(try steps(log) == ["shown a", "waiting c", "discarded c", "closed a"])
    }

    @Test("An append whose steps of messages exceed a commit is refused; the log goes on")
    func tooManySteps() throws {
        let log = try open()
        // The ignored messages are listed: some 170 kB for each trigger.
        let long = String(repeating: "🎵", count: 240)
        try start(log, declaring: .array((100..<300).map { Self.message("\($0)\(long)", on: "a") }))
        let last = try log.lastPosition()
        #expect {
            _ = try send(Array(repeating: event("a"), count: 320), app(), to: log)
        } throws: {
            if case .tooLarge = $0 as? AppendError { true } else { false }
        }
        #expect(try log.lastPosition() == last)
        _ = try send([event("a")], app(), to: log)
        #expect(try steps(log).count == 21)
    }

    @Test("Two changes of different settings, made from the same state, both count")
    func settingsTogether() throws {
        let log = try open()
        try start(log)
        var (first, second) = (SettingsChange(), SettingsChange())
        first.inApp.theme = .dark
        second.inApp.isDisplayAutomatic = false
        _ = try log.change(first, of: "phone")
        _ = try log.change(second, of: "phone")
        let settings = try log.reader.devices.state(of: "phone").settings.inApp
        #expect(settings.theme == .dark && !settings.isDisplayAutomatic && settings.minimumInterval == 0)
    }

    // MARK: - Declarations

    @Test("A declaration counts from the next session on; the same one again stores nothing")
    func declarations() throws {
        let log = try open()
        try start(log)
        let last = try log.lastPosition()
        #expect(try log.commit(.messages(Self.definitions)).places.isEmpty)
        #expect(try log.lastPosition() == last)
        #expect(try log.commit(.messages(.array([]))).places.count == 1)
        _ = try send([event("a")], app(), to: log)
        #expect(try steps(log) == ["shown a"])
        clock.advance(60_000_000)
        _ = try log.launch(device: "phone")
        #expect(try log.reader.devices.inAppState(of: "phone")?.eligible == [])
        _ = try send([event("a")], app(), to: log)
        #expect(try steps(log) == ["shown a", "closed a"])
    }

    @Test("A stored declaration of which this program refuses a message: the others work")
    func refusedSince() throws {
        let log = try open()
        let wrong = AttributeValue.object([.init("id", .string("w")), .init("trigger_conditions", .array([]))])
        try start(log, declaring: .array([wrong, Self.message("a", on: "a")]))
        _ = try send([event("a")], app(), to: log)
        #expect(try steps(log) == ["shown a"])
        #expect(try log.reader.devices.inAppState(of: "phone")?.eligible == ["a"])
    }

    @Test("A device without messages has the bytes that it had before there were any")
    func untouched() throws {
        let log = try open()
        _ = try log.changeUser(device: "phone", to: .externalID("jane"))
        _ = try log.launch(device: "phone")
        _ = try send([event("a")], app(), to: log)
        var status = try log.reader.devices.state(of: "phone").status
        #expect(status.inApp == nil)
        var before = WireWriter()
        status.write(to: &before)
        status.apply(
            .inApp(
                .init(
                    stage: .sent, change: InAppChange(MessageStep(.sent, of: "", by: .inAppMessage)), user: 1,
                    position: 1, at: 1)))
        var after = WireWriter()
        status.write(to: &after)
        #expect(after.count == before.count + 2)
    }

    // MARK: - What the caches keep

    @Test(
        "Random launches, events and actions: what a device knows is what its events fold to",
        arguments: Thoroughness.seeds(short: 4, full: 96))
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var log = try open()
        try start(log)
        try start(log, user: "bob", on: "tablet")
        for _ in 0..<120 {
            let device = Bool.random(using: &random) ? "phone" : "tablet"
            let name: Name = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
            clock.advance(Int64.random(in: 0...8_000_000, using: &random))
            switch Int.random(in: 0..<12, using: &random) {
            case 0: _ = try log.launch(device: device, kind: .allCases[Int.random(in: 0..<3, using: &random)])
            case 1: _ = try log.leave(device: device)
            case 2, 3, 4, 5: _ = try send([event(name)], app(on: device), to: log)
            case 6:
                _ = try send([.customEventSaved(CustomEvent(name: name))], .saved(on: device), to: log)
            case 7: _ = try? log.commit(.inApp(.close, on: device))
            case 8: _ = try? log.commit(.inApp(.next, on: device))
            case 9: _ = try log.commit(.inApp(.timePassed, on: device))
            case 10: try log.writeIndex()
            default: log = try EventLog(path: folder.path, options: .small(clock))
            }
            try expectFolded(log, seed)
        }
        try log.expectSound()
        _ = try log.erase([.externalID("bob")], actor: "test", reason: "test")
        #expect(try log.reader.devices.inAppState(of: "tablet") == nil)
        try expectFolded(log, seed)
        try log.expectSound()
        let kept = try log.reader.devices.inAppState(of: "phone")
        try log.rebuildCaches()
        #expect(try log.reader.devices.inAppState(of: "phone") == kept)
    }

    /// Each device's messages are those that its steps fold to, each in one place.
    private func expectFolded(_ log: EventLog, _ seed: UInt64) throws {
        var states: [String: InAppState] = [:]
        for event in try log.events(from: .start, limit: .max).events {
            guard case .message(let step) = event.event, let device = event.context.device else { continue }
            states[device, default: InAppState()].apply(
                step, user: event.user.rawValue, position: event.position.rawValue,
                at: event.occurredAt.timestamp.rawValue)
        }
        for device in ["phone", "tablet"] {
            let state = try log.reader.devices.inAppState(of: device)
            #expect(state == states[device], "seed \(seed), \(device)")
            let places = (state?.stack ?? []) + (state?.delayed ?? []) + [state?.screen].compactMap(\.self)
            #expect(Set(places.map(\.message)).count == places.count, "seed \(seed), \(device)")
        }
    }
}
