import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogMachines

@Suite("Pushes on devices, every interleaving without a thread or a sleep")
struct PushModelTests {
    private static let devices: [Name] = ["d1", "d2"]

    @Test(
        "No push is processed twice, and none is lost once the SDK exists",
        arguments: Thoroughness.seeds(short: 30, full: 1000))
    func interleavings(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var run = MachineRun()
        for _ in 0..<150 { Self.step(&run, &random) }
        for device in Self.devices {
            run.set(device) {
                $0.isOnline = true
                $0.isSDKEnabled = true
                $0.push.permission = .granted
            }
            run.launch(device, .cold)
            run.deliver(device)
            run.push(.initialize, device)
            let state = run.devices[device]?.status.pushes ?? PushState()
            #expect(state.underway == 0 && state.captured.isEmpty, "seed \(seed)")
        }
        Self.expectSound(run, seed)
    }

    private static func step(_ run: inout MachineRun, _ random: inout SeededGenerator) {
        func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
        let device = devices[number(devices.count)]
        run.now += [0, 500_000, 12_000_000, 3_600_000_000][number(4)]
        let shown = run.devices[device]?.status.pushes.pushes ?? []
        let choice = shown.isEmpty ? PushIntent.PushChoice.newest : .at(shown[number(shown.count)].sent)
        switch number(15) {
        case 0, 1, 2: run.send(payload(&random), to: device)
        case 3, 4: run.push(.deliver(limit: 1 + number(4)), device)
        case 5: run.push(.open(choice), device)
        case 6: run.push(.dismiss(choice), device)
        case 7: run.push(.expand(choice, Expansion.allCases[number(3)]), device)
        case 8:
            let response = (ExtensionResponse.allCases.map(Optional.some) + [nil])[number(5)]
            run.push(.act(choice, action: ["REGISTER", "CLOSE"][number(2)], response), device)
        case 9: run.push(.input(choice, ["ana", "ana@example.com"][number(2)]), device)
        case 10: run.launch(device, LaunchKind.allCases[number(LaunchKind.allCases.count)])
        case 11: run.push([.initialize, .forceQuit][number(2)], device)
        case 12: run.handle(number(3) == 0 ? .logOut : .leave, device)
        case 13: if number(4) == 0 { run.push(.removeApp, device) }
        default:
            run.set(device) { settings in
                switch number(8) {
                case 0: settings.isOnline.toggle()
                case 1: settings.isSDKEnabled.toggle()
                case 2: settings.push.permission = [.granted, .granted, .denied, .notAsked][number(4)]
                case 3: settings.push.startup.isDelayed.toggle()
                case 4: settings.push.startup.preparation = [.inTime, .inTime, .tooLate, .never][number(4)]
                case 5: settings.push.startup.subscription = SDKStartup.Subscription.allCases[number(3)]
                case 6: settings.push.startup.automation = PushAutomation(rawValue: UInt8(number(8)))
                default:
                    var contentExtension = ContentExtension(categories: ["a"])
                    contentExtension.allowsInteraction = number(4) > 0
                    contentExtension.input = number(2) == 0 ? .email : nil
                    settings.push.contentExtension = number(5) == 0 ? nil : contentExtension
                }
            }
        }
    }

    private static func payload(_ random: inout SeededGenerator) -> MachineRun.Payload {
        func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
        if number(4) == 0 { return number(2) == 0 ? .serverEvent : .silent() }
        return MachineRun.Payload(
            alert: number(5) == 0 ? nil : "Hello", isBrazes: number(6) > 0, wakesApp: number(3) == 0,
            category: [nil, "a", "b"][number(3)], aps: number(5) == 0 ? ["badge": .int(1)] : [:],
            collapseID: number(4) == 0 ? "c\(number(2))" : nil,
            expiry: number(6) == 0 ? "2027-01-15T09:00:00Z" : nil)
    }

    private static func expectSound(_ run: MachineRun, _ seed: UInt64) {
        var seen: [UInt64: [MessageStep.Stage: Int]] = [:]
        var captures: [UInt64: Int] = [:]
        for (position, device, step) in run.steps() {
            let origin = run.origin(of: position)
            seen[origin, default: [:]][step.stage, default: 0] += 1
            #expect(run.events[Int(origin) - 1].device == device, "seed \(seed): \(position)")
            #expect(run.step(at: origin)?.stage == .sent, "seed \(seed): \(position)")
            if step.stage == .captured { captures[position] = 0 }
            if step.stage == .processed { captures[step.cause?.rawValue ?? 0, default: 0] += 1 }
        }
        #expect(captures.values.allSatisfy { $0 == 1 }, "seed \(seed): \(captures)")
        for (origin, stages) in seen {
            let ends = [MessageStep.Stage.received, .notReceived].map { stages[$0] ?? 0 }
            #expect(ends == [1, 0] || ends == [0, 1], "seed \(seed): \(origin) \(stages)")
            let isGone = (stages[.opened] ?? 0) + (stages[.dismissed] ?? 0)
            #expect(isGone <= 1, "seed \(seed): \(origin) \(stages)")
            #expect((stages[.captured] ?? 0) <= 2 && (stages[.expanded] ?? 0) <= 1, "seed \(seed): \(origin)")
            #expect(captured(run, origin) == stages[.captured] ?? 0, "seed \(seed): \(origin) \(stages)")
        }
        for (device, state) in run.devices { expectStored(state.status, "seed \(seed), \(device)") }
    }

    /// Returns the number of times that the push should have been captured: when it reached an app without the SDK, and
    /// no reason says why it was not.
    private static func captured(_ run: MachineRun, _ origin: UInt64) -> Int {
        var hasInstance = true
        var count = 0
        let device = run.events[Int(origin) - 1].device
        let isBrazes = run.step(at: origin).map { DeliveredPush($0, sentAt: 0).isBrazes } ?? false
        let wakesApp = run.step(at: origin).map { DeliveredPush($0, sentAt: 0).wakesApp } ?? false
        for event in run.events where event.device == device {
            if case .deviceChanged(let settings) = event.event { hasInstance = settings.push.hasInstance }
            guard case .message(let step) = event.event, run.origin(of: event.position) == origin, isBrazes else {
                continue
            }
            let reason = step.reason ?? ""
            let isLost = ["prepare", "pushAutomation", "the SDK is disabled"].contains { reason.contains($0) }
            if hasInstance || isLost { continue }
            if step.stage == .opened { count += 1 }
            if step.stage == .received, wakesApp, runs(run, device, before: event.position) { count += 1 }
        }
        return count
    }

    /// Tells whether the app was launched and not swiped away since.
    private static func runs(_ run: MachineRun, _ device: Name, before position: UInt64) -> Bool {
        var runs = false
        for event in run.events.prefix(Int(position)) where event.device == device {
            if case .appLaunched = event.event { runs = true }
            if case .deviceChanged(let settings) = event.event, settings.push.isForceQuit { runs = false }
        }
        return runs
    }

    private static func expectStored(_ status: DeviceStatus, _ comment: Comment) {
        var writer = WireWriter()
        status.write(to: &writer)
        #expect(DeviceStatus(writer.bytes) == status, comment)
    }
}
