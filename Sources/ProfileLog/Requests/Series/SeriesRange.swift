internal import ProfileLogSnippets

/// The days, hours or minutes of a series, in UTC (spec/messaging-api 6).
package struct SeriesRange: Hashable, Sendable {
    package enum Unit: String, Sendable, CaseIterable {
        case day, hour, minute

        /// Microseconds.
        package var span: Int64 {
            switch self {
            case .day: Condition.day
            case .hour: Condition.day / 24
            case .minute: Condition.day / 1_440
            }
        }
    }

    package let unit: Unit
    package let length: Int
    /// Number of the first day, hour or minute since 1970.
    private let first: Int64

    /// The most points of a series.
    package static let mostPoints = 100

    /// `length` points of which the last is the day, hour or minute of `end`.
    package init(_ unit: Unit, length: Int, endingAt end: Timestamp) {
        self.unit = unit
        self.length = length
        first = Self.number(of: end, unit) - Int64(length) + 1
    }

    /// Reads `length`, `unit` (one of `units`) and `ending_at`. Without `standardLength`, `length` must be there.
    package init(
        _ query: inout Query, standardLength: Int? = nil, units: [Unit] = [.day, .hour], now: Timestamp,
        readTime: (String, String) throws -> OccurredAt = APIError.time
    ) throws {
        guard let text = try query.text("length") ?? standardLength.map({ "\($0)" }) else {
            throw APIError.invalid("length", "is missing", remedy: "Send how many points the series has.")
        }
        guard let length = Int(text), (1...Self.mostPoints).contains(length) else {
            throw APIError.invalid("length", "must be a whole number from 1 to \(Self.mostPoints)")
        }
        let words = units.map(\.rawValue)
        let unit =
            try query.choice("unit", "must be \(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")") {
                text in units.first { $0.rawValue == text }
            } ?? .day
        var end = now
        if let text = try query.text("ending_at") { end = try readTime(text, "ending_at").timestamp }
        self.init(unit, length: length, endingAt: end)
    }

    /// Returns the point to which `time` belongs, below zero before the first.
    package func index(of time: Timestamp) -> Int { Int(Self.number(of: time, unit) - first) }

    /// The first moment of the point.
    package func begin(_ index: Int) -> Timestamp { Timestamp(rawValue: (first + Int64(index)) * unit.span) }

    /// The first moment after the point.
    package func end(_ index: Int) -> Timestamp { Timestamp(rawValue: (first + Int64(index) + 1) * unit.span) }

    /// The point's time: a date for a day, the beginning of an hour or a minute.
    package func label(_ index: Int) -> String {
        let text = begin(index).rfc3339()
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
