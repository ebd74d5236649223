extension LogReader {
    /// The state of one device in `past`; nil if it had no event yet. As ``deviceStates(in:of:)``.
    package func deviceState(of device: Name, in past: PastHistory) throws -> DeviceState? {
        try deviceStates(in: past, of: device)[device]
    }

    /// The state of every device in `past`, by its ID, or of `device` alone. Folds the log from its start; by
    /// occurrence, with the places of all events of these devices in memory.
    package func deviceStates(in past: PastHistory, of device: Name? = nil) throws -> [Name: DeviceState] {
        try withView { view in
            let end = min(past.position.rawValue, view.last)
            if past.order != .occurred { return try view.deviceStates(upTo: end, of: device) }
            var devices: [Name: DeviceState] = [:]
            var events: [(at: Timestamp, position: UInt64)] = []
            try view.scan(from: 1, to: end) { position, header in
                guard header.isAbout(device) else { return true }
                let event = EventView(header: header, position: Position(rawValue: position), names: names)
                if past.has(event.position, event.occurredAt) {
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
                devices.apply(header, at: position, of: device)
            }
            return devices
        }
    }
}

extension LogView {
    /// The state of every device after the event at `end`, by its ID, from the log alone. A void changes none: what it
    /// voids is on the phone all the same. With `device`, that one alone.
    func deviceStates(upTo end: UInt64, of device: Name? = nil) throws -> [Name: DeviceState] {
        var devices: [Name: DeviceState] = [:]
        try scan(from: 1, to: end) { position, header in
            if header.isAbout(device) { devices.apply(header, at: position, of: device) }
            return true
        }
        return devices
    }
}

extension [Name: DeviceState] {
    /// Folds an event in: into the state of `wanted` alone, if it is named.
    fileprivate mutating func apply(_ header: RecordHeader, at position: UInt64, of wanted: Name?) {
        // A device is known also by what changes nothing there.
        for device in header.devices where self[device] == nil && wanted.map({ $0 == device }) ?? true {
            self[device] = DeviceState()
        }
        guard let body = RecordBody(header.body) else { return }
        DeviceChange.forEach(header, body, position) { device, change in self[device]?.apply(change) }
    }
}

extension RecordHeader {
    /// Tells whether the event is about `device`, or about any for nil.
    fileprivate func isAbout(_ device: Name?) -> Bool { device.map { devices.contains($0) } ?? !devices.isEmpty }
}
