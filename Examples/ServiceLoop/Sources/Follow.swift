import ProfileLog

/// Adds up what is spent after `position`, until the shop closes. Another process may append: the log tells.
func coinsSpent(_ log: EventLog, after position: Position) async throws -> Int64 {
    var spent: Int64 = 0
    for try await event in log.events(after: position, where: EventFilter(kinds: [.customEventLogged])) {
        guard case .customEventLogged(let custom) = event.event else { continue }
        if custom.name == "shop closed" { break }
        guard custom.name == "coins spent" else { continue }
        for property in custom.properties ?? [] {
            if case .int(let coins) = property.value { spent += coins }
        }
    }
    return spent
}

/// The events that were recorded after the one that `noted` names, and the text to note for the next call.
func newEvents(in log: EventLog, after noted: String) async throws -> (events: [RecordedEvent], noted: String) {
    guard let cursor = HistoryCursor(noted) else { return ([], noted) }
    var events: [RecordedEvent] = []
    for try await event in try log.events(after: cursor, live: false) {
        events.append(event)
    }
    guard let last = events.last else { return ([], noted) }
    return (events, try log.cursor(at: last.position).description)
}
