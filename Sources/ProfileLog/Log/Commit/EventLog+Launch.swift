extension EventLog {
    /// Starts the app on `device`, and hands to its SDK what waits there and the app can see: custom events, then
    /// custom attributes, then user attributes, each in saved order. The SDK sends it at once if it may; until then it
    /// is queued and takes no effect.
    ///
    /// A launch that died before its flush was done is finished first, under its own position. What is saved while this
    /// one runs waits for the next. It is two commits, the start of the app and all that its SDK does then: a caller
    /// that dies in between leaves a launch that the next call finishes.
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
        // One sending for all launches, users and events here: only the first waits for the interval.
        var flush = FlushInput(limit: options.itemsPerFlush, cause: kind.isInBackground ? .timer : .foreground)
        var report = LaunchReport()
        try commit { decider -> Void? in
            // Before the first unlock nothing can be read.
            if kind != .locked { report.finished += try decider.handOver(on: Name(device), &flush, context) }
            guard let receipt = try decider.decideNext(launch) else { return nil }
            report.user = receipt.places.last?.user
            report.position =
                try receipt.positions.first { try decider.header(at: $0.rawValue).kind == .appLaunched } ?? receipt.last
            return ()
        }
        if step == .launched { return report }
        flush.staysQueued = step == .handed
        let done = try startSDK(on: device, flush, context)
        (report.sent, report.flushed) = (done.sent, done.flushed)
        return report
    }

    /// Decides the actions of the SDK on `device` after the app's start, in one commit: it processes captured events,
    /// sends its queue, and takes waiting items. The answer has the positions of the events.
    func startSDK(
        on device: String, _ flush: FlushInput, _ context: EventContext
    ) throws(AppendError) -> (processed: [Position], sent: [Position], flushed: [Position]) {
        var (flush, processed, sent, flushed) = (flush, [Position](), [Position](), [Position]())
        let name = Name(device)
        try commit { decider -> Void? in
            processed += try decider.processCaptured(on: name, context)
            if !flush.staysQueued { sent += try decider.send(from: name, &flush.cause, limit: flush.limit, context) }
            flushed += try decider.handOver(on: name, &flush, context)
            return decider.takesMore ? () : nil
        }
        return (processed, sent, flushed)
    }

    /// The app leaves the foreground on `device`. The answer is the event's position; nil if it was not there.
    package func leave(device: String, context: EventContext = EventContext(source: .app)) throws(AppendError)
        -> Position?
    {
        let receipt = try commit(PreparedAppend.device(device, .leave, context))
        return receipt.places.isEmpty ? nil : receipt.last
    }

    /// Puts the user with this ID on `device`; an unknown user is made. What the SDK had taken of the user before is
    /// sent first. An anonymous user becomes the new one, or is merged into a known one (spec/rest-api 9, number 4).
    ///
    /// Refused for an unknown `braze_id` or device, and for an anonymous user on an identified device (spec/device 4,
    /// no way back).
    package func changeUser(
        device: String, to user: UserID, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> AppendReceipt {
        try Validation.check(user)
        let change = try PreparedAppend.device(device, .changeUser(user), context)
        return try commit { decider in
            var cause = SendCause.foreground
            _ = try decider.send(from: Name(device), &cause, limit: options.itemsPerFlush, context)
            return try decider.takesMore ? decider.decide(change) : nil
        }
    }

    /// The user of `device` logs out: the SDK forgets what it has not sent, and is disabled (spec/device 4, no way
    /// back).
    package func logOut(
        device: String, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend.device(device, .logOut, context))
    }

    /// Lets the SDK on `device` forget its user and discard its queue.
    package func wipe(
        device: String, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend.device(device, .wipe, context))
    }

    /// The user of the device removes the app: what waits there, what the SDK has not sent and who was there go with
    /// it. The next launch installs it again, for a new anonymous user.
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
        let append = try PreparedAppend.device(device, .change(change), context)
        var changed: AppendReceipt?
        return try commit { decider in
            let receipt = try changed ?? decider.decide(append)
            changed = receipt
            var cause = SendCause.timer
            _ = try decider.send(from: Name(device), &cause, limit: options.itemsPerFlush, context)
            return decider.takesMore ? receipt : nil
        }
    }

    /// Lets the SDK on `device` send what it took, if it may: by the request policy, at the time in `context`, unless
    /// the app asks for it (`requestImmediateDataFlush`). The answer has the positions of the `dataSent` events.
    package func send(
        from device: String, _ cause: SendCause, _ context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> [Position] {
        try Validation.check(device: device)
        try Validation.check(time: context.occurredAt)
        var (cause, positions) = (cause, [Position]())
        return try commit { decider in
            positions += try decider.send(from: Name(device), &cause, limit: options.itemsPerFlush, context)
            return decider.takesMore ? positions : nil
        }
    }

    /// Runs `body`, which decides one thing after another, and commits all of it at once; again as long as it gives
    /// nil, when the commit takes no more. What throws stores nothing.
    @discardableResult
    func commit<Value: Sendable>(_ body: (inout Decider) throws -> Value?) throws(AppendError) -> Value {
        do {
            while true { if let value = try committer.commit(body) { return value } }
        } catch {
            throw AppendError(error)
        }
    }
}

/// A point in a launch after which the app can die.
package enum LaunchStep: String, Sendable, CaseIterable {
    /// The launch is in the log: what waits is retrieved with it, for an item belongs to the first launch after it.
    case launched
    /// Waiting items were handed to the SDK, and with that removed from the storage; nothing was sent.
    case handed
}

/// The report of a launch.
public struct LaunchReport: Hashable, Sendable {
    /// Position of its `appLaunched`.
    package var position: Position = .start
    /// The user who was on the device.
    package var user: UserNumber?
    /// Positions of the `pendingFlushed` events by which an earlier launch was finished.
    package var finished: [Position] = []
    /// Positions of the `dataSent` events by which the SDK sent what it had taken before.
    package var sent: [Position] = []
    /// Positions of the `pendingFlushed` events of this launch.
    public var flushed: [Position] = []
}
