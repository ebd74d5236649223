/// What happens to a device: decided by the machine `Device` on what the log holds by the time of the commit.
extension Decider {
    mutating func decideDevice(
        _ device: Name, _ intent: DeviceIntent, _ context: EventContext,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt {
        let first = nextPosition
        let now = context.occurredAt?.timestamp.rawValue ?? recordedAt
        try checkClock(now)
        let state =
            intent.needsItems
            ? try view.deviceState(device, transaction)
            : DeviceState(status: try view.device(device, transaction))
        // The user of the device may have been merged into another one, from another device; and so may the users of
        // items that wait there.
        let user = try state.status.user.map { try view.survivor(of: $0, transaction) }
        let current = try user.map { try view.person($0, transaction) }
        let machine = Device(state: state, now: now, owners: try owners(of: state.items.values, transaction))
        let input = try input(intent, machine, current, transaction)
        var performance = Performance(device: device, context: context.on(device), current: user)
        for action in machine.handle(input, current: current) {
            try perform(action, &performance, transaction)
        }
        return AppendReceipt(
            first: Position(rawValue: first), places: performance.places, isRepetition: false, note: [])
    }

    /// The users that actions name, as far as they are known by now.
    private struct Performance {
        let device: Name
        let context: EventContext
        var current: UInt64?
        var made: [UserID: UInt64] = [:]
        var places: [AppendReceipt.Place] = []
        var key: AppendField?
    }

    private mutating func perform(
        _ action: Device.Action, _ performance: inout Performance, _ transaction: borrowing some Reading & ~Copyable
    ) throws {
        let user: UInt64
        switch action.user {
        case .user(let number): user = try view.survivor(of: number, transaction)
        case .current:
            user =
                try performance.current
                ?? create(.device(performance.device.text), &performance.key, &performance.places, transaction)
            performance.current = user
        case .new(let id):
            user =
                try performance.made[id] ?? create(id, &performance.key, &performance.places, transaction)
            performance.made[id] = user
        }
        try event(
            action.event, performance.context, user, &performance.key, &performance.places, transaction)
    }

    /// Whose `items` are by now, where that is another user than at the save.
    func owners(
        of items: some Sequence<PendingItem>, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt64: UInt64] {
        var owners: [UInt64: UInt64] = [:]
        for user in Set(items.map(\.user)) {
            let owner = try view.survivor(of: user, transaction)
            if owner != user { owners[user] = owner }
        }
        return owners
    }

    private func input(
        _ intent: DeviceIntent, _ device: Device, _ current: Device.Current?,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> Device.Input {
        switch intent {
        case .launch(let kind, let lists): return .launch(kind, lists: lists)
        case .leave:
            if device.state.status.launch == 0 { throw AppendError.unknownDevice }
            return .leave
        case .flush(let flush): return .flush(try completed(flush, device, transaction))
        case .send(let cause, let limit): return .send(cause, limit: limit)
        case .changeUser(let id): return .changeUser(to: try view.arrival(id, after: current, braze, transaction))
        case .logOut: return .logOut
        case .wipe: return .wipe
        case .change(let change): return .change(change.applied(to: device.state.settings))
        }
    }

    /// Adds to a flush what is in the log: which storages the app sees, and what the SDK refuses.
    private func completed(
        _ flush: FlushInput, _ device: Device, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> FlushInput {
        var flush = flush
        let names = names.map  // with those that this very commit adds
        let settings = device.state.settings
        flush.visible = Set(device.state.items.values.map(\.storage)).filter {
            settings.appSees($0.storage(names.name))
        }
        for item in device.due(flush.visible, limit: flush.limit) {
            let position = Position(rawValue: item.position)
            do {
                let header = try header(at: item.position, transaction)
                guard let saved = RecordedEvent(header, position: position, names: names),
                    let refusal = SDKRules.refusal(of: saved.event)
                else { continue }
                flush.refused[item.position] = "\(refusal.place) \(refusal.reason)"
            } catch StorageError.damaged {
                // It goes with the others: who reads its user is told the damage.
            }
        }
        return flush
    }
}

extension EventContext {
    func on(_ device: Name) -> EventContext {
        var context = self
        context.device = device.text
        return context
    }
}
