/// In-app messages: declarations, and what happens to them on a device.
extension EventLog {
    /// Declares the in-app messages of the workspace: a session that starts from now on has these. `definitions` is a
    /// list that `InAppMessage.list` accepts. The receipt is empty if they are declared already.
    @discardableResult
    package func declareMessages(_ definitions: AttributeValue) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend(.messages(definitions)))
    }

    /// The messages that are declared now, and the position of the declaration; `.start` if there never was one.
    package func declaredMessages() throws -> (position: Position, definitions: AttributeValue) {
        let last = try history(
            of: UserNumber(rawValue: 0), direction: .backward, limit: 1, where: EventFilter(kinds: [.messageSent])
        ).first
        guard let last, case .message(let step) = last.event,
            let definitions = InAppContent(step.content).definitions
        else { return (.start, options.inAppMessages) }
        return (last.position, definitions)
    }

    /// Lets `action` happen on `device`. The receipt has the steps that follow.
    ///
    ///     try log.message(.close, on: "phone")
    package func message(
        _ action: InAppAction, on device: String, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> AppendReceipt {
        try Validation.check(device: device)
        try Validation.check(time: context.occurredAt)
        return try commit(PreparedAppend(.inApp(Name(device), action, context)))
    }

    /// Returns the state of the messages of `device`; nil if it never got any.
    package func inAppState(of device: String) throws -> InAppState? {
        try withView { try $0.device(Name(device)).inApp }
    }
}
