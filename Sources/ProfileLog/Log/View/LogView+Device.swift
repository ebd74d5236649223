/// Devices, as tables `devices` and `pending` and the tail have them.
extension LogView {
    /// Calls `body` with the changes of `device` that its rows in the tables lack. A change must not be applied twice:
    /// the effect of a launch depends on the settings at that time.
    private func forEachNewChange(of device: Name, _ body: (DeviceChange) -> Void) {
        let reached = if let flush, flush.hasWritten(device: device) { flush.target } else { checkpoint }
        withTail { tail in
            for (change, position) in tail.devices[device] ?? [] where position > reached && position <= last {
                body(change)
            }
        }
    }

    /// The device without what waits on it.
    func device(_ device: Name) throws -> DeviceStatus {
        try refuseDamage()
        var status = try storedStatus(device) ?? DeviceStatus()
        forEachNewChange(of: device) { status.apply($0) }
        return status
    }

    /// Reads the device's row in table `devices`; nil if it has no row of it.
    private func storedStatus(_ device: Name) throws -> DeviceStatus? {
        if checkpoint == 0 || device.text.isEmpty { return nil }
        let key = Array(device.text.utf8)
        guard let row = try get(tables.devices, key) else {
            // If not refused, the device would get a second user.
            try key.withUnsafeBytes { key in
                try refuseBrokenPage(.devices, around: key) { DeviceRow.status($0.value) != nil }
            }
            return nil
        }
        guard let status = DeviceRow.status(row) else { throw StorageError.damaged(place: "a row of table devices") }
        return status
    }

    /// Returns the device's knowledge of its user.
    func person(_ user: UInt64) throws -> Device.Current {
        let row = try identities(of: user)
        return Device.Current(
            user: user, version: try version(of: user), identities: row.identities,
            isAnonymous: row.isAnonymous)
    }

    /// The user that `id` names, arriving on a device where `current` is.
    ///
    /// Throws an `AppendError` if that is impossible: a `braze_id` and another device's ID create no user, and an
    /// identified device cannot be anonymous again (spec/device 4, no way back).
    func arrival(_ id: UserID, after current: Device.Current?, _ braze: BrazeIDs) throws -> Device.Person {
        guard let user = try user(id, braze: braze) else {
            switch id {
            case .assignedID, .device: throw AppendError.unknownUser(id)
            case .externalID, .alias, .email, .phone: return .new(id)
            }
        }
        if let current, !current.isAnonymous, user != current.user, try person(user).isAnonymous {
            throw AppendError.invalid(
                place: "The user", reason: "is anonymous, and an identified device cannot be that again; wipe it first")
        }
        return .known(user)
    }

    /// Returns items that have not taken effect on the device, by position.
    func items(_ device: Name) throws -> [UInt64: PendingItem] {
        try items(device, stored: storedItems(device))
    }

    /// As `items(_:)`; `stored` is what table `pending` has for the device.
    func items(_ device: Name, stored: [UInt64: PendingItem]) throws -> [UInt64: PendingItem] {
        try refuseDamage()
        var items = stored
        forEachNewChange(of: device) { items.apply($0) }
        return items
    }

    /// The device with all that it holds.
    package func deviceState(_ device: Name) throws -> DeviceState {
        DeviceState(status: try self.device(device), items: try items(device))
    }

    /// Reads the device's rows in table `pending`.
    func storedItems(_ device: Name) throws -> [UInt64: PendingItem] {
        var items: [UInt64: PendingItem] = [:]
        if checkpoint == 0 { return items }
        let prefix = KeyCoding.devicePrefix(device)
        try forEachRow(of: tables.pending.table, withPrefix: prefix) { row in
            guard row.key.count == prefix.count + 20, let item = PendingRow.item(row, prefixBytes: prefix.count) else {
                throw StorageError.damaged(place: "a row of table pending")
            }
            items[item.position] = item
        }
        return items
    }

    /// Returns the number of items that the device holds. Only for the writer: the tail keeps the count after the first
    /// call.
    func load(_ device: Name) throws -> DeviceLoad {
        if let known = withTail({ $0.loads[device] }) { return known }
        let items = try items(device).values
        let queued = items.count { $0.queued != nil }
        let load = DeviceLoad(waiting: items.count - queued, queued: queued)
        tail.withWriting { $0.loads[device] = load }
        return load
    }

    /// Every device that ever had an event, ascending by bytes.
    package func devices() throws -> [Name] {
        try refuseDamage()
        var devices: Set<Name> = []
        if checkpoint > 0 {
            try forEachRow(of: tables.devices.table) { devices.insert(Name(String(decoding: $0.key, as: UTF8.self))) }
        }
        withTail { tail in
            for (device, changes) in tail.devices where changes.contains(where: { $0.position <= last }) {
                devices.insert(device)
            }
        }
        return devices.sorted()
    }
}
