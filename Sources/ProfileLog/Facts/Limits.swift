/// The sizes that the log accepts.
package enum Limits {
    /// Events in one append.
    package static let eventsPerAppend = 100_000
    /// Bytes of one append's encoded events.
    package static let bytesPerAppend = 32 << 20
    /// Bytes of one encoded event.
    package static let bytesPerEvent = 1 << 20
    /// Characters of an event, attribute or property name (spec/rest-api 1.2), of a process or an app group, each a
    /// Unicode scalar.
    package static let charactersPerName = 255
    /// Bytes of an external ID, an alias, an e-mail address, a phone number.
    package static let bytesPerIdentifier = 997
    /// Bytes of a device ID: it is part of a key.
    package static let bytesPerDevice = 200
    /// Bytes of an idempotency key.
    package static let bytesPerKey = 1_000
    /// Bytes of an embedder's note of an append.
    package static let bytesPerNote = 1_024
    /// Arrays and objects within each other.
    package static let valueDepth = 64
    /// Bytes of one commit.
    package static let bytesPerCommit = 48 << 20
}
