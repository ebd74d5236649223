package import ProfileLogRequests

/// The log as server-sent events, a slice at a time: a slow reader asks for the next slice later, and nothing is kept.
package struct EventFeed: Sendable {
    private let log: EventLog
    private let filter: EventFilter
    private var scanned: Position

    /// Events that are read at once, and the bytes after which a slice ends.
    private static let maxEvents = 64
    private static let maxBytes = 256 << 10

    /// The feed that `request` asks for: after `lastEventID`, the header `Last-Event-ID`, or else after `after`.
    /// Neither may be beyond the log's end: such a reader knows another store, and would wait in silence.
    package init(_ log: EventLog, _ request: APIRequest, lastEventID: String?) throws(APIProblem) {
        do {
            var query = Query(request)
            let after = try query.number("after", 0 ... .max - 1, standard: 0)
            filter = try query.filter(now: log.options.now())
            try query.end()
            var begin = after
            if let lastEventID {
                guard let position = UInt64(lastEventID) else {
                    throw APIProblem.invalid(
                        "Last-Event-ID", "must be the `id` of an event that was received: a position")
                }
                begin = position
            }
            let last = try log.lastPosition().rawValue
            guard begin <= last else {
                throw APIProblem.invalid(
                    lastEventID == nil ? "after" : "Last-Event-ID",
                    "is beyond the end of the log, which is at position \(last)",
                    remedy: "Read from the start, without it: this is not the store that the position came from.")
            }
            scanned = Position(rawValue: begin)
            self.log = log
        } catch {
            throw APIProblem(error)
        }
    }

    /// Whether it reads this log.
    package func reads(_ log: EventLog) -> Bool { self.log === log }

    /// The next events in the form of the format; empty if there are none now.
    ///
    /// Each has its position as `id` and the object of the list as `data`. Events that the filter skips give an `id`
    /// alone, so that a reader who comes back goes on after them. A store that cannot be read gives an `error`, and the
    /// feed ends.
    package mutating func next() -> (bytes: [UInt8], isAtEnd: Bool) {
        var text: [UInt8] = []
        do {
            let page = try log.events(from: scanned.next, limit: Self.maxEvents, where: filter)
            var events = EventJSON(log: log)
            for event in page.events {
                var json = JSONWriter()
                try events.write(event, to: &json)
                text += Array("id: \(event.position.rawValue)\ndata: ".utf8)
                text += json.bytes
                text += Array("\n\n".utf8)
                scanned = event.position
                if text.count > Self.maxBytes { return (text, false) }
            }
            if page.scanned > scanned {
                scanned = page.scanned
                text += Array("id: \(scanned.rawValue)\n\n".utf8)
            }
            return (text, false)
        } catch {
            text += Array("event: error\ndata: ".utf8)
            text += APIProblem(error).answer.body
            text += Array("\n\n".utf8)
            return (text, true)
        }
    }
}
