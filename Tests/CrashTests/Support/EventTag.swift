import ProfileLog

/// The tag that the child process writes into each of its events: its append, its number there, and their count.
struct EventTag: Hashable, Sendable {
    /// `ROUND.APPEND`
    let append: String
    let index: Int
    let count: Int

    init?(_ text: String) {
        let parts = text.split(separator: ".")
        guard parts.count == 4, let index = Int(parts[2]), let count = Int(parts[3]) else { return nil }
        append = "\(parts[0]).\(parts[1])"
        self.index = index
        self.count = count
    }
}

extension RecordedEvent {
    /// The event's tag; nil for events that the log itself added.
    var tag: EventTag? {
        switch event {
        case .customEventSaved(let event), .customEventLogged(let event): Self.tag(event.properties)
        case .purchaseLogged(let purchase): Self.tag(purchase.properties)
        case .customAttributesSaved(let changes), .customAttributesChanged(let changes):
            changes.lazy.compactMap { if case .set(.string(let text)) = $0.operation { EventTag(text) } else { nil } }
                .first
        case .userAttributeSaved(let change): Self.tag(change)
        case .userAttributesChanged(let changes): changes.first.flatMap { Self.tag($0) }
        default: nil
        }
    }

    private static func tag(_ properties: [AttributeValue.Member]?) -> EventTag? {
        guard case .string(let text)? = properties?.first(where: { $0.key == "tag" })?.value else { return nil }
        return EventTag(text)
    }

    private static func tag(_ change: UserAttributeChange) -> EventTag? {
        if case .string(let text) = change.value { EventTag(text) } else { nil }
    }
}

/// Returns the fingerprint of tagged events, as one number (FNV-1a), as the child prints it with its receipts.
func fingerprint(_ events: [RecordedEvent]) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for event in events {
        for byte in "\(event.event)\(String(describing: event.context.occurredAt))".utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
    }
    return String(hash, radix: 16)
}
