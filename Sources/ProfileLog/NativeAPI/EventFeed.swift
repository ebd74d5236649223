package import ProfileLogRequests

/// The log as server-sent events, a slice at a time: a slow reader asks for the next slice later, and nothing is kept.
package struct EventFeed: Sendable {
    private let log: EventLog
    private var pages: EventPages
    /// The user whose events it has; nil for all.
    private var user: EventUser?

    /// Events that are read at once, and the bytes after which a slice ends.
    private static let maxEvents = 64
    private static let maxBytes = 256 << 10

    /// The feed that `request` asks for: after `lastEventID`, the header `Last-Event-ID`, or else after `after`.
    /// Neither may be of another history, or beyond the log's end: such a reader would wait in silence.
    package init(_ log: EventLog, _ request: APIRequest, lastEventID: String?) throws(APIError) {
        do {
            var query = Query(request)
            let after = try query.text("after")
            var user = try EventUser(&query)
            let filter = try query.filter(now: log.options.now())
            try query.end()
            let place = lastEventID == nil ? "after" : "Last-Event-ID"
            let begin = try HistoryCursor.read(lastEventID ?? after ?? "0", place)
            try begin.check(log.reader, place)
            var pages = EventPages(after: begin.position, where: filter, withKeys: true)
            pages.life = try log.withReader { try user?.find(in: $0) }
            (self.log, self.pages, self.user) = (log, pages, user)
        } catch {
            throw APIError(error)
        }
    }

    /// Tells whether it reads this log.
    package func reads(_ log: EventLog) -> Bool { self.log === log }

    /// The first line of the stream, a comment: the `store` and the `history` of the answers of the list, by which a
    /// reader sees that the store was restored.
    package func firstLine() -> String {
        // A store that cannot be read says so in the first slice.
        let history = (try? log.history()).map { ", history \($0.text)" } ?? ""
        return ": events follow, store \(Hexadecimal.text(log.storeID))\(history)\n\n"
    }

    /// Returns when the log has events that were not sent yet, and at `deadline`. Throws as ``EventLog/wait(for:)``.
    package func wait(until deadline: ContinuousClock.Instant) async throws {
        _ = try await log.wait(after: pages.scanned, until: deadline)
    }

    /// The next events in the form of the format; empty if there are none now.
    ///
    /// Each has its cursor as `id` and the object of the list as `data`. Events that the filter skips give an `id`
    /// only, so that a reader who comes back goes on after them. A store that cannot be read gives an `error`, and the
    /// feed ends.
    package mutating func next() -> (bytes: [UInt8], isAtEnd: Bool) {
        var text: [UInt8] = []
        do {
            return try log.withReader { log in
                pages.life = try user?.find(in: log)
                var events = EventJSON(log: log)
                var sent = pages.scanned
                try pages.next(in: log, limit: Self.maxEvents) { event in
                    var json = JSONWriter()
                    try events.write(event, to: &json)
                    text += Array("id: \(log.cursor(of: event))\ndata: ".utf8)
                    text += json.bytes
                    text += Array("\n\n".utf8)
                    sent = event.position
                    return text.count <= Self.maxBytes
                }
                if pages.scanned > sent { text += Array("id: \(try log.cursor(at: pages.scanned))\n\n".utf8) }
                return (text, false)
            }
        } catch {
            text += Array("event: error\ndata: ".utf8)
            text += APIError(error).answer.body
            text += Array("\n\n".utf8)
            return (text, true)
        }
    }
}
