internal import ProfileLogSnippets

/// The days or hours of a series, in UTC (spec/messaging-api 6).
package struct SeriesRange: Hashable, Sendable {
    package enum Unit: String, Sendable, CaseIterable {
        case day, hour

        /// Microseconds.
        package var span: Int64 { self == .day ? Condition.day : Condition.day / 24 }
    }

    package let unit: Unit
    package let length: Int
    /// Number of the first day or hour since 1970.
    private let first: Int64

    /// The most points of a series.
    package static let mostPoints = 100

    /// `length` points of which the last is the day or hour of `end`.
    package init(_ unit: Unit, length: Int, endingAt end: Timestamp) {
        self.unit = unit
        self.length = length
        first = Self.number(of: end, unit) - Int64(length) + 1
    }

    /// Reads `length`, `unit` and `ending_at`. Without `standardLength`, `length` must be there.
    package init(
        _ query: inout Query, standardLength: Int? = nil, now: Timestamp,
        readTime: (String, String) throws -> OccurredAt = APIError.time
    ) throws {
        guard let text = try query.text("length") ?? standardLength.map({ "\($0)" }) else {
            throw APIError.invalid("length", "is missing", remedy: "Send how many points the series has.")
        }
        guard let length = Int(text), (1...Self.mostPoints).contains(length) else {
            throw APIError.invalid("length", "must be a whole number from 1 to \(Self.mostPoints)")
        }
        let unit = try query.choice("unit", "must be day or hour", Unit.init) ?? .day
        var end = now
        if let text = try query.text("ending_at") { end = try readTime(text, "ending_at").timestamp }
        self.init(unit, length: length, endingAt: end)
    }

    /// Returns the point to which `time` belongs, below zero before the first.
    package func index(of time: Timestamp) -> Int { Int(Self.number(of: time, unit) - first) }

    /// The first moment after the point.
    package func end(_ index: Int) -> Timestamp { Timestamp(rawValue: (first + Int64(index) + 1) * unit.span) }

    /// The point's time: a date for a day, the beginning of an hour.
    package func label(_ index: Int) -> String {
        let text = Timestamp(rawValue: (first + Int64(index)) * unit.span).rfc3339()
        return unit == .day ? String(text.prefix { $0 != "T" }) : text
    }

    private static func number(of time: Timestamp, _ unit: Unit) -> Int64 {
        let (quotient, remainder) = time.rawValue.quotientAndRemainder(dividingBy: unit.span)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension EndpointInput {
    /// Parameters of every series.
    package static func series(needsLength: Bool) -> [EndpointInput] {
        let most = UInt64(SeriesRange.mostPoints)
        return [
            EndpointInput("length", .integer, isRequired: needsLength, limits: 1...most), EndpointInput("unit"),
            EndpointInput("ending_at"),
        ]
    }
}
