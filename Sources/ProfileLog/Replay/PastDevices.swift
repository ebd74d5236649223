extension LogReader {
    /// The state of every device in `past`, by its ID. Folds the log from its start; by occurrence, with the places of
    /// all events of devices in memory.
    package func deviceStates(in past: PastHistory) throws -> [Name: DeviceState] {
        try withView { view in
            let (driver, fold) = (try states.driver(view), ProjectionFold<PendingProjection>())
            var devices: [Name: DeviceState] = [:]
            func see(_ header: RecordHeader, at position: UInt64) {
                driver.forEachDevice(of: header, at: position) { device, event, rules in
                    fold.apply(event, to: &devices[device, default: fold.initial], under: rules)
                }
            }
            let end = min(past.position.rawValue, view.last)
            guard past.order == .occurred else {
                try view.scan(from: 1, to: end) { position, header in
                    see(header, at: position)
                    return true
                }
                return devices
            }
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
                see(header, at: position)
            }
            return devices
        }
    }
}
