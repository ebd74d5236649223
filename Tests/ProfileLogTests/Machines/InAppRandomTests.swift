import ProfileLogMachines
import TestSupport
import Testing

@Suite("In-app messages: random interleavings")
struct InAppRandomTests {
    private static let names: [Name] = ["a", "b", "c", "d", "e", "f"]

    private static func messages(_ random: inout SeededGenerator) throws -> [InAppMessage] {
        var messages: [InAppMessage] = []
        for name in names {
            let event = names[random.next(below: 3)]
            let triggers: [TriggerCondition] = [
                [.customEvent(event)], [.sessionStart, .customEvent(event)], [.pushClick(), .purchase()],
            ][random.next(below: 3)]
            messages.append(
                try InAppMessage(
                    id: name, kind: random.next(below: 4) == 0 ? .templated : .inApp, triggers: triggers,
                    priority: Double(random.next(below: 3)), reEligibility: [-1, 0, 0, 40][random.next(below: 4)],
                    delay: [0, 0, 7][random.next(below: 3)], timeout: [nil, 3, 100][random.next(below: 3)],
                    orientation: [.any, .any, .landscape][random.next(below: 3)],
                    form: [.modal, .custom][random.next(below: 2)],
                    assets: [[], [.init(.zip, url: "u")]][random.next(below: 2)],
                    isControl: random.next(below: 8) == 0))
        }
        return messages
    }

    /// Changes the device, or gives an input.
    private static func input(
        _ run: inout InAppRun, _ random: inout SeededGenerator
    ) -> InAppMachine.Input? {
        let name = names[random.next(below: names.count)]
        run.now += [0, 1, 5, 29, 30, 50][random.next(below: 6)]
        switch random.next(below: 20) {
        case 0...6: return .event(.customEvent(CustomEvent(name: name)))
        case 7: return .event(.pushOpened())
        case 8: return .event(.purchase(Purchase(product: "p", currency: "USD", price: 1)))
        case 9: return .sessionStart(eligible: names.filter { _ in random.next(below: 4) > 0 }, catalogue: 1)
        case 10: return .action(.next)
        case 11: return .action(.present(name))
        case 12: return .action(.click(button: nil))
        case 13: return .action([.logImpression, .logClick(button: nil)][random.next(below: 2)])
        case 14: return .action(.close)
        case 15:
            run.device.isForeground = true
            return .launch(startsProcess: random.next(below: 3) > 0)
        case 16: run.device.isForeground = false
        case 17: run.device.user = UInt64(1 + random.next(below: 2))
        case 18: run.device.isOnline.toggle()
        default:
            run.device.settings.decision = InAppSettings.Decision.allCases[random.next(below: 3)]
            run.device.settings.isDisplayAutomatic = random.next(below: 4) > 0
            run.device.settings.guardsUser = random.next(below: 3) == 0
            run.device.settings.failingAssets = random.next(below: 3) == 0 ? [name] : []
            run.device.settings.orientation = random.next(below: 3) == 0 ? .landscape : .portrait
            run.device.settings.requestTime = UInt32(random.next(below: 6))
        }
        return .action(.timePassed)
    }

