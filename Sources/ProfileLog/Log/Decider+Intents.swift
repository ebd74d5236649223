/// Intents: what an append asks for that depends on what the log holds by the time of its commit.
extension Decider {
    mutating func decideLaunch(
        _ device: Name, _ kind: LaunchKind, _ context: EventContext, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt {
        let first = nextPosition
        var places: [AppendReceipt.Place] = []
        var key: AppendField?
        let user =
            try view.device(device, transaction).user ?? create(.device(device.text), &key, &places, transaction)
        try event(.appLaunched(kind), context.on(device), user, &key, &places, transaction)
        return AppendReceipt(first: Position(rawValue: first), places: places, isRepetition: false, note: [])
    }

    mutating func decideFlush(
        _ device: Name, _ kinds: Set<PendingKind>, _ limit: Int, _ context: EventContext,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt {
        let first = nextPosition
        let launch = try view.device(device, transaction).launch
        let names = names  // with those that this very commit adds
        let due = try view.pending(device, transaction).filter { item in
            item.position < launch && kinds.contains(item.kind) && item.storage.storage(names.name).isVisibleToApp
        }
        var places: [AppendReceipt.Place] = []
        guard let user = due.map(\.user).min() else {
            return AppendReceipt(first: Position(rawValue: first), places: [], isRepetition: false, note: [])
        }
        let items = due.filter { $0.user == user }.sorted { ($0.kind, $0.position) < ($1.kind, $1.position) }.prefix(
            limit)
        let flush = Flush(
            launch: Position(rawValue: launch), chunk: try nextChunk(launch, user, transaction),
            flushed: items.map { Position(rawValue: $0.position) })
        var key: AppendField?
        try event(.pendingFlushed(flush), context.on(device), user, &key, &places, transaction)
        return AppendReceipt(first: Position(rawValue: first), places: places, isRepetition: false, note: [])
    }

    /// How many chunks of `launch` the user's stream has.
    private func nextChunk(
        _ launch: UInt64, _ user: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt32 {
        var to = try view.version(of: user, transaction)
        while to > 0 {
            let from = to > 127 ? to - 127 : 1
            for position in try view.positions(of: user, from: from, to: to, transaction).reversed() {
                guard position > launch, let header = try header(at: position, transaction) else { return 0 }
                if header.kind == .pendingFlushed, let body = RecordBody(header.body), body.launch == launch {
                    return body.chunk + 1
                }
            }
            to = from - 1
        }
        return 0
    }

    mutating func decideDiscard(
        _ device: Name, _ selection: PendingSelection, _ actor: String, _ reason: String, _ context: EventContext,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt {
        let first = nextPosition
        let names = names  // with those that this very commit adds
        let items = try view.pending(device, transaction).filter { item in
            switch selection {
            case .all: true
            case .storage(let storage): item.storage.storage(names.name) == storage
            case .positions(let positions): positions.contains(Position(rawValue: item.position))
            }
        }
        var places: [AppendReceipt.Place] = []
        var key: AppendField?
        for (user, items) in Dictionary(grouping: items, by: \.user).sorted(by: { $0.key < $1.key }) {
            let positions = items.map { Position(rawValue: $0.position) }
            let discard = Discard(positions: positions, actor: actor, reason: reason)
            try event(.pendingDiscarded(discard), context.on(device), user, &key, &places, transaction)
        }
        return AppendReceipt(first: Position(rawValue: first), places: places, isRepetition: false, note: [])
    }

    mutating func decideChange(
        _ device: Name, to id: UserID, _ context: EventContext, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt {
        let first = nextPosition
        var places: [AppendReceipt.Place] = []
        var key: AppendField?
        let current = try view.device(device, transaction).user
        var target = try view.user(id, braze: braze, transaction)
        if target == nil {
            if case .brazeID = id { throw AppendError.unknownUser(id) }
            if let current, try isAnonymous(current, transaction) {
                // The anonymous user becomes this one, with all history (spec/device 4).
                try event(.userIdentified([id]), context.on(device), current, &key, &places, transaction)
                return AppendReceipt(first: Position(rawValue: first), places: places, isRepetition: false, note: [])
            }
            target = try create(id, &key, &places, transaction)
        }
        if let target, target != current {
            let previous = current.map(UserNumber.init(rawValue:))
            try event(.userChanged(previous: previous), context.on(device), target, &key, &places, transaction)
        }
        return AppendReceipt(first: Position(rawValue: first), places: places, isRepetition: false, note: [])
    }

    private func isAnonymous(_ user: UInt64, _ transaction: borrowing some Reading & ~Copyable) throws -> Bool {
        try view.identities(of: user, transaction).identities.allSatisfy {
            if case .device = $0 { true } else { false }
        }
    }
}

extension EventContext {
    fileprivate func on(_ device: Name) -> EventContext {
        var context = self
        context.device = device.text
        return context
    }
}
