/// Appends of events: users by their IDs, then a record for each item.
extension Decider {
    mutating func decideEvents(_ append: borrowing PreparedAppend) throws {
        try checkRecordedTimes(append)
        writer.reserve(append.byteCount)
        let users = try resolve(append)
        let plans = try plan(append, users)
        var triggers: [(device: Name, position: UInt64)] = []
        try append.bytes.withUnsafeBytes { try write(append, $0, users, plans, &triggers) }
        for (device, position) in triggers { try followInApp(position, on: device) }
    }

    /// Refuses times of recording that would break the order of the log.
    private func checkRecordedTimes(_ append: borrowing PreparedAppend) throws {
        guard let first = append.recordedTimes.first, let last = append.recordedTimes.last else { return }
        precondition(append.recordedTimes.count == append.items.count, "Some events have a time of recording.")
        let place = "The time of recording"
        if nextPosition > 1, try header(at: nextPosition - 1).recordedAt > first.rawValue {
            throw AppendError.invalid(place: place, reason: "must not be before that of the log's last event")
        }
        if last.rawValue > recordedAt { throw AppendError.invalid(place: place, reason: "must not be after now") }
    }

    /// The users of the append's targets; nil for those that it creates.
    private func resolve(_ append: borrowing PreparedAppend) throws -> [UInt64?] {
        var users: [UInt64?] = []
        users.reserveCapacity(append.targets.count)
        try append.bytes.withUnsafeBytes { bytes in
            let targets = append.targets.span
            for index in targets.indices {
                let key = targets[index].key
                if let holder = targets[index].holder {
                    users.append(try resolve(holder))
                } else if key.isEmpty {
                    users.append(try resolve(targets[index].id))
                } else {
                    users.append(try view.user(identifier: bytes.slice(key), targets[index].id))
                }
                if !append.releases.isEmpty, append.releases.contains(targets[index].id) { users[index] = nil }
            }
        }
        return users
    }

    /// The user with an ID that has no key in `identifiers`. A `braze:` ID makes no user.
    private func resolve(_ id: UserID) throws -> UInt64? {
        let user = try view.user(id, braze: braze)
        if user == nil, case .assignedID = id { throw AppendError.unknownUser(id) }
        return user
    }

    private mutating func write(
        _ append: borrowing PreparedAppend, _ bytes: UnsafeRawBufferPointer, _ users: [UInt64?],
        _ plans: [Int: ItemPlan], _ triggers: inout [(device: Name, position: UInt64)]
    ) throws {
        var users = users
        try release(append.releases)
        places.reserveCapacity(append.items.count)
        // The key's field is in the first record. It counts all records, also those that create users.
        let promised = key.map { _ in
            append.items.count + append.leftOut.count + append.systemSteps.count + extraEvents(append, users, plans)
        }
        if let promised { key?.count = UInt64(promised) }
        let now = recordedAt
        defer { recordedAt = now }
        for index in append.items.indices {
            let item = append.items[index]
            if !append.recordedTimes.isEmpty { recordedAt = append.recordedTimes[index].rawValue }
            let user: UInt64
            if let known = users[item.target] {
                user = known
            } else {
                // An earlier item may have made this user.
                let id = append.targets[item.target].id
                user = try view.user(id, braze: braze) ?? create(id)
                users[item.target] = user
            }
            if !plans.isEmpty, let plan = plans[index] {
                try write(plan, append.devices[index], user, body: bytes.slice(item.body))
                if plan.mayTrigger, let device = append.devices[index] { triggers.append((device, nextPosition - 1)) }
            } else {
                try record(item.kind, user, body: bytes.slice(item.body))
            }
        }
        for (id, items) in append.leftOut {
            let user = try id.flatMap { try view.user($0, braze: braze) }
            let event = ProfileEvent.objectsLeftOut(user == nil ? items.map(\.anonymous) : items)
            try self.event(event, EventContext(source: .rest), user ?? 0)
        }
        for step in append.systemSteps { try event(.message(step), EventContext(source: .rest), 0) }
        precondition(promised == nil || promised == places.count, "A key counts other events than its append stored.")
    }

