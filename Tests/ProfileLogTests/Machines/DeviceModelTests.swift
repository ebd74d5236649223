import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogSnippets

/// Random lives of several devices on one store: whatever happens, each item is in one state, and delivered at most
/// once.
@Suite("Devices on a log, at random")
struct DeviceModelTests {
    @Test(
        "Each saved item is in exactly one state, and is delivered at most once, in order",
        arguments: Thoroughness.seeds(short: 6, full: 200))
    func random(seed: UInt64) throws {
        var life = try DeviceLife(seed: seed)
        for _ in 0..<120 { try life.step() }
        try life.expectWhole()
        try life.comeHome()
        try life.expectWhole()
        for (item, isValid) in life.items {
            let outcome = try life.log.reader.items.outcome(of: item)
            switch outcome {
            case .flushed, .discarded: break
            case .rejected: #expect(!isValid, "seed \(seed): \(item) is rejected")
            default: Issue.record("seed \(seed): \(item) is \(outcome as Any) when everything is sent")
            }
        }
    }
}

/// One such life, with the items saved in it.
private struct DeviceLife {
    let seed: UInt64
    let folder = TemporaryFolder()
    let clock = TestClock()
    /// Every item, and whether the SDK has nothing against it.
    private(set) var items: [Position: Bool] = [:]
    private var logs: [EventLog] = []
    private var random: SeededGenerator

