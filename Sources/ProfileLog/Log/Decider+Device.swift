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
        // Whoever was on the device may have gone into another user, from another device.
        let user = try state.status.user.map { try view.survivor(of: $0, transaction) }
        let current = try user.map { try self.current($0, transaction) }
        let machine = Device(state: state, now: now)
        let input = try input(intent, machine, transaction)
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

    private func current(
        _ user: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> Device.Current {
        .init(
            user: user, version: try view.version(of: user, transaction),
            identities: try view.identities(of: user, transaction).identities)
    }

    private func input(
        _ intent: DeviceIntent, _ device: Device, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> Device.Input {
        switch intent {
        case .launch(let kind, let lists): return .launch(kind, lists: lists)
        case .leave:
            if device.state.status.launch == 0 { throw AppendError.unknownDevice }
            return .leave
        case .flush(let flush): return .flush(try completed(flush, device, transaction))
        case .send(let cause, let limit): return .send(cause, limit: limit)
        case .changeUser(let id):
            if let user = try view.user(id, braze: braze, transaction) { return .changeUser(to: .known(user)) }
            if case .brazeID = id { throw AppendError.unknownUser(id) }
            return .changeUser(to: .new(id))
        case .logOut: return .logOut
        case .wipe: return .wipe
        case .change(let change): return .change(change.applied(to: device.state.settings))
        }
    }

    /// Adds to a flush what stands in the log: which storages the app sees, what the SDK refuses, which chunk it is.
    private func completed(
        _ flush: FlushInput, _ device: Device, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> FlushInput {
        var flush = flush
        let names = names.map  // with those that this very commit adds
        let settings = device.state.settings
        flush.visible = Set(device.state.items.values.map(\.storage)).filter {
            settings.appSees($0.storage(names.name))
        }
        let due = device.due(flush.visible, limit: flush.limit)
        for item in due {
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
        if let user = due.first?.user {
            let owner = try view.survivor(of: user, transaction)
            flush.chunks[user] = try nextChunk(device.state.status.launch, owner, transaction)
        }
        return flush
    }

    /// How many chunks of `launch` the user's stream has.
    private func nextChunk(
        _ launch: UInt64, _ user: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt32 {
        var to = try view.version(of: user, transaction)
        while to > 0 {
            let from = to > 127 ? to - 127 : 1
            for position in try view.positions(of: user, from: from, to: to, transaction).reversed() {
                guard position > launch else { return 0 }
                let header = try header(at: position, transaction)
                if header.kind == .pendingFlushed, let body = RecordBody(header.body), body.launch == launch {
                    return body.chunk + 1
                }
            }
            to = from - 1
        }
        return 0
    }
}

extension EventContext {
    func on(_ device: Name) -> EventContext {
        var context = self
        context.device = device.text
        return context
    }
}
