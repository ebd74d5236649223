extension EventLog {
    /// The state of every device in `past`, by its ID. Folds the log from its start; by occurrence, with the places of
    /// all events of devices in memory.
    package func devices(in past: PastHistory) throws -> [Name: DeviceState] {
        guard past.order == .occurred else {
            let replayer = Replayer<PendingProjection>(self)
            try replayer.run(to: past.position)
            return replayer.devices
        }
        return try withView { view in
            var events: [(at: Timestamp, position: UInt64)] = []
            try view.scan(from: 1, to: min(past.position.rawValue, view.last)) { position, header in
                let event = EventView(header: header, position: Position(rawValue: position), names: names)
                if past.has(event.position, event.occurredAt), !event.devices.isEmpty {
                    events.append((event.occurredAt, position))
                }
                return true
            }
            events.sort { ($0.at, $0.position) < ($1.at, $1.position) }
            var states: [Name: DeviceState] = [:]
            // A device whose clock was set back may save later than the launch that took the item.
            var taken: Set<Position> = []
            for (_, position) in events {
                let header = try view.header(at: position)
                if case .outcome? = header.kind?.role, let body = RecordBody(header.body) {
                    taken.formUnion(body.flushed + body.rejected.map(\.position) + body.discarded)
                } else if taken.contains(Position(rawValue: position)) {
                    continue
                }
                let event = EventView(header: header, position: Position(rawValue: position), names: names)
                for device in event.devices {
                    states[device, default: PendingProjection.initial].see(event, on: device, names)
                }
            }
            return states
        }
    }
}

extension DeviceState {
    fileprivate mutating func see(_ event: borrowing EventView, on device: Name, _ names: NameTable) {
        PendingProjection.apply(
            EventView(header: event.header, position: event.position, names: names, device: device), to: &self)
    }
}
