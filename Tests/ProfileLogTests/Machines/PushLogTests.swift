import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog
@testable import ProfileLogMachines

/// Pushes through the log: what is sent by the server meets the device inside the commits.
@Suite("Pushes on a log")
struct PushLogTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")
    private let bo = UserID.externalID("bo")

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock))
    }

    private func send(
        _ payload: MachineRun.Payload = .init(), to user: UserID, on device: String = "d", _ log: EventLog
    ) throws {
        let step = MessageStep(.sent, of: "spring", by: .applePush, dispatch: "d-1", content: payload.content)
        _ = try log.append([.message(step)], to: user, context: EventContext(source: .rest, device: device))
    }

    private func steps(_ log: EventLog, of user: UserID? = nil) throws -> [MessageStep] {
        let events = try log.events(from: Position(rawValue: 1), limit: 1_000).events
        return events.compactMap { if case .message(let step) = $0.event { step } else { nil } }
    }

    private func delay(_ log: EventLog) throws {
        var startup = SDKStartup()
        startup.isDelayed = true
        var change = SettingsChange()
        change.startup = startup
        _ = try log.change(change, of: "d")
    }

    @Test("A push goes from the server to the screen, each step caused by the one before, also after reopening")
    func chain() throws {
        do {
            let log = try open()
            _ = try log.changeUser(device: "d", to: ana)
            _ = try log.launch(device: "d")
            _ = try log.leave(device: "d")
            try send(.init(link: "app://cart"), to: ana, log)
            try log.writeIndex()
        }
        let log = try open()
        #expect(try log.reader.devices.pushes(on: "d").underway == 1)
        _ = try log.push(.deliver(limit: 10), on: "d")
        _ = try log.append([.customEventSaved(CustomEvent(name: "saved"))], to: ana, context: .saved(on: "d"))
        let report = try log.push(.open(.newest), on: "d")
        #expect(report.flushed.count == 1, "opening the push launches the app, which flushes")
        let steps = try steps(log)
        #expect(steps.map(\.stage) == [.sent, .received, .opened])
        #expect(steps.allSatisfy { $0.message == "spring" && $0.dispatch == "d-1" })
        for (step, cause) in zip(steps.dropFirst(), steps) {
            let position = try #require(step.cause)
            guard case .message(let found)? = try log.event(at: position)?.event else {
                Issue.record("position \(position) is no step")
                return
            }
            #expect(found == cause)
        }
        #expect(throws: AppendError.self) { try log.push(.open(.newest), on: "d") }
    }

    @Test("A push to an unknown device leaves it to the first user who saves there")
    func vacant() throws {
        let log = try open()
        try send(to: ana, on: "d", log)
        _ = try log.append([.customEventSaved(CustomEvent(name: "saved"))], to: bo, context: .saved(on: "d"))
        #expect(try log.reader.devices.find("d")?.user == log.find(bo)?.number)
    }

    @Test("What the app logs before the SDK exists is lost, and listed")
    func lost() throws {
        let log = try open()
        _ = try log.changeUser(device: "d", to: ana)
        try delay(log)
        _ = try log.launch(device: "d")
        _ = try log.append([.customEventSaved(CustomEvent(name: "saved"))], to: ana, context: .saved(on: "d"))
        let context = EventContext(source: .app, device: "d")
        let logged = ProfileEvent.customEventLogged(CustomEvent(name: "opened cart"))
        _ = try log.append([logged], to: ana, context: context)
        let user = try #require(try log.find(ana)).number
        let history = try log.history(of: user, where: EventFilter(kinds: [.objectsLeftOut]))
        #expect(history.map(\.event) == [.objectsLeftOut([.lost(logged)])])
        #expect(try log.named(log.profile(of: user)).customEvents.isEmpty)
        let report = try log.push(.initialize, on: "d")
        _ = try log.append([logged], to: ana, context: context)
        #expect(try log.named(log.profile(of: user)).customEvents.map(\.name) == ["opened cart"])
        #expect(report.flushed.isEmpty, "it was saved after the launch")
    }

    @Test("The launch's flush happens when the SDK is made")
    func flush() throws {
        let log = try open()
        _ = try log.append([.customEventSaved(CustomEvent(name: "saved"))], to: ana, context: .saved(on: "d"))
        try delay(log)
        #expect(try log.launch(device: "d").flushed.isEmpty)
        #expect(try log.reader.devices.pendingCount(on: "d") == 1)
        #expect(try log.push(.initialize, on: "d").flushed.count == 1)
        #expect(try log.reader.devices.pendingCount(on: "d") == 0)
    }

    @Test("What was captured is processed after reopening; the link opens")
    func captured() throws {
        do {
            let log = try open()
            _ = try log.changeUser(device: "d", to: ana)
            try delay(log)
            _ = try log.launch(device: "d")
            try send(.init(wakesApp: true, link: "app://cart"), to: ana, log)
            _ = try log.push(.deliver(limit: 10), on: "d")
            _ = try log.push(.open(.newest), on: "d")
            try log.writeIndex()
        }
        let log = try open()
        _ = try log.push(.initialize, on: "d")
        let processed = try steps(log).filter { $0.stage == .processed }
        #expect(processed.map(\.content) == [[], [.init("url", "app://cart")]])
        #expect(try log.reader.devices.pushes(on: "d").isEmpty)
    }

    @Test("A launch of an app that does not wait any more processes what was captured")
    func noLongerDelayed() throws {
        let log = try open()
        _ = try log.changeUser(device: "d", to: ana)
        try delay(log)
        _ = try log.launch(device: "d")
        try send(.silent(), to: ana, log)
        _ = try log.push(.deliver(limit: 10), on: "d")
        var change = SettingsChange()
        change.startup = SDKStartup()
        _ = try log.change(change, of: "d")
        _ = try log.launch(device: "d")
        #expect(try steps(log).map(\.stage) == [.sent, .received, .captured, .processed])
    }

    @Test("A limit counts the pushes that arrive: not those that expired on their way, and not earlier ones")
    func limit() throws {
        let log = try open()
        _ = try log.changeUser(device: "d", to: ana)
        for _ in 0..<5 { try send(.init(expiry: "2001-01-01T00:00:00Z"), to: ana, log) }
        for _ in 0..<3 { try send(to: ana, log) }
        for left in [1, 0] {
            _ = try log.push(.deliver(limit: 2), on: "d")
            #expect(try log.reader.devices.pushes(on: "d").underway == left)
        }
        for _ in 0..<250 {
            try send(to: ana, log)
            _ = try log.push(.deliver(limit: 200), on: "d")
        }
        #expect(try log.reader.devices.pushes(on: "d").underway == 0)
        #expect(try log.reader.devices.pushes(on: "d").pushes.count == PushState.mostShown)
    }

    @Test("When too many pushes are on their way to a device, the next one is not sent")
    func tooMany() throws {
        let log = try open()
        for _ in 0..<PushState.mostUnderway + 2 { try send(to: ana, log) }
        let last = try steps(log).suffix(3)
        #expect(last.map(\.stage) == [.sent, .notSent, .notSent])
        #expect(last.last?.reason == "256 pushes are on their way to the device already")
        #expect(try log.reader.devices.pushes(on: "d").underway == PushState.mostUnderway)
    }

    @Test("An erased person's pushes leave the device; those of others stay")
    func erased() throws {
        let log = try open()
        for user in [ana, bo, ana] { try send(.init(pairs: ["word": .string("\(user)")]), to: user, log) }
        try log.writeIndex()
        _ = try log.push(.deliver(limit: 2), on: "d")
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        let left = try log.reader.devices.pushes(on: "d")
        #expect(left.pushes.map(\.user) == [try #require(try log.find(bo)).number.rawValue])
        #expect(try steps(log).map(\.stage) == [.sent, .received])
    }

    @Test("A push of a user who was merged since belongs to the canonical user")
    func merged() throws {
        let log = try open()
        try send(to: bo, log)
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: ana)
        _ = try log.commit(.identity(.merge(source: bo, target: ana), context: .test))
        _ = try log.push(.deliver(limit: 10), on: "d")
        let user = try #require(try log.find(ana)).number
        #expect(try log.history(of: user, where: EventFilter(kinds: [.pushReceived])).count == 1)
    }
}
