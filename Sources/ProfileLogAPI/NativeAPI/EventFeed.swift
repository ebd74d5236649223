public import ProfileLog

/// The log as server-sent events, a slice at a time. A slow reader asks for the next slice later, and none is
/// kept for it.
public struct EventFeed: Sendable {
    private let log: EventLog
    private let filter: EventFilter
    private var scanned: Position

    /// Events that are read at once, and the bytes after which a slice ends.
    private static let mostEvents = 64
    private static let mostBytes = 256 << 10

    /// The feed that `request` asks for: after `lastEventID`, the header `Last-Event-ID`, or else after `after`.
    public init(_ api: API, _ request: APIRequest, lastEventID: String?) throws(APIRefusal) {
        do {
            var query = Query(request)
            let after = try query.number("after", 0 ... .max - 1, standard: 0)
            filter = try query.filter()
            try query.end()
            scanned = Position(rawValue: after)
            if let lastEventID {
                guard let position = UInt64(lastEventID), position < .max else {
                    throw APIProblem.invalid(
                        "Last-Event-ID", "must be the `id` of an event that was received: a position")
                }
                scanned = Position(rawValue: position)
            }
            log = api.log
        } catch {
            throw APIRefusal(answer: APIProblem(error).answer)
        }
    }

    /// Whether it tells what is in this log.
    public func reads(_ log: EventLog) -> Bool { self.log === log }

    /// The next events in the form of the format; empty if there are none now.
    ///
    /// Each has its position as `id` and the object of the list as `data`. What a filter leaves out gives an `id`
    /// alone, so that a reader who comes back goes on after it. A store that cannot be read gives an `error`, after
    /// which the feed ends.
    public mutating func next() -> (bytes: [UInt8], isAtEnd: Bool) {
        var text: [UInt8] = []
        do {
            let page = try log.events(from: scanned.next, limit: Self.mostEvents, where: filter)
            var events = EventJSON(log: log)
            for event in page.events {
                var json = JSONWriter()
                try events.write(event, to: &json)
                Self.append("id: \(event.position.rawValue)\ndata: ", to: &text)
                text += json.bytes
                Self.append("\n\n", to: &text)
                scanned = event.position
                if text.count > Self.mostBytes { return (text, false) }
            }
            if page.scanned > scanned {
                scanned = page.scanned
                Self.append("id: \(scanned.rawValue)\n\n", to: &text)
            }
            return (text, false)
        } catch {
            Self.append("event: error\ndata: ", to: &text)
            text += APIProblem(error).answer.body
            Self.append("\n\n", to: &text)
            return (text, true)
        }
    }

    private static func append(_ line: String, to text: inout [UInt8]) { text.append(contentsOf: line.utf8) }
}
