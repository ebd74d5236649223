internal import ProfileLogRequests

/// Items in answers: what was saved or logged on a device, and what became of it.
extension NativeAPI {
    /// What an answer says about an item in addition to what it is.
    struct ItemState {
        /// The member `outcome`.
        var outcome: String
        var reason: String?
        var why: QueueReason?
        /// The event that decided it.
        var decision: RecordedEvent?
    }

    /// The members that say what was saved or logged: of an outcome, and of an item that waits.
    static func write(_ item: RecordedEvent, _ events: inout EventJSON, to json: inout JSONWriter) throws {
        json.key("position")
        json.value(item.position.rawValue)
        json.member("kind", PendingKind(item.event.kind)?.key ?? item.event.kind.name)
        json.member("user", try events.id(of: item.user))
        json.key("user_number")
        json.value(item.user.rawValue)
        json.key("saved_at")
        json.value(item.occurredAt)
        json.member("process", item.context.process?.text)
        json.member("storage", item.context.storage?.name)
        json.member("item", item.context.item)
        if let replaced = item.context.replaces {
            json.key("replaces")
            json.value(replaced.rawValue)
        }
        EventJSON.writeContent(item.event, to: &json)
    }

    /// One object: the item at `position` and its state.
    func write(
        _ position: Position, _ state: ItemState, _ events: inout EventJSON, to json: inout JSONWriter
    ) throws {
        if let item = try log.event(at: position) { try write(item, state, &events, to: &json) }
    }

    func write(
        _ item: RecordedEvent, _ state: ItemState, _ events: inout EventJSON, to json: inout JSONWriter
    ) throws {
        json.beginObject()
        try Self.write(item, &events, to: &json)
        json.key("outcome")
        json.value(state.outcome)
        json.member("why", state.why?.rawValue)
        json.member("reason", state.reason ?? state.why?.words)
        if let decision = state.decision {
            json.key("waited_s")
            json.value(item.seconds(until: decision.occurredAt.timestamp))
            json.key("flush")
            json.value(decision.position.rawValue)
        }
        json.endObject()
    }

    /// An array of what the `dataSent` events at `positions` name.
    func writeSent(_ positions: [Position], _ events: inout EventJSON, to json: inout JSONWriter) throws {
        json.beginArray()
        for position in positions {
            guard let event = try log.event(at: position), case .dataSent(let items) = event.event else { continue }
            for item in items { try write(item, ItemState(outcome: "sent", decision: event), &events, to: &json) }
        }
        json.endArray()
    }
}

extension RecordedEvent {
    /// From the moment at which it happened to `time`; negative if clocks disagree.
    func seconds(until time: Timestamp) -> Double {
        Double(time.rawValue - occurredAt.timestamp.rawValue) / 1_000_000
    }
}
