/// Voids events, and lets voided ones count again.
extension Decider {
    /// Answers the earlier receipt if the append is a repetition.
    mutating func decideVoid(
        _ request: VoidRequest, _ context: EventContext, of append: borrowing PreparedAppend
    ) throws -> AppendReceipt? {
        if !append.idempotencyKey.isEmpty {
            let content = request.contentHash
            if let receipt = try earlierReceipt(append, content) { return receipt }
            key = AppendField(key: append.idempotencyKey, content: content, count: 1, note: append.note)
        }
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
        return nil
    }

    private func voidStatus(of position: UInt64, _ target: RecordHeader) throws -> VoidStatus {
        try view.voidStatus(of: position, target) { try header(at: $0) }
    }
}