    private static let devices = ["d1", "d2", "d3"]
    private static let lackingGroup = DeviceSettings.MissingAppGroup(process: "push", group: "group.test")

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        logs = try [open(), open()]
    }

    var log: EventLog { logs[0] }

    private func open() throws -> EventLog {
        var options = LogOptions.small(clock, indexLag: 15)
        options.pendingItemsPerDevice = 12
        return try folder.open(options: options)
    }

    private mutating func one<Element>(_ elements: [Element]) -> Element {
        elements[random.next(below: elements.count)]
    }

    // MARK: - Happenings

    mutating func step() throws {
        clock.advance(Int64(random.next(below: 4_000_000)))
        let device = one(Self.devices)
        switch random.next(below: 31) {
        case 0...11: try save(on: device)
        case 12...13: try log(on: device)
        case 14...18: try launch(device)
        case 19: _ = try? one(logs).leave(device: device, context: context())
        case 20...21: try changeUser(device)
        case 22: _ = try one(logs).logOut(device: device, context: context())
        case 23: _ = try one(logs).wipe(device: device, context: context())
        case 29: if random.next(below: 3) == 0 { _ = try? one(logs).removeApp(device: device, context: context()) }
        case 24...26: try changeSettings(device)
        case 27: try discard(device)
        case 28: try retry()
        default:
            // Another process, or the same one after a crash.
            logs[random.next(below: 2)] = try open()
            try logs[random.next(below: 2)].writeIndex()
        }
    }

    /// The device's clock may be late, or ahead.
    private mutating func context(_ source: EventSource = .app) -> EventContext {
        let skew = Int64(one([0, 0, 0, -7_200_000_000, 86_400_000_000]))
        return EventContext(source: source, occurredAt: OccurredAt(clock.now.advanced(by: skew)))
    }

    private mutating func user(on device: String) -> UserID {
        one([.device(device), .externalID("ana"), .externalID("bo"), .alias(label: "crm", name: "c")])
    }

    private mutating func save(on device: String) throws {
        let isValid = random.next(below: 8) > 0
        var context = context(.import)
        context.device = device
        context.process = one(["push", "app"])
        context.storage =
            random.next(below: 5) == 0 ? .privateTo(process: context.process ?? "app") : .appGroup("group.test")
        let event: ProfileEvent =
            switch random.next(below: 3) {
            case 0: .customEventSaved(CustomEvent(name: isValid ? "saved" : "$saved"))
            case 1: .customAttributesSaved([AttributeChange(isValid ? "level" : "$level", .increment(1))])
            default: .userAttributeSaved(UserAttributeChange(.email, .string(isValid ? "a@example.com" : "none")))
            }
        let log = one(logs)
        let user = user(on: device)
        if let position = try Self.save(event, user, context, log) { items[position] = isValid }
    }

    /// Returns the place of the item; nil if the device is full: then there is no item.
    private static func save(
        _ event: ProfileEvent, _ user: UserID, _ context: EventContext, _ log: EventLog
    ) throws -> Position? {
        do {
            return try log.append([event], to: user, context: context).last
        } catch let error {
            if case .pendingFull = error { return nil }
            // The app was removed.
            if case .invalid("The app", _, _) = error { return nil }
            throw error
        }
    }

    private mutating func log(on device: String) throws {
        var context = context()
        context.device = device
        let log = one(logs)
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "logged"))
        // A disabled SDK and a full queue refuse it.
        guard let position = try? log.append([event], to: user(on: device), context: context).last else { return }
        if case .queued = try log.event(at: position)?.event { items[position] = true }
    }

    private mutating func launch(_ device: String) throws {
        let lists = random.next(below: 4) == 0 ? [one(PendingKind.allCases)] : PendingKind.all
        let step: LaunchStep? = random.next(below: 4) == 0 ? one(LaunchStep.allCases) : nil
        _ = try one(logs).launch(
            device: device, kind: one(LaunchKind.allCases), flushing: lists, dyingAfter: step, context: context())
    }

    private mutating func changeUser(_ device: String) throws {
        let user = one([UserID.externalID("ana"), .externalID("bo"), .externalID("new-\(random.next(below: 4))")])
        // A device without the app refuses it.
        if try log.reader.devices.state(of: device).status.isRemoved { return }
        _ = try one(logs).changeUser(device: device, to: user, context: context())
    }

    private mutating func changeSettings(_ device: String) throws {
        var change = SettingsChange()
        switch random.next(below: 6) {
        case 0: change.isOnline = random.next(below: 2) == 0
        case 1: change.isSDKEnabled = random.next(below: 2) == 0
        case 2: change.requestPolicy = one(DeviceSettings.RequestPolicy.allCases)
        case 3: change.flushInterval = UInt32(one([0, 5, 60]))
        case 4: change.withoutAppGroup = [Self.lackingGroup]
        default: change.withAppGroup = [Self.lackingGroup]
        }
        _ = try one(logs).change(change, of: device, context: context())
        if random.next(below: 3) == 0 {
            _ = try one(logs).send(from: device, random.next(below: 2) == 0 ? .request : .timer, context())
        }
    }

    private mutating func discard(_ device: String) throws {
        let waiting = try log.reader.devices.pending(on: device).map(\.position).filter { _ in
            random.next(below: 3) == 0
        }
        _ = try one(logs).commit(
            .discard(
                device: device, .positions(Set(waiting)), actor: "a test", reason: "a test",
                context: EventContext(source: .app)))
    }

    private mutating func retry() throws {
        guard let rejected = try log.reader.items.rejected().first else { return }
        let isFilled = try log.reader.devices.pending(on: rejected.item.context.device ?? "").count >= 12
        if try isFilled || log.reader.devices.state(of: rejected.item.context.device ?? "").status.isRemoved { return }
        let correction: ProfileEvent =
            switch rejected.item.event {
            case .customEventSaved: .customEventSaved(CustomEvent(name: "repaired"))
            case .customAttributesSaved: .customAttributesSaved([AttributeChange("level", .increment(1))])
            default: .userAttributeSaved(UserAttributeChange(.email, "b@example.com"))
            }
        let log = one(logs)
        items[try log.commit(.repair(of: rejected.item.position, with: correction, in: log)).last] = true
    }

    /// Everything works, and what is left is sent. What lies in another process's own storage is given up.
    mutating func comeHome() throws {
        for device in Self.devices {
            var change = SettingsChange()
            change.isOnline = true
            change.isSDKEnabled = true
            change.requestPolicy = .automatic
            change.flushInterval = 0
            change.withAppGroup = [Self.lackingGroup]
            _ = try log.change(change, of: device)
            for _ in 0..<2 { _ = try log.launch(device: device) }
            let stranded = try log.reader.devices.pending(on: device)
            for save in stranded { #expect(save.context.storage == .privateTo(process: "push"), "seed \(seed)") }
            _ = try log.commit(
                .discard(
                    device: device, .all, actor: "a test", reason: "stranded", context: EventContext(source: .app)))
        }
    }

    // MARK: - What must hold

    func expectWhole() throws {
        for log in logs { try log.expectSound() }
        #expect(try log.replay(verify: true).isEqual, "seed \(seed)")
        var delivered: [Position: Int] = [:]
        var ended: [Position: Int] = [:]
        for event in try log.events(from: Position.start.next, limit: .max).events {
            switch event.event {
            case .pendingFlushed(let flush):
                if !flush.isQueued { for item in flush.flushed { delivered[item, default: 0] += 1 } }
                for refusal in flush.rejected { ended[refusal.position, default: 0] += 1 }
                let isOrdered = try isOrdered(flush.flushed)
                #expect(isOrdered, "seed \(seed): \(flush)")
            case .dataSent(let positions): for item in positions { delivered[item, default: 0] += 1 }
            case .pendingDiscarded(let discard): for item in discard.positions { ended[item, default: 0] += 1 }
            default: break
            }
        }
        let waiting = try Set(
            Self.devices.flatMap { try log.reader.devices.state(of: $0).items.keys }.map(Position.init(rawValue:)))
        for item in items.keys {
            let states = (delivered[item] ?? 0) + (ended[item] ?? 0) + (waiting.contains(item) ? 1 : 0)
            #expect(states == 1, "seed \(seed): \(item) is in \(states) states")
            switch try log.reader.items.outcome(of: item) {
            case .pending, .queued: #expect(waiting.contains(item), "seed \(seed): \(item)")
            case .flushed: #expect(delivered[item] == 1, "seed \(seed): \(item)")
            case .rejected, .discarded: #expect(ended[item] == 1, "seed \(seed): \(item)")
            case nil: Issue.record("seed \(seed): \(item) has no outcome")
            }
        }
        #expect(Set(delivered.keys).union(ended.keys).union(waiting).isSubset(of: items.keys), "seed \(seed)")
    }

    /// Custom events, then custom attributes, then user attributes, each as they were saved.
    private func isOrdered(_ items: [Position]) throws -> Bool {
        let kinds = try items.map { try log.event(at: $0)?.event.kind.rawValue ?? 0 }
        return zip(kinds, items).map { [UInt64($0), $1.rawValue] }.elementsEqual(
            zip(kinds, items).map { [UInt64($0), $1.rawValue] }.sorted { $0.lexicographicallyPrecedes($1) })
    }
}
