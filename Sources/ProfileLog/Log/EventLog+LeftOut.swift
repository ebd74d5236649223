/// Something that a request said and that was not stored.
package struct LeftOutObject: Hashable, Sendable {
    /// Position of the `objectsLeftOut` event that tells of it.
    package var position: Position
    /// Whom it was about; the system if that was nobody known.
    package var user: UserNumber
    /// When the request came.
    package var recordedAt: Timestamp
    /// Which part of the request, and why.
    package var what: LeftOut
}

extension EventLog {
    /// All that requests said and that was not stored, in the order of their positions. Looks at the kind of every event of the log.
    package func leftOut(of user: UserNumber? = nil) throws -> [LeftOutObject] {
        let wanted = try user.map { try survivor(of: $0) }
        var found: [LeftOutObject] = []
        var next = Position.start.next
        while true {
            let page = try events(from: next, limit: 10_000, where: EventFilter(kinds: [.objectsLeftOut]))
            for event in page.events {
                guard case .objectsLeftOut(let items) = event.event else { continue }
                if let wanted, try survivor(of: event.user) != wanted { continue }
                found += items.map {
                    LeftOutObject(
                        position: event.position, user: event.user, recordedAt: event.recordedAt, what: $0)
                }
            }
            if page.scanned >= page.last { return found }
            next = page.scanned.next
        }
    }
}
