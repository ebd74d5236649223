extension EventLog {
    /// Starts the app on `device`, and hands to its SDK what waits there and the app can see: custom events, then
    /// custom attributes, then user attributes, each in saved order. The SDK sends it at once if it may; until then it
    /// is queued and takes no effect.
    ///
    /// A launch that died before its flush was done is finished first, under its own position. What is saved while this
    /// one runs waits for the next. Each step is durable on its own, so a caller that dies leaves a launch that the
    /// next call finishes.
    public func launch(
        device: String, kind: LaunchKind = .cold, flushing lists: Set<PendingKind> = Set(PendingKind.allCases),
        context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> LaunchReport {
        try launch(device: device, kind: kind, flushing: lists, dyingAfter: nil, context: context)
    }

    /// As ``launch(device:kind:flushing:context:)``; the app dies after `step`.
    package func launch(
        device: String, kind: LaunchKind = .cold, flushing lists: Set<PendingKind> = PendingKind.all,
        dyingAfter step: LaunchStep?, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> LaunchReport {
        let launch = try PreparedAppend.device(device, .launch(kind, lists: lists), context)
        var flush = FlushInput(limit: options.itemsPerFlush, cause: kind.isInBackground ? .timer : .foreground)
        var report = LaunchReport()
        // One sending for all launches, users and events here: only the first waits for the interval.
        // Before the first unlock nothing can be read, also for that.
        if kind != .locked { report.finished = try handOver(on: device, &flush, context) }
        let receipt = try commit(launch)
        report.position = try position(of: .appLaunched, in: receipt)
        report.user = receipt.places.last?.user
        if step == .launched { return report }
        try processCaptured(on: device, context)
        flush.staysQueued = step == .handed
        if step == nil { report.sent = try send(device, flush.cause, context) }
        if !report.sent.isEmpty { flush.cause = .foreground }
        report.flushed = try handOver(on: device, &flush, context)
        return report
    }

    /// The app leaves the foreground on `device`. The answer is the event's position; nil if it was not there.
    package func leave(device: String, context: EventContext = EventContext(source: .app)) throws(AppendError)
        -> Position?
    {
        let receipt = try commit(PreparedAppend.device(device, .leave, context))
        return receipt.places.isEmpty ? nil : receipt.last
    }

    /// From now on, `device` is that of the user with this ID, who is made if unknown. What the SDK had taken of the
    /// user before is sent first. An anonymous user becomes the new one, or is merged into a known one (spec/rest-api
    /// 9, number 4).
    ///
    /// Refused for an unknown `braze_id` or device, and for an anonymous user on an identified device (spec/device 4,
    /// no way back).
    package func changeUser(
        device: String, to user: UserID, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> AppendReceipt {
        try Validation.check(user)
        let change = try PreparedAppend.device(device, .changeUser(user), context)
        try refuseArrival(of: user, on: Name(device))
        _ = try send(device, .foreground, context)
        return try commit(change)
    }

    /// A refused change must not send anything first.
    private func refuseArrival(of user: UserID, on device: Name) throws(AppendError) {
        try reading { view in
            let current = try view.device(device).user.map { try view.person(view.canonicalUser(of: $0)) }
            _ = try view.arrival(user, after: current, braze)
        }
    }

    /// Runs `body` on a view. Its errors refuse the append.
    func reading<Result>(_ body: (LogView) throws -> Result) throws(AppendError) -> Result {
        do { return try withView(body) } catch { throw AppendError(error) }
    }

    /// The user of `device` logs out: the SDK forgets what it has not sent, and is disabled (spec/device 4, no way
    /// back).
    package func logOut(
        device: String, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend.device(device, .logOut, context))
    }

    /// The SDK on `device` forgets who was there and what it has not sent.
    package func wipe(
        device: String, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend.device(device, .wipe, context))
    }

    /// The user of the device removes the app: what waits there, what the SDK has not sent and who was there go with it.
    /// The next launch installs it again, for a new anonymous user.
    package func removeApp(
        device: String, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend.device(device, .push(.removeApp), context))
    }

    /// Changes how `device` is set up, and sends what it then may.
    package func change(
        _ change: SettingsChange, of device: String, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> AppendReceipt {
        if let timeout = change.sessionTimeout, timeout < 1 {
            throw .invalid(place: "The session timeout", reason: "must be at least 1 second")
        }
        for target in change.withoutAppGroup + change.withAppGroup {
            try Validation.check(name: target.process, "The process's name")
            try Validation.check(appGroup: target.group)
        }
        let receipt = try commit(PreparedAppend.device(device, .change(change), context))
        _ = try send(device, .timer, context)
        return receipt
    }

    /// The SDK on `device` sends what it took, if it may: `isRequested` says that the app asked for it
    /// (`requestImmediateDataFlush`), else the request policy decides, by the time in `context`. The answer has the
    /// positions of the `dataSent` events.
    package func send(
        _ device: String, isRequested: Bool, _ context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> [Position] {
        try send(device, isRequested ? .request : .timer, context)
    }

    func send(_ device: String, _ cause: SendCause, _ context: EventContext) throws(AppendError) -> [Position] {
        var cause = cause
        var positions: [Position] = []
        while true {
            let sending = DeviceIntent.send(cause, limit: options.itemsPerFlush)
            let receipt = try commit(PreparedAppend.device(device, sending, context))
            if receipt.places.isEmpty { return positions }
            positions.append(receipt.last)
            // All that is due is sent: the interval counts only for the first.
            if cause == .timer { cause = .foreground }
        }
    }

    /// The position of the event of this kind in an append.
    private func position(of kind: EventKind, in receipt: AppendReceipt) throws(AppendError) -> Position {
        try reading { view in
            let positions = receipt.first.rawValue...receipt.last.rawValue
            return try positions.first { try view.header(at: $0).kind == kind }.map(Position.init) ?? receipt.last
        }
    }

    /// Flushes all that the launch takes. Once some of it was sent, `input` does not wait for the interval again.
    func handOver(
        on device: String, _ input: inout FlushInput, _ context: EventContext
    ) throws(AppendError) -> [Position] {
        var positions: [Position] = []
        while true {
            let receipt = try commit(PreparedAppend.device(device, .flush(input), context))
            if receipt.places.isEmpty { return positions }
            positions.append(receipt.last)
            if input.cause == .timer, try hasSent(in: receipt.last) { input.cause = .foreground }
        }
    }

    /// Whether items took effect with the `pendingFlushed` at `position`.
    private func hasSent(in position: Position) throws(AppendError) -> Bool {
        try reading { view in
            RecordBody(try view.header(at: position.rawValue).body).map { !$0.isQueued && !$0.flushed.isEmpty } ?? false
        }
    }
}

/// A point in a launch after which the app can die.
package enum LaunchStep: String, Sendable, CaseIterable {
    /// The launch is in the log: what waits is retrieved with it, for an item belongs to the first launch after it.
    case launched
    /// What waited was handed to the SDK, and with that removed from the storage; nothing was sent.
    case handed
}

/// What a launch did.
public struct LaunchReport: Hashable, Sendable {
    /// Position of its `appLaunched`.
    package var position: Position = .start
    /// Who was on the device.
    package var user: UserNumber?
    /// Positions of the `pendingFlushed` events by which an earlier launch was finished.
    package var finished: [Position] = []
    /// Positions of the `dataSent` events by which the SDK sent what it had taken before.
    package var sent: [Position] = []
    /// Positions of the `pendingFlushed` events of this launch.
    public var flushed: [Position] = []
}
