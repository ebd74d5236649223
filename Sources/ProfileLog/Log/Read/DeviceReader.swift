/// Reads devices, and what is on them.
package struct DeviceReader: ReaderPart {
    let log: LogReader

    /// Every device that has an event.
    package func all() throws -> [Name] { try withView { try $0.devices() } }

    /// The pending-flush state of `device`: as it is kept live.
    package func state(of device: String) throws -> DeviceState {
        try withView { view in try view.deviceState(Name(device)) }
    }

    /// The device with this ID; nil if it has no event.
    package func find(_ device: String) throws -> DeviceState? {
        let state = try state(of: device)
        return state.status == DeviceStatus() ? nil : state
    }

    // MARK: - What waits

    /// Returns items that wait on `device` for a launch, in the order in which they were saved.
    package func pending(on device: String) throws -> [RecordedEvent] {
        try withView { view in try pending(in: view.deviceState(Name(device)), view) }
    }

    /// Returns items that waited on a device for a launch when it was in `state`.
    package func pending(in state: DeviceState) throws -> [RecordedEvent] {
        try withView { try pending(in: state, $0) }
    }

    private func pending(in state: DeviceState, _ view: LogView) throws -> [RecordedEvent] {
        try events(state.items.values.filter { $0.queued == nil }.sorted { $0.position < $1.position }, view)
    }

    /// Returns the number of items that wait on `device` for a launch, without reading them.
    package func pendingCount(on device: String) throws -> Int {
        try withView { view in
            try view.items(Name(device)).values.count { $0.queued == nil }
        }
    }

    /// The SDK's queue on `device`, in the order in which it sends it.
    package func queue(on device: String) throws -> [RecordedEvent] {
        try withView { view in try events(view.deviceState(Name(device)).queue, view) }
    }

    /// The SDK's queue on a device that was in `state`.
    package func queue(in state: DeviceState) throws -> [RecordedEvent] {
        try withView { try events(state.queue, $0) }
    }

    private func events(_ items: [PendingItem], _ view: LogView) throws -> [RecordedEvent] {
        let names = names.current
        return try view.withCursor(view.tables.log) { log in
            try items.map { item in
                let header = try RecordHeader(log.find(item.position), at: item.position)
                return try RecordedEvent(reading: header, at: item.position, names: names)
            }
        }
    }

    // MARK: - Messages

    /// The messages that are declared now, or were in `past`, and the position of the declaration; `.start` if there
    /// never was one.
    package func declaredMessages(
        in past: PastHistory? = nil
    ) throws -> (position: Position, definitions: AttributeValue) {
        guard let last = try declaration(in: past), case .message(let step) = last.event,
            let definitions = InAppContent(step.content).definitions
        else { return (.start, options.inAppMessages) }
        return (last.position, definitions)
    }

    /// The newest declaration of messages; nil if there was none.
    private func declaration(in past: PastHistory?) throws -> RecordedEvent? {
        let isDeclaration = EventFilter(kinds: [.messageSent])
        guard let past else {
            return try log.events.history(of: .system, direction: .backward, limit: 1, where: isDeclaration).first
        }
        let last = try log.past.version(of: .system, at: past.position)
        if last == .none { return nil }
        guard past.order == .occurred else {
            return try log.events.history(
                of: .system, to: last, direction: .backward, limit: 1, where: isDeclaration
            ).first
        }
        return try log.events.history(of: .system, to: last, where: isDeclaration)
            .filter { past.has($0.position, $0.occurredAt.timestamp) }
            .max { ($0.occurredAt.timestamp, $0.position) < ($1.occurredAt.timestamp, $1.position) }
    }

    /// Returns the state of the messages of `device`; nil if it never got any.
    package func inAppState(of device: String) throws -> InAppState? {
        try withView { try $0.device(Name(device)).inApp }
    }

    package func pushes(on device: String) throws -> PushState {
        try withView { try $0.device(Name(device)).pushes }
    }
}
