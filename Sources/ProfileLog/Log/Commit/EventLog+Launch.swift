extension EventLog {
    /// Starts the app on `device`, and hands to its SDK what waits there and the app can see: custom events, then
    /// custom attributes, then user attributes, each in saved order. The SDK sends it at once if it may; until then it
    /// is queued and takes no effect.
    ///
    /// A launch that died before its flush was done is finished first, under its own position. What is saved while this
    /// one runs waits for the next. It is two commits, the start of the app and all that its SDK does then; more if
    /// that is more than 128 events. A caller that dies in between leaves a launch that the next call finishes.
    @discardableResult
    public func launch(
        device: String, kind: LaunchKind = .cold, flushing lists: Set<PendingKind> = Set(PendingKind.allCases),
        context: EventContext = .app
    ) throws(AppendError) -> LaunchReport {
        try launch(device: device, kind: kind, flushing: lists, dyingAfter: nil, context: context)
    }

    /// As ``launch(device:kind:flushing:context:)``; the app dies after `step`.
    package func launch(
        device: String, kind: LaunchKind = .cold, flushing lists: Set<PendingKind> = PendingKind.all,
        dyingAfter step: LaunchStep?, context: EventContext = .app
    ) throws(AppendError) -> LaunchReport {
        let name = Name(device)
        let launch = try PreparedAppend.device(device, .launch(kind, lists: lists), context)
        // One sending for all launches, users and events here: only the first waits for the interval.
        let flush = FlushInput(limit: options.itemsPerFlush, cause: kind.isInBackground ? .timer : .foreground)
        var begun = (report: LaunchReport(), flush: flush)
        try commit(&begun) { decider, begun -> Void? in
            // Before the first unlock nothing can be read.
            if kind != .locked {
                let finished = try decider.handOver(on: name, &begun.flush, context)
                begun.report.finished += finished
                try decider.note(finished, in: &begun.report.outcomes)
            }
            guard let receipt = try decider.decideNext(launch) else { return nil }
            begun.report.user = receipt.places.last?.user
            begun.report.position =
                try receipt.positions.first { try decider.header(at: $0.rawValue).kind == .appLaunched } ?? receipt.last
            return ()
        }
        if step == .launched { return begun.report }
        begun.flush.staysQueued = step == .handed
        let done = try startSDK(on: device, begun.flush, context)
        (begun.report.sent, begun.report.flushed) = (done.sent, done.flushed)
        begun.report.outcomes.merge(done.outcomes) { $1 }
        return begun.report
    }

    /// The actions of an SDK after the app's start.
    struct Started {
        fileprivate var flush: FlushInput
        /// The positions of their events.
        fileprivate(set) var processed: [Position] = []
        fileprivate(set) var sent: [Position] = []
        fileprivate(set) var flushed: [Position] = []
        /// The outcomes of items.
        fileprivate(set) var outcomes: [Position: ItemOutcome] = [:]
    }

    /// Decides the actions of the SDK on `device` after the app's start, in one commit if they are few: it processes
    /// captured events, sends its queue, and takes waiting items.
    func startSDK(on device: String, _ flush: FlushInput, _ context: EventContext) throws(AppendError) -> Started {
        var started = Started(flush: flush)
        let name = Name(device)
        try commit(&started) { decider, done -> Void? in
            done.processed += try decider.processCaptured(on: name, context)
            var ends: [Position] = []
            if !flush.staysQueued {
                ends = try decider.send(from: name, &done.flush.cause, limit: flush.limit, context)
            }
            done.sent += ends
            let handed = try decider.handOver(on: name, &done.flush, context)
            done.flushed += handed
            try decider.note(ends + handed, in: &done.outcomes)
            return decider.takesMore ? () : nil
        }
        return started
    }

    /// The app leaves the foreground on `device`. The answer is the event's position; nil if it was not there.
    package func leave(device: String, context: EventContext = .app) throws(AppendError)
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
        device: String, to user: UserID, context: EventContext = .app
    ) throws(AppendError) -> AppendReceipt {
        try changeUserAndSend(device: device, to: user, context: context).receipt
    }

    /// As ``changeUser(device:to:context:)``; `sent` has the positions of the `dataSent` events.
    package func changeUserAndSend(
        device: String, to user: UserID, context: EventContext
    ) throws(AppendError) -> (receipt: AppendReceipt, sent: [Position]) {
        try Validation.check(user)
        let change = try PreparedAppend.device(device, .changeUser(user), context)
        var done = (sent: [Position](), cause: SendCause.foreground)
        let receipt: AppendReceipt = try commit(&done) { decider, done in
            // What is sent may be a commit of its own.
            try decider.checkArrival(of: user, on: Name(device))
            done.sent += try decider.send(from: Name(device), &done.cause, limit: options.itemsPerFlush, context)
            return try decider.takesMore ? decider.decide(change) : nil
        }
        return (receipt, done.sent)
    }

    /// The user of `device` logs out: the SDK forgets what it has not sent, and is disabled (spec/device 4, no way
    /// back).
    package func logOut(
        device: String, context: EventContext = .app
    ) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend.device(device, .logOut, context))
    }

    /// Lets the SDK on `device` forget its user and discard its queue.
    package func wipe(
        device: String, context: EventContext = .app
    ) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend.device(device, .wipe, context))
    }

    /// The user of the device removes the app: what waits there, what the SDK has not sent and who was there go with
    /// it. The next launch installs it again, for a new anonymous user.
    package func removeApp(
        device: String, context: EventContext = .app
    ) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend.device(device, .push(.removeApp), context))
    }

    /// Changes how `device` is set up, and sends what it then may.
    package func change(
        _ change: SettingsChange, of device: String, context: EventContext = .app
    ) throws(AppendError) -> AppendReceipt {
        try changeAndSend(change, of: device, context: context).receipt
    }

    /// As ``change(_:of:context:)``; `sent` has the positions of the `dataSent` events.
    package func changeAndSend(
        _ change: SettingsChange, of device: String, context: EventContext
    ) throws(AppendError) -> (receipt: AppendReceipt, sent: [Position]) {
        if let timeout = change.sessionTimeout, timeout < 1 {
            throw .invalid(place: "The session timeout", reason: "must be at least 1 second")
        }
        for target in change.withoutAppGroup + change.withAppGroup {
            try Validation.check(name: target.process, "The process's name")
            try Validation.check(appGroup: target.group)
        }
        let append = try PreparedAppend.device(device, .change(change), context)
        var done = (changed: AppendReceipt?.none, sent: [Position](), cause: SendCause.timer)
        let receipt: AppendReceipt = try commit(&done) { decider, done in
            let receipt = try done.changed ?? decider.decide(append)
            done.changed = receipt
            done.sent += try decider.send(from: Name(device), &done.cause, limit: options.itemsPerFlush, context)
            return decider.takesMore ? receipt : nil
        }
        return (receipt, done.sent)
    }

    /// Lets the SDK on `device` send what it took, if it may: by the request policy, at the time in `context`, unless
    /// the app asks for it (`requestImmediateDataFlush`). The answer has the positions of the `dataSent` events.
    package func send(
        from device: String, _ cause: SendCause, _ context: EventContext = .app
    ) throws(AppendError) -> [Position] {
        try Validation.check(device: device)
        try Validation.check(time: context.occurredAt)
        var done = (cause: cause, positions: [Position]())
        return try commit(&done) { decider, done in
            done.positions += try decider.send(from: Name(device), &done.cause, limit: options.itemsPerFlush, context)
            return decider.takesMore ? done.positions : nil
        }
    }

    /// Runs `body`, which decides one thing after another, and commits all of it at once; again as long as it gives
    /// nil, when the commit takes no more: `state` goes from one commit to the next. If `body` throws, nothing of the
    /// commit is stored, unless a step was refused after a part of it was recorded: the steps before it are.
    @discardableResult
    func commit<State, Value: Sendable>(
        _ state: inout State, _ body: (inout Decider, inout State) throws -> Value?
    ) throws(AppendError) -> Value {
        var mostSteps = Decider.stepsPerCommit
        var isBegun = false
        do {
            while true {
                var next = state
                do {
                    let value = try committer.commit(mostSteps: mostSteps) { decider in
                        // In a cluster it may be decided more than once.
                        next = state
                        return try body(&decider, &next)
                    }
                    (state, mostSteps) = (next, Decider.stepsPerCommit)
                    if let value { return value }
                    isBegun = true
                } catch let half as Decider.HalfDecided {
                    // Those before it are decided again without it.
                    CoverageMark.hit(.givenUp)
                    mostSteps = half.decidedBefore
                }
            }
        } catch {
            let error = AppendError(error)
            // "Nothing was stored" would let another node do all of it again.
            if isBegun, case .unavailable = error { throw .outcomePending }
            throw error
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
    package internal(set) var flushed: [Position] = []
    /// The items that the launch decided, those of an earlier launch that it finished included: what became of each.
    public internal(set) var outcomes: [Position: ItemOutcome] = [:]
}

extension Decider {
    /// Adds what the `pendingFlushed` and `dataSent` events at `positions`, ascending, decide.
    fileprivate func note(_ positions: [Position], in outcomes: inout [Position: ItemOutcome]) throws {
        for position in positions {
            guard let body = RecordBody(try header(at: position.rawValue).body) else {
                throw StorageError.damaged(place: "the record at position \(position.rawValue)")
            }
            for item in body.flushed { outcomes[item] = body.isQueued ? .queued : .flushed(position) }
            for refusal in body.rejected { outcomes[refusal.position] = .rejected(position, reason: refusal.reason) }
        }
    }
}
