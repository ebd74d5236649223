/// A request that an event be void, or count again. The commit decides whether it can.
package struct VoidRequest: Hashable, Sendable {
    /// The event.
    package var position: Position
    /// Tells whether it is to be void; false to let it count again.
    package var isVoid: Bool
    /// The name of who asks for it; kept in the log for ever.
    package var actor: String
    /// The reason; kept in the log for ever.
    package var reason: String

    /// `actor` asks for it for `reason`.
    package init(_ position: Position, isVoid: Bool, actor: String, reason: String) {
        self.position = position
        self.isVoid = isVoid
        self.actor = actor
        self.reason = reason
    }

    /// The hash of the content, by which two requests under one idempotency key are the same.
    var contentHash: [UInt8] {
        var content: [UInt8] = []
        content.appendBigEndian(position.rawValue)
        content.append(isVoid ? 1 : 0)
        content.appendBigEndian(UInt32(actor.utf8.count))
        content += Array(actor.utf8) + Array(reason.utf8)
        return KeyCoding.hash(content)
    }
}

/// The reason why an event cannot be voided or unvoided.
package enum VoidRefusal: Hashable, Sendable {
    /// The log ends before the position.
    case beyondEnd(last: UInt64)
    /// The event was erased.
    case erased
    /// An event of this kind cannot be void: only saved and logged ones can.
    case kind(EventKind?)
    /// The event says itself that the one at this position is void, or that it counts.
    case voiding(EventKind, Position)
    /// The event is void, by the one at this position.
    case isVoid(by: Position)
    /// The event counts.
    case counts
}

extension VoidRefusal {
    /// The rule that the event breaks: the end of a sentence that begins "The event at position 12".
    package var reason: String {
        switch self {
        case .beyondEnd(let last): "does not exist: the log ends at position \(last)"
        case .erased: "was erased, and has no content that could count"
        case .kind(let kind): "is of the kind \((kind ?? .unknown).name), and only what was saved or logged can be void"
        case .voiding(.eventVoided, let target): "is no event that can be void: it voids position \(target.rawValue)"
        case .voiding(_, let target):
            "is no event that can be void: it lets position \(target.rawValue) count again"
        case .isVoid(let void): "is void already, since position \(void.rawValue)"
        case .counts: "is not void"
        }
    }

    /// The next step.
    package var remedy: String {
        switch self {
        case .beyondEnd, .counts, .erased: "See `log.history` for positions of events."
        case .voiding(.eventVoided, let target):
            "`log.unvoid` of position \(target.rawValue) lets that one count again."
        case .voiding(_, let target): "`log.void` of position \(target.rawValue) makes that one void."
        case .isVoid: "`log.unvoid` lets it count again."
        case .kind(let kind):
            switch kind?.role {
            case .outcome, .device(.launched): "Void the items that it flushed, one by one."
            case .identity(.merged): "A merge stays; void events that it brought, one by one."
            case .identity(.erased): "An erasure cannot be undone."
            case .identity(.created): "A user stays; erase one with `log.erase`."
            case .identity: "Give the ID again, or to another user."
            case .content, .device, .message, .note, nil: "It changes no attribute, event or purchase of a profile."
            }
        }
    }

    /// Finds the reason why the event of `target` can never be void; nil if it can.
    package init?(of target: RecordHeader) {
        guard case .content = target.kind?.role else {
            if target.isVoiding, let kind = target.kind, let other = RecordBody(target.body)?.target {
                self = .voiding(kind, other)
            } else {
                self = .kind(target.kind)
            }
            return
        }
        guard RecordBody(target.body)?.erased == true else { return nil }
        self = .erased
    }

    /// Finds the reason why an event with this status cannot be what `request` wants; nil if it can.
    init?(of status: VoidStatus, _ request: VoidRequest) {
        switch (status.void, request.isVoid) {
        case (let void?, true): self = .isVoid(by: Position(rawValue: void))
        case (nil, false): self = .counts
        case (nil, true), (.some, false): return nil
        }
    }
}

extension AppendError {
    init(_ refusal: VoidRefusal, _ request: VoidRequest) {
        self = .invalid(
            place: "The event at position \(request.position.rawValue)", reason: refusal.reason, remedy: refusal.remedy)
    }
}

extension PreparedAppend {
    /// An append that voids an event, or lets it count again. Refused with `invalid` if that cannot be (`VoidRefusal`).
    ///
    /// The event goes into the stream of the person's canonical user. A key makes the same request, sent again, change
    /// nothing.
    package static func void(
        _ request: VoidRequest, context: EventContext, idempotencyKey key: String? = nil
    ) throws(AppendError) -> PreparedAppend {
        try check(actor: request.actor, reason: request.reason)
        var append = PreparedAppend(.void(request, context))
        append.idempotencyKey = try checked(key: key ?? "")
        append.content = request.contentHash
        return append
    }
}
