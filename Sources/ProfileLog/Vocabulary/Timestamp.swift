/// A moment in microseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: RawRepresentable, Hashable, Comparable, Sendable {
    /// Microseconds since 1970 UTC; negative before.
    public var rawValue: Int64

    /// Makes the moment with this many microseconds since 1970 UTC.
    @inlinable
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Earlier before later.
    @inlinable
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.rawValue < right.rawValue }
}

/// A moment as a sender gave it: the instant, and the offset from UTC that stood beside it.
public struct OccurredAt: Hashable, Sendable {
    /// The instant.
    public var timestamp: Timestamp
    /// Minutes east of UTC; 0 for `Z` and for times that were sent without a zone.
    public var utcOffsetMinutes: Int32

    /// Makes the moment `timestamp`, seen from `utcOffsetMinutes` east of UTC.
    public init(_ timestamp: Timestamp, utcOffsetMinutes: Int32 = 0) {
        self.timestamp = timestamp
        self.utcOffsetMinutes = utcOffsetMinutes
    }
}
