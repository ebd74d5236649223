/// Decides what happens on a device: the machine `Device`, with what the log holds under the lock.
extension Decider {
    mutating func decideDevice(_ device: Name, _ intent: DeviceIntent, _ context: EventContext) throws {
        let now = context.occurredAt?.timestamp.rawValue ?? recordedAt
        try checkClock(now)
        let plan = try plan(intent, on: device, now: now)
        if plan.hasMessagesInForeground { try decideInApp(dueOn: device, context) }
        var user = plan.user
        // The users that actions make.
        var made: [UserID: UInt64] = [:]
        var lastStep: Position?
        var done: [(event: ProfileEvent, position: UInt64)] = []
        for action in plan.actions {
            let owner: UInt64
            switch action.user {
            case .user(let number): owner = try view.canonicalUser(of: number)
            case .current:
                owner = try user ?? create(.device(device.text))
                user = owner
            case .new(let id):
                owner = try made[id] ?? create(id)
                made[id] = owner
            }
            var event = action.event
            if case .message(var step) = event {
                if action.followsLastStep { step.cause = lastStep }
                event = .message(step)
                lastStep = Position(rawValue: nextPosition)
            }
            done.append((event, nextPosition))
            try self.event(event, context.on(device), owner)
        }
        // A session may bring the first messages.
        for (event, position) in done where plan.hasMessages || event.kind == .sessionStarted {
            if case .appLaunched = event {
                try followLaunch(startsProcess: plan.startsProcess, at: position, on: device, context)
            } else {
                try followInApp(event, at: position, on: device, context)
            }
        }
    }

    /// The reaction of a device, and what is asked of its state afterwards. Without the state itself: that changes with
    /// each record, and would be copied.
    private struct DevicePlan {
        let actions: [Device.Action]
        let user: UInt64?
        let startsProcess: Bool
        let hasMessages: Bool
        let hasMessagesInForeground: Bool
    }

    private mutating func plan(_ intent: DeviceIntent, on device: Name, now: Int64) throws -> DevicePlan {
        let (machine, input, current) = try machine(for: intent, on: device, now: now)
        let status = machine.state.status
        var startsProcess = false
        if case .launch(let kind, _) = input { startsProcess = machine.startsProcess(kind) }
        return DevicePlan(
            actions: machine.handle(input, current: current), user: current?.user, startsProcess: startsProcess,
            hasMessages: status.inApp != nil, hasMessagesInForeground: status.inApp != nil && status.isInForeground)
    }

    private mutating func machine(
        for intent: DeviceIntent, on device: Name, now: Int64
    ) throws -> (Device, Device.Input, Device.Current?) {
        var intent = intent
        let machine: Device
        switch intent {
        case .flush(let flush):
            var kept = try taken(device)
            defer { self.kept = kept }
            let visible = kept.visible(names.map)  // with names that this very commit adds
            machine = kept.machineForFlush(visible, limit: flush.limit, now: now)
            intent = .flush(try completed(flush, visible, machine))
        case .send(_, let limit):
            var kept = try taken(device)
            defer { self.kept = kept }
            machine = kept.machineForSending(limit: limit, now: now)
        case .launch, .leave, .changeUser, .logOut, .wipe, .change, .push:
            let state =
                intent.needsItems
                ? try view.deviceState(device)
                : DeviceState(status: try view.device(device))
            machine = Device(state: state, now: now, owners: try owners(of: state.items.values))
        }
        let current = try current(machine.state.status)
        return (machine, try input(intent, machine, current), current)
    }

    /// The user on a device. They may have been merged into another one through another device; so may the users of
    /// items that wait on it.
    private func current(_ status: DeviceStatus) throws -> Device.Current? {
        guard let user = status.user else { return nil }
        return try view.person(view.canonicalUser(of: user))
    }

    /// The device that is kept, if it is this one; its change needs the only reference.
    private mutating func taken(_ device: Name) throws -> KeptDevice {
        if let kept = self.kept.take(), kept.name == device { return kept }
        let state = try view.deviceState(device)
        return KeptDevice(device, state, owners: try owners(of: state.items.values))
    }

    /// Refuses what a change of the user to `id` would be refused for, before anything else is decided for it.
    func checkArrival(of id: UserID, on device: Name) throws {
        let status = try view.device(device)
        if status.isRemoved { throw AppendError.appRemoved }
        _ = try view.arrival(id, after: current(status), braze)
    }

