internal import ProfileLogMessaging
internal import ProfileLogRequests

extension AppendBuilder {
    /// Adds `event` of `user`; one that cannot be stored as a send that did not take place, with the reason. Returns
    /// whether it did.
    mutating func add(_ event: SendEvent, to user: UserID) throws(AppendError) -> Bool {
        do throws(AppendError) {
            try add(.message(event.step), event.context, to: user)
            return event.step.stage == .sent
        } catch {
            guard case .invalid(let place, let reason, _) = error, !event.step.content.isEmpty else { throw error }
            let step = event.step
            let notSent = MessageStep(
                .notSent, of: step.message, by: step.channel, cause: step.cause,
                reason: SendReason.notStorable.reason(step.channel.name, "\(place) \(reason)"),
                dispatch: step.dispatch)
            try add(.message(notSent), EventContext(source: event.context.source), to: user)
            return false
        }
    }
}
