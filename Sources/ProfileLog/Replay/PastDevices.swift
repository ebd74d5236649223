extension LogReader {
    /// The most events of devices that are put in order at once.
    package static let mostOrdered = 4_000_000

    /// The state of one device in `past`; nil if it had no event yet. As ``deviceStates(in:of:mostOrdered:)``.
    package func deviceState(of device: Name, in past: PastHistory) throws -> DeviceState? {
        try deviceStates(in: past, of: [device])[device]
    }

    /// The state of every device in `past`, by its ID, or of those of `wanted` that had one. Folds the log from its
    /// start, in one scan.
    ///
    /// By occurrence, with the places of all events of these devices in memory: more of them than `mostOrdered` throw
    /// `ReadError.tooManyToOrder`.
    package func deviceStates(
        in past: PastHistory, of wanted: Set<Name>? = nil, mostOrdered: Int = LogReader.mostOrdered
    ) throws -> [Name: DeviceState] {
        try withView { view in
            let end = min(past.position.rawValue, view.last)
            if past.order != .occurred { return try view.deviceStates(upTo: end, of: wanted) }
            var devices: [Name: DeviceState] = [:]
            var events: [(at: Timestamp, position: UInt64)] = []
            try view.scan(from: 1, to: end) { position, header in
                guard header.isAbout(wanted) else { return true }
                let event = EventView(header: header, position: Position(rawValue: position), names: names)
                if past.has(event.position, event.occurredAt) {
                    if events.count == mostOrdered { throw ReadError.tooManyToOrder(most: mostOrdered) }
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
                devices.apply(header, at: position, of: wanted)
            }
            return devices
        }
    }
}

extension LogView {
    /// The state of every device after the event at `end`, by its ID, from the log alone. A void changes none: what it
    /// voids is on the phone all the same. With `wanted`, of those alone.
    func deviceStates(upTo end: UInt64, of wanted: Set<Name>? = nil) throws -> [Name: DeviceState] {
        var devices: [Name: DeviceState] = [:]
        try scan(from: 1, to: end) { position, header in
            if header.isAbout(wanted) { devices.apply(header, at: position, of: wanted) }
            return true
        }
        return devices
    }
}

extension [Name: DeviceState] {
    /// Folds an event in: into the states of those of `wanted`, if it is not nil. What changes nothing on a device
    /// makes none known: so it is with the live ones.
    fileprivate mutating func apply(_ header: RecordHeader, at position: UInt64, of wanted: Set<Name>?) {
        guard let body = RecordBody(header.body) else { return }
        DeviceChange.forEach(header, body, position) { device, change in
            guard wanted?.contains(device) ?? true else { return }
            self[device, default: DeviceState()].apply(change)
        }
    }
}

extension RecordHeader {
    /// Tells whether the event is about one of `wanted`, or about any device for nil.
    fileprivate func isAbout(_ wanted: Set<Name>?) -> Bool {
        let devices = devices
        return wanted.map { wanted in devices.contains { wanted.contains($0) } } ?? !devices.isEmpty
    }
}
