/// Voids events, and lets voided ones count again.
extension Decider {
    mutating func decideVoid(_ request: VoidRequest, _ context: EventContext) throws {
        let position = request.position.rawValue
        guard position > 0, position < nextPosition else {
            throw AppendError(VoidRefusal.beyondEnd(last: nextPosition - 1), request)
        }
        let target = try header(at: position)
        if let refusal = VoidRefusal(of: target) { throw AppendError(refusal, request) }
        let status = try voidStatus(of: position, target)
        if let refusal = VoidRefusal(of: status, request) { throw AppendError(refusal, request) }
        let voiding = Voiding(
            target: request.position, since: Version(rawValue: status.since), actor: request.actor,
            reason: request.reason)
        try event(request.isVoid ? .eventVoided(voiding) : .eventUnvoided(voiding), context, status.user)
    }

    private func voidStatus(of position: UInt64, _ target: RecordHeader) throws -> VoidStatus {
        try view.voidStatus(of: position, target) { try header(at: $0) }
    }
}
