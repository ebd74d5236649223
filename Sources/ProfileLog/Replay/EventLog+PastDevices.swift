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
            let (driver, fold) = (try self.states.driver(view), ProjectionFold<PendingProjection>())
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
                driver.forEachDevice(of: header, at: position) { device, event, rules in
                    fold.apply(event, to: &states[device, default: fold.initial], under: rules)
                }
            }
            return states
        }
    }
}
