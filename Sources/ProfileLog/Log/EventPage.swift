/// Some events of the log, and how far the search for them went.
public struct EventPage: Hashable, Sendable {
    /// The events.
    public var events: [RecordedEvent]
    /// The last position that was looked at.
    public var scanned: Position
    /// The last position of the log.
    public var last: Position
}
