/// Reads the log page by page from a position on: what follows it pulls, so a slow reader costs one page.
package struct EventPages: Sendable {
    /// The last position that was looked at.
    package private(set) var scanned: Position
    /// Tells whether the log went no further when the last page was read.
    package private(set) var isAtEnd = false
    /// Only events of this user and of who was merged into them; nil for all.
    package var life: MergedLife?
    private let filter: EventFilter
    private var keys: AppendKeys?

    /// Pages of the events after `position`; `withKeys` gives each the idempotency key of its append.
    package init(after position: Position, where filter: EventFilter, withKeys: Bool = false) {
        (scanned, self.filter, keys) = (position, filter, withKeys ? AppendKeys() : nil)
    }

    /// The next events: at most `limit`, of together about `maxBytes` in the log.
    mutating func next(in log: LogReader, limit: Int, maxBytes: Int = .max) throws -> [RecordedEvent] {
        let page = try log.events.page(
            beyond: scanned, .forward, of: life, limit: limit, maxBytes: maxBytes, where: filter, keys: &keys)
        scanned = page.scanned
        isAtEnd = scanned >= page.last
        return page.events
    }

    /// Calls `body` with each of the next events, until it returns false. The events after that one are the next page.
    package mutating func next(
        in log: LogReader, limit: Int, maxBytes: Int = .max, _ body: (RecordedEvent) throws -> Bool
    ) throws {
        let begin = scanned
        let page = try next(in: log, limit: limit, maxBytes: maxBytes)
        let end = (scanned, isAtEnd)
        (scanned, isAtEnd) = (begin, false)
        for event in page {
            let goesOn = try body(event)
            scanned = event.position
            if !goesOn { return }
        }
        (scanned, isAtEnd) = end
    }
}
