/// Saved and logged items on a device: decided for a whole append before its first record, so that a refusal leaves
/// nothing.
extension Decider {
    /// The plan for one item.
    struct ItemPlan {
        /// The kind under which it is stored: a logged event is queued if the SDK cannot send it now.
        var kind: EventKind
        /// Tells whether its user comes to the device with it: nothing was known of the device before.
        var joins = false
        /// Tells whether it may trigger an in-app message.
        var mayTrigger = false
        /// The saved event as it lands on a device of which a target lacks the app group.
        var relocated: (event: ProfileEvent, context: EventContext)?
    }

    /// A device while an append is planned.
    private struct Situation {
        let status: DeviceStatus
        var isVacant: Bool
        var load: DeviceLoad
    }

    /// Plans the items that name a device. Throws an `AppendError` if one of them is refused.
    func plan(_ append: borrowing PreparedAppend, _ users: [UInt64?]) throws -> [Int: ItemPlan] {
        if append.devices.isEmpty { return [:] }
        var situations: [Name: Situation] = [:]
        var plans: [Int: ItemPlan] = [:]
        var underway: [Name: Int] = [:]
        for (index, item) in append.items.enumerated() {
            if users[item.target] == nil, case .device(let id) = append.targets[item.target].id {
                // That device gets its anonymous user with this item, wherever the item comes from.
                let occupied = Name(id)
                var situation = try situations[occupied] ?? situationNow(of: occupied)
                situation.isVacant = false
                situations[occupied] = situation
            }
            guard let device = append.devices[index] else { continue }
            if case .message(let stage) = item.kind.role {
                if stage == .sent { plans[index] = try push(item, append, device, underway: &underway) }
                continue
            }
            var situation = try situations[device] ?? situationNow(of: device)
            plans[index] = try append.bytes.withUnsafeBytes { bytes in
                try plan(RecordHeader(kind: item.kind, body: bytes.slice(item.body)), item.kind, &situation)
            }
            situations[device] = situation
        }
        return plans
    }

    /// A push to a device on the way to which there are too many already is not sent; nil if it is.
    private func push(
        _ item: PreparedAppend.Item, _ append: borrowing PreparedAppend, _ device: Name, underway: inout [Name: Int]
    ) throws -> ItemPlan? {
        let count = try (underway[device] ?? view.device(device).pushes.underway) + 1
        underway[device] = count
        if count <= PushState.mostUnderway { return nil }
        var plan = ItemPlan(kind: .messageNotSent)
        plan.relocated = append.bytes.withUnsafeBytes { bytes in
            let header = RecordHeader(kind: item.kind, body: bytes.slice(item.body))
            guard let sent = RecordedEvent(header, position: .start, names: names.map),
                case .message(var step) = sent.event
            else { return nil }
            step.stage = .notSent
            step.reason = "\(PushState.mostUnderway) pushes are on their way to the device already"
            return (.message(step), sent.context)
        }
        return plan
    }

    private func situationNow(of device: Name) throws -> Situation {
        let status = try view.device(device)
        return Situation(status: status, isVacant: status.isVacant, load: try view.load(device))
    }

    private func plan(_ header: RecordHeader, _ kind: EventKind, _ situation: inout Situation) throws -> ItemPlan {
        let settings = situation.status.settings
        let event = EventView(header: header, position: .start, names: view.nameTable)
        if situation.status.isRemoved, kind.isSaved || event.source.isSDK { throw AppendError.appRemoved }
        if event.source.isSDK, event.occurredAt.rawValue != header.recordedAt {
            try checkClock(event.occurredAt.rawValue)
        }
        if kind.isSaved {
            situation.load.waiting += 1
            if situation.load.waiting > itemsPerDevice {
                throw AppendError.pendingFull(limit: itemsPerDevice)
            }
            var plan = ItemPlan(kind: kind, joins: situation.isVacant)
            situation.isVacant = false
            plan.relocated = relocated(header, settings)
            return plan
        }
        let triggers = situation.status.inApp != nil && event.source.isSDK && kind.mayTrigger
        // What another system logged is a fact, whatever the device can do now. With default settings the SDK sends at
        // once.
        if !event.source.isSDK || settings == DeviceSettings() {
            return ItemPlan(kind: kind, mayTrigger: triggers)
        }
        guard settings.isSDKEnabled else {
            throw AppendError.invalid(
                place: "The SDK on the device", reason: "is disabled and would drop the event; enable it first")
        }
        guard settings.push.hasInstance else { return try lost(header) }
        let at = event.occurredAt.rawValue == header.recordedAt ? recordedAt : event.occurredAt.rawValue
        let machine = Device(state: DeviceState(status: situation.status), now: at)
        if situation.load.queued == 0, machine.maySend(.timer) { return ItemPlan(kind: kind, mayTrigger: triggers) }
        guard let queued = kind.queued else { return ItemPlan(kind: kind, mayTrigger: triggers) }
        situation.load.queued += 1
        if situation.load.queued > itemsPerDevice {
            throw AppendError.invalid(
                place: "The SDK's queue on the device",
                reason: "holds \(itemsPerDevice) items already; let the device send them first")
        }
        return ItemPlan(kind: queued, mayTrigger: triggers)
    }

    /// Lists what is logged on an instance of the SDK that does not exist as lost.
    private func lost(_ header: RecordHeader) throws -> ItemPlan {
        var plan = ItemPlan(kind: .objectsLeftOut)
        if let logged = RecordedEvent(header, position: .start, names: names.map) {
            plan.relocated = (.objectsLeftOut([.lost(logged.event)]), logged.context)
        }
        return plan
    }

    /// Refuses a device's clock that cannot be right.
    func checkClock(_ time: Int64) throws {
        if let reason = SDKRules.reasonAgainstClock(time, now: recordedAt) {
            throw AppendError.invalid(place: "The time", reason: reason)
        }
    }

    private func relocated(
        _ header: RecordHeader, _ settings: DeviceSettings
    ) -> (event: ProfileEvent, context: EventContext)? {
        if settings.missingAppGroups.isEmpty { return nil }
        guard let saved = RecordedEvent(header, position: .start, names: names.map), let storage = saved.context.storage
        else { return nil }
        let place = settings.storage(storage, of: saved.context.process ?? DeviceStorage.app)
        if place == storage { return nil }
        var context = saved.context
        context.storage = place
        return (saved.event, context)
    }
}

extension EventKind {
    /// Tells whether an in-app message may have it as its trigger.
    fileprivate var mayTrigger: Bool {
        role == .content(.customEvent, .logged) || role == .content(.purchase, .logged)
    }
}

/// The number of items that a device holds.
struct DeviceLoad: Hashable, Sendable {
    /// Saved ones that wait for a launch.
    var waiting = 0
    /// Items that its SDK has taken and not sent.
    var queued = 0
}
