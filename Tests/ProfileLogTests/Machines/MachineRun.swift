import ProfileLog
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog
@testable import ProfileLogMachines

/// Devices without a log: what the machine decides is folded back into their states at once, as the log does with
/// records.
struct MachineRun {
    /// The place of each saved item.
    enum Place: Hashable { case waiting, queued, delivered, rejected, discarded }

    private(set) var devices: [Name: DeviceState] = [:]
    private(set) var items: [UInt64: Place] = [:]
    /// The user of each item when it was saved, and the user that it went to.
    private(set) var savedBy: [UInt64: UInt64] = [:]
    private(set) var versions: [UInt64: UInt64] = [:]
    private(set) var identities: [UInt64: [UserID]] = [:]
    private(set) var merged: [UInt64: UInt64] = [:]
    private(set) var position: UInt64 = 0
    /// All that happened, in order.
    private(set) var events: [(position: UInt64, device: Name, user: UInt64, event: ProfileEvent)] = []
    private var users: UInt64 = 0
    private var lists: [UInt64: PendingKind] = [:]
    /// The last item of each user in each launch's flush: nothing comes after a later list or a later item.
    private var lastHanded: [UInt64: [UInt64: (PendingKind, UInt64)]] = [:]
    private var numbers = NumberedNames()
    var now: Int64 = 1_800_000_000_000_000

    private struct NumberedNames: NameNumbering {
        var names: [Name] = []
        mutating func number(_ name: Name) -> UInt32? {
            if let index = names.firstIndex(of: name) { return UInt32(index + 1) }
            names.append(name)
            return UInt32(names.count)
        }
    }

    // MARK: - What happens

    /// The device `d` without a network, and an item that a launch has handed to its SDK.
    static func offline() -> (run: MachineRun, item: UInt64) {
        var run = MachineRun()
        var settings = DeviceSettings()
        settings.isOnline = false
        run.handle(.change(settings), "d")
        run.save(on: "d", by: "push", into: .appGroup("group.a"), list: .customEvents, isValid: true)
        let item = run.position
        run.launch("d", .cold)
        return (run, item)
    }

    mutating func save(on device: Name, by process: Name, into storage: DeviceStorage, list: PendingKind, isValid: Bool)
    {
        let state = devices[device] ?? DeviceState()
        let user = state.status.user ?? create(.device(device.text), on: device)
        let place = state.settings.storage(storage, of: process)
        let context = EventContext(source: .extension, process: process, device: device.text, storage: place)
        let event: ProfileEvent
        switch list {
        case .customEvents: event = .customEventSaved(CustomEvent(name: "saved"))
        case .customAttributes: event = .customAttributesSaved([AttributeChange("saved", .set(.int(1)))])
        case .userAttributes: event = .userAttributeSaved(UserAttributeChange(.firstName, .string("Ana")))
        }
        record(event, user, context, device)
        items[position] = .waiting
        savedBy[position] = user
        lists[position] = list
        if !isValid { refused.insert(position) }
    }

    private(set) var refused: Set<UInt64> = []

    /// Everything that a launch does, up to where the app dies: `steps` actions, or all.
    mutating func launch(_ device: Name, _ kind: LaunchKind, dyingAfter steps: Int = .max, staysQueued: Bool = false) {
        var left = steps
        let cause: SendCause = kind.isInBackground ? .timer : .foreground
        func flushInput(_ run: MachineRun) -> FlushInput {
            var flush = FlushInput(limit: 3, cause: cause)
            flush.staysQueued = staysQueued
            let state = run.devices[device] ?? DeviceState()
            flush.visible = Set(state.items.values.map(\.storage)).filter { code in
                state.settings.appSees(code.storage { run.numbers.names[safe: Int($0) - 1] })
            }
            for item in run.refused { flush.refused[item] = "refused" }
            return flush
        }
        if kind != .locked {
            while left > 0, handle(.flush(flushInput(self)), device) { left -= 1 }
        }
        guard left > 0 else { return }
        handle(.launch(kind), device)
        left -= 1
        while left > 0, handle(.send(cause, limit: 3), device) { left -= 1 }
        while left > 0, handle(.flush(flushInput(self)), device) { left -= 1 }
    }

    mutating func send(_ device: Name, isRequested: Bool) {
        while handle(.send(isRequested ? .request : .timer, limit: 3), device) {}
    }