    @Test(
        "One message on the screen, 30 s kept, each triggered message in one place",
        arguments: Thoroughness.seeds(short: 60, full: 2000))
    func interleavings(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var run = try InAppRun(try Self.messages(&random))
        var places: [Name: MessageStep.Stage] = [:]
        for item in run.state.delayed + run.state.stack { places[item.message] = .waiting }
        var screen = run.state.screen?.message
        if let screen { places[screen] = .shown }
        var lastTrigger = run.state.lastTrigger.map { $0 / 1_000_000 }
        for _ in 0..<150 {
            guard let input = Self.input(&run, &random) else { continue }
            let reaction = run.send(input)
            if reaction.refusal != nil { #expect(reaction.steps.allSatisfy { $0.stage != .clicked }, "seed \(seed)") }
            for step in reaction.steps {
                let content = AttributeValue.object(step.content)
                let isNew = content["trigger"] != nil
                if isNew, step.stage != .ignored {
                    if let lastTrigger { #expect(run.now - lastTrigger >= 30, "seed \(seed)") }
                    lastTrigger = run.now
                    #expect(places[step.message] == nil, "seed \(seed): triggered while it waits or is shown")
                }
                switch step.stage {
                case .sent: break
                case .shown where content["impression"] != nil:
                    #expect(screen == step.message, "seed \(seed)")
                case .shown where content["control"] != nil: places[step.message] = nil
                case .shown:
                    #expect(screen == nil, "seed \(seed): two on the screen")
                    #expect(run.device.isForeground, "seed \(seed)")
                    screen = step.message
                    places[step.message] = .shown
                case .waiting:
                    #expect(places[step.message] != .shown && step.reason != nil, "seed \(seed)")
                    places[step.message] = .waiting
                case .ignored: #expect(isNew && step.reason != nil, "seed \(seed)")
                case .discarded:
                    #expect(places[step.message] != .shown && step.reason != nil, "seed \(seed)")
                    places[step.message] = nil
                case .clicked: #expect(screen == step.message, "seed \(seed)")
                case .closed:
                    #expect(screen == step.message, "seed \(seed)")
                    screen = nil
                    places[step.message] = nil
                default: Issue.record("seed \(seed): \(step.stage)")
                }
            }
            let waiting = (run.state.delayed + run.state.stack).map(\.message)
            #expect(waiting.count == Set(waiting).count, "seed \(seed)")
            #expect(Set(waiting) == Set(places.filter { $0.value == .waiting }.keys), "seed \(seed)")
            #expect(run.state.screen?.message == screen, "seed \(seed)")
            Self.expectRoundTrip(run.state, seed)
        }
    }

    private static func expectRoundTrip(_ state: InAppState, _ seed: UInt64) {
        var writer = WireWriter()
        InAppState.wire.write(state, to: &writer)
        let copy = InAppState.wire.read(writer.bytes)
        #expect(copy == state, "seed \(seed)")
    }

    @Test("The steps alone rebuild the state", arguments: Thoroughness.seeds(short: 20, full: 500))
    func rebuilt(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var run = try InAppRun(try Self.messages(&random))
        let (first, start) = (run.state, run.position)
        for _ in 0..<100 {
            if let input = Self.input(&run, &random) { run.send(input) }
        }
        var rebuilt = first
        for (index, entry) in run.history.enumerated() {
            rebuilt.apply(
                entry.step, user: entry.user, position: start + UInt64(index) + 1, at: entry.at * 1_000_000)
        }
        #expect(rebuilt == run.state, "seed \(seed)")
    }

    @Test("A device holds at most 200 messages that wait, and 200 displays")
    func bounded() throws {
        func wave(_ number: Int) throws -> [InAppMessage] {
            try (0..<200).map { try .on(Name("w\(number)-\($0)"), event: Name("e\($0)")) }
        }
        var state = InAppState()
        var now: Int64 = 0
        for number in 0..<2 {
            let messages = try wave(number)
            let table = try TriggerTable(messages)
            func handle(_ input: InAppMachine.Input, isForeground: Bool) {
                let device = InAppMachine.Situation(user: 1, isForeground: isForeground)
                let machine = InAppMachine(state: state, table: table, device: device, now: now)
                for step in machine.handle(input).steps { state.apply(step, user: 1, position: 1, at: now) }
                now += 30_000_000
            }
            handle(.sessionStart(eligible: messages.map(\.id), catalogue: 1), isForeground: true)
            for message in messages {
                handle(.action(.present(message.id)), isForeground: true)
                handle(.action(.close), isForeground: true)
            }
            for index in 0..<200 {
                handle(.event(.customEvent(CustomEvent(name: Name("e\(index)")))), isForeground: false)
            }
            #expect(state.displays.count == 200)
            #expect(state.displays.allSatisfy { $0.message.text.hasPrefix("w\(number)") })
            #expect(state.stack.count == 200)
            #expect(state.stack.allSatisfy { $0.message.text.hasPrefix("w\(number)") })
        }
    }
}
