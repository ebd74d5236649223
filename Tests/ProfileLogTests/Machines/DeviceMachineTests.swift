import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogMachines

@Suite("The device machine, every interleaving without a thread or a sleep")
struct DeviceMachineTests {
    private static let group = DeviceStorage.appGroup("group.a")
    private static let devices: [Name] = ["d1", "d2", "d3"]

    @Test(
        "Each saved item is in one place at every moment, and delivered at most once",
        arguments: Thoroughness.seeds(short: 50, full: 1500))
    func everyItem(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var run = MachineRun()
        for _ in 0..<120 {
            Self.step(&run, &random)
            Self.expectConsistent(run, seed)
        }
        // Once everything works, one launch of each device leaves nothing that the app can see.
        for device in Self.devices {
            var works = run.devices[device]?.settings ?? DeviceSettings()
            works.isSDKEnabled = true
            works.isOnline = true
            works.requestPolicy = .automatic
            works.setAppGroup("group.a", of: "app", isMissing: false)
            run.handle(.change(works), device)
            run.launch(device, .cold)
            let state = run.devices[device] ?? DeviceState()
            #expect(state.queued.isEmpty, "seed \(seed)")
            let visible = state.items.values.filter { $0.storage.rawValue & 0x8000_0000 == 0 }
            #expect(visible.isEmpty, "seed \(seed): \(visible.count) items still wait on \(device)")
        }
        Self.expectConsistent(run, seed)
    }

    private static func step(_ run: inout MachineRun, _ random: inout SeededGenerator) {
        func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
        let device = devices[number(devices.count)]
        run.now += [0, 500_000, 12_000_000, 3_600_000_000, -7_200_000_000][number(5)]
        switch number(12) {
        case 0, 1, 2, 3:
            let process: Name = number(3) == 0 ? "app" : "push"
            run.save(
                on: device, by: process, into: number(5) == 0 ? .privateTo(process: process) : group,
                list: PendingKind.allCases[number(3)], isValid: number(6) > 0)
        case 4, 5: run.launch(device, LaunchKind.allCases[number(3)])
        case 6: run.launch(device, .cold, dyingAfter: number(4), staysQueued: number(2) == 0)
        case 7: run.handle(.leave, device)
        case 8:
            let id = "user-\(number(3))"
            run.send(device, isRequested: true)
            run.handle(.changeUser(to: run.user(id).map { .known($0) } ?? .new(.externalID(id))), device)
        case 9: run.handle(number(2) == 0 ? .logOut : .wipe, device)
        case 10: run.send(device, isRequested: number(2) == 0)
        default:
            var settings = run.devices[device]?.settings ?? DeviceSettings()
            switch number(5) {
            case 0: settings.isOnline.toggle()
            case 1: settings.isSDKEnabled.toggle()
            case 2: settings.requestPolicy = settings.requestPolicy == .manual ? .automatic : .manual
            case 3: settings.flushInterval = [0, 10][number(2)]
            default: settings.setAppGroup("group.a", of: ["app", "push"][number(2)], isMissing: number(2) == 0)
            }
            run.handle(.change(settings), device)
        }
    }

    private static func expectConsistent(_ run: MachineRun, _ seed: UInt64) {
        var held: [UInt64: MachineRun.Place] = [:]
        for state in run.devices.values {
            for item in state.items.values { held[item.position] = item.queued == nil ? .waiting : .queued }
        }
        let open = run.items.filter { $0.value == .waiting || $0.value == .queued }
        #expect(held == open, "seed \(seed)")
    }

    // MARK: - Sessions

    @Test("Who comes back in time goes on with the session; who is late starts another", arguments: [9, 10, 11])
    func timeout(seconds: Int64) {
        var run = MachineRun()
        run.launch("d", .cold)
        let first = run.devices["d"]?.session
        run.handle(.leave, "d")
        run.now += seconds * 1_000_000
        run.launch("d", .return)
        #expect((run.devices["d"]?.session == first) == (seconds <= 10))
        #expect(first != nil)
    }

    @Test("A launch in the background starts no session")
    func background() {
        var run = MachineRun()
        run.launch("d", .background)
        #expect(run.devices["d"]?.session == nil && run.devices["d"]?.lastLaunch != nil)
    }

