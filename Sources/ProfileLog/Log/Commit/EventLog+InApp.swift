/// In-app messages: declarations, and what happens to them on a device.
extension EventLog {
    /// Declares the in-app messages of the workspace: a session that starts from now on has these. `definitions` is a
    /// list that `InAppMessage.list` accepts. The receipt is empty if they are declared already.
    @discardableResult
    package func declareMessages(_ definitions: AttributeValue) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend(.messages(definitions)))
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
}
