/// The sizes that the log accepts.
public enum Limits {
    /// Events in one append.
    public static let eventsPerAppend = 100_000
    /// Bytes of one append's encoded events.
    public static let bytesPerAppend = 32 << 20
    /// Bytes of one encoded event.
    public static let bytesPerEvent = 1 << 20
    /// Characters of an event, attribute or property name (spec/rest-api 1.2), of a process or an app group, each a Unicode scalar.
    public static let charactersPerName = 255
    /// Bytes of an external ID, an alias, an e-mail address, a phone number.
    public static let bytesPerIdentifier = 997
    /// Bytes of a device ID: it is part of a key.
    public static let bytesPerDevice = 200
    /// Bytes of an idempotency key.
    public static let bytesPerKey = 1_000
    /// Arrays and objects within each other.
    public static let valueDepth = 64
    /// Bytes of one commit.
    package static let bytesPerCommit = 48 << 20
}