    /// Tells whether the machine did anything about the input.
    @discardableResult
    mutating func handle(_ input: Device.Input, _ device: Name) -> Bool {
        let state = devices[device] ?? DeviceState()
        let current = state.status.user.map { user in
            var row = UserRow()
            for id in identities[user] ?? [] { row.add(id) }
            return Device.Current(
                user: user, version: versions[user] ?? 0, identities: row.identities, isAnonymous: row.isAnonymous)
        }
        let owners = Dictionary(uniqueKeysWithValues: Set(state.items.values.map(\.user)).map { ($0, canonical($0)) })
        let actions = Device(state: state, now: now, owners: owners).handle(input, current: current)
        var anonymous = state.status.user
        var made: [UserID: UInt64] = [:]
        var lastStep: Position?
        for action in actions {
            let user: UInt64
            switch action.user {
            case .current:
                user = anonymous ?? create(.device(device.text), on: device)
                anonymous = user
            case .user(let number): user = canonical(number)
            case .new(let id):
                user = made[id] ?? create(id, on: device)
                made[id] = user
            }
            var event = action.event
            if case .message(var step) = event {
                if action.followsLastStep { step.cause = lastStep }
                event = .message(step)
                lastStep = Position(rawValue: position + 1)
            }
            record(event, user, EventContext(source: .app, device: device.text), device)
        }
        return !actions.isEmpty
    }

    func canonical(_ user: UInt64) -> UInt64 { merged[user].map(canonical) ?? user }

    /// The user with this external ID, if there is one.
    func user(_ id: String) -> UInt64? { identities.first { $0.value.contains(.externalID(id)) }?.key }

    mutating func create(_ id: UserID, on device: Name) -> UInt64 {
        users += 1
        record(.userCreated([id]), users, EventContext(source: .system), device)
        return users
    }

    // MARK: - Recording

    /// As the log: a record with the next position and version, from which the device's state changes.
    mutating func record(_ event: ProfileEvent, _ user: UInt64, _ context: EventContext, _ device: Name) {
        position += 1
        versions[user, default: 0] += 1
        var context = context
        context.occurredAt = OccurredAt(Timestamp(rawValue: now))
        var writer = WireWriter()
        RecordHeader.write(
            kind: event.kind.rawValue, user: user, version: versions[user] ?? 0, recordedAt: now, to: &writer)
        _ = EventEncoder.write(event, context, names: &numbers, to: &writer)
        writer.littleEndian(UInt32(0))
        guard let header = RecordHeader(writer.bytes), let body = RecordBody(header.body) else {
            Issue.record("A record was written that is none.")
            return
        }
        let position = position
        events.append((position, device, user, event))
        DeviceChange.forEach(header, body, position) { name, change in
            devices[name, default: DeviceState()].apply(change)
        }
        note(event, user)
    }

    private mutating func note(_ event: ProfileEvent, _ user: UInt64) {
        switch event {
        case .userCreated(let ids), .userIdentified(let ids): identities[user, default: []] += ids
        case .usersMerged(let merge):
            #expect(merge.version.rawValue == versions[merge.source.rawValue], "the merge takes all of the source")
            merged[merge.source.rawValue] = user
            identities[user, default: []] += merge.identities
            // A launch that died before has handed over what was the other's then.
            lastHanded = [:]
        // The app may see now what it did not see before.
        case .deviceChanged: lastHanded = [:]
        case .pendingFlushed(let flush):
            let order = flush.flushed
            #expect(order.allSatisfy { canonical(savedBy[$0.rawValue] ?? 0) == user }, "items go to whom they belong")
            for item in order {
                expectNext(item.rawValue, of: user, in: flush.launch.rawValue)
                move(item, from: .waiting, to: flush.isQueued ? .queued : .delivered)
            }
            for item in flush.rejected { move(item.position, from: .waiting, to: .rejected) }
        case .queued: items[position] = .queued
        case .dataSent(let positions):
            for item in positions { move(item, from: .queued, to: .delivered) }
        case .pendingDiscarded(let discard):
            // With the app goes also what waits; the SDK gives up what it took.
            for item in discard.positions {
                let isWaiting = discard.actor == Discard.system && items[item.rawValue] == .waiting
                move(item, from: isWaiting ? .waiting : .queued, to: .discarded)
            }
        default: break
        }
    }

    private mutating func expectNext(_ item: UInt64, of user: UInt64, in launch: UInt64) {
        guard let list = lists[item] else { return }
        if let last = lastHanded[launch]?[user] {
            #expect(last < (list, item), "launch \(launch) hands over \(item) behind \(last) of user \(user)")
        }
        lastHanded[launch, default: [:]][user] = (list, item)
    }

    private mutating func move(_ item: Position, from: Place, to: Place) {
        #expect(items[item.rawValue] == from, "item \(item.rawValue) goes to \(to)")
        items[item.rawValue] = to
    }
}

extension [Name] {
    subscript(safe index: Int) -> Name? { indices.contains(index) ? self[index] : nil }
}
