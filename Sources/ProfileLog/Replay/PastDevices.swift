extension LogReader {
    /// The state of every device in `past`, by its ID. Folds the log from its start; by occurrence, with the places of
    /// all events of devices in memory.
    package func deviceStates(in past: PastHistory) throws -> [Name: DeviceState] {
        try withView { view in
            let end = min(past.position.rawValue, view.last)
            if past.order != .occurred { return try view.deviceStates(upTo: end) }
            var devices: [Name: DeviceState] = [:]
            var events: [(at: Timestamp, position: UInt64)] = []
            try view.scan(from: 1, to: end) { position, header in
                let event = EventView(header: header, position: Position(rawValue: position), names: names)
                if past.has(event.position, event.occurredAt), !event.devices.isEmpty {
                    events.append((event.occurredAt, position))
                }
                return true
            }
            events.sort { ($0.at, $0.position) < ($1.at, $1.position) }
            // A device whose clock was set back may save later than the launch that took the item.
            var taken: Set<Position> = []
            for (_, position) in events {
                let header = try view.header(at: position)
                if case .outcome? = header.kind?.role, let body = RecordBody(header.body) {
                    taken.formUnion(body.flushed + body.rejected.map(\.position) + body.discarded)
                } else if taken.contains(Position(rawValue: position)) {
                    continue
                }
                devices.apply(header, at: position)
            }
            return devices
        }
    }
}

extension LogView {
    /// The state of every device after the event at `end`, by its ID, from the log alone. A void changes none: what it
    /// voids is on the phone all the same.
    func deviceStates(upTo end: UInt64) throws -> [Name: DeviceState] {
        var devices: [Name: DeviceState] = [:]
        try scan(from: 1, to: end) { position, header in
            devices.apply(header, at: position)
            return true
        }
        return devices
    }
}

extension [Name: DeviceState] {
    fileprivate mutating func apply(_ header: RecordHeader, at position: UInt64) {
        // A device is known also by what changes nothing there.
        for device in header.devices where self[device] == nil { self[device] = DeviceState() }
        guard let body = RecordBody(header.body) else { return }
        DeviceChange.forEach(header, body, position) { device, change in self[device]?.apply(change) }
    }
}