    /// Removes `addresses` from the users that they resolve to. Neither the receipt nor the key counts these events.
    private mutating func release(_ addresses: [UserID]) throws {
        if addresses.isEmpty { return }
        let field = key
        key = nil  // it is of the next record
        defer { key = field }
        for address in addresses {
            guard let holder = try view.user(address, braze: braze) else { continue }
            try event(.externalIDRemoved(address), EventContext(source: .system), holder)
        }
        places.removeAll()
    }

    /// Writes an item as it was planned.
    private mutating func write(
        _ plan: ItemPlan, _ device: Name?, _ user: UInt64, body: UnsafeRawBufferPointer
    ) throws {
        if plan.joins, let device {
            try event(.userChanged(previous: nil), EventContext(source: .system, device: device.text), user)
        }
        if let (event, context) = plan.relocated {
            try self.event(event, context, user)
        } else {
            try record(plan.kind, user, body: body)
        }
    }

    /// Returns the number of events that the append makes besides its items: for new users, and for devices that get
    /// their first.
    private func extraEvents(_ append: borrowing PreparedAppend, _ users: [UInt64?], _ plans: [Int: ItemPlan]) -> Int {
        var made: Set<UserID> = []
        var occupied: Set<Name> = []
        var extra = 0
        for (index, item) in append.items.enumerated() {
            let id = append.targets[item.target].id
            if users[item.target] == nil, !made.contains(id) {
                if case .device(let device) = id {
                    // The ID leads to the user that an earlier item put on the device.
                    if occupied.insert(Name(device)).inserted { extra += 1 }
                } else {
                    extra += 1
                }
                made.insert(id)
            }
            if plans[index]?.joins == true, let device = append.devices[index] {
                occupied.insert(device)
                extra += 1
            }
        }
        return extra
    }

    // MARK: - Names and contents

    /// Tells whether all names in the append have numbers, and those of this log.
    func isEncoded(_ append: borrowing PreparedAppend) -> Bool { append.deferred.isEmpty && isNumbered(append) }

    /// The append with the numbers of all names.
    mutating func encoded(_ append: PreparedAppend) throws -> PreparedAppend {
        try resolvingNames(of: renumbered(append))
    }

    /// Tells whether the numbers of names in the append are of this log, and none of the names was erased since.
    private func isNumbered(_ append: borrowing PreparedAppend) -> Bool {
        append.table === view.nameTable && append.names?.erasures == view.nameTable.erasures
    }

    /// Encodes an append again if it was prepared for another log, or before names were erased: its numbers of names
    /// are wrong.
    private func renumbered(_ append: PreparedAppend) -> PreparedAppend {
        guard let known = append.names, !isNumbered(append) else { return append }
        CoverageMark.hit(.namesRenumbered)
        var renumbered = append
        renumbered.preparedHash = nil
        renumbered.names = nil
        append.bytes.withUnsafeBytes { bytes in
            for (index, item) in append.items.enumerated() where append.deferred[index] == nil {
                let header = RecordHeader(kind: item.kind, body: bytes.slice(item.body))
                guard let event = RecordedEvent(header, position: .start, names: known) else {
                    preconditionFailure("An event was prepared that is none.")
                }
                renumbered.deferred[index] = .init(event: event.event, context: event.context)
            }
        }
        return renumbered
    }

    /// Encodes the events that had to wait for numbers of their names.
    private mutating func resolvingNames(of append: PreparedAppend) throws -> PreparedAppend {
        if append.deferred.isEmpty { return append }
        var resolved = append
        resolved.preparedHash = nil
        resolved.deferred = [:]
        resolved.extraBytes = 0
        for (index, deferred) in append.deferred.sorted(by: { $0.key < $1.key }) {
            scratch.removeAll()
            _ = EventEncoder.write(deferred.event, deferred.context, names: &names, to: &scratch)
            guard scratch.count <= Limits.bytesPerEvent else {
                throw AppendError.invalid(
                    place: "The event", reason: "must not be larger than \(Limits.bytesPerEvent) bytes")
            }
            let begin = resolved.bytes.count
            resolved.bytes.append(contentsOf: scratch.bytes)
            let item = append.items[index]
            resolved.items[index] = .init(target: item.target, kind: item.kind, body: begin..<resolved.bytes.count)
        }
        return resolved
    }
}
