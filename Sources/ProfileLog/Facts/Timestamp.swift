/// A moment in microseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: OrderedByNumber, Codable, Hashable, Sendable {
    /// Microseconds since 1970 UTC; negative before.
    public var rawValue: Int64

    /// Makes the moment with this many microseconds since 1970 UTC.
    @inlinable
    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A time as the sender gave it: the moment, and the offset from UTC.
public struct OccurredAt: Codable, Hashable, Sendable {
    /// The instant.
    public var timestamp: Timestamp
    /// Minutes east of UTC; 0 for `Z` and for times that were sent without a zone.
    public var utcOffsetMinutes: Int32

    /// Makes the moment `timestamp`, seen from `utcOffsetMinutes` east of UTC.
    public init(_ timestamp: Timestamp, utcOffsetMinutes: Int32 = 0) {
        self.timestamp = timestamp
        self.utcOffsetMinutes = utcOffsetMinutes
    }

    /// Tells whether RFC 3339 can express it: its local year is 0 to 9999, and its offset less than a day.
    package var isExpressible: Bool {
        guard -1439...1439 ~= utcOffsetMinutes else { return false }
        // The offset is subtracted from the bounds: added to the time it may overflow.
        let offset = Int64(utcOffsetMinutes) * 60_000_000
        return Self.firstMicrosecond - offset...Self.lastMicrosecond - offset ~= timestamp.rawValue
    }

    /// The start of the year 0.
    private static let firstMicrosecond: Int64 = -62_167_219_200_000_000
    /// The end of the year 9999.
    private static let lastMicrosecond: Int64 = 253_402_300_799_999_999
}
