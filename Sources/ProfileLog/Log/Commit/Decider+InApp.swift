/// In-app messages: the machine `InAppMachine`, with what the log holds under the lock.
///
/// Its steps follow from what is stored. Unless they are what the append is about, its receipt does not have them.
extension Decider {
    /// Decides an action of the app or the user with a message.
    mutating func decideInApp(_ device: Name, _ action: InAppAction, _ context: EventContext) throws {
        try checkClock(time(context))
        let status = try status(of: device)
        if status.launch == 0 { throw AppendError.neverLaunched }
        guard status.inApp != nil else {
            if action == .timePassed { return }
            throw AppendError.invalid(
                place: "The device", reason: "has no in-app messages",
                remedy: "Declare some, and start a session on it.")
        }
        let before = places.count
        let reaction = try react(.action(action), on: device, cause: nil, context)
        guard let refusal = reaction?.refusal else { return }
        // What became ready during the decision is kept for the next request.
        if places.count > before { return }
        throw AppendError.invalid(
            place: "The action", reason: "is impossible: \(refusal)",
            remedy: "See what the device has of its messages.")
    }

    /// Decides the steps that became ready on the device before something happens there. In the background no timer
    /// runs.
    mutating func decideInApp(dueOn device: Name, _ context: EventContext) throws {
        let status = try status(of: device)
        guard let due = status.inApp?.nextDue, due <= time(context), status.isInForeground else { return }
        try aside { try $0.react(.action(.timePassed), on: device, cause: nil, context) }
        asideCount = 0  // they come before the append's own events
    }

    /// Decides the messages' steps after the start of the app at `position`: a new process has no stack.
    mutating func followLaunch(
        startsProcess: Bool, at position: UInt64, on device: Name, _ context: EventContext
    ) throws {
        try follow(.launch(startsProcess: startsProcess), on: device, Position(rawValue: position), context)
    }

    /// Decides the messages' steps after the event at `position`, which the device made. For a launch: `followLaunch`.
    mutating func followInApp(
        _ event: ProfileEvent, at position: UInt64, on device: Name, _ context: EventContext
    ) throws {
        let cause = Position(rawValue: position)
        if case .sessionStarted = event {
            guard let input = try sessionStart(on: device) else { return }
            try follow(input, on: device, cause, context)
        } else if case .message(let step) = event {
            guard try reachesSDKOpened(step, on: device) else { return }
            try follow(.event(.pushOpened(campaign: step.message)), on: device, cause, context)
        } else if case .pendingFlushed(let flush) = event {
            for position in flush.flushed {
                guard let event = try savedEvent(at: position.rawValue) else { continue }
                try follow(.event(.customEvent(event)), on: device, position, context)
            }
        } else if let trigger = TriggerEvent(logged: event) {
            try follow(.event(trigger), on: device, cause, context)
        }
    }

    /// Tells whether the SDK gets to know with `step` that a push was opened: at once, or when it exists.
    private mutating func reachesSDKOpened(_ step: MessageStep, on device: Name) throws -> Bool {
        if step.stage == .opened { return try status(of: device).settings.push.hasInstance }
        guard step.stage == .processed, let captured = step.cause else { return false }
        guard case .message(let capture) = try recorded(at: captured.rawValue).event, let cause = capture.cause,
            case .message(let opened) = try recorded(at: cause.rawValue).event
        else { return false }
        return opened.stage == .opened
    }

    /// The custom event that was saved at `position`; nil if it is another item, or was erased or damaged since.
    private func savedEvent(at position: UInt64) throws -> CustomEvent? {
        do {
            guard case .customEventSaved(let event) = try recorded(at: position).event else { return nil }
            return event
        } catch StorageError.damaged {
            return nil
        }
    }

    private mutating func follow(
        _ input: InAppMachine.Input, on device: Name, _ cause: Position, _ context: EventContext
    ) throws {
        try aside { try $0.react(input, on: device, cause: cause, context) }
    }

    /// An event that the append stored on a device with in-app messages.
    mutating func followInApp(_ position: UInt64, on device: Name) throws {
        let event = try recorded(at: position)
        var context = event.context
        (context.item, context.storage, context.replaces) = (nil, nil, nil)
        try followInApp(event.event, at: position, on: device, context)
    }

    // MARK: - The machine

    private func time(_ context: EventContext) -> Int64 { context.occurredAt?.timestamp.rawValue ?? recordedAt }