    @Test("An app that was launched in the background alone is not in the foreground, and cannot leave it")
    func leavesBackground() {
        var run = MachineRun()
        run.launch("d", .background)
        let inBackground = run.handle(.leave, "d")
        #expect(!inBackground)
        run.launch("d", .cold)
        run.launch("d", .background)
        let (left, again) = (run.handle(.leave, "d"), run.handle(.leave, "d"))
        #expect(left && !again)
    }

    @Test("A launch in the background does not end that the app is away", arguments: [3, 3600])
    func backgroundWhileAway(seconds: Int64) {
        var run = MachineRun()
        run.launch("d", .cold)
        let first = run.devices["d"]?.session
        run.now += 1_000_000
        run.handle(.leave, "d")
        run.now += seconds * 1_000_000
        run.launch("d", .background)
        let left = run.handle(.leave, "d")
        #expect(!left, "the app was away already")
        run.now += 2_000_000
        run.launch("d", .return)
        #expect((run.devices["d"]?.session == first) == (seconds == 3))
        #expect(first != nil && run.devices["d"]?.status.leftAt == nil)
    }

    // MARK: - The SDK's queue

    @Test("What is flushed offline is delivered when the device is online again, and not before")
    func offline() {
        var (run, item) = MachineRun.offline()
        #expect(run.items[item] == .queued)
        run.send("d", isRequested: true)
        #expect(run.items[item] == .queued)
        run.handle(.change(DeviceSettings()), "d")
        run.send("d", isRequested: false)
        #expect(run.items[item] == .delivered)
    }

    @Test("Under the manual policy a launch sends nothing; the app's request does")
    func manual() {
        var run = MachineRun()
        var settings = DeviceSettings()
        settings.requestPolicy = .manual
        run.handle(.change(settings), "d")
        run.save(on: "d", by: "push", into: Self.group, list: .customEvents, isValid: true)
        let item = run.position
        run.launch("d", .cold)
        run.send("d", isRequested: false)
        #expect(run.items[item] == .queued)
        run.send("d", isRequested: true)
        #expect(run.items[item] == .delivered)
    }

    @Test("The automatic policy keeps its interval", arguments: [9, 10])
    func interval(seconds: Int64) {
        var run = MachineRun()
        var settings = DeviceSettings()
        settings.flushInterval = 10
        run.handle(.change(settings), "d")
        run.save(on: "d", by: "push", into: Self.group, list: .customEvents, isValid: true)
        run.launch("d", .cold)
        run.now += seconds * 1_000_000
        run.save(on: "d", by: "push", into: Self.group, list: .customEvents, isValid: true)
        let item = run.position
        run.launch("d", .background)
        #expect(run.items[item] == (seconds < 10 ? .queued : .delivered))
    }

    @Test("A disabled SDK takes nothing, and what waits goes on waiting")
    func disabled() {
        var run = MachineRun()
        run.save(on: "d", by: "push", into: Self.group, list: .customEvents, isValid: true)
        let item = run.position
        run.launch("d", .cold, dyingAfter: 0)
        run.handle(.logOut, "d")
        run.launch("d", .cold)
        #expect(run.items[item] == .waiting)
    }

    @Test("A wipe discards what was not sent, and says so")
    func wipe() {
        var (run, item) = MachineRun.offline()
        run.handle(.wipe, "d")
        #expect(run.items[item] == .discarded)
        #expect(run.devices["d"]?.user == nil && run.devices["d"]?.session == nil)
    }

    // MARK: - App groups

    @Test(
        "An extension without the app group saves where the app does not look; an app without it sees nothing",
        arguments: ["push", "app"] as [Name])
    func missingGroup(target: Name) {
        var run = MachineRun()
        var settings = DeviceSettings()
        settings.setAppGroup("group.a", of: target, isMissing: true)
        run.handle(.change(settings), "d")
        run.save(on: "d", by: "push", into: Self.group, list: .customEvents, isValid: true)
        let item = run.position
        run.launch("d", .cold)
        #expect(run.items[item] == .waiting)
        settings.setAppGroup("group.a", of: target, isMissing: false)
        run.handle(.change(settings), "d")
        run.launch("d", .cold)
        // What went into the extension's own storage stays there.
        #expect(run.items[item] == (target == "app" ? .delivered : .waiting))
    }
}
