/// Adds to what happens to pushes what the log holds about them.
extension Decider {
    /// Throws an `AppendError` if it cannot happen.
    func input(_ intent: PushIntent, _ device: Device) throws -> PushInput {
        let state = device.state.status.pushes
        var input = PushInput(intent)
        switch intent {
        case .deliver, .receive: input.pushes = try state.pushes.map { try known($0) }
        case .initialize: input.captured = try state.captured.map { try known($0) }
        case .removeApp:
            input.pushes = try state.pushes.filter { !$0.isUnderway }.map { try known($0) }
            input.captured = try state.captured.map { try known($0) }
        case .forceQuit: break
        case .expand, .input, .act, .open, .dismiss:
            let push: PushProgress? =
                switch intent.choice {
                case .at(let position): state.push(at: position)
                case .newest, nil: state.newestShown
                }
            if let push { input.pushes = [try known(push)] }
        }
        if let refusal = PushMachine(device, input).refusal {
            throw AppendError.invalid(place: refusal.place, reason: refusal.reason, remedy: refusal.remedy)
        }
        return input
    }

    private func known(_ progress: PushProgress) throws -> KnownPush {
        let (step, at) = try step(at: progress.sent)
        return KnownPush(progress, DeliveredPush(step, sentAt: at))
    }

    private func known(_ captured: CapturedPush) throws -> KnownCapture {
        let capture = try step(at: captured.position).step
        var (step, at) = try step(at: captured.position)
        var wasOpened = false
        // From the capture to what was sent.
        while step.stage != .sent, let cause = step.cause {
            (step, at) = try self.step(at: cause.rawValue)
            if step.stage == .opened { wasOpened = true }
        }
        return KnownCapture(
            captured, DeliveredPush(step, sentAt: at), action: capture.action, wasOpened: wasOpened)
    }

    /// The step of a message at `position`, and when it was taken.
    private func step(at position: UInt64) throws -> (step: MessageStep, at: Int64) {
        let header = try header(at: position)
        guard let event = RecordedEvent(header, position: Position(rawValue: position), names: names.map),
            case .message(let step) = event.event
        else { throw StorageError.damaged(place: "the record at position \(position) is no step of a message") }
        return (step, event.occurredAt.timestamp.rawValue)
    }
}