    /// Runs the machine and stores its steps; nil if the device has no messages or no user.
    private mutating func react(
        _ input: InAppMachine.Input, on device: Name, cause: Position?, _ context: EventContext
    ) throws -> InAppMachine.Reaction? {
        let status = try status(of: device)
        let state = status.inApp ?? InAppState()
        var catalogue = state.catalogue
        if case .sessionStart(_, let new) = input { catalogue = new } else if status.inApp == nil { return nil }
        guard let user = try status.user.map({ try view.canonicalUser(of: $0) }) else { return nil }
        let machine = InAppMachine(
            state: state, table: try table(catalogue),
            device: .init(
                user: user, isForeground: status.isInForeground, isOnline: status.settings.isOnline,
                settings: status.settings.inApp),
            now: time(context))
        let reaction = machine.handle(input, cause: cause)
        var context = context.on(device)
        context.process = DeviceStorage.app
        for step in reaction.steps {
            // The end of a message is told to the user who triggered it, also when another one is on the device.
            let owner = try state.owner(of: step).map { try view.canonicalUser(of: $0) }
            try event(.message(step), context, owner ?? user)
        }
        return reaction
    }

    /// The start of a session: a device with a network gets the messages that are declared now (spec/device 5,
    /// delivery). Nil if nothing was ever declared, or the SDK is disabled.
    private mutating func sessionStart(on device: Name) throws -> InAppMachine.Input? {
        var newest = try newestCatalogue()
        if newest == 0, tables.standard != .array([]) {
            newest = nextPosition
            try aside { decider in
                try decider.declare(decider.tables.standard)
                return nil
            }
        }
        if newest == 0 { return nil }
        let status = try status(of: device)
        guard status.settings.isSDKEnabled else { return nil }
        let catalogue = status.settings.isOnline ? newest : status.inApp?.catalogue ?? 0
        if catalogue == 0 { return nil }
        return .sessionStart(eligible: try table(catalogue).messages.map(\.id), catalogue: catalogue)
    }

    /// Runs `body`, whose events are not in the receipt of the append. They count towards the size of the commit.
    private mutating func aside(
        _ body: (inout Decider) throws -> InAppMachine.Reaction?
    ) throws {
        let before = places.count
        _ = try body(&self)
        asideCount += UInt64(places.count - before)
        places.removeLast(places.count - before)
        // If other appends are in the commit, this one is decided again without them.
        guard byteCount <= Limits.bytesPerCommit else {
            throw AppendError.tooLarge(limit: "\(Limits.bytesPerCommit) bytes with the steps of its in-app messages")
        }
    }

    // MARK: - Declarations

    /// Stores `definitions` as what devices get from now on; nothing if they are declared already.
    mutating func declare(_ definitions: AttributeValue) throws {
        let newest = try newestCatalogue()
        if newest > 0, try declared(at: newest) == definitions { return }
        if newest == 0, definitions == .array([]) { return }
        let step = MessageStep(
            .sent, of: "", by: .inAppMessage, content: InAppContent.declaration(definitions))
        let size = writer.count
        try event(.message(step), EventContext(source: .system), 0)
        guard writer.count - size <= Limits.bytesPerEvent else {
            throw AppendError.invalid(
                place: "The messages", reason: "must not be larger than \(Limits.bytesPerEvent) bytes together")
        }
    }

    private mutating func table(_ catalogue: UInt64) throws -> TriggerTable {
        // One of this very commit may still be taken back.
        guard isStored(catalogue) else {
            if let known = newTables[catalogue] { return known }
            let table = try compiled(catalogue)
            newTables[catalogue] = table
            return table
        }
        return try tables.table(catalogue) { try compiled(catalogue) }
    }

    private func compiled(_ catalogue: UInt64) throws -> TriggerTable {
        do {
            return try TriggerTable(InAppMessage.stored(declared(at: catalogue) ?? .array([]), at: "messages").messages)
        } catch is DocumentError {
            throw StorageError.damaged(place: "the declaration of messages at position \(catalogue)")
        }
    }

    private func declared(at position: UInt64) throws -> AttributeValue? {
        guard position > 0, case .message(let step) = try recorded(at: position).event else { return nil }
        return InAppContent(step.content).definitions
    }

    /// The position of the newest declaration; 0 if there is none. Searches the events without a user from their end to
    /// where the last search began.
    private mutating func newestCatalogue() throws -> UInt64 {
        let known = newestDeclaration ?? tables.newest
        let version = try view.version(of: 0)
        if version <= known.version { return known.position }
        var position = known.position
        try view.forEachPosition(of: 0, after: known.version, upTo: version) { place in
            guard try header(at: place).kind == .messageSent else { return true }
            position = place
            return false
        }
        let newest = MessageTables.Newest(version: version, position: position)
        newestDeclaration = newest
        // What this very commit adds may still be taken back.
        if try view.positions(of: 0, from: version, to: version).allSatisfy({ isStored($0) }) { tables.newest = newest }
        return position
    }

    func recorded(at position: UInt64) throws -> RecordedEvent {
        guard
            let event = RecordedEvent(
                try header(at: position), position: Position(rawValue: position), names: names.map)
        else { throw StorageError.damaged(place: "the record at position \(position)") }
        return event
    }
}