    /// The canonical users of `items`, where they differ from the users of the saves.
    func owners(of items: some Sequence<PendingItem>) throws -> [UInt64: UInt64] {
        var owners: [UInt64: UInt64] = [:]
        for user in Set(items.map(\.user)) {
            let owner = try view.canonicalUser(of: user)
            if owner != user { owners[user] = owner }
        }
        return owners
    }

    private func input(_ intent: DeviceIntent, _ device: Device, _ current: Device.Current?) throws -> Device.Input {
        switch intent {
        case .launch(let kind, let lists): return .launch(kind, lists: lists)
        case .flush(let flush): return .flush(flush)
        case .send(let cause, let limit): return .send(cause, limit: limit)
        case .leave:
            if device.state.status.launch == 0 { throw AppendError.neverLaunched }
            return .leave
        case .changeUser(let id):
            if device.state.status.isRemoved { throw AppendError.appRemoved }
            return .changeUser(to: try view.arrival(id, after: current, braze))
        case .logOut: return .logOut
        case .wipe: return .wipe
        case .change(let change): return .change(change.applied(to: device.state.settings))
        case .push(let intent): return .push(try input(intent, device))
        }
    }

    /// Adds to a flush which storages the app sees, and what the SDK refuses.
    private func completed(_ flush: FlushInput, _ visible: Set<StorageCode>, _ device: Device) throws -> FlushInput {
        var flush = flush
        let names = names.map
        flush.visible = visible
        for item in device.due(flush.visible, limit: flush.limit) {
            let position = Position(rawValue: item.position)
            do {
                let header = try header(at: item.position)
                guard let saved = RecordedEvent(header, position: position, names: names),
                    let refusal = saved.event.refusalBySDK
                else { continue }
                flush.refused[item.position] = "\(refusal.place) \(refusal.reason)"
            } catch StorageError.damaged {
                // It is flushed with the others. A reader of its user gets the error.
            }
        }
        return flush
    }

    // MARK: - One thing after another

    /// Flushes what the device's launch takes, chunk by chunk, as long as the commit takes more; the answer has the
    /// positions of the `pendingFlushed` events.
    ///
    /// Once some of it was sent, `input` does not wait for the interval again.
    mutating func handOver(
        on device: Name, _ input: inout FlushInput, _ context: EventContext
    ) throws -> [Position] {
        var positions: [Position] = []
        while let position = try perform(.flush(input), on: device, context).last {
            positions.append(position)
            let body = RecordBody(try header(at: position.rawValue).body)
            if let body, !body.isQueued, !body.flushed.isEmpty { input.cause.follow() }
        }
        return positions
    }

    /// Sends what the SDK on `device` took, if it may and as long as the commit takes more; the answer has the
    /// positions of the `dataSent` events.
    mutating func send(
        from device: Name, _ cause: inout SendCause, limit: Int, _ context: EventContext
    ) throws -> [Position] {
        var positions: [Position] = []
        while let position = try perform(.send(cause, limit: limit), on: device, context).last {
            positions.append(position)
            cause.follow()
        }
        return positions
    }

    /// Processes what was captured, if a launch made the SDK: the app does not wait for it any more.
    mutating func processCaptured(on device: Name, _ context: EventContext) throws -> [Position] {
        guard try view.device(device).hasProcessible else { return [] }
        return try perform(.push(.initialize), on: device, context)
    }

    /// Lets `intent` happen on `device` if the commit takes more; the positions of its events.
    private mutating func perform(
        _ intent: DeviceIntent, on device: Name, _ context: EventContext
    ) throws -> [Position] {
        try decideNext(PreparedAppend(.device(device, intent, context)))?.positions ?? []
    }
}

extension AppendError {
    /// An input needs the app on a device from which it was removed.
    package static let appRemoved = AppendError.invalid(
        place: "The app", reason: "was removed from the device", remedy: "Launch it first: that installs it again.")
    /// An input needs an app that was launched before.
    static let neverLaunched = AppendError.invalid(
        place: "The device", reason: "was never launched", remedy: "Launch the app on it first.")
}

extension EventContext {
    func on(_ device: Name) -> EventContext {
        var context = self
        context.device = device.text
        return context
    }
}
